//! The events that end a run wherever it is, by the `cancelOn` and `restartOn` of its workflow.

use std::sync::Arc;

use crate::expression::{EvaluationError, Expression, Template};
use crate::json::Json;
use crate::start_on::EventData;

/// An event that ends a run, compiled.
#[derive(Debug)]
pub struct Guard {
    /// The event's id.
    pub event_id: Arc<str>,
    /// What must be true of the event and the run's input; `None`: nothing.
    pub matching: Option<Expression>,
    /// What becomes of the run.
    pub action: GuardAction,
}

/// What an event does to a run that it ends.
#[derive(Debug)]
pub enum GuardAction {
    /// The run is cancelled.
    Cancel,
    /// The run is cancelled, and another takes its place.
    Restart(Restart),
}

/// The run that takes the place of another.
#[derive(Debug)]
pub struct Restart {
    /// The input of the new run; `None`: that of the other.
    pub input: Option<Template>,
}

impl GuardAction {
    /// The run that takes the place of the one that is cancelled, if any.
    pub fn restart(&self) -> Option<&Restart> {
        match self {
            GuardAction::Cancel => None,
            GuardAction::Restart(restart) => Some(restart),
        }
    }
}

impl Restart {
    /// The input of the run that takes the place of one with this input, on an event with this data.
    pub fn input(&self, event: &Json, input: &Json) -> Result<Json, EvaluationError> {
        self.input.as_ref().map_or_else(|| Ok(input.clone()), |template| template.render(&EventData(event)))
    }
}
