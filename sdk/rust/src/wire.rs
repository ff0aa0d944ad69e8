//! Written by sdk/generate from schema/openapi.json; change that, not this.

use std::collections::BTreeMap;

use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

use crate::setters::{given, setters, words};

/// Any JSON value.
pub type Json = serde_json::Value;
/// The members of a JSON object.
pub type Object = serde_json::Map<String, Json>;

/// Of the whole server, one sample after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    pub every_ms: u64,
    pub samples: Vec<ActivitySample>,
}

/// What happened between two looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivitySample {
    /// When it ended.
    pub at: Timestamp,
    /// From a timer's instant to its firing, in milliseconds: half of them were quicker.
    pub lateness_p50_ms: u64,
    /// 99 of 100 were quicker.
    pub lateness_p99_ms: u64,
    /// Records written to histories.
    pub records: u64,
    /// Timers that fired.
    pub timers: u64,
}

/// A link that lets somebody decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalLink {
    /// For people: a page that shows the content, and asks.
    pub confirm_url: String,
    /// Whom it is for; null: anyone.
    pub recipient: Option<String>,
    /// For programs: a POST decides.
    pub resume_url: String,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WaitpointStatus {
    #[serde(rename = "PENDING")] Pending,
    #[serde(rename = "COMPLETED")] Completed,
    #[serde(rename = "TIMED_OUT")] TimedOut,
    #[serde(rename = "CANCELLED")] Cancelled,
}

words!(WaitpointStatus { Pending "PENDING", Completed "COMPLETED", TimedOut "TIMED_OUT", Cancelled "CANCELLED" });

/// A request, and what was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    /// Whether whoever started the run may decide.
    pub allow_self_approval: bool,
    /// Empty: anyone with the scope `approve`.
    pub approvers: Vec<String>,
    /// The durable call of a handler that asks; absent where the step itself does.
    pub call: Option<String>,
    pub content: Json,
    /// Stands for the content that is shown: send it along with a decision.
    pub content_digest: String,
    /// What edited content must satisfy.
    #[serde(default)] pub content_schema: Json,
    pub created_at: Timestamp,
    pub decisions: Vec<Vote>,
    pub id: String,
    /// What was decided.
    #[serde(default)] pub outcome: Json,
    pub prompt: Option<String>,
    pub quorum: u32,
    pub resolved_at: Option<Timestamp>,
    pub resolved_by: Option<String>,
    /// The wait's deadline; null: none.
    pub resume_at: Option<Timestamp>,
    /// A URL with which one can decide without a key. Shown to those who may decide.
    pub resume_url: Option<String>,
    pub run_id: String,
    pub status: WaitpointStatus,
    pub step_name: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequestList {
    pub data: Vec<ApprovalRequest>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// What people are asked to decide, and what they have decided so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalState {
    /// Whether whoever started the run may decide.
    pub allow_self_approval: bool,
    /// Empty: anyone with the scope `approve`.
    pub approvers: Vec<String>,
    pub content: Json,
    /// Stands for the content that is shown: send it along with a decision.
    pub content_digest: String,
    /// What edited content must satisfy.
    #[serde(default)] pub content_schema: Json,
    pub decisions: Vec<Vote>,
    pub prompt: Option<String>,
    pub quorum: u32,
}

/// What people are asked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// Every key with the scope `approve`, and whoever has a link, if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub approvers: Option<Vec<String>>,
    /// What is to be approved.
    #[serde(skip_serializing_if = "Option::is_none")] pub content: Option<Json>,
    /// A JSON Schema that edited content must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")] pub content_schema: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub prompt: Option<String>,
    /// Approvals that are needed; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub quorum: Option<u32>,
}

