//! The payloads that a change brings into a run.

use crate::history::{Change, JournalResult, StateChange};
use crate::json::Json;
use crate::waitpoint::{ListensFor, Waitpoint};

impl Change {
    /// Each of them, at least once.
    pub fn payloads(&self, each: &mut dyn FnMut(&Json)) {
        match self {
            Change::WorkflowCreated(creation) => each(&creation.input),
            Change::WorkflowCompleted { output } => each(output),
            Change::StepStarted { request, .. } => request.iter().for_each(each),
            Change::StepCompleted { output, state, .. } => {
                output.iter().for_each(&mut *each);
                match state {
                    // Taken apart, it is there twice.
                    StateChange::MergeOutput => output.iter().for_each(each),
                    StateChange::Set(values) => values.values().for_each(each),
                    StateChange::Nothing | StateChange::OutputAs(_) => {}
                }
            }
            Change::MapStarted { items, .. } => each(items),
            Change::JournalRecorded { entries, .. } => {
                entries.iter().for_each(|JournalResult { result, .. }| each(result));
            }
            Change::CheckpointSaved { checkpoint, .. } => each(checkpoint),
            Change::WaitResolved { payload, .. } => payload.iter().for_each(each),
            Change::SignalReceived { payload, .. } => each(payload),
            Change::ApprovalDecided { edited_content, .. } => edited_content.iter().for_each(each),
            Change::StepWaiting { .. }
            | Change::StepRetrying { .. }
            | Change::TaskPaused { .. }
            | Change::WaitCreated { .. } => self.opens().iter().for_each(|wait| wait.payloads(each)),
            Change::WorkflowStarted { .. }
            | Change::WorkflowPaused { .. }
            | Change::TaskLogged { .. }
            | Change::WorkflowResumed
            | Change::WorkflowPauseRequested
            | Change::WorkflowHeld
            | Change::WorkflowUnpaused
            | Change::WorkflowDeadlinePassed
            | Change::WorkflowFailed { .. }
            | Change::WorkflowCancelled { .. }
            | Change::WorkflowRetried { .. }
            | Change::WorkflowMoved { .. }
            | Change::StepResumed { .. }
            | Change::StepHeld { .. }
            | Change::StepFailed { .. }
            | Change::StepSkipped { .. }
            | Change::StepCancelled { .. }
            | Change::TaskStarted { .. }
            | Change::TaskPinned { .. }
            | Change::TaskUnpinned { .. }
            | Change::TaskRedelivered { .. }
            | Change::LlmCallCompleted { .. }
            | Change::WaitRescheduled { .. }
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
            | ListensFor::Code(_) => {}
        }
    }
}
