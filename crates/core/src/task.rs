//! A task as it is handed to whoever does the work.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::definition::{Executor, Work};
use crate::expression::{EvaluationError, SecretPlace, Template};
use crate::flow::expression_failed;
use crate::history::Failure;
use crate::id::{RunId, StepAddress, TaskId, WaitpointId};
use crate::json::Json;
use crate::run::{Journalled, Run, StepState, TaskState};
use crate::scope;
use crate::status::{StepStatus, WaitStatus};
use crate::time::Millis;
use crate::trace::Traceparent;
use crate::waitpoint::{Kind, TakenEvent, Waitpoint};

/// A task as it is handed to whoever does it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The id of the task.
    pub id: TaskId,
    /// The run that the task is a part of.
    pub run_id: RunId,
    /// The name of the task's step; an item of a map is `name[3]`.
    pub step_name: String,
    /// Who does the task: a worker, or the engine itself.
    pub executor: Executor,
    /// The name of the handler that a worker must have for it.
    pub handler: Arc<str>,
    /// The lease epoch, which every report carries: a report with an older one is refused.
    pub lease_epoch: u32,
    /// The attempt of this visit, from 1.
    pub attempt: u32,
    /// How often the step has begun: more than once when a failed run is retried.
    pub visit: u32,
    /// The step's `config`, rendered; `null` if it has none.
    pub config: Json,
    /// The step's `input`, rendered; that of the run if the step has none.
    pub input: Json,
    /// The `state` of the run when the task was rendered.
    pub state: Value,
    /// The size of `state` in bytes, about.
    #[serde(skip)]
    pub state_bytes: usize,
    /// Data that an earlier execution left for this one.
    pub checkpoint: Option<Json>,
    /// The journal: what earlier executions recorded, in their order.
    pub journal: Vec<JournalItem>,
    /// Whether the handler begins, or is resumed after a wait.
    pub execution_type: ExecutionType,
    /// The wait that ended last, because of which the handler is re-executed.
    pub resumed_by: Option<ResumedBy>,
    /// What that wait ended with, as [`Waitpoint::shown_payload`] shows it.
    pub resume_payload: Option<Json>,
    /// How long one attempt may be worked on; waiting does not count.
    pub timeout: Option<Millis>,
    /// How often a worker must extend its lease; `None`: as often as the engine's default says.
    pub heartbeat: Option<Millis>,
    /// When the time of this attempt ends; `None` before a worker has taken the task, or without a timeout.
    pub deadline: Option<Timestamp>,
    /// The W3C trace context of the run.
    pub traceparent: Option<Traceparent>,
    /// Where secrets are put into the input of an `http` step.
    pub secrets: Vec<SecretPlace>,
}

/// Why a handler is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExecutionType {
    /// The handler has waited for nothing yet.
    Begin,
    /// A wait of the handler is over: it is re-executed from the top.
    Resume,
}

/// The wait because of which a handler is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumedBy {
    /// The waitpoint's id.
    pub waitpoint_id: WaitpointId,
    /// The name of the wait in the journal.
    pub name: Arc<str>,
    /// The kind of the wait.
    pub kind: Kind,
    /// How the wait ended.
    pub status: WaitStatus,
}

impl Task {
    /// The size of the task's payloads, in bytes.
    pub fn bytes(&self) -> usize {
        let journal = self.journal.iter().map(|item| match &item.what {
            JournalWhat::Result(result) => result.bytes(),
            JournalWhat::Wait { payload, .. } => payload.as_ref().map_or(0, Json::bytes),
        });
        let checkpoint = self.checkpoint.as_ref().map_or(0, Json::bytes);
        self.config.bytes() + self.input.bytes() + self.state_bytes + checkpoint + journal.sum::<usize>()
    }

    /// The task as workers outside are given it: without what only the engine needs.
    pub fn for_workers(&self) -> Value {
        let mut value = serde_json::to_value(self).expect("a task is JSON");
        if let Some(fields) = value.as_object_mut() {
            let own = ["executor", "leaseEpoch", "visit", "timeout", "heartbeat", "secrets"];
            fields.retain(|name, _| !own.contains(&name.as_str()));
            fields.insert("heartbeatMs".to_owned(), self.heartbeat.map(|heartbeat| heartbeat.0).into());
        }
        value
    }
}

/// One entry of the journal that is handed out with a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalItem {
    /// The name of the durable call.
    pub name: Arc<str>,
    /// The result, or the wait.
    #[serde(flatten)]
    pub what: JournalWhat,
}

/// What an entry of the journal holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JournalWhat {
    /// The result of a durable call.
    Result(Json),
    /// The wait of a durable call.
    Wait {
        /// The waitpoint's id.
        waitpoint_id: WaitpointId,
        /// The kind of the wait.
        kind: Kind,
        /// What the code asked for when the wait was opened, if its SDK said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        asked: Option<Arc<str>>,
        /// How the wait ended; PENDING if it has not.
        status: WaitStatus,
        /// What the wait ended with.
        payload: Option<Json>,
        /// The event that an EVENT wait took: its number, and when it was received.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<TakenEvent>,
    },
}

