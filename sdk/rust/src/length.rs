//! Lengths of time, as users write them and as the API takes them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A length of time: a [`Duration`], or text such as `30s`, `2d 4h` or `PT30M`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Length {
    /// Milliseconds.
    Ms(u64),
    /// As it is written; the server reads it.
    Text(String),
}

impl Length {
    /// `…Ms` and the text: one of the two fields that requests have for a length.
    pub(crate) fn parts(self) -> (Option<u64>, Option<String>) {
        match self {
            Length::Ms(ms) => (Some(ms), None),
            Length::Text(text) => (None, Some(text)),
        }
    }
}

impl From<Duration> for Length {
    fn from(duration: Duration) -> Length {
        Length::Ms(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<&str> for Length {
    fn from(text: &str) -> Length {
        Length::Text(text.to_owned())
    }
}

impl From<String> for Length {
    fn from(text: String) -> Length {
        Length::Text(text)
    }
}

/// How long to wait before another try: doubling, at most `most`, with full jitter.
pub(crate) fn backoff(attempt: u32, first: Duration, most: Duration) -> Duration {
    let ceiling = first.saturating_mul(2u32.saturating_pow(attempt)).min(most);
    ceiling.mul_f64(f64::from(u32::from_be_bytes(random())) / f64::from(u32::MAX))
}

pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes
}

/// As many random digits as two for each byte.
pub(crate) fn random_hex<const N: usize>() -> String {
    random::<N>().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_back_off_never_exceeds_its_limit_and_grows_until_then() {
        let (first, most) = (Duration::from_millis(100), Duration::from_secs(5));
        for attempt in 0..100 {
            let ceiling = first.saturating_mul(2u32.saturating_pow(attempt)).min(most);
            assert!(backoff(attempt, first, most) <= ceiling);
        }
    }
}
