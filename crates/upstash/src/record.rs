//! What clients add to runs: found under the client's id, recorded once, refused when the run is over.

use std::sync::Arc;

use abide_core::command::{Command, Steer, Steering, TaskRecorded, TaskSuspended, WaitSpec};
use abide_core::history::{JournalResult, WakeOn};
use abide_core::id::RunId;
use abide_core::json::Json;
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::waitpoint::Kind;
use abide_engine::Error;
use abide_engine::stored::{Page, RunFilter};
use axum::http::StatusCode;

use crate::log::{Log, STEP, failed_name};
use crate::routes::Problem;
use crate::started::id_tag;
use crate::{Gateway, KNOWN_IDS};

/// How often something is recorded again because the run has just changed.
const TRIES: usize = 20;

/// What is to be recorded, and what is answered.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) entries: Vec<JournalResult>,
    pub(crate) waits: Vec<WaitSpec>,
    /// The ids of the messages, in the order of the request.
    pub(crate) message_ids: Vec<String>,
    /// Whether nothing is left to do but to wait: the task is suspended with what is recorded, in one commit.
    pub(crate) suspends: bool,
}

impl Recording {
    pub(crate) fn entry(&mut self, name: impl Into<String>, result: impl Into<Json>) {
        self.entries.push(JournalResult { name: name.into().into(), result: result.into() });
    }
}

/// The run is over, or there is none: the SDK stops quietly.
pub(crate) fn not_active(id: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, format!("workflow run {id} is not active"))
}

impl Gateway {
    /// The run that a client's id names.
    pub(crate) async fn find(&self, id: &str) -> Result<Option<RunId>, Error> {
        if let Some(known) = self.known.lock().await.get(id) {
            return Ok(Some(*known));
        }
        let filter = RunFilter { tag: Some(id_tag(id)), ..RunFilter::default() };
        let found = self.workspace().runs().ids(filter, Page { after: None, limit: 1 }).await?;
        if let Some(run) = found.first() {
            self.remember(id, *run).await;
        }
        Ok(found.first().copied())
    }

    pub(crate) async fn remember(&self, id: &str, run: RunId) {
        let mut known = self.known.lock().await;
        if known.len() >= KNOWN_IDS {
            known.clear();
        }
        known.insert(id.to_owned(), run);
    }

    /// The run that a client's id names, if it is not over, with its log.
    pub(crate) async fn active(&self, id: &str) -> Result<(Run, Arc<Log>), Problem> {
        let run = self.find(id).await?.ok_or_else(|| not_active(id))?;
        let run = self.workspace().run(run).get().await?;
        let log = self.log_of(&run).filter(|log| !log.failures.contains_key(&failed_name(log.visit)));
        match log {
            Some(log) if !run.status.has_ended() => Ok((run, log)),
            Some(_) | None => Err(not_active(id)),
        }
    }

    /// Adds to a run what follows from its log. Whoever asks again gets the same answer, and nothing is added twice.
    pub(crate) async fn record(
        &self,
        id: &str,
        what: impl Fn(&Run, &Log) -> Result<Recording, Problem>,
    ) -> Result<Vec<String>, Problem> {
        for _ in 0..TRIES {
            let (run, log) = self.active(id).await?;
            let Recording { entries, waits, message_ids, suspends } = what(&run, &log)?;
            if entries.is_empty() && waits.is_empty() {
                return Ok(message_ids);
            }
            let recorded = |lease_epoch| match suspends {
                true => Command::TaskSuspended(TaskSuspended {
                    at: STEP,
                    lease_epoch,
                    entries,
                    waits: waits.into_iter().chain(log.open_waits()).collect(),
                    wake: WakeOn::Each,
                    checkpoint: None,
                    cancels: Vec::new(),
                }),
                false => Command::TaskRecorded(TaskRecorded { at: STEP, lease_epoch, entries, waits }),
            };
            if self.under_lease(&run, recorded).await? {
                if suspends {
                    self.logs.forget(run.id);
                }
                return Ok(message_ids);
            }
        }
        Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the run changes all the time; try again"))
    }

    /// Gives a command to the run in the name of its task, whoever performs that. Says no if the run has changed.
    pub(crate) async fn under_lease(
        &self,
        run: &Run,
        command: impl FnOnce(u32) -> Command,
    ) -> Result<bool, Problem> {
        let task = run.step(STEP).and_then(|step| step.task.as_deref());
        let Some(task) = task.filter(|task| task.out) else { return self.wake(run).await };
        match self.workspace().run(run.id).command(command(task.lease_epoch)).await {
            Ok(_) => Ok(true),
            Err(Error::Refused(
                Refusal::StaleLease { .. } | Refusal::WrongStep { .. } | Refusal::JournalConflict { .. },
            )) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What is submitted for a run that waits comes from a delivery that was given up: the wait for its retry is over.
    async fn wake(&self, run: &Run) -> Result<bool, Problem> {
        let retry = run.open_waitpoints().find(|wait| wait.kind == Kind::Retry).map(|wait| wait.number);
        let Some(number) = retry else {
            let message = "the run waits, and no delivery of it is under way";
            return Err(Problem::new(StatusCode::CONFLICT, message));
        };
        let steer = Steer::new(number, Steering::Complete { payload: None });
        match self.workspace().run(run.id).command(Command::Steer(steer)).await {
            Ok(_) | Err(Error::Refused(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
