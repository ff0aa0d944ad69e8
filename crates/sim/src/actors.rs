//! Who does things in the world: workers, senders of signals and events, people, operators, the clock, and the
//! engine's own errands.

use std::sync::Arc;

use abide_core::command::{
    ChildFinished, ChildOutcome, CodeArrived, Command, DeliverEvent, Event, LeaseLoss, LeaseLost, NewRun,
    TaskStarted,
};
use abide_core::effect::RoundEffect;
use abide_core::id::{EventUid, RunId, WorkspaceId};
use abide_core::refusal::Refusal;
use abide_core::run::Timer;
use abide_core::time::Millis;
use abide_core::waitpoint::Kind;
use jiff::Timestamp;

use crate::choices::{self, CROWD, Choices, RandomCommand, Report, STARTER};
use crate::world::{Answer, Check, InHand, Request, World};

const LEASE: Millis = Millis(30_000);

impl World {
    /// One thing happens.
    pub(crate) fn act(&mut self) -> Check {
        self.move_some_run()?;
        match self.random.below(41) {
            0..3 => self.start_some_run(),
            3..9 => self.poll(),
            9..18 => self.work(),
            18..22 => self.fire_timers(),
            22..24 => self.expire_leases(),
            24..27 => self.run_errands(),
            27..29 => self.deliver_some_event(),
            29..32 => self.move_clock(),
            32 => self.notify(),
            33 => self.ask_again(),
            34 => self.repeat_something_old(),
            35 => self.bring_code(),
            _ => match self.some_run().and_then(|run| self.any_command(run)) {
                Some(request) => self.send(request),
                None => Ok(()),
            },
        }
    }

    /// Submits on behalf of someone who asks again when no answer comes.
    pub(crate) fn send(&mut self, request: Request) -> Check {
        match self.submit(request.clone())? {
            Answer::Lost => self.unanswered.push_back(request),
            Answer::Done if self.chance(4) => self.answered.push_back(request),
            Answer::Done | Answer::Refused(_) => {}
        }
        Ok(())
    }

    pub(crate) fn ask_again(&mut self) -> Check {
        match self.unanswered.pop_front() {
            Some(request) => self.send(request),
            None => Ok(()),
        }
    }

    fn repeat_something_old(&mut self) -> Check {
        match self.answered.pop_front() {
            Some(request) => self.submit(request).map(|_| ()),
            None => Ok(()),
        }
    }

    fn some_run(&mut self) -> Option<RunId> {
        let live: Vec<RunId> = self
            .store
            .runs
            .iter()
            .filter(|(_, stored)| !stored.run.status.has_ended())
            .map(|(id, _)| *id)
            .collect();
        let all: Vec<RunId> = self.store.runs.keys().copied().collect();
        let among = if live.is_empty() || self.chance(4) { all } else { live };
        self.pick(&among)
    }

    fn start_some_run(&mut self) -> Check {
        if self.store.runs.len() >= CROWD {
            return Ok(());
        }
        let name = format!("workflow-{}", self.random.below(3));
        let definition = Arc::clone(&self.store.definitions[&name]);
        let id = RunId::new(self.now, self.random.draw_u128());
        let input = self.choices().input();
        let mut new = NewRun::new(id, definition, input.into());
        if self.chance(5) {
            let delay = Millis(self.random.below(100_000_000));
            new.run_at = Some(delay.after(self.now));
        }
        // An unanswered start is asked for again with the same id.
        while !self.start(new.clone(), STARTER)? {}
        Ok(())
    }

    // Workers

    /// A worker asks for a task. Some executors live in the server and take no lease.
    fn poll(&mut self) -> Check {
        // Two servers may offer the same task.
        let doubly = self.chance(8);
        let tasks = self.store.tasks.iter().filter(|(_, row)| doubly || row.leased_until.is_none());
        let ready: Vec<_> = tasks.map(|(key, row)| (*key, row.lease_epoch)).collect();
        let Some(((run, at), lease_epoch)) = self.pick(&ready) else { return Ok(()) };
        if !self.chance(4) {
            let build = self.choices().build();
            let worker = "w".into();
            let command = Command::TaskStarted(TaskStarted { at, lease_epoch, worker, build, from: None });
            let answer = self.submit(Request { run, command, by: "worker", key: None })?;
            let lease = LEASE.after(self.now);
            if let Some(row) =
                self.store.tasks.get_mut(&(run, at)).filter(|row| row.lease_epoch == lease_epoch)
            {
                row.leased_until = Some(lease);
            }
            match answer {
                Answer::Done => {}
                // Nobody has it; the lease will run out.
                Answer::Lost | Answer::Refused(_) => return Ok(()),
            }
        }
        self.in_hand.push(InHand { run, at, lease_epoch, named: 0 });
        Ok(())
    }

