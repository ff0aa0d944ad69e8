//! What a schedule starts, by which rule of time, and what it does when runs or occurrences come together.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::When;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};

/// What is started, when, and what is done when things come together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    pub name: String,
    pub workflow: String,
    /// The newest at each occurrence, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub input: Json,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Arc<str>>,
    pub when: When,
    pub overlap: Overlap,
    pub catch_up: CatchUp,
}

/// What is done when the run before has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Overlap {
    /// Nothing is started.
    #[default]
    Skip,
    /// A run is started when the run before it ends.
    Queue,
    /// That one is cancelled.
    CancelPrevious,
    /// Both run.
    Allow,
}

impl Overlap {
    /// Every way to treat a run before that has not ended.
    pub const ALL: [Overlap; 4] = [Overlap::Skip, Overlap::Queue, Overlap::CancelPrevious, Overlap::Allow];
}

/// What is done about occurrences that passed while nobody looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CatchUp {
    /// Nothing: only one that is not late by more than [`limits::SCHEDULE_LATE`] is started.
    None,
    /// The last one is started, however late.
    #[default]
    Last,
    /// All of them are, the last [`limits::SCHEDULE_CATCH_UP`] at most.
    All,
}

impl CatchUp {
    /// Every way to treat occurrences that were missed.
    pub const ALL: [CatchUp; 3] = [CatchUp::None, CatchUp::Last, CatchUp::All];
}

impl Plan {
    /// Refuses a plan that cannot be carried out, or whose input the workflow does not take.
    pub fn check(&self) -> Result<(), Refusal> {
        within("the name's length", self.name.chars().count(), limits::NAME_CHARS)?;
        within("the input's size in bytes", self.input.bytes(), limits::PAYLOAD_BYTES)?;
        within("the number of tags", self.tags.len(), limits::TAGS)?;
        for tag in &self.tags {
            within("a tag's length", tag.chars().count(), limits::NAME_CHARS)?;
        }
        match self.when {
            When::Every(every) if every < limits::SCHEDULE_EVERY => {
                let message = format!("a schedule comes every {} at most", limits::SCHEDULE_EVERY);
                Err(Refusal::Malformed { pointer: "/every", message })
            }
            When::Every(every) if every > limits::WAIT => {
                let message = format!("a schedule comes every {} at least", limits::WAIT);
                Err(Refusal::Malformed { pointer: "/every", message })
            }
            When::Every(_) | When::Cron(_) => Ok(()),
        }
    }
}