setters!(Ask { approvers [list String], content [into Json], content_schema [into Json], prompt [into String], quorum [plain u32] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub at: Timestamp,
    /// Why there was no answer.
    pub error: Option<String>,
    /// The beginning of the answer.
    pub response: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    pub took_ms: u64,
}

/// A control action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Such as `key.made`.
    pub action: String,
    /// Where the request came from.
    pub address: Option<String>,
    pub at: Timestamp,
    /// The name of the key.
    pub by: String,
    #[serde(default)] pub detail: Json,
    /// Of this entry and of the one before.
    pub hash: String,
    /// The key's id; absent where no key was needed.
    pub key: Option<String>,
    /// From 1 on, over all workspaces.
    pub number: u64,
    pub request_id: Option<String>,
    /// The path of the request.
    pub target: String,
    pub workspace: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntryList {
    pub data: Vec<AuditEntry>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// Whether the audit log is as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditVerified {
    /// The first that is not what it was.
    pub broken_at: Option<u64>,
    /// How many there are, where it is whole.
    pub entries: Option<u64>,
    /// The hash of the last one, where it is whole.
    pub last: Option<String>,
    pub whole: bool,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum BulkCommandAction {
    #[serde(rename = "cancel")] Cancel,
    #[serde(rename = "pause")] Pause,
    #[serde(rename = "unpause")] Unpause,
    #[serde(rename = "retry")] Retry,
    #[serde(rename = "pin")] Pin,
    #[serde(rename = "unpin")] Unpin,
    #[serde(rename = "move")] Move,
}

words!(BulkCommandAction { Cancel "cancel", Pause "pause", Unpause "unpause", Retry "retry", Pin "pin", Unpin "unpin", Move "move" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkCommand {
    pub action: BulkCommandAction,
    /// With `pin`: the build whose workers are given their tasks.
    #[serde(skip_serializing_if = "Option::is_none")] pub build: Option<String>,
    /// The `nextCursor` of the request before.
    #[serde(skip_serializing_if = "Option::is_none")] pub cursor: Option<String>,
    /// Only count.
    #[serde(skip_serializing_if = "Option::is_none")] pub dry_run: Option<bool>,
    /// An empty filter finds every run.
    pub filter: RunFilter,
    /// With `pin` and `unpin`: only tasks of this handler; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub handler: Option<String>,
    /// Runs at most; 10000 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub limit: Option<u32>,
    /// With `cancel`: stands in the histories.
    #[serde(skip_serializing_if = "Option::is_none")] pub reason: Option<String>,
    /// With `move`: the version that the runs go on with.
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
}

impl BulkCommand {
    /// With what it needs.
    pub fn new(action: impl Into<BulkCommandAction>, filter: impl Into<RunFilter>) -> BulkCommand {
        BulkCommand { action: action.into(), filter: filter.into(), build: None, cursor: None, dry_run: None, handler: None, limit: None, reason: None, version: None }
    }
}

setters!(BulkCommand { build [into String], cursor [into String], dry_run [plain bool], handler [into String], limit [plain u32], reason [into String], version [into String] });

/// What became of many runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkDone {
    /// Runs that did as they were told, or would be moved.
    pub done: u64,
    pub dry_run: bool,
    /// Runs that the filter found.
    pub matched: u64,
    /// There may be more: give it as `cursor`.
    pub next_cursor: Option<String>,
    /// The first of those that could not, and why.
    pub refusals: Vec<RefusedRun>,
    /// Runs that could not.
    pub refused: u64,
}

/// What became of many waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkSteered {
    pub done: u64,
    pub dry_run: bool,
    /// Waits that the filter found.
    pub matched: u64,
    /// There may be more: give it as `cursor`.
    pub next_cursor: Option<String>,
    /// The first of those that could not be steered, and why.
    pub refusals: Vec<RefusedWaitpoint>,
    pub refused: u64,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum BulkSteeringAction {
    #[serde(rename = "complete")] Complete,
    #[serde(rename = "skip")] Skip,
    #[serde(rename = "reschedule")] Reschedule,
    #[serde(rename = "timeout")] Timeout,
    #[serde(rename = "cancel")] Cancel,
}

words!(BulkSteeringAction { Complete "complete", Skip "skip", Reschedule "reschedule", Timeout "timeout", Cancel "cancel" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkSteering {
    pub action: BulkSteeringAction,
    /// The `nextCursor` of the request before.
    #[serde(skip_serializing_if = "Option::is_none")] pub cursor: Option<String>,
    /// Only count.
    #[serde(skip_serializing_if = "Option::is_none")] pub dry_run: Option<bool>,
    /// Only pending waits are found.
    pub filter: WaitpointFilter,
    /// Waits at most; 10000 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub limit: Option<u32>,
    /// With `skip`: the output of the steps; null if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub output: Option<Json>,
    /// With `complete`: as if this had come.
    #[serde(skip_serializing_if = "Option::is_none")] pub payload: Option<Json>,
    /// With `skip`: stands in the histories.
    #[serde(skip_serializing_if = "Option::is_none")] pub reason: Option<String>,
    /// With `reschedule`: the new instant.
    #[serde(skip_serializing_if = "Option::is_none")] pub resume_at: Option<Timestamp>,
}

impl BulkSteering {
    /// With what it needs.
    pub fn new(action: impl Into<BulkSteeringAction>, filter: impl Into<WaitpointFilter>) -> BulkSteering {
        BulkSteering { action: action.into(), filter: filter.into(), cursor: None, dry_run: None, limit: None, output: None, payload: None, reason: None, resume_at: None }
    }
}

setters!(BulkSteering { cursor [into String], dry_run [plain bool], limit [plain u32], output [into Json], payload [into Json], reason [into String], resume_at [plain Timestamp] });

/// A limit that a durable call asks for room under: `concurrency`, `rate` with `per`, or both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallLimit {
    /// How many may begin at once after a quiet time; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub burst: Option<u32>,
    /// How many may have room at the same time.
    #[serde(skip_serializing_if = "Option::is_none")] pub concurrency: Option<u32>,
    /// Each key has room of its own; all share one if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub key: Option<String>,
    /// What the limit is called. With `scope: workspace`, all that name it share it.
    pub name: String,
    /// `perMs` as text: `1m`.
    #[serde(skip_serializing_if = "Option::is_none")] pub per: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub per_ms: Option<u64>,
    /// How many may begin in the time of `per`.
    #[serde(skip_serializing_if = "Option::is_none")] pub rate: Option<u32>,
    /// `workflow` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub scope: Option<LimitScope>,
}

impl CallLimit {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> CallLimit {
        CallLimit { name: name.into(), burst: None, concurrency: None, key: None, per: None, per_ms: None, rate: None, scope: None }
    }
}

setters!(CallLimit { burst [plain u32], concurrency [plain u32], key [into String], per [length per_ms], rate [plain u32], scope [into LimitScope] });

/// How often a call that the engine makes is tried, and after what time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRetry {
    /// The longest time before the second attempt; 1000 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub backoff_ms: Option<u64>,
    /// By how much that grows from attempt to attempt; 2 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub backoff_multiplier: Option<f64>,
    /// All attempts together; 3 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub max_attempts: Option<u32>,
    /// The longest back-off in milliseconds; 300000 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub max_backoff_ms: Option<u64>,
}

setters!(CallRetry { backoff_ms [plain u64], backoff_multiplier [plain f64], max_attempts [plain u32], max_backoff_ms [plain u64] });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    #[serde(rename = "read")] Read,
    #[serde(rename = "deploy")] Deploy,
    #[serde(rename = "run")] Run,
    #[serde(rename = "worker")] Worker,
    #[serde(rename = "approve")] Approve,
    #[serde(rename = "admin")] Admin,
}

words!(Scope { Read "read", Deploy "deploy", Run "run", Worker "worker", Approve "approve", Admin "admin" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// What histories say: the key's name.
    pub name: String,
    pub scopes: Vec<Scope>,
    /// The workspace's id.
    pub workspace: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelRun {
    /// Stands in the history.
    #[serde(skip_serializing_if = "Option::is_none")] pub reason: Option<String>,
}

setters!(CancelRun { reason [into String] });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum CatchUp {
    #[serde(rename = "none")] None,
    #[serde(rename = "last")] Last,
    #[serde(rename = "all")] All,
}

words!(CatchUp { None "none", Last "last", All "all" });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum Overlap {
    #[serde(rename = "skip")] Skip,
    #[serde(rename = "queue")] Queue,
    #[serde(rename = "cancelPrevious")] CancelPrevious,
    #[serde(rename = "allow")] Allow,
}

words!(Overlap { Skip "skip", Queue "queue", CancelPrevious "cancelPrevious", Allow "allow" });

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeSchedule {
    #[serde(skip_serializing_if = "Option::is_none")] pub catch_up: Option<CatchUp>,
    #[serde(skip_serializing_if = "Option::is_none")] pub cron: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub definition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub every: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub every_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub overlap: Option<Overlap>,
    #[serde(skip_serializing_if = "Option::is_none")] pub tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
}

setters!(ChangeSchedule { catch_up [into CatchUp], cron [into String], definition [into String], every [length every_ms], input [into Json], name [into String], overlap [into Overlap], tags [list String], timezone [into String], version [into String] });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WebhookEvent {
    #[serde(rename = "workflow.completed")] WorkflowCompleted,
    #[serde(rename = "workflow.failed")] WorkflowFailed,
    #[serde(rename = "workflow.cancelled")] WorkflowCancelled,
    #[serde(rename = "approval.requested")] ApprovalRequested,
    #[serde(rename = "approval.decided")] ApprovalDecided,
    #[serde(rename = "wait.overdue")] WaitOverdue,
}

words!(WebhookEvent { WorkflowCompleted "workflow.completed", WorkflowFailed "workflow.failed", WorkflowCancelled "workflow.cancelled", ApprovalRequested "approval.requested", ApprovalDecided "approval.decided", WaitOverdue "wait.overdue" });

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeWebhook {
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// `false`: nothing is sent, and what was still to be sent is kept.
    #[serde(skip_serializing_if = "Option::is_none")] pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")] pub events: Option<Vec<WebhookEvent>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub url: Option<String>,
}

setters!(ChangeWebhook { description [into String], enabled [plain bool], events [list WebhookEvent], url [into String] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeWorkspace {
    pub quotas: Quotas,
}

impl ChangeWorkspace {
    /// With what it needs.
    pub fn new(quotas: impl Into<Quotas>) -> ChangeWorkspace {
        ChangeWorkspace { quotas: quotas.into() }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedDefinition {
    pub problems: Vec<Finding>,
    pub valid: bool,
    pub warnings: Vec<Finding>,
}

/// Runs of one version that wait at the same steps, and what keeps them from the new one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedGroup {
    /// Some of them.
    pub examples: Vec<String>,
    pub fits: bool,
    pub misfits: Vec<Misfit>,
    /// How many there are.
    pub runs: u64,
    pub version: String,
    /// The steps where they wait; empty: for their start.
    pub waiting_at: Vec<String>,
}

/// How the runs that wait would fit a new version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedRuns {
    /// Those that could be moved.
    pub fit: u64,
    /// Runs alike.
    pub groups: Vec<CheckedGroup>,
    /// Runs that were looked at.
    pub looked_at: u64,
    /// Of the new version.
    pub name: Option<String>,
    /// There may be more: give it as `cursor`.
    pub next_cursor: Option<String>,
    /// Runs of groups that are not told, because there are too many.
    pub not_told: u64,
    pub problems: Vec<Finding>,
    /// Those whose past does not fit.
    pub stranded: u64,
    /// Those that have changed since they were found, or cannot be read.
    pub unclear: u64,
    /// Whether the document is a workflow; otherwise `problems` says what is wrong, and no run was looked at.
    pub valid: bool,
    pub version: Option<String>,
}

/// What was recorded, and what the code came to instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeMismatch {
    /// What the code came to.
    pub found: String,
    /// What the journal holds.
    pub recorded: String,
}

impl CodeMismatch {
    /// With what it needs.
    pub fn new(recorded: impl Into<String>, found: impl Into<String>) -> CodeMismatch {
        CodeMismatch { recorded: recorded.into(), found: found.into() }
    }
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum RunStatus {
    #[serde(rename = "PENDING")] Pending,
    #[serde(rename = "RUNNING")] Running,
    #[serde(rename = "WAITING")] Waiting,
    #[serde(rename = "PAUSED")] Paused,
    #[serde(rename = "COMPLETED")] Completed,
    #[serde(rename = "FAILED")] Failed,
    #[serde(rename = "CANCELLED")] Cancelled,
}

words!(RunStatus { Pending "PENDING", Running "RUNNING", Waiting "WAITING", Paused "PAUSED", Completed "COMPLETED", Failed "FAILED", Cancelled "CANCELLED" });

/// A run that did as it was told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandedRun {
    /// False: what was asked for was so already.
    pub changed: bool,
    pub id: String,
    /// A pause is asked for, or in effect.
    pub pausing: bool,
    pub status: RunStatus,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompleteWaitpoint {
    /// As if this had come.
    #[serde(skip_serializing_if = "Option::is_none")] pub payload: Option<Json>,
}

setters!(CompleteWaitpoint { payload [into Json] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostSummary {
    pub data: Vec<DayCost>,
    pub total: Spent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    pub count: u64,
    /// There are more than were counted.
    pub more: bool,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum CreateWaitpointType {
    #[serde(rename = "WEBHOOK")] Webhook,
    #[serde(rename = "DELAY")] Delay,
    #[serde(rename = "APPROVAL")] Approval,
}

words!(CreateWaitpointType { Webhook "WEBHOOK", Delay "DELAY", Approval "APPROVAL" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateWaitpoint {
    /// Of a WEBHOOK: let a plain GET resume it. Link scanners open every link.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_get: Option<bool>,
    /// Of an APPROVAL: what is asked.
    #[serde(skip_serializing_if = "Option::is_none")] pub approval: Option<Ask>,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    /// Of the task that will wait for it.
    pub lease_token: String,
    pub name: String,
    /// The reply to whoever started or resumed the run and listens. It leaves at once; the handler goes on, and can wait.
    #[serde(skip_serializing_if = "Option::is_none")] pub response_to_send: Option<ResponseToSend>,
    /// Of a DELAY: when it ends. A past instant is over at once.
    #[serde(skip_serializing_if = "Option::is_none")] pub resume_date_time: Option<Timestamp>,
    /// `timeoutMs` as text: `2d 4h`.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// Of a WEBHOOK or an APPROVAL: how long it may take; no limit if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// `WEBHOOK`: a call on its `resumeUrl` ends it. `DELAY`: the clock does, at `resumeDateTime`. `APPROVAL`: people do, whom its `links` can be given to. `WEBHOOK` if absent.
    #[serde(rename = "type")]
    #[serde(skip_serializing_if = "Option::is_none")] pub kind: Option<CreateWaitpointType>,
}

impl CreateWaitpoint {
    /// With what it needs.
    pub fn new(lease_token: impl Into<String>, name: impl Into<String>) -> CreateWaitpoint {
        CreateWaitpoint { lease_token: lease_token.into(), name: name.into(), allow_get: None, approval: None, asked: None, response_to_send: None, resume_date_time: None, timeout: None, timeout_ms: None, kind: None }
    }
}

setters!(CreateWaitpoint { allow_get [plain bool], approval [into Ask], asked [into String], response_to_send [into ResponseToSend], resume_date_time [plain Timestamp], timeout [length timeout_ms], kind [into CreateWaitpointType] });

/// Tokens and money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayCost {
    /// Input tokens that a provider had seen before, a part of all input tokens.
    pub cached_input_tokens: u64,
    /// Failed ones too.
    pub calls: u64,
    /// In millionths of the currency of the price table.
    pub cost_micros: u64,
    pub day: Date,
    pub definition: String,
    pub input_tokens: u64,
    pub model: String,
    pub output_tokens: u64,
    /// Calls that used tokens of a model without a price.
    pub unpriced_calls: u64,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum Decision {
    #[serde(rename = "approve")] Approve,
    #[serde(rename = "reject")] Reject,
    #[serde(rename = "edit")] Edit,
}

words!(Decision { Approve "approve", Reject "reject", Edit "edit" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decide {
    #[serde(skip_serializing_if = "Option::is_none")] pub comment: Option<String>,
    /// The `contentDigest` of what was shown: if the content is another now, nothing is decided.
    #[serde(skip_serializing_if = "Option::is_none")] pub content_digest: Option<String>,
    pub decision: Decision,
    /// With `edit`: what replaces the content.
    #[serde(skip_serializing_if = "Option::is_none")] pub edited_content: Option<Json>,
    /// As the header `Idempotency-Key`.
    #[serde(skip_serializing_if = "Option::is_none")] pub idempotency_key: Option<String>,
}

impl Decide {
    /// With what it needs.
    pub fn new(decision: impl Into<Decision>) -> Decide {
        Decide { decision: decision.into(), comment: None, content_digest: None, edited_content: None, idempotency_key: None }
    }
}

setters!(Decide { comment [into String], content_digest [into String], edited_content [into Json], idempotency_key [into String] });

/// Where a request stands after a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    pub approvals: u32,
    pub id: String,
    /// Approvals that are needed.
    pub quorum: u32,
    /// Whether the run goes on.
    pub resolved: bool,
    pub run_id: String,
}

/// A version of a workflow. It never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    pub created_at: Timestamp,
    /// The workflow as it was posted.
    pub document: Json,
    pub id: String,
    pub name: String,
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionRef {
    pub id: Option<String>,
    pub name: String,
    pub version: String,
}

/// A definition in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionSummary {
    pub created_at: Timestamp,
    pub id: String,
    pub name: String,
    pub version: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionSummaryList {
    pub data: Vec<DefinitionSummary>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum DeliveryStatus {
    #[serde(rename = "PENDING")] Pending,
    #[serde(rename = "DELIVERED")] Delivered,
    #[serde(rename = "FAILED")] Failed,
}

words!(DeliveryStatus { Pending "PENDING", Delivered "DELIVERED", Failed "FAILED" });

/// One thing a webhook is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The last attempts, the oldest first.
    pub attempts: Vec<Attempt>,
    pub created_at: Timestamp,
    pub event: WebhookEvent,
    /// Sent as `webhook-id`, the same at every attempt.
    pub id: String,
    /// Null when nothing more is to be done, or while the webhook is disabled.
    pub next_attempt_at: Option<Timestamp>,
    pub run_id: String,
    pub status: DeliveryStatus,
    pub webhook_id: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryList {
    pub data: Vec<Delivery>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// A definition that is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeployedDefinition {
    /// False when the very same was there already.
    pub created: bool,
    pub id: String,
    pub name: String,
    pub version: String,
    /// What is doubtful about it.
    pub warnings: Vec<Finding>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredEvent {
    pub event_data: Json,
    pub event_id: String,
    pub id: String,
    pub received_at: Timestamp,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredEventList {
    pub data: Vec<StoredEvent>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// Whom an event woke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventSent {
    /// The event is stored, and on its way to more waiters, or to more runs that it starts, than one round has room for. That goes on by itself, after a restart too; there is no need to send it again.
    pub delivering: bool,
    pub dry_run: bool,
    /// Null for a dry run.
    pub id: Option<String>,
    /// For whom: `everyone`, or the run it was sent to. Null: it was not stored.
    pub kept_for: Option<String>,
    /// What it started, by the `startOn` of workflows, before this answer was given; with `dryRun`: what it would start.
    pub started: Vec<EventStart>,
    /// The event is kept: a wait that begins later, and looks back to it, takes it. To send it again would be a second event.
    pub stored: bool,
    /// The waits that took it before this answer was given.
    pub waiters: Vec<Woken>,
}

/// What an event started, was to start, or would start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventStart {
    pub outcome: EventStartOutcome,
    /// Why there is no run.
    pub problem: Option<StartProblem>,
    /// The run, if there is one.
    pub run_id: Option<String>,
    pub version: String,
    /// The workflow's name.
    pub workflow: String,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum EventStartOutcome {
    /// The run is new.
    #[serde(rename = "started")] Started,
    /// The start was added to a run that collects those of its key.
    #[serde(rename = "collected")] Collected,
    /// An event with the same idempotency key started the run before.
    #[serde(rename = "repeated")] Repeated,
    /// There is no run; `problem` says why.
    #[serde(rename = "refused")] Refused,
    /// A dry run: there would be a new run.
    #[serde(rename = "wouldStart")] WouldStart,
}

words!(EventStartOutcome { Started "started", Collected "collected", Repeated "repeated", Refused "refused", WouldStart "wouldStart" });

/// Why a step or a run failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub code: String,
    /// Where in the handler it came from. The stack is with the step, not with its run.
    pub detail: Option<FailureDetail>,
    pub message: String,
    pub step: Option<String>,
}

/// An error that another one was caused by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureCause {
    pub message: String,
    /// The error's type in the handler's language.
    #[serde(rename = "type")]
    #[serde(skip_serializing_if = "Option::is_none")] pub kind: Option<String>,
}

impl FailureCause {
    /// With what it needs.
    pub fn new(message: impl Into<String>) -> FailureCause {
        FailureCause { message: message.into(), kind: None }
    }
}

setters!(FailureCause { kind [into String] });

/// Where a failure of a handler came from. What is too long is cut, and what looks like a secret is hidden.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureDetail {
    /// Of the step, from 1. The server knows it.
    #[serde(skip_serializing_if = "Option::is_none")] pub attempt: Option<u32>,
    /// The durable call that failed.
    #[serde(skip_serializing_if = "Option::is_none")] pub call: Option<String>,
    /// What the error was caused by, the nearest first.
    #[serde(skip_serializing_if = "Option::is_none")] pub causes: Option<Vec<FailureCause>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub stack: Option<String>,
    /// The error's type in the handler's language.
    #[serde(rename = "type")]
    #[serde(skip_serializing_if = "Option::is_none")] pub kind: Option<String>,
}

setters!(FailureDetail { attempt [plain u32], call [into String], causes [list FailureCause], stack [into String], kind [into String] });

/// One thing that is wrong, at one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub code: String,
    /// What would be right.
    pub expected: Option<String>,
    pub message: String,
    /// The nearest valid name.
    pub nearest: Option<String>,
    /// A JSON pointer; `/limit` for the query parameter `limit`.
    pub pointer: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// At `/ready`: runs and schedules that are held, of all workspaces.
    pub held: Option<u64>,
    /// `ok`; at `/ready`, `paused` where the server only shows what there is.
    pub status: String,
    /// At `/ready`: the id of the store, which no other has, not even a copy of it.
    pub store: Option<String>,
    pub version: String,
}

/// Since when something is held, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    pub by: String,
    pub reason: String,
    pub since: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldItem {
    /// `engine`, or who asked for it.
    pub by: String,
    /// Of a run or of a schedule.
    pub id: String,
    pub reason: String,
    pub since: Timestamp,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldItemList {
    pub data: Vec<HeldItem>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    /// Of a run or of a schedule.
    pub id: String,
    /// Shown wherever it is.
    #[serde(skip_serializing_if = "Option::is_none")] pub reason: Option<String>,
}

impl Hold {
    /// With what it needs.
    pub fn new(id: impl Into<String>) -> Hold {
        Hold { id: id.into(), reason: None }
    }
}

setters!(Hold { reason [into String] });

/// A result of durable code, or a wait of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalEntry {
    pub name: String,
    #[serde(default)] pub result: Json,
    pub wait: Option<JournalWait>,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WaitpointKind {
    #[serde(rename = "DELAY")] Delay,
    #[serde(rename = "WEBHOOK")] Webhook,
    #[serde(rename = "SIGNAL")] Signal,
    #[serde(rename = "EVENT")] Event,
    #[serde(rename = "APPROVAL")] Approval,
    #[serde(rename = "CHILD")] Child,
    #[serde(rename = "PAUSE")] Pause,
    #[serde(rename = "RETRY")] Retry,
    #[serde(rename = "SCHEDULE")] Schedule,
    #[serde(rename = "CODE")] Code,
    #[serde(rename = "CAPACITY")] Capacity,
}

words!(WaitpointKind { Delay "DELAY", Webhook "WEBHOOK", Signal "SIGNAL", Event "EVENT", Approval "APPROVAL", Child "CHILD", Pause "PAUSE", Retry "RETRY", Schedule "SCHEDULE", Code "CODE", Capacity "CAPACITY" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalWait {
    /// What the code asked for when the wait was opened, in its SDK's words.
    pub asked: Option<String>,
    /// Of an event: which one, and when it was received.
    pub event: Option<TakenEvent>,
    pub kind: WaitpointKind,
    pub payload: Json,
    pub status: WaitpointStatus,
    pub waitpoint_id: String,
}

/// A key, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub id: String,
    /// Exact to a minute.
    pub last_used_at: Option<Timestamp>,
    pub name: String,
    /// The first characters of the secret.
    pub prefix: String,
    pub revoked_at: Option<Timestamp>,
    pub scopes: Vec<Scope>,
    pub workspace: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyList {
    pub data: Vec<Key>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// A limit that room is asked of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitAsk {
    pub id: String,
    /// Empty where the limit has no keys.
    pub key: String,
    pub name: String,
    /// The workflow of the limit; absent: all of the workspace that name it share it.
    pub workflow: Option<String>,
}

/// A limit: its keys, who has room, who waits, and what is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitDetail {
    /// Who has room, the longest first; at most 32 are named.
    pub holders: Vec<LimitHolder>,
    /// Keys that somebody has room under or waits for, those for which most wait first.
    pub keys: Vec<LimitKey>,
    /// Who waits, the next one first.
    pub line: Vec<LimitWaiter>,
    pub name: String,
    /// What is set at run time; null: nothing.
    pub settings: Option<LimitSettings>,
    /// Null: all workflows of the workspace that name it share it.
    pub workflow: Option<String>,
}

/// How many were let in or cancelled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitEmptied {
    /// Waits that ended.
    pub done: u64,
    /// There are more: ask again.
    pub more: bool,
    /// Waits that could not be ended: they ended otherwise meanwhile.
    pub refused: u64,
}

/// A run, or an attempt of one of its steps, that has room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitHolder {
    pub run_id: String,
    pub since: Timestamp,
    /// Null: the run itself.
    pub step_name: Option<String>,
}

/// One key of a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitKey {
    /// What definitions say.
    pub defined: LimitRoom,
    pub id: String,
    /// Empty where the limit has no keys.
    pub key: String,
    pub name: String,
    /// When the rate lets the next one begin; null: there is room, or somebody gives it back first.
    pub next_at: Option<Timestamp>,
    /// Since when the longest waits, of those that come next; null if nobody waits.
    pub oldest: Option<Timestamp>,
    /// Nobody is let in.
    pub paused: bool,
    /// What holds: what is set at run time, or else what definitions say.
    pub room: LimitRoom,
    /// How many have room.
    pub used: u32,
    /// How many wait for it.
    pub waiting: u64,
    /// The workflow whose runs share it; null: all of the workspace that name it.
    pub workflow: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitKeyList {
    pub data: Vec<LimitKey>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// How many may have room or begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitKeySetting {
    /// How many may begin at once after a quiet time.
    pub burst: Option<u32>,
    /// How many may have room at the same time; null: any number.
    pub concurrency: Option<u32>,
    pub key: String,
    /// Nobody is let in.
    pub paused: bool,
    pub per_ms: Option<u64>,
    /// How many may begin in the time of `perMs`; null: any number.
    pub rate: Option<u32>,
}

/// How many may have room or begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitRoom {
    /// How many may begin at once after a quiet time.
    pub burst: Option<u32>,
    /// How many may have room at the same time; null: any number.
    pub concurrency: Option<u32>,
    pub per_ms: Option<u64>,
    /// How many may begin in the time of `perMs`; null: any number.
    pub rate: Option<u32>,
}

/// Who shares a limit of the same name.
#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum LimitScope {
    /// The versions of this workflow.
    #[serde(rename = "workflow")] Workflow,
    /// All workflows of the workspace that name it.
    #[serde(rename = "workspace")] Workspace,
}

words!(LimitScope { Workflow "workflow", Workspace "workspace" });

/// A limit after something was set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitSet {
    /// With `empty`: how many waits ended.
    pub emptied: Option<LimitEmptied>,
    pub limit: LimitDetail,
}

/// How many may have room or begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitSetting {
    /// How many may begin at once after a quiet time.
    pub burst: Option<u32>,
    /// How many may have room at the same time; null: any number.
    pub concurrency: Option<u32>,
    /// Nobody is let in.
    pub paused: bool,
    pub per_ms: Option<u64>,
    /// How many may begin in the time of `perMs`; null: any number.
    pub rate: Option<u32>,
}

/// What is set for a limit at run time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitSettings {
    /// For all keys.
    pub all: LimitSetting,
    pub changed_at: Timestamp,
    pub changed_by: String,
    /// For single keys, which stand above those for all.
    pub keys: Vec<LimitKeySetting>,
}

/// A wait for room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitWaiter {
    /// The place in line, from 1.
    pub place: u64,
    /// 0 to 9. A level counts as much as a minute of waiting.
    pub priority: i64,
    pub run_id: String,
    pub since: Timestamp,
    /// Null: the run itself.
    pub step_name: Option<String>,
    pub waitpoint_id: String,
}

/// A resume URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The URL of a page where a person confirms.
    pub confirm_url: String,
    /// Null: with its waitpoint.
    pub expires_at: Option<Timestamp>,
    pub resume_url: String,
}

/// A secret that resume URLs are signed with, without what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkSecret {
    pub created_at: Timestamp,
    pub id: u32,
    /// New resume URLs are signed with it.
    pub signs: bool,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkSecretList {
    pub data: Vec<LinkSecret>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListensForSignal {
    pub signal_type: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListensForEvent {
    pub event_id: String,
    /// Events received between `since` and this may have been forgotten before the wait began.
    pub forgotten_before: Option<Timestamp>,
    #[serde(rename = "match")]
    pub matching: Option<String>,
    /// Events received before this are not looked at.
    pub since: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListensForCall {
    pub allow_get: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListensForChild {
    pub run_id: String,
}

/// The clock: a durable call of a handler is made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListensForAttempt {
    /// The attempt that failed, from 1.
    pub attempt: u32,
    pub call: String,
    /// Why it failed.
    pub error: Failure,
    /// All that the call may have.
    pub max_attempts: u32,
}

/// A worker whose code fits what the handler has recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListensForCode {
    /// The builds that do not fit, the last one last. The empty one did not say which it is.
    pub builds: Vec<String>,
    /// What the code came to instead.
    pub found: String,
    pub handler: String,
    /// The only build that may have the task, which does not fit: an operator decides.
    pub pinned_to: Option<String>,
    /// What the journal holds.
    pub recorded: String,
}

/// Room under limits, all of it at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListensForCapacity {
    pub limits: Vec<LimitAsk>,
    /// 0 to 9. A level counts as much as a minute of waiting.
    pub priority: i64,
    /// The limit in whose line it stands: one that had no room.
    pub waits_under: Option<String>,
}

/// That no more starts come for a run that collects them, by the `debounce` of its workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListensForStarts {
    /// Whether the run gets the inputs of all of them.
    pub collect: bool,
    /// What the starts have in common; empty where all of the workflow belong together.
    pub key: String,
    /// The run begins at once when it has so many.
    pub most: u32,
    /// How many starts there are so far.
    pub starts: u32,
    /// The run begins then at the latest.
    pub until: Timestamp,
}

/// What ends it, besides what ends any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum ListensFor {
    #[serde(rename = "time")] Time,
    #[serde(rename = "signal")] Signal(ListensForSignal),
    #[serde(rename = "event")] Event(ListensForEvent),
    #[serde(rename = "call")] Call(ListensForCall),
    #[serde(rename = "approval")] Approval,
    #[serde(rename = "child")] Child(ListensForChild),
    #[serde(rename = "attempt")] Attempt(ListensForAttempt),
    #[serde(rename = "code")] Code(ListensForCode),
    #[serde(rename = "capacity")] Capacity(ListensForCapacity),
    #[serde(rename = "starts")] Starts(ListensForStarts),
}

impl From<ListensForSignal> for ListensFor {
    fn from(value: ListensForSignal) -> ListensFor { ListensFor::Signal(value) }
}

impl From<ListensForEvent> for ListensFor {
    fn from(value: ListensForEvent) -> ListensFor { ListensFor::Event(value) }
}

impl From<ListensForCall> for ListensFor {
    fn from(value: ListensForCall) -> ListensFor { ListensFor::Call(value) }
}

impl From<ListensForChild> for ListensFor {
    fn from(value: ListensForChild) -> ListensFor { ListensFor::Child(value) }
}

impl From<ListensForAttempt> for ListensFor {
    fn from(value: ListensForAttempt) -> ListensFor { ListensFor::Attempt(value) }
}

impl From<ListensForCode> for ListensFor {
    fn from(value: ListensForCode) -> ListensFor { ListensFor::Code(value) }
}

impl From<ListensForCapacity> for ListensFor {
    fn from(value: ListensForCapacity) -> ListensFor { ListensFor::Capacity(value) }
}

impl From<ListensForStarts> for ListensFor {
    fn from(value: ListensForStarts) -> ListensFor { ListensFor::Starts(value) }
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum LogLevel {
    #[serde(rename = "debug")] Debug,
    #[serde(rename = "info")] Info,
    #[serde(rename = "warn")] Warn,
    #[serde(rename = "error")] Error,
}

words!(LogLevel { Debug "debug", Info "info", Warn "warn", Error "error" });

/// A line of a run's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// `info` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub level: Option<LogLevel>,
    pub message: String,
}

impl LogLine {
    /// With what it needs.
    pub fn new(message: impl Into<String>) -> LogLine {
        LogLine { message: message.into(), level: None }
    }
}

setters!(LogLine { level [into LogLevel] });

/// A new key, with its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MadeKey {
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub id: String,
    /// Exact to a minute.
    pub last_used_at: Option<Timestamp>,
    pub name: String,
    /// The first characters of the secret.
    pub prefix: String,
    pub revoked_at: Option<Timestamp>,
    pub scopes: Vec<Scope>,
    /// Shown once.
    pub secret: String,
    pub workspace: String,
}

/// A webhook, with a secret that was just made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MadeWebhook {
    pub created_at: Timestamp,
    pub description: Option<String>,
    pub disabled_at: Option<Timestamp>,
    /// Why it was disabled: by whom, or because nothing reached it for days.
    pub disabled_reason: Option<String>,
    pub events: Vec<WebhookEvent>,
    /// Since when every attempt has failed.
    pub failing_since: Option<Timestamp>,
    pub id: String,
    /// Shown once.
    pub secret: String,
    pub status: WebhookStatus,
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MakeLink {
    /// `expiresInMs` as text: `2d 4h`.
    #[serde(skip_serializing_if = "Option::is_none")] pub expires_in: Option<String>,
    /// How long the link is valid; as long as its waitpoint if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub expires_in_ms: Option<u64>,
    /// Whom it is for; anyone if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub recipient: Option<String>,
}

setters!(MakeLink { expires_in [length expires_in_ms], recipient [into String] });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    #[serde(rename = "GET")] Get,
    #[serde(rename = "HEAD")] Head,
    #[serde(rename = "POST")] Post,
    #[serde(rename = "PUT")] Put,
    #[serde(rename = "PATCH")] Patch,
    #[serde(rename = "DELETE")] Delete,
    #[serde(rename = "OPTIONS")] Options,
}

words!(Method { Get "GET", Head "HEAD", Post "POST", Put "PUT", Patch "PATCH", Delete "DELETE", Options "OPTIONS" });

/// One reason why a run does not fit another version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Misfit {
    /// Stable; see `docs/reference/definitions.md`.
    pub code: String,
    pub reason: String,
    /// The step it is about.
    pub step: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveClock {
    /// `advanceMs` as text: `2d 4h`.
    #[serde(skip_serializing_if = "Option::is_none")] pub advance: Option<String>,
    /// At most by this time.
    #[serde(skip_serializing_if = "Option::is_none")] pub advance_ms: Option<u64>,
    /// At most to this instant.
    #[serde(skip_serializing_if = "Option::is_none")] pub to: Option<Timestamp>,
}

setters!(MoveClock { advance [length advance_ms], to [plain Timestamp] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveRun {
    /// Only say whether it fits.
    #[serde(skip_serializing_if = "Option::is_none")] pub dry_run: Option<bool>,
    /// The version to go on with.
    pub version: String,
}

impl MoveRun {
    /// With what it needs.
    pub fn new(version: impl Into<String>) -> MoveRun {
        MoveRun { version: version.into(), dry_run: None }
    }
}

setters!(MoveRun { dry_run [plain bool] });

/// A run that was moved, or could be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedRun {
    /// False: it was of that version already, or this was a dry run.
    pub changed: bool,
    pub dry_run: bool,
    /// The version it had.
    pub from: String,
    pub id: String,
    pub status: RunStatus,
    /// The version that was asked for.
    pub to: String,
}

/// A named result of durable code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewJournalEntry {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub result: Option<Json>,
}

impl NewJournalEntry {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> NewJournalEntry {
        NewJournalEntry { name: name.into(), result: None }
    }
}

setters!(NewJournalEntry { result [into Json] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// Refused from then on.
    #[serde(skip_serializing_if = "Option::is_none")] pub expires_at: Option<Timestamp>,
    /// Whose it is: what histories say, and what a step's `approvers` name.
    pub name: String,
    pub scopes: Vec<Scope>,
    /// Only an admin of the default workspace may make keys for another.
    #[serde(skip_serializing_if = "Option::is_none")] pub workspace: Option<String>,
}

impl NewKey {
    /// With what it needs.
    pub fn new(name: impl Into<String>, scopes: impl IntoIterator<Item = impl Into<Scope>>) -> NewKey {
        NewKey { name: name.into(), scopes: scopes.into_iter().map(Into::into).collect(), expires_at: None, workspace: None }
    }
}

setters!(NewKey { expires_at [plain Timestamp], workspace [into String] });

/// What is started, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSchedule {
    /// What to do about occurrences that were missed; `last` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub catch_up: Option<CatchUp>,
    /// A cron line: `0 9 * * 1-5`.
    #[serde(skip_serializing_if = "Option::is_none")] pub cron: Option<String>,
    /// The workflow's name.
    pub definition: String,
    /// In place of a cron line: `15m`.
    #[serde(skip_serializing_if = "Option::is_none")] pub every: Option<String>,
    /// `every` as a number of milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub every_ms: Option<u64>,
    /// Null if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    /// No two in a workspace have the same.
    pub name: String,
    /// What to do when the run before has not ended; `skip` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub overlap: Option<Overlap>,
    #[serde(skip_serializing_if = "Option::is_none")] pub tags: Option<Vec<String>>,
    /// Of the cron line; UTC if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub timezone: Option<String>,
    /// The newest at each occurrence, if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
}

impl NewSchedule {
    /// With what it needs.
    pub fn new(name: impl Into<String>, definition: impl Into<String>) -> NewSchedule {
        NewSchedule { name: name.into(), definition: definition.into(), catch_up: None, cron: None, every: None, every_ms: None, input: None, overlap: None, tags: None, timezone: None, version: None }
    }
}

setters!(NewSchedule { catch_up [into CatchUp], cron [into String], every [length every_ms], input [into Json], overlap [into Overlap], tags [list String], timezone [into String], version [into String] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewWebhook {
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// What to tell.
    pub events: Vec<WebhookEvent>,
    /// Where to send: `http` or `https`.
    pub url: String,
}

impl NewWebhook {
    /// With what it needs.
    pub fn new(url: impl Into<String>, events: impl IntoIterator<Item = impl Into<WebhookEvent>>) -> NewWebhook {
        NewWebhook { url: url.into(), events: events.into_iter().map(Into::into).collect(), description: None }
    }
}

setters!(NewWebhook { description [into String] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewWorkspace {
    pub name: String,
}

impl NewWorkspace {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> NewWorkspace {
        NewWorkspace { name: name.into() }
    }
}

/// How many there are, what has waited longest, and how it goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// What the server did in the last hour.
    pub activity: Activity,
    /// The server's clock.
    pub now: Timestamp,
    /// The oldest runs that wait, each with its oldest wait.
    pub oldest: Vec<Waitpoint>,
    /// Open waits whose instant has passed.
    pub overdue: Counted,
    pub runs: Vec<RunCount>,
    /// Open waits.
    pub waits: Vec<WaitCount>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PinRun {
    pub build: String,
    /// Only tasks of this handler; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub handler: Option<String>,
}

impl PinRun {
    /// With what it needs.
    pub fn new(build: impl Into<String>) -> PinRun {
        PinRun { build: build.into(), handler: None }
    }
}

setters!(PinRun { handler [into String] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PollTasks {
    /// Which code the worker has. Tasks whose journal it does not fit wait for a worker with another one.
    #[serde(skip_serializing_if = "Option::is_none")] pub build_id: Option<String>,
    /// The names of the handlers that this worker has.
    pub handlers: Vec<String>,
    /// How long the worker has a task before it must report; 60000 if absent. A step's `heartbeatMs` comes first.
    #[serde(skip_serializing_if = "Option::is_none")] pub lease_ms: Option<u64>,
    /// Tasks at most; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub max_tasks: Option<u32>,
    /// How long to wait for a task; 30000 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub wait_ms: Option<u64>,
    /// Who works; shown in histories and at `/workers`.
    pub worker_id: String,
}

impl PollTasks {
    /// With what it needs.
    pub fn new(handlers: impl IntoIterator<Item = impl Into<String>>, worker_id: impl Into<String>) -> PollTasks {
        PollTasks { handlers: handlers.into_iter().map(Into::into).collect(), worker_id: worker_id.into(), build_id: None, lease_ms: None, max_tasks: None, wait_ms: None }
    }
}

setters!(PollTasks { build_id [into String], lease_ms [plain u64], max_tasks [plain u32], wait_ms [plain u64] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolledTasks {
    pub tasks: Vec<Task>,
}

/// The body of an answer that says no (`application/problem+json`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Stable; what a program may rely on.
    pub code: String,
    /// The state that stands against the request.
    #[serde(default)] pub current: Json,
    /// What was wrong, where, and what would be right.
    pub detail: String,
    /// What a waitpoint that is resolved already came to.
    #[serde(default)] pub outcome: Json,
    /// The place in the body, as a JSON pointer.
    pub pointer: Option<String>,
    /// Everything that was wrong with the body or the query, each with its place.
    #[serde(default)] pub problems: Vec<Finding>,
    pub status: u16,
    pub title: String,
    /// Where the code is explained.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is doubtful about a definition.
    #[serde(default)] pub warnings: Vec<Finding>,
}

/// What a workspace may have; an absent figure is that of the server, or none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quotas {
    /// Calls of one kind (`http` steps, models, handlers at URLs) under way at the same time.
    #[serde(skip_serializing_if = "Option::is_none")] pub calls: Option<u32>,
    /// Runs that have not ended, when one more is started.
    #[serde(skip_serializing_if = "Option::is_none")] pub open_runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")] pub schedules: Option<u32>,
    /// How many turns in a row the workspace has where several wait: for calls, reads, requests and tasks of the engine. 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub share: Option<u32>,
    /// Runs started by requests in a second; as many may be started at once.
    #[serde(skip_serializing_if = "Option::is_none")] pub starts_per_second: Option<u32>,
    /// Bytes that histories and events take. With more, no run is started and no event is taken; runs that are under way go on.
    #[serde(skip_serializing_if = "Option::is_none")] pub stored_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")] pub webhooks: Option<u32>,
}

setters!(Quotas { calls [plain u32], open_runs [plain u64], schedules [plain u32], share [plain u32], starts_per_second [plain u32], stored_bytes [plain u64], webhooks [plain u32] });

/// A record of a run's history. Its `type` says which further fields it has; see `docs/reference/histories.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRecord {
    pub by: String,
    /// A completed step went on because its wait had ended.
    pub resumed_from_wait: Option<bool>,
    /// Counted from 1 without gaps.
    pub seq: u64,
    /// The step it is about.
    pub step_name: Option<String>,
    /// What it says, in a sentence for people, of at most 500 characters. Instants in it are RFC 3339, names are between backticks. It may be worded otherwise in another version.
    pub text: String,
    pub time: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// The waitpoint it is about.
    pub waitpoint_id: Option<String>,
    /// What records of this type have besides.
    #[serde(flatten)]
    pub fields: Object,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRecordList {
    pub data: Vec<HistoryRecord>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedRun {
    pub problem: Problem,
    pub run_id: String,
}

/// A start on an event that was refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedStart {
    pub at: Timestamp,
    pub code: String,
    pub detail: String,
    pub event: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedWaitpoint {
    pub problem: Problem,
    pub waitpoint_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// How many are sent again.
    pub replayed: u64,
}

/// Either recorded, or why not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportDone {
    pub ok: bool,
    pub problem: Option<Problem>,
    pub reported: Option<Reported>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportTasks {
    pub reports: Vec<TaskReport>,
}

impl ReportTasks {
    /// With what it needs.
    pub fn new(reports: impl IntoIterator<Item = impl Into<TaskReport>>) -> ReportTasks {
        ReportTasks { reports: reports.into_iter().map(Into::into).collect() }
    }
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reported {
    /// After a heartbeat: when the attempt's time is over, if it has a limit.
    pub deadline: Option<Timestamp>,
    /// After a pause: the waitpoint.
    pub waitpoint_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedTasks {
    /// In the order of the reports.
    pub results: Vec<ReportDone>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RescheduleWaitpoint {
    pub resume_at: Timestamp,
}

impl RescheduleWaitpoint {
    /// With what it needs.
    pub fn new(resume_at: Timestamp) -> RescheduleWaitpoint {
        RescheduleWaitpoint { resume_at }
    }
}

/// A reply: what a `respond` step would say.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseToSend {
    #[serde(skip_serializing_if = "Option::is_none")] pub body: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub headers: Option<BTreeMap<String, String>>,
    /// 200 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub status: Option<u16>,
}

setters!(ResponseToSend { body [into Json], headers [into BTreeMap<String, String>], status [plain u16] });

/// A wait that was ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    /// The `runId`.
    pub flow_run_id: Option<String>,
    /// The `resumeAt`.
    pub resume_date_time: Option<Timestamp>,
    pub run_id: String,
    /// PENDING where an approval needs more votes.
    pub status: WaitpointStatus,
    /// The `kind`.
    #[serde(rename = "type")]
    pub kind: Option<WaitpointKind>,
    pub waitpoint_id: String,
}

/// A wait of a handler that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumedBy {
    pub kind: WaitpointKind,
    pub name: String,
    pub status: WaitpointStatus,
    pub waitpoint_id: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RotateSecret {
    /// How long the secret before signs beside the new one; a day if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub overlap_ms: Option<u64>,
}

setters!(RotateSecret { overlap_ms [plain u64] });

/// A run, with its steps and what it waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub created_at: Timestamp,
    pub created_by: String,
    /// When the whole run must be over.
    pub deadline: Option<Timestamp>,
    pub definition: DefinitionRef,
    pub ended_at: Option<Timestamp>,
    /// Of a failed run.
    pub error: Option<Failure>,
    /// The run that calls the handler of `onFailure` or `onCancel`, where the workflow has one and this run has ended so.
    pub handled_by: Option<String>,
    /// Nothing is decided about it until it is released.
    pub held: Option<Held>,
    pub id: String,
    pub input: Json,
    /// Of a completed run.
    #[serde(default)] pub output: Json,
    /// The run that started this one, or sent the event that it was started on.
    pub parent_run_id: Option<String>,
    /// A pause is asked for, or in effect.
    pub pausing: bool,
    pub started_at: Option<Timestamp>,
    /// The event that it was started on, by the `startOn` of its workflow.
    pub started_on: Option<StartedOn>,
    pub state: Object,
    pub status: RunStatus,
    pub steps: Vec<Step>,
    pub tags: Vec<String>,
    /// The trace of the request that started it.
    pub traceparent: Option<String>,
    /// Records in its history.
    pub version: u64,
    /// Every open wait, the oldest first; then the tasks that nobody does.
    pub waiting_for: Vec<WaitingFor>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCost {
    /// What the run may spend, if its workflow says so.
    pub budget_micros: Option<u64>,
    pub by_step: Vec<StepCost>,
    pub run_id: String,
    pub total: Spent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCount {
    pub count: u64,
    pub status: RunStatus,
}

/// What narrows a list of runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFilter {
    /// Before this instant.
    #[serde(skip_serializing_if = "Option::is_none")] pub created_before: Option<Timestamp>,
    /// At or after this instant.
    #[serde(skip_serializing_if = "Option::is_none")] pub created_from: Option<Timestamp>,
    /// The workflow's name.
    #[serde(skip_serializing_if = "Option::is_none")] pub definition: Option<String>,
    /// Runs with an open wait for this event id.
    #[serde(skip_serializing_if = "Option::is_none")] pub event_id: Option<String>,
    /// Runs with an open wait for this signal type.
    #[serde(skip_serializing_if = "Option::is_none")] pub signal_type: Option<String>,
    /// Separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")] pub status: Option<Vec<RunStatus>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
    /// Runs with an open wait of this kind.
    #[serde(skip_serializing_if = "Option::is_none")] pub waits_for: Option<WaitpointKind>,
}

setters!(RunFilter { created_before [plain Timestamp], created_from [plain Timestamp], definition [into String], event_id [into String], signal_type [into String], status [list RunStatus], tag [into String], version [into String], waits_for [into WaitpointKind] });

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    pub created_at: Timestamp,
    pub definition: DefinitionRef,
    pub id: String,
    pub status: RunStatus,
    pub tags: Vec<String>,
    pub updated_at: Timestamp,
    pub version: u64,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummaryList {
    pub data: Vec<RunSummary>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    pub catch_up: CatchUp,
    pub created_at: Timestamp,
    pub created_by: String,
    pub cron: Option<String>,
    /// The workflow's name.
    pub definition: String,
    pub every_ms: Option<u64>,
    pub id: String,
    pub input: Json,
    /// The run it started last.
    pub last_run_id: Option<String>,
    pub name: String,
    /// When it comes next; null while it is paused.
    pub next_at: Option<Timestamp>,
    pub overlap: Overlap,
    pub paused: bool,
    /// Occurrences that wait for that run to end.
    pub queued: u64,
    /// What became of the last occurrences, the newest first.
    pub recent: Vec<Waitpoint>,
    pub tags: Vec<String>,
    pub timezone: Option<String>,
    pub updated_at: Timestamp,
    /// Null: the newest at each occurrence.
    pub version: Option<String>,
    /// The wait for that; steer it like any other.
    pub waitpoint_id: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleList {
    pub data: Vec<Schedule>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum EventDelivery {
    #[serde(rename = "all")] All,
    #[serde(rename = "one")] One,
}

words!(EventDelivery { All "all", One "one" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendEvent {
    /// To everyone who waits, or only to the one who has waited longest.
    #[serde(skip_serializing_if = "Option::is_none")] pub delivery: Option<EventDelivery>,
    /// Only say whom it would wake, and what it would start.
    #[serde(skip_serializing_if = "Option::is_none")] pub dry_run: Option<bool>,
    /// Null if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub event_data: Option<Json>,
    pub event_id: String,
    /// As the header `Idempotency-Key`.
    #[serde(skip_serializing_if = "Option::is_none")] pub idempotency_key: Option<String>,
    /// Of the task whose handler sends it. The event is sent only while the task is leased to it, and stands in the history of its run; the same request again under its idempotency key is answered later, too.
    #[serde(skip_serializing_if = "Option::is_none")] pub lease_token: Option<String>,
    /// Only to this run.
    #[serde(skip_serializing_if = "Option::is_none")] pub workflow_run_id: Option<String>,
}

impl SendEvent {
    /// With what it needs.
    pub fn new(event_id: impl Into<String>) -> SendEvent {
        SendEvent { event_id: event_id.into(), delivery: None, dry_run: None, event_data: None, idempotency_key: None, lease_token: None, workflow_run_id: None }
    }
}

setters!(SendEvent { delivery [into EventDelivery], dry_run [plain bool], event_data [into Json], idempotency_key [into String], lease_token [into String], workflow_run_id [into String] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendSignal {
    /// As the header `Idempotency-Key`.
    #[serde(skip_serializing_if = "Option::is_none")] pub idempotency_key: Option<String>,
    /// Null if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub payload: Option<Json>,
    pub signal_type: String,
}

impl SendSignal {
    /// With what it needs.
    pub fn new(signal_type: impl Into<String>) -> SendSignal {
        SendSignal { signal_type: signal_type.into(), idempotency_key: None, payload: None }
    }
}

setters!(SendSignal { idempotency_key [into String], payload [into Json] });

/// Who asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Null where a key is needed, and none was given.
    pub caller: Option<Caller>,
    /// The server was started by `abide dev`: workflows change without a new version, and waits may be skipped.
    pub development: bool,
    /// Without a key nothing is shown.
    pub keys_needed: bool,
    /// The server was started with `--paused`: it shows what there is and changes nothing.
    pub paused: bool,
    /// By a cookie.
    pub signed_in: bool,
    /// Time stands still until `POST /test/clock` moves it.
    pub test_clock: bool,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum SetLimitEmpty {
    #[serde(rename = "letIn")] LetIn,
    #[serde(rename = "cancel")] Cancel,
}

words!(SetLimitEmpty { LetIn "letIn", Cancel "cancel" });

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetLimit {
    /// With `rate`: how many may begin at once after a quiet time; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub burst: Option<u32>,
    /// How many may have room at the same time; null: as the definition says.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")] pub concurrency: Option<Option<u32>>,
    /// Also if no workflow has a limit of this name that is shared: one that only durable code names, or that is to come. Without it, a name that nobody knows is refused.
    #[serde(skip_serializing_if = "Option::is_none")] pub create: Option<bool>,
    /// Ends the waits of those who stand in line: `letIn` past the line, or `cancel` (a run is cancelled, a step fails).
    #[serde(skip_serializing_if = "Option::is_none")] pub empty: Option<SetLimitEmpty>,
    /// Only this key; absent: all of them.
    #[serde(skip_serializing_if = "Option::is_none")] pub key: Option<String>,
    /// Nobody is let in, or somebody is again.
    #[serde(skip_serializing_if = "Option::is_none")] pub paused: Option<bool>,
    /// With `rate`: the time that it is about, such as `1m`.
    #[serde(skip_serializing_if = "Option::is_none")] pub per: Option<String>,
    /// `per` as a number of milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub per_ms: Option<u64>,
    /// How many may begin in the time of `per`; null: as the definition says.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")] pub rate: Option<Option<u32>>,
    /// The workflow of the limit; absent: all of the workspace that name it.
    #[serde(skip_serializing_if = "Option::is_none")] pub workflow: Option<String>,
}

setters!(SetLimit { burst [plain u32], concurrency [plain Option<u32>], create [plain bool], empty [into SetLimitEmpty], key [into String], paused [plain bool], per [length per_ms], rate [plain Option<u32>], workflow [into String] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignIn {
    /// An API key: `abk_…`.
    pub key: String,
}

impl SignIn {
    /// With what it needs.
    pub fn new(key: impl Into<String>) -> SignIn {
        SignIn { key: key.into() }
    }
}

/// What became of a signal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signalled {
    pub run_id: String,
    /// The wait that took it at once; null: it is kept for the next one.
    pub taken_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SigningKey {
    /// `whsec_…`, as Standard Webhooks.
    pub keys: Vec<String>,
    /// The workspace's id.
    pub workspace: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkipWaitpoint {
    /// The step's output; null if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub output: Option<Json>,
    /// Stands in the history.
    #[serde(skip_serializing_if = "Option::is_none")] pub reason: Option<String>,
}

setters!(SkipWaitpoint { output [into Json], reason [into String] });

/// Tokens and money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Input tokens that a provider had seen before, a part of all input tokens.
    pub cached_input_tokens: u64,
    /// Failed ones too.
    pub calls: u64,
    /// In millionths of the currency of the price table.
    pub cost_micros: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Calls that used tokens of a model without a price.
    pub unpriced_calls: u64,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum StartOutcome {
    /// The run is new.
    #[serde(rename = "created")] Created,
    /// The run is new and was cancelled at once: there was no room under a limit whose `whenFull` is `skip`.
    #[serde(rename = "skipped")] Skipped,
    /// The start was added to a run that collects those of its key.
    #[serde(rename = "collected")] Collected,
    /// The same start was carried out before, under the same idempotency key.
    #[serde(rename = "repeated")] Repeated,
    /// There is no run; `problem` says why.
    #[serde(rename = "refused")] Refused,
}

words!(StartOutcome { Created "created", Skipped "skipped", Collected "collected", Repeated "repeated", Refused "refused" });

/// Why an event started no run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartProblem {
    /// Stable; what a program may rely on.
    pub code: String,
    pub detail: String,
}

/// What became of one of many starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartResult {
    /// The run, unless the start was refused.
    pub id: Option<String>,
    /// The place of the start in the request, from 0.
    pub index: u64,
    pub outcome: StartOutcome,
    /// Why the start was refused. Its places are in the start, not in the whole request.
    pub problem: Option<Problem>,
    /// Where the run can be seen.
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartRun {
    /// Which version of which workflow; or give `name`.
    #[serde(skip_serializing_if = "Option::is_none")] pub definition_id: Option<String>,
    /// As the header `Idempotency-Key`.
    #[serde(skip_serializing_if = "Option::is_none")] pub idempotency_key: Option<String>,
    /// Null if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    /// The workflow's name; its newest version, unless `version` is given.
    #[serde(skip_serializing_if = "Option::is_none")] pub name: Option<String>,
    /// Begin then, not now. A past instant begins now.
    #[serde(skip_serializing_if = "Option::is_none")] pub run_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")] pub tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
}

setters!(StartRun { definition_id [into String], idempotency_key [into String], input [into Json], name [into String], run_at [plain Timestamp], tags [list String], version [into String] });

/// The body, as it is documented.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartRuns {
    pub runs: Vec<StartRun>,
}

impl StartRuns {
    /// With what it needs.
    pub fn new(runs: impl IntoIterator<Item = impl Into<StartRun>>) -> StartRuns {
        StartRuns { runs: runs.into_iter().map(Into::into).collect() }
    }
}

/// The event that a run was started on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedOn {
    /// The event's own number.
    pub event: String,
    pub event_id: String,
}

/// A workflow that an event starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedOnEvent {
    pub event_id: String,
    /// The last start that was refused.
    pub last_refused: Option<RefusedStart>,
    /// The condition that an event must satisfy.
    #[serde(rename = "match")]
    pub matching: Option<String>,
    /// The newest version of the workflow.
    pub version: String,
    /// The workflow's name.
    pub workflow: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedOnEventList {
    pub data: Vec<StartedOnEvent>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// A run that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    /// Whether the start was added to a run that collects those of its key, by the `debounce` of its workflow; absent where the run is the start's own.
    pub collected: Option<bool>,
    pub id: String,
    /// Whether the run was cancelled at once, because there was no room under a limit whose `whenFull` is `skip`; absent where it was not.
    pub skipped: Option<bool>,
    /// Where the run can be seen.
    pub url: String,
}

/// What became of many starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedRuns {
    /// How many starts were added to runs that collect those of their key, by the `debounce` of the workflow.
    pub collected: u64,
    /// How many runs were started.
    pub created: u64,
    /// How many starts were refused.
    pub refused: u64,
    /// How many starts were carried out before, under the same idempotency key.
    pub repeated: u64,
    /// In the order of the starts.
    pub results: Vec<StartResult>,
    /// How many runs were cancelled at once, because there was no room under a limit whose `whenFull` is `skip`.
    pub skipped: u64,
}

/// An HTTP status such as `404`, or a class of them such as `5xx`.
pub type StatusPattern = Json;

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum StepStatus {
    #[serde(rename = "PENDING")] Pending,
    #[serde(rename = "RUNNING")] Running,
    #[serde(rename = "WAITING")] Waiting,
    #[serde(rename = "COMPLETED")] Completed,
    #[serde(rename = "FAILED")] Failed,
    #[serde(rename = "SKIPPED")] Skipped,
    #[serde(rename = "CANCELLED")] Cancelled,
}

words!(StepStatus { Pending "PENDING", Running "RUNNING", Waiting "WAITING", Completed "COMPLETED", Failed "FAILED", Skipped "SKIPPED", Cancelled "CANCELLED" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Of this visit, from 1; 0 before the first.
    pub attempt: u32,
    #[serde(default)] pub checkpoint: Json,
    pub ended_at: Option<Timestamp>,
    pub error: Option<Failure>,
    /// Of a `wait_for_event`: the event whose data is the output.
    pub event: Option<TakenEvent>,
    /// Of a map: its items so far.
    #[serde(default)] pub items: Vec<Step>,
    /// The durable calls of its handler, in the order in which it came to them; the last 100. Of a step that waits for several things, its waits in the order of their names.
    #[serde(default)] pub journal: Vec<StepCall>,
    /// Durable calls before those of `journal`.
    pub journal_omitted: Option<u64>,
    /// An item of a map ends in its index: `send[3]`.
    pub name: String,
    #[serde(default)] pub output: Json,
    /// Of a step that has gone on since: why an earlier attempt of this visit failed.
    pub previous_error: Option<Failure>,
    pub started_at: Option<Timestamp>,
    pub status: StepStatus,
    #[serde(rename = "type")]
    pub kind: String,
    /// More than 1 when a failed run was retried.
    pub visit: u32,
    /// The waits of this visit by name.
    #[serde(default)] pub waits: Vec<StepWait>,
    /// Of a step that sleeps, or has slept: until when.
    pub wake_at: Option<Timestamp>,
    /// The worker that has it, or had it last.
    pub worker: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum StepCallKind {
    #[serde(rename = "RUN")] Run,
    #[serde(rename = "DELAY")] Delay,
    #[serde(rename = "WEBHOOK")] Webhook,
    #[serde(rename = "SIGNAL")] Signal,
    #[serde(rename = "EVENT")] Event,
    #[serde(rename = "APPROVAL")] Approval,
    #[serde(rename = "CHILD")] Child,
    #[serde(rename = "PAUSE")] Pause,
    #[serde(rename = "RETRY")] Retry,
    #[serde(rename = "SCHEDULE")] Schedule,
    #[serde(rename = "CODE")] Code,
    #[serde(rename = "CAPACITY")] Capacity,
}

words!(StepCallKind { Run "RUN", Delay "DELAY", Webhook "WEBHOOK", Signal "SIGNAL", Event "EVENT", Approval "APPROVAL", Child "CHILD", Pause "PAUSE", Retry "RETRY", Schedule "SCHEDULE", Code "CODE", Capacity "CAPACITY" });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum StepCallStatus {
    #[serde(rename = "PENDING")] Pending,
    #[serde(rename = "COMPLETED")] Completed,
    #[serde(rename = "FAILED")] Failed,
    #[serde(rename = "TIMED_OUT")] TimedOut,
    #[serde(rename = "CANCELLED")] Cancelled,
}

words!(StepCallStatus { Pending "PENDING", Completed "COMPLETED", Failed "FAILED", TimedOut "TIMED_OUT", Cancelled "CANCELLED" });

/// A durable call of a handler: what it recorded, or what it waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCall {
    /// Attempts so far.
    pub attempts: u32,
    pub ended_at: Option<Timestamp>,
    /// Why it failed, or why its last attempt did.
    pub error: Option<String>,
    /// `RUN`, or the kind of its wait.
    pub kind: StepCallKind,
    pub name: String,
    /// When it began. Of a RUN: the earliest instant at which its last attempt can have begun.
    pub started_at: Option<Timestamp>,
    /// PENDING: it waits, or is to be made again.
    pub status: StepCallStatus,
    /// When time ends it, its deadline, or when it is made again.
    pub until: Option<Timestamp>,
    pub waitpoint_id: Option<String>,
}

/// Tokens and money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCost {
    /// Input tokens that a provider had seen before, a part of all input tokens.
    pub cached_input_tokens: u64,
    /// Failed ones too.
    pub calls: u64,
    /// In millionths of the currency of the price table.
    pub cost_micros: u64,
    pub input_tokens: u64,
    pub model: String,
    pub output_tokens: u64,
    pub step_name: String,
    /// Calls that used tokens of a model without a price.
    pub unpriced_calls: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepWait {
    pub name: String,
    pub waitpoint_id: String,
}

/// The event that a wait took. One that was received long before the wait began was found by looking back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakenEvent {
    pub id: String,
    pub received_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum TaskExecutionType {
    #[serde(rename = "BEGIN")] Begin,
    #[serde(rename = "RESUME")] Resume,
}

words!(TaskExecutionType { Begin "BEGIN", Resume "RESUME" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Of this visit, from 1.
    pub attempt: u32,
    /// What an earlier execution left, or null.
    pub checkpoint: Json,
    pub config: Json,
    /// When the attempt's time is over, if it has a limit.
    pub deadline: Option<Timestamp>,
    /// `RESUME` when a wait of the handler is over, `BEGIN` before that.
    pub execution_type: TaskExecutionType,
    pub handler: String,
    /// How often a heartbeat is expected, in milliseconds.
    pub heartbeat_ms: Option<u64>,
    pub id: String,
    pub input: Json,
    /// What earlier executions recorded, in the order it was.
    pub journal: Vec<JournalEntry>,
    /// Every report carries it. Opaque.
    pub lease_token: String,
    /// Until when the worker has it, unless it sends a heartbeat.
    pub leased_until: Timestamp,
    /// What ended it: `{body, headers, queryParams}` of a call, an event's data, …; of a delay, the same with nothing in it.
    pub resume_payload: Json,
    /// The wait that ended last; null before the first.
    pub resumed_by: Option<ResumedBy>,
    pub run_id: String,
    pub state: Json,
    pub step_name: String,
    /// The trace of the run, to go on with in the worker; null if there is none.
    pub traceparent: Option<String>,
}

/// A task that is under way, with all that its handler has recorded: what new code can be tried on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskJournal {
    /// Of this visit, from 1.
    pub attempt: u32,
    /// What an earlier execution left, or null.
    pub checkpoint: Json,
    pub config: Json,
    pub handler: String,
    pub input: Json,
    /// What earlier executions recorded, in the order it was; waits that are open among it.
    pub journal: Vec<JournalEntry>,
    pub run_id: String,
    pub state: Json,
    /// The step's name; an item's of a map ends in its index.
    pub step: String,
    pub version: String,
    /// The name of its definition, and the version.
    pub workflow: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskJournalList {
    pub data: Vec<TaskJournal>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReportComplete {
    pub lease_token: String,
    /// Null if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub output: Option<Json>,
    /// Merged into `state`, or stored under the step's `saveAs`.
    #[serde(skip_serializing_if = "Option::is_none")] pub state_updates: Option<Object>,
}

impl TaskReportComplete {
    /// With what it needs.
    pub fn new(lease_token: impl Into<String>) -> TaskReportComplete {
        TaskReportComplete { lease_token: lease_token.into(), output: None, state_updates: None }
    }
}

setters!(TaskReportComplete { output [into Json], state_updates [into Object] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReportFail {
    /// Your own; `TASK_FAILED` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub code: Option<String>,
    /// Where in the handler it came from.
    #[serde(skip_serializing_if = "Option::is_none")] pub detail: Option<FailureDetail>,
    pub lease_token: String,
    pub message: String,
    /// The code does not fit what the handler has recorded. The step waits for a worker with another build, unless its `onCodeChange` says that it fails.
    #[serde(skip_serializing_if = "Option::is_none")] pub mismatch: Option<CodeMismatch>,
    /// `retryAfterMs` as text: `2d 4h`.
    #[serde(skip_serializing_if = "Option::is_none")] pub retry_after: Option<String>,
    /// Try again after this time, instead of the step's back-off.
    #[serde(skip_serializing_if = "Option::is_none")] pub retry_after_ms: Option<u64>,
    /// Whether another attempt may help; true if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub retryable: Option<bool>,
}

impl TaskReportFail {
    /// With what it needs.
    pub fn new(lease_token: impl Into<String>, message: impl Into<String>) -> TaskReportFail {
        TaskReportFail { lease_token: lease_token.into(), message: message.into(), code: None, detail: None, mismatch: None, retry_after: None, retry_after_ms: None, retryable: None }
    }
}

setters!(TaskReportFail { code [into String], detail [into FailureDetail], mismatch [into CodeMismatch], retry_after [length retry_after_ms], retryable [plain bool] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReportPause {
    /// Handed back with the task. An earlier one stays when this is absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub checkpoint: Option<Json>,
    /// `durationMs` as text: `2d 4h`.
    #[serde(skip_serializing_if = "Option::is_none")] pub duration: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub duration_ms: Option<u64>,
    pub lease_token: String,
    /// Of the pause; once per name and visit of the step.
    pub name: String,
}

impl TaskReportPause {
    /// With what it needs.
    pub fn new(lease_token: impl Into<String>, name: impl Into<String>) -> TaskReportPause {
        TaskReportPause { lease_token: lease_token.into(), name: name.into(), checkpoint: None, duration: None, duration_ms: None }
    }
}

setters!(TaskReportPause { checkpoint [into Json], duration [length duration_ms] });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum Wake {
    #[serde(rename = "all")] All,
    #[serde(rename = "any")] Any,
    #[serde(rename = "each")] Each,
}

words!(Wake { All "all", Any "any", Each "each" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReportSuspend {
    /// Names of waits that the code has no use for any more; those that are still open are cancelled.
    #[serde(skip_serializing_if = "Option::is_none")] pub cancels: Option<Vec<String>>,
    /// Handed back with the task. An earlier one stays when this is absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub checkpoint: Option<Json>,
    /// Results that the journal does not hold yet.
    #[serde(skip_serializing_if = "Option::is_none")] pub entries: Option<Vec<NewJournalEntry>>,
    pub lease_token: String,
    /// What it waits for. A name that has a waitpoint already is waited for as it is.
    pub waits: Vec<TaskWait>,
    /// When it goes on: when `all` have ended (if absent), `any` (the others are cancelled), or `each` time one ends.
    #[serde(skip_serializing_if = "Option::is_none")] pub wake: Option<Wake>,
}

impl TaskReportSuspend {
    /// With what it needs.
    pub fn new(lease_token: impl Into<String>, waits: impl IntoIterator<Item = impl Into<TaskWait>>) -> TaskReportSuspend {
        TaskReportSuspend { lease_token: lease_token.into(), waits: waits.into_iter().map(Into::into).collect(), cancels: None, checkpoint: None, entries: None, wake: None }
    }
}

setters!(TaskReportSuspend { cancels [list String], checkpoint [into Json], entries [list NewJournalEntry], wake [into Wake] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReportHeartbeat {
    /// Names of waits that the code has no use for any more; those that are still open are cancelled.
    #[serde(skip_serializing_if = "Option::is_none")] pub cancels: Option<Vec<String>>,
    /// Handed back with the task when it is handed out again.
    #[serde(skip_serializing_if = "Option::is_none")] pub checkpoint: Option<Json>,
    /// Results that the journal does not hold yet.
    #[serde(skip_serializing_if = "Option::is_none")] pub entries: Option<Vec<NewJournalEntry>>,
    pub lease_token: String,
}

impl TaskReportHeartbeat {
    /// With what it needs.
    pub fn new(lease_token: impl Into<String>) -> TaskReportHeartbeat {
        TaskReportHeartbeat { lease_token: lease_token.into(), cancels: None, checkpoint: None, entries: None }
    }
}

setters!(TaskReportHeartbeat { cancels [list String], checkpoint [into Json], entries [list NewJournalEntry] });

/// Lines for the run's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReportLog {
    pub lease_token: String,
    pub lines: Vec<LogLine>,
}

impl TaskReportLog {
    /// With what it needs.
    pub fn new(lease_token: impl Into<String>, lines: impl IntoIterator<Item = impl Into<LogLine>>) -> TaskReportLog {
        TaskReportLog { lease_token: lease_token.into(), lines: lines.into_iter().map(Into::into).collect() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReportRelease {
    pub lease_token: String,
}

impl TaskReportRelease {
    /// With what it needs.
    pub fn new(lease_token: impl Into<String>) -> TaskReportRelease {
        TaskReportRelease { lease_token: lease_token.into() }
    }
}

/// A report, by its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum TaskReport {
    #[serde(rename = "complete")] Complete(TaskReportComplete),
    #[serde(rename = "fail")] Fail(TaskReportFail),
    #[serde(rename = "pause")] Pause(TaskReportPause),
    #[serde(rename = "suspend")] Suspend(TaskReportSuspend),
    #[serde(rename = "heartbeat")] Heartbeat(TaskReportHeartbeat),
    #[serde(rename = "log")] Log(TaskReportLog),
    #[serde(rename = "release")] Release(TaskReportRelease),
}

impl From<TaskReportComplete> for TaskReport {
    fn from(value: TaskReportComplete) -> TaskReport { TaskReport::Complete(value) }
}

impl From<TaskReportFail> for TaskReport {
    fn from(value: TaskReportFail) -> TaskReport { TaskReport::Fail(value) }
}

impl From<TaskReportPause> for TaskReport {
    fn from(value: TaskReportPause) -> TaskReport { TaskReport::Pause(value) }
}

impl From<TaskReportSuspend> for TaskReport {
    fn from(value: TaskReportSuspend) -> TaskReport { TaskReport::Suspend(value) }
}

impl From<TaskReportHeartbeat> for TaskReport {
    fn from(value: TaskReportHeartbeat) -> TaskReport { TaskReport::Heartbeat(value) }
}

impl From<TaskReportLog> for TaskReport {
    fn from(value: TaskReportLog) -> TaskReport { TaskReport::Log(value) }
}

impl From<TaskReportRelease> for TaskReport {
    fn from(value: TaskReportRelease) -> TaskReport { TaskReport::Release(value) }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitSleep {
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    /// `durationMs` as text: `2d 4h`.
    #[serde(skip_serializing_if = "Option::is_none")] pub duration: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub duration_ms: Option<u64>,
    pub name: String,
}

impl TaskWaitSleep {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> TaskWaitSleep {
        TaskWaitSleep { name: name.into(), asked: None, duration: None, duration_ms: None }
    }
}

setters!(TaskWaitSleep { asked [into String], duration [length duration_ms] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitUntil {
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    /// A past instant is over at once.
    pub at: Timestamp,
    pub name: String,
}

impl TaskWaitUntil {
    /// With what it needs.
    pub fn new(name: impl Into<String>, at: Timestamp) -> TaskWaitUntil {
        TaskWaitUntil { name: name.into(), at, asked: None }
    }
}

setters!(TaskWaitUntil { asked [into String] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitSignal {
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    pub name: String,
    pub signal_type: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

impl TaskWaitSignal {
    /// With what it needs.
    pub fn new(name: impl Into<String>, signal_type: impl Into<String>) -> TaskWaitSignal {
        TaskWaitSignal { name: name.into(), signal_type: signal_type.into(), asked: None, timeout: None, timeout_ms: None }
    }
}

setters!(TaskWaitSignal { asked [into String], timeout [length timeout_ms] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitEvent {
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    pub event_id: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub lookback: Option<String>,
    /// How far back to look for events; to the run's creation if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub lookback_ms: Option<u64>,
    /// An expression that the event must satisfy.
    #[serde(rename = "match")]
    #[serde(skip_serializing_if = "Option::is_none")] pub matching: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// What fields of the event must be, by their paths: `{"order.id": 7}`.
    #[serde(rename = "where")]
    #[serde(skip_serializing_if = "Option::is_none")] pub fields: Option<Object>,
}

impl TaskWaitEvent {
    /// With what it needs.
    pub fn new(name: impl Into<String>, event_id: impl Into<String>) -> TaskWaitEvent {
        TaskWaitEvent { name: name.into(), event_id: event_id.into(), asked: None, lookback: None, lookback_ms: None, matching: None, timeout: None, timeout_ms: None, fields: None }
    }
}

setters!(TaskWaitEvent { asked [into String], lookback [length lookback_ms], matching [into String], timeout [length timeout_ms], fields [into Object] });

/// A waitpoint with a resume URL, created before or now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitWebhook {
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_get: Option<bool>,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

impl TaskWaitWebhook {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> TaskWaitWebhook {
        TaskWaitWebhook { name: name.into(), allow_get: None, asked: None, timeout: None, timeout_ms: None }
    }
}

setters!(TaskWaitWebhook { allow_get [plain bool], asked [into String], timeout [length timeout_ms] });

/// A waitpoint of this name that was made with `POST /waitpoints`, whatever ends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitWaitpoint {
    pub name: String,
}

impl TaskWaitWaitpoint {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> TaskWaitWaitpoint {
        TaskWaitWaitpoint { name: name.into() }
    }
}

/// The back-off of a durable call that failed and is made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitRetry {
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// The initial back-off, drawn between zero and this (full jitter); 1000 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub backoff_ms: Option<u64>,
    /// What it is multiplied with after each attempt; 2 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub backoff_multiplier: Option<f64>,
    /// The durable call's name.
    pub call: String,
    /// Your own; `TASK_FAILED` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub code: Option<String>,
    /// All that the call may have.
    pub max_attempts: u32,
    /// The longest back-off; 300000 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub max_backoff_ms: Option<u64>,
    /// Why the attempt failed.
    pub message: String,
    /// Of the wait: each attempt of the call has one.
    pub name: String,
    /// `retryAfterMs` as text: `2d 4h`.
    #[serde(skip_serializing_if = "Option::is_none")] pub retry_after: Option<String>,
    /// Try again after this time, instead of the back-off.
    #[serde(skip_serializing_if = "Option::is_none")] pub retry_after_ms: Option<u64>,
}

impl TaskWaitRetry {
    /// With what it needs.
    pub fn new(name: impl Into<String>, call: impl Into<String>, attempt: u32, max_attempts: u32, message: impl Into<String>) -> TaskWaitRetry {
        TaskWaitRetry { name: name.into(), call: call.into(), attempt, max_attempts, message: message.into(), asked: None, backoff_ms: None, backoff_multiplier: None, code: None, max_backoff_ms: None, retry_after: None, retry_after_ms: None }
    }
}

setters!(TaskWaitRetry { asked [into String], backoff_ms [plain u64], backoff_multiplier [plain f64], code [into String], max_backoff_ms [plain u64], retry_after [length retry_after_ms] });

/// Room under a limit, for the durable call that is made then. It is given back with the record of the call's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitCapacity {
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    /// The durable call's name.
    pub call: String,
    pub limit: CallLimit,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

impl TaskWaitCapacity {
    /// With what it needs.
    pub fn new(name: impl Into<String>, call: impl Into<String>, limit: impl Into<CallLimit>) -> TaskWaitCapacity {
        TaskWaitCapacity { name: name.into(), call: call.into(), limit: limit.into(), asked: None, timeout: None, timeout_ms: None }
    }
}

setters!(TaskWaitCapacity { asked [into String], timeout [length timeout_ms] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitApproval {
    /// Anyone with the scope `approve` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub approvers: Option<Vec<String>>,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub content: Option<Json>,
    /// A JSON Schema that edited content must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")] pub content_schema: Option<Json>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub prompt: Option<String>,
    /// Approvals that are needed; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub quorum: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

impl TaskWaitApproval {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> TaskWaitApproval {
        TaskWaitApproval { name: name.into(), approvers: None, asked: None, content: None, content_schema: None, prompt: None, quorum: None, timeout: None, timeout_ms: None }
    }
}

setters!(TaskWaitApproval { approvers [list String], asked [into String], content [into Json], content_schema [into Json], prompt [into String], quorum [plain u32], timeout [length timeout_ms] });

/// A run of another workflow, started with the wait. Its outcome ends it: `{"status": "COMPLETED", "output": …}`, `{"status": "FAILED", "error": …}` or `{"status": "CANCELLED"}`; if the wait is cancelled, so is the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitChild {
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    /// The wait is over when the run is started, with `{"status": "STARTED", "runId": …}`; the run goes on by itself.
    #[serde(skip_serializing_if = "Option::is_none")] pub detached: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// The newest if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
    /// The name of the workflow.
    pub workflow: String,
}

impl TaskWaitChild {
    /// With what it needs.
    pub fn new(name: impl Into<String>, workflow: impl Into<String>) -> TaskWaitChild {
        TaskWaitChild { name: name.into(), workflow: workflow.into(), asked: None, detached: None, input: None, timeout: None, timeout_ms: None, version: None }
    }
}

setters!(TaskWaitChild { asked [into String], detached [plain bool], input [into Json], timeout [length timeout_ms], version [into String] });

/// A call that the engine makes; no worker is held meanwhile. It is a run of its own, and its outcome ends the wait as that of a `child` does: the output is `{status, headers, body}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskWaitHttp {
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    #[serde(skip_serializing_if = "Option::is_none")] pub asked: Option<String>,
    /// JSON, or text when it is a string; no body if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub body: Option<Json>,
    /// Statuses that fail an attempt, such as `4xx`, `5xx` or `404`; both classes if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub fail_on: Option<Vec<StatusPattern>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub headers: Option<BTreeMap<String, String>>,
    /// `GET` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub method: Option<Method>,
    pub name: String,
    /// How often the call is made; that of an `http` step if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<CallRetry>,
    /// `timeoutMs` as text: `30s`.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// How long one attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// Taken as it stands: nothing in a call is a template.
    pub url: String,
}

impl TaskWaitHttp {
    /// With what it needs.
    pub fn new(name: impl Into<String>, url: impl Into<String>) -> TaskWaitHttp {
        TaskWaitHttp { name: name.into(), url: url.into(), asked: None, body: None, fail_on: None, headers: None, method: None, retry: None, timeout: None, timeout_ms: None }
    }
}

setters!(TaskWaitHttp { asked [into String], body [into Json], fail_on [list StatusPattern], headers [into BTreeMap<String, String>], method [into Method], retry [into CallRetry], timeout [length timeout_ms] });

/// A wait, by its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum TaskWait {
    #[serde(rename = "sleep")] Sleep(TaskWaitSleep),
    #[serde(rename = "until")] Until(TaskWaitUntil),
    #[serde(rename = "signal")] Signal(TaskWaitSignal),
    #[serde(rename = "event")] Event(TaskWaitEvent),
    #[serde(rename = "webhook")] Webhook(TaskWaitWebhook),
    #[serde(rename = "waitpoint")] Waitpoint(TaskWaitWaitpoint),
    #[serde(rename = "retry")] Retry(TaskWaitRetry),
    #[serde(rename = "capacity")] Capacity(TaskWaitCapacity),
    #[serde(rename = "approval")] Approval(TaskWaitApproval),
    #[serde(rename = "child")] Child(TaskWaitChild),
    #[serde(rename = "http")] Http(TaskWaitHttp),
}

impl From<TaskWaitSleep> for TaskWait {
    fn from(value: TaskWaitSleep) -> TaskWait { TaskWait::Sleep(value) }
}

impl From<TaskWaitUntil> for TaskWait {
    fn from(value: TaskWaitUntil) -> TaskWait { TaskWait::Until(value) }
}

impl From<TaskWaitSignal> for TaskWait {
    fn from(value: TaskWaitSignal) -> TaskWait { TaskWait::Signal(value) }
}

impl From<TaskWaitEvent> for TaskWait {
    fn from(value: TaskWaitEvent) -> TaskWait { TaskWait::Event(value) }
}

impl From<TaskWaitWebhook> for TaskWait {
    fn from(value: TaskWaitWebhook) -> TaskWait { TaskWait::Webhook(value) }
}

impl From<TaskWaitWaitpoint> for TaskWait {
    fn from(value: TaskWaitWaitpoint) -> TaskWait { TaskWait::Waitpoint(value) }
}

impl From<TaskWaitRetry> for TaskWait {
    fn from(value: TaskWaitRetry) -> TaskWait { TaskWait::Retry(value) }
}

impl From<TaskWaitCapacity> for TaskWait {
    fn from(value: TaskWaitCapacity) -> TaskWait { TaskWait::Capacity(value) }
}

impl From<TaskWaitApproval> for TaskWait {
    fn from(value: TaskWaitApproval) -> TaskWait { TaskWait::Approval(value) }
}

impl From<TaskWaitChild> for TaskWait {
    fn from(value: TaskWaitChild) -> TaskWait { TaskWait::Child(value) }
}

impl From<TaskWaitHttp> for TaskWait {
    fn from(value: TaskWaitHttp) -> TaskWait { TaskWait::Http(value) }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestClock {
    /// When the next timer is due; null: time alone brings nothing more.
    pub next_timer: Option<Timestamp>,
    pub now: Timestamp,
    /// Where it was to go. It is there when `now` is.
    pub target: Option<Timestamp>,
    /// Tasks that workers have, or could take. While there are some, time should not pass.
    pub tasks: u64,
}

/// What a trigger came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Triggered {
    /// `started`, or `skipped`, `queued`, `queueFull` as the overlap policy has it, or `failed`.
    pub outcome: String,
    pub run_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnpinRun {
    /// Only tasks of this handler; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub handler: Option<String>,
}

setters!(UnpinRun { handler [into String] });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vote {
    pub by: String,
    pub comment: Option<String>,
    pub decision: Decision,
    /// The link it was decided by; absent for a key.
    pub link: Option<VoteLink>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VoteLink {
    /// The link is for nobody in particular.
    pub for_anyone: bool,
    /// Who made the link.
    pub made_by: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitCount {
    pub count: u64,
    pub kind: WaitpointKind,
    /// There are more than were counted.
    pub more: bool,
}

/// A wait for an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiter {
    /// The condition that an event must satisfy.
    #[serde(rename = "match")]
    pub matching: Option<String>,
    /// The wait's deadline; null: none.
    pub resume_at: Option<Timestamp>,
    pub run_id: String,
    pub since: Timestamp,
    pub waitpoint_id: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaiterList {
    pub data: Vec<Waiter>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WaitingForKind {
    #[serde(rename = "DELAY")] Delay,
    #[serde(rename = "WEBHOOK")] Webhook,
    #[serde(rename = "SIGNAL")] Signal,
    #[serde(rename = "EVENT")] Event,
    #[serde(rename = "APPROVAL")] Approval,
    #[serde(rename = "CHILD")] Child,
    #[serde(rename = "PAUSE")] Pause,
    #[serde(rename = "RETRY")] Retry,
    #[serde(rename = "SCHEDULE")] Schedule,
    #[serde(rename = "CODE")] Code,
    #[serde(rename = "CAPACITY")] Capacity,
    #[serde(rename = "WORKER")] Worker,
}

words!(WaitingForKind { Delay "DELAY", Webhook "WEBHOOK", Signal "SIGNAL", Event "EVENT", Approval "APPROVAL", Child "CHILD", Pause "PAUSE", Retry "RETRY", Schedule "SCHEDULE", Code "CODE", Capacity "CAPACITY", Worker "WORKER" });

/// An open wait, or a task that nobody does, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// The durable call of a handler that waits, or that is to be made again.
    pub call: Option<String>,
    /// Of a CHILD: the run that is waited for.
    pub child_run_id: Option<String>,
    /// Of a wait its kind; `WORKER` of a task whose handler no worker has.
    pub kind: WaitingForKind,
    /// What is waited for, in a sentence.
    pub sentence: String,
    pub since: Timestamp,
    /// Absent: the run has not begun.
    pub step_name: Option<String>,
    /// When time ends it, or its deadline.
    pub until: Option<Timestamp>,
    /// Absent: a task that waits for a worker.
    pub waitpoint_id: Option<String>,
}

/// A pause of a run, or of a schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waitpoint {
    /// Of an APPROVAL: what is asked, and who has decided what.
    pub approval: Option<ApprovalState>,
    /// The durable call of a handler that waits, or that is to be made again; of a step that waits for several things, the name of this one. Absent where the step itself waits.
    pub call: Option<String>,
    pub created_at: Timestamp,
    /// Of the run; absent for a schedule's wait.
    pub definition: Option<DefinitionRef>,
    /// Of an EVENT that has ended: the event that ended it.
    pub event: Option<TakenEvent>,
    /// The `runId`.
    pub flow_run_id: Option<String>,
    pub id: String,
    pub kind: WaitpointKind,
    /// Of an APPROVAL, in answers to `POST /waitpoints`: a link for everyone who may decide by one.
    #[serde(default)] pub links: Vec<ApprovalLink>,
    pub listens_for: ListensFor,
    /// Unique in its step; those that begin with `$` are the engine's.
    pub name: String,
    pub resolved_at: Option<Timestamp>,
    pub resolved_by: Option<String>,
    #[serde(default)] pub response_to_send: Json,
    /// When a DELAY, RETRY, PAUSE or SCHEDULE ends; the deadline of the others; null if there is none.
    pub resume_at: Option<Timestamp>,
    /// The `resumeAt`.
    pub resume_date_time: Option<Timestamp>,
    #[serde(default)] pub resume_payload: Json,
    /// A URL that ends it without a key. Shown to callers that may end it themselves.
    pub resume_url: Option<String>,
    /// Null: a schedule's wait.
    pub run_id: Option<String>,
    /// Of a SCHEDULE: whose next occurrence it is.
    pub schedule_id: Option<String>,
    pub status: WaitpointStatus,
    /// Absent: the run's delayed start.
    pub step_name: Option<String>,
}

/// What narrows a list of waitpoints.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitpointFilter {
    /// `resumeAt` at or after this instant.
    #[serde(skip_serializing_if = "Option::is_none")] pub due_after: Option<Timestamp>,
    /// `resumeAt` before this instant.
    #[serde(skip_serializing_if = "Option::is_none")] pub due_before: Option<Timestamp>,
    /// Waits for this event id.
    #[serde(skip_serializing_if = "Option::is_none")] pub event_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub kind: Option<WaitpointKind>,
    #[serde(skip_serializing_if = "Option::is_none")] pub run_id: Option<String>,
    /// Waits for this signal type.
    #[serde(skip_serializing_if = "Option::is_none")] pub signal_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub status: Option<WaitpointStatus>,
}

setters!(WaitpointFilter { due_after [plain Timestamp], due_before [plain Timestamp], event_id [into String], kind [into WaitpointKind], run_id [into String], signal_type [into String], status [into WaitpointStatus] });

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitpointList {
    pub data: Vec<Waitpoint>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// When waits end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WakeUps {
    pub buckets: Vec<WakeUpsBucket>,
    pub from: Timestamp,
    pub until: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WakeUpsBucket {
    /// Waits that the clock ends: DELAY, PAUSE, RETRY.
    pub by_time: u64,
    /// Deadlines of the others.
    pub deadlines: u64,
    pub from: Timestamp,
    /// There are more than were counted.
    pub more: bool,
    pub until: Timestamp,
}

/// A webhook, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    pub created_at: Timestamp,
    pub description: Option<String>,
    pub disabled_at: Option<Timestamp>,
    /// Why it was disabled: by whom, or because nothing reached it for days.
    pub disabled_reason: Option<String>,
    pub events: Vec<WebhookEvent>,
    /// Since when every attempt has failed.
    pub failing_since: Option<Timestamp>,
    pub id: String,
    pub status: WebhookStatus,
    pub url: String,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookList {
    pub data: Vec<Webhook>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WebhookStatus {
    #[serde(rename = "ENABLED")] Enabled,
    #[serde(rename = "DISABLED")] Disabled,
    /// The last attempt failed, and so did all since `failingSince`.
    #[serde(rename = "FAILING")] Failing,
}

words!(WebhookStatus { Enabled "ENABLED", Disabled "DISABLED", Failing "FAILING" });

/// One thing a webhook is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WholeDelivery {
    /// The last attempts, the oldest first.
    pub attempts: Vec<Attempt>,
    /// What is sent.
    pub body: Json,
    pub created_at: Timestamp,
    pub event: WebhookEvent,
    /// Sent as `webhook-id`, the same at every attempt.
    pub id: String,
    /// Null when nothing more is to be done, or while the webhook is disabled.
    pub next_attempt_at: Option<Timestamp>,
    pub run_id: String,
    pub status: DeliveryStatus,
    pub webhook_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Woken {
    pub run_id: String,
    pub waitpoint_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Worker {
    /// Which code it has, if it said so.
    pub build_id: Option<String>,
    pub handlers: Vec<String>,
    pub id: String,
    pub seen_at: Timestamp,
    /// Tasks it has now.
    pub tasks: u64,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerList {
    pub data: Vec<Worker>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// A workflow: steps that run in the order written, or as a graph if any step says `after`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// What all calls to models of a run together may cost, in millionths of the currency of the price table.
    #[serde(skip_serializing_if = "Option::is_none")] pub budget_micros: Option<u64>,
    /// Events that cancel a run, wherever it is.
    #[serde(skip_serializing_if = "Option::is_none")] pub cancel_on: Option<Vec<WorkflowCancelOn>>,
    /// Starts that come shortly after each other begin one run together.
    #[serde(skip_serializing_if = "Option::is_none")] pub debounce: Option<WorkflowDebounce>,
    /// The retry policy of steps that have none of their own.
    #[serde(skip_serializing_if = "Option::is_none")] pub default_retry: Option<WorkflowRetry>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// A JSON Schema that every run's input must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")] pub input_schema: Option<Json>,
    /// Headers of a call that starts a run by a trigger that its input keeps, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    #[serde(skip_serializing_if = "Option::is_none")] pub keep_headers: Option<Vec<String>>,
    /// Limits of the runs of this workflow: how many may be at work at once, and how many may begin in a time.
    #[serde(skip_serializing_if = "Option::is_none")] pub limits: Option<Vec<WorkflowLimit>>,
    /// Offers the workflow to clients of the Model Context Protocol.
    #[serde(skip_serializing_if = "Option::is_none")] pub mcp: Option<WorkflowMcp>,
    /// What the workflow is called; runs are started by it.
    pub name: String,
    /// Called when a run was cancelled, in a run of its own.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_cancel: Option<WorkflowHook>,
    /// What becomes of a handler whose code does not fit what it has recorded, for tasks that do not say so themselves.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_code_change: Option<WorkflowOnCodeChange>,
    /// Called when a run has failed, each time it does, in a run of its own.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_failure: Option<WorkflowHook>,
    /// What a completed run's `output` is; templates allowed. Without it, the output of the last step that has one.
    #[serde(skip_serializing_if = "Option::is_none")] pub output: Option<Json>,
    /// Whether a task stays with the build that took it first, for tasks that do not say so themselves.
    #[serde(skip_serializing_if = "Option::is_none")] pub pin_to_build: Option<bool>,
    /// Which of several runs that wait for the same room gets it first: 0 (if absent) to 9, or a template that gives it.
    #[serde(skip_serializing_if = "Option::is_none")] pub priority: Option<Json>,
    /// Events that cancel a run and start another of the newest version in its place.
    #[serde(skip_serializing_if = "Option::is_none")] pub restart_on: Option<Vec<WorkflowRestartOn>>,
    /// Events that start runs, each when it is received. Those of the newest version count.
    #[serde(skip_serializing_if = "Option::is_none")] pub start_on: Option<Vec<WorkflowStartOn>>,
    pub steps: Vec<WorkflowStep>,
    /// `timeoutMs` as a duration, such as `2d 4h` or `PT30M`.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// How long a whole run may take, in milliseconds; then it fails, wherever it is.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// Definitions are immutable: change the version to change a workflow. A run keeps the version it began with.
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
}

impl Workflow {
    /// With what it needs.
    pub fn new(name: impl Into<String>, steps: impl IntoIterator<Item = impl Into<WorkflowStep>>) -> Workflow {
        Workflow { name: name.into(), steps: steps.into_iter().map(Into::into).collect(), budget_micros: None, cancel_on: None, debounce: None, default_retry: None, description: None, input_schema: None, keep_headers: None, limits: None, mcp: None, on_cancel: None, on_code_change: None, on_failure: None, output: None, pin_to_build: None, priority: None, restart_on: None, start_on: None, timeout: None, timeout_ms: None, version: None }
    }
}

setters!(Workflow { budget_micros [plain u64], cancel_on [list WorkflowCancelOn], debounce [into WorkflowDebounce], default_retry [into WorkflowRetry], description [into String], input_schema [into Json], keep_headers [list String], limits [list WorkflowLimit], mcp [into WorkflowMcp], on_cancel [into WorkflowHook], on_code_change [into WorkflowOnCodeChange], on_failure [into WorkflowHook], output [into Json], pin_to_build [plain bool], priority [into Json], restart_on [list WorkflowRestartOn], start_on [list WorkflowStartOn], timeout [length timeout_ms], version [into String] });

/// An event that cancels a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowCancelOn {
    /// The event's id.
    pub event_id: String,
    /// An expression over `event`, the event's data, and the run's `input`; only events for which it is true count.
    #[serde(rename = "match")]
    #[serde(skip_serializing_if = "Option::is_none")] pub matching: Option<String>,
}

impl WorkflowCancelOn {
    /// With what it needs.
    pub fn new(event_id: impl Into<String>) -> WorkflowCancelOn {
        WorkflowCancelOn { event_id: event_id.into(), matching: None }
    }
}

setters!(WorkflowCancelOn { matching [into String] });

/// One run for all starts of a key that come shortly after each other: it begins when no more have come for a while.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowDebounce {
    /// `atMostMs` as a duration, such as `5m`.
    #[serde(skip_serializing_if = "Option::is_none")] pub at_most: Option<String>,
    /// The run begins so long after the first start at the latest, in milliseconds; ten times `quiet` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub at_most_ms: Option<u64>,
    /// Whether the run gets the inputs of all starts, as `{"inputs": […]}`. If not, it gets that of the last one.
    #[serde(skip_serializing_if = "Option::is_none")] pub collect: Option<bool>,
    /// Starts with the same value of this template over `input` belong together; without it, all of the workflow do.
    #[serde(skip_serializing_if = "Option::is_none")] pub key: Option<String>,
    /// `quietMs` as a duration, such as `30s`.
    #[serde(skip_serializing_if = "Option::is_none")] pub quiet: Option<String>,
    /// The run begins when no start has come for so long, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub quiet_ms: Option<u64>,
    /// With `collect`: the run begins at once when it has so many inputs.
    #[serde(skip_serializing_if = "Option::is_none")] pub size: Option<u32>,
}

setters!(WorkflowDebounce { at_most [length at_most_ms], collect [plain bool], key [into String], quiet [length quiet_ms], size [plain u32] });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowFanOut {
    /// Everyone who waits for it.
    #[serde(rename = "all")] All,
    /// The one that has waited longest.
    #[serde(rename = "one")] One,
}

words!(WorkflowFanOut { All "all", One "one" });

/// The answer satisfies `schema`, or the step's `outputSchema`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowGuardrailSchemaValidation {
    #[serde(skip_serializing_if = "Option::is_none")] pub on_failure: Option<WorkflowOnGuardrail>,
    #[serde(skip_serializing_if = "Option::is_none")] pub schema: Option<Json>,
}

setters!(WorkflowGuardrailSchemaValidation { on_failure [into WorkflowOnGuardrail], schema [into Json] });

/// The answer contains none of these words or patterns and, if a judge is named, that model finds it safe.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowGuardrailContentSafety {
    #[serde(skip_serializing_if = "Option::is_none")] pub blocked: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub judge_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub on_failure: Option<WorkflowOnGuardrail>,
}

setters!(WorkflowGuardrailContentSafety { blocked [list String], judge_model [into String], on_failure [into WorkflowOnGuardrail] });

/// The number at `path` of a JSON answer is at least `minimum`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowGuardrailConfidenceThreshold {
    pub minimum: f64,
    #[serde(skip_serializing_if = "Option::is_none")] pub on_failure: Option<WorkflowOnGuardrail>,
    #[serde(skip_serializing_if = "Option::is_none")] pub path: Option<String>,
}

impl WorkflowGuardrailConfidenceThreshold {
    /// With what it needs.
    pub fn new(minimum: f64) -> WorkflowGuardrailConfidenceThreshold {
        WorkflowGuardrailConfidenceThreshold { minimum, on_failure: None, path: None }
    }
}

setters!(WorkflowGuardrailConfidenceThreshold { on_failure [into WorkflowOnGuardrail], path [into String] });

/// A check of a model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum WorkflowGuardrail {
    #[serde(rename = "schema_validation")] SchemaValidation(WorkflowGuardrailSchemaValidation),
    #[serde(rename = "content_safety")] ContentSafety(WorkflowGuardrailContentSafety),
    #[serde(rename = "confidence_threshold")] ConfidenceThreshold(WorkflowGuardrailConfidenceThreshold),
}

impl From<WorkflowGuardrailSchemaValidation> for WorkflowGuardrail {
    fn from(value: WorkflowGuardrailSchemaValidation) -> WorkflowGuardrail { WorkflowGuardrail::SchemaValidation(value) }
}

impl From<WorkflowGuardrailContentSafety> for WorkflowGuardrail {
    fn from(value: WorkflowGuardrailContentSafety) -> WorkflowGuardrail { WorkflowGuardrail::ContentSafety(value) }
}

impl From<WorkflowGuardrailConfidenceThreshold> for WorkflowGuardrail {
    fn from(value: WorkflowGuardrailConfidenceThreshold) -> WorkflowGuardrail { WorkflowGuardrail::ConfidenceThreshold(value) }
}

/// How long room under a limit is kept.
#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowHolds {
    /// While there is work: what waits gives its room back, and queues for it again when it goes on.
    #[serde(rename = "work")] Work,
    /// Until the end, however long it waits.
    #[serde(rename = "run")] Run,
}

words!(WorkflowHolds { Work "work", Run "run" });

/// A handler that is called when a run has ended, with what became of it: `{run, input, state, error}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowHook {
    /// Settings for the handler; templates allowed, over the `input` that the handler gets.
    #[serde(skip_serializing_if = "Option::is_none")] pub config: Option<Json>,
    /// The handler's registered name. It may be durable code like any other.
    pub handler: String,
    /// The `defaultRetry` of the workflow if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// `timeoutMs` as a duration.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// How long one attempt may work, in milliseconds; waiting does not count.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

impl WorkflowHook {
    /// With what it needs.
    pub fn new(handler: impl Into<String>) -> WorkflowHook {
        WorkflowHook { handler: handler.into(), config: None, retry: None, timeout: None, timeout_ms: None }
    }
}

setters!(WorkflowHook { config [into Json], retry [into WorkflowRetry], timeout [length timeout_ms] });

/// A limit: room for so many at once (`concurrency`), so many in a time (`rate`), or both. Who finds no room waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowLimit {
    /// How many may begin at once after a quiet time; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub burst: Option<u32>,
    /// How many may have room at the same time, for each key.
    #[serde(skip_serializing_if = "Option::is_none")] pub concurrency: Option<u32>,
    /// How long room is kept; `work` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub holds: Option<WorkflowHolds>,
    /// Each value of this template has room of its own, such as `{{ input.account }}`; without it, all share one.
    #[serde(skip_serializing_if = "Option::is_none")] pub key: Option<String>,
    /// What the limit is called. With `scope: workspace`, all workflows that name it share it.
    pub name: String,
    /// What happens then; `fail` if absent. A whole run can only fail.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    /// `perMs` as a duration, such as `1m`.
    #[serde(skip_serializing_if = "Option::is_none")] pub per: Option<String>,
    /// The time that `rate` is about, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub per_ms: Option<u64>,
    /// How many may begin in the time of `per`, for each key. They are spaced evenly, but for a `burst`.
    #[serde(skip_serializing_if = "Option::is_none")] pub rate: Option<u32>,
    /// `workflow` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub scope: Option<WorkflowLimitScope>,
    /// `timeoutMs` as a duration.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// How long room is waited for at most, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// What becomes of one that finds no room; `queue` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub when_full: Option<WorkflowWhenFull>,
}

impl WorkflowLimit {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> WorkflowLimit {
        WorkflowLimit { name: name.into(), burst: None, concurrency: None, holds: None, key: None, on_timeout: None, per: None, per_ms: None, rate: None, scope: None, timeout: None, timeout_ms: None, when_full: None }
    }
}

setters!(WorkflowLimit { burst [plain u32], concurrency [plain u32], holds [into WorkflowHolds], key [into String], on_timeout [into WorkflowOnTimeout], per [length per_ms], rate [plain u32], scope [into WorkflowLimitScope], timeout [length timeout_ms], when_full [into WorkflowWhenFull] });

/// Who shares a limit of the same name.
#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowLimitScope {
    /// The versions of this workflow.
    #[serde(rename = "workflow")] Workflow,
    /// All workflows of the workspace that name it.
    #[serde(rename = "workspace")] Workspace,
}

words!(WorkflowLimitScope { Workflow "workflow", Workspace "workspace" });

/// The step of a `map`: any step that does something or waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum WorkflowMapStep {
    #[serde(rename = "task")] Task(WorkflowMapStepTask),
    #[serde(rename = "wait", alias = "sleep")] Wait(WorkflowMapStepWait),
    #[serde(rename = "external_event", alias = "wait_for_signal")] ExternalEvent(WorkflowMapStepExternalEvent),
    #[serde(rename = "wait_for_event")] WaitForEvent(WorkflowMapStepWaitForEvent),
    #[serde(rename = "webhook")] Webhook(WorkflowMapStepWebhook),
    #[serde(rename = "llm")] Llm(WorkflowMapStepLlm),
    #[serde(rename = "http")] Http(WorkflowMapStepHttp),
    #[serde(rename = "notify")] Notify(WorkflowMapStepNotify),
    #[serde(rename = "workflow", alias = "child")] SubWorkflow(WorkflowMapStepSubWorkflow),
}

impl From<WorkflowMapStepTask> for WorkflowMapStep {
    fn from(value: WorkflowMapStepTask) -> WorkflowMapStep { WorkflowMapStep::Task(value) }
}

impl From<WorkflowMapStepWait> for WorkflowMapStep {
    fn from(value: WorkflowMapStepWait) -> WorkflowMapStep { WorkflowMapStep::Wait(value) }
}

impl From<WorkflowMapStepExternalEvent> for WorkflowMapStep {
    fn from(value: WorkflowMapStepExternalEvent) -> WorkflowMapStep { WorkflowMapStep::ExternalEvent(value) }
}

impl From<WorkflowMapStepWaitForEvent> for WorkflowMapStep {
    fn from(value: WorkflowMapStepWaitForEvent) -> WorkflowMapStep { WorkflowMapStep::WaitForEvent(value) }
}

impl From<WorkflowMapStepWebhook> for WorkflowMapStep {
    fn from(value: WorkflowMapStepWebhook) -> WorkflowMapStep { WorkflowMapStep::Webhook(value) }
}

impl From<WorkflowMapStepLlm> for WorkflowMapStep {
    fn from(value: WorkflowMapStepLlm) -> WorkflowMapStep { WorkflowMapStep::Llm(value) }
}

impl From<WorkflowMapStepHttp> for WorkflowMapStep {
    fn from(value: WorkflowMapStepHttp) -> WorkflowMapStep { WorkflowMapStep::Http(value) }
}

impl From<WorkflowMapStepNotify> for WorkflowMapStep {
    fn from(value: WorkflowMapStepNotify) -> WorkflowMapStep { WorkflowMapStep::Notify(value) }
}

impl From<WorkflowMapStepSubWorkflow> for WorkflowMapStep {
    fn from(value: WorkflowMapStepSubWorkflow) -> WorkflowMapStep { WorkflowMapStep::SubWorkflow(value) }
}

/// Waits for a signal sent to this run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepExternalEvent {
    /// What happens when the time is over; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The signal's type, such as `payment.received`.
    pub signal_type: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

impl WorkflowMapStepExternalEvent {
    /// With what it needs.
    pub fn new(signal_type: impl Into<String>) -> WorkflowMapStepExternalEvent {
        WorkflowMapStepExternalEvent { signal_type: signal_type.into(), on_timeout: None, retry: None, timeout: None, timeout_ms: None }
    }
}

setters!(WorkflowMapStepExternalEvent { on_timeout [into WorkflowOnTimeout], retry [into WorkflowRetry], timeout [length timeout_ms] });

/// The engine makes an HTTP call. `{{ secret.NAME }}` in its URL, headers and body is filled in when the call is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepHttp {
    /// JSON, or text when it is a string; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub body: Option<Json>,
    /// Statuses that fail the step, such as `4xx`, `5xx` or `404`; both classes if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub fail_on: Option<Vec<WorkflowStatusPattern>>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub headers: Option<BTreeMap<String, String>>,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(skip_serializing_if = "Option::is_none")] pub limits: Option<Vec<WorkflowLimit>>,
    /// `GET` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub method: Option<WorkflowMethod>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// Sign the call with the server's signing key, as Standard Webhooks.
    #[serde(skip_serializing_if = "Option::is_none")] pub sign: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// Templates allowed.
    pub url: String,
}

impl WorkflowMapStepHttp {
    /// With what it needs.
    pub fn new(url: impl Into<String>) -> WorkflowMapStepHttp {
        WorkflowMapStepHttp { url: url.into(), body: None, fail_on: None, headers: None, limits: None, method: None, retry: None, sign: None, timeout: None, timeout_ms: None }
    }
}

setters!(WorkflowMapStepHttp { body [into Json], fail_on [list WorkflowStatusPattern], headers [into BTreeMap<String, String>], limits [list WorkflowLimit], method [into WorkflowMethod], retry [into WorkflowRetry], sign [plain bool], timeout [length timeout_ms] });

/// Calls a model. Each call and each tool round is journalled, so that a crash pays for none twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepLlm {
    /// What all calls of the step together may cost, in millionths of the currency of the price table. A call that could cost more than is left is not made.
    #[serde(skip_serializing_if = "Option::is_none")] pub budget_micros: Option<u64>,
    /// Models to try, in order, when this one fails.
    #[serde(skip_serializing_if = "Option::is_none")] pub fallback_models: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub guardrails: Option<Vec<WorkflowGuardrail>>,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(skip_serializing_if = "Option::is_none")] pub limits: Option<Vec<WorkflowLimit>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub max_tokens: Option<u32>,
    /// How many rounds of tool calls are allowed; 10 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub max_tool_rounds: Option<u32>,
    pub messages: Vec<WorkflowMessage>,
    /// The model's name, as in the server's settings.
    pub model: String,
    /// A JSON Schema the answer must satisfy; needs `responseFormat: json`.
    #[serde(skip_serializing_if = "Option::is_none")] pub output_schema: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub response_format: Option<WorkflowResponseFormat>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub temperature: Option<f64>,
    /// `timeoutMs` as a duration.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// How long one attempt may work, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")] pub tools: Option<Vec<WorkflowTool>>,
}

impl WorkflowMapStepLlm {
    /// With what it needs.
    pub fn new(model: impl Into<String>, messages: impl IntoIterator<Item = impl Into<WorkflowMessage>>) -> WorkflowMapStepLlm {
        WorkflowMapStepLlm { model: model.into(), messages: messages.into_iter().map(Into::into).collect(), budget_micros: None, fallback_models: None, guardrails: None, limits: None, max_tokens: None, max_tool_rounds: None, output_schema: None, response_format: None, retry: None, system_prompt: None, temperature: None, timeout: None, timeout_ms: None, tools: None }
    }
}

setters!(WorkflowMapStepLlm { budget_micros [plain u64], fallback_models [list String], guardrails [list WorkflowGuardrail], limits [list WorkflowLimit], max_tokens [plain u32], max_tool_rounds [plain u32], output_schema [into Json], response_format [into WorkflowResponseFormat], retry [into WorkflowRetry], system_prompt [into String], temperature [plain f64], timeout [length timeout_ms], tools [list WorkflowTool] });

/// Sends an event to everyone who waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepNotify {
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub data: Option<Json>,
    /// `all` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub delivery: Option<WorkflowFanOut>,
    /// Templates allowed.
    pub event_id: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// Only this run gets it; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub run_id: Option<String>,
}

impl WorkflowMapStepNotify {
    /// With what it needs.
    pub fn new(event_id: impl Into<String>) -> WorkflowMapStepNotify {
        WorkflowMapStepNotify { event_id: event_id.into(), data: None, delivery: None, retry: None, run_id: None }
    }
}

setters!(WorkflowMapStepNotify { data [into Json], delivery [into WorkflowFanOut], retry [into WorkflowRetry], run_id [into String] });

/// Starts a run of another workflow and waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepSubWorkflow {
    /// The other workflow's name.
    pub definition: String,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The newest version if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
    /// Wait for the run to end; true if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub wait: Option<bool>,
}

impl WorkflowMapStepSubWorkflow {
    /// With what it needs.
    pub fn new(definition: impl Into<String>) -> WorkflowMapStepSubWorkflow {
        WorkflowMapStepSubWorkflow { definition: definition.into(), input: None, retry: None, version: None, wait: None }
    }
}

setters!(WorkflowMapStepSubWorkflow { input [into Json], retry [into WorkflowRetry], version [into String], wait [plain bool] });

/// Runs a registered handler: in process, a polling worker, or a URL called by the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepTask {
    /// Settings for the handler; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub config: Option<Json>,
    /// The handler's registered name.
    pub handler: String,
    /// `heartbeatMs` as a duration.
    #[serde(skip_serializing_if = "Option::is_none")] pub heartbeat: Option<String>,
    /// The worker is taken for lost when it has not reported for this long, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub heartbeat_ms: Option<u64>,
    /// What the handler gets as its input; templates allowed. Without it, the run's input.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(skip_serializing_if = "Option::is_none")] pub limits: Option<Vec<WorkflowLimit>>,
    /// What becomes of it when its code does not fit what it has recorded; `wait` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_code_change: Option<WorkflowOnCodeChange>,
    /// Only workers of the build that takes it first are given it again, in this run; `false` if absent. Until an operator unpins it, it waits for them, however long they are away.
    #[serde(skip_serializing_if = "Option::is_none")] pub pin_to_build: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// `timeoutMs` as a duration.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// How long one attempt may work, in milliseconds; waiting does not count.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

impl WorkflowMapStepTask {
    /// With what it needs.
    pub fn new(handler: impl Into<String>) -> WorkflowMapStepTask {
        WorkflowMapStepTask { handler: handler.into(), config: None, heartbeat: None, heartbeat_ms: None, input: None, limits: None, on_code_change: None, pin_to_build: None, retry: None, timeout: None, timeout_ms: None }
    }
}

setters!(WorkflowMapStepTask { config [into Json], heartbeat [length heartbeat_ms], input [into Json], limits [list WorkflowLimit], on_code_change [into WorkflowOnCodeChange], pin_to_build [plain bool], retry [into WorkflowRetry], timeout [length timeout_ms] });

/// Suspends the run durably: for a time, until an instant, or until the next time of a cron line.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepWait {
    /// Waits for the next time of this cron line, in `timezone`.
    #[serde(skip_serializing_if = "Option::is_none")] pub cron: Option<String>,
    /// How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one.
    #[serde(skip_serializing_if = "Option::is_none")] pub duration: Option<String>,
    /// How long to wait, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// An IANA zone such as `Europe/Berlin`; UTC if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub timezone: Option<String>,
    /// The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once.
    #[serde(skip_serializing_if = "Option::is_none")] pub until_timestamp: Option<String>,
}

setters!(WorkflowMapStepWait { cron [into String], duration [length duration_ms], retry [into WorkflowRetry], timezone [into String], until_timestamp [into String] });

/// Waits for an event that is sent to everyone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepWaitForEvent {
    /// The event's id; templates allowed, such as `order-{{ input.orderId }}`.
    pub event_id: String,
    /// `lookbackMs` as a duration. Without either, every event since the run was created counts.
    #[serde(skip_serializing_if = "Option::is_none")] pub lookback: Option<String>,
    /// Events received up to this long before the wait begins count too, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub lookback_ms: Option<u64>,
    /// An expression over `event`, the event's data, and the run; only events for which it is true count.
    #[serde(rename = "match")]
    #[serde(skip_serializing_if = "Option::is_none")] pub matching: Option<String>,
    /// What happens when the time is over; `continue` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

impl WorkflowMapStepWaitForEvent {
    /// With what it needs.
    pub fn new(event_id: impl Into<String>) -> WorkflowMapStepWaitForEvent {
        WorkflowMapStepWaitForEvent { event_id: event_id.into(), lookback: None, lookback_ms: None, matching: None, on_timeout: None, retry: None, timeout: None, timeout_ms: None }
    }
}

setters!(WorkflowMapStepWaitForEvent { lookback [length lookback_ms], matching [into String], on_timeout [into WorkflowOnTimeout], retry [into WorkflowRetry], timeout [length timeout_ms] });

/// Waits for a call on its resume URL.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMapStepWebhook {
    /// Let a plain GET resume the run. Off by default: link scanners open every link.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_get: Option<bool>,
    /// Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default. They never get the run's output.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_sync: Option<bool>,
    /// Headers of the call that are kept, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    #[serde(skip_serializing_if = "Option::is_none")] pub keep_headers: Option<Vec<String>>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    /// The reply given at once to the caller that started the run.
    #[serde(skip_serializing_if = "Option::is_none")] pub response_to_send: Option<WorkflowRespond>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
}

setters!(WorkflowMapStepWebhook { allow_get [plain bool], allow_sync [plain bool], keep_headers [list String], on_timeout [into WorkflowOnTimeout], response_to_send [into WorkflowRespond], retry [into WorkflowRetry], timeout [length timeout_ms] });

/// How MCP clients see the workflow: a tool that they call, or a prompt that they get. Those of the newest version count. The description and the schema of the arguments are the workflow's own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMcp {
    /// What the caller is asked while the run waits, by the type of the signal that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")] pub ask: Option<BTreeMap<String, WorkflowMcpAsk>>,
    /// Fields of the input that the caller is asked for before the run starts, if the arguments lack them.
    #[serde(skip_serializing_if = "Option::is_none")] pub ask_first: Option<BTreeMap<String, WorkflowMcpAsk>>,
    /// The tool may destroy something, where it is not `readOnly`.
    #[serde(skip_serializing_if = "Option::is_none")] pub destructive: Option<bool>,
    /// To call the tool again with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")] pub idempotent: Option<bool>,
    /// `tool` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub kind: Option<WorkflowMcpKind>,
    /// The tool reaches what is outside of your own systems.
    #[serde(skip_serializing_if = "Option::is_none")] pub open_world: Option<bool>,
    /// The tool changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")] pub read_only: Option<bool>,
    /// Whether a call may become a task; `whenLong` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub task: Option<WorkflowMcpTask>,
    /// What people are shown instead of the name.
    #[serde(skip_serializing_if = "Option::is_none")] pub title: Option<String>,
}

setters!(WorkflowMcp { ask [into BTreeMap<String, WorkflowMcpAsk>], ask_first [into BTreeMap<String, WorkflowMcpAsk>], destructive [plain bool], idempotent [plain bool], kind [into WorkflowMcpKind], open_world [plain bool], read_only [plain bool], task [into WorkflowMcpTask], title [into String] });

/// What a caller is asked: a person with a form, its model, or for its folders. Exactly one of `message`, `sampling` and `roots`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMcpAsk {
    /// What a person is asked; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub message: Option<String>,
    /// The folders that the client works in.
    #[serde(skip_serializing_if = "Option::is_none")] pub roots: Option<bool>,
    /// What the client's model is asked: the parameters of `sampling/createMessage`, such as `messages` and `maxTokens`; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub sampling: Option<Json>,
    /// With `message`: the JSON Schema of the form, an object whose fields are text, numbers, booleans or choices.
    #[serde(skip_serializing_if = "Option::is_none")] pub schema: Option<Json>,
}

setters!(WorkflowMcpAsk { message [into String], roots [plain bool], sampling [into Json], schema [into Json] });

/// What a workflow is for an MCP client.
#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowMcpKind {
    #[serde(rename = "tool")] Tool,
    #[serde(rename = "prompt")] Prompt,
}

words!(WorkflowMcpKind { Tool "tool", Prompt "prompt" });

/// Whether a call of a tool may become a task.
#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowMcpTask {
    /// When the run does not end at once, and the client knows tasks.
    #[serde(rename = "whenLong")] WhenLong,
    /// Every call. A client that does not know tasks is refused.
    #[serde(rename = "always")] Always,
    /// No call: the caller waits for the result.
    #[serde(rename = "never")] Never,
}

words!(WorkflowMcpTask { WhenLong "whenLong", Always "always", Never "never" });

/// One of several waits of a step. Its deadline is the step's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum WorkflowMember {
    #[serde(rename = "wait", alias = "sleep")] Wait(WorkflowMemberWait),
    #[serde(rename = "external_event", alias = "wait_for_signal")] ExternalEvent(WorkflowMemberExternalEvent),
    #[serde(rename = "wait_for_event")] WaitForEvent(WorkflowMemberWaitForEvent),
    #[serde(rename = "webhook")] Webhook(WorkflowMemberWebhook),
    #[serde(rename = "approval")] Approval(WorkflowMemberApproval),
    #[serde(rename = "workflow", alias = "child")] Workflow(WorkflowMemberWorkflow),
    #[serde(rename = "wait_any")] WaitAny(WorkflowMemberWaitAny),
    #[serde(rename = "wait_all")] WaitAll(WorkflowMemberWaitAll),
    #[serde(rename = "wait_some")] WaitSome(WorkflowMemberWaitSome),
}

impl From<WorkflowMemberWait> for WorkflowMember {
    fn from(value: WorkflowMemberWait) -> WorkflowMember { WorkflowMember::Wait(value) }
}

impl From<WorkflowMemberExternalEvent> for WorkflowMember {
    fn from(value: WorkflowMemberExternalEvent) -> WorkflowMember { WorkflowMember::ExternalEvent(value) }
}

impl From<WorkflowMemberWaitForEvent> for WorkflowMember {
    fn from(value: WorkflowMemberWaitForEvent) -> WorkflowMember { WorkflowMember::WaitForEvent(value) }
}

impl From<WorkflowMemberWebhook> for WorkflowMember {
    fn from(value: WorkflowMemberWebhook) -> WorkflowMember { WorkflowMember::Webhook(value) }
}

impl From<WorkflowMemberApproval> for WorkflowMember {
    fn from(value: WorkflowMemberApproval) -> WorkflowMember { WorkflowMember::Approval(value) }
}

impl From<WorkflowMemberWorkflow> for WorkflowMember {
    fn from(value: WorkflowMemberWorkflow) -> WorkflowMember { WorkflowMember::Workflow(value) }
}

impl From<WorkflowMemberWaitAny> for WorkflowMember {
    fn from(value: WorkflowMemberWaitAny) -> WorkflowMember { WorkflowMember::WaitAny(value) }
}

impl From<WorkflowMemberWaitAll> for WorkflowMember {
    fn from(value: WorkflowMemberWaitAll) -> WorkflowMember { WorkflowMember::WaitAll(value) }
}

impl From<WorkflowMemberWaitSome> for WorkflowMember {
    fn from(value: WorkflowMemberWaitSome) -> WorkflowMember { WorkflowMember::WaitSome(value) }
}

/// One of several waits: for people to approve, reject or edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberApproval {
    /// Whether whoever started the run may decide; true if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_self_approval: Option<bool>,
    /// Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope.
    #[serde(skip_serializing_if = "Option::is_none")] pub approvers: Option<Vec<String>>,
    /// The key of `state` whose value is shown, and replaced when it is edited.
    pub content_key: String,
    /// A JSON Schema that edited content must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")] pub content_schema: Option<Json>,
    /// What a rejection does: `fail` the step at once (if absent), or `continue`: it counts as having come.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_reject: Option<WorkflowOnRejectedMember>,
    /// What is asked; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub prompt: Option<String>,
    /// How many must approve; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub quorum: Option<u32>,
}

impl WorkflowMemberApproval {
    /// With what it needs.
    pub fn new(content_key: impl Into<String>) -> WorkflowMemberApproval {
        WorkflowMemberApproval { content_key: content_key.into(), allow_self_approval: None, approvers: None, content_schema: None, on_reject: None, prompt: None, quorum: None }
    }
}

setters!(WorkflowMemberApproval { allow_self_approval [plain bool], approvers [list String], content_schema [into Json], on_reject [into WorkflowOnRejectedMember], prompt [into String], quorum [plain u32] });

/// One of several waits: for a signal sent to this run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberExternalEvent {
    /// The signal's type, such as `payment.received`.
    pub signal_type: String,
}

impl WorkflowMemberExternalEvent {
    /// With what it needs.
    pub fn new(signal_type: impl Into<String>) -> WorkflowMemberExternalEvent {
        WorkflowMemberExternalEvent { signal_type: signal_type.into() }
    }
}

/// Suspends the run durably: for a time, until an instant, or until the next time of a cron line.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberWait {
    /// Waits for the next time of this cron line, in `timezone`.
    #[serde(skip_serializing_if = "Option::is_none")] pub cron: Option<String>,
    /// How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one.
    #[serde(skip_serializing_if = "Option::is_none")] pub duration: Option<String>,
    /// How long to wait, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub duration_ms: Option<u64>,
    /// An IANA zone such as `Europe/Berlin`; UTC if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub timezone: Option<String>,
    /// The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once.
    #[serde(skip_serializing_if = "Option::is_none")] pub until_timestamp: Option<String>,
}

setters!(WorkflowMemberWait { cron [into String], duration [length duration_ms], timezone [into String], until_timestamp [into String] });

/// One of several waits: for all of others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberWaitAll {
    /// The waits, by name; none of them has others inside.
    pub waits: BTreeMap<String, WorkflowMember>,
}

impl WorkflowMemberWaitAll {
    /// With what it needs.
    pub fn new(waits: impl Into<BTreeMap<String, WorkflowMember>>) -> WorkflowMemberWaitAll {
        WorkflowMemberWaitAll { waits: waits.into() }
    }
}

/// One of several waits: for the first of others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberWaitAny {
    /// The waits, by name; none of them has others inside.
    pub waits: BTreeMap<String, WorkflowMember>,
}

impl WorkflowMemberWaitAny {
    /// With what it needs.
    pub fn new(waits: impl Into<BTreeMap<String, WorkflowMember>>) -> WorkflowMemberWaitAny {
        WorkflowMemberWaitAny { waits: waits.into() }
    }
}

/// One of several waits: for an event that is sent to everyone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberWaitForEvent {
    /// The event's id; templates allowed, such as `order-{{ input.orderId }}`.
    pub event_id: String,
    /// `lookbackMs` as a duration. Without either, every event since the run was created counts.
    #[serde(skip_serializing_if = "Option::is_none")] pub lookback: Option<String>,
    /// Events received up to this long before the wait begins count too, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub lookback_ms: Option<u64>,
    /// An expression over `event`, the event's data, and the run; only events for which it is true count.
    #[serde(rename = "match")]
    #[serde(skip_serializing_if = "Option::is_none")] pub matching: Option<String>,
}

impl WorkflowMemberWaitForEvent {
    /// With what it needs.
    pub fn new(event_id: impl Into<String>) -> WorkflowMemberWaitForEvent {
        WorkflowMemberWaitForEvent { event_id: event_id.into(), lookback: None, lookback_ms: None, matching: None }
    }
}

setters!(WorkflowMemberWaitForEvent { lookback [length lookback_ms], matching [into String] });

/// One of several waits: for so many of others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberWaitSome {
    /// How many of them must come.
    pub count: u32,
    /// The waits, by name; none of them has others inside.
    pub waits: BTreeMap<String, WorkflowMember>,
}

impl WorkflowMemberWaitSome {
    /// With what it needs.
    pub fn new(waits: impl Into<BTreeMap<String, WorkflowMember>>, count: u32) -> WorkflowMemberWaitSome {
        WorkflowMemberWaitSome { waits: waits.into(), count }
    }
}

/// One of several waits: for a call on its resume URL.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberWebhook {
    /// Let a plain GET resume the run. Off by default: link scanners open every link.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_get: Option<bool>,
    /// Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_sync: Option<bool>,
    /// Headers of the call that are kept, beside those that always are.
    #[serde(skip_serializing_if = "Option::is_none")] pub keep_headers: Option<Vec<String>>,
}

setters!(WorkflowMemberWebhook { allow_get [plain bool], allow_sync [plain bool], keep_headers [list String] });

/// One of several waits: for a child run, which is started with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMemberWorkflow {
    /// The other workflow's name.
    pub definition: String,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    /// The newest version if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
}

impl WorkflowMemberWorkflow {
    /// With what it needs.
    pub fn new(definition: impl Into<String>) -> WorkflowMemberWorkflow {
        WorkflowMemberWorkflow { definition: definition.into(), input: None, version: None }
    }
}

setters!(WorkflowMemberWorkflow { input [into Json], version [into String] });

/// One message to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowMessage {
    /// Templates allowed.
    pub content: String,
    pub role: WorkflowRole,
}

impl WorkflowMessage {
    /// With what it needs.
    pub fn new(role: impl Into<WorkflowRole>, content: impl Into<String>) -> WorkflowMessage {
        WorkflowMessage { role: role.into(), content: content.into() }
    }
}

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowMethod {
    #[serde(rename = "GET")] Get,
    #[serde(rename = "HEAD")] Head,
    #[serde(rename = "POST")] Post,
    #[serde(rename = "PUT")] Put,
    #[serde(rename = "PATCH")] Patch,
    #[serde(rename = "DELETE")] Delete,
    #[serde(rename = "OPTIONS")] Options,
}

words!(WorkflowMethod { Get "GET", Head "HEAD", Post "POST", Put "PUT", Patch "PATCH", Delete "DELETE", Options "OPTIONS" });

/// What happens when nobody decided in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WorkflowOnApprovalTimeout {
    #[serde(rename = "fail")] Fail,
    #[serde(rename = "continue")] Continue,
    #[serde(rename = "approve")] Approve,
    #[serde(rename = "reject")] Reject,
    #[serde(rename = "goto")] Goto(String),
}

/// What becomes of a handler whose code does not fit what it has recorded.
#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowOnCodeChange {
    /// The step waits for a worker with other code: a bad deploy costs time, never a run.
    #[serde(rename = "wait")] Wait,
    /// The step fails.
    #[serde(rename = "fail")] Fail,
}

words!(WorkflowOnCodeChange { Wait "wait", Fail "fail" });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowOnGuardrail {
    #[serde(rename = "block")] Block,
    #[serde(rename = "warn")] Warn,
    #[serde(rename = "retry_with_feedback")] RetryWithFeedback,
}

words!(WorkflowOnGuardrail { Block "block", Warn "warn", RetryWithFeedback "retry_with_feedback" });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowOnItemFailure {
    #[serde(rename = "fail")] Fail,
    #[serde(rename = "collect")] Collect,
}

words!(WorkflowOnItemFailure { Fail "fail", Collect "collect" });

/// What a rejection does to a step that waits for more than the approval.
#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowOnRejectedMember {
    #[serde(rename = "fail")] Fail,
    #[serde(rename = "continue")] Continue,
}

words!(WorkflowOnRejectedMember { Fail "fail", Continue "continue" });

/// What happens when a wait's time is over, or an approval is rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WorkflowOnTimeout {
    /// The step fails; it is not tried again.
    #[serde(rename = "fail")] Fail,
    /// The run goes on with the output `{"timeout": true}`.
    #[serde(rename = "continue")] Continue,
    /// The run goes on with this step.
    #[serde(rename = "goto")] Goto(String),
}

/// Answers the caller that started the run; the run goes on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRespond {
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub body: Option<Json>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub headers: Option<BTreeMap<String, String>>,
    /// 200 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub status: Option<u16>,
}

setters!(WorkflowRespond { body [into Json], headers [into BTreeMap<String, String>], status [plain u16] });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowResponseFormat {
    #[serde(rename = "text")] Text,
    #[serde(rename = "json")] Json,
}

words!(WorkflowResponseFormat { Text "text", Json "json" });

/// An event that cancels a run and starts another in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRestartOn {
    /// The event's id.
    pub event_id: String,
    /// The new run's input; templates over `event` allowed. That of the run it replaces if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    /// An expression over `event`, the event's data, and the run's `input`; only events for which it is true count.
    #[serde(rename = "match")]
    #[serde(skip_serializing_if = "Option::is_none")] pub matching: Option<String>,
}

