//! What a worker reports, as a command.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::command::{
    Command, LeaseLoss, LeaseLost, Mismatch, TaskCompleted, TaskFailed, TaskHeartbeat, TaskLogged,
    TaskPaused, TaskSuspended,
};
use abide_core::history::{JournalResult, Level, LogLine, WakeOn};
use abide_core::json::Json;
use abide_core::limits;
use abide_core::time::Millis;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::lease::Lease;
use super::wait::WaitBody;
use crate::problem::Problem;
use crate::request::{Name, length};
use crate::routes::waitpoints::present;
use crate::shape::step::FailureDetailBody;
use crate::shape::words;

/// Reports in one request, or waits in one report.
const WAITS: u32 = 1_000;

/// A report, by its type.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
#[schemars(rename = "TaskReport")]
pub(super) enum Report {
    Complete(Complete),
    Fail(Fail),
    Pause(Pause),
    Suspend(Suspend),
    Heartbeat(Heartbeat),
    Log(Log),
    Release(Release),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Complete {
    lease_token: String,
    /// Null if absent.
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    output: Value,
    /// Merged into `state`, or stored under the step's `saveAs`.
    state_updates: Option<BTreeMap<String, Value>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Fail {
    lease_token: String,
    message: String,
    /// Your own; `TASK_FAILED` if absent.
    code: Option<Name>,
    /// Whether another attempt may help; true if absent.
    retryable: Option<bool>,
    /// Try again after this time, instead of the step's back-off.
    retry_after_ms: Option<u64>,
    /// `retryAfterMs` as text: `2d 4h`.
    retry_after: Option<String>,
    /// Where in the handler it came from.
    detail: Option<FailureDetailBody>,
    /// The code does not fit what the handler has recorded. The step waits for a worker with another build, unless its
    /// `onCodeChange` says that it fails.
    mismatch: Option<MismatchBody>,
}

/// What was recorded, and what the code came to instead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "CodeMismatch")]
struct MismatchBody {
    /// What the journal holds.
    recorded: String,
    /// What the code came to.
    found: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Pause {
    lease_token: String,
    /// Of the pause; once per name and visit of the step.
    name: Name,
    duration_ms: Option<u64>,
    /// `durationMs` as text: `2d 4h`.
    duration: Option<String>,
    /// Handed back with the task. An earlier one stays when this is absent.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    checkpoint: Option<Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Suspend {
    lease_token: String,
    /// Results that the journal does not hold yet.
    #[serde(default)]
    entries: Vec<Entry>,
    /// What it waits for. A name that has a waitpoint already is waited for as it is.
    #[schemars(length(min = 1, max = WAITS))]
    waits: Vec<WaitBody>,
    /// When it goes on: when `all` have ended (if absent), `any` (the others are cancelled), or `each` time one ends.
    #[serde(default)]
    wake: Wake,
    /// Names of waits that the code has no use for any more; those that are still open are cancelled.
    #[serde(default)]
    #[schemars(length(max = WAITS))]
    cancels: Vec<Name>,
    /// Handed back with the task. An earlier one stays when this is absent.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    checkpoint: Option<Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Heartbeat {
    lease_token: String,
    /// Handed back with the task when it is handed out again.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    checkpoint: Option<Value>,
    /// Results that the journal does not hold yet.
    #[serde(default)]
    entries: Vec<Entry>,
    /// Names of waits that the code has no use for any more; those that are still open are cancelled.
    #[serde(default)]
    #[schemars(length(max = WAITS))]
    cancels: Vec<Name>,
}

/// Lines for the run's log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Log {
    lease_token: String,
    #[schemars(length(max = limits::LOG_LINES))]
    lines: Vec<Line>,
}

/// A line of a run's log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LogLine")]
struct Line {
    /// `info` if absent.
    #[serde(default)]
    #[schemars(schema_with = "words::level")]
    level: Level,
    message: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Release {
    lease_token: String,
}

/// A named result of durable code.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewJournalEntry")]
struct Entry {
    name: Name,
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    result: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum Wake {
    #[default]
    All,
    Any,
    Each,
}

impl Report {
    pub(super) fn lease_token(&self) -> &str {
        match self {
            Report::Complete(Complete { lease_token, .. })
            | Report::Fail(Fail { lease_token, .. })
            | Report::Pause(Pause { lease_token, .. })
            | Report::Suspend(Suspend { lease_token, .. })
            | Report::Heartbeat(Heartbeat { lease_token, .. })
            | Report::Log(Log { lease_token, .. })
            | Report::Release(Release { lease_token }) => lease_token,
        }
    }

    pub(super) fn command(self, lease: Lease) -> Result<Command, Problem> {
        match self {
            Report::Complete(report) => Ok(report.command(lease)),
            Report::Fail(report) => report.command(lease),
            Report::Pause(report) => report.command(lease),
            Report::Suspend(report) => report.command(lease),
            Report::Heartbeat(report) => Ok(report.command(lease)),
            Report::Log(Log { lines, .. }) => {
                let Lease { run: _, at, lease_epoch } = lease;
                let line = |Line { level, message }| LogLine { level, message };
                let lines = lines.into_iter().map(line).collect();
                Ok(Command::TaskLogged(TaskLogged { at, lease_epoch, lines }))
            }
            Report::Release(_) => {
                let Lease { run: _, at, lease_epoch } = lease;
                Ok(Command::LeaseLost(LeaseLost { at, lease_epoch, loss: LeaseLoss::Released }))
            }
        }
    }
}

impl Complete {
    fn command(self, Lease { run: _, at, lease_epoch }: Lease) -> Command {
        let shared = |updates: BTreeMap<String, Value>| {
            updates.into_iter().map(|(key, value)| (key, value.into())).collect::<BTreeMap<String, Json>>()
        };
        let state_updates = self.state_updates.map(shared);
        Command::TaskCompleted(TaskCompleted { at, lease_epoch, output: self.output.into(), state_updates })
    }
}

impl Fail {
    fn command(self, Lease { run: _, at, lease_epoch }: Lease) -> Result<Command, Problem> {
        let retry_after = length("retryAfter", self.retry_after_ms, self.retry_after.as_deref())?;
        Ok(Command::TaskFailed(TaskFailed {
            at,
            lease_epoch,
            message: self.message,
            code: self.code.map(Arc::<str>::from),
            retryable: self.retryable.unwrap_or(true),
            retry_after,
            detail: self.detail.map(|detail| Box::new(detail.into())),
            mismatch: self.mismatch.map(|MismatchBody { recorded, found }| Mismatch { recorded, found }),
        }))
    }
}

impl Pause {
    fn command(self, Lease { run: _, at, lease_epoch }: Lease) -> Result<Command, Problem> {
        let duration = needed_length("duration", self.duration_ms, self.duration.as_deref())?;
        let checkpoint = self.checkpoint.map(Json::from);
        Ok(Command::TaskPaused(TaskPaused { at, lease_epoch, name: self.name.into(), duration, checkpoint }))
    }
}

pub(super) fn needed_length(name: &str, ms: Option<u64>, text: Option<&str>) -> Result<Millis, Problem> {
    length(name, ms, text)?.ok_or_else(|| {
        let detail = format!("/{name}: `{name}Ms` or `{name}` is missing; it would look like `30s`");
        Problem::malformed(format!("/{name}"), detail)
    })
}

impl Suspend {
    fn command(self, Lease { run: _, at, lease_epoch }: Lease) -> Result<Command, Problem> {
        let wake = match self.wake {
            Wake::All => WakeOn::All,
            Wake::Any => WakeOn::Any,
            Wake::Each => WakeOn::Each,
        };
        Ok(Command::TaskSuspended(TaskSuspended {
            at,
            lease_epoch,
            entries: journal(self.entries),
            waits: self.waits.into_iter().map(WaitBody::spec).collect::<Result<_, _>>()?,
            wake,
            checkpoint: self.checkpoint.map(Json::from),
            cancels: self.cancels.into_iter().map(Into::into).collect(),
        }))
    }
}

impl Heartbeat {
    fn command(self, Lease { run: _, at, lease_epoch }: Lease) -> Command {
        let (checkpoint, entries) = (self.checkpoint.map(Json::from), journal(self.entries));
        let (calls, cancels) = (Vec::new(), self.cancels.into_iter().map(Into::into).collect());
        Command::TaskHeartbeat(TaskHeartbeat { at, lease_epoch, checkpoint, entries, calls, cancels })
    }
}

fn journal(entries: Vec<Entry>) -> Vec<JournalResult> {
    let result = |Entry { name, result }| JournalResult { name: name.into(), result: result.into() };
    entries.into_iter().map(result).collect()
}
