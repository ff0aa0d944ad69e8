//! A run.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::history::{DefinitionRef, Parent, StartedOn};
use abide_core::id::{DefinitionId, EventUid, RunId, WaitpointId};
use abide_core::json::Json;
use abide_core::run::{Run, UnclaimedTask};
use abide_core::status::RunStatus;
use abide_core::trace::Traceparent;
use abide_core::waiting_for::{WaitingFor, waiting_for};
use abide_core::waitpoint::{Actor, ListensFor};
use abide_engine::Workers;
use abide_engine::stored::{Held, RunSummary};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::step::{FailureBody, StepBody, steps};
use super::words;

/// A run, with its steps and what it waits for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Run")]
pub(crate) struct RunBody {
    #[schemars(with = "String")]
    id: RunId,
    #[schemars(schema_with = "words::run_status")]
    status: RunStatus,
    definition: DefinitionBody,
    #[schemars(schema_with = "words::any")]
    input: Json,
    #[schemars(with = "BTreeMap<String, Value>")]
    state: BTreeMap<String, Json>,
    /// Of a completed run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    output: Option<Json>,
    /// Of a failed run.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<FailureBody>,
    /// The run that calls the handler of `onFailure` or `onCancel`, where the workflow has one and this run has ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    handled_by: Option<RunId>,
    steps: Vec<StepBody>,
    /// Every open wait, the oldest first; then the tasks that nobody does.
    waiting_for: Vec<WaitingForBody>,
    #[schemars(with = "Vec<String>")]
    tags: Vec<Arc<str>>,
    /// The run that started this one, or sent the event that it was started on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    parent_run_id: Option<RunId>,
    /// The event that it was started on, by the `startOn` of its workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_on: Option<StartedOnBody>,
    /// A pause is asked for, or in effect.
    pausing: bool,
    #[schemars(with = "String")]
    created_by: Actor,
    /// The trace of the request that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    traceparent: Option<Traceparent>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    /// When the whole run must be over.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<Timestamp>,
    /// Records in its history.
    version: u64,
    /// Nothing is decided about it until it is released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<HeldBody>,
}

/// Since when something is held, and why.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Held")]
pub(crate) struct HeldBody {
    since: Timestamp,
    by: String,
    reason: String,
}

