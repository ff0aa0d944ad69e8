//! The payloads that a change brings into a run.

use crate::history::{Change, JournalResult, LogLine, StateChange};
use crate::json::Json;
use crate::waitpoint::{ListensFor, Waitpoint};

impl Change {
    /// Calls `each` with every payload that the run holds after the record, as often as it holds it.
    pub fn payloads(&self, each: &mut dyn FnMut(&Json)) {
        self.own_payloads(each);
        if let Change::StepCompleted { output, state: StateChange::MergeOutput, .. } = self {
            // Taken apart, it is there twice.
            output.iter().for_each(&mut *each);
        }
        self.opens().iter().for_each(|wait| wait.payloads(each));
    }

    /// The size of all payloads of the record, in bytes.
    pub fn payload_bytes(&self) -> usize {
        let mut bytes = self.opens().iter().map(Waitpoint::payload_bytes).sum();
        self.own_payloads(&mut |payload| bytes += payload.bytes());
        if let Change::TaskLogged { lines, .. } = self {
            bytes += lines.iter().map(LogLine::bytes).sum::<usize>();
        }
        bytes
    }

    /// Calls `each` with the payloads of the record itself, without those of waitpoints that begin with it.
    fn own_payloads(&self, each: &mut dyn FnMut(&Json)) {
        match self {
            Change::WorkflowCreated(creation) => each(&creation.input),
            Change::WorkflowCompleted { output } => each(output),
            Change::StepStarted { request, .. } => request.iter().for_each(each),
            Change::StepCompleted { output, state, .. } => {
                output.iter().for_each(&mut *each);
                if let StateChange::Set(values) = state {
                    values.values().for_each(each);
                }
            }
            Change::MapStarted { items, .. } => each(items),
            Change::JournalRecorded { entries, .. } => {
                entries.iter().for_each(|JournalResult { result, .. }| each(result));
            }
            Change::CheckpointSaved { checkpoint, .. } => each(checkpoint),
            Change::WaitResolved { payload, .. } => payload.iter().for_each(each),
            Change::SignalReceived { payload, .. } => each(payload),
            Change::StartCollected { input, .. } => each(input),
            Change::ApprovalDecided { edited_content, .. } => edited_content.iter().for_each(each),
            Change::WorkflowStarted { .. }
            | Change::WorkflowPaused { .. }
            | Change::WorkflowResumed
            | Change::WorkflowPauseRequested
            | Change::WorkflowPausedByOperator
            | Change::WorkflowUnpaused
            | Change::WorkflowDeadlinePassed
            | Change::WorkflowFailed { .. }
            | Change::WorkflowCancelled { .. }
            | Change::WorkflowRetried { .. }
            | Change::WorkflowMoved { .. }
            | Change::StepWaiting { .. }
            | Change::StepResumed { .. }
            | Change::StepRetrying { .. }
            | Change::StepHeldBack { .. }
            | Change::StepFailed { .. }
            | Change::StepSkipped { .. }
            | Change::StepCancelled { .. }
            | Change::TaskStarted { .. }
            | Change::TaskPinned { .. }
            | Change::TaskUnpinned { .. }
            | Change::TaskPaused { .. }
            | Change::TaskRedelivered { .. }
            | Change::TaskLogged { .. }
            | Change::EventSent { .. }
            | Change::LlmCallCompleted { .. }
            | Change::WaitCreated { .. }
            | Change::WaitRescheduled { .. }
            | Change::CapacityTaken { .. }
            | Change::CapacityQueued { .. }
            | Change::EventMatched { .. }
            | Change::ApprovalRequested { .. }
            | Change::ApprovalReminded { .. }
            | Change::ApprovalEscalated { .. } => {}
        }
    }
}

impl Waitpoint {
    fn payloads(&self, each: &mut dyn FnMut(&Json)) {
        self.response_to_send.iter().chain(&self.resume_payload).for_each(&mut *each);
        match &self.listens_for {
            ListensFor::Event(filter) => filter.bound.values().for_each(each),
            ListensFor::Approval(request) => each(&request.content),
            ListensFor::Time
            | ListensFor::Signal { .. }
            | ListensFor::Call { .. }
            | ListensFor::Child { .. }
            | ListensFor::Attempt(_)
            | ListensFor::Code(_)
            | ListensFor::Capacity(_)
            | ListensFor::Starts(_) => {}
        }
    }
}
