//! What the machine holds, and what it lets go: a run or a schedule that is damaged, or that takes the process down with it,
//! stands still, and nobody else waits for it.

use abide_core::command::{ChildFinished, ChildOutcome, Command};
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::waitpoint::{Actor, ListensFor};
use abide_store::{Held, Owner, StoredTimer};

use super::{Machine, Output};
use crate::error::Error;
use crate::holds::{ENGINE, workspace_of};
use crate::request::Answer;
use crate::round::Decider;
use crate::watch::DEATHS;

impl Machine {
    /// Takes over what is held, and holds what was decided each time the process ended.
    pub(super) fn recover_holds(&mut self) -> Result<(), Error> {
        self.holds.load(&mut *self.store)?;
        for suspect in std::mem::take(&mut self.suspects) {
            if suspect.deaths >= DEATHS {
                let why = format!("the process ended {} times while it was decided", suspect.deaths);
                self.hold(suspect.owner, why);
            } else {
                let (owner, deaths) = (suspect.owner, suspect.deaths);
                tracing::warn!(%owner, deaths, "was being decided when the process ended");
            }
        }
        Ok(())
    }

    /// What was found to be damaged since the last time.
    pub(super) fn hold_damaged(&mut self) {
        for held in std::mem::take(&mut self.open.damaged) {
            self.keep_hold(held);
        }
    }

    pub(super) fn hold(&mut self, owner: Owner, reason: String) {
        let workspace = workspace_of(&mut *self.store, owner);
        let held = Held { owner, workspace, at: self.now.wall, by: ENGINE.to_owned(), reason };
        if self.holds.add(held.clone()) {
            self.keep_hold(held);
        }
    }

    fn keep_hold(&mut self, held: Held) {
        let owner = held.owner;
        tracing::error!(%owner, reason = held.reason, "held; nothing is decided about it until it is released");
        self.outputs.push(Output::Hold { held, answer: None });
    }

    /// Somebody wants it to stand still. Answers when that is on disk.
    pub(super) fn hold_asked(&mut self, held: Held, answer: Answer<bool>) {
        let workspace = held.workspace.or_else(|| workspace_of(&mut *self.store, held.owner));
        let held = Held { workspace, ..held };
        self.holds.add(held.clone());
        self.outputs.push(Output::Hold { held, answer: Some(answer) });
    }

    /// Lets it go on from where it is: what came due or was sent meanwhile is looked for. Says whether it was held.
    pub(super) fn unhold(&mut self, owner: Owner) -> Result<bool, Error> {
        let Some(held) = self.holds.remove(owner) else { return Ok(false) };
        if let Err(error) = self.take_up_again(owner) {
            self.holds.add(held);
            return Err(error);
        }
        Ok(true)
    }

    fn take_up_again(&mut self, owner: Owner) -> Result<(), Error> {
        let run = match owner {
            Owner::Run(run) => run,
            // It has no waits of its own, and is never held.
            Owner::Limit(_) => return Ok(()),
            Owner::Schedule(schedule) => {
                let timers = self.round().0.schedule_timers(schedule)?;
                timers.into_iter().for_each(|timer| self.alarm.set(timer));
                return Ok(());
            }
        };
        let run: Run = self.round().0.run(run)?.clone();
        for (at, timer) in run.timers() {
            self.alarm.set(StoredTimer { at, run: run.id, timer });
        }
        self.free_tasks(&run);
        self.round().0.catch_up(&run);
        Ok(())
    }
}

impl Decider<'_> {
    /// What a run that was held did not hear of: events, children that ended, that its parent does not want it any more.
    fn catch_up(&mut self, run: &Run) {
        for wait in run.open_waitpoints() {
            match &wait.listens_for {
                ListensFor::Event(_) => self.look_back_for(run.id, wait.number),
                ListensFor::Child { run_id } => self.hear_of_child(run.id, wait.number, *run_id),
                // It was passed over in line.
                ListensFor::Capacity(request) => {
                    request.asks.iter().for_each(|ask| drop(self.fire_limit(ask.limit)));
                }
                ListensFor::Time
                | ListensFor::Signal { .. }
                | ListensFor::Call { .. }
                | ListensFor::Approval(_)
                | ListensFor::Attempt(_)
                | ListensFor::Starts(_)
                | ListensFor::Code(_) => {}
            }
        }
        if let Some(parent) = run.parent
            && !run.status.has_ended()
            && self.run(parent.run_id).is_ok_and(|parent| parent.status == RunStatus::Cancelled)
        {
            let command = Command::Cancel { reason: Some("its parent was cancelled".to_owned()) };
            drop(self.decide(run.id, command, Actor::new("engine"), None));
        }
    }

    fn hear_of_child(&mut self, parent: RunId, number: u32, child: RunId) {
        let outcome = match self.run(child) {
            Ok(child) => ChildOutcome::of(child),
            Err(_) => None,
        };
        if let Some(outcome) = outcome {
            let command = Command::ChildFinished(ChildFinished { number, outcome });
            drop(self.decide(parent, command, Actor::new("engine"), None));
        }
    }
}