    /// A worker comes with code for a task that waits for other code, whether it fits or not.
    fn bring_code(&mut self) -> Check {
        let waits = self.store.runs.iter().flat_map(|(id, stored)| {
            let open = stored.run.open_waitpoints();
            open.filter(|wait| wait.kind == Kind::Code).map(|wait| (*id, wait.number))
        });
        let waits: Vec<(RunId, u32)> = waits.collect();
        let Some((run, number)) = self.pick(&waits) else { return Ok(()) };
        let build = self.choices().build().unwrap_or_default();
        let command = Command::CodeArrived(CodeArrived { number, worker: "w".into(), build });
        self.submit(Request { run, command, by: "worker", key: None })?;
        let stored = &self.store.runs[&run].run;
        let taken = stored.waitpoint(number).filter(|wait| !wait.is_pending()).and_then(|wait| wait.at);
        let Some(at) = taken else { return Ok(()) };
        let task = stored.step(at).and_then(|step| step.task.as_ref()).filter(|task| task.out);
        let Some(lease_epoch) = task.map(|task| task.lease_epoch) else { return Ok(()) };
        let lease = LEASE.after(self.now);
        if let Some(row) = self.store.tasks.get_mut(&(run, at)).filter(|row| row.lease_epoch == lease_epoch) {
            row.leased_until = Some(lease);
        }
        self.in_hand.push(InHand { run, at, lease_epoch, named: 0 });
        Ok(())
    }

    /// A worker does something with a task it believes to have.
    fn work(&mut self) -> Check {
        if self.in_hand.is_empty() {
            return Ok(());
        }
        let index = self.random.below(self.in_hand.len() as u64) as usize;
        let InHand { run, at, lease_epoch, mut named } = self.in_hand[index].clone();
        let report = self.choices().report(at, lease_epoch, &mut named);
        self.in_hand[index].named = named;
        let Some(Report { command, lets_go }) = report else {
            // The worker dies.
            self.in_hand.swap_remove(index);
            return Ok(());
        };
        if lets_go && !self.chance(10) {
            self.in_hand.swap_remove(index);
        }
        let request = Request { run, command, by: "worker", key: None };
        self.send(request)
    }

