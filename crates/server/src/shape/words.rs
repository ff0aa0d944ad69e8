//! Schemas of the core's words: the types are the core's, and know nothing of HTTP.

use abide_core::history::Level;
use abide_core::schedule::{CatchUp, Overlap};
use abide_core::status::{RunStatus, StepStatus, WaitStatus};
use abide_core::task::ExecutionType;
use abide_core::waitpoint::{Decision, Kind};
use abide_core::webhook_message::Topic;
use abide_engine::stored::{DeliveryStatus, Scope};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::run::WORKER;

fn one_of(words: &[impl Serialize]) -> Schema {
    json_schema!({ "type": "string", "enum": words })
}

const RUN_STATUSES: [RunStatus; 7] = RunStatus::ALL;
const WAIT_STATUSES: [WaitStatus; 4] =
    [WaitStatus::Pending, WaitStatus::Completed, WaitStatus::TimedOut, WaitStatus::Cancelled];

pub(crate) fn run_status(_: &mut SchemaGenerator) -> Schema {
    one_of(&RUN_STATUSES)
}

pub(crate) fn run_statuses(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": run_status(generator), "description": "Separated by commas." })
}

pub(crate) fn step_status(_: &mut SchemaGenerator) -> Schema {
    one_of(&[
        StepStatus::Pending,
        StepStatus::Running,
        StepStatus::Waiting,
        StepStatus::Completed,
        StepStatus::Failed,
        StepStatus::Skipped,
        StepStatus::Cancelled,
    ])
}

pub(crate) fn wait_status(_: &mut SchemaGenerator) -> Schema {
    one_of(&WAIT_STATUSES)
}

pub(crate) fn kind(_: &mut SchemaGenerator) -> Schema {
    one_of(&Kind::ALL)
}

pub(crate) fn waiting_kind(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<String> = Kind::ALL.iter().map(ToString::to_string).chain([WORKER.to_owned()]).collect();
    one_of(&words)
}

/// What a durable call does.
pub(crate) fn call_kind(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<String> =
        ["RUN".to_owned()].into_iter().chain(Kind::ALL.iter().map(ToString::to_string)).collect();
    one_of(&words)
}

pub(crate) fn call_status(_: &mut SchemaGenerator) -> Schema {
    one_of(&["PENDING", "COMPLETED", "FAILED", "TIMED_OUT", "CANCELLED"])
}

pub(crate) fn execution_type(_: &mut SchemaGenerator) -> Schema {
    one_of(&[ExecutionType::Begin, ExecutionType::Resume])
}

pub(crate) fn decision(_: &mut SchemaGenerator) -> Schema {
    one_of(&[Decision::Approve, Decision::Reject, Decision::Edit])
}

pub(crate) fn level(_: &mut SchemaGenerator) -> Schema {
    one_of(&[Level::Debug, Level::Info, Level::Warn, Level::Error])
}

pub(crate) fn scopes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "enum": Scope::ALL }, "minItems": 1 })
}

pub(crate) fn topic(_: &mut SchemaGenerator) -> Schema {
    one_of(&Topic::ALL)
}

pub(crate) fn topics(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "type": "string", "enum": Topic::ALL },
        "minItems": 1,
        "uniqueItems": true,
    })
}

pub(crate) fn delivery_status(_: &mut SchemaGenerator) -> Schema {
    one_of(&DeliveryStatus::ALL)
}

pub(crate) fn overlap(_: &mut SchemaGenerator) -> Schema {
    one_of(&Overlap::ALL)
}

pub(crate) fn catch_up(_: &mut SchemaGenerator) -> Schema {
    one_of(&CatchUp::ALL)
}

/// A workflow's document, whose schema is the core's.
pub(crate) fn workflow(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "$ref": "#/components/schemas/Workflow" })
}

/// Anything at all.
pub(crate) fn any(_: &mut SchemaGenerator) -> Schema {
    Schema::from(true)
}
