//! Who does things in the world: workers, senders of signals and events, people, operators, the clock, and the
//! engine's own errands.

use std::sync::Arc;

use abide_core::command::{
    ChildFinished, ChildOutcome, CodeArrived, Command, CreateWaitpoint, DeliverEvent, LeaseLoss, LeaseLost,
    Mismatch, NewRun, Occurrence, PinTasks, ResumeTarget, ResumeWaitpoint, SendSignal, Steer, Steering,
    TaskCompleted, TaskFailed, TaskHeartbeat, TaskLogged, TaskPaused, TaskStarted, TaskSuspended, Via, Vote,
    WaitFor, WaitSpec,
};
use abide_core::definition::HttpCall;
use abide_core::definition::document::{Method, Retry};
use abide_core::effect::RoundEffect;
use abide_core::history::{Failure, FailureDetail, JournalResult, Level, LogLine, ModelCall, WakeOn};
use abide_core::id::{OccurrenceId, RunId, WorkspaceId};
use abide_core::json::Json;
use abide_core::refusal::Refusal;
use abide_core::retry::RetryPolicy;
use abide_core::run::{Pin, Timer};
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::{Decision, Kind, ListensFor};
use jiff::Timestamp;
use serde_json::json;

use crate::definitions;
use crate::world::{Answer, Check, InHand, Request, World};

