//! One look at a server, over its public API.

use std::time::{Duration, Instant};

use abide_sdk::wire::{Health, Overview, Waitpoint, Worker};

use super::metrics::Metrics;
use crate::client::{Client, Error, List};

/// More than fit on any screen.
const DUE: &str = "100";
/// Rates and quantiles are those of so long, or of as long as has been looked.
const LONGEST: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Look {
    pub(super) taken: Instant,
    /// Ready, or what keeps it from being so.
    pub(super) health: Result<Health, String>,
    pub(super) overview: Overview,
    /// The waits that are due next.
    pub(super) due: Vec<Waitpoint>,
    pub(super) workers: Vec<Worker>,
    pub(super) metrics: Metrics,
}

impl Look {
    pub(super) async fn take(client: &Client) -> Result<Look, Error> {
        let (admin, due) = (client.sdk().admin(), [("status", "PENDING"), ("limit", DUE)]);
        let (overview, due, workers) = tokio::try_join!(
            client.read::<Overview>(&["overview"], &[]),
            client.read::<List<Waitpoint>>(&["waitpoints"], &due),
            client.read::<List<Worker>>(&["workers"], &[]),
        )?;
        let health = admin.ready().await.map_err(|error| error.to_string());
        let metrics = Metrics::parse(&admin.metrics().await?);
        Ok(Look { taken: Instant::now(), health, overview, due: due.data, workers: workers.data, metrics })
    }
}

/// What was seen in the last while, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Window(Vec<Look>);

impl Window {
    pub(super) fn add(&mut self, look: Look) {
        let taken = look.taken;
        self.0.push(look);
        // One that is as old as the window, or a little older, is kept to compare with.
        while self.0.len() > 2 && taken.duration_since(self.0[1].taken) >= LONGEST {
            self.0.remove(0);
        }
    }

    /// The first and the last; one and the same as long as there is only one.
    pub(super) fn ends(&self) -> Option<(&Look, &Look)> {
        Some((self.0.first()?, self.0.last()?))
    }
}
