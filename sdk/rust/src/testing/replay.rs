//! New code against the journals of runs that wait: which of them a deploy would hold up.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::client::Client;
use crate::context::Context;
use crate::execution::{Execution, Rehearsed};
use crate::handlers::Handlers;
use crate::middleware::Stack;
use crate::problem::Error;
use crate::wire::{JournalEntry, Json, Task, TaskExecutionType};

/// How long a handler may take to come to what its journal holds.
const GRACE: Duration = Duration::from_millis(500);
const AT_THE_SAME_TIME: usize = 64;
/// Nothing is sent, and nobody would be there.
const NOWHERE: &str = "http://replay.invalid";

/// What a handler of a run has recorded: a line of `abide journals export`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredJournal {
    /// The run.
    pub run_id: String,
    /// The name of its workflow.
    #[serde(default)]
    pub workflow: String,
    /// The version of its workflow.
    #[serde(default)]
    pub version: Json,
    /// The step whose handler it is.
    pub step: String,
    /// The handler's name.
    pub handler: String,
    /// Which attempt it is in.
    #[serde(default)]
    pub attempt: u32,
    /// As a task has it.
    #[serde(default)]
    pub input: Json,
    /// As a task has it.
    #[serde(default)]
    pub state: Json,
    /// As a task has it.
    #[serde(default)]
    pub config: Json,
    /// As a task has it.
    #[serde(default)]
    pub checkpoint: Json,
    /// What was recorded, in the order it was.
    pub journal: Vec<JournalEntry>,
}

impl From<&Task> for StoredJournal {
    fn from(task: &Task) -> StoredJournal {
        StoredJournal {
            run_id: task.run_id.clone(),
            workflow: String::new(),
            version: Json::Null,
            step: task.step_name.clone(),
            handler: task.handler.clone(),
            attempt: task.attempt,
            input: task.input.clone(),
            state: task.state.clone(),
            config: task.config.clone(),
            checkpoint: task.checkpoint.clone(),
            journal: task.journal.clone(),
        }
    }
}

impl StoredJournal {
    fn into_task(self) -> Task {
        let resumed = self.journal.iter().any(|entry| entry.wait.is_some());
        Task {
            attempt: self.attempt.max(1),
            checkpoint: self.checkpoint,
            config: self.config,
            deadline: None,
            execution_type: if resumed { TaskExecutionType::Resume } else { TaskExecutionType::Begin },
            handler: self.handler,
            heartbeat_ms: None,
            id: format!("{}/{}", self.run_id, self.step),
            input: self.input,
            journal: self.journal,
            lease_token: String::new(),
            leased_until: Timestamp::UNIX_EPOCH,
            resume_payload: Json::Null,
            resumed_by: None,
            run_id: self.run_id,
            state: self.state,
            step_name: self.step,
            traceparent: None,
        }
    }
}

/// The journals to check: a file that `abide journals export` wrote, or its lines.
#[derive(Debug, Clone)]
pub enum Journals {
    /// One JSON document a line.
    File(PathBuf),
    /// What the lines hold.
    Read(Vec<StoredJournal>),
}

impl From<&Path> for Journals {
    fn from(path: &Path) -> Journals {
        Journals::File(path.to_owned())
    }
}

impl From<&str> for Journals {
    fn from(path: &str) -> Journals {
        Journals::File(path.into())
    }
}

impl From<Vec<StoredJournal>> for Journals {
    fn from(journals: Vec<StoredJournal>) -> Journals {
        Journals::Read(journals)
    }
}

impl Journals {
    fn read(self) -> Result<Vec<StoredJournal>, Error> {
        let path = match self {
            Journals::Read(journals) => return Ok(journals),
            Journals::File(path) => path,
        };
        let failed = |why: String| Error::Unusable(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = lines.map(|(number, line)| {
            let unreadable = |error| failed(format!("line {}: {error}", number + 1));
            serde_json::from_str(line).map_err(unreadable)
        });
        read.collect()
    }
}

/// What became of one journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplayOutcome {
    /// The code comes to everything that is recorded, as it was.
    Fits,
    /// The run would wait for other code.
    Mismatch,
    /// The handler fails before it is through its journal, or right after.
    Failed,
    /// There is no handler of that name.
    NoHandler,
}