    /// Chance, as it draws what is asked for.
    pub(crate) fn choices(&mut self) -> Choices<'_> {
        let runs = self.store.runs.len();
        Choices { random: &mut self.random, now: self.now, runs, call_limits: false }
    }

    /// Something that a sender, a person or an operator may ask of this run.
    pub(crate) fn any_command(&mut self, run: RunId) -> Option<Request> {
        self.keys += 1;
        let (keys, runs) = (self.keys, self.store.runs.len());
        let mut choices = Choices { random: &mut self.random, now: self.now, runs, call_limits: false };
        let RandomCommand { by, command, key } = choices.any_command(&self.store.runs[&run].run, keys)?;
        Some(Request { run, command, by, key })
    }

    fn expire_leases(&mut self) -> Check {
        let now = self.now;
        let lost: Vec<_> = self
            .store
            .tasks
            .iter()
            .filter(|(_, row)| row.leased_until.is_some_and(|until| until <= now))
            .map(|((run, at), row)| (*run, *at, row.lease_epoch))
            .collect();
        for (run, at, lease_epoch) in lost {
            let loss = if self.chance(4) { LeaseLoss::Released } else { LeaseLoss::Expired };
            let command = Command::LeaseLost(LeaseLost { at, lease_epoch, loss });
            self.submit(Request { run, command, by: "dispatcher", key: None })?;
        }
        Ok(())
    }

    // The clock

    fn move_clock(&mut self) -> Check {
        if self.chance(12) {
            let back = Millis(self.random.below(600_000));
            self.now = back.before(self.now);
            self.tell(|| format!("the clock goes back by {back}"));
            return Ok(());
        }
        // Decisions differ around the instants that timers hold.
        if self.chance(3) && self.jump_near_a_timer() {
            return Ok(());
        }
        let scale = 10_u64.pow(1 + self.random.below(8) as u32);
        let length = Millis(self.random.below(scale));
        self.advance(length);
        Ok(())
    }

    fn jump_near_a_timer(&mut self) -> bool {
        let timers = self.store.runs.values().flat_map(|stored| stored.run.timers());
        let next = timers.map(|(at, _)| at).filter(|at| *at > self.now).min();
        let Some(next) = next else { return false };
        self.now = match self.random.below(3) {
            0 => Millis(1).before(next).max(self.now),
            1 => next,
            _ => Millis(1).after(next),
        };
        true
    }

    /// Timers go off: usually those that are due, now and then one that is not.
    pub(crate) fn fire_timers(&mut self) -> Check {
        let due = self.due_timers();
        if !self.calm && self.chance(6) {
            return self.fire_early();
        }
        if !self.calm && self.chance(4) {
            let mut batch = Vec::new();
            for (run, timer) in due.into_iter().take(4) {
                if self.offer_stored_events(run, timer)? {
                    batch.push(fire(run, timer));
                }
            }
            return self.submit_batch(batch).map(|_| ());
        }
        for (run, timer) in due {
            if self.offer_stored_events(run, timer)? {
                self.submit(fire(run, timer))?;
            }
        }
        Ok(())
    }

    /// In due order, as R4 wants it.
    fn due_timers(&self) -> Vec<(RunId, Timer)> {
        let mut due: Vec<(Timestamp, RunId, Timer)> = self
            .store
            .runs
            .iter()
            .flat_map(|(id, stored)| stored.run.timers().into_iter().map(|(at, timer)| (at, *id, timer)))
            .filter(|(at, _, _)| *at <= self.now)
            .collect();
        due.sort();
        due.into_iter().map(|(_, run, timer)| (run, timer)).collect()
    }

    fn fire_early(&mut self) -> Check {
        let early: Vec<(RunId, Timer)> = self
            .store
            .runs
            .iter()
            .flat_map(|(id, stored)| stored.run.timers().into_iter().map(|(at, timer)| (at, *id, timer)))
            .filter(|(at, _, _)| *at > self.now)
            .map(|(_, run, timer)| (run, timer))
            .collect();
        let Some((run, timer)) = self.pick(&early) else { return Ok(()) };
        match self.submit(fire(run, timer))? {
            Answer::Done => Err(format!("R3: {timer:?} of {run} fired early")),
            Answer::Refused(_) | Answer::Lost => Ok(()),
        }
    }

    /// An event that was received in time is not missed because it is delivered late. `false` when a crash came
    /// between: then the timer must not fire yet.
    fn offer_stored_events(&mut self, run: RunId, timer: Timer) -> Check<bool> {
        match timer {
            Timer::Waitpoint(number) => {
                let before = self.store.runs.get(&run).map(|stored| stored.run.offered_before(number));
                for number in before.unwrap_or_default() {
                    if !self.look_back(run, number)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Timer::Attempt { .. } | Timer::Run => Ok(true),
        }
    }

    // Events

    fn notify(&mut self) -> Check {
        let (event_id, data) = self.choices().event();
        let id = EventUid::new(self.now, self.random.draw_u128());
        self.tell(|| format!("event {event_id} {data} is stored as {id}"));
        let (workspace, data, received_at) = (WorkspaceId::DEFAULT, data.into(), self.now);
        self.store.events.push(Event { id, workspace, event_id, data, received_at, run: None });
        self.store.undelivered.insert(self.store.events.len() - 1);
        Ok(())
    }

    fn deliver_some_event(&mut self) -> Check {
        let undelivered: Vec<usize> = self.store.undelivered.iter().copied().collect();
        match self.pick(&undelivered) {
            Some(index) => self.deliver(index),
            None => Ok(()),
        }
    }

    pub(crate) fn deliver(&mut self, index: usize) -> Check {
        let event = self.store.events[index].clone();
        let waiters: Vec<(RunId, u32)> = self
            .store
            .runs
            .iter()
            .flat_map(|(id, stored)| {
                let open = stored.run.open_waitpoints();
                open.filter(|wait| matches!(wait.kind, Kind::Event)).map(|wait| (*id, wait.number))
            })
            .collect();
        let requests = waiters.into_iter().map(|(run, number)| {
            let command = Command::DeliverEvent(DeliverEvent { number, event: event.clone() });
            Request { run, command, by: "event", key: None }
        });
        let requests = requests.collect();
        if self.submit_batch(requests)? {
            self.store.undelivered.remove(&index);
        }
        Ok(())
    }

    /// Offers a wait what is stored, oldest first. `false` when a crash came between.
    fn look_back(&mut self, run: RunId, number: u32) -> Check<bool> {
        for index in 0..self.store.events.len() {
            let Some(wait) = self.store.runs.get(&run).and_then(|stored| stored.run.waitpoint(number)) else {
                break;
            };
            if !wait.is_pending() || !matches!(wait.kind, Kind::Event) {
                break;
            }
            let event = self.store.events[index].clone();
            let command = Command::DeliverEvent(DeliverEvent { number, event });
            match self.submit(Request { run, command, by: "event", key: None })? {
                Answer::Done | Answer::Refused(_) => {}
                Answer::Lost => return Ok(false),
            }
        }
        Ok(true)
    }

    // The engine's errands

    /// Performs some effect that was committed; in order for each run, at least once.
    pub(crate) fn run_errands(&mut self) -> Check {
        let mut seen = std::collections::BTreeSet::new();
        let firsts: Vec<u64> = self
            .store
            .outbox
            .iter()
            .filter(|(_, (run, _))| seen.insert(*run))
            .map(|(number, _)| *number)
            .collect();
        let Some(number) = self.pick(&firsts) else { return Ok(()) };
        let (run, effect) = self.store.outbox[&number].clone();
        if self.perform(run, effect)? && (self.calm || !self.chance(6)) {
            self.store.outbox.remove(&number);
        }
        Ok(())
    }

    fn perform(&mut self, run: RunId, effect: RoundEffect) -> Check<bool> {
        let (run, command) = match effect {
            RoundEffect::LookBack { number } => return self.look_back(run, number),
            RoundEffect::StartChild(child) => {
                let definition = self.store.definition(&child.definition, child.version.as_deref());
                let parent = &self.store.runs[&child.parent.run_id].run;
                let input = parent.input_of(&child).expect("what could be rendered still can be");
                let new = NewRun {
                    workspace: child.workspace,
                    parent: Some(child.parent),
                    started_by: Some(child.started_by),
                    ..NewRun::new(child.run_id, definition, input)
                };
                let started = self.start(new, "parent")?;
                let Some(waitpoint) = child.tells.filter(|_| started) else { return Ok(started) };
                let outcome = ChildOutcome::Started { run_id: child.run_id };
                let told = ChildFinished { number: waitpoint.number, outcome };
                (waitpoint.run, Command::ChildFinished(told))
            }
            RoundEffect::CancelChild { run_id } => (run_id, Command::Cancel { reason: None }),
            RoundEffect::TellParent { waitpoint, outcome } => {
                (waitpoint.run, Command::ChildFinished(ChildFinished { number: waitpoint.number, outcome }))
            }
            // No run here is a schedule's.
            RoundEffect::TellSchedule { .. } => return Ok(true),
            // Its workflows have no limits: what these come to is decided by an engine.
            RoundEffect::Capacity(_) => return Ok(true),
        };
        match self.submit(Request { run, command, by: "engine", key: None })? {
            Answer::Done | Answer::Refused(_) => Ok(true),
            Answer::Lost => Ok(false),
        }
    }

    // Everyone else

    /// Ends an open wait that no clock will end, as whoever it waits for would.
    pub(crate) fn end_wait(&mut self, run: RunId, number: u32) -> Check {
        let wait = self.store.runs[&run].run.waitpoint(number).expect("an open wait").clone();
        let Some((by, command)) = choices::ending(&wait) else { return Ok(()) };
        match self.submit(Request { run, command, by, key: None })? {
            Answer::Refused(refusal @ (Refusal::WrongKind { .. } | Refusal::AlreadyResolved(_))) => {
                Err(format!("an open wait could not be ended: {refusal}"))
            }
            Answer::Refused(_) | Answer::Done | Answer::Lost => Ok(()),
        }
    }
}

fn fire(run: RunId, timer: Timer) -> Request {
    Request { run, command: Command::TimerFired(timer), by: "timer", key: None }
}
