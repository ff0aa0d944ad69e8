//! Instants and lengths of time. Instants are absolute (`jiff::Timestamp`) and always given from outside.

use std::fmt;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The instant that a text in RFC 3339 names. An offset is less than a day, as RFC 3339 has it.
pub fn instant(text: &str) -> Option<Timestamp> {
    const HOURS: u8 = 24;
    let text = text.trim();
    // A zone in brackets may follow.
    let written = text.split('[').next().unwrap_or(text);
    let clock = written.split_once(['T', 't', ' ']).map_or("", |(_, clock)| clock);
    let offset = clock.split_once(['+', '-']).map(|(_, offset)| offset);
    let hours = offset.map(|offset| offset.get(..2).and_then(|hours| hours.parse::<u8>().ok()));
    if hours.is_some_and(|hours| hours.is_none_or(|hours| hours >= HOURS)) {
        return None;
    }
    text.parse().ok()
}

/// A length of time in whole milliseconds. Days are 24 hours, weeks 7 days.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// A duration of so many days, each of 24 hours.
    pub const fn from_days(days: u64) -> Millis {
        Millis(days * 24 * 60 * 60 * 1000)
    }

    /// The number of milliseconds.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Reads `"30s"`, `"2d 4h"`, `"1 hour 30 minutes"` and ISO 8601 (`"PT30M"`).
    /// Months and years are refused: they have no fixed length.
    pub fn parse(text: &str) -> Result<Millis, BadDuration> {
        let span: Span = text.trim().parse().map_err(|_| BadDuration::Unreadable)?;
        Millis::try_from(span)
    }

    /// The instant this long after `start`; the far end of time where there is no such instant.
    pub fn after(self, start: Timestamp) -> Timestamp {
        let ms = i64::try_from(self.0).unwrap_or(i64::MAX);
        start.checked_add(SignedDuration::from_millis(ms)).unwrap_or(Timestamp::MAX)
    }

    /// The instant this long before `end`; the beginning of time where there is no such instant.
    pub fn before(self, end: Timestamp) -> Timestamp {
        let ms = i64::try_from(self.0).unwrap_or(i64::MAX);
        end.checked_sub(SignedDuration::from_millis(ms)).unwrap_or(Timestamp::MIN)
    }

    /// From one instant to a later one; zero when the clock went back.
    pub fn between(start: Timestamp, end: Timestamp) -> Millis {
        Millis(u64::try_from(end.duration_since(start).as_millis()).unwrap_or(0))
    }
}

impl TryFrom<Span> for Millis {
    type Error = BadDuration;

    fn try_from(span: Span) -> Result<Millis, BadDuration> {
        if span.get_years() != 0 || span.get_months() != 0 {
            return Err(BadDuration::NoFixedLength);
        }
        let length =
            span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| BadDuration::TooLong)?;
        u64::try_from(length.as_millis()).map(Millis).map_err(|_| BadDuration::Negative)
    }
}

impl TryFrom<std::time::Duration> for Millis {
    type Error = BadDuration;

    fn try_from(length: std::time::Duration) -> Result<Millis, BadDuration> {
        u64::try_from(length.as_millis()).map(Millis).map_err(|_| BadDuration::TooLong)
    }
}

/// As people write it: `2d 4h`, `1.5s`, `250ms`.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 5] =
            [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
        let mut rest = self.0;
        let mut first = true;
        for (unit, size) in UNITS {
            let count = rest / size;
            rest %= size;
            if count > 0 {
                write!(f, "{}{count}{unit}", if first { "" } else { " " })?;
                first = false;
            }
        }
        if first { f.write_str("0s") } else { Ok(()) }
    }
}

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDuration {
    #[error("not a duration")]
    Unreadable,
    #[error("months and years have no fixed length; use days")]
    NoFixedLength,
    #[error("longer than can be counted")]
    TooLong,
    #[error("a duration cannot be negative")]
    Negative,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_and_iso_8601_write_them() {
        for (text, ms) in [
            ("30s", 30_000),
            ("2d 4h", 187_200_000),
            ("PT30M", 1_800_000),
            ("1w", 604_800_000),
            ("1 hour 30 minutes", 5_400_000),
            ("250ms", 250),
            ("P1DT1H", 90_000_000),
        ] {
            assert_eq!(Millis::parse(text), Ok(Millis(ms)), "{text}");
        }
    }

    #[test]
    fn durations_without_a_fixed_length_and_negative_ones_are_refused() {
        assert_eq!(Millis::parse("1mo"), Err(BadDuration::NoFixedLength));
        assert_eq!(Millis::parse("P1Y"), Err(BadDuration::NoFixedLength));
        assert_eq!(Millis::parse("-5s"), Err(BadDuration::Negative));
        assert_eq!(Millis::parse("soon"), Err(BadDuration::Unreadable));
        assert_eq!(Millis::parse(""), Err(BadDuration::Unreadable));
    }

    #[test]
    fn an_instant_has_an_offset_of_less_than_a_day() {
        let noon: Option<Timestamp> = "2026-04-15T12:00:00Z".parse().ok();
        for text in ["2026-04-15T12:00:00Z", "2026-04-15T12:00:00.000+00:00", "2026-04-15t23:59:00+11:59"] {
            assert_eq!(instant(text), noon, "{text}");
        }
        assert!(instant("2026-04-15T12:00:00-23:59").is_some());
        for text in
            ["2026-04-15T12:00:00+25:59", "2026-04-15T12:00:00-24:00", "2026-04-15T12:00:00", "2026-04-15"]
        {
            assert_eq!(instant(text), None, "{text}");
        }
    }

    #[test]
    fn a_duration_is_shown_in_the_largest_units() {
        assert_eq!(Millis(187_200_000).to_string(), "2d 4h");
        assert_eq!(Millis(1_500).to_string(), "1s 500ms");
        assert_eq!(Millis(0).to_string(), "0s");
    }

    #[test]
    fn thirty_days_from_now_is_not_cut_to_32_bits() {
        let start = Timestamp::UNIX_EPOCH;
        assert_eq!(Millis::between(start, Millis::from_days(30).after(start)), Millis::from_days(30));
        assert_eq!(Millis(u64::MAX).after(start), Timestamp::MAX);
    }
}
