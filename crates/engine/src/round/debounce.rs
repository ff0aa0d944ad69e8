//! Starts that come shortly after each other, in a round: which run collects them is looked up here, and what becomes of a
//! start is decided in the core. The run and the room that it has are written in one commit, and so are each further start
//! and the moved wait: none is lost, none is there twice, and two nodes never open two.

use std::sync::Arc;

use abide_core::capacity::Holder;
use abide_core::command::{Command, Debounce};
use abide_core::debounce::{Admission, admission, ask};
use abide_core::definition::Definition;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::json::Json;
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::waitpoint::Actor;

use super::Decider;
use crate::error::Error;

/// What becomes of a start by the `debounce` of its workflow.
#[derive(Clone)]
pub(super) enum Debounced {
    /// The workflow has none.
    Never,
    /// The start opens a run that collects those of this key.
    Opens(Arc<str>),
    /// The start was added to this run.
    Into(RunId),
}

impl Debounced {
    /// The key of the starts that a new run collects.
    pub(super) fn opens(self) -> Option<Arc<str>> {
        match self {
            Debounced::Opens(key) => Some(key),
            Debounced::Never | Debounced::Into(_) => None,
        }
    }
}

impl Decider<'_> {
    /// Adds a start to the run that collects those of its key, if there is one that takes it.
    pub(super) fn debounce(
        &mut self,
        workspace: WorkspaceId,
        definition: &Definition,
        input: &Json,
        by: &Actor,
    ) -> Result<Debounced, Error> {
        let Some(debounce) = &definition.debounce else { return Ok(Debounced::Never) };
        let malformed = |error: abide_core::expression::EvaluationError| Refusal::Malformed {
            pointer: "/input",
            message: error.to_string(),
        };
        let key = debounce.key(input).map_err(malformed)?;
        let limit = ask(workspace, definition.name(), &key).limit;
        let Some(run) = self.first_holder(limit)? else { return Ok(Debounced::Opens(key)) };
        let now = self.now;
        let admission = match self.run(run) {
            Ok(run) => admission(run, definition.version(), input, now),
            Err(error) if error.passes() => return Err(error),
            // One that is held or damaged keeps nobody from starting another.
            Err(_) => Admission::Gone,
        };
        match admission {
            Admission::Collects(number) => {
                let collect = Debounce::Collect { number, input: input.clone() };
                self.decide(run, Command::Debounce(collect), by.clone(), None)?;
                return Ok(Debounced::Into(run));
            }
            Admission::Begins(number) => {
                let begin = Command::Debounce(Debounce::Begin { number });
                self.decide(run, begin, by.clone(), None)?;
            }
            Admission::Gone => self.release_room(run, None, limit)?,
        }
        Ok(Debounced::Opens(key))
    }

    /// A new run collects the starts of a key: nobody else does.
    pub(super) fn begin_collecting(&mut self, run: &Run, key: &Arc<str>) {
        let (now, ask) = (self.now, ask(run.workspace, &run.definition_ref.name, key));
        let holder = Holder { run: run.id, at: None, since: now };
        match self.limit_of(run.workspace, now, &ask) {
            Ok(delta) => delta.change(now, |limit| limit.take(&ask, holder, now)),
            Err(error) => drop(self.batch.poisoned.get_or_insert(error)),
        }
    }
}