impl WorkflowRestartOn {
    /// With what it needs.
    pub fn new(event_id: impl Into<String>) -> WorkflowRestartOn {
        WorkflowRestartOn { event_id: event_id.into(), input: None, matching: None }
    }
}

setters!(WorkflowRestartOn { input [into Json], matching [into String] });

/// How often, and after what time, a failed step is tried again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRetry {
    /// The initial back-off, before the second try, in milliseconds; 1000 if absent. Back-off has full jitter.
    #[serde(skip_serializing_if = "Option::is_none")] pub backoff_ms: Option<u64>,
    /// By how much that grows from try to try; 2 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub backoff_multiplier: Option<f64>,
    /// All tries together; 3 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub max_attempts: Option<u32>,
    /// The longest back-off, in milliseconds; 300000 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub max_backoff_ms: Option<u64>,
}

setters!(WorkflowRetry { backoff_ms [plain u64], backoff_multiplier [plain f64], max_attempts [plain u32], max_backoff_ms [plain u64] });

#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowRole {
    #[serde(rename = "system")] System,
    #[serde(rename = "user")] User,
    #[serde(rename = "assistant")] Assistant,
}

words!(WorkflowRole { System "system", User "user", Assistant "assistant" });

/// An event that starts a run of the workflow's newest version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStartOn {
    /// The event's id.
    pub event_id: String,
    /// A template over `event`; events that give the same key start one run together.
    #[serde(skip_serializing_if = "Option::is_none")] pub idempotency_key: Option<String>,
    /// The run's input; templates over `event` allowed. The event's data if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    /// An expression over `event`, the event's data; only events for which it is true start a run.
    #[serde(rename = "match")]
    #[serde(skip_serializing_if = "Option::is_none")] pub matching: Option<String>,
}

