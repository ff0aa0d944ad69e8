//! The end of a step run: completed, failed with another attempt to come, or failed for good.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::definition::Target;
use crate::effect::AfterCommit;
use crate::flow::advance::{advance, not_taken};
use crate::flow::map;
use crate::flow::wait::{NewWait, cancel_open_waits, new_waitpoint};
use crate::history::{Change, Failure, StateChange};
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::time::Millis;
use crate::turn::Turn;
use crate::waitpoint::{BACK_OFF, Kind, ListensFor};

/// How a step that has ended leads on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    #[default]
    Next,
    /// A condition took one way and not the other.
    Branch { taken: Target, other: Option<Target> },
    /// A timeout or a rejection leads elsewhere.
    Goto(Target),
}

#[derive(Debug, Default)]
pub(crate) struct Completion {
    pub(crate) output: Option<Json>,
    /// The wait that the step was resumed from; its payload is the output if there is no other.
    pub(crate) waitpoint: Option<u32>,
    pub(crate) state: StateChange,
    pub(crate) exit: Exit,
}

impl Completion {
    pub(crate) fn of(output: Json) -> Completion {
        Completion { output: Some(output), ..Completion::default() }
    }
}

pub(crate) fn complete(turn: &mut Turn<'_>, at: StepAddress, completion: Completion) -> Result<(), Refusal> {
    cancel_open_waits(turn, at)?;
    let Completion { output, waitpoint, state, exit } = completion;
    let state = match (state, &turn.run.definition.step(at.step).save_as) {
        // Whatever a step gives is stored where `saveAs` says, also when it came to nothing.
        (StateChange::Nothing, Some(key)) if at.item.is_none() => StateChange::OutputAs(Arc::clone(key)),
        (state, _) => state,
    };
    let not_taken =
        if at.item.is_none() { not_taken(&turn.run.definition, at.step, exit) } else { Vec::new() };
    turn.emit(Change::StepCompleted { at, output, waitpoint, state, not_taken })?;
    match at.item {
        Some(_) => map::item_ended(turn, at),
        None => advance(turn, at.step, exit),
    }
}

/// Ends an attempt that failed: backs off for another, or fails the step.
pub(crate) fn fail_attempt(
    turn: &mut Turn<'_>,
    at: StepAddress,
    failure: Failure,
    retryable: bool,
    retry_after: Option<Millis>,
) -> Result<(), Refusal> {
    let policy = turn.run.defined(at).retry;
    let (attempt, used) = turn.run.step(at).map_or((1, 1), |step| (step.attempt, step.attempts_used()));
    if !retryable || used >= policy.max_attempts {
        return fail_step(turn, at, failure);
    }
    let drawn = turn.random.draw();
    let backoff = retry_after.unwrap_or_else(|| policy.backoff_after(used, drawn)).min(turn.bounds.max_wait);
    let wait = NewWait {
        kind: Kind::Retry,
        resume_at: Some(backoff.after(turn.now)),
        listens_for: ListensFor::Time,
        response: None,
    };
    let opens = new_waitpoint(turn, Some(at), format!("{BACK_OFF}{attempt}").into(), wait);
    turn.emit(Change::StepRetrying { at, attempt, error: failure, opens })
}

/// Fails the step for good; the map of an item, or the run, fails with it.
pub(crate) fn fail_step(turn: &mut Turn<'_>, at: StepAddress, failure: Failure) -> Result<(), Refusal> {
    turn.emit(Change::StepFailed { at, error: failure, stopped: false })?;
    // After the step has failed, so that its history tells what the failure cut off from what was cancelled before.
    cancel_open_waits(turn, at)?;
    match at.item {
        Some(_) => map::item_ended(turn, at),
        None => Ok(()),
    }
}

/// Takes a task away from whoever has it.
pub(crate) fn recall(turn: &mut Turn<'_>, at: StepAddress) {
    if let Some(task) = turn.run.step(at).and_then(|step| step.task.as_ref())
        && task.out
    {
        let lease_epoch = task.lease_epoch;
        turn.after_commit(AfterCommit::Recall { at, lease_epoch });
    }
}

/// How a result changes `state`: merged or stored as the step's kind and its `saveAs` say.
pub(crate) fn result_state(
    run: &Run,
    at: StepAddress,
    output: Option<&Json>,
    updates: Option<BTreeMap<String, Json>>,
) -> Result<StateChange, Failure> {
    if at.item.is_some() {
        return Ok(StateChange::Nothing);
    }
    let step = run.definition.step(at.step);
    let save_as = step.save_as.as_ref();
    let change = match (updates, output, save_as) {
        (Some(updates), _, Some(key)) => {
            let all = updates.iter().map(|(key, value)| (key.clone(), Value::clone(value))).collect();
            StateChange::Set(BTreeMap::from([(key.to_string(), Json::new(Value::Object(all)))]))
        }
        (Some(updates), _, None) => StateChange::Set(updates),
        (None, Some(_), Some(key)) => StateChange::OutputAs(Arc::clone(key)),
        (None, Some(output), None) if step.action.merges_output() => {
            if output.is_object() {
                StateChange::MergeOutput
            } else {
                StateChange::OutputAs(Arc::clone(&step.name))
            }
        }
        (None, _, _) => StateChange::Nothing,
    };
    check_state(run, &change, output)?;
    Ok(change)
}

fn check_state(run: &Run, change: &StateChange, output: Option<&Json>) -> Result<(), Failure> {
    let added = match change {
        StateChange::Nothing => 0,
        StateChange::MergeOutput | StateChange::OutputAs(_) => output.map_or(0, Json::bytes),
        StateChange::Set(values) => values.iter().map(|(key, value)| key.len() + value.bytes()).sum(),
    };
    // Counted as if nothing were replaced: a little strict near the limit, and never a walk over the state.
    if run.state_bytes + added > limits::STATE_BYTES {
        let message = format!("`state` would grow beyond {} bytes", limits::STATE_BYTES);
        return Err(Failure::new("STATE_TOO_LARGE", message));
    }
    Ok(())
}
