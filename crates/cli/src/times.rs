//! Instants and durations for people, and as people give them.

use abide_definition::time::Millis;
use jiff::Timestamp;

/// `in 2d 4h`, `12s ago`, `now`.
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let ms = at.as_millisecond() - now.as_millisecond();
    match ms {
        // Less than a second is nothing to anybody who reads.
        -999..=999 => "now".to_owned(),
        1000.. => format!("in {}", length(ms)),
        _ => format!("{} ago", length(-ms)),
    }
}

pub(crate) fn absolute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `in 2d 4h (2026-11-18 04:00:00 UTC)`
pub(crate) fn both(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", relative(at, now), absolute(at))
}

/// The two largest units of it: `2d 4h`, `3m 20s`, `1.2s`, `80ms`.
pub(crate) fn length(ms: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let ms = ms.max(0);
    if ms < 1_000 {
        return format!("{ms}ms");
    }
    if ms < 10_000 {
        let (seconds, tenths) = (ms / 1_000, ms % 1_000 / 100);
        return if tenths == 0 { format!("{seconds}s") } else { format!("{seconds}.{tenths}s") };
    }
    let first = UNITS.iter().position(|(unit, _)| ms >= *unit).unwrap_or(UNITS.len() - 1);
    let mut rest = ms;
    let parts = UNITS[first..].iter().take(2).filter_map(|(unit, name)| {
        let count = rest / unit;
        rest %= unit;
        (count > 0).then(|| format!("{count}{name}"))
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// `2026-12-01T09:00:00Z`
pub(crate) fn parse_instant(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("`{text}` is not an instant; it would look like `2026-12-01T09:00:00Z`"))
}

/// `2d 4h`
pub(crate) fn parse_length(text: &str) -> Result<Millis, String> {
    Millis::parse(text).map_err(|error| format!("{error}; it would look like `90s` or `2d 4h`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_its_two_largest_units() {
        for (ms, text) in [
            (0, "0ms"),
            (80, "80ms"),
            (1_000, "1s"),
            (1_250, "1.2s"),
            (12_900, "12s"),
            (60_000, "1m"),
            (200_000, "3m 20s"),
            (3_600_000, "1h"),
            (90_061_000, "1d 1h"),
            (86_400_000 * 30 + 59_000, "30d"),
        ] {
            assert_eq!(length(ms), text);
        }
    }

    #[test]
    fn an_instant_is_told_by_how_far_it_is() {
        let now: Timestamp = "2026-11-16T00:00:00Z".parse().unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(relative(at("2026-11-16T00:00:00.5Z"), now), "now");
        assert_eq!(relative(at("2026-11-18T04:00:00Z"), now), "in 2d 4h");
        assert_eq!(relative(at("2026-11-15T23:59:00Z"), now), "1m ago");
        assert_eq!(both(at("2026-11-16T00:00:30Z"), now), "in 30s (2026-11-16 00:00:30 UTC)");
    }
}