impl WorkflowStartOn {
    /// With what it needs.
    pub fn new(event_id: impl Into<String>) -> WorkflowStartOn {
        WorkflowStartOn { event_id: event_id.into(), idempotency_key: None, input: None, matching: None }
    }
}

setters!(WorkflowStartOn { idempotency_key [into String], input [into Json], matching [into String] });

/// An HTTP status such as `404`, or a class of them such as `5xx`.
pub type WorkflowStatusPattern = Json;

/// One step of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum WorkflowStep {
    #[serde(rename = "task")] Task(WorkflowStepTask),
    #[serde(rename = "wait", alias = "sleep")] Wait(WorkflowStepWait),
    #[serde(rename = "condition")] Condition(WorkflowStepCondition),
    #[serde(rename = "external_event", alias = "wait_for_signal")] ExternalEvent(WorkflowStepExternalEvent),
    #[serde(rename = "wait_for_event")] WaitForEvent(WorkflowStepWaitForEvent),
    #[serde(rename = "webhook")] Webhook(WorkflowStepWebhook),
    #[serde(rename = "approval")] Approval(WorkflowStepApproval),
    #[serde(rename = "llm")] Llm(WorkflowStepLlm),
    #[serde(rename = "http")] Http(WorkflowStepHttp),
    #[serde(rename = "notify")] Notify(WorkflowStepNotify),
    #[serde(rename = "respond")] Respond(WorkflowStepRespond),
    #[serde(rename = "workflow", alias = "child")] SubWorkflow(WorkflowStepSubWorkflow),
    #[serde(rename = "map")] Map(WorkflowStepMap),
    #[serde(rename = "wait_any")] WaitAny(WorkflowStepWaitAny),
    #[serde(rename = "wait_all")] WaitAll(WorkflowStepWaitAll),
    #[serde(rename = "wait_some")] WaitSome(WorkflowStepWaitSome),
}

