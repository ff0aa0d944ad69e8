//! W3C trace context: which trace a request belongs to. It is kept with what the request led to, and steers nothing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The value of a `traceparent` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traceparent {
    /// The id of the trace.
    pub trace_id: u128,
    /// The id of the span that the request was made in.
    pub span_id: u64,
    /// Whether the caller records the trace.
    pub is_sampled: bool,
}

const SAMPLED: u8 = 1;

impl Traceparent {
    /// The same trace, continued from another span.
    pub fn within(self, span_id: u64) -> Traceparent {
        Traceparent { span_id, ..self }
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.is_sampled) * SAMPLED;
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace_id, self.span_id)
    }
}

/// A text that is no W3C trace context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it would look like `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`")]
pub struct BadTraceparent;

impl FromStr for Traceparent {
    type Err = BadTraceparent;

    /// Reads a `traceparent`. Of a later version only the part that this one knows is read, as the standard wants it.
    fn from_str(text: &str) -> Result<Traceparent, BadTraceparent> {
        let mut parts = text.split('-');
        let mut part = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits);
            let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            part.filter(|part| part.bytes().all(hex)).ok_or(BadTraceparent)
        };
        let (version, trace_id, span_id, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        let is_longer = parts.next().is_some();
        if version == "ff" || (version == "00" && is_longer) {
            return Err(BadTraceparent);
        }
        let trace_id = u128::from_str_radix(trace_id, 16).map_err(|_| BadTraceparent)?;
        let span_id = u64::from_str_radix(span_id, 16).map_err(|_| BadTraceparent)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| BadTraceparent)?;
        if trace_id == 0 || span_id == 0 {
            return Err(BadTraceparent);
        }
        Ok(Traceparent { trace_id, span_id, is_sampled: flags & SAMPLED != 0 })
    }
}

impl Serialize for Traceparent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Traceparent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Traceparent, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_and_written_as_the_standard_wants_it() {
        for text in [
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000001-0000000000000001-00",
        ] {
            assert_eq!(text.parse::<Traceparent>().unwrap().to_string(), text);
        }
        let later = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-what-comes-later";
        let known = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(later.parse::<Traceparent>().unwrap().to_string(), known);
    }

    #[test]
    fn what_is_not_a_traceparent_is_refused() {
        for text in [
            "",
            "00",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ü",
        ] {
            assert_eq!(text.parse::<Traceparent>(), Err(BadTraceparent), "{text}");
        }
    }
}
