//! What nobody asks the writer for: tasks for pollers that wait, the engine's own steps, leases that ended, timers that are due.

use std::sync::Arc;
use std::time::Instant;

use abide_core::command::{Command, LeaseLoss, LeaseLost, Reply, TaskStarted};
use abide_core::follow_up::FollowUp;
use abide_core::id::ScheduleId;
use abide_core::run::{Run, Timer};
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_store::{StoredFollowUp, StoredTimer};
use jiff::Timestamp;

use super::requests::is_final;
use super::{TROUBLE, Writer, code};
use crate::aftermath::{Aftermath, Pending};
use crate::checker::{Check, Then};
use crate::dispatcher::{Dispatcher, IN_PROCESS, LEASE, ReadyTask};
use crate::error::Error;
use crate::handed::Handed;
use crate::notify_step;
use crate::request::{Answer, Leased, Poll};
use crate::round::{Round, Taken};

/// What the tasks of one poll may take; with more, the rest is for the next one.
const POLL_BYTES: usize = 8 * 1024 * 1024;

impl Writer {
    pub(super) fn take_up_work(&mut self, now: Timestamp) {
        let portion = self.portion();
        let loaded = self.alarm.load(&mut *self.store, now, portion);
        if let Err(error) = &loaded {
            tracing::error!(%error, "timers could not be loaded");
        }
        self.watch.timers_loaded(loaded.err().map(|error| error.to_string()));
        let late = self.look_around(now);
        let room = self.round_timers().saturating_sub(self.open.aftermath.due.len());
        let due = self.alarm.take_due(now, room);
        self.refresh(due.iter().map(|timer| timer.run).chain(late.iter().map(|task| task.run)).collect());
        let (mut round, dispatcher, aftermath) = self.round(now);
        while let Some((poll, answer)) = dispatcher.next_woken() {
            claim(&mut round, dispatcher, poll, answer, aftermath);
        }
        while let Some(task) = dispatcher.next_handed_over() {
            round.hand_over(task);
            aftermath.handed_over.push(task);
        }
        while let Some(task) = dispatcher.next_timed() {
            let ReadyTask { run, at, delivery } = task;
            let command = Command::TaskStarted(TaskStarted::new(at, delivery, IN_PROCESS));
            // Refused when it is not wanted any more.
            if round.decide(run, command, Actor::new("dispatcher"), None).is_ok() {
                round.hand_over(task);
            }
            aftermath.timed.push(task);
        }
        while let Some(task) = dispatcher.next_own() {
            notify_step::perform(&mut round, task);
            aftermath.own.push(task);
        }
        for lost in dispatcher.expired(now).into_iter().chain(late) {
            let run = lost.run;
            let command = match dispatcher.is_shared() {
                true => take_away(round.run(run).ok(), lost, now),
                false => {
                    let ReadyTask { at, delivery, .. } = lost;
                    Command::LeaseLost(LeaseLost { at, delivery, loss: LeaseLoss::Expired })
                }
            };
            let decided = round.decide(run, command, Actor::new("dispatcher"), None);
            if dispatcher.is_shared() && is_stale(&decided) {
                round.decided.out_of_date.push(lost);
            }
            aftermath.expired.push(lost);
        }
        let Fired { fired, unread, early } = fire(&mut round, &due);
        aftermath.fired.extend(fired);
        aftermath.due.extend(due);
        self.early.extend(early);
        if !unread.is_empty() {
            self.alarm.put_back(unread);
            self.trouble_until = Some(Instant::now() + TROUBLE);
        }
        self.go_on_with_backlog(now);
    }

    /// Goes on with what earlier rounds left, after all that came by itself has had its turn.
    fn go_on_with_backlog(&mut self, now: Timestamp) {
        if self.backlog.is_to_load() {
            self.load_backlog();
        }
        let mut aside = Vec::new();
        while self.open.decided.spent.has_room_for_backlog(self.pace)
            && let Some(queued) = self.backlog.next()
        {
            if !self.is_its_turn(&queued.stored) {
                aside.push(queued);
                continue;
            }
            let (mut round, _, _) = self.round(now);
            match round.take_up(&queued) {
                Taken::Done | Taken::Left => self.open.aftermath.follow_ups.push(queued),
                Taken::Check(definition, input) => {
                    let (workspace, then) = (queued.stored.workspace, Then::FollowUp(queued.stored.id));
                    self.backlog.await_check(queued);
                    self.check(Check { workspace, definition, input, then });
                }
            }
        }
        self.open.is_stalled = !aside.is_empty() && !self.backlog.has_work();
        self.backlog.put_back(aside);
    }

    /// Events of one id reach those who wait in the order they came.
    fn is_its_turn(&self, stored: &StoredFollowUp) -> bool {
        match &stored.what {
            FollowUp::Deliver { event_id, .. } => {
                let has_room = !self.open.decided.spent.is_offered_out();
                has_room && self.backlog.is_first(&(stored.workspace, Arc::clone(event_id)), stored.id)
            }
            FollowUp::LookBack { .. } => !self.open.decided.spent.is_matched_out(),
            FollowUp::StartChild(_)
            | FollowUp::Cancel { .. }
            | FollowUp::TellParent { .. }
            | FollowUp::TellSchedule { .. }
            | FollowUp::StartScheduled { .. } => true,
        }
    }

