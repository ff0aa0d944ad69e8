//! What is to be done next, and how it can end.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ask::Ask;
use super::tools::ToolRun;
use crate::models::Usage;

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Call this model, and journal what came of it.
    Call(Box<Ask>),
    /// Run these, in any order, and journal each result.
    Tools(Vec<ToolRun>),
    /// Every model is rate limited; ask again when the wait of this name is over.
    Wait {
        entry: String,
        until: Timestamp,
    },
    Done(Done),
    Failed(Failed),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The text, or the value when JSON was asked for.
    pub output: Value,
    pub spent: Spent,
    /// What guardrails found that only warn, and an answer that reached its limit of tokens.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    pub code: &'static str,
    pub message: String,
    /// Whether another attempt may go better.
    pub retryable: bool,
    pub spent: Spent,
}

/// What all calls together used up, failed ones too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    pub calls: u32,
    pub usage: Usage,
    /// As far as prices are known.
    pub cost_micros: u64,
    /// Calls that used tokens of a model without a price.
    pub unpriced_calls: u32,
}
