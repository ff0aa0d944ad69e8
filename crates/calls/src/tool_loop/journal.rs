//! What a step has done so far: the entries that are committed one by one.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::models::{Answer, Failure, Usage};

/// The result of one journal entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Entry {
    Answered {
        model: String,
        /// How often the step had begun.
        visit: u32,
        answer: Answer,
        /// `None`: the model has no price.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_micros: Option<u64>,
        /// The budget left room for fewer tokens than the step allows.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        shortened: bool,
    },
    CallFailed {
        model: String,
        attempt: u32,
        failure: Failure,
        /// When a rate limit is over: an instant, so that a crash does not prolong it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_micros: Option<u64>,
    },
    Tool {
        #[serde(flatten)]
        outcome: ToolOutcome,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    Result(Value),
    /// Told to the model, which may do better.
    Failed(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    entries: BTreeMap<String, Entry>,
    over: BTreeSet<String>,
}

impl Journal {
    /// An entry that is there already stays as it is.
    pub fn record(&mut self, name: impl Into<String>, entry: Entry) {
        self.entries.entry(name.into()).or_insert(entry);
    }

    /// A wait that has ended.
    pub fn wait_over(&mut self, name: impl Into<String>) {
        self.over.insert(name.into());
    }

    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// What the calls in it cost, as far as prices are known.
    pub fn cost_micros(&self) -> u64 {
        let costs = self.entries.values().filter_map(|entry| entry.bill()?.1);
        costs.fold(0, u64::saturating_add)
    }

    pub fn is_over(&self, wait: &str) -> bool {
        self.over.contains(wait)
    }
}

impl Entry {
    pub fn tool_returned(result: Value) -> Entry {
        Entry::Tool { outcome: ToolOutcome::Result(result) }
    }

    pub fn tool_failed(why: impl Into<String>) -> Entry {
        Entry::Tool { outcome: ToolOutcome::Failed(why.into()) }
    }

    /// The model that was called, if this is a call, and why it gave no answer.
    pub fn call(&self) -> Option<(&str, Option<&Failure>)> {
        match self {
            Entry::Answered { model, .. } => Some((model, None)),
            Entry::CallFailed { model, failure, .. } => Some((model, Some(failure))),
            Entry::Tool { .. } => None,
        }
    }

    /// What a call used up, if this is one, and what that cost.
    pub fn bill(&self) -> Option<(Usage, Option<u64>)> {
        match self {
            Entry::Answered { answer, cost_micros, .. } => Some((answer.usage, *cost_micros)),
            Entry::CallFailed { failure, cost_micros, .. } => Some((failure.usage?, *cost_micros)),
            Entry::Tool { .. } => None,
        }
    }
}
