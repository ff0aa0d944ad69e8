//! Whether a run could go on with another version of its workflow: its past must be one that the other version could
//! have led to, and what it has under way must be asked for in the same way. Pure: nothing here changes a run, and
//! the input, which takes a schema, is checked by the caller.
//!
//! ```text
//!   fit(run, definition) ──▶ Ok(Plan: which step becomes which)   or   Err(every misfit, with step and code)
//!                                    └──▶ WORKFLOW_MOVED (command::Move), folded by `apply`
//! ```

mod misfit;
mod order;
mod past;
mod under_way;

use std::collections::BTreeMap;

use crate::definition::{Definition, Step};
use crate::id::StepAddress;
use crate::run::{Run, StepState};
use crate::status::{RunStatus, StepStatus};

pub use misfit::{Misfit, MisfitCode};

/// How a run goes on with another definition.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Which step of the old definition is which of the new one, for all steps that something has happened to.
    pub(crate) steps: BTreeMap<u16, u16>,
    /// The steps of the new definition that are not taken; only in a graph.
    pub(crate) not_taken: Vec<u16>,
    /// The steps of the new definition that the run has passed by.
    pub(crate) skips: Vec<u16>,
    /// The steps of the new definition whose turn it is.
    pub(crate) ready: Vec<u16>,
}

/// Everything that keeps a run from going on with another definition, as far as its past says; nothing if it fits.
pub fn misfits(run: &Run, to: &Definition) -> Vec<Misfit> {
    plan(run, to).err().unwrap_or_default()
}

pub(crate) fn plan(run: &Run, to: &Definition) -> Result<Plan, Vec<Misfit>> {
    if run.definition.name() != to.name() {
        return Err(vec![Misfit::of_run(
            MisfitCode::OtherWorkflow,
            format!("the run is one of `{}`, and this is `{}`", run.definition.name(), to.name()),
        )]);
    }
    let mut misfits = Vec::new();
    let steps = map_steps(run, to, &mut misfits);
    let mut plan = Plan { steps, ..Plan::default() };
    // Before its first step every order is possible; and without all its steps none can be told.
    let is_whole = misfits.iter().all(|misfit| match misfit.code {
        MisfitCode::WaitChanged
        | MisfitCode::WorkChanged
        | MisfitCode::ChildChanged
        | MisfitCode::MapChanged
        | MisfitCode::InvalidInput => true,
        MisfitCode::OtherWorkflow
        | MisfitCode::OrderChanged
        | MisfitCode::StepMissing
        | MisfitCode::StepTypeChanged
        | MisfitCode::StepOutOfOrder
        | MisfitCode::StepNotDone => false,
    });
    if run.status != RunStatus::Pending && is_whole {
        order::arrange(run, to, &mut plan, &mut misfits);
    }
    if misfits.is_empty() { Ok(plan) } else { Err(misfits) }
}

/// Finds every step that something has happened to in the new definition, by its name.
fn map_steps(run: &Run, to: &Definition, misfits: &mut Vec<Misfit>) -> BTreeMap<u16, u16> {
    let mut mapped = BTreeMap::new();
    for (index, state) in run.steps.iter().filter(|(_, state)| is_touched(state)) {
        let old = run.definition.step(*index);
        let Some(found) = to.index_of(&old.name) else {
            // Nothing of a step that was passed by is left to be looked at.
            if state.status != StepStatus::Skipped || !state.waits.is_empty() {
                misfits.push(Misfit::of(
                    &old.name,
                    MisfitCode::StepMissing,
                    format!("the run has {}, and the new version has no such step", told(state)),
                ));
            }
            continue;
        };
        let new = to.step(found);
        if !past::is_same_kind(&old.action, &new.action) {
            misfits.push(Misfit::of(
                &old.name,
                MisfitCode::StepTypeChanged,
                format!("the run has {}, and in the new version it is of another type", told(state)),
            ));
            continue;
        }
        misfits.extend(changed(run, StepAddress::step(*index), old, new));
        mapped.insert(*index, found);
    }
    mapped
}

/// Whether something has happened to the step itself, not only to steps before it.
fn is_touched(state: &StepState) -> bool {
    state.visit > 0 || state.status != StepStatus::Pending || !state.waits.is_empty()
}

fn told(state: &StepState) -> &'static str {
    match state.status {
        StepStatus::Pending => "a resume kept for it",
        StepStatus::Running | StepStatus::Waiting => "begun it",
        StepStatus::Completed => "completed it",
        StepStatus::Failed => "failed in it",
        StepStatus::Skipped => "skipped it",
        StepStatus::Cancelled => "cancelled it",
    }
}

fn changed(run: &Run, at: StepAddress, old: &Step, new: &Step) -> Option<Misfit> {
    let state = run.step(at)?;
    let (code, reason) = match state.status {
        StepStatus::Running | StepStatus::Waiting | StepStatus::Failed => {
            under_way::changed(run, at, &old.action, &new.action)
        }
        StepStatus::Completed => past::changed(&old.action, &new.action),
        StepStatus::Pending | StepStatus::Skipped | StepStatus::Cancelled => None,
    }?;
    Some(Misfit::of(&old.name, code, reason))
}
