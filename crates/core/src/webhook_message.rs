//! Webhook messages: what subscribers are told of a run, derived from its records and from nothing else. So a message
//! is stored in the same commit as the transition that it tells of, and neither can be there without the other.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::definition::Definition;
use crate::history::{Change, Record, sentence};
use crate::json::Json;
use crate::limits;
use crate::run::Run;
use crate::status::WaitStatus;
use crate::waitpoint::{ApprovalRequest, Kind, ListensFor, Waitpoint};

/// The topic of a webhook message, to which webhooks subscribe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Topic {
    /// A run is COMPLETED.
    #[serde(rename = "workflow.completed")]
    WorkflowCompleted,
    /// A run is FAILED.
    #[serde(rename = "workflow.failed")]
    WorkflowFailed,
    /// A run is CANCELLED.
    #[serde(rename = "workflow.cancelled")]
    WorkflowCancelled,
    /// People are asked to decide, reminded, or asked in addition.
    #[serde(rename = "approval.requested")]
    ApprovalRequested,
    /// An approval is decided.
    #[serde(rename = "approval.decided")]
    ApprovalDecided,
    /// A wait's deadline passed, and what it waited for had not come.
    #[serde(rename = "wait.overdue")]
    WaitOverdue,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Topic; 6] = [
        Topic::WorkflowCompleted,
        Topic::WorkflowFailed,
        Topic::WorkflowCancelled,
        Topic::ApprovalRequested,
        Topic::ApprovalDecided,
        Topic::WaitOverdue,
    ];

    /// The name of the topic, as webhooks subscribe to it.
    pub fn name(self) -> &'static str {
        match self {
            Topic::WorkflowCompleted => "workflow.completed",
            Topic::WorkflowFailed => "workflow.failed",
            Topic::WorkflowCancelled => "workflow.cancelled",
            Topic::ApprovalRequested => "approval.requested",
            Topic::ApprovalDecided => "approval.decided",
            Topic::WaitOverdue => "wait.overdue",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A webhook message, as it is sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WebhookMessage {
    /// What happened.
    #[serde(rename = "type")]
    pub topic: Topic,
    /// The time of the record that the message is about.
    pub timestamp: Timestamp,
    /// The particulars, with `text`: the record's sentence.
    pub data: Value,
}

/// The webhook messages of these records of a run, in their order. The run is as the last of them left it.
pub fn webhook_messages<'r>(
    run: &'r Run,
    records: &'r [Record],
) -> impl Iterator<Item = WebhookMessage> + 'r {
    records.iter().filter_map(|record| {
        let (topic, data) = tell(run, record)?;
        let text = sentence(&run.definition, &|number| run.waitpoint(number), record);
        let data = data.with("text", json!(text));
        Some(WebhookMessage { topic, timestamp: record.at, data: Value::Object(data.0) })
    })
}

fn tell(run: &Run, record: &Record) -> Option<(Topic, Data)> {
    // The run of a tool or of a call is a part of the step that started it.
    if Definition::is_part_of_a_step(&run.definition_ref.name) {
        return None;
    }
    match &record.change {
        Change::WorkflowCompleted { output } => {
            Some((Topic::WorkflowCompleted, of_run(run, "COMPLETED").value("output", output)))
        }
        Change::WorkflowFailed { error, handled_by: _ } => {
            Some((Topic::WorkflowFailed, of_run(run, "FAILED").with("error", json!(error))))
        }
        Change::WorkflowCancelled { reason, handled_by: _ } => {
            let data = of_run(run, "CANCELLED").with("by", json!(record.by));
            Some((Topic::WorkflowCancelled, data.maybe("reason", reason.as_ref().map(|why| json!(why)))))
        }
        Change::ApprovalRequested { number } => asked(run, *number, "requested"),
        Change::ApprovalReminded { number } => asked(run, *number, "reminder"),
        Change::ApprovalEscalated { number, .. } => asked(run, *number, "escalation"),
        Change::WaitResolved { number, status, .. } => ended(run, *number, *status),
        Change::WorkflowCreated(_)
        | Change::WorkflowStarted { .. }
        | Change::WorkflowPaused { .. }
        | Change::WorkflowResumed
        | Change::WorkflowPauseRequested
        | Change::WorkflowPausedByOperator
        | Change::WorkflowUnpaused
        | Change::WorkflowDeadlinePassed
        | Change::WorkflowRetried { .. }
        | Change::WorkflowMoved { .. }
        | Change::StepStarted { .. }
        | Change::StepWaiting { .. }
        | Change::StepResumed { .. }
        | Change::StepRetrying { .. }
        | Change::StepHeldBack { .. }
        | Change::StepCompleted { .. }
        | Change::StepFailed { .. }
        | Change::StepSkipped { .. }
        | Change::StepCancelled { .. }
        | Change::MapStarted { .. }
        | Change::TaskStarted { .. }
        | Change::TaskPinned { .. }
        | Change::TaskUnpinned { .. }
        | Change::TaskPaused { .. }
        | Change::TaskRedelivered { .. }
        | Change::JournalRecorded { .. }
        | Change::CheckpointSaved { .. }
        | Change::TaskLogged { .. }
        | Change::EventSent { .. }
        | Change::LlmCallCompleted { .. }
        | Change::WaitCreated { .. }
        | Change::WaitRescheduled { .. }
        | Change::CapacityTaken { .. }
        | Change::CapacityQueued { .. }
        | Change::StartCollected { .. }
        | Change::SignalReceived { .. }
        | Change::EventMatched { .. }
        | Change::ApprovalDecided { .. } => None,
    }
}

