//! A task in a worker's hands.

use std::sync::Arc;

use abide_core::history::DefinitionRef;
use abide_core::id::{RunId, TaskId, WaitpointId};
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::WaitStatus;
use abide_core::task::{ExecutionType, JournalItem, JournalWhat, ResumedBy, Task};
use abide_core::waitpoint::Kind;
use abide_engine::Leased;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::waitpoint::TakenEventBody;
use super::words;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Task")]
pub(crate) struct TaskBody {
    #[schemars(with = "String")]
    id: TaskId,
    /// Every report carries it. Opaque.
    lease_token: String,
    /// Until when the worker has it, unless it sends a heartbeat.
    leased_until: Timestamp,
    #[schemars(with = "String")]
    run_id: RunId,
    step_name: String,
    #[schemars(with = "String")]
    handler: Arc<str>,
    /// Of this visit, from 1.
    attempt: u32,
    #[schemars(schema_with = "words::any")]
    config: Json,
    #[schemars(schema_with = "words::any")]
    input: Json,
    #[schemars(schema_with = "words::any")]
    state: Value,
    /// What an earlier execution left, or null.
    #[schemars(with = "Option<Value>")]
    checkpoint: Option<Json>,
    /// What earlier executions recorded, in the order it was.
    journal: Vec<JournalBody>,
    /// `RESUME` when a wait of the handler is over, `BEGIN` before that.
    #[schemars(schema_with = "words::execution_type")]
    execution_type: ExecutionType,
    /// The wait that ended last; null before the first.
    resumed_by: Option<ResumedByBody>,
    /// What ended it: `{body, headers, queryParams}` of a call, an event's data, …; of a delay, the same with nothing in it.
    #[schemars(with = "Option<Value>")]
    resume_payload: Option<Json>,
    /// When the attempt's time is over, if it has a limit.
    deadline: Option<Timestamp>,
    /// How often a heartbeat is expected, in milliseconds.
    heartbeat_ms: Option<u64>,
    /// The trace of the run, to go on with in the worker; null if there is none.
    traceparent: Option<String>,
}

/// A wait of a handler that is over.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ResumedBy")]
pub(crate) struct ResumedByBody {
    #[schemars(with = "String")]
    waitpoint_id: WaitpointId,
    #[schemars(with = "String")]
    name: Arc<str>,
    #[schemars(schema_with = "words::kind")]
    kind: Kind,
    #[schemars(schema_with = "words::wait_status")]
    status: WaitStatus,
}

impl From<ResumedBy> for ResumedByBody {
    fn from(resumed: ResumedBy) -> ResumedByBody {
        let ResumedBy { waitpoint_id, name, kind, status } = resumed;
        ResumedByBody { waitpoint_id, name, kind, status }
    }
}

/// A result of durable code, or a wait of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "JournalEntry")]
pub(crate) struct JournalBody {
    #[schemars(with = "String")]
    name: Arc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    result: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<JournalWait>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JournalWait {
    #[schemars(with = "String")]
    waitpoint_id: WaitpointId,
    #[schemars(schema_with = "words::kind")]
    kind: Kind,
    /// What the code asked for when the wait was opened, in its SDK's words.
    asked: Option<Arc<str>>,
    #[schemars(schema_with = "words::wait_status")]
    status: WaitStatus,
    #[schemars(with = "Option<Value>")]
    payload: Option<Json>,
    /// Of an event: which one, and when it was received.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<TakenEventBody>,
}

/// A task that is under way, with all that its handler has recorded: what new code can be tried on.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TaskJournal")]
pub(crate) struct TaskJournalBody {
    #[schemars(with = "String")]
    run_id: RunId,
    /// The name of its definition, and the version.
    #[schemars(with = "String")]
    workflow: Arc<str>,
    #[schemars(with = "String")]
    version: Arc<str>,
    /// The step's name; an item's of a map ends in its index.
    step: String,
    #[schemars(with = "String")]
    handler: Arc<str>,
    /// Of this visit, from 1.
    attempt: u32,
    #[schemars(schema_with = "words::any")]
    input: Json,
    #[schemars(schema_with = "words::any")]
    state: Value,
    #[schemars(schema_with = "words::any")]
    config: Json,
    /// What an earlier execution left, or null.
    #[schemars(with = "Option<Value>")]
    checkpoint: Option<Json>,
    /// What earlier executions recorded, in the order it was; waits that are open among it.
    journal: Vec<JournalBody>,
}

impl TaskJournalBody {
    pub(crate) fn new(run: &Run, task: Task) -> TaskJournalBody {
        let DefinitionRef { name, version } = run.definition_ref.clone();
        let Task { run_id, step_name, handler, attempt, config, input, state, checkpoint, journal, .. } =
            task;
        TaskJournalBody {
            run_id,
            workflow: name,
            version,
            step: step_name,
            handler,
            attempt,
            input,
            state,
            config,
            checkpoint,
            journal: journal.into_iter().map(JournalBody::from).collect(),
        }
    }
}

impl From<JournalItem> for JournalBody {
    fn from(item: JournalItem) -> JournalBody {
        let JournalItem { name, what } = item;
        match what {
            JournalWhat::Result(result) => JournalBody { name, result: Some(result), wait: None },
            JournalWhat::Wait { waitpoint_id, kind, asked, status, payload, event } => {
                let event = event.map(TakenEventBody::from);
                let wait = JournalWait { waitpoint_id, kind, asked, status, payload, event };
                JournalBody { name, result: None, wait: Some(wait) }
            }
        }
    }
}

impl TaskBody {
    pub(crate) fn new(leased: Leased, lease_token: String) -> TaskBody {
        let Leased { task, at: _, leased_until } = leased;
        let Task {
            id,
            run_id,
            step_name,
            executor: _,
            handler,
            lease_epoch: _,
            attempt,
            visit: _,
            config,
            input,
            state,
            state_bytes: _,
            checkpoint,
            journal,
            execution_type,
            resumed_by,
            resume_payload,
            timeout: _,
            heartbeat,
            deadline,
            traceparent,
            secrets: _,
        } = task;
        TaskBody {
            id,
            lease_token,
            leased_until,
            run_id,
            step_name,
            handler,
            attempt,
            config,
            input,
            state,
            checkpoint,
            journal: journal.into_iter().map(JournalBody::from).collect(),
            execution_type,
            resumed_by: resumed_by.map(ResumedByBody::from),
            resume_payload,
            deadline,
            heartbeat_ms: heartbeat.map(|heartbeat| heartbeat.0),
            traceparent: traceparent.map(|traceparent| traceparent.to_string()),
        }
    }
}
