//! Inputs whose check is more than a moment's work: they are checked beside the machine, and what waited for the verdict goes on.

use std::sync::Arc;

use abide_core::definition::Definition;

use super::{Check, Machine, Output, Then};
use crate::backlog::Verdict;
use crate::error::Error;
use crate::request::{Decide, Request};
use crate::start::StartRun;

impl Machine {
    /// Has an input checked where nobody waits for it.
    pub(super) fn check(&mut self, check: Check) {
        self.outputs.push(Output::Check(check));
    }

    /// Whoever waited for the verdict goes on.
    pub(super) fn was_checked(&mut self, definition: Arc<Definition>, result: Result<(), Error>, then: Then) {
        let request = match then {
            Then::FollowUp(workspace, id) => {
                let result = match result {
                    Err(Error::Refused(refusal)) => Err(refusal),
                    Ok(()) | Err(_) => Ok(()),
                };
                return self.backlog.was_checked(workspace, id, Verdict { definition, result });
            }
            Then::Request(request) => *request,
        };
        match (request, result) {
            (Request::Decide(Decide::Start { start, listener, answer }), Ok(())) => {
                let start = Box::new(StartRun { checked: Some(definition), ..*start });
                self.again.push_back(Decide::Start { start, listener, answer }.into());
            }
            (Request::Decide(Decide::Start { answer, .. }), Err(error)) => drop(answer.send(Err(error))),
            (Request::Decide(Decide::StartMany { workspace, mut starts, checking, answer }), verdict) => {
                if let Some(start) = starts.get_mut(checking) {
                    *start = match (std::mem::replace(start, Err(Error::Stopped)), verdict) {
                        (Ok(start), Ok(())) => Ok(StartRun { checked: Some(definition), ..start }),
                        (Ok(_), Err(error)) => Err(error),
                        (Err(error), _) => Err(error),
                    };
                }
                self.again.push_back(Decide::StartMany { workspace, starts, checking, answer }.into());
            }
            (Request::Decide(Decide::Schedule { workspace, order, by, key, checked: _, answer }), Ok(())) => {
                let checked = Some(definition);
                self.again.push_back(Decide::Schedule { workspace, order, by, key, checked, answer }.into());
            }
            (Request::Decide(Decide::Schedule { answer, .. }), Err(error)) => drop(answer.send(Err(error))),
            // Nothing else has an input.
            (other, _) => self.again.push_back(other),
        }
    }
}
