//! Whether a run may begin with an input.

use crate::json::Json;
use crate::{Definition, TooMuchWork, limits};

/// Why no run may begin with an input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadInput {
    /// The input is over a limit (R16).
    #[error("{what} is {actual}, over the limit of {limit}")]
    OverLimit {
        /// The figure that is limited, as the beginning of a sentence.
        what: &'static str,
        /// The most that is allowed.
        limit: u64,
        /// What was met.
        actual: u64,
    },
    /// The input does not satisfy the definition's `inputSchema`: a pointer and the reason for each place.
    #[error("the input does not satisfy the definition's inputSchema: {}", .0.iter().map(|(at, why)| format!("{at}: {why}")).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<(String, String)>),
}

impl Definition {
    /// Whether a run may begin with this input. It may be a lot of work: [`Definition::is_quick_to_check`] says whether
    /// it is. Whoever starts a run asks this before; the decision to start does not ask again.
    pub fn check_input(&self, input: &Json) -> Result<(), BadInput> {
        let figure = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let (limit, actual) = (figure(limits::PAYLOAD_BYTES), figure(input.bytes()));
        if actual > limit {
            return Err(BadInput::OverLimit { what: "the input's size in bytes", limit, actual });
        }
        let Some(schema) = &self.input_schema else { return Ok(()) };
        match schema.check(input) {
            Ok(errors) if errors.is_empty() => Ok(()),
            Ok(errors) => Err(BadInput::Invalid(errors)),
            Err(TooMuchWork) => Err(BadInput::OverLimit {
                what: "the work of checking the input against the inputSchema, in steps,",
                limit: limits::SCHEMA_WORK,
                actual: limits::SCHEMA_WORK + 1,
            }),
        }
    }

    /// Whether [`Definition::check_input`] takes so little that it may be asked where others wait.
    pub fn is_quick_to_check(&self, input: &Json) -> bool {
        self.input_schema.as_ref().is_none_or(|schema| schema.is_quick(input))
    }
}