    /// Gives the tasks of this round to pollers that wait for them: a task and its lease are one commit.
    pub(super) fn hand_out(&mut self) {
        if self.stop.is_some() || !self.dispatcher.has_pollers() {
            return;
        }
        let (mut round, dispatcher, aftermath) = self.round(self.clock.now());
        round.decided.hand_out(|run, at, delivery| dispatcher.offer(run, at, delivery));
        while let Some((poll, answer)) = dispatcher.next_woken() {
            claim(&mut round, dispatcher, poll, answer, aftermath);
        }
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

fn fire(round: &mut Round<'_>, due: &[StoredTimer]) -> Fired {
    let Fired { mut fired, mut unread, mut early } = Fired::default();
    for timer in due {
        round.renew_allowance();
        if let Timer::Waitpoint(number) = timer.timer
            && round.is_being_offered(timer.run, number)
        {
            early.push(*timer);
            continue;
        }
        let decided = match (ScheduleId::of(timer.run), timer.timer) {
            (Some(schedule), Timer::Waitpoint(number)) => round.fire_schedule(schedule, number),
            (_, timed) => {
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

/// What becomes of a task whose time with whoever has it is over.
fn take_away(run: Option<&Run>, task: ReadyTask, now: Timestamp) -> Command {
    let ReadyTask { at, delivery, .. } = task;
    let state = run.and_then(|run| run.step(at)).and_then(|step| step.task.as_deref());
    if state.and_then(|state| state.deadline).is_some_and(|deadline| deadline <= now) {
        return Command::TimerFired(Timer::Attempt { at, delivery });
    }
    let worker = state.and_then(|state| state.worker.as_deref());
    // A process that is gone has done the task no harm.
    let loss = if worker == Some(IN_PROCESS) { LeaseLoss::Released } else { LeaseLoss::Expired };
    Command::LeaseLost(LeaseLost { at, delivery, loss })
}

/// Gives a poller what is ready, or lets it wait.
pub(super) fn claim(
    round: &mut Round<'_>,
    dispatcher: &mut Dispatcher,
    poll: Poll,
    answer: Answer<Handed>,
    aftermath: &mut Aftermath,
) {
    let mut leased = Vec::new();
    let mut bytes = 0;
    while leased.len() < poll.most
        && bytes < POLL_BYTES
        && let Some(ready) = dispatcher.take(&poll)
    {
        let ReadyTask { run, at, delivery } = ready;
        let (worker, build) = (Arc::clone(&poll.worker), build_of(&poll));
        let command = Command::TaskStarted(TaskStarted { at, delivery, worker, build, from: None });
        // Refused when it is not wanted any more.
        let decided = round.decide(run, command, Actor::new("worker"), None);
        if dispatcher.is_shared() && is_stale(&decided) {
            round.decided.out_of_date.push(ready);
        }
        if decided.is_ok()
            && let Some(task) = lease(round, dispatcher, &poll, ready)
        {
            bytes += task.task.bytes();
            leased.push(task);
        }
    }
    code::claim(round, dispatcher, &poll, &mut leased);
    if leased.len() >= poll.most || bytes >= POLL_BYTES {
        dispatcher.wake_another(&poll);
    }
    if leased.is_empty() && poll.waits {
        dispatcher.park(poll, answer);
    } else {
        aftermath.answer(Pending::Poll(answer, dispatcher.handed(leased), poll), None);
    }
}

/// Which code a poller has, if it says so.
fn build_of(poll: &Poll) -> Option<Arc<str>> {
    Some(&poll.build).filter(|build| !build.is_empty()).cloned()
}

/// A task that a poller has taken in this round, with its lease.
pub(super) fn lease(
    round: &mut Round<'_>,
    dispatcher: &mut Dispatcher,
    poll: &Poll,
    ready: ReadyTask,
) -> Option<Leased> {
    let ReadyTask { run, at, delivery } = ready;
    let task = match round.run(run).ok()?.task(at)? {
        Ok(task) => task,
        Err(failure) => {
            let command = notify_step::not_rendered(at, delivery, failure);
            drop(round.decide(run, command, Actor::new("engine"), None));
            return None;
        }
    };
    let asked = Millis::try_from(poll.lease).unwrap_or(LEASE);
    let length = task.heartbeat.unwrap_or(asked);
    let worker = (poll.workspace, Arc::clone(&poll.worker));
    let leased_until = dispatcher.lease(ready, round.now, length, worker);
    if dispatcher.is_shared() {
        round.decided.leases.insert((run, at), length);
    }
    Some(Leased { task, at, leased_until })
}

/// Whether the delivery was over before.
fn is_stale(decided: &Result<Reply, Error>) -> bool {
    decided.is_err() && (is_final(decided) || matches!(decided, Err(Error::UnknownRun(_))))
}