impl From<WorkflowStepTask> for WorkflowStep {
    fn from(value: WorkflowStepTask) -> WorkflowStep { WorkflowStep::Task(value) }
}

impl From<WorkflowStepWait> for WorkflowStep {
    fn from(value: WorkflowStepWait) -> WorkflowStep { WorkflowStep::Wait(value) }
}

impl From<WorkflowStepCondition> for WorkflowStep {
    fn from(value: WorkflowStepCondition) -> WorkflowStep { WorkflowStep::Condition(value) }
}

impl From<WorkflowStepExternalEvent> for WorkflowStep {
    fn from(value: WorkflowStepExternalEvent) -> WorkflowStep { WorkflowStep::ExternalEvent(value) }
}

impl From<WorkflowStepWaitForEvent> for WorkflowStep {
    fn from(value: WorkflowStepWaitForEvent) -> WorkflowStep { WorkflowStep::WaitForEvent(value) }
}

impl From<WorkflowStepWebhook> for WorkflowStep {
    fn from(value: WorkflowStepWebhook) -> WorkflowStep { WorkflowStep::Webhook(value) }
}

impl From<WorkflowStepApproval> for WorkflowStep {
    fn from(value: WorkflowStepApproval) -> WorkflowStep { WorkflowStep::Approval(value) }
}