impl From<Held> for HeldBody {
    fn from(held: Held) -> HeldBody {
        let Held { at, by, reason, owner: _, workspace: _ } = held;
        HeldBody { since: at, by, reason }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DefinitionRef")]
pub(crate) struct DefinitionBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    id: Option<DefinitionId>,
    #[schemars(with = "String")]
    name: Arc<str>,
    #[schemars(with = "String")]
    version: Arc<str>,
}

impl DefinitionBody {
    pub(crate) fn of(definition: &DefinitionRef) -> DefinitionBody {
        let DefinitionRef { name, version } = definition.clone();
        DefinitionBody { id: None, name, version }
    }
}

/// An open wait, or a task that nobody does, in words.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WaitingFor")]
pub(crate) struct WaitingForBody {
    /// Absent: a task that waits for a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    waitpoint_id: Option<WaitpointId>,
    /// Absent: the run has not begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    step_name: Option<String>,
    /// The durable call of a handler that waits, or that is to be made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    call: Option<Arc<str>>,
    /// Of a wait its kind; `WORKER` of a task whose handler no worker has.
    #[schemars(schema_with = "words::waiting_kind")]
    kind: String,
    /// Of a CHILD: the run that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    child_run_id: Option<RunId>,
    since: Timestamp,
    /// When time ends it, or its deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// What is waited for, in a sentence.
    sentence: String,
}

impl From<WaitingFor> for WaitingForBody {
    fn from(wait: WaitingFor) -> WaitingForBody {
        let sentence = wait.to_string();
        let WaitingFor { waitpoint_id, step_name, call, kind, since, until, ended_by: _, listens_for } = wait;
        let child_run_id = match listens_for {
            ListensFor::Child { run_id } => Some(run_id),
            ListensFor::Time
            | ListensFor::Signal { .. }
            | ListensFor::Event(_)
            | ListensFor::Call { .. }
            | ListensFor::Approval(_)
            | ListensFor::Attempt(_)
            | ListensFor::Code(_)
            | ListensFor::Capacity(_)
            | ListensFor::Starts(_) => None,
        };
        let (waitpoint_id, kind) = (Some(waitpoint_id), kind.to_string());
        WaitingForBody { waitpoint_id, step_name, call, kind, child_run_id, since, until, sentence }
    }
}

/// What a task that is ready waits for, if nobody has its handler.
pub(crate) const WORKER: &str = "WORKER";

impl WaitingForBody {
    /// The tasks of the run that are ready and whose handler nobody has.
    fn without_worker(run: &Run, workers: &Workers) -> Vec<WaitingForBody> {
        let is_done = |task: &UnclaimedTask| match &task.pinned_to {
            Some(build) => workers.has_build(run.workspace, &task.handler, build),
            None => workers.has(run.workspace, &task.handler),
        };
        run.unclaimed_tasks()
            .filter(|task| !is_done(task))
            .map(|UnclaimedTask { at, handler, pinned_to, since: ready }| {
                let step = run.step_name(at);
                let (seen, sentence) = match pinned_to {
                    Some(build) => {
                        let seen = workers.builds.get(&(run.workspace, Arc::clone(&build))).copied();
                        let last = seen.map_or_else(
                            || "none was seen since the server started".to_owned(),
                            |seen| format!("the last one was seen at {seen}"),
                        );
                        (seen, format!("`{step}` waits for a worker of build `{build}`, to which it is pinned; {last}"))
                    }
                    None => {
                        let seen = workers.handlers.get(&(run.workspace, Arc::clone(&handler))).copied();
                        let since = seen.unwrap_or(ready);
                        (seen, format!("`{step}` waits for a worker: none has handler `{handler}` since {since}"))
                    }
                };
                let since = seen.unwrap_or(ready);
                WaitingForBody {
                    waitpoint_id: None,
                    step_name: Some(step),
                    call: None,
                    kind: WORKER.to_owned(),
                    child_run_id: None,
                    since,
                    until: None,
                    sentence,
                }
            })
            .collect()
    }
}

impl RunBody {
    pub(crate) fn new(run: &Run, definition: Option<DefinitionId>, workers: &Workers) -> RunBody {
        let DefinitionRef { name, version } = run.definition_ref.clone();
        RunBody {
            id: run.id,
            status: run.status,
            definition: DefinitionBody { id: definition, name, version },
            input: run.input.clone(),
            state: run.state.clone(),
            output: run.output.clone(),
            error: run.error.as_ref().map(FailureBody::from),
            handled_by: run.handled_by,
            steps: steps(run),
            waiting_for: waiting_for(run)
                .into_iter()
                .map(WaitingForBody::from)
                .chain(WaitingForBody::without_worker(run, workers))
                .collect(),
            tags: run.tags.clone(),
            parent_run_id: run.parent.map(|Parent { run_id, .. }| run_id),
            started_on: run
                .started_on
                .clone()
                .map(|StartedOn { event, event_id, .. }| StartedOnBody { event, event_id }),
            pausing: run.pausing,
            created_by: run.created_by.clone(),
            traceparent: run.traceparent,
            created_at: run.created_at,
            started_at: run.started_at,
            ended_at: run.ended_at,
            deadline: run.deadline,
            version: run.seq,
            held: None,
        }
    }
}

/// A run in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RunSummary")]
pub(crate) struct SummaryBody {
    #[schemars(with = "String")]
    id: RunId,
    #[schemars(schema_with = "words::run_status")]
    status: RunStatus,
    definition: DefinitionBody,
    #[schemars(with = "Vec<String>")]
    tags: Vec<Arc<str>>,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: u64,
}

impl From<RunSummary> for SummaryBody {
    fn from(summary: RunSummary) -> SummaryBody {
        let RunSummary { id, workspace: _, definition, status, tags, created_at, updated_at, version } =
            summary;
        let definition = DefinitionBody::of(&definition);
        SummaryBody { id, status, definition, tags, created_at, updated_at, version }
    }
}

/// The event that a run was started on.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StartedOn")]
pub(crate) struct StartedOnBody {
    /// The event's own number.
    #[schemars(with = "String")]
    event: EventUid,
    #[schemars(with = "String")]
    event_id: Arc<str>,
}

/// A run that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StartedRun")]
pub(crate) struct StartedBody {
    #[schemars(with = "String")]
    pub(crate) id: RunId,
    /// Where the run can be seen.
    pub(crate) url: String,
    /// Whether the start was added to a run that collects those of its key, by the `debounce` of its workflow; absent
    /// where the run is the start's own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub(crate) collected: bool,
    /// Whether the run was cancelled at once, because there was no room under a limit whose `whenFull` is `skip`; absent
    /// where it was not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub(crate) skipped: bool,
}
