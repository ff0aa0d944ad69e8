//! Child runs that steps start, and wait for.

use std::sync::Arc;

use serde_json::json;

use crate::definition::Action;
use crate::effect::{ChildInput, ChildStart, RoundEffect};
use crate::flow::begin::expression_failed;
use crate::flow::finish::{Completion, complete, fail_step};
use crate::flow::later::{self, Rendered};
use crate::flow::wait::{NewWait, next_number, open_own_wait};
use crate::history::{Change, Failure, Parent, StartedOn};
use crate::id::{RunId, StepAddress};
use crate::limits;
use crate::refusal::Refusal;
use crate::run::{Run, defined};
use crate::turn::Turn;
use crate::waitpoint::{Kind, ListensFor};

/// Starts another child for a step whose child failed.
pub(crate) fn start_child_again(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    turn.emit(Change::StepResumed { at })?;
    start_child(turn, at)
}

pub(super) fn start_child(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    let workflow = Arc::clone(&turn.run.definition);
    let Action::Child { definition, version, input, wait } = &defined(&workflow, at).action else {
        return Ok(());
    };
    if let Err(failure) = check_depth(turn.run) {
        return fail_step(turn, at, failure);
    }
    // Once the step is over, what follows it may change the state.
    let input = match later::render_now_or_later(turn, at, input, *wait) {
        Ok(Rendered::Now(input)) => ChildInput::Given(input),
        Ok(Rendered::Later) => ChildInput::Of(at),
        Err(error) => return fail_step(turn, at, expression_failed(&error)),
    };
    let run_id = RunId::new(turn.now, turn.random.draw_u128());
    let number = next_number(turn.run);
    let waits = if *wait { ParentWaits::UntilEnded(number) } else { ParentWaits::Not };
    let (definition, version, tags) = (Arc::clone(definition), version.clone(), Vec::new());
    start_child_run(turn, run_id, waits, NewChild { definition, version, input, tags, started_on: None });
    if *wait {
        let listens_for = ListensFor::Child { run_id };
        open_own_wait(
            turn,
            at,
            NewWait { kind: Kind::Child, resume_at: None, listens_for, response: None },
            Vec::new(),
        )
    } else {
        complete(turn, at, Completion::of(json!({ "runId": run_id }).into()))
    }
}

/// Refuses a child of a run that is too deep already.
pub(super) fn check_depth(run: &Run) -> Result<(), Failure> {
    let depth = child_depth(run);
    if depth <= limits::CHILD_DEPTH {
        return Ok(());
    }
    let message = format!("runs start runs {depth} deep, over the limit of {}", limits::CHILD_DEPTH);
    Err(Failure::new("TOO_DEEP", message))
}

/// How many runs deep a child of this run is: runs that start runs that start runs …
pub(crate) fn child_depth(run: &Run) -> u32 {
    run.parent.map_or(0, |parent| parent.depth) + 1
}

/// What a parent run waits for, and with which of its waitpoints.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParentWaits {
    Not,
    /// The parent has ended, and the child calls its `onFailure` or `onCancel` handler.
    NoLonger,
    /// The parent has ended, and the child takes its place: it is no deeper than the parent was.
    Replaced,
    /// The parent's waitpoint of this number ends when the child is started.
    UntilStarted(u32),
    /// The parent's waitpoint of this number ends when the child ends.
    UntilEnded(u32),
}

/// A child run that is to be started: what of, and with what.
pub(crate) struct NewChild {
    pub(crate) definition: Arc<str>,
    pub(crate) version: Option<Arc<str>>,
    pub(crate) input: ChildInput,
    pub(crate) tags: Vec<Arc<str>>,
    pub(crate) started_on: Option<StartedOn>,
}

/// Asks for a child run, which resolves the parent's waitpoint as `waits` says.
pub(crate) fn start_child_run(turn: &mut Turn<'_>, run_id: RunId, waits: ParentWaits, child: NewChild) {
    let NewChild { definition, version, input, tags, started_on } = child;
    let (for_start, for_end) = match waits {
        ParentWaits::Not | ParentWaits::NoLonger | ParentWaits::Replaced => (None, None),
        ParentWaits::UntilStarted(number) => (Some(number), None),
        ParentWaits::UntilEnded(number) => (None, Some(number)),
    };
    let depth = child_depth(turn.run);
    let parent = Parent {
        run_id: turn.run.id,
        waitpoint: for_end.map(|number| turn.run.waitpoint_id(number)),
        depth: if matches!(waits, ParentWaits::Replaced) { depth - 1 } else { depth },
        root: Some(turn.run.root()),
    };
    let (workspace, started_by) = (turn.run.workspace, turn.run.started_by.clone());
    let tells = for_start.map(|number| turn.run.waitpoint_id(number));
    let is_hook = matches!(waits, ParentWaits::NoLonger);
    let child = ChildStart {
        run_id,
        workspace,
        definition,
        version,
        input,
        tags,
        parent,
        tells,
        is_hook,
        started_on,
        started_by,
    };
    turn.in_round(RoundEffect::StartChild(Box::new(child)));
}
