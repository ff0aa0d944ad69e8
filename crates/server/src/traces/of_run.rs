//! The spans of a run, out of its history: the run, its steps, the times that workers had its tasks, the durable calls
//! that were made then, and the waits.

use std::collections::HashMap;
use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::durable_calls::outcome_in;
use abide_core::history::{Change, Creation, Failure, JournalResult, Record};
use abide_core::id::StepAddress;
use abide_core::status::WaitStatus;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::{ListensFor, Waitpoint};
use jiff::Timestamp;
use serde_json::json;

use super::span::{self, Kind, Span};

/// Those that ended after this record; none, if the trace is not sampled. The run began with the first definition, and was
/// moved to the others.
pub(super) fn spans(
    definition: &Definition,
    moved_to: &[Arc<Definition>],
    history: &[Record],
    after: u64,
) -> Vec<Span> {
    let Some(Record { at, traceparent, change: Change::WorkflowCreated(creation), .. }) = history.first()
    else {
        return Vec::new();
    };
    if traceparent.is_some_and(|traceparent| !traceparent.is_sampled) {
        return Vec::new();
    }
    let mut story = Story {
        definition,
        moved_to,
        creation,
        traceparent: *traceparent,
        begun: *at,
        retries: 0,
        steps: HashMap::new(),
        visits: HashMap::new(),
        attempts: HashMap::new(),
        waits: HashMap::new(),
        ended: Vec::new(),
    };
    for record in history {
        // What ended before was sent before.
        if record.seq == after + 1 {
            story.ended.clear();
        }
        story.take(record);
    }
    if history.last().is_none_or(|last| last.seq <= after) {
        story.ended.clear();
    }
    story.ended
}

/// How far the history has been read, and what is open there.
struct Story<'h> {
    definition: &'h Definition,
    /// The versions that the run is moved to from here on.
    moved_to: &'h [Arc<Definition>],
    creation: &'h Creation,
    traceparent: Option<Traceparent>,
    /// The run, or its last retry.
    begun: Timestamp,
    retries: u32,
    steps: HashMap<StepAddress, Timestamp>,
    visits: HashMap<StepAddress, u32>,
    attempts: HashMap<StepAddress, Attempt>,
    waits: HashMap<u32, Waitpoint>,
    ended: Vec<Span>,
}

struct Attempt {
    begun: Timestamp,
    lease_epoch: u32,
    worker: Arc<str>,
    /// When its handler recorded something last: the next durable call began then, or later.
    progress: Timestamp,
}

