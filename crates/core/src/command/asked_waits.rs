//! The waits that durable code asks for, checked against its journal: those that it has already, and those to open.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::command::task_suspended::{WaitSpec, check_asked};
use crate::command::wait_for::WaitFor;
use crate::definition::HTTP_CALL;
use crate::effect::{CapacityEffect, ChildInput, RoundEffect};
use crate::flow::{self, NewChild, NewWait, ParentWaits, new_waitpoint};
use crate::history::JournalResult;
use crate::id::{RunId, StepAddress};
use crate::refusal::Refusal;
use crate::turn::Turn;
use crate::waitpoint::{Kind, ListensFor, Waitpoint};

/// Waits that durable code asks for. Nothing of them is recorded yet.
pub(super) struct AskedWaits {
    known: Vec<u32>,
    new: Vec<Opening>,
    children: BTreeMap<RunId, (NewChild, bool)>,
}

/// A wait that is about to be opened for a task.
struct Opening {
    name: Arc<str>,
    wait: NewWait,
    asked: Option<Arc<str>>,
}

impl Turn<'_> {
    /// Checks the waits that a handler asks for beside new entries of its journal.
    pub(super) fn asked_waits(
        &mut self,
        at: StepAddress,
        entries: &[JournalResult],
        waits: Vec<WaitSpec>,
    ) -> Result<AskedWaits, Refusal> {
        self.check_room_for_waits(waits.len())?;
        let mut asked = AskedWaits { known: Vec::new(), new: Vec::new(), children: BTreeMap::new() };
        for spec in waits {
            self.check_wait_name(&spec.name)?;
            if entries.iter().any(|entry| entry.name == spec.name) {
                return Err(Refusal::JournalConflict { name: spec.name.to_string() });
            }
            match self.named_wait(at, &spec.name)? {
                Some(number) => {
                    // Whoever asks for what was created, asks for that, whatever it is.
                    if spec.wait != WaitFor::Created {
                        self.check_same_wait(number, spec.wait.kind(), spec.asked.as_deref())?;
                    }
                    asked.known.push(number);
                }
                None if asked.new.iter().any(|opening| opening.name == spec.name) => {}
                None => {
                    let child = child_of(&spec.wait);
                    let wait = spec.wait.check(self, at)?;
                    if let (Some(child), ListensFor::Child { run_id }) = (child, &wait.listens_for) {
                        asked.children.insert(*run_id, child);
                    }
                    check_asked(spec.asked.as_deref())?;
                    let wait = self.as_it_was_cut_off(at, &spec.name, wait);
                    asked.new.push(Opening { name: spec.name, wait, asked: spec.asked });
                }
            }
        }
        Ok(asked)
    }
}

impl AskedWaits {
    /// The numbers of the waits that there are already, and the waitpoints to open. Their children are asked for.
    pub(super) fn open(self, turn: &mut Turn<'_>, at: StepAddress) -> (Vec<u32>, Vec<Waitpoint>) {
        let AskedWaits { known, new, mut children } = self;
        let numbered = (flow::next_number(turn.run)..).zip(new);
        let opens: Vec<Waitpoint> = numbered
            .map(|(number, Opening { name, wait, asked })| Waitpoint {
                number,
                asked,
                ..new_waitpoint(turn, Some(at), name, wait)
            })
            .collect();
        for wait in &opens {
            if wait.kind == Kind::Capacity {
                turn.in_round(RoundEffect::Capacity(CapacityEffect::Ask { number: wait.number }));
            }
            if let ListensFor::Child { run_id } = &wait.listens_for
                && let Some((child, detached)) = children.remove(run_id)
            {
                let waits = if detached {
                    ParentWaits::UntilStarted(wait.number)
                } else {
                    ParentWaits::UntilEnded(wait.number)
                };
                flow::start_child_run(turn, *run_id, waits, child);
            }
        }
        (known, opens)
    }
}

/// The run that is to be started for a wait, and whether the wait is over when it is started.
fn child_of(wait: &WaitFor) -> Option<(NewChild, bool)> {
    match wait {
        WaitFor::Child { definition, version, input, detached, tags, timeout: _ } => {
            let child = NewChild {
                definition: Arc::clone(definition),
                version: version.clone(),
                input: ChildInput::Given(input.clone()),
                tags: tags.clone(),
                started_on: None,
            };
            Some((child, *detached))
        }
        WaitFor::Http(call) => {
            let child = NewChild {
                definition: HTTP_CALL.into(),
                version: Some(call.version().into()),
                input: ChildInput::Given(call.request()),
                tags: Vec::new(),
                started_on: None,
            };
            Some((child, false))
        }
        WaitFor::Sleep { .. }
        | WaitFor::Instant { .. }
        | WaitFor::Signal { .. }
        | WaitFor::Event { .. }
        | WaitFor::Call { .. }
        | WaitFor::Created
        | WaitFor::RateLimit { .. }
        | WaitFor::Retry { .. }
        | WaitFor::Capacity { .. }
        | WaitFor::Approval { .. } => None,
    }
}
