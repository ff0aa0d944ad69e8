//! A task as it is handed to whoever does the work.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::definition::{Action, Executor};
use crate::id::{At, RunId, TaskId, WaitpointId};
use crate::json::Json;
use crate::run::{Journalled, Run};
use crate::scope;
use crate::status::WaitStatus;
use crate::time::Millis;
use crate::trace::Traceparent;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub id: TaskId,
    pub run_id: RunId,
    pub step_name: String,
    pub executor: Executor,
    pub handler: Arc<str>,
    /// Fences a stale worker: every report carries it.
    pub delivery: u32,
    pub attempt: u32,
    pub config: Json,
    pub input: Json,
    pub state: Value,
    pub checkpoint: Option<Json>,
    /// What earlier deliveries recorded, in the order it was.
    pub journal: Vec<JournalItem>,
    pub timeout: Option<Millis>,
    pub heartbeat: Option<Millis>,
    pub deadline: Option<Timestamp>,
    /// The trace of the run.
    pub traceparent: Option<Traceparent>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalItem {
    pub name: Arc<str>,
    #[serde(flatten)]
    pub what: JournalWhat,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JournalWhat {
    Result(Json),
    Wait { waitpoint_id: WaitpointId, status: WaitStatus, payload: Option<Json> },
}

impl Run {
    /// The task at a place, if one is handed out or ready to be.
    pub fn task(&self, at: At) -> Option<Task> {
        let step = self.step(at)?;
        let task = step.task.as_deref().filter(|task| task.out)?;
        let Action::Work(work) = &self.defined(at).action else { return None };
        let part = |key: &str, template: Option<&Json>| {
            let rendered = task.request.as_ref().and_then(|request| request.get(key));
            rendered.map(|value| Json::new(value.clone())).or_else(|| template.cloned())
        };
        let config = part("config", work.config.as_ref().and_then(|template| template.as_constant()));
        let input = part("input", work.input.as_ref().and_then(|template| template.as_constant()));
        let mut journal: Vec<_> = task.journal.iter().collect();
        journal.sort_by_key(|(_, entry)| entry.order);
        Some(Task {
            id: self.id.task(at),
            run_id: self.id,
            step_name: self.step_name(at),
            executor: work.executor,
            handler: Arc::clone(&work.handler),
            delivery: task.delivery,
            attempt: step.attempt,
            config: config.unwrap_or_else(Json::null),
            input: input.unwrap_or_else(|| self.input.clone()),
            state: scope::state(self),
            checkpoint: task.checkpoint.clone(),
            journal: journal.into_iter().map(|(name, entry)| self.journal_item(name, &entry.what)).collect(),
            timeout: work.timeout,
            heartbeat: work.heartbeat,
            deadline: task.deadline,
            traceparent: self.traceparent,
        })
    }

    fn journal_item(&self, name: &Arc<str>, what: &Journalled) -> JournalItem {
        let what = match what {
            Journalled::Result(result) => JournalWhat::Result(result.clone()),
            Journalled::Wait(number) => {
                let wait = self.waitpoint(*number).expect("a journal names waitpoints of its run");
                let waitpoint_id = self.waitpoint_id(*number);
                JournalWhat::Wait { waitpoint_id, status: wait.status, payload: wait.resume_payload.clone() }
            }
        };
        JournalItem { name: Arc::clone(name), what }
    }
}