fn asked(run: &Run, number: u32, reason: &str) -> Option<(Topic, Data)> {
    let (waitpoint, request) = approval(run, number)?;
    let ApprovalRequest { prompt, content, approvers, quorum, .. } = request;
    let data = of_wait(run, waitpoint)
        .with("reason", json!(reason))
        .maybe("prompt", prompt.as_ref().map(|prompt| json!(prompt)))
        .value("content", content)
        .with("contentDigest", json!(request.content_digest()))
        .with("approvers", json!(approvers))
        .with("quorum", json!(quorum))
        .maybe("allowSelfApproval", (!request.allow_self_approval).then_some(json!(false)))
        .with("resumeAt", json!(waitpoint.resume_at));
    Some((Topic::ApprovalRequested, data))
}

fn ended(run: &Run, number: u32, status: WaitStatus) -> Option<(Topic, Data)> {
    match status {
        WaitStatus::TimedOut => {
            let waitpoint = run.waitpoint(number)?;
            let data = of_wait(run, waitpoint)
                .with("kind", json!(waitpoint.kind))
                .maybe("listensFor", name_of(waitpoint).map(|name| json!(name)))
                .with("createdAt", json!(waitpoint.created_at))
                .with("resumeAt", json!(waitpoint.resume_at));
            Some((Topic::WaitOverdue, data))
        }
        WaitStatus::Completed => {
            let (waitpoint, request) = approval(run, number)?;
            let payload = waitpoint.resume_payload.as_ref();
            let decision = payload.and_then(|payload| payload.get("decision")).cloned();
            let data = of_wait(run, waitpoint)
                .maybe("decision", decision)
                .with("votes", json!(request.decisions))
                .value("content", &request.content)
                .with("resolvedBy", json!(waitpoint.resolved_by));
            Some((Topic::ApprovalDecided, data))
        }
        WaitStatus::Pending | WaitStatus::Cancelled => None,
    }
}

fn approval(run: &Run, number: u32) -> Option<(&Waitpoint, &ApprovalRequest)> {
    let waitpoint = run.waitpoint(number).filter(|wait| wait.kind == Kind::Approval)?;
    Some((waitpoint, waitpoint.listens_for.approval()?))
}

/// The event id, the signal type or the run that a waitpoint waited for.
fn name_of(waitpoint: &Waitpoint) -> Option<String> {
    match &waitpoint.listens_for {
        ListensFor::Signal { signal_type } => Some(signal_type.to_string()),
        ListensFor::Event(filter) => Some(filter.event_id.to_string()),
        ListensFor::Child { run_id } => Some(run_id.to_string()),
        ListensFor::Attempt(next) => Some(next.call.to_string()),
        ListensFor::Code(mismatch) => Some(mismatch.handler.to_string()),
        ListensFor::Capacity(request) => request.awaited().map(|ask| ask.name.to_string()),
        ListensFor::Starts(collecting) => Some(collecting.key.to_string()),
        ListensFor::Time | ListensFor::Call { .. } | ListensFor::Approval(_) => None,
    }
}

fn of_run(run: &Run, status: &str) -> Data {
    let parent = run.parent.map(|parent| json!(parent.run_id));
    Data::of(run)
        .with("status", json!(status))
        .with("tags", json!(run.tags))
        .with("createdAt", json!(run.created_at))
        .maybe("parentRunId", parent)
}

fn of_wait(run: &Run, waitpoint: &Waitpoint) -> Data {
    let step = waitpoint.at.map(|at| json!(run.step_name(at)));
    Data::of(run)
        .with("waitpointId", json!(run.waitpoint_id(waitpoint.number)))
        .maybe("stepName", step)
        .maybe("call", waitpoint.call().map(|call| json!(call)))
}

struct Data(Map<String, Value>);

impl Data {
    fn of(run: &Run) -> Data {
        Data(Map::new()).with("runId", json!(run.id)).with("definition", json!(run.definition_ref))
    }

    fn with(mut self, key: &str, value: Value) -> Data {
        self.0.insert(key.to_owned(), value);
        self
    }

    fn maybe(self, key: &str, value: Option<Value>) -> Data {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a value of any size: one that is too large is named instead.
    fn value(self, key: &str, value: &Json) -> Data {
        if value.bytes() > limits::WEBHOOK_VALUE_BYTES {
            return self.with("omitted", json!([key]));
        }
        self.with(key, Value::clone(value))
    }
}