impl Run {
    /// The task at a step address, if one is handed out or ready to be. What it asks for is rendered now, unless it
    /// was when the step began; where that fails, so does the step.
    pub fn task(&self, at: StepAddress) -> Option<Result<Task, Failure>> {
        let step = self.step(at)?;
        let task = step.task.as_deref().filter(|task| task.out)?;
        let work = self.defined(at).action.work()?;
        Some(self.render_task(at, step, task, work).map_err(|error| expression_failed(&error)))
    }

    /// The task of a handler that is under way at a step address, as it would be handed out if what it waits for
    /// ended now: new code can be tried on it. Nobody gets a lease by that.
    pub fn task_under_way(&self, at: StepAddress) -> Option<Result<Task, Failure>> {
        let step = self.step(at)?;
        let is_open = matches!(step.status, StepStatus::Running | StepStatus::Waiting);
        let task = step.task.as_deref().filter(|_| is_open)?;
        let work = self.defined(at).action.work().filter(|work| work.executor == Executor::Handler)?;
        let rendered = self.render_task(at, step, task, work).map_err(|error| expression_failed(&error));
        let next_attempt = step.attempt + u32::from(self.is_backing_off(at));
        Some(rendered.map(|task| Task { attempt: next_attempt, ..task }))
    }

    /// The journal of the handler at a step address, in the order in which it was recorded, also when the step is
    /// over.
    pub fn journal(&self, at: StepAddress) -> Vec<JournalItem> {
        let task = self.step(at).and_then(|step| step.task.as_deref());
        let mut journal: Vec<_> = task.into_iter().flat_map(|task| &task.journal).collect();
        journal.sort_by_key(|(_, entry)| entry.order);
        journal.into_iter().map(|(name, entry)| self.journal_item(name, &entry.what)).collect()
    }

    /// How long the lease of a task that is out lasts without a heartbeat.
    pub fn heartbeat(&self, at: StepAddress) -> Option<Millis> {
        self.defined(at).action.work()?.heartbeat
    }

    fn render_task(
        &self,
        at: StepAddress,
        step: &StepState,
        task: &TaskState,
        work: &Work,
    ) -> Result<Task, EvaluationError> {
        let recorded = |key: &str| task.request.as_ref().and_then(|request| request.get(key));
        let part = |key: &str, template: Option<&Template>| match (recorded(key), template) {
            (Some(value), _) => Ok(Some(Json::new(value.clone()))),
            (None, Some(template)) => self.render_at(at, template).map(Some),
            (None, None) => Ok(None),
        };
        let config = part("config", work.config.as_ref())?;
        let input = part("input", work.input.as_ref())?;
        let secrets = match (recorded("secrets"), &work.input) {
            (Some(places), _) => serde_json::from_value(places.clone()).unwrap_or_default(),
            (None, Some(template)) if work.executor == Executor::Http && recorded("input").is_none() => {
                self.secrets_at(at, template)?
            }
            (None, _) => Vec::new(),
        };
        let resumed_by = self.resumed_by(step);
        Ok(Task {
            id: self.id.task(at),
            run_id: self.id,
            step_name: self.step_name(at),
            executor: work.executor,
            handler: Arc::clone(&work.handler),
            lease_epoch: task.lease_epoch,
            attempt: step.attempt,
            visit: step.visit,
            config: config.unwrap_or_else(Json::null),
            input: input.unwrap_or_else(|| self.input.clone()),
            state: scope::state(self),
            state_bytes: self.state_bytes,
            checkpoint: task.checkpoint.clone(),
            journal: self.journal(at),
            execution_type: if resumed_by.is_some() { ExecutionType::Resume } else { ExecutionType::Begin },
            resume_payload: resumed_by.and_then(Waitpoint::shown_payload),
            resumed_by: resumed_by.map(|wait| ResumedBy {
                waitpoint_id: self.waitpoint_id(wait.number),
                name: Arc::clone(&wait.name),
                kind: wait.kind,
                status: wait.status,
            }),
            timeout: work.timeout,
            heartbeat: work.heartbeat,
            deadline: task.deadline,
            traceparent: self.traceparent,
            secrets,
        })
    }

    /// The wait of a handler that ended last. A back-off is the engine's, not the handler's.
    fn resumed_by(&self, step: &StepState) -> Option<&Waitpoint> {
        let waits = step.waits.values().filter_map(|number| self.waitpoint(*number));
        let is_engine_s = |wait: &&Waitpoint| {
            matches!(wait.kind, Kind::Retry | Kind::Code | Kind::Capacity) || wait.is_aside()
        };
        let ended = waits.filter(|wait| !wait.is_pending() && !is_engine_s(wait));
        ended.max_by_key(|wait| (wait.resolved_at, wait.number))
    }

    fn journal_item(&self, name: &Arc<str>, what: &Journalled) -> JournalItem {
        let what = match what {
            Journalled::Result(result) => JournalWhat::Result(result.clone()),
            Journalled::Wait(number) => {
                let wait = self.waitpoint(*number).expect("a journal names waitpoints of its run");
                let waitpoint_id = self.waitpoint_id(*number);
                JournalWhat::Wait {
                    waitpoint_id,
                    kind: wait.kind,
                    asked: wait.asked.clone(),
                    status: wait.status,
                    payload: wait.resume_payload.clone(),
                    event: wait.event,
                }
            }
        };
        JournalItem { name: Arc::clone(name), what }
    }
}
