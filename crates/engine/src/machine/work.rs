//! What nobody asks the machine for: tasks for pollers that wait, the engine's own steps, leases that ended, timers that are due.

use std::sync::Arc;

use abide_core::board::{IN_PROCESS, lease_ended};
use abide_core::command::{Command, TaskStarted};
use abide_core::definition::Executor;
use abide_core::follow_up::FollowUp;
use abide_core::id::Owner;
use abide_core::run::{Run, Timer};
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_store::{StoredFollowUp, StoredTimer};
use jiff::Timestamp;

use super::claim::{claim_woken, is_over};
use super::{Check, Machine, Then};
use crate::error::Error;
use crate::notify_step;
use crate::round::{Decider, Taken};
use crate::tasks::TaskKey;

/// Tasks whose lease is over, taken away in one pass.
const LATE_TASKS: usize = 256;
/// A task whose lease is over is looked at again after this time, if nothing came of it.
const LATE_HOLD: Millis = Millis(2_000);

impl Machine {
    pub(super) fn take_up_work(&mut self) {
        let now = self.now;
        let loaded = self.alarm.load(&mut *self.store, now.wall, self.cluster.shard());
        if let Err(error) = &loaded {
            tracing::error!(%error, "timers could not be loaded");
        }
        self.watch.timers_loaded(loaded.err().map(|error| error.to_string()));
        let is_time_to_look = self.cluster.is_time_to_look(now.elapsed);
        if is_time_to_look {
            self.look_around();
        }
        self.tell_of_moved();
        let late = self.late_tasks(is_time_to_look);
        // No wait times out while it is not known what is still on its way to it.
        if self.backlog.is_to_load() {
            self.load_backlog();
        }
        let most = if self.backlog.is_in_doubt() { 0 } else { self.round_timers() };
        let due = self.alarm.take_due(now.wall, most.saturating_sub(self.open.pending.due.len()));
        self.refresh(due.iter().map(|timer| timer.run).chain(late.iter().map(|task| task.run)).collect());
        let (mut round, tasks, pending) = self.round();
        claim_woken(&mut round, tasks, pending, now);
        self.do_own_tasks();
        self.fire(due);
        self.take_away(late);
        self.go_on_with_backlog();
    }

    /// Tasks for handlers here, and those that the writer does itself.
    fn do_own_tasks(&mut self) {
        let (mut round, tasks, pending) = self.round();
        while let Some(task) = tasks.next_for_here() {
            match round.perform_after_commit(task) {
                Err(error) if error.passes() => tasks.could_not_read(task),
                Ok(()) | Err(_) => pending.for_here.push(task),
            }
        }
        while let Some(task) = tasks.next_timed() {
            round.renew_allowance();
            let TaskKey { run, at, lease_epoch } = task;
            let command = Command::TaskStarted(TaskStarted::new(at, lease_epoch, IN_PROCESS));
            // Refused when it is not wanted any more.
            let decided = round.decide(run, command, Actor::new("dispatcher"), None);
            match decided.and_then(|_| round.perform_after_commit(task)) {
                Err(error) if error.passes() => tasks.could_not_read(task),
                Ok(()) | Err(_) => pending.timed.push(task),
            }
        }
        while let Some(task) = tasks.next_own() {
            round.renew_allowance();
            let executor = match round.run(task.run) {
                Ok(run) => executor_of(run, task),
                Err(error) if error.passes() => {
                    tasks.could_not_read(task);
                    continue;
                }
                Err(_) => None,
            };
            match executor {
                Some(Executor::Notify) => notify_step::perform(&mut round, task),
                Some(Executor::Handler | Executor::Http | Executor::Llm) => unrendered(&mut round, task),
                None => {}
            }
            pending.own.push(task);
        }
    }

    /// Takes the tasks whose lease is over, where it is time to look for them.
    fn late_tasks(&mut self, is_time_to_look: bool) -> Vec<TaskKey> {
        let now = self.now.wall;
        if !is_time_to_look && self.tasks.next_late().is_none_or(|late| late > now) {
            return Vec::new();
        }
        match self.tasks.board().late(now, LATE_HOLD.after(now), LATE_TASKS) {
            Ok(late) => {
                if late.freed > 0 {
                    self.tasks.may_be_free_anywhere();
                }
                late.taken.into_iter().map(TaskKey::from).collect()
            }
            Err(error) => {
                tracing::error!(%error, "tasks whose lease is over could not be looked for");
                self.in_trouble();
                Vec::new()
            }
        }
    }

    fn take_away(&mut self, late: Vec<TaskKey>) {
        let now = self.now.wall;
        let (mut round, tasks, pending) = self.round();
        for lost in late {
            round.renew_allowance();
            let command = lease_ended(round.run(lost.run).ok(), lost.at, lost.lease_epoch, now);
            let decided = round.decide(lost.run, command, Actor::new("dispatcher"), None);
            if is_over(&mut round, lost, &decided) {
                round.batch.out_of_date.push(lost);
            }
            match decided {
                Err(error) if error.passes() => tasks.could_not_read(lost),
                Ok(_) | Err(_) => pending.late.push(lost),
            }
        }
    }

