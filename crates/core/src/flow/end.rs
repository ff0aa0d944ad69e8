//! The end of a run: completed, failed or cancelled; nothing of it is left open.

use serde_json::{Map, Value};

use crate::command::ChildOutcome;
use crate::definition::Order;
use crate::effect::RoundEffect;
use crate::expression::EvaluationError;
use crate::flow::begin::expression_failed;
use crate::flow::finish::recall;
use crate::flow::hook::{self, Ending};
use crate::flow::wait::{cancel_open_waits, cancel_wait};
use crate::history::{Change, Failure};
use crate::id::StepAddress;
use crate::json::Json;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::scope::RunScope;
use crate::status::StepStatus;
use crate::turn::Turn;

/// The failure code of steps that were stopped because another step failed.
const RUN_FAILED: &str = "RUN_FAILED";

pub(crate) fn complete_run(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    match output(turn.run) {
        Ok(output) => {
            turn.wake_run()?;
            cancel_the_rest(turn)?;
            turn.emit(Change::WorkflowCompleted { output: output.clone() })?;
            tell_others(turn, ChildOutcome::Completed { output });
            Ok(())
        }
        Err(error) => fail_run(turn, expression_failed(&error)),
    }
}

/// The output of a run: what the definition says; else, in a sequence, the output of the last step that has one; in a
/// graph, that of its one last step, or of all of them by name.
fn output(run: &Run) -> Result<Json, EvaluationError> {
    let of_step = |step: u16| run.step(StepAddress::step(step)).and_then(|step| step.output.clone());
    let definition = &run.definition;
    if let Some(template) = &definition.output {
        return template.render(&RunScope { run, at: StepAddress::step(0) });
    }
    match definition.order {
        Order::Sequence => Ok(run.last_output.and_then(of_step).unwrap_or_else(Json::null)),
        Order::Graph => {
            let leaves: Vec<u16> = (0..)
                .zip(&definition.steps)
                .filter(|(_, step)| step.before.is_empty() && step.action.gives_output())
                .map(|(index, _)| index)
                .collect();
            if let [leaf] = leaves.as_slice() {
                return Ok(of_step(*leaf).unwrap_or_else(Json::null));
            }
            let named = leaves.into_iter().filter_map(|leaf| {
                Some((definition.step(leaf).name.to_string(), Value::clone(&*of_step(leaf)?)))
            });
            Ok(Json::new(Value::Object(named.collect::<Map<_, _>>())))
        }
    }
}

/// Fails the run and stops whatever else was under way; a retry begins it again.
pub(crate) fn fail_run(turn: &mut Turn<'_>, failure: Failure) -> Result<(), Refusal> {
    let because = match &failure.step {
        Some(step) => format!("stopped because step `{step}` failed"),
        None => format!("stopped because the run failed: {}", failure.message),
    };
    turn.wake_run()?;
    for at in active(turn.run) {
        recall(turn, at);
        turn.emit(Change::StepFailed {
            at,
            error: Failure::new(RUN_FAILED, because.clone()),
            stopped: true,
        })?;
        cancel_open_waits(turn, at)?;
    }
    cancel_the_rest(turn)?;
    let handled_by = hook::start(turn, &Ending::Failed(&failure));
    turn.emit(Change::WorkflowFailed { error: failure.clone(), handled_by })?;
    tell_others(turn, ChildOutcome::Failed { error: failure });
    Ok(())
}

pub(crate) fn cancel_run(turn: &mut Turn<'_>, reason: Option<String>) -> Result<(), Refusal> {
    stop_all(turn)?;
    let handled_by = hook::start(turn, &Ending::Cancelled { reason: reason.as_deref() });
    turn.emit(Change::WorkflowCancelled { reason, handled_by })?;
    tell_others(turn, ChildOutcome::Cancelled);
    Ok(())
}

/// Cancels a run that is not to be. It has done nothing that anybody would have to be told of.
pub(crate) fn skip_run(turn: &mut Turn<'_>, reason: String) -> Result<(), Refusal> {
    stop_all(turn)?;
    turn.emit(Change::WorkflowCancelled { reason: Some(reason), handled_by: None })?;
    tell_others(turn, ChildOutcome::Cancelled);
    Ok(())
}

fn stop_all(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    for at in active(turn.run) {
        stop(turn, at)?;
        turn.emit(Change::StepCancelled { at })?;
    }
    cancel_the_rest(turn)
}

/// The step runs that are under way, items before the map that they belong to.
fn active(run: &Run) -> Vec<StepAddress> {
    let mut active: Vec<StepAddress> =
        run.step_runs().filter(|(_, step)| step.status.is_active()).map(|(at, _)| at).collect();
    active.sort_by_key(|at| (at.step, at.item.is_none(), at.item));
    active
}

pub(crate) fn stop(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    recall(turn, at);
    cancel_open_waits(turn, at)
}

/// Cancels waits that belong to no step run: a delayed start, and those for events that would end the run.
fn cancel_the_rest(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let rest: Vec<u32> = turn.run.open.keys().copied().collect();
    rest.into_iter().try_for_each(|number| cancel_wait(turn, number))
}

/// Tells those who wait for the run to end: its parent, its schedule.
fn tell_others(turn: &mut Turn<'_>, outcome: ChildOutcome) {
    if let Some(scheduled) = turn.run.scheduled {
        turn.in_round(RoundEffect::TellSchedule { schedule: scheduled.schedule_id });
    }
    if let Some(waitpoint) = turn.run.parent.and_then(|parent| parent.waitpoint) {
        turn.in_round(RoundEffect::TellParent { waitpoint, outcome });
    }
}

/// Stops the items of a map that are still under way.
pub(crate) fn stop_items(turn: &mut Turn<'_>, step: u16, because: &str) -> Result<(), Refusal> {
    for at in active(turn.run).into_iter().filter(|at| at.step == step && at.item.is_some()) {
        debug_assert_ne!(turn.run.step_status(at), StepStatus::Completed);
        stop(turn, at)?;
        turn.emit(Change::StepFailed { at, error: Failure::new(RUN_FAILED, because), stopped: true })?;
    }
    Ok(())
}
