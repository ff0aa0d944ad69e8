//! A step of a run.

use std::sync::Arc;

use abide_core::definition::Action;
use abide_core::history::{Failure, FailureCause, FailureDetail};
use abide_core::id::{StepAddress, WaitpointId};
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::StepStatus;
use abide_engine::counts;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{self, CallBody};
use super::waitpoint::TakenEventBody;
use super::words;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Step")]
pub(crate) struct StepBody {
    /// An item of a map ends in its index: `send[3]`.
    name: String,
    r#type: &'static str,
    #[schemars(schema_with = "words::step_status")]
    status: StepStatus,
    /// Of this visit, from 1; 0 before the first.
    attempt: u32,
    /// More than 1 when a failed run was retried.
    visit: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    /// Of a step that sleeps, or has slept: until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    output: Option<Json>,
    /// Of a `wait_for_event`: the event whose data is the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<TakenEventBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<FailureBody>,
    /// Of a step that has gone on since: why an earlier attempt of this visit failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_error: Option<FailureBody>,
    /// The worker that has it, or had it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    worker: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    checkpoint: Option<Json>,
    /// The waits of this visit by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waits: Vec<StepWait>,
    /// The durable calls of its handler, in the order in which it came to them; the last 100. Of a step that waits for several
    /// things, its waits in the order of their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    journal: Vec<CallBody>,
    /// Durable calls before those of `journal`.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(default)]
    journal_omitted: usize,
    /// Of a map: its items so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    items: Vec<StepBody>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepWait {
    #[schemars(with = "String")]
    name: Arc<str>,
    #[schemars(with = "String")]
    waitpoint_id: WaitpointId,
}

/// Why a step or a run failed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Failure")]
pub(crate) struct FailureBody {
    #[schemars(with = "String")]
    code: Arc<str>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    step: Option<Arc<str>>,
    /// Where in the handler it came from. The stack is with the step, not with its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<FailureDetailBody>,
}

/// Where a failure of a handler came from. What is too long is cut, and what looks like a secret is hidden.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "FailureDetail")]
pub(crate) struct FailureDetailBody {
    /// The error's type in the handler's language.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The durable call that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    /// Of the step, from 1. The server knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stack: Option<String>,
    /// What the error was caused by, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<FailureCauseBody>,
}

/// An error that another one was caused by.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "FailureCause")]
struct FailureCauseBody {
    /// The error's type in the handler's language.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    message: String,
}

impl From<&Failure> for FailureBody {
    fn from(failure: &Failure) -> FailureBody {
        let Failure { code, message, step, detail } = failure.clone();
        FailureBody { code, message, step, detail: detail.map(|detail| FailureDetailBody::from(*detail)) }
    }
}

impl From<FailureDetail> for FailureDetailBody {
    fn from(detail: FailureDetail) -> FailureDetailBody {
        let FailureDetail { kind, call, attempt, stack, causes } = detail;
        let cause = |FailureCause { kind, message }| FailureCauseBody { kind, message };
        let causes = causes.into_iter().map(cause).collect();
        FailureDetailBody { kind, call, attempt: Some(attempt), stack, causes }
    }
}

impl From<FailureDetailBody> for FailureDetail {
    fn from(body: FailureDetailBody) -> FailureDetail {
        let FailureDetailBody { kind, call, attempt, stack, causes } = body;
        let cause = |FailureCauseBody { kind, message }| FailureCause { kind, message };
        let causes = causes.into_iter().map(cause).collect();
        FailureDetail { kind, call, attempt: attempt.unwrap_or_default(), stack, causes }
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Every step of the definition, in its order.
pub(crate) fn steps(run: &Run) -> Vec<StepBody> {
    let items =
        |step: u16| run.step_runs().map(|(at, _)| at).filter(move |at| at.step == step && at.item.is_some());
    let is_map = |step: &abide_core::definition::Step| matches!(step.action, Action::Map(_));
    (0..)
        .zip(&run.definition.steps)
        .map(|(index, step)| {
            let mut body = step_body(run, StepAddress::step(index));
            if is_map(step) {
                body.items = items(index).map(|at| step_body(run, at)).collect();
            }
            body
        })
        .collect()
}

fn step_body(run: &Run, at: StepAddress) -> StepBody {
    let state = run.step(at);
    let task = state.and_then(|state| state.task.as_deref());
    let waits = state.into_iter().flat_map(|state| &state.waits);
    let error = state.and_then(|state| state.error.as_ref()).map(FailureBody::from);
    let is_current = run.step_status(at) == StepStatus::Failed || run.is_backing_off(at);
    let (error, previous_error) = if is_current { (error, None) } else { (None, error) };
    let (journal, journal_omitted) = call::journal(run, at);
    StepBody {
        name: run.step_name(at),
        r#type: counts::type_name(&run.defined(at).action),
        status: run.step_status(at),
        attempt: state.map_or(0, |state| state.attempt),
        visit: state.map_or(0, |state| state.visit),
        started_at: state.and_then(|state| state.started_at),
        ended_at: state.and_then(|state| state.ended_at),
        wake_at: run.wake_at(at),
        output: state.and_then(|state| state.output.clone()),
        event: run.event_of(at).map(TakenEventBody::from),
        error,
        previous_error,
        worker: task.and_then(|task| task.worker.clone()),
        checkpoint: task.and_then(|task| task.checkpoint.clone()),
        waits: waits
            .map(|(name, number)| StepWait {
                name: Arc::clone(name),
                waitpoint_id: run.waitpoint_id(*number),
            })
            .collect(),
        journal,
        journal_omitted,
        items: Vec::new(),
    }
}
