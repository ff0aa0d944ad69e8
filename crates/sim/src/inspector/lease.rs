//! Leases: a worker whose lease is over ends no step, whatever it says and however late.

use abide_core::history::{Change, Record};
use abide_core::id::StepAddress;
use abide_core::run::Run;

use crate::world::Check;

/// A worker that says which lease it means, as the name of who reports.
pub(crate) fn holder(number: u64, at: StepAddress, epoch: u32) -> String {
    format!("worker/{number}/{at:?}/{epoch}")
}

/// The step that a worker ends is one that it has the lease of, and so is the one in whose name it sends an event.
pub(super) fn check_epoch(before: Option<&Run>, record: &Record) -> Check {
    if let Change::EventSent { at, lease_epoch, .. } = &record.change {
        let task = before.and_then(|run| run.step(*at)).and_then(|step| step.task.as_deref());
        let is_held = task.is_some_and(|task| task.out && task.lease_epoch == *lease_epoch);
        let sent = || format!("{} sent an event for {at:?}, whose lease it has not", record.by);
        return if is_held { Ok(()) } else { Err(sent()) };
    }
    let ended = if let Change::StepCompleted { at, .. }
    | Change::StepFailed { at, .. }
    | Change::StepRetrying { at, .. } = &record.change
    {
        *at
    } else {
        return Ok(());
    };
    let mut name = record.by.0.split('/').skip(2);
    let (Some(at), Some(epoch)) = (name.next(), name.next()) else { return Ok(()) };
    if *at != format!("{ended:?}") {
        return Ok(());
    }
    let task = before.and_then(|run| run.step(ended)).and_then(|step| step.task.as_deref());
    // A report may make the step wait, and end it for what it waits for, in one decision: then the task is not out any more.
    let is_held = task.is_some_and(|task| task.lease_epoch.to_string() == epoch);
    if is_held { Ok(()) } else { Err(format!("{} ended {at}, whose lease it has not", record.by)) }
}
