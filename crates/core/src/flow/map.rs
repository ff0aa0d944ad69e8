//! A map: one step over a list. Items begin in order, as many at a time as `concurrency` allows.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::definition::{Action, Items, Map};
use crate::flow::begin::{begin_anew, expression_failed, overspent};
use crate::flow::end::stop_items;
use crate::flow::finish::{Completion, complete, fail_step, result_state};
use crate::history::{Change, Failure};
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::scope::RunScope;
use crate::status::StepStatus;
use crate::turn::Turn;

/// Begins a map step that has just started, for the first time or because its run is retried.
pub(super) fn begin(turn: &mut Turn<'_>, step: u16, map: &Map) -> Result<(), Refusal> {
    let at = StepAddress::step(step);
    if turn.run.step(at).is_some_and(|state| state.map.is_some()) {
        return begin_again(turn, step);
    }
    match list(turn.run, at, &map.items) {
        Ok(items) => {
            turn.emit(Change::MapStarted { at, items })?;
            fill(turn, step)
        }
        Err(failure) => fail_step(turn, at, failure),
    }
}

/// Begins again the items that failed, or were stopped; those that completed stay.
fn begin_again(turn: &mut Turn<'_>, step: u16) -> Result<(), Refusal> {
    let state = turn.run.step(StepAddress::step(step)).and_then(|state| state.map.as_deref());
    let collects = defined(turn.run, step).is_some_and(|map| map.collect_failures);
    let items = state.into_iter().flat_map(|map| &map.items);
    let again = items.filter(|(_, item)| item.status == StepStatus::Failed && (item.stopped || !collects));
    let again: Vec<u32> = again.map(|(item, _)| *item).collect();
    for item in again {
        begin_anew(turn, StepAddress::item(step, item))?;
    }
    fill(turn, step)
}

fn list(run: &Run, at: StepAddress, items: &Items) -> Result<Json, Failure> {
    let scope = RunScope { run, at };
    let list = match items {
        Items::Template(template) => template.render(&scope),
        Items::Expression(expression) => {
            expression.evaluate(&scope).map(|value| Json::new(value.unwrap_or_default()))
        }
    };
    let list = list.map_err(|error| expression_failed(&error))?;
    match list.as_array().map(Vec::len) {
        Some(count) if count <= limits::MAP_ITEMS => Ok(list),
        Some(count) => {
            let message = format!("the list has {count} items, over the limit of {}", limits::MAP_ITEMS);
            Err(Failure::new("TOO_MANY_ITEMS", message))
        }
        None => Err(Failure::new("NOT_A_LIST", "`items` must give a list")),
    }
}

/// Begins items while there are any and `concurrency` allows; completes the step when all are done.
pub(super) fn fill(turn: &mut Turn<'_>, step: u16) -> Result<(), Refusal> {
    let at = StepAddress::step(step);
    let definition = Arc::clone(&turn.run.definition);
    let Action::Map(defined) = &definition.step(step).action else { return Ok(()) };
    loop {
        let state = turn.run.step(at);
        let Some(map) =
            state.filter(|state| state.status == StepStatus::Running).and_then(|state| state.map.as_ref())
        else {
            return Ok(());
        };
        if map.done == map.len() {
            return complete_map(turn, at);
        }
        if map.next >= map.len() || map.under_way >= defined.concurrency {
            return Ok(());
        }
        if turn.run.holds_work() {
            let known = turn.run.held.contains(&at);
            return if known { Ok(()) } else { turn.emit(Change::StepHeldBack { at }) };
        }
        if let Some(failure) = overspent(turn) {
            stop_items(turn, step, "stopped because the decision was too large")?;
            return fail_step(turn, at, failure);
        }
        let next = map.next;
        begin_anew(turn, StepAddress::item(step, next))?;
    }
}

/// Goes on after an item has ended: begins the next, or fails the map.
pub(super) fn item_ended(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    let step = StepAddress::step(at.step);
    if turn.run.step_status(step) != StepStatus::Running {
        return Ok(());
    }
    let collects = defined(turn.run, at.step).is_some_and(|map| map.collect_failures);
    let item = turn.run.step(at);
    let error = item
        .filter(|item| item.status == StepStatus::Failed && !collects)
        .and_then(|item| item.error.clone());
    match error {
        Some(error) => {
            let name = turn.run.step_name(at);
            stop_items(turn, at.step, &format!("stopped because `{name}` failed"))?;
            let message = format!("{name}: {}", error.message);
            fail_step(turn, step, Failure { message, ..error })
        }
        None => {
            turn.agenda.push_back(step);
            Ok(())
        }
    }
}

fn complete_map(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    let items = turn.run.step(at).and_then(|state| state.map.as_ref()).map(|map| &map.items);
    let results =
        items.into_iter().flat_map(|items| items.values()).map(|item| match (&item.output, &item.error) {
            (Some(output), _) => Value::clone(output),
            (None, Some(error)) => json!({ "error": error }),
            (None, None) => Value::Null,
        });
    let output = Json::new(Value::Array(results.collect()));
    if output.bytes() > limits::STATE_BYTES {
        let message = format!("the results are larger than {} bytes", limits::STATE_BYTES);
        return fail_step(turn, at, Failure::new("STATE_TOO_LARGE", message));
    }
    match result_state(turn.run, at, Some(&output), None) {
        Ok(state) => complete(turn, at, Completion { state, ..Completion::of(output) }),
        Err(failure) => fail_step(turn, at, failure),
    }
}

fn defined(run: &Run, step: u16) -> Option<&Map> {
    if let Action::Map(map) = &run.definition.step(step).action { Some(map) } else { None }
}