/// No more runs are started than this, so that much happens to each.
const CROWD: usize = 8;
const LEASE: Millis = Millis(30_000);
/// Who starts every run that no run starts.
pub(crate) const STARTER: &str = "client";
const PEOPLE: [&str; 4] = ["anna", "ben", "cleo", "mallory"];

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
        let sleep = self.pick(&["1s", "1m", "2d", "not a time"]).unwrap_or("1s");
        let list: Vec<u64> = (0..self.random.below(4)).collect();
        let input = json!({ "n": self.random.below(6), "sleep": sleep, "list": list, "next": "end", "status": "COMPLETED" });
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
        let ready: Vec<_> = tasks.map(|(key, row)| (*key, row.delivery)).collect();
        let Some(((run, at), delivery)) = self.pick(&ready) else { return Ok(()) };
        if !self.chance(4) {
            let build = self.build();
            let worker = "w".into();
            let command = Command::TaskStarted(TaskStarted { at, delivery, worker, build, from: None });
            let answer = self.submit(Request { run, command, by: "worker", key: None })?;
            let lease = LEASE.after(self.now);
            if let Some(row) = self.store.tasks.get_mut(&(run, at)).filter(|row| row.delivery == delivery) {
                row.leased_until = Some(lease);
            }
            match answer {
                Answer::Done => {}
                // Nobody has it; the lease will run out.
                Answer::Lost | Answer::Refused(_) => return Ok(()),
            }
        }
        self.in_hand.push(InHand { run, at, delivery, named: 0 });
        Ok(())
    }

    /// Which code a worker has; some do not say.
    fn build(&mut self) -> Option<Arc<str>> {
        let builds: [Option<Arc<str>>; 3] = [None, Some("b1".into()), Some("b2".into())];
        self.pick(&builds).flatten()
    }

    /// A worker comes with code for a task that waits for other code, whether it fits or not.
    fn bring_code(&mut self) -> Check {
        let waits = self.store.runs.iter().flat_map(|(id, stored)| {
            let open = stored.run.open_waitpoints();
            open.filter(|wait| wait.kind == Kind::Code).map(|wait| (*id, wait.number))
        });
        let waits: Vec<(RunId, u32)> = waits.collect();
        let Some((run, number)) = self.pick(&waits) else { return Ok(()) };
        let build = self.build().unwrap_or_default();
        let command = Command::CodeArrived(CodeArrived { number, worker: "w".into(), build });
        self.submit(Request { run, command, by: "worker", key: None })?;
        let stored = &self.store.runs[&run].run;
        let taken = stored.waitpoint(number).filter(|wait| !wait.is_pending()).and_then(|wait| wait.at);
        let Some(at) = taken else { return Ok(()) };
        let task = stored.step(at).and_then(|step| step.task.as_ref()).filter(|task| task.out);
        let Some(delivery) = task.map(|task| task.delivery) else { return Ok(()) };
        let lease = LEASE.after(self.now);
        if let Some(row) = self.store.tasks.get_mut(&(run, at)).filter(|row| row.delivery == delivery) {
            row.leased_until = Some(lease);
        }
        self.in_hand.push(InHand { run, at, delivery, named: 0 });
        Ok(())
    }

    /// A worker does something with a task it believes to have.
    fn work(&mut self) -> Check {
        if self.in_hand.is_empty() {
            return Ok(());
        }
        let index = self.random.below(self.in_hand.len() as u64) as usize;
        let InHand { run, at, delivery, named } = self.in_hand[index].clone();
        let mut lets_go = true;
        let command = match self.random.below(17) {
            0..6 => self.completed(at, delivery),
            6..9 => self.failed(at, delivery),
            9 => {
                let name = self.journal_name();
                let checkpoint = self.chance(2).then(|| json!({ "page": 3 }).into());
                let duration = Millis(self.random.below(90_000));
                Command::TaskPaused(TaskPaused { at, delivery, name, duration, checkpoint })
            }
            10..13 => self.suspended(at, delivery),
            13 => {
                lets_go = false;
                let result = json!(self.random.below(2)).into();
                let entries = vec![JournalResult { name: format!("r{named}").into(), result }];
                self.in_hand[index].named += 1;
                let checkpoint = self.chance(2).then(|| json!({ "page": named }).into());
                // A model's answer, now and then; the same entry twice is paid once.
                let calls = (0..self.random.below(3)).map(|_| model_call(&entries[0].name)).take(1).collect();
                let cancels = self.given_up();
                Command::TaskHeartbeat(TaskHeartbeat { at, delivery, checkpoint, entries, calls, cancels })
            }
            14 => {
                lets_go = false;
                let name = self.journal_name();
                let timeout = self.chance(2).then(|| Millis(self.random.below(100_000)));
                let wait = if self.chance(2) {
                    WaitFor::Call { allow_get: false, timeout }
                } else {
                    self.question(timeout)
                };
                let (asked, response) = (None, None);
                Command::CreateWaitpoint(CreateWaitpoint { at, delivery, name, wait, asked, response })
            }
            15 => {
                lets_go = false;
                let line = |level| LogLine { level, message: "working".to_owned() };
                let lines = vec![line(Level::Info), line(Level::Warn)];
                Command::TaskLogged(TaskLogged { at, delivery, lines })
            }
            // The worker dies.
            _ => {
                self.in_hand.swap_remove(index);
                return Ok(());
            }
        };
        if lets_go && !self.chance(10) {
            self.in_hand.swap_remove(index);
        }
        let request = Request { run, command, by: "worker", key: None };
        self.send(request)
    }

    fn journal_name(&mut self) -> Arc<str> {
        // Now and then a name that a result has.
        let kind = if self.chance(20) { "r" } else { "j" };
        format!("{kind}{}", self.random.below(5)).into()
    }

    fn completed(&mut self, at: abide_core::id::At, delivery: u32) -> Command {
        let output = Json::from(json!({ "n": self.random.below(6), "goto": "end" }));
        let updates = [("doc".to_owned(), Json::from(json!("a draft")))].into();
        let state_updates = (!self.chance(8)).then_some(updates);
        Command::TaskCompleted(TaskCompleted { at, delivery, output, state_updates })
    }

    fn failed(&mut self, at: abide_core::id::At, delivery: u32) -> Command {
        let retry_after = self.chance(4).then(|| Millis(self.random.below(200_000)));
        let (message, code, retryable) = ("it broke".to_owned(), None, !self.chance(5));
        let detail = self.chance(2).then(|| {
            let (kind, stack) = (Some("Broken".to_owned()), Some("at work".to_owned()));
            Box::new(FailureDetail { kind, stack, ..FailureDetail::default() })
        });
        let sides = || Mismatch { recorded: "`a`".to_owned(), found: "`b`".to_owned() };
        let mismatch = self.chance(4).then(sides);
        Command::TaskFailed(TaskFailed {
            at,
            delivery,
            message,
            code,
            retryable,
            retry_after,
            detail,
            mismatch,
        })
    }

    fn suspended(&mut self, at: abide_core::id::At, delivery: u32) -> Command {
        let count = 1 + self.random.below(3);
        let waits = (0..count).map(|_| self.wait_spec()).collect();
        let wake = self.pick(&[WakeOn::All, WakeOn::Any, WakeOn::Each]).unwrap_or_default();
        Command::TaskSuspended(TaskSuspended {
            at,
            delivery,
            entries: Vec::new(),
            waits,
            wake,
            checkpoint: None,
            cancels: self.given_up(),
        })
    }

    /// Losers of a race, as durable code would name them; some of them are over, or were never begun.
    fn given_up(&mut self) -> Vec<Arc<str>> {
        if self.chance(3) { vec![self.journal_name()] } else { Vec::new() }
    }

    fn question(&mut self, timeout: Option<Millis>) -> WaitFor {
        let content_schema = self.chance(2).then(|| json!({ "type": "string" }).into());
        let (prompt, content, approvers, quorum) = (None, json!("ok?").into(), Vec::new(), 1);
        WaitFor::Approval { prompt, content, content_schema, approvers, quorum, timeout }
    }

    fn wait_spec(&mut self) -> WaitSpec {
        let name = self.journal_name();
        let timeout = self.chance(2).then(|| Millis(1 + self.random.below(200_000)));
        let wait = match self.random.below(9) {
            0 => WaitFor::Sleep { duration: Millis(self.random.below(200_000)) },
            1 => WaitFor::Signal { signal_type: "a".into(), timeout },
            2 => WaitFor::Event {
                event_id: "e1".into(),
                matching: self.chance(2).then(|| "event.n >= input.n".to_owned()),
                fields: if self.chance(3) { [("n".to_owned(), json!(1).into())].into() } else { [].into() },
                lookback: None,
                timeout,
            },
            3 => WaitFor::Call { allow_get: self.chance(3), timeout },
            4 => WaitFor::RateLimit { until: Millis(self.random.below(100_000)).after(self.now) },
            6 => WaitFor::Retry {
                call: "charge".into(),
                attempt: 1 + u32::try_from(self.random.below(3)).unwrap_or_default(),
                policy: RetryPolicy::default(),
                retry_after: self.chance(2).then(|| Millis(self.random.below(100_000))),
                error: Failure::new("NO_MONEY", "no money"),
            },
            5 if self.store.runs.len() < 3 * CROWD => WaitFor::Child {
                definition: self.pick(&["child-0", "child-1"]).unwrap_or_default().into(),
                version: None,
                input: json!({ "n": 1 }).into(),
                timeout,
                detached: self.chance(3),
            },
            7 if self.store.runs.len() < 3 * CROWD => WaitFor::Http(Box::new(self.call())),
            _ => self.question(timeout),
        };
        WaitSpec::new(name, wait)
    }

    fn call(&mut self) -> HttpCall {
        let max_attempts =
            self.chance(2).then(|| 1 + u32::try_from(self.random.below(3)).unwrap_or_default());
        HttpCall {
            url: "https://example.com/{{ input.n }}".to_owned(),
            method: Method::Post,
            headers: Default::default(),
            body: self.chance(2).then(|| json!({ "n": "{{ input.n }}" }).into()),
            fail_on: None,
            retry: Retry { max_attempts, ..Retry::default() },
            timeout_ms: self.chance(3).then_some(5_000),
        }
    }

    fn expire_leases(&mut self) -> Check {
        let now = self.now;
        let lost: Vec<_> = self
            .store
            .tasks
            .iter()
            .filter(|(_, row)| row.leased_until.is_some_and(|until| until <= now))
            .map(|((run, at), row)| (*run, *at, row.delivery))
            .collect();
        for (run, at, delivery) in lost {
            let loss = if self.chance(4) { LeaseLoss::Released } else { LeaseLoss::Expired };
            let command = Command::LeaseLost(LeaseLost { at, delivery, loss });
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
            Timer::Waitpoint(number) => self.look_back(run, number),
            Timer::Attempt { .. } | Timer::Run => Ok(true),
        }
    }

    // Events

    fn notify(&mut self) -> Check {
        let event_id = self.pick(&["e1", "e2", "e-3", "e-4"]).unwrap_or("e1").into();
        let kind = self.pick(&["other", "this"]);
        let data =
            if self.chance(8) { json!(null) } else { json!({ "n": self.random.below(6), "kind": kind }) };
        let id = OccurrenceId::new(self.now, self.random.draw_u128());
        self.tell(|| format!("event {event_id} {data} is stored as {id}"));
        let (workspace, data, received_at) = (WorkspaceId::DEFAULT, data.into(), self.now);
        self.store.occurrences.push(Occurrence { id, workspace, event_id, data, received_at, run: None });
        self.store.undelivered.insert(self.store.occurrences.len() - 1);
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
        let occurrence = self.store.occurrences[index].clone();
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
            let command = Command::DeliverEvent(DeliverEvent { number, occurrence: occurrence.clone() });
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
        for index in 0..self.store.occurrences.len() {
            let Some(wait) = self.store.runs.get(&run).and_then(|stored| stored.run.waitpoint(number)) else {
                break;
            };
            if !wait.is_pending() || !matches!(wait.kind, Kind::Event) {
                break;
            }
            let occurrence = self.store.occurrences[index].clone();
            let command = Command::DeliverEvent(DeliverEvent { number, occurrence });
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
        };
        match self.submit(Request { run, command, by: "engine", key: None })? {
            Answer::Done | Answer::Refused(_) => Ok(true),
            Answer::Lost => Ok(false),
        }
    }

    // Everyone else

    /// Something that a sender, a person or an operator may ask of this run.
    pub(crate) fn any_command(&mut self, run: RunId) -> Option<Request> {
        self.keys += 1;
        if self.store.runs[&run].run.status == RunStatus::Failed && self.chance(2) {
            return Some(Request { run, command: Command::Retry, by: "operator", key: None });
        }
        let key = self.chance(3).then(|| format!("key-{}", self.keys));
        // Approvals are rare, and much can happen to one.
        let votes = self.some_approval(run).is_some() && self.chance(2);
        let (by, command) = match if votes { 11 } else { self.random.below(25) } {
            0..6 => {
                let signal_type = self.pick(&["a", "b", "c"]).unwrap_or("a").into();
                let payload = match self.random.below(4) {
                    0 => json!("text"),
                    1 => json!({ "input": "of the payload", "state": { "run": 1 } }),
                    _ => json!({ "amount": 99.0, "doc": "from a signal", "seq": self.keys }),
                };
                ("sender", Command::SendSignal(SendSignal { signal_type, payload: payload.into() }))
            }
            6..11 => ("caller", self.resume(run)?),
            11..15 => {
                let number = self.some_approval(run).or_else(|| self.some_wait(run))?;
                let decision =
                    self.pick(&[Decision::Approve, Decision::Approve, Decision::Reject, Decision::Edit])?;
                let edited_content = (decision == Decision::Edit).then(|| json!("edited").into());
                let content_digest = self.chance(8).then(|| "sha256:of something else".to_owned());
                let vote = Vote { edited_content, content_digest, ..Vote::new(number, decision) };
                (if self.chance(6) { STARTER } else { self.pick(&PEOPLE)? }, Command::Vote(vote))
            }
            15..19 => ("operator", self.steer(run)?),
            19 => ("operator", Command::Pause),
            20..22 => ("operator", Command::Unpause),
            22 => {
                ("operator", if self.chance(3) { Command::Cancel { reason: None } } else { Command::Unpause })
            }
            23 => {
                let builds = [Pin::Lifted, Pin::To("b1".into()), Pin::To("b2".into())];
                ("operator", Command::PinTasks(PinTasks { handler: None, pin: self.pick(&builds)? }))
            }
            _ => ("operator", Command::Retry),
        };
        Some(Request { run, command, by, key })
    }

    fn some_approval(&mut self, run: RunId) -> Option<u32> {
        let open = self.store.runs[&run].run.open_waitpoints();
        let approvals: Vec<u32> =
            open.filter(|wait| wait.kind == Kind::Approval).map(|wait| wait.number).collect();
        self.pick(&approvals)
    }

    fn some_wait(&mut self, run: RunId) -> Option<u32> {
        let run = &self.store.runs[&run].run;
        let open: Vec<u32> = run.open_waitpoints().map(|wait| wait.number).collect();
        let all: Vec<u32> = run.waitpoints().iter().map(|wait| wait.number).collect();
        let among = if open.is_empty() || self.chance(8) { all } else { open };
        self.pick(&among)
    }

    fn resume(&mut self, run: RunId) -> Option<Command> {
        let target = if self.chance(3) {
            let wait = self.chance(3).then(|| self.journal_name());
            let step = definitions::name(self.random.below(6) as usize);
            let step = if self.chance(5) { format!("{step}[{}]", self.random.below(3)) } else { step };
            ResumeTarget::Step { step, wait }
        } else {
            ResumeTarget::Waitpoint(self.some_wait(run)?)
        };
        let via = if self.chance(3) { Via::Read } else { Via::Write };
        let payload = json!({ "body": { "n": 1 }, "headers": {}, "queryParams": {} }).into();
        Some(Command::ResumeWaitpoint(ResumeWaitpoint { target, payload, via }))
    }

    fn steer(&mut self, run: RunId) -> Option<Command> {
        let number = self.some_wait(run)?;
        let steering = match self.random.below(5) {
            0 => {
                let length = Millis(self.random.below(1_000_000));
                let resume_at = if self.chance(3) { length.before(self.now) } else { length.after(self.now) };
                Steering::Reschedule { resume_at }
            }
            1 => Steering::Complete { payload: self.chance(2).then(|| json!({ "by": "hand" }).into()) },
            2 => Steering::TimeOut,
            3 => Steering::Skip { output: json!({ "by": "hand" }).into(), reason: None },
            _ => Steering::Cancel,
        };
        // Some operators may decide, too.
        let scopes = if self.chance(2) { vec!["approve".into()] } else { Vec::new() };
        Some(Command::Steer(Steer { number, steering, scopes }))
    }

    /// Ends an open wait that no clock will end, as whoever it waits for would.
    pub(crate) fn end_wait(&mut self, run: RunId, number: u32) -> Check {
        let wait = self.store.runs[&run].run.waitpoint(number).expect("an open wait").clone();
        let command = match &wait.listens_for {
            ListensFor::Signal { signal_type } => {
                let payload = json!({ "amount": 1 }).into();
                ("sender", Command::SendSignal(SendSignal { signal_type: Arc::clone(signal_type), payload }))
            }
            ListensFor::Call { .. } => {
                let payload = json!({ "body": null, "headers": {}, "queryParams": {} }).into();
                let target = ResumeTarget::Waitpoint(number);
                ("caller", Command::ResumeWaitpoint(ResumeWaitpoint { target, payload, via: Via::Write }))
            }
            ListensFor::Approval(request) => {
                let undecided = |name: &&&str| !request.decisions.iter().any(|vote| *vote.by.0 == ***name);
                let by = PEOPLE.iter().find(undecided).copied().unwrap_or("anna");
                let vote = Vote::new(number, Decision::Approve);
                (by, Command::Vote(vote))
            }
            ListensFor::Event(_) | ListensFor::Time | ListensFor::Attempt(_) | ListensFor::Code(_) => {
                ("operator", Command::Steer(Steer::new(number, Steering::Complete { payload: None })))
            }
            ListensFor::Child { .. } => return Ok(()),
        };
        let (by, command) = command;
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

fn model_call(entry: &Arc<str>) -> ModelCall {
    ModelCall {
        entry: Arc::clone(entry),
        model: "m".into(),
        input_tokens: 10,
        cached_input_tokens: 0,
        output_tokens: 3,
        cost_micros: Some(7),
        error: None,
    }
}