impl From<WorkflowStepLlm> for WorkflowStep {
    fn from(value: WorkflowStepLlm) -> WorkflowStep { WorkflowStep::Llm(value) }
}

impl From<WorkflowStepHttp> for WorkflowStep {
    fn from(value: WorkflowStepHttp) -> WorkflowStep { WorkflowStep::Http(value) }
}

impl From<WorkflowStepNotify> for WorkflowStep {
    fn from(value: WorkflowStepNotify) -> WorkflowStep { WorkflowStep::Notify(value) }
}

impl From<WorkflowStepRespond> for WorkflowStep {
    fn from(value: WorkflowStepRespond) -> WorkflowStep { WorkflowStep::Respond(value) }
}

impl From<WorkflowStepSubWorkflow> for WorkflowStep {
    fn from(value: WorkflowStepSubWorkflow) -> WorkflowStep { WorkflowStep::SubWorkflow(value) }
}

impl From<WorkflowStepMap> for WorkflowStep {
    fn from(value: WorkflowStepMap) -> WorkflowStep { WorkflowStep::Map(value) }
}

impl From<WorkflowStepWaitAny> for WorkflowStep {
    fn from(value: WorkflowStepWaitAny) -> WorkflowStep { WorkflowStep::WaitAny(value) }
}

impl From<WorkflowStepWaitAll> for WorkflowStep {
    fn from(value: WorkflowStepWaitAll) -> WorkflowStep { WorkflowStep::WaitAll(value) }
}

