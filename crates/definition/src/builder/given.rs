//! What code gives in more forms than one: lengths of time, instants, names.

use jiff::{Span, Timestamp};

use crate::time::{BadDuration, Millis};

/// A length of time, in whatever form it comes. What cannot be a length is told when the workflow is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Length {
    Ms(u64),
    /// As in a document: `2d 4h`, `PT30M`, or a template where those are allowed.
    Text(String),
    Bad(BadDuration),
}

impl Length {
    fn new(length: Result<Millis, BadDuration>) -> Length {
        length.map_or_else(Length::Bad, |length| Length::Ms(length.as_u64()))
    }
}

impl From<Span> for Length {
    fn from(span: Span) -> Length {
        Length::new(Millis::try_from(span))
    }
}

impl From<std::time::Duration> for Length {
    fn from(length: std::time::Duration) -> Length {
        Length::new(Millis::try_from(length))
    }
}

impl From<Millis> for Length {
    fn from(length: Millis) -> Length {
        Length::Ms(length.as_u64())
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

/// An instant as a document writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instant(pub(super) String);

impl From<Timestamp> for Instant {
    fn from(instant: Timestamp) -> Instant {
        Instant(instant.to_string())
    }
}

impl From<&str> for Instant {
    fn from(text: &str) -> Instant {
        Instant(text.to_owned())
    }
}

impl From<String> for Instant {
    fn from(text: String) -> Instant {
        Instant(text)
    }
}

/// One name or several: `"a"`, `["a", "b"]`.
pub trait Names {
    /// The names as a list.
    fn into_names(self) -> Vec<String>;
}

impl Names for &str {
    /// The names as a list.
    fn into_names(self) -> Vec<String> {
        vec![self.to_owned()]
    }
}

impl Names for String {
    /// The names as a list.
    fn into_names(self) -> Vec<String> {
        vec![self]
    }
}

impl<T: Into<String>, const N: usize> Names for [T; N] {
    /// The names as a list.
    fn into_names(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<T: Into<String>> Names for Vec<T> {
    /// The names as a list.
    fn into_names(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}
