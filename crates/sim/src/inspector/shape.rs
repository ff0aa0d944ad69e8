//! What is true of a run after every commit, whatever happened to it.

use std::collections::BTreeSet;

use abide_core::definition::Order;
use abide_core::effect::AfterCommit;
use abide_core::history::Change;
use abide_core::id::StepAddress;
use abide_core::run::Run;
use abide_core::status::{RunStatus, StepStatus};
use abide_core::waitpoint::Kind;

use super::Ledger;
use crate::world::Check;

/// Whether one step is over before the other begins, however the run goes.
pub(super) fn precedes(run: &Run, first: u16, then: u16) -> bool {
    match run.definition.order {
        Order::Sequence => first < then,
        Order::Graph => {
            let after = &run.definition.step(then).after;
            after.iter().any(|step| *step == first || precedes(run, first, *step))
        }
    }
}

/// The place whose status a change is about.
pub(super) fn place(change: &Change) -> Option<StepAddress> {
    match change {
        Change::StepStarted { at, .. }
        | Change::StepWaiting { at, .. }
        | Change::StepResumed { at }
        | Change::StepRetrying { at, .. }
        | Change::StepCompleted { at, .. }
        | Change::StepFailed { at, .. }
        | Change::StepSkipped { at }
        | Change::StepCancelled { at }
        | Change::TaskPaused { at, .. } => Some(*at),
        Change::WorkflowCreated(_)
        | Change::WorkflowStarted { .. }
        | Change::WorkflowPaused { .. }
        | Change::WorkflowResumed
        | Change::WorkflowPauseRequested
        | Change::WorkflowPausedByOperator
        | Change::WorkflowUnpaused
        | Change::WorkflowDeadlinePassed
        | Change::WorkflowCompleted { .. }
        | Change::WorkflowFailed { .. }
        | Change::WorkflowCancelled { .. }
        | Change::WorkflowRetried { .. }
        | Change::WorkflowMoved { .. }
        | Change::StepHeldBack { .. }
        | Change::MapStarted { .. }
        | Change::TaskStarted { .. }
        | Change::TaskPinned { .. }
        | Change::TaskUnpinned { .. }
        | Change::TaskRedelivered { .. }
        | Change::JournalRecorded { .. }
        | Change::CheckpointSaved { .. }
        | Change::TaskLogged { .. }
        | Change::EventSent { .. }
        | Change::LlmCallCompleted { .. }
        | Change::WaitCreated { .. }
        | Change::WaitResolved { .. }
        | Change::WaitRescheduled { .. }
        | Change::CapacityTaken { .. }
        | Change::CapacityQueued { .. }
        | Change::StartCollected { .. }
        | Change::SignalReceived { .. }
        | Change::EventMatched { .. }
        | Change::ApprovalRequested { .. }
        | Change::ApprovalReminded { .. }
        | Change::ApprovalEscalated { .. }
        | Change::ApprovalDecided { .. } => None,
    }
}

/// A step begins only when all before it is done.
pub(super) fn check_order(run: &Run, at: StepAddress) -> Check {
    let settled = |step: u16| run.step_status(StepAddress::step(step)).is_settled();
    let ready = match run.definition.order {
        Order::Sequence => (0..at.step).all(settled),
        Order::Graph => run.definition.step(at.step).after.iter().copied().all(settled),
    };
    if ready { Ok(()) } else { Err(format!("{}: {} began before its turn", run.id, run.step_name(at))) }
}

/// A run is WAITING when nothing in it runs and something waits, and never stands still otherwise.
pub(super) fn check_counts(run: &Run) -> Check {
    let count = |wanted: StepStatus| {
        run.step_runs().filter(|(_, step)| step.status == wanted && step.map.is_none()).count()
    };
    let (running, waiting) = (count(StepStatus::Running), count(StepStatus::Waiting));
    let waits_for_room = run.open_waitpoints().any(|wait| wait.kind == Kind::Capacity && wait.at.is_none());
    let right = match run.status {
        RunStatus::Pending => running == 0 && waiting == 0 && run.open_waitpoints().count() > 0,
        RunStatus::Running => running > 0,
        RunStatus::Waiting => running == 0 && (waiting > 0 || waits_for_room),
        RunStatus::Paused => true,
        RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled => running == 0 && waiting == 0,
    };
    if right {
        Ok(())
    } else {
        Err(format!("{} is {} with {running} running and {waiting} waiting", run.id, run.status))
    }
}

/// Exactly what is to be done is handed out, and nothing for a run that has ended.
pub(super) fn check_tasks(store: &impl Ledger, run: &Run) -> Check {
    let Some(handed_out) = store.tasks_of(run.id) else { return Ok(()) };
    let wanted: BTreeSet<(StepAddress, u32)> = run
        .step_runs()
        .filter_map(|(at, step)| Some((at, step.task.as_ref().filter(|task| task.out)?.lease_epoch)))
        .collect();
    if wanted != handed_out {
        return Err(format!("{}: to be done: {wanted:?}; handed out: {handed_out:?}", run.id));
    }
    if run.status.has_ended() && !handed_out.is_empty() {
        return Err(format!("{} has ended and its tasks go on", run.id));
    }
    Ok(())
}

pub(super) fn check_effects(run: &Run, effects: &[AfterCommit]) -> Check {
    for effect in effects {
        if let AfterCommit::Dispatch { at, lease_epoch } = effect
            && run.status.has_ended()
        {
            return Err(format!("{}: lease epoch {lease_epoch} at {at:?} for a run that has ended", run.id));
        }
    }
    Ok(())
}