impl From<WorkflowStepWaitSome> for WorkflowStep {
    fn from(value: WorkflowStepWaitSome) -> WorkflowStep { WorkflowStep::WaitSome(value) }
}

/// Waits for people to approve, reject or edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepApproval {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// Whether whoever started the run may decide; true if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_self_approval: Option<bool>,
    /// Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope. Every key with the scope `approve`, and whoever has a link, if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub approvers: Option<Vec<String>>,
    /// The key of `state` whose value is shown, and replaced when it is edited.
    pub content_key: String,
    /// A JSON Schema that edited content must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")] pub content_schema: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// When others may decide too, after it was asked.
    #[serde(skip_serializing_if = "Option::is_none")] pub escalate_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub escalate_after_ms: Option<u64>,
    /// Who may decide from then on, besides the approvers.
    #[serde(skip_serializing_if = "Option::is_none")] pub escalate_to: Option<Vec<String>>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What happens when it is rejected; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_reject: Option<WorkflowOnTimeout>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnApprovalTimeout>,
    /// What is asked; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub prompt: Option<String>,
    /// How many must approve; 1 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub quorum: Option<u32>,
    /// When those who may decide are reminded, after they were asked: `["4h", "1d"]`.
    #[serde(skip_serializing_if = "Option::is_none")] pub remind_after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepApproval {
    /// With what it needs.
    pub fn new(name: impl Into<String>, content_key: impl Into<String>) -> WorkflowStepApproval {
        WorkflowStepApproval { name: name.into(), content_key: content_key.into(), after: None, allow_self_approval: None, approvers: None, content_schema: None, description: None, escalate_after: None, escalate_after_ms: None, escalate_to: None, next: None, on_reject: None, on_timeout: None, prompt: None, quorum: None, remind_after: None, retry: None, save_as: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepApproval { after [list String], allow_self_approval [plain bool], approvers [list String], content_schema [into Json], description [into String], escalate_after [length escalate_after_ms], escalate_to [list String], next [into String], on_reject [into WorkflowOnTimeout], on_timeout [into WorkflowOnApprovalTimeout], prompt [into String], quorum [plain u32], remind_after [list String], retry [into WorkflowRetry], save_as [into String], timeout [length timeout_ms], when [into String] });

/// Goes on with one step or another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepCondition {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Such as `state.leadScore >= 80`.
    pub expression: String,
    /// The step to go on with when it is false, or `end`; without it, the one that follows in order.
    #[serde(skip_serializing_if = "Option::is_none")] pub false_step: Option<String>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// The step to go on with when it is true, or `end`.
    pub true_step: String,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepCondition {
    /// With what it needs.
    pub fn new(name: impl Into<String>, expression: impl Into<String>, true_step: impl Into<String>) -> WorkflowStepCondition {
        WorkflowStepCondition { name: name.into(), expression: expression.into(), true_step: true_step.into(), after: None, description: None, false_step: None, next: None, retry: None, save_as: None, when: None }
    }
}

setters!(WorkflowStepCondition { after [list String], description [into String], false_step [into String], next [into String], retry [into WorkflowRetry], save_as [into String], when [into String] });

/// Waits for a signal sent to this run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepExternalEvent {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// The signal's type, such as `payment.received`.
    pub signal_type: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepExternalEvent {
    /// With what it needs.
    pub fn new(name: impl Into<String>, signal_type: impl Into<String>) -> WorkflowStepExternalEvent {
        WorkflowStepExternalEvent { name: name.into(), signal_type: signal_type.into(), after: None, description: None, next: None, on_timeout: None, retry: None, save_as: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepExternalEvent { after [list String], description [into String], next [into String], on_timeout [into WorkflowOnTimeout], retry [into WorkflowRetry], save_as [into String], timeout [length timeout_ms], when [into String] });

/// The engine makes an HTTP call. `{{ secret.NAME }}` in its URL, headers and body is filled in when the call is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepHttp {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// JSON, or text when it is a string; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub body: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Statuses that fail the step, such as `4xx`, `5xx` or `404`; both classes if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub fail_on: Option<Vec<WorkflowStatusPattern>>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub headers: Option<BTreeMap<String, String>>,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(skip_serializing_if = "Option::is_none")] pub limits: Option<Vec<WorkflowLimit>>,
    /// `GET` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub method: Option<WorkflowMethod>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// Sign the call with the server's signing key, as Standard Webhooks.
    #[serde(skip_serializing_if = "Option::is_none")] pub sign: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// Templates allowed.
    pub url: String,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepHttp {
    /// With what it needs.
    pub fn new(name: impl Into<String>, url: impl Into<String>) -> WorkflowStepHttp {
        WorkflowStepHttp { name: name.into(), url: url.into(), after: None, body: None, description: None, fail_on: None, headers: None, limits: None, method: None, next: None, retry: None, save_as: None, sign: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepHttp { after [list String], body [into Json], description [into String], fail_on [list WorkflowStatusPattern], headers [into BTreeMap<String, String>], limits [list WorkflowLimit], method [into WorkflowMethod], next [into String], retry [into WorkflowRetry], save_as [into String], sign [plain bool], timeout [length timeout_ms], when [into String] });

/// Calls a model. Each call and each tool round is journalled, so that a crash pays for none twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepLlm {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// What all calls of the step together may cost, in millionths of the currency of the price table. A call that could cost more than is left is not made.
    #[serde(skip_serializing_if = "Option::is_none")] pub budget_micros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Models to try, in order, when this one fails.
    #[serde(skip_serializing_if = "Option::is_none")] pub fallback_models: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub guardrails: Option<Vec<WorkflowGuardrail>>,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(skip_serializing_if = "Option::is_none")] pub limits: Option<Vec<WorkflowLimit>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub max_tokens: Option<u32>,
    /// How many rounds of tool calls are allowed; 10 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub max_tool_rounds: Option<u32>,
    pub messages: Vec<WorkflowMessage>,
    /// The model's name, as in the server's settings.
    pub model: String,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// A JSON Schema the answer must satisfy; needs `responseFormat: json`.
    #[serde(skip_serializing_if = "Option::is_none")] pub output_schema: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub response_format: Option<WorkflowResponseFormat>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub temperature: Option<f64>,
    /// `timeoutMs` as a duration.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// How long one attempt may work, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")] pub tools: Option<Vec<WorkflowTool>>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepLlm {
    /// With what it needs.
    pub fn new(name: impl Into<String>, model: impl Into<String>, messages: impl IntoIterator<Item = impl Into<WorkflowMessage>>) -> WorkflowStepLlm {
        WorkflowStepLlm { name: name.into(), model: model.into(), messages: messages.into_iter().map(Into::into).collect(), after: None, budget_micros: None, description: None, fallback_models: None, guardrails: None, limits: None, max_tokens: None, max_tool_rounds: None, next: None, output_schema: None, response_format: None, retry: None, save_as: None, system_prompt: None, temperature: None, timeout: None, timeout_ms: None, tools: None, when: None }
    }
}

setters!(WorkflowStepLlm { after [list String], budget_micros [plain u64], description [into String], fallback_models [list String], guardrails [list WorkflowGuardrail], limits [list WorkflowLimit], max_tokens [plain u32], max_tool_rounds [plain u32], next [into String], output_schema [into Json], response_format [into WorkflowResponseFormat], retry [into WorkflowRetry], save_as [into String], system_prompt [into String], temperature [plain f64], timeout [length timeout_ms], tools [list WorkflowTool], when [into String] });

/// Does one step for every item of a list, in parallel; the results are in the items' order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepMap {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// How many items at a time; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub concurrency: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// The list, or an expression or template that gives one.
    pub items: Json,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What a failed item does: `fail` the step at once (if absent), or `collect` it as `{"error": …}`.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_item_failure: Option<WorkflowOnItemFailure>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// The step to do; its templates see `item` and `index`.
    pub step: WorkflowMapStep,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepMap {
    /// With what it needs.
    pub fn new(name: impl Into<String>, items: impl Into<Json>, step: impl Into<WorkflowMapStep>) -> WorkflowStepMap {
        WorkflowStepMap { name: name.into(), items: items.into(), step: step.into(), after: None, concurrency: None, description: None, next: None, on_item_failure: None, retry: None, save_as: None, when: None }
    }
}

setters!(WorkflowStepMap { after [list String], concurrency [plain u32], description [into String], next [into String], on_item_failure [into WorkflowOnItemFailure], retry [into WorkflowRetry], save_as [into String], when [into String] });

/// Sends an event to everyone who waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepNotify {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub data: Option<Json>,
    /// `all` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub delivery: Option<WorkflowFanOut>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Templates allowed.
    pub event_id: String,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// Only this run gets it; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub run_id: Option<String>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepNotify {
    /// With what it needs.
    pub fn new(name: impl Into<String>, event_id: impl Into<String>) -> WorkflowStepNotify {
        WorkflowStepNotify { name: name.into(), event_id: event_id.into(), after: None, data: None, delivery: None, description: None, next: None, retry: None, run_id: None, save_as: None, when: None }
    }
}

setters!(WorkflowStepNotify { after [list String], data [into Json], delivery [into WorkflowFanOut], description [into String], next [into String], retry [into WorkflowRetry], run_id [into String], save_as [into String], when [into String] });

/// Answers the caller that started the run; the run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepRespond {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub body: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub headers: Option<BTreeMap<String, String>>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// 200 if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub status: Option<u16>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepRespond {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> WorkflowStepRespond {
        WorkflowStepRespond { name: name.into(), after: None, body: None, description: None, headers: None, next: None, retry: None, save_as: None, status: None, when: None }
    }
}

setters!(WorkflowStepRespond { after [list String], body [into Json], description [into String], headers [into BTreeMap<String, String>], next [into String], retry [into WorkflowRetry], save_as [into String], status [plain u16], when [into String] });

/// Starts a run of another workflow and waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepSubWorkflow {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// The other workflow's name.
    pub definition: String,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// The newest version if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub version: Option<String>,
    /// Wait for the run to end; true if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub wait: Option<bool>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepSubWorkflow {
    /// With what it needs.
    pub fn new(name: impl Into<String>, definition: impl Into<String>) -> WorkflowStepSubWorkflow {
        WorkflowStepSubWorkflow { name: name.into(), definition: definition.into(), after: None, description: None, input: None, next: None, retry: None, save_as: None, version: None, wait: None, when: None }
    }
}

setters!(WorkflowStepSubWorkflow { after [list String], description [into String], input [into Json], next [into String], retry [into WorkflowRetry], save_as [into String], version [into String], wait [plain bool], when [into String] });

