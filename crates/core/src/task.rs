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
    pub id: TaskId,
    pub run_id: RunId,
    pub step_name: String,
    pub executor: Executor,
    pub handler: Arc<str>,
    /// Fences a stale worker: every report carries it.
    pub lease_epoch: u32,
    pub attempt: u32,
    /// How often the step has begun: more than once when a failed run is retried.
    pub visit: u32,
    pub config: Json,
    pub input: Json,
    pub state: Value,
    /// About what it takes.
    #[serde(skip)]
    pub state_bytes: usize,
    pub checkpoint: Option<Json>,
    /// What earlier executions recorded, in the order it was.
    pub journal: Vec<JournalItem>,
    pub execution_type: ExecutionType,
    /// The wait that ended last, because of which it is entered again.
    pub resumed_by: Option<ResumedBy>,
    /// What ended that wait.
    pub resume_payload: Option<Json>,
    pub timeout: Option<Millis>,
    pub heartbeat: Option<Millis>,
    pub deadline: Option<Timestamp>,
    /// The trace of the run.
    pub traceparent: Option<Traceparent>,
    /// Where secrets belong in the input of an `http` step.
    pub secrets: Vec<SecretPlace>,
}

/// Why a handler is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExecutionType {
    /// The handler has waited for nothing yet.
    Begin,
    /// A wait of it is over.
    Resume,
}

/// A wait of a handler that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumedBy {
    pub waitpoint_id: WaitpointId,
    pub name: Arc<str>,
    pub kind: Kind,
    pub status: WaitStatus,
}

impl Task {
    /// What its payloads take.
    pub fn bytes(&self) -> usize {
        let journal = self.journal.iter().map(|item| match &item.what {
            JournalWhat::Result(result) => result.bytes(),
            JournalWhat::Wait { payload, .. } => payload.as_ref().map_or(0, Json::bytes),
        });
        let checkpoint = self.checkpoint.as_ref().map_or(0, Json::bytes);
        self.config.bytes() + self.input.bytes() + self.state_bytes + checkpoint + journal.sum::<usize>()
    }

    /// As it is given to whoever is outside: what only the engine needs is left out.
    pub fn for_workers(&self) -> Value {
        let mut value = serde_json::to_value(self).expect("a task is JSON");
        if let Some(fields) = value.as_object_mut() {
            let own = ["executor", "lease_epoch", "visit", "timeout", "heartbeat", "secrets"];
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
    pub name: Arc<str>,
    #[serde(flatten)]
    pub what: JournalWhat,
}

/// What an entry of the journal holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JournalWhat {
    Result(Json),
    Wait {
        waitpoint_id: WaitpointId,
        kind: Kind,
        /// What the code asked for when it was opened, if its SDK said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        asked: Option<Arc<str>>,
        status: WaitStatus,
        payload: Option<Json>,
        /// Of an event: which one, and when it was received.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<TakenEvent>,
    },
}

impl Run {
    /// The task at a place, if one is handed out or ready to be. What it asks for is rendered now, unless it was when the
    /// step began; where that fails, so does the step.
    pub fn task(&self, at: StepAddress) -> Option<Result<Task, Failure>> {
        let step = self.step(at)?;
        let task = step.task.as_deref().filter(|task| task.out)?;
        let work = self.defined(at).action.work()?;
        Some(self.render_task(at, step, task, work).map_err(|error| expression_failed(&error)))
    }

    /// The task of a handler at a place that is under way, as it would be handed out if what it waits for ended now: what new
    /// code can be tried on. Nobody has it by that.
    pub fn task_under_way(&self, at: StepAddress) -> Option<Result<Task, Failure>> {
        let step = self.step(at)?;
        let is_open = matches!(step.status, StepStatus::Running | StepStatus::Waiting);
        let task = step.task.as_deref().filter(|_| is_open)?;
        let work = self.defined(at).action.work().filter(|work| work.executor == Executor::Handler)?;
        let rendered = self.render_task(at, step, task, work).map_err(|error| expression_failed(&error));
        let next_attempt = step.attempt + u32::from(self.is_backing_off(at));
        Some(rendered.map(|task| Task { attempt: next_attempt, ..task }))
    }

    /// For how long a task that is out is kept without a sign of life.
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
        let mut journal: Vec<_> = task.journal.iter().collect();
        journal.sort_by_key(|(_, entry)| entry.order);
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
            journal: journal.into_iter().map(|(name, entry)| self.journal_item(name, &entry.what)).collect(),
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
        let is_engine_s =
            |wait: &&Waitpoint| matches!(wait.kind, Kind::Retry | Kind::Code) || wait.is_aside();
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
