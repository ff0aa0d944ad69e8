//! `abide ready`: whether a server can serve requests, for health checks and scripts.

use std::time::{Duration, Instant};

use abide_definition::time::Millis;
use abide_sdk::wire::Health;
use clap::Args;

use crate::client::{Connection, Error};
use crate::console::Console;
use crate::times;

/// How soon a server is asked again that was not ready.
const AGAIN: Duration = Duration::from_millis(100);

/// Ask whether the server can serve requests.
#[derive(Debug, Args)]
#[command(
    after_help = "For the health check of a container, and for scripts that start a server. It needs no key.\n\nExamples:\n  abide ready\n  abide ready --wait 30s && abide deploy orders.yaml\n\nExits with 0 when it can, 5 when it cannot, or nobody answers."
)]
pub(crate) struct Ready {
    /// Ask again for so long until it can
    #[arg(long, value_name = "DURATION", value_parser = times::parse_length)]
    wait: Option<Millis>,
    #[command(flatten)]
    connection: Connection,
}

impl Ready {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.connection.open()?;
        let begun = Instant::now();
        let patience = self.wait.map_or(Duration::ZERO, |Millis(wait)| Duration::from_millis(wait));
        loop {
            match client.sdk().admin().ready().await {
                Ok(Health { version, status, .. }) => {
                    return Ok(
                        console.line(&format!("{} is ready: abide {version}, {status}", client.server()))?
                    );
                }
                Err(error) if begun.elapsed() >= patience => return Err(error.into()),
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    }
}
