//! The rule of time of a schedule: a cron line in its zone, or a fixed interval from an instant on.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cron::{Cron, CronError};
use crate::time::Millis;

/// The rule of time of a schedule. A cron line follows the wall clock of its zone, also where that jumps (see
/// [`cron`](crate::cron)); an interval counts the time that passes, and knows no zones.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum When {
    /// A cron line with its time zone.
    Cron(Cron),
    /// A fixed interval.
    Every(Millis),
}

/// The stored form of a rule of time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every_ms: Option<u64>,
}

impl TryFrom<Written> for When {
    type Error = CronError;

    fn try_from(written: Written) -> Result<When, CronError> {
        match (written.cron, written.every_ms) {
            (Some(line), None) => Cron::parse(&line, written.timezone.as_deref()).map(When::Cron),
            (None, Some(every)) => Ok(When::Every(Millis(every.max(1)))),
            (_, _) => Err(CronError::BadLine("neither a line nor a rhythm, or both".to_owned())),
        }
    }
}

impl From<When> for Written {
    fn from(when: When) -> Written {
        match when {
            When::Cron(cron) => Written {
                cron: Some(cron.line().to_owned()),
                timezone: Some(cron.zone_name().to_owned()),
                every_ms: None,
            },
            When::Every(Millis(every)) => Written { cron: None, timezone: None, every_ms: Some(every) },
        }
    }
}

impl PartialEq for When {
    fn eq(&self, other: &When) -> bool {
        match (self, other) {
            (When::Cron(one), When::Cron(other)) => {
                one.line() == other.line() && one.zone_name() == other.zone_name()
            }
            (When::Every(one), When::Every(other)) => one == other,
            (When::Cron(_), When::Every(_)) | (When::Every(_), When::Cron(_)) => false,
        }
    }
}

impl When {
    /// The first occurrence strictly after the instant. An interval counts from `anchor`.
    pub fn next_after(&self, instant: Timestamp, anchor: Timestamp) -> Option<Timestamp> {
        match self {
            When::Cron(cron) => cron.next_after(instant),
            When::Every(every) => {
                let passed = Millis::between(anchor, instant).0 / every.0;
                // Before the anchor nothing has passed, and the first one is a length after it.
                let next = Millis(passed.saturating_add(1).saturating_mul(every.0)).after(anchor);
                (next < Timestamp::MAX).then_some(next)
            }
        }
    }

    /// The last `most` occurrences from `first`, itself an occurrence, up to and including `until`, in order. The
    /// cost depends on how many are asked for, not on how much time has passed.
    pub fn last_of(
        &self,
        first: Timestamp,
        until: Timestamp,
        anchor: Timestamp,
        most: usize,
    ) -> Vec<Timestamp> {
        let mut window = Millis(60_000);
        loop {
            let from = window.before(until);
            let whole = from <= first;
            let mut found = VecDeque::new();
            let begin = if whole { Some(first) } else { self.next_after(from, anchor) };
            let mut next = begin.filter(|at| *at <= until);
            while let Some(at) = next {
                found.push_back(at);
                if found.len() > most {
                    found.pop_front();
                }
                next = self.next_after(at, anchor).filter(|at| *at <= until);
            }
            if whole || found.len() >= most {
                return found.into();
            }
            window = Millis(window.0.saturating_mul(4));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn cron(line: &str, zone: &str) -> When {
        When::Cron(Cron::parse(line, Some(zone)).unwrap())
    }

    #[test]
    fn a_rhythm_counts_from_its_anchor_and_is_strictly_later() {
        let (every, anchor) = (When::Every(Millis(90_000)), at("2026-03-01T00:00:00Z"));
        let next = |text: &str| every.next_after(at(text), anchor).unwrap().to_string();
        assert_eq!(next("2026-02-01T00:00:00Z"), "2026-03-01T00:01:30Z");
        assert_eq!(next("2026-03-01T00:00:00Z"), "2026-03-01T00:01:30Z");
        assert_eq!(next("2026-03-01T00:01:30Z"), "2026-03-01T00:03:00Z");
        assert_eq!(next("2026-03-01T00:01:29.999Z"), "2026-03-01T00:01:30Z");
        assert_eq!(When::Every(Millis(u64::MAX)).next_after(anchor, anchor), None);
    }

    #[test]
    fn the_last_ones_are_found_however_long_it_has_been() {
        let minutely = cron("* * * * *", "UTC");
        let (first, until) = (at("2016-01-01T00:00:00Z"), at("2026-03-01T12:00:30Z"));
        let last = minutely.last_of(first, until, first, 2);
        assert_eq!(last, [at("2026-03-01T11:59:00Z"), at("2026-03-01T12:00:00Z")]);
        let yearly = cron("@yearly", "UTC");
        assert_eq!(yearly.last_of(first, until, first, 1), [at("2026-01-01T00:00:00Z")]);
        assert_eq!(yearly.last_of(first, until, first, 100).len(), 11);
        assert_eq!(yearly.last_of(first, first, first, 3), [first]);
        let every = When::Every(Millis(1));
        assert_eq!(every.last_of(first, until, first, 3).len(), 3);
    }

    #[test]
    fn a_day_has_its_occurrence_though_the_clock_jumps() {
        // 2026-03-29 in Berlin: 02:00 becomes 03:00. 2026-10-25: 03:00 becomes 02:00.
        let nightly = cron("30 2 * * *", "Europe/Berlin");
        let spring = nightly.last_of(
            at("2026-03-28T01:30:00Z"),
            at("2026-03-30T12:00:00Z"),
            at("2026-03-01T00:00:00Z"),
            9,
        );
        let days = ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"];
        assert_eq!(spring, days.map(at));
        let autumn = nightly.last_of(
            at("2026-10-24T00:30:00Z"),
            at("2026-10-26T12:00:00Z"),
            at("2026-03-01T00:00:00Z"),
            9,
        );
        let days = ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"];
        assert_eq!(autumn, days.map(at), "once, though half past two comes twice");
    }

    #[test]
    fn it_is_read_back_as_it_was_written() {
        for when in [cron("0 9 * * 1-5", "Europe/Berlin"), cron("@daily", "UTC"), When::Every(Millis(5))] {
            let text = serde_json::to_string(&when).unwrap();
            assert_eq!(serde_json::from_str::<When>(&text).unwrap(), when, "{text}");
        }
        assert!(serde_json::from_str::<When>(r#"{"cron": "0 9 31 4 *"}"#).is_err());
        assert!(serde_json::from_str::<When>("{}").is_err());
    }
}
