//! The plan of a schedule: what it starts, by which rule of time, and what it does when runs or occurrences coincide.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::When;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};

/// What a schedule starts, when, and what it does when runs or occurrences coincide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The name of the schedule, for people.
    pub name: String,
    /// The name of the workflow that is started.
    pub workflow: String,
    /// The version of the workflow; `None`: the newest at each occurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The input of each run.
    pub input: Json,
    /// The tags of each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Arc<str>>,
    /// The rule of time.
    pub when: When,
    /// What is done when the previous run has not ended.
    pub overlap: Overlap,
    /// What is done about occurrences that were missed.
    pub catch_up: CatchUp,
}

/// The overlap policy: what is done when the previous run has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Overlap {
    /// Nothing is started.
    #[default]
    Skip,
    /// The run is started when the previous one ends.
    Queue,
    /// The previous run is cancelled, and the next one is started.
    CancelPrevious,
    /// The run is started beside the previous one.
    Allow,
}

impl Overlap {
    /// Every overlap policy.
    pub const ALL: [Overlap; 4] = [Overlap::Skip, Overlap::Queue, Overlap::CancelPrevious, Overlap::Allow];
}

/// The catch-up policy: what is done about occurrences that passed while no engine ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CatchUp {
    /// None is started that is late by more than [`limits::SCHEDULE_LATE`].
    None,
    /// The last one is started, however late.
    #[default]
    Last,
    /// Every missed occurrence is started, the last [`limits::SCHEDULE_CATCH_UP`] at most.
    All,
}

impl CatchUp {
    /// Every catch-up policy.
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
