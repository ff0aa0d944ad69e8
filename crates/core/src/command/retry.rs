//! Retries a failed run: the steps that failed, or were stopped, begin another visit. What completed stays.

use crate::command::Reply;
use crate::definition::Order;
use crate::flow;
use crate::history::Change;
use crate::id::StepAddress;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::status::RunStatus;
use crate::turn::Turn;

pub(super) fn decide(turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
    if turn.run.status != RunStatus::Failed {
        return Err(Refusal::NotFailed(turn.run.status));
    }
    let deadline = turn.run.definition.timeout.map(|timeout| timeout.after(turn.now));
    turn.emit(Change::WorkflowRetried { deadline })?;
    flow::open_guards(turn)?;
    let ready = ready_again(turn.run);
    turn.agenda.extend(ready);
    Ok(Reply::Done)
}

/// Every unsettled step whose turn it is: the first of a sequence, those of a graph with nothing before them.
fn ready_again(run: &Run) -> Vec<StepAddress> {
    let definition = &run.definition;
    let unsettled = (0..)
        .zip(&definition.steps)
        .filter(|(index, _)| !run.step_status(StepAddress::step(*index)).is_settled());
    match definition.order {
        Order::Sequence => unsettled.map(|(index, _)| StepAddress::step(index)).take(1).collect(),
        Order::Graph => unsettled
            .filter(|(index, step)| {
                let settled = run.step(StepAddress::step(*index)).map_or(0, |state| state.settled_before);
                usize::from(settled) == step.after.len()
            })
            .map(|(index, _)| StepAddress::step(index))
            .collect(),
    }
}