/// Whether the code fits the journal of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayVerdict {
    /// The run.
    pub run_id: String,
    /// The step whose handler it is.
    pub step: String,
    /// The handler's name.
    pub handler: String,
    /// What became of it.
    pub verdict: ReplayOutcome,
    /// What the journal holds, where the code does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// What the code came to instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came_to: Option<String>,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl fmt::Display for ReplayVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReplayVerdict { run_id, step, handler, message, .. } = self;
        let why = message.as_deref().unwrap_or("it fits");
        write!(f, "{run_id} › {step} ({handler}): {why}")
    }
}

/// Runs handlers against the journals of runs, one verdict a journal, without a server. Nothing is executed: a handler that
/// comes to a call, or a wait, which is not recorded is through its journal, and is left there.
///
/// ```no_run
/// use abide_sdk::Handlers;
/// use abide_sdk::testing::{assert_fits, replay_check};
/// # async fn fulfil(ctx: abide_sdk::Context, order: u64) -> abide_sdk::Result<u64> { Ok(order) }
///
/// # async fn test() -> Result<(), abide_sdk::Error> {
/// let handlers = Handlers::new().handler("fulfil-order", fulfil);
/// assert_fits(&replay_check(&handlers, "journals.jsonl").await?); // of `abide journals export`
/// # Ok(())
/// # }
/// ```
pub async fn replay_check(
    handlers: &Handlers,
    journals: impl Into<Journals>,
) -> Result<Vec<ReplayVerdict>, Error> {
    let journals = journals.into().read()?;
    let client = Client::at(NOWHERE)?;
    let checks = journals.into_iter().map(|journal| check(handlers, &client, journal));
    Ok(stream::iter(checks).buffered(AT_THE_SAME_TIME).collect().await)
}

async fn check(handlers: &Handlers, client: &Client, journal: StoredJournal) -> ReplayVerdict {
    let StoredJournal { run_id, step, handler: name, .. } = journal.clone();
    let verdict = ReplayVerdict {
        run_id,
        step,
        handler: name.clone(),
        verdict: ReplayOutcome::Fits,
        recorded: None,
        came_to: None,
        message: None,
    };
    let Some(handler) = handlers.get(&name) else {
        let message = Some(format!("there is no handler `{name}`"));
        return ReplayVerdict { verdict: ReplayOutcome::NoHandler, message, ..verdict };
    };
    let execution = Arc::new(Execution::new(journal.into_task(), None, GRACE));
    let context = Context::new(execution.clone(), client, Stack::default());
    match execution.rehearse(handler(context)).await {
        Rehearsed::Fits => verdict,
        Rehearsed::Failed(error) => {
            let (message, mismatch) = (Some(error.message), error.mismatch);
            match mismatch {
                Some(mismatch) => ReplayVerdict {
                    verdict: ReplayOutcome::Mismatch,
                    recorded: Some(mismatch.recorded),
                    came_to: Some(mismatch.found),
                    message,
                    ..verdict
                },
                None => ReplayVerdict { verdict: ReplayOutcome::Failed, message, ..verdict },
            }
        }
    }
}

/// Panics, with a list, unless every journal fits.
#[track_caller]
pub fn assert_fits(verdicts: &[ReplayVerdict]) {
    let unfit: Vec<String> = verdicts
        .iter()
        .filter(|verdict| verdict.verdict != ReplayOutcome::Fits)
        .map(ToString::to_string)
        .collect();
    let (count, all, list) = (unfit.len(), verdicts.len(), unfit.join("\n  "));
    assert!(unfit.is_empty(), "{count} of {all} journals do not fit the code:\n  {list}");
}
