//! How it went in the last hour: what the engine counted, looked at every few seconds and kept in memory. It is for people
//! who look; who wants it for longer reads `/metrics`.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use abide_engine::{Engine, Histogram, Stats};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// From one look to the next.
pub(crate) const EVERY: Duration = Duration::from_secs(10);
/// An hour of them.
const KEPT: usize = 360;

/// What happened between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivitySample {
    /// When it ended.
    pub(crate) at: Timestamp,
    /// Records written to histories.
    pub(crate) records: u64,
    /// Timers that fired.
    pub(crate) timers: u64,
    /// From a timer's instant to its firing, in milliseconds: half of them were quicker.
    pub(crate) lateness_p50_ms: u64,
    /// 99 of 100 were quicker.
    pub(crate) lateness_p99_ms: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Activity(Mutex<VecDeque<ActivitySample>>);

impl Activity {
    /// The oldest first.
    pub(crate) fn samples(&self) -> Vec<ActivitySample> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// Looks at the engine until it stops.
    pub(crate) async fn watch(&self, engine: &Engine) {
        let mut looks = tokio::time::interval(EVERY);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut before: Option<Stats> = None;
        loop {
            looks.tick().await;
            let Ok(stats) = engine.stats().await else { return };
            if let Some(before) = &before {
                self.add(sample(engine.now(), before, &stats));
            }
            before = Some(stats);
        }
    }

    fn add(&self, sample: ActivitySample) {
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.len() == KEPT {
            samples.pop_front();
        }
        samples.push_back(sample);
    }
}

fn sample(at: Timestamp, before: &Stats, after: &Stats) -> ActivitySample {
    let lateness: Histogram = after.lateness_ms.since(&before.lateness_ms);
    ActivitySample {
        at,
        records: after.records.saturating_sub(before.records),
        timers: lateness.count(),
        lateness_p50_ms: lateness.quantile(0.5),
        lateness_p99_ms: lateness.quantile(0.99),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_kept_and_the_oldest_beat_goes_first() {
        let activity = Activity::default();
        let at = |second| Timestamp::from_second(second).unwrap();
        let sample = |second| ActivitySample {
            at: at(second),
            records: 0,
            timers: 0,
            lateness_p50_ms: 0,
            lateness_p99_ms: 0,
        };
        (0..400).for_each(|second| activity.add(sample(second)));
        let samples = activity.samples();
        assert_eq!((samples.len(), samples[0].at, samples[359].at), (KEPT, at(40), at(399)));
    }
}