impl Story<'_> {
    fn take(&mut self, record: &Record) {
        match &record.change {
            Change::WorkflowRetried { .. } => {
                self.retries += 1;
                self.begun = record.at;
            }
            Change::WorkflowMoved { steps, .. } => self.re_place(steps),
            Change::WorkflowCompleted { .. } => self.end_run(record, "COMPLETED", None),
            Change::WorkflowFailed { error, handled_by: _ } => self.end_run(record, "FAILED", Some(error)),
            Change::WorkflowCancelled { .. } => self.end_run(record, "CANCELLED", None),
            Change::StepStarted { at, .. } => {
                self.steps.insert(*at, record.at);
                *self.visits.entry(*at).or_default() += 1;
            }
            Change::StepWaiting { at, opens, .. } => {
                for wait in opens {
                    if let Some(next) = wait.next_attempt() {
                        self.end_call(*at, record, &next.call, next.attempt, Some(&next.error.message));
                    }
                }
                self.end_attempt(*at, record, None);
                self.waits.extend(opens.iter().map(|wait| (wait.number, wait.clone())));
            }
            Change::StepRetrying { at, error, opens, .. } => {
                self.end_attempt(*at, record, Some(error));
                self.waits.insert(opens.number, opens.clone());
            }
            Change::StepCompleted { at, .. } => self.end_step(*at, record, "COMPLETED", None),
            Change::StepFailed { at, error, .. } => self.end_step(*at, record, "FAILED", Some(error)),
            Change::StepCancelled { at } => self.end_step(*at, record, "CANCELLED", None),
            Change::TaskStarted { at, lease_epoch, worker, .. } => {
                let (begun, progress, worker) = (record.at, record.at, Arc::clone(worker));
                let attempt = Attempt { begun, lease_epoch: *lease_epoch, worker, progress };
                self.attempts.insert(*at, attempt);
            }
            Change::TaskPaused { at, opens } => {
                self.end_attempt(*at, record, None);
                self.waits.insert(opens.number, opens.clone());
            }
            Change::TaskRedelivered { at, .. } => {
                let lost = Failure::new("LEASE_LOST", "the worker did not report in time");
                self.end_attempt(*at, record, Some(&lost));
            }
            Change::JournalRecorded { at, entries } => self.end_calls(*at, record, entries),
            Change::WaitCreated { opens } => drop(self.waits.insert(opens.number, opens.clone())),
            Change::WaitResolved { number, status, .. } => self.end_wait(*number, record, *status),
            Change::WorkflowCreated(_)
            | Change::WorkflowStarted { .. }
            | Change::WorkflowPaused { .. }
            | Change::WorkflowResumed
            | Change::WorkflowPauseRequested
            | Change::WorkflowPausedByOperator
            | Change::WorkflowUnpaused
            | Change::WorkflowDeadlinePassed
            | Change::StepResumed { .. }
            | Change::StepHeldBack { .. }
            | Change::StepSkipped { .. }
            | Change::MapStarted { .. }
            | Change::TaskPinned { .. }
            | Change::TaskUnpinned { .. }
            | Change::CheckpointSaved { .. }
            | Change::TaskLogged { .. }
            | Change::EventSent { .. }
            | Change::LlmCallCompleted { .. }
            | Change::ApprovalReminded { .. }
            | Change::ApprovalEscalated { .. }
            | Change::WaitRescheduled { .. }
            | Change::CapacityTaken { .. }
            | Change::CapacityQueued { .. }
            | Change::StartCollected { .. }
            | Change::SignalReceived { .. }
            | Change::EventMatched { .. }
            | Change::ApprovalRequested { .. }
            | Change::ApprovalDecided { .. } => {}
        }
    }

    /// From here on places are those of the next version. Nothing is at work in a run that is moved.
    fn re_place(&mut self, steps: &[(u16, u16)]) {
        let Some((next, rest)) = self.moved_to.split_first() else { return };
        (self.definition, self.moved_to) = (next, rest);
        let there = |at: StepAddress| {
            let (_, step) = steps.iter().find(|(old, _)| *old == at.step)?;
            Some(StepAddress { step: *step, ..at })
        };
        let steps = std::mem::take(&mut self.steps);
        self.steps.extend(steps.into_iter().filter_map(|(at, begun)| Some((there(at)?, begun))));
        let visits = std::mem::take(&mut self.visits);
        self.visits.extend(visits.into_iter().filter_map(|(at, count)| Some((there(at)?, count))));
        for wait in self.waits.values_mut() {
            wait.at = wait.at.and_then(there);
        }
    }

    fn span(&self, id: u64, parent: Option<u64>, name: String, begun: Timestamp, record: &Record) -> Span {
        let run = self.creation.run_id;
        Span {
            // A run without a trace is one of its own.
            trace_id: self.traceparent.map_or(run.0, |traceparent| traceparent.trace_id),
            id,
            parent,
            name,
            kind: Kind::Internal,
            begun,
            ended: record.at,
            attributes: vec![("abide.run.id", json!(run.to_string()))],
            failure: None,
            link: None,
        }
    }

    fn end_run(&mut self, record: &Record, status: &'static str, error: Option<&Failure>) {
        let Creation { run_id, definition, parent, .. } = self.creation;
        let id = span::run_id(*run_id, self.retries);
        let of_parent = parent.and_then(|parent| parent.waitpoint);
        let above = match of_parent {
            Some(waitpoint) => Some(span::wait_id(waitpoint.run, waitpoint.number)),
            None => self.traceparent.map(|traceparent| traceparent.span_id),
        };
        let mut span = self.span(id, above, definition.name.to_string(), self.begun, record);
        span.attributes.push(("abide.workflow.version", json!(definition.version)));
        self.finish(span, status, error);
    }

    fn end_step(&mut self, at: StepAddress, record: &Record, status: &'static str, error: Option<&Failure>) {
        self.end_attempt(at, record, error);
        // A step that ends ends its waits.
        let mut open: Vec<u32> =
            self.waits.values().filter(|wait| wait.at == Some(at)).map(|wait| wait.number).collect();
        open.sort_unstable();
        for number in open {
            self.end_wait(number, record, WaitStatus::Cancelled);
        }
        let Some(begun) = self.steps.remove(&at) else { return };
        let (run, visit) = (self.creation.run_id, self.visits.get(&at).copied().unwrap_or(1));
        let above = match at.item {
            Some(_) => self.step_above(StepAddress::step(at.step)),
            None => span::run_id(run, self.retries),
        };
        let span = self.span(span::step_id(run, at, visit), Some(above), self.step_name(at), begun, record);
        self.finish(span, status, error);
    }

    fn end_attempt(&mut self, at: StepAddress, record: &Record, error: Option<&Failure>) {
        let Some(Attempt { begun, lease_epoch, worker, progress: _ }) = self.attempts.remove(&at) else {
            return;
        };
        let id = span::attempt_id(self.creation.run_id, at, lease_epoch);
        let name = format!("{} by {worker}", self.step_name(at));
        let mut span = self.span(id, Some(self.step_above(at)), name, begun, record);
        span.kind = Kind::Client;
        span.attributes.push(("abide.worker", json!(worker)));
        span.attributes.push(("abide.lease_epoch", json!(lease_epoch)));
        span.failure = error.map(|error| error.message.clone());
        self.ended.push(span);
    }

    /// What a handler recorded: each durable call of it is over.
    fn end_calls(&mut self, at: StepAddress, record: &Record, entries: &[JournalResult]) {
        for (call, error) in entries.iter().filter_map(outcome_in) {
            self.end_call(at, record, call, 0, error);
        }
        if let Some(attempt) = self.attempts.get_mut(&at) {
            attempt.progress = record.at;
        }
    }

    /// A durable call was made, once: within the time that a worker had the task, since whatever it recorded before.
    fn end_call(&mut self, at: StepAddress, record: &Record, call: &str, attempt: u32, error: Option<&str>) {
        let Some(Attempt { lease_epoch, progress, .. }) = self.attempts.get(&at) else { return };
        let run = self.creation.run_id;
        let id = span::call_id(run, at, *lease_epoch, call);
        let above = span::attempt_id(run, at, *lease_epoch);
        let name = format!("{} › {call}", self.step_name(at));
        let mut span = self.span(id, Some(above), name, *progress, record);
        span.attributes.push(("abide.call", json!(call)));
        span.attributes.push(("abide.call.kind", json!("RUN")));
        if attempt > 0 {
            span.attributes.push(("abide.call.attempt", json!(attempt)));
        }
        span.failure = error.map(str::to_owned);
        self.ended.push(span);
    }

    fn end_wait(&mut self, number: u32, record: &Record, status: WaitStatus) {
        let Some(wait) = self.waits.remove(&number) else { return };
        let run = self.creation.run_id;
        let above = wait.at.map_or_else(|| span::run_id(run, self.retries), |at| self.step_above(at));
        let called = wait.at.zip(wait.call()).map(|(at, call)| format!("{} › {call}", self.step_name(at)));
        let about = about(&wait);
        let name = called.unwrap_or_else(|| about.clone());
        let mut span = self.span(span::wait_id(run, number), Some(above), name, wait.created_at, record);
        if let Some(call) = wait.call() {
            span.attributes.push(("abide.call", json!(call)));
            span.attributes.push(("abide.call.kind", json!(wait.kind)));
        }
        span.attributes.push(("abide.wait.for", json!(about)));
        span.attributes.push(("abide.wait.id", json!(run.waitpoint(number).to_string())));
        span.attributes.push(("abide.wait.kind", json!(wait.kind)));
        span.attributes.push(("abide.wait.status", json!(status)));
        span.attributes.push(("abide.wait.resolved_by", json!(record.by)));
        let own = self.traceparent.map(|traceparent| traceparent.trace_id);
        span.link = record.traceparent.filter(|other| Some(other.trace_id) != own);
        self.ended.push(span);
    }

    fn finish(&mut self, mut span: Span, status: &'static str, error: Option<&Failure>) {
        span.attributes.push(("abide.status", json!(status)));
        span.failure = error.map(|error| error.message.clone());
        self.ended.push(span);
    }

    fn step_above(&self, at: StepAddress) -> u64 {
        span::step_id(self.creation.run_id, at, self.visits.get(&at).copied().unwrap_or(1))
    }

    fn step_name(&self, at: StepAddress) -> String {
        let name = &self.definition.step(at.step).name;
        at.item.map_or_else(|| name.to_string(), |item| format!("{name}[{item}]"))
    }
}

fn about(wait: &Waitpoint) -> String {
    match &wait.listens_for {
        ListensFor::Signal { signal_type } => format!("wait for signal {signal_type}"),
        ListensFor::Event(filter) => format!("wait for event {}", filter.event_id),
        ListensFor::Call { .. } => "wait for a call".to_owned(),
        ListensFor::Approval(_) => "wait for approval".to_owned(),
        ListensFor::Child { run_id } => format!("wait for {run_id}"),
        ListensFor::Attempt(next) => format!("wait to make {} again", next.call),
        ListensFor::Code(mismatch) => format!("wait for other code of {}", mismatch.handler),
        ListensFor::Capacity(request) => {
            format!(
                "wait for room under {}",
                request.awaited().map(|ask| ask.described()).unwrap_or_default()
            )
        }
        ListensFor::Starts(_) => "wait for more starts".to_owned(),
        ListensFor::Time => format!("wait ({})", wait.kind),
    }
}
