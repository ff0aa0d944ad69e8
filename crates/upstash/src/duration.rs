//! Lengths of time as the SDK writes them: `30`, `2s`, `10m`, `1d10h30m`. A bare number is seconds.

use abide_core::time::Millis;

/// The length that a text says; `None` if it says none.
pub(crate) fn parse(text: &str) -> Option<Millis> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return seconds.checked_mul(1_000).map(Millis);
    }
    let mut total: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|char: char| !char.is_ascii_digit()).filter(|digits| *digits > 0)?;
        let count: u64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].chars().next()?;
        let ms: u64 = match unit {
            's' => 1_000,
            'm' => 60_000,
            'h' => 3_600_000,
            'd' => 86_400_000,
            _ => return None,
        };
        total = total.checked_add(count.checked_mul(ms)?)?;
        rest = &rest[digits + unit.len_utf8()..];
    }
    (!text.is_empty()).then_some(Millis(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_the_sdk_writes_them() {
        let read = [("30", 30_000), ("2s", 2_000), ("10m", 600_000), ("1d10h30m", 124_200_000), ("0s", 0)];
        for (text, ms) in read {
            assert_eq!(parse(text), Some(Millis(ms)), "{text}");
        }
        for text in ["", "s", "-1s", "1w", "1.5s", "99999999999999999999d", "10 s"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
