//! Numbers as people read them: thousands separated, three digits that matter, a unit.

/// What a figure counts. Its name is part of the figure's key in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Count,
    PerSecond,
    Seconds,
    Milliseconds,
    Microseconds,
    Bytes,
}

impl Unit {
    pub(super) fn show(self, value: f64) -> String {
        match self {
            Unit::Count => rounded(value),
            Unit::PerSecond => format!("{} /s", rounded(value)),
            Unit::Seconds => format!("{} s", rounded(value)),
            Unit::Milliseconds => format!("{} ms", rounded(value)),
            Unit::Microseconds => format!("{} µs", rounded(value)),
            Unit::Bytes => bytes(value),
        }
    }
}

fn bytes(value: f64) -> String {
    const STEP: f64 = 1024.0;
    /// Up to here the smaller unit is read more easily.
    const MOST: f64 = 10_000.0;
    if value < MOST {
        format!("{} B", rounded(value))
    } else if value / STEP < MOST {
        format!("{} KiB", rounded(value / STEP))
    } else {
        format!("{} MiB", rounded(value / STEP / STEP))
    }
}

/// With as many decimals as matter: none for whole numbers and from a hundred on.
pub(super) fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        size if value.fract() == 0.0 || size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.095 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
    let grouped = thousands(whole);
    fraction.map_or(grouped.clone(), |fraction| format!("{grouped}.{fraction}"))
}

/// Puts a comma before every third digit from the right.
fn thousands(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

pub(super) fn count(value: usize) -> String {
    thousands(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_and_only_digits_that_matter_are_shown() {
        let shown =
            [0.0, 7.0, 0.0123, 0.5, 9.994, 9.996, 12.34, 99.96, 999.6, 1234.5, 1e6, -12345.0].map(rounded);
        assert_eq!(
            shown,
            [
                "0",
                "7",
                "0.012",
                "0.50",
                "9.99",
                "10.0",
                "12.3",
                "100",
                "1,000",
                "1,234",
                "1,000,000",
                "-12,345"
            ]
        );
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn every_unit_is_written_out() {
        assert_eq!(Unit::Count.show(20_000.0), "20,000");
        assert_eq!(Unit::PerSecond.show(8_123.4), "8,123 /s");
        assert_eq!(Unit::Seconds.show(0.25), "0.25 s");
        assert_eq!(Unit::Milliseconds.show(7.81), "7.81 ms");
        assert_eq!(Unit::Microseconds.show(27.04), "27.0 µs");
    }

    #[test]
    fn bytes_are_told_in_the_unit_that_reads_best() {
        assert_eq!(Unit::Bytes.show(312.4), "312 B");
        assert_eq!(Unit::Bytes.show(9_999.0), "9,999 B");
        assert_eq!(Unit::Bytes.show(10_240.0), "10 KiB");
        assert_eq!(Unit::Bytes.show(350.0 * 1024.0 * 1024.0), "350 MiB");
    }
}