/// Runs a registered handler: in process, a polling worker, or a URL called by the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepTask {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// Settings for the handler; templates allowed.
    #[serde(skip_serializing_if = "Option::is_none")] pub config: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// The handler's registered name.
    pub handler: String,
    /// `heartbeatMs` as a duration.
    #[serde(skip_serializing_if = "Option::is_none")] pub heartbeat: Option<String>,
    /// The worker is taken for lost when it has not reported for this long, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub heartbeat_ms: Option<u64>,
    /// What the handler gets as its input; templates allowed. Without it, the run's input.
    #[serde(skip_serializing_if = "Option::is_none")] pub input: Option<Json>,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(skip_serializing_if = "Option::is_none")] pub limits: Option<Vec<WorkflowLimit>>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What becomes of it when its code does not fit what it has recorded; `wait` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_code_change: Option<WorkflowOnCodeChange>,
    /// Only workers of the build that takes it first are given it again, in this run; `false` if absent. Until an operator unpins it, it waits for them, however long they are away.
    #[serde(skip_serializing_if = "Option::is_none")] pub pin_to_build: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// `timeoutMs` as a duration.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    /// How long one attempt may work, in milliseconds; waiting does not count.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepTask {
    /// With what it needs.
    pub fn new(name: impl Into<String>, handler: impl Into<String>) -> WorkflowStepTask {
        WorkflowStepTask { name: name.into(), handler: handler.into(), after: None, config: None, description: None, heartbeat: None, heartbeat_ms: None, input: None, limits: None, next: None, on_code_change: None, pin_to_build: None, retry: None, save_as: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepTask { after [list String], config [into Json], description [into String], heartbeat [length heartbeat_ms], input [into Json], limits [list WorkflowLimit], next [into String], on_code_change [into WorkflowOnCodeChange], pin_to_build [plain bool], retry [into WorkflowRetry], save_as [into String], timeout [length timeout_ms], when [into String] });

/// Suspends the run durably: for a time, until an instant, or until the next time of a cron line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepWait {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// Waits for the next time of this cron line, in `timezone`.
    #[serde(skip_serializing_if = "Option::is_none")] pub cron: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one.
    #[serde(skip_serializing_if = "Option::is_none")] pub duration: Option<String>,
    /// How long to wait, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub duration_ms: Option<u64>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// An IANA zone such as `Europe/Berlin`; UTC if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub timezone: Option<String>,
    /// The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once.
    #[serde(skip_serializing_if = "Option::is_none")] pub until_timestamp: Option<String>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepWait {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> WorkflowStepWait {
        WorkflowStepWait { name: name.into(), after: None, cron: None, description: None, duration: None, duration_ms: None, next: None, retry: None, save_as: None, timezone: None, until_timestamp: None, when: None }
    }
}

setters!(WorkflowStepWait { after [list String], cron [into String], description [into String], duration [length duration_ms], next [into String], retry [into WorkflowRetry], save_as [into String], timezone [into String], until_timestamp [into String], when [into String] });

/// Waits for all of several waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepWaitAll {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// How long all of them together may take.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// The waits, by name.
    pub waits: BTreeMap<String, WorkflowMember>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepWaitAll {
    /// With what it needs.
    pub fn new(name: impl Into<String>, waits: impl Into<BTreeMap<String, WorkflowMember>>) -> WorkflowStepWaitAll {
        WorkflowStepWaitAll { name: name.into(), waits: waits.into(), after: None, description: None, next: None, on_timeout: None, retry: None, save_as: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepWaitAll { after [list String], description [into String], next [into String], on_timeout [into WorkflowOnTimeout], retry [into WorkflowRetry], save_as [into String], timeout [length timeout_ms], when [into String] });

/// Waits for the first of several waits; the others are cancelled with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepWaitAny {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// The step to go on with, by the name of the wait that came; without one, the step that follows in order.
    #[serde(skip_serializing_if = "Option::is_none")] pub goto: Option<BTreeMap<String, String>>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// How long all of them together may take.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// The waits, by name. Those that come in the same moment count in the order of their names.
    pub waits: BTreeMap<String, WorkflowMember>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepWaitAny {
    /// With what it needs.
    pub fn new(name: impl Into<String>, waits: impl Into<BTreeMap<String, WorkflowMember>>) -> WorkflowStepWaitAny {
        WorkflowStepWaitAny { name: name.into(), waits: waits.into(), after: None, description: None, goto: None, next: None, on_timeout: None, retry: None, save_as: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepWaitAny { after [list String], description [into String], goto [into BTreeMap<String, String>], next [into String], on_timeout [into WorkflowOnTimeout], retry [into WorkflowRetry], save_as [into String], timeout [length timeout_ms], when [into String] });

/// Waits for an event that is sent to everyone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepWaitForEvent {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// The event's id; templates allowed, such as `order-{{ input.orderId }}`.
    pub event_id: String,
    /// `lookbackMs` as a duration. Without either, every event since the run was created counts.
    #[serde(skip_serializing_if = "Option::is_none")] pub lookback: Option<String>,
    /// Events received up to this long before the wait begins count too, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")] pub lookback_ms: Option<u64>,
    /// An expression over `event`, the event's data, and the run; only events for which it is true count.
    #[serde(rename = "match")]
    #[serde(skip_serializing_if = "Option::is_none")] pub matching: Option<String>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What happens when the time is over; `continue` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepWaitForEvent {
    /// With what it needs.
    pub fn new(name: impl Into<String>, event_id: impl Into<String>) -> WorkflowStepWaitForEvent {
        WorkflowStepWaitForEvent { name: name.into(), event_id: event_id.into(), after: None, description: None, lookback: None, lookback_ms: None, matching: None, next: None, on_timeout: None, retry: None, save_as: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepWaitForEvent { after [list String], description [into String], lookback [length lookback_ms], matching [into String], next [into String], on_timeout [into WorkflowOnTimeout], retry [into WorkflowRetry], save_as [into String], timeout [length timeout_ms], when [into String] });

/// Waits for so many of several waits; the others are cancelled with the last of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepWaitSome {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// How many of them must come.
    pub count: u32,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// The step to go on with, by the name of the wait that came first; without one, the step that follows in order.
    #[serde(skip_serializing_if = "Option::is_none")] pub goto: Option<BTreeMap<String, String>>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    /// How long all of them together may take.
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// The waits, by name. Those that come in the same moment count in the order of their names.
    pub waits: BTreeMap<String, WorkflowMember>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepWaitSome {
    /// With what it needs.
    pub fn new(name: impl Into<String>, waits: impl Into<BTreeMap<String, WorkflowMember>>, count: u32) -> WorkflowStepWaitSome {
        WorkflowStepWaitSome { name: name.into(), waits: waits.into(), count, after: None, description: None, goto: None, next: None, on_timeout: None, retry: None, save_as: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepWaitSome { after [list String], description [into String], goto [into BTreeMap<String, String>], next [into String], on_timeout [into WorkflowOnTimeout], retry [into WorkflowRetry], save_as [into String], timeout [length timeout_ms], when [into String] });

/// Waits for a call on its resume URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStepWebhook {
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(skip_serializing_if = "Option::is_none")] pub after: Option<Vec<String>>,
    /// Let a plain GET resume the run. Off by default: link scanners open every link.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_get: Option<bool>,
    /// Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default. They never get the run's output.
    #[serde(skip_serializing_if = "Option::is_none")] pub allow_sync: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// Headers of the call that are kept, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    #[serde(skip_serializing_if = "Option::is_none")] pub keep_headers: Option<Vec<String>>,
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    pub name: String,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(skip_serializing_if = "Option::is_none")] pub next: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub on_timeout: Option<WorkflowOnTimeout>,
    /// The reply given at once to the caller that started the run.
    #[serde(skip_serializing_if = "Option::is_none")] pub response_to_send: Option<WorkflowRespond>,
    #[serde(skip_serializing_if = "Option::is_none")] pub retry: Option<WorkflowRetry>,
    /// The key of `state` under which the step's result is stored.
    #[serde(skip_serializing_if = "Option::is_none")] pub save_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub timeout_ms: Option<u64>,
    /// An expression; when it is false, the step is skipped.
    #[serde(skip_serializing_if = "Option::is_none")] pub when: Option<String>,
}

impl WorkflowStepWebhook {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> WorkflowStepWebhook {
        WorkflowStepWebhook { name: name.into(), after: None, allow_get: None, allow_sync: None, description: None, keep_headers: None, next: None, on_timeout: None, response_to_send: None, retry: None, save_as: None, timeout: None, timeout_ms: None, when: None }
    }
}

setters!(WorkflowStepWebhook { after [list String], allow_get [plain bool], allow_sync [plain bool], description [into String], keep_headers [list String], next [into String], on_timeout [into WorkflowOnTimeout], response_to_send [into WorkflowRespond], retry [into WorkflowRetry], save_as [into String], timeout [length timeout_ms], when [into String] });

/// Something a model may call: a handler, or another workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowTool {
    #[serde(skip_serializing_if = "Option::is_none")] pub description: Option<String>,
    /// The handler that serves it; the tool's name if absent.
    #[serde(skip_serializing_if = "Option::is_none")] pub handler: Option<String>,
    pub name: String,
    /// A JSON Schema of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")] pub parameters: Option<Json>,
    /// The workflow that serves it, instead of a handler.
    #[serde(skip_serializing_if = "Option::is_none")] pub workflow: Option<String>,
}

impl WorkflowTool {
    /// With what it needs.
    pub fn new(name: impl Into<String>) -> WorkflowTool {
        WorkflowTool { name: name.into(), description: None, handler: None, parameters: None, workflow: None }
    }
}

setters!(WorkflowTool { description [into String], handler [into String], parameters [into Json], workflow [into String] });

/// What becomes of a run that finds no room.
#[derive(Debug, Clone, PartialEq, Copy, Eq, Hash, Serialize, Deserialize)]
pub enum WorkflowWhenFull {
    /// The run waits for room.
    #[serde(rename = "queue")] Queue,
    /// The run is cancelled before it begins.
    #[serde(rename = "skip")] Skip,
    /// The run takes the place of the one that has had room longest, which is cancelled.
    #[serde(rename = "replace")] Replace,
    /// The run is not started, and whoever asked is told so.
    #[serde(rename = "refuse")] Refuse,
}

words!(WorkflowWhenFull { Queue "queue", Skip "skip", Replace "replace", Refuse "refuse" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    pub created_at: Timestamp,
    pub id: String,
    pub name: String,
    /// Runs that have not ended.
    pub open_runs: u64,
    /// What it may have: its own figures, and those of the server where it has none.
    pub quotas: Quotas,
    /// What its histories and events take.
    pub stored_bytes: u64,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceList {
    pub data: Vec<Workspace>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub next_cursor: Option<String>,
}

/// What a refusal may be called: `problem.code == code::RUN_ENDED`.
pub mod code {
    /// The body is not JSON, or not UTF-8. The detail names the line and the column.
    pub const NOT_JSON: &str = "NOT_JSON";
    /// The request cannot be read as HTTP: a path or a header that is not text.
    pub const BAD_REQUEST: &str = "BAD_REQUEST";
    /// No key was given, or it is not known, or it was revoked. Send `Authorization: Bearer abk_…` or `x-api-key`.
    pub const UNAUTHENTICATED: &str = "UNAUTHENTICATED";
    /// The resume URL has no token, or one that was not made by this server for this waitpoint.
    pub const BAD_LINK: &str = "BAD_LINK";
    /// The lease token was not made by this server for this task.
    pub const BAD_LEASE: &str = "BAD_LEASE";
    /// The key is known, but lacks the scope that this needs. The detail names it.
    pub const FORBIDDEN: &str = "FORBIDDEN";
    /// Only the approvers named by the step may decide.
    pub const NOT_AN_APPROVER: &str = "NOT_AN_APPROVER";
    /// The step does not let whoever started the run decide, nor a link that is for nobody in particular.
    pub const SELF_APPROVAL: &str = "SELF_APPROVAL";
    /// The link resumes the run, and its holder is not shown what the run says. Call it without `/sync`, or give the webhook step `allowSync`.
    pub const SYNC_NOT_ALLOWED: &str = "SYNC_NOT_ALLOWED";
    /// To end an approval's wait, or to bring its deadline nearer, is to decide it. It needs a key with the scope `approve`.
    pub const MAY_NOT_DECIDE: &str = "MAY_NOT_DECIDE";
    /// The `Host` header is not a name of this server. Add it with `--allow-host`, or set `--public-url`.
    pub const HOST_REFUSED: &str = "HOST_REFUSED";
    /// The request came through a proxy, and this server needs no keys because it is only for this machine. Start it with `--auth required`.
    pub const PROXY_REFUSED: &str = "PROXY_REFUSED";
    /// A web page of another origin sent this. Allow the origin with `--allow-origin`.
    pub const ORIGIN_REFUSED: &str = "ORIGIN_REFUSED";
    /// There is nothing at this path. `/docs` lists what there is.
    pub const NOT_FOUND: &str = "NOT_FOUND";
    /// There is no such run in this workspace.
    pub const UNKNOWN_RUN: &str = "UNKNOWN_RUN";
    /// There is no such workflow, or not in this version, in this workspace.
    pub const UNKNOWN_DEFINITION: &str = "UNKNOWN_DEFINITION";
    /// The run has no step of this name. The nearest name is in the detail.
    pub const UNKNOWN_STEP: &str = "UNKNOWN_STEP";
    /// There is no such waitpoint in this workspace.
    pub const UNKNOWN_WAITPOINT: &str = "UNKNOWN_WAITPOINT";
    /// There is no such task in this workspace.
    pub const UNKNOWN_TASK: &str = "UNKNOWN_TASK";
    /// There is no such API key.
    pub const UNKNOWN_KEY: &str = "UNKNOWN_KEY";
    /// There is no such link secret, or it was retired.
    pub const UNKNOWN_LINK_SECRET: &str = "UNKNOWN_LINK_SECRET";
    /// The server has no key to sign with. Whoever runs it sets `ABIDE_SECRET_SIGNING_KEY`.
    pub const NO_SIGNING_KEY: &str = "NO_SIGNING_KEY";
    /// Nobody has room under a limit of this name or waits for it, nothing is set for it, and the workflow has none of this name.
    pub const UNKNOWN_LIMIT: &str = "UNKNOWN_LIMIT";
    /// There is no such schedule in this workspace.
    pub const UNKNOWN_SCHEDULE: &str = "UNKNOWN_SCHEDULE";
    /// There is no such webhook in this workspace.
    pub const UNKNOWN_WEBHOOK: &str = "UNKNOWN_WEBHOOK";
    /// The webhook has no such delivery, or it was removed by retention.
    pub const UNKNOWN_DELIVERY: &str = "UNKNOWN_DELIVERY";
    /// There is no run or schedule of this id that is held, in this workspace.
    pub const NOT_HELD: &str = "NOT_HELD";
    /// There is no such workspace.
    pub const UNKNOWN_WORKSPACE: &str = "UNKNOWN_WORKSPACE";
    /// The path exists, but not with this method. `Allow` lists those it has.
    pub const METHOD_NOT_ALLOWED: &str = "METHOD_NOT_ALLOWED";
    /// Reading a resume URL changes nothing. Send a POST, or create the wait with `allowGet`.
    pub const READ_ONLY: &str = "READ_ONLY";
    /// The body took too long to arrive.
    pub const BODY_TIMEOUT: &str = "BODY_TIMEOUT";
    /// The waitpoint is resolved already. `outcome` says how, when and by whom.
    pub const ALREADY_RESOLVED: &str = "ALREADY_RESOLVED";
    /// Who asks has decided on this request already.
    pub const ALREADY_DECIDED: &str = "ALREADY_DECIDED";
    /// To let an approval go on before its time counts as one person's approval, and its quorum needs more. `current` has both figures.
    pub const QUORUM_NOT_REACHED: &str = "QUORUM_NOT_REACHED";
    /// What is to be approved is not what the decision was made on. `current` has the digest of what it is now.
    pub const CONTENT_CHANGED: &str = "CONTENT_CHANGED";
    /// A waitpoint of this kind cannot be ended in this way.
    pub const WRONG_WAITPOINT_KIND: &str = "WRONG_WAITPOINT_KIND";
    /// The event is not one that the waitpoint waits for.
    pub const EVENT_DOES_NOT_MATCH: &str = "EVENT_DOES_NOT_MATCH";
    /// The waitpoint's time has not come.
    pub const NOT_DUE: &str = "NOT_DUE";
    /// The timer is not set, or not due.
    pub const NO_SUCH_TIMER: &str = "NO_SUCH_TIMER";
    /// The run has ended. `current` says how.
    pub const RUN_ENDED: &str = "RUN_ENDED";
    /// The server goes by the machine's clock. Start it with `--test-clock` to set the time.
    pub const NO_TEST_CLOCK: &str = "NO_TEST_CLOCK";
    /// The run or schedule is held: nothing is decided about it until it is released. The detail says why.
    pub const HELD: &str = "HELD";
    /// Only a FAILED run can be retried.
    pub const RUN_NOT_FAILED: &str = "RUN_NOT_FAILED";
    /// Only a run that stands still can be moved to another version: WAITING, PAUSED or PENDING, with no task at work. Ask again when it waits. `current` says its status.
    pub const RUN_NOT_WAITING: &str = "RUN_NOT_WAITING";
    /// The run's past does not fit the version it was to be moved to. `current.misfits` lists every reason, with its code and step.
    pub const RUN_DOES_NOT_FIT: &str = "RUN_DOES_NOT_FIT";
    /// The run changed in the same moment. Nothing was changed; ask again.
    pub const RUN_BUSY: &str = "RUN_BUSY";
    /// The step is in a state in which this cannot be done to it.
    pub const WRONG_STEP_STATUS: &str = "WRONG_STEP_STATUS";
    /// The task was handed out again, or is over. Stop working on it.
    pub const STALE_LEASE: &str = "STALE_LEASE";
    /// Another worker has the task.
    pub const TASK_ALREADY_TAKEN: &str = "TASK_ALREADY_TAKEN";
    /// The task is pinned to another build than the worker's.
    pub const PINNED_TO_BUILD: &str = "PINNED_TO_BUILD";
    /// The journal holds another result under this name.
    pub const JOURNAL_CONFLICT: &str = "JOURNAL_CONFLICT";
    /// The journal holds another kind of wait, or another question, under this name.
    pub const JOURNAL_MISMATCH: &str = "JOURNAL_MISMATCH";
    /// This name and version exist with another content. Change the version.
    pub const DEFINITION_EXISTS: &str = "DEFINITION_EXISTS";
    /// There is a schedule of this name in this workspace.
    pub const SCHEDULE_EXISTS: &str = "SCHEDULE_EXISTS";
    /// The delivery is pending: it is retried automatically. `current` says when.
    pub const DELIVERY_PENDING: &str = "DELIVERY_PENDING";
    /// There is a workspace of this name.
    pub const WORKSPACE_EXISTS: &str = "WORKSPACE_EXISTS";
    /// The waitpoint timed out. `outcome` says when.
    pub const WAITPOINT_TIMED_OUT: &str = "WAITPOINT_TIMED_OUT";
    /// The waitpoint was cancelled. `outcome` says when and by whom.
    pub const WAITPOINT_CANCELLED: &str = "WAITPOINT_CANCELLED";
    /// The waitpoint's deadline has passed, even if its timer has not fired yet.
    pub const WAITPOINT_EXPIRED: &str = "WAITPOINT_EXPIRED";
    /// The resume URL was revoked.
    pub const LINK_REVOKED: &str = "LINK_REVOKED";
    /// The resume URL was made for a time, and that is over. The wait may still be open: ask for another URL.
    pub const LINK_EXPIRED: &str = "LINK_EXPIRED";
    /// The body is larger than the server takes. The detail names the limit.
    pub const BODY_TOO_LARGE: &str = "BODY_TOO_LARGE";
    /// One payload (an input, an output, a signal, an event) is larger than 1 MiB. The detail names it.
    pub const PAYLOAD_TOO_LARGE: &str = "PAYLOAD_TOO_LARGE";
    /// The body must be JSON, and `Content-Type` must say so.
    pub const UNSUPPORTED_MEDIA_TYPE: &str = "UNSUPPORTED_MEDIA_TYPE";
    /// A field or a parameter is unknown, missing or wrong. `problems` lists each with its place and what would be right.
    pub const MALFORMED: &str = "MALFORMED";
    /// The cursor is not one that this list gave. Begin without one.
    pub const BAD_CURSOR: &str = "BAD_CURSOR";
    /// The document is not a workflow. `problems` lists everything that is wrong with it.
    pub const INVALID_DEFINITION: &str = "INVALID_DEFINITION";
    /// The input does not satisfy the workflow's `inputSchema`. `problems` lists where.
    pub const INVALID_INPUT: &str = "INVALID_INPUT";
    /// The edited content does not satisfy the approval's `contentSchema`. `problems` lists where.
    pub const INVALID_CONTENT: &str = "INVALID_CONTENT";
    /// Something is over one of the engine's limits. The detail names it and both figures.
    pub const LIMIT_EXCEEDED: &str = "LIMIT_EXCEEDED";
    /// The idempotency key was used for another request.
    pub const IDEMPOTENCY_KEY_REUSED: &str = "IDEMPOTENCY_KEY_REUSED";
    /// The run that was to answer failed. `current` says why.
    pub const RUN_FAILED: &str = "RUN_FAILED";
    /// The run that was to answer was cancelled.
    pub const RUN_CANCELLED: &str = "RUN_CANCELLED";
    /// There is no room under a limit of the workflow whose `whenFull` is `refuse`. The run was not started; try again later.
    pub const LIMIT_FULL: &str = "LIMIT_FULL";
    /// Too many requests with this key. Try again after `Retry-After`.
    pub const RATE_LIMITED: &str = "RATE_LIMITED";
    /// The workspace has as much of something as it may. `current` names the quota and both figures; an admin of the default workspace changes it with `PATCH /workspaces/{workspace}`.
    pub const QUOTA_EXCEEDED: &str = "QUOTA_EXCEEDED";
    /// There are too many headers, or they are too long.
    pub const HEADERS_TOO_LARGE: &str = "HEADERS_TOO_LARGE";
    /// What is stored of this is damaged. The detail names what; `abide doctor` finds all of it. A damaged run is held, and others go on.
    pub const DAMAGED: &str = "DAMAGED";
    /// A defect of the server. The log has more under the request's id.
    pub const INTERNAL: &str = "INTERNAL";
    /// A defect of the engine: a decision tried what the transition tables forbid. Nothing was changed.
    pub const ILLEGAL_TRANSITION: &str = "ILLEGAL_TRANSITION";
    /// The engine has more to do than it can take. Try again after `Retry-After`. Nothing was changed.
    pub const OVERLOADED: &str = "OVERLOADED";
    /// The store cannot be read or written at the moment. Nothing was changed. Try again after `Retry-After`.
    pub const STORE_UNAVAILABLE: &str = "STORE_UNAVAILABLE";
    /// The server was started with `--paused`, to look at a copy: nothing is changed, no timer goes off and nobody is called.
    pub const PAUSED: &str = "PAUSED";
    /// The engine does not get on: no round ends, or none can be committed. The detail says why.
    pub const ENGINE_STUCK: &str = "ENGINE_STUCK";
    /// The server is shutting down. Try again after `Retry-After`.
    pub const STOPPING: &str = "STOPPING";
}
