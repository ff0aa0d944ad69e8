//! What is wrong with a document: all of it at once, each with the place, what was expected, and the nearest
//! valid name.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One thing wrong (or, as a warning, doubtful) at one place of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// RFC 6901, e.g. `/steps/2/durationMs`; empty for the whole document.
    pub pointer: String,
    /// Stable, e.g. `UNKNOWN_FIELD`.
    pub code: Code,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected: Option<String>,
    /// The nearest valid name, when one is near.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nearest: Option<String>,
}

/// The kinds of problems a definition can have. Every code is documented in `docs/reference/definitions.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// Not JSON, or not YAML.
    Unreadable,
    UnknownField,
    MissingField,
    WrongType,
    OutOfRange,
    UnknownValue,
    /// Two fields that exclude each other, or none of several of which one is needed.
    Contradiction,
    DuplicateName,
    UnknownStep,
    BackwardJump,
    Cycle,
    BadExpression,
    BadTemplate,
    BadDuration,
    BadTimestamp,
    BadCron,
    UnknownZone,
    BadSchema,
    ReservedName,
    /// A limit of the engine (R16).
    LimitExceeded,
    /// Warning: longer than people usually mean.
    LongWait,
    /// Warning: after one branch the other one runs too.
    FallThrough,
    /// Warning: no way leads to this step.
    Unreachable,
}

impl Problem {
    /// A problem at a place, with a stable code and words for people.
    pub fn new(pointer: impl Into<String>, code: Code, message: impl Into<String>) -> Problem {
        Problem { pointer: pointer.into(), code, message: message.into(), expected: None, nearest: None }
    }

    /// What would be right at the place of the problem.
    pub fn expected(mut self, expected: impl Into<String>) -> Problem {
        self.expected = Some(expected.into());
        self
    }

    /// Adds the nearest of `known` to `given`, if one is near enough to be meant.
    pub fn nearest<'a>(mut self, given: &str, known: impl IntoIterator<Item = &'a str>) -> Problem {
        self.nearest = nearest(given, known).map(str::to_owned);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{place}: {}", self.message)?;
        if let Some(expected) = &self.expected {
            write!(f, "; expected {expected}")?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        Ok(())
    }
}

/// Appends one segment to a JSON pointer.
pub fn pointer(parent: &str, segment: impl fmt::Display) -> String {
    format!("{parent}/{}", segment.to_string().replace('~', "~0").replace('/', "~1"))
}

/// The name of `known` that differs least from `given`, at most a third of its letters.
pub fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    /// Long names are not typing errors, and the comparison is quadratic.
    const COMPARED_CHARS: usize = 200;
    let given: Vec<char> = given.chars().take(COMPARED_CHARS).flat_map(char::to_lowercase).collect();
    known
        .into_iter()
        .map(|name| (distance(&given, name), name))
        .filter(|(distance, name)| *distance <= name.chars().count().max(given.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Insertions, deletions, substitutions and swaps of neighbours from one to the other, ignoring case.
fn distance(a: &[char], b: &str) -> usize {
    let mut before_previous: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=a.len()).collect();
    let mut last = None;
    for (row, b) in b.chars().flat_map(char::to_lowercase).enumerate() {
        let mut current = vec![row + 1];
        for column in 0..a.len() {
            let substituted = previous[column] + usize::from(a[column] != b);
            let mut best = substituted.min(previous[column + 1] + 1).min(current[column] + 1);
            if column > 0 && a[column - 1] == b && last == Some(a[column]) {
                best = best.min(before_previous[column - 1] + 1);
            }
            current.push(best);
        }
        before_previous = std::mem::replace(&mut previous, current);
        last = Some(b);
    }
    previous[a.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_a_typing_error_away() {
        let known = ["durationMs", "untilTimestamp", "cron"];
        assert_eq!(nearest("durationms", known), Some("durationMs"));
        assert_eq!(nearest("duratoinMs", known), Some("durationMs"));
        assert_eq!(nearest("corn", known), Some("cron"));
        assert_eq!(nearest("colour", known), None);
    }

    #[test]
    fn a_pointer_escapes_what_rfc_6901_escapes() {
        assert_eq!(pointer("/steps", "a/b~c"), "/steps/a~1b~0c");
    }
}
