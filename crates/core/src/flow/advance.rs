//! From one step to the next: the written sequence with its jumps, and the graph.

use std::sync::Arc;

use crate::definition::{Definition, Order, Target};
use crate::flow::finish::Exit;
use crate::history::Change;
use crate::id::StepAddress;
use crate::refusal::Refusal;
use crate::turn::Turn;

/// Puts what follows a settled step on the agenda.
pub(crate) fn advance(turn: &mut Turn<'_>, step: u16, exit: Exit) -> Result<(), Refusal> {
    let definition = Arc::clone(&turn.run.definition);
    match definition.order {
        Order::Sequence => {
            let target = match exit {
                Exit::Next => definition.step(step).next,
                Exit::Branch { taken, .. } | Exit::Goto(taken) => taken,
            };
            let (next, last_skipped) = match target {
                Target::Step(next) => (Some(next), next),
                Target::End => (None, u16::try_from(definition.steps.len()).expect("at most limits::STEPS")),
            };
            for skipped in step + 1..last_skipped {
                turn.emit(Change::StepSkipped { at: StepAddress::step(skipped) })?;
            }
            turn.agenda.extend(next.map(StepAddress::step));
        }
        Order::Graph => {
            let ready = definition.step(step).before.iter().copied().filter(|after| {
                let settled =
                    turn.run.step(StepAddress::step(*after)).map_or(0, |state| state.settled_before);
                usize::from(settled) == definition.step(*after).after.len()
            });
            turn.agenda.extend(ready.map(StepAddress::step));
        }
    }
    Ok(())
}

/// In a graph, whether the way to this step was not taken.
pub(crate) fn is_not_taken(turn: &Turn<'_>, step: u16) -> bool {
    let definition = &turn.run.definition;
    let state = turn.run.step(StepAddress::step(step));
    match definition.order {
        Order::Sequence => false,
        Order::Graph => {
            let has_before = !definition.step(step).after.is_empty();
            has_before && state.is_none_or(|state| state.untaken || state.taken_before == 0)
        }
    }
}

/// In a graph, the steps after this one that are not taken when it ends this way.
pub(crate) fn not_taken(definition: &Definition, step: u16, exit: Exit) -> Vec<u16> {
    match definition.order {
        Order::Sequence => Vec::new(),
        Order::Graph => {
            let step = definition.step(step);
            let only = |target: Target, wanted: bool| {
                step.before
                    .iter()
                    .copied()
                    .filter(move |after| (Target::Step(*after) == target) == wanted)
                    .collect::<Vec<u16>>()
            };
            match exit {
                Exit::Branch { taken: _, other } => other.map(|other| only(other, true)).unwrap_or_default(),
                Exit::Goto(target) => only(target, false),
                Exit::Next => {
                    let exits = step.action.exits();
                    let mut not_taken: Vec<u16> =
                        exits.targets().flat_map(|target| only(target, true)).collect();
                    not_taken.sort_unstable();
                    not_taken.dedup();
                    not_taken
                }
            }
        }
    }
}
