//! Takes a run that stands still over to another version of its workflow, where its past fits. What has ended stays ended,
//! what waits goes on waiting, and what the new version lets begin begins.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::command::Reply;
use crate::definition::{Definition, Order};
use crate::effect::RoundEffect;
use crate::history::{Change, DefinitionRef};
use crate::id::StepAddress;
use crate::limits;
use crate::moving;
use crate::refusal::{Refusal, within};
use crate::run::Run;
use crate::status::RunStatus;
use crate::turn::Turn;
use crate::waitpoint::Kind;

/// Asks a run to go on with another version of its workflow. The caller has checked that the run's input satisfies
/// that version's `inputSchema`.
#[derive(Clone, Debug)]
pub struct Move {
    /// The version to go on with.
    pub to: Arc<Definition>,
}

impl PartialEq for Move {
    fn eq(&self, other: &Move) -> bool {
        self.to.document == other.to.document
    }
}

impl Serialize for Move {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.target().serialize(serializer)
    }
}

impl Move {
    fn target(&self) -> DefinitionRef {
        DefinitionRef { name: self.to.name().into(), version: self.to.version().into() }
    }

    /// Whether the run could be moved as it is; refused as the move itself would be.
    pub fn check(&self, run: &Run) -> Result<(), Refusal> {
        if run.status.has_ended() {
            return Err(Refusal::RunEnded(run.status));
        }
        check_stands_still(run)?;
        moving::plan(run, &self.to).map(|_| ()).map_err(Refusal::DoesNotFit)
    }

    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        turn.refuse_ended()?;
        let (from, to) = (turn.run.definition_ref.clone(), self.target());
        if from == to {
            return Ok(Reply::Unchanged);
        }
        check_stands_still(turn.run)?;
        within("the number of times the run was moved", turn.run.past_versions.len() + 1, limits::MOVES)?;
        let plan = moving::plan(turn.run, &self.to).map_err(Refusal::DoesNotFit)?;
        let awaited = turn.run.definition.awaits();
        let awaits_more = self.to.awaits().iter().any(|event| !awaited.contains(event));
        let moving::Plan { steps, not_taken, skips, ready } = plan;
        let steps = steps.into_iter().collect();
        turn.emit_with(Change::WorkflowMoved { from, to, steps, not_taken, awaits_more }, &[self.to])?;
        for step in skips {
            turn.emit(Change::StepSkipped { at: StepAddress::step(step) })?;
        }
        turn.agenda.extend(ready.into_iter().map(StepAddress::step));
        if turn.run.definition.order == Order::Graph {
            look_back_again(turn);
        }
        Ok(Reply::Done)
    }
}

/// Offers open waits the stored events again: which wait an event is for follows from the order of the steps, and the
/// order has changed.
fn look_back_again(turn: &mut Turn<'_>) {
    let events = turn.run.open_waitpoints().filter(|wait| wait.kind == Kind::Event);
    let open: Vec<u32> = events.map(|wait| wait.number).collect();
    open.into_iter().for_each(|number| turn.in_round(RoundEffect::LookBack { number }));
}

/// Refuses to move a run that is at work, or about to fail.
fn check_stands_still(run: &Run) -> Result<(), Refusal> {
    match run.status {
        RunStatus::Pending | RunStatus::Waiting | RunStatus::Paused
            if run.running == 0 && run.failure.is_none() =>
        {
            Ok(())
        }
        RunStatus::Pending
        | RunStatus::Running
        | RunStatus::Waiting
        | RunStatus::Paused
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::Cancelled => Err(Refusal::NotWaiting(run.status)),
    }
}