    fn fire(&mut self, due: Vec<StoredTimer>) {
        let (mut round, _, pending) = self.round();
        let Fired { fired, unread, early } = fire(&mut round, &due);
        pending.fired.extend(fired);
        pending.due.extend(due);
        self.early.extend(early);
        if !unread.is_empty() {
            self.alarm.put_back(unread);
            self.in_trouble();
        }
    }

    /// Goes on with what earlier rounds left, after all that came by itself has had its turn.
    fn go_on_with_backlog(&mut self) {
        let mut aside = Vec::new();
        while self.open.batch.spent.has_room_for_backlog(self.pace)
            && let Some(queued) = self.backlog.next(&self.shares)
        {
            if !self.is_its_turn(&queued.stored) {
                aside.push(queued);
                continue;
            }
            let (mut round, _, _) = self.round();
            match round.adopt(&queued) {
                Taken::Done | Taken::Left => self.open.pending.follow_ups.push(queued),
                Taken::Unread => {
                    aside.push(queued);
                    self.in_trouble();
                    break;
                }
                Taken::Check(definition, input) => {
                    let workspace = queued.stored.workspace;
                    let then = Then::FollowUp(workspace, queued.stored.id);
                    self.backlog.await_check(queued);
                    self.check(Check { workspace, definition, input, then });
                }
            }
        }
        self.open.is_stalled = !aside.is_empty() && !self.backlog.has_work();
        self.backlog.put_back(aside);
    }

    /// Finds what was left for later rounds, here or by nodes that are gone.
    fn load_backlog(&mut self) {
        let loaded = self.backlog.load(&mut *self.store, &self.cluster.other_owners());
        if let Err(error) = &loaded {
            tracing::error!(%error, "what is left to be done could not be looked up");
            self.in_trouble();
        }
        self.watch.backlog_loaded(loaded.err().map(|error| error.to_string()));
    }

    /// Events of one id reach those who wait in the order they came.
    fn is_its_turn(&self, stored: &StoredFollowUp) -> bool {
        match &stored.what {
            FollowUp::Deliver { event_id, .. } => {
                let has_room = !self.open.batch.spent.is_offered_out();
                has_room && self.backlog.is_first(&(stored.workspace, Arc::clone(event_id)), stored.id)
            }
            FollowUp::LookBack { .. } | FollowUp::StartRuns { .. } => !self.open.batch.spent.is_matched_out(),
            FollowUp::StartChild(_)
            | FollowUp::Cancel { .. }
            | FollowUp::TellParent { .. }
            | FollowUp::TellSchedule { .. }
            | FollowUp::Grant { .. }
            | FollowUp::ApplySettings { .. }
            | FollowUp::StartScheduled { .. } => true,
        }
    }
}

fn executor_of(run: &Run, task: TaskKey) -> Option<Executor> {
    run.defined(task.at).action.work().map(|work| work.executor)
}

/// A task that could not be rendered has failed, unless it can be now.
fn unrendered(round: &mut Decider<'_>, task: TaskKey) {
    let TaskKey { run, at, lease_epoch } = task;
    match round.run(run).ok().and_then(|run| run.task(at)) {
        Some(Err(failure)) => {
            let command = notify_step::not_rendered(at, lease_epoch, failure);
            drop(round.decide(run, command, Actor::new("engine"), None));
        }
        Some(Ok(_)) => drop(round.perform_after_commit(task)),
        None => {}
    }
}

/// What became of timers that were due.
#[derive(Default)]
struct Fired {
    /// The instants of those that had an effect.
    fired: Vec<Timestamp>,
    /// Timers whose run could not be read.
    unread: Vec<StoredTimer>,
    /// Timers whose wait has not been offered yet what came in time.
    early: Vec<StoredTimer>,
}

fn fire(round: &mut Decider<'_>, due: &[StoredTimer]) -> Fired {
    let Fired { mut fired, mut unread, mut early } = Fired::default();
    for timer in due {
        round.renew_allowance();
        if let Timer::Waitpoint(number) = timer.timer {
            match round.is_being_offered(timer.run, number) {
                Ok(false) => {}
                Ok(true) => {
                    early.push(*timer);
                    continue;
                }
                Err(error) if error.passes() => {
                    unread.push(*timer);
                    continue;
                }
                // What is wrong with the run is met again when it is decided.
                Err(_) => {}
            }
        }
        let decided = match (Owner::of(timer.run), timer.timer) {
            (Owner::Schedule(schedule), Timer::Waitpoint(number)) => round.fire_schedule(schedule, number),
            (Owner::Limit(limit), _) => round.fire_limit(limit),
            (Owner::Run(_) | Owner::Schedule(_), timed) => {
                let command = Command::TimerFired(timed);
                round.decide(timer.run, command, Actor::new("timer"), None).map(|_| ())
            }
        };
        match decided {
            Ok(()) => fired.push(timer.at),
            // Resolved, moved, ended or forgotten meanwhile.
            Err(Error::Refused(_) | Error::UnknownRun(_) | Error::UnknownSchedule(_)) => {}
            // When it is released, its timers are set again.
            Err(Error::Held { .. }) => {}
            Err(error) if error.passes() => {
                tracing::error!(run = %timer.run, %error, "a timer could not be fired");
                unread.push(*timer);
            }
            // It would be the same the next time, and everybody else would wait for it.
            Err(error) => round.note_damage(timer.run, &error),
        }
    }
    Fired { fired, unread, early }
}
