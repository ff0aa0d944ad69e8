//! What an `llm` step does next, as a function of its request and its journal.
//!
//! ```text
//!   next ──▶ Call ──▶ the model ──▶ entry `call N` ──┐
//!     ▲ └──▶ Tools ─▶ handlers ───▶ entry `tool N.M` ┤ each committed before `next` is asked again
//!     │ └──▶ Wait ──▶ the clock ──▶ wait  `wait N`  ─┤
//!     │ └──▶ Done, Failed                            │
//!     └──────────────────────────────────────────────┘
//! ```
//!
//! The journal is the only memory: whoever has it goes on where another stopped, and what stands in it is never asked
//! or paid for again. Nothing here calls, waits or reads a clock.

mod ask;
mod journal;
mod outcome;
mod replay;
mod tools;

pub use ask::Ask;
pub use journal::{Entry, Journal, ToolOutcome};
pub use outcome::{Done, Failed, Next, Spent};
pub use tools::{ServedBy, ToolRun};

use abide_core::definition::document::Llm;
use serde_json::Value;

use crate::models::Settings;

/// Rounds of tool calls, unless the step says otherwise.
pub const TOOL_ROUNDS: u32 = 10;
/// Tools that one answer may call.
pub const TOOL_CALLS: usize = 64;
/// How often an answer is sent back because of what was wrong with it.
pub const FEEDBACKS: u32 = 3;
/// How often a step waits for a rate limit in one attempt before that counts as a failure.
pub const RATE_LIMIT_WAITS: u32 = 10;
/// Calls of one step, failed ones and those of earlier attempts too.
pub const CALLS: u32 = 500;

/// An `llm` step with its templates filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub request: Llm,
    /// From one. What failed in earlier attempts is not held against this one.
    pub attempt: u32,
    /// What all calls of the step together may cost.
    pub budget_micros: Option<u64>,
}

impl Step {
    /// From the rendered configuration of a task.
    pub fn read(config: &Value, attempt: u32, budget_micros: Option<u64>) -> Result<Step, serde_json::Error> {
        Ok(Step { request: serde_json::from_value(config.clone())?, attempt, budget_micros })
    }

    pub fn next(&self, journal: &Journal, settings: &Settings) -> Next {
        replay::replay(self, journal, settings)
    }

    /// Every model that the step may call, in the order in which it would.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.request.model)
            .chain(self.request.fallback_models.iter().flatten())
            .map(String::as_str)
    }
}
