//! A record of a history, as the core writes it, with the names that a reader needs beside the numbers.

use abide_core::definition::Definition;
use abide_core::history::{Change, KnownWaits, Record, sentence};
use abide_core::id::{RunId, StepAddress};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// A record of a run's history. Its `type` says which further fields it has; see `docs/reference/histories.md`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Record", extend("additionalProperties" = true))]
pub(crate) struct RecordBody {
    /// Counted from 1 without gaps.
    #[schemars(with = "u64", range(min = 1))]
    seq: Value,
    #[schemars(with = "String")]
    time: Value,
    #[schemars(with = "String")]
    by: Value,
    #[schemars(with = "String")]
    r#type: Value,
    /// What it says, in a sentence for people, of at most 500 characters. Instants in it are RFC 3339, names are between
    /// backticks. It may be worded otherwise in another version.
    text: String,
    /// The step it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    step_name: Option<String>,
    /// The waitpoint it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    waitpoint_id: Option<String>,
    /// A completed step went on because its wait had ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    resumed_from_wait: bool,
    #[serde(flatten)]
    #[schemars(skip)]
    fields: Map<String, Value>,
}

impl RecordBody {
    pub(crate) fn new(
        run: RunId,
        definition: &Definition,
        waits: &KnownWaits,
        record: &Record,
    ) -> RecordBody {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(record) else {
            unreachable!("a record is an object")
        };
        let mut take = |name: &str| fields.remove(name).unwrap_or_default();
        let (seq, time, by, r#type) = (take("seq"), take("time"), take("by"), take("type"));
        let at = fields.get("at").cloned().and_then(|at| serde_json::from_value::<StepAddress>(at).ok());
        let number = waitpoint(&record.change);
        RecordBody {
            seq,
            time,
            by,
            r#type,
            text: sentence(definition, &|number| waits.get(number), record),
            step_name: at.map(|at| step_name(definition, at)),
            waitpoint_id: number.map(|number| run.waitpoint(number).to_string()),
            resumed_from_wait: matches!(record.change, Change::StepCompleted { waitpoint: Some(_), .. }),
            fields,
        }
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq.as_u64().unwrap_or_default()
    }

    pub(crate) fn type_name(&self) -> &str {
        self.r#type.as_str().unwrap_or_default()
    }
}

/// The one waitpoint that a record is about.
fn waitpoint(change: &Change) -> Option<u32> {
    match change {
        Change::StepCompleted { waitpoint, .. } => *waitpoint,
        Change::EventMatched { number, .. }
        | Change::ApprovalRequested { number }
        | Change::ApprovalReminded { number }
        | Change::ApprovalEscalated { number, .. } => Some(*number),
        Change::StepWaiting { .. }
        | Change::StepRetrying { .. }
        | Change::TaskPaused { .. }
        | Change::WaitCreated { .. }
        | Change::WaitResolved { .. }
        | Change::WaitRescheduled { .. }
        | Change::CapacityTaken { .. }
        | Change::CapacityQueued { .. }
        | Change::StartCollected { .. }
        | Change::ApprovalDecided { .. }
        | Change::WorkflowCreated(_)
        | Change::WorkflowStarted { .. }
        | Change::WorkflowPaused { .. }
        | Change::WorkflowResumed
        | Change::WorkflowPauseRequested
        | Change::WorkflowPausedByOperator
        | Change::WorkflowUnpaused
        | Change::WorkflowDeadlinePassed
        | Change::WorkflowCompleted { .. }
        | Change::WorkflowFailed { .. }
        | Change::WorkflowCancelled { .. }
        | Change::WorkflowRetried { .. }
        | Change::WorkflowMoved { .. }
        | Change::StepStarted { .. }
        | Change::StepResumed { .. }
        | Change::StepHeldBack { .. }
        | Change::StepFailed { .. }
        | Change::StepSkipped { .. }
        | Change::StepCancelled { .. }
        | Change::MapStarted { .. }
        | Change::TaskStarted { .. }
        | Change::TaskPinned { .. }
        | Change::TaskUnpinned { .. }
        | Change::TaskRedelivered { .. }
        | Change::JournalRecorded { .. }
        | Change::CheckpointSaved { .. }
        | Change::TaskLogged { .. }
        | Change::EventSent { .. }
        | Change::LlmCallCompleted { .. }
        | Change::SignalReceived { .. } => {
            let mut numbers = change.waitpoints();
            numbers.next().filter(|_| numbers.next().is_none())
        }
    }
}

fn step_name(definition: &Definition, at: StepAddress) -> String {
    let name = &definition.step(at.step).name;
    at.item.map_or_else(|| name.to_string(), |item| format!("{name}[{item}]"))
}
