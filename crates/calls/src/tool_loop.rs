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
pub use tools::{ServedBy, ToolRun, entry_of_wait};

use abide_core::definition::document::Llm;
use abide_core::limits::RETRY_ATTEMPTS;
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
    /// How often the step has begun: more than once when somebody had its failed run tried again. What was found wrong
    /// before is not held against this visit.
    pub visit: u32,
    /// From one, and growing through all visits. What failed in earlier attempts is not held against this one.
    pub attempt: u32,
    /// What all calls of the step together may cost.
    pub budget_micros: Option<u64>,
}

impl Step {
    /// From the rendered configuration of a task.
    pub fn read(config: &Value, visit: u32, attempt: u32) -> Result<Step, serde_json::Error> {
        let mut config = config.clone();
        said_as_text(&mut config);
        let request: Llm = serde_json::from_value(config)?;
        let budget_micros = request.budget_micros;
        let attempt = visit.saturating_sub(1).saturating_mul(RETRY_ATTEMPTS).saturating_add(attempt);
        Ok(Step { request, visit, attempt, budget_micros })
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

/// A template that is one expression gives a value of any type; what is said to a model is text.
fn said_as_text(config: &mut Value) {
    let as_text = |value: &mut Value| {
        if !value.is_string() {
            *value = Value::String(value.to_string());
        }
    };
    if let Some(prompt) = config.get_mut("systemPrompt") {
        as_text(prompt);
    }
    let messages = config.get_mut("messages").and_then(Value::as_array_mut);
    for content in messages.into_iter().flatten().filter_map(|message| message.get_mut("content")) {
        as_text(content);
    }
}
