//! The end of a world: no more faults, everything that is under way is brought to its end. A run that can go on
//! must go on, and nothing acknowledged may have been missed.

use abide_core::command::{Command, TaskCompleted};
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waiting_for::waiting_for;
use abide_core::waitpoint::{Kind, ListensFor};
use serde_json::json;

use crate::inspector::groups::shared_deadline;
use crate::world::{Check, Request, World};

/// Far more rounds than the longest of these workflows needs.
const ROUNDS: u32 = 2_000;

impl World {
    pub(crate) fn quiesce(&mut self) -> Check {
        self.calm = true;
        self.in_hand.clear();
        self.tell(|| "the world calms down".to_owned());
        for _ in 0..ROUNDS {
            while !self.unanswered.is_empty() {
                self.ask_again()?;
            }
            let before = self.report.records;
            self.do_what_is_due()?;
            if self.report.records != before {
                continue;
            }
            self.check_nothing_missed()?;
            let live: Vec<RunId> = self.live_runs();
            if live.is_empty() {
                return self.inspector.check_ended(&self.store);
            }
            if !self.jump_to_next_timer() && !self.end_some_wait(&live)? {
                let run = &self.store.runs[&live[0]].run;
                let waits: Vec<String> = waiting_for(run).iter().map(ToString::to_string).collect();
                return Err(format!("{} is {} and nothing will ever move it: {waits:?}", run.id, run.status));
            }
        }
        Err("the world does not come to rest".to_owned())
    }

    fn live_runs(&self) -> Vec<RunId> {
        self.store
            .runs
            .iter()
            .filter(|(_, stored)| !stored.run.status.has_ended())
            .map(|(id, _)| *id)
            .collect()
    }

    fn do_what_is_due(&mut self) -> Check {
        while !self.store.outbox.is_empty() {
            self.run_errands()?;
        }
        while let Some(index) = self.store.undelivered.first().copied() {
            self.deliver(index)?;
        }
        for run in self.live_runs() {
            if self.store.runs[&run].run.pausing {
                self.submit(Request { run, command: Command::Unpause, by: "operator", key: None })?;
            }
        }
        let tasks: Vec<_> =
            self.store.tasks.iter().map(|((run, at), row)| (*run, *at, row.lease_epoch)).collect();
        for (run, at, lease_epoch) in tasks {
            let output = json!({ "done": true }).into();
            let command =
                Command::TaskCompleted(TaskCompleted { at, lease_epoch, output, state_updates: None });
            self.submit(Request { run, command, by: "worker", key: None })?;
        }
        self.fire_timers()
    }

    fn jump_to_next_timer(&mut self) -> bool {
        let timers = self.store.runs.values().flat_map(|stored| stored.run.timers());
        let next = timers.map(|(at, _)| at).filter(|at| *at > self.now).min();
        if let Some(next) = next {
            self.now = next;
        }
        next.is_some()
    }

    fn end_some_wait(&mut self, live: &[RunId]) -> Check<bool> {
        let open: Vec<(RunId, u32)> = live
            .iter()
            .flat_map(|id| {
                let waits = self.store.runs[id].run.open_waitpoints();
                waits.filter(|wait| wait.kind != Kind::Child).map(|wait| (*id, wait.number))
            })
            .collect();
        // Nobody without the right to decide ends what stands beside an approval.
        let is_approval = |(run, number): &&(RunId, u32)| {
            let wait = self.store.runs[run].run.waitpoint(*number);
            wait.is_some_and(|wait| wait.kind == Kind::Approval)
        };
        let first = open.iter().find(is_approval).or(open.first()).copied();
        let Some((run, number)) = first else { return Ok(false) };
        self.end_wait(run, number)?;
        self.advance(Millis(1));
        Ok(true)
    }

    /// R5: with everything delivered, no wait is open for something that has come.
    fn check_nothing_missed(&self) -> Check {
        for stored in self.store.runs.values().filter(|stored| !stored.run.status.has_ended()) {
            let run = &stored.run;
            for wait in run.open_waitpoints().filter(|wait| !wait.is_due(self.now)) {
                // Where the clock went back, an event may have been received after a deadline that is still to come.
                let closes_at = wait.resume_at.into_iter().chain(shared_deadline(run, wait)).min();
                let in_time = |received| closes_at.is_none_or(|deadline| received < deadline);
                let mut events = self.store.events.iter().filter(|event| in_time(event.received_at));
                if let Some(missed) = events.find(|event| self.inspector.is_for(run, wait.number, event)) {
                    return Err(format!("R5b: {} missed {}", run.waitpoint_id(wait.number), missed.id));
                }
                if let ListensFor::Signal { signal_type } = &wait.listens_for
                    && run.mailbox().any(|it| it.signal_type == *signal_type && in_time(it.received_at))
                {
                    return Err(format!("R5a: {} missed a signal", run.waitpoint_id(wait.number)));
                }
            }
            if run.status == RunStatus::Paused {
                return Err(format!("R18: {} stays PAUSED after it was unpaused", run.id));
            }
        }
        Ok(())
    }
}
