//! `onFailure` and `onCancel`: each end of a run that has a handler starts one run that calls it, in the commit of that end,
//! and nothing else does.

use std::collections::BTreeMap;

use abide_core::effect::{ChildStart, RoundEffect};
use abide_core::history::Change;
use abide_core::id::RunId;
use abide_core::run::Run;
use serde_json::Value;

use crate::store::{Store, Write};
use crate::world::Check;

/// The hooks that were started, by the run that calls the handler: for whom.
#[derive(Default)]
pub(super) struct Hooks {
    started: BTreeMap<RunId, RunId>,
}

impl Hooks {
    pub(super) fn committed(&mut self, write: &Write) -> Check {
        let run = &write.run;
        let wanted = write.outcome.records.iter().filter_map(|record| {
            if let Change::WorkflowFailed { handled_by, .. } = &record.change {
                Some(("onFailure", "FAILED", *handled_by))
            } else if let Change::WorkflowCancelled { handled_by, .. } = &record.change {
                Some(("onCancel", "CANCELLED", *handled_by))
            } else {
                None
            }
        });
        let mut asked: Vec<&ChildStart> = write.outcome.in_round.iter().filter_map(hook_of).collect();
        for (field, status, handled_by) in wanted {
            // As the document says it, and not as it was compiled.
            let document = serde_json::to_value(&run.definition.document).unwrap_or_default();
            let is_named = document[field].is_object();
            match (is_named, handled_by) {
                (false, None) => continue,
                (false, Some(_)) => return Err(format!("{}: {field} of nobody was called", run.id)),
                (true, None) => return Err(format!("{}: {status}, and {field} was not called", run.id)),
                (true, Some(hook)) => {
                    let place = asked.iter().position(|child| child.run_id == hook);
                    let place =
                        place.ok_or_else(|| format!("{}: {hook} is named and not started", run.id))?;
                    let child = asked.remove(place);
                    check_start(run, field, child)?;
                    if self.started.insert(hook, run.id).is_some() {
                        return Err(format!("{}: {hook} was started before", run.id));
                    }
                }
            }
        }
        match asked.first() {
            Some(child) => Err(format!("{}: {} is a hook for no end of it", run.id, child.run_id)),
            None => Ok(()),
        }
    }

    /// When all is over, every hook that was asked for has run, and each run of a hook was asked for.
    pub(super) fn check_ended(&self, store: &Store) -> Check {
        for (hook, of) in &self.started {
            let stored = store.runs.get(hook).ok_or_else(|| format!("{of}: its hook {hook} never began"))?;
            let parent = stored.run.parent.map(|parent| parent.run_id);
            if parent != Some(*of) {
                return Err(format!("{hook} is a hook of {of} and a child of {parent:?}"));
            }
            if stored.run.handled_by.is_some() {
                return Err(format!("{hook} is a hook, and has one itself"));
            }
        }
        let is_hook = |name: &str| name.starts_with("$onFailure/") || name.starts_with("$onCancel/");
        let runs = store.runs.values().map(|stored| &stored.run);
        match runs
            .into_iter()
            .find(|run| is_hook(run.definition.name()) && !self.started.contains_key(&run.id))
        {
            Some(run) => Err(format!("{} calls a handler for no end of a run", run.id)),
            None => Ok(()),
        }
    }
}

fn hook_of(effect: &RoundEffect) -> Option<&ChildStart> {
    if let RoundEffect::StartChild(child) = effect
        && child.definition.starts_with("$on")
    {
        Some(child)
    } else {
        None
    }
}

fn check_start(run: &Run, field: &str, child: &ChildStart) -> Check {
    let name = format!("${field}/{}", run.definition.name());
    let of: Option<&Value> = child.input.given().and_then(|input| input.pointer("/run/id"));
    let is_right = *child.definition == *name
        && child.is_hook
        && child.parent.run_id == run.id
        && child.parent.waitpoint.is_none()
        && of.and_then(Value::as_str) == Some(run.id.to_string().as_str());
    if is_right { Ok(()) } else { Err(format!("{}: {field} is called wrongly: {child:?}", run.id)) }
}
