//! As much of the API's answers as is shown to people. `--json` shows all of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
    pub(crate) next_cursor: Option<String>,
}

/// Something that is held.
#[derive(Debug, Deserialize)]
pub(crate) struct HeldItem {
    pub(crate) id: String,
    pub(crate) since: Timestamp,
    pub(crate) by: String,
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) version: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Deployed {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) created: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunSummary {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) definition: Definition,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) definition: Definition,
    pub(crate) input: Value,
    pub(crate) state: Value,
    #[serde(default)]
    pub(crate) output: Value,
    pub(crate) error: Option<Failure>,
    /// The run that calls the handler of `onFailure` or `onCancel`.
    #[serde(default)]
    pub(crate) handled_by: Option<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) waiting_for: Vec<WaitingFor>,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) pausing: bool,
    pub(crate) created_by: String,
    pub(crate) created_at: Timestamp,
    pub(crate) ended_at: Option<Timestamp>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) step: Option<String>,
    pub(crate) detail: Option<FailureDetail>,
}

/// Where in a handler a failure came from.
#[derive(Debug, Deserialize)]
pub(crate) struct FailureDetail {
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) call: Option<String>,
    #[serde(default)]
    pub(crate) attempt: u32,
    pub(crate) stack: Option<String>,
    #[serde(default)]
    pub(crate) causes: Vec<FailureCause>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FailureCause {
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) previous_error: Option<Failure>,
    #[serde(default)]
    pub(crate) journal: Vec<Call>,
    #[serde(default)]
    pub(crate) journal_omitted: usize,
    pub(crate) r#type: String,
    pub(crate) status: String,
    pub(crate) attempt: u32,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    #[serde(default)]
    pub(crate) output: Value,
    pub(crate) error: Option<Failure>,
    pub(crate) worker: Option<String>,
    #[serde(default)]
    pub(crate) items: Vec<Step>,
}

/// A durable call of a handler.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) attempts: u32,
    pub(crate) error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitingFor {
    /// None of a task that waits for a worker.
    pub(crate) waitpoint_id: Option<String>,
    pub(crate) child_run_id: Option<String>,
    pub(crate) step_name: Option<String>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) sentence: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Started {
    pub(crate) id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Waitpoint {
    pub(crate) id: String,
    pub(crate) step_name: Option<String>,
    /// The durable call of a handler that waits.
    pub(crate) call: Option<String>,
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) created_at: Timestamp,
    pub(crate) resume_at: Option<Timestamp>,
    pub(crate) listens_for: ListensFor,
    pub(crate) approval: Option<Approval>,
}

impl Waitpoint {
    /// Whose it is: its step, and the durable call of its handler.
    pub(crate) fn whose(&self) -> Option<String> {
        named(self.step_name.as_deref(), self.call.as_deref())
    }
}

impl ApprovalRequest {
    /// Who asks: a step, or a durable call of its handler.
    pub(crate) fn whose(&self) -> Option<String> {
        named(self.step_name.as_deref(), self.call.as_deref())
    }
}

/// A step and a durable call of its handler, as people are shown them.
fn named(step: Option<&str>, call: Option<&str>) -> Option<String> {
    let step = step?;
    Some(call.map_or_else(|| step.to_owned(), |call| format!("{step} › {call}")))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "type")]
pub(crate) enum ListensFor {
    Time,
    Signal {
        signal_type: String,
    },
    Event {
        event_id: String,
        #[serde(rename = "match")]
        matching: Option<String>,
    },
    Call {},
    Approval,
    Child {
        run_id: String,
    },
    Attempt {
        attempt: u32,
        max_attempts: u32,
        error: Failure,
    },
    Code {
        builds: Vec<String>,
        recorded: String,
        found: String,
    },
}

#[derive(Debug, Deserialize)]
pub(crate) struct Approval {
    pub(crate) prompt: Option<String>,
    pub(crate) quorum: u32,
    pub(crate) decisions: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApprovalRequest {
    pub(crate) id: String,
    pub(crate) step_name: Option<String>,
    pub(crate) call: Option<String>,
    pub(crate) status: String,
    pub(crate) resume_at: Option<Timestamp>,
    pub(crate) prompt: Option<String>,
    pub(crate) content: Value,
    pub(crate) approvers: Vec<String>,
    pub(crate) quorum: u32,
    pub(crate) decisions: Vec<Vote>,
    pub(crate) resolved_by: Option<String>,
    pub(crate) resume_url: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Vote {
    pub(crate) by: String,
    pub(crate) decision: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Decided {
    pub(crate) id: String,
    pub(crate) approvals: u32,
    pub(crate) quorum: u32,
    pub(crate) resolved: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Signalled {
    pub(crate) run_id: String,
    pub(crate) taken_by: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Notified {
    pub(crate) id: Option<String>,
    pub(crate) dry_run: bool,
    pub(crate) waiters: Vec<Woken>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Woken {
    pub(crate) waitpoint_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Commanded {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) pausing: bool,
    pub(crate) changed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BulkDone {
    pub(crate) dry_run: bool,
    pub(crate) matched: u64,
    pub(crate) done: u64,
    pub(crate) refused: u64,
    pub(crate) refusals: Vec<Refused>,
    pub(crate) next_cursor: Option<String>,
}

/// A run that was moved to another version, or could be.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Moved {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) changed: bool,
    pub(crate) dry_run: bool,
}

/// How the runs that wait would fit a new version.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckedRuns {
    pub(crate) valid: bool,
    pub(crate) problems: Vec<Value>,
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) looked_at: u64,
    pub(crate) fit: u64,
    pub(crate) stranded: u64,
    pub(crate) unclear: u64,
    pub(crate) groups: Vec<CheckedGroup>,
    pub(crate) not_told: u64,
    pub(crate) next_cursor: Option<String>,
}

/// Runs of one version that wait at the same steps.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckedGroup {
    pub(crate) version: String,
    pub(crate) waiting_at: Vec<String>,
    pub(crate) runs: u64,
    pub(crate) fits: bool,
    pub(crate) misfits: Vec<Misfit>,
    pub(crate) examples: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Misfit {
    pub(crate) code: String,
    pub(crate) step: Option<String>,
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refused {
    #[serde(alias = "runId", alias = "waitpointId")]
    pub(crate) id: String,
    pub(crate) problem: super::Problem,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) prefix: String,
    pub(crate) created_at: Timestamp,
    pub(crate) last_used_at: Option<Timestamp>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) revoked_at: Option<Timestamp>,
    /// Only of one that was just made.
    pub(crate) secret: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Workspace {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) created_at: Timestamp,
    pub(crate) open_runs: u64,
    pub(crate) stored_bytes: u64,
    /// The figures it has, by name.
    pub(crate) quotas: std::collections::BTreeMap<String, Option<u64>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Polled {
    /// As the server gives them: that is what a command gets on its standard input.
    pub(crate) tasks: Vec<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) seq: u64,
    pub(crate) time: Timestamp,
    pub(crate) by: String,
    pub(crate) r#type: String,
    /// What it says, in a sentence.
    #[serde(default)]
    pub(crate) text: String,
    pub(crate) step_name: Option<String>,
    #[serde(flatten)]
    pub(crate) fields: serde_json::Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Schedule {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) definition: String,
    pub(crate) cron: Option<String>,
    pub(crate) timezone: Option<String>,
    pub(crate) every_ms: Option<u64>,
    pub(crate) paused: bool,
    pub(crate) next_at: Option<Timestamp>,
    pub(crate) last_run_id: Option<String>,
    pub(crate) queued: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Triggered {
    pub(crate) outcome: String,
    pub(crate) run_id: Option<String>,
}
