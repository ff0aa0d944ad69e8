//! A scenario player: one run in memory, a clock set by hand, and a verb for everything that can be asked of a run.
//!
//! After every command it checks what must hold whatever was asked: the history, read back from JSON, gives the
//! same run; the stored snapshot, read back, is the same run; a refusal changed nothing; effects come with records.
//! Timers go off only when the scenario says so.

#![allow(dead_code, unused_imports, reason = "each suite plays only a part of it")]

mod answer;
mod plan;
mod steps;
mod verbs;
mod views;

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_core::bounds::Bounds;
use abide_core::command::{Command, Context, Event, Outcome, decide};
use abide_core::definition::Definition;
use abide_core::effect::{AfterCommit, RoundEffect};
use abide_core::history::{Change, Record};
use abide_core::id::StepAddress;
use abide_core::refusal::Refusal;
use abide_core::run::{Run, Snapshot, Timer};
use abide_core::status::StepStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use jiff::Timestamp;

pub(crate) use answer::Answer;
pub(crate) use plan::{Plan, definition, plan, start};
pub(crate) use steps::{
    Also, approval, child, condition, event, llm, map, respond, signal, sleep, task, webhook,
};
pub(crate) use verbs::{for_call, for_signal, for_sleep, wait_for};

/// A Sunday.
pub(crate) const MORNING: &str = "2026-03-01T08:00:00Z";

/// After so many commands the run is stored and loaded only after every so many: a scenario with a thousand signals
/// would take a minute otherwise.
const STORED_EACH_TIME: u64 = 100;

/// No scenario has more of them go off at a time.
const TIMERS: usize = 1000;

pub(crate) struct Scenario {
    pub(crate) now: Timestamp,
    definition: Arc<Definition>,
    /// The versions that the run was asked to move to.
    others: Vec<Arc<Definition>>,
    /// As it was stored and loaded again.
    run: Run,
    /// What the history gives, record by record as read back.
    replayed: Run,
    history: Vec<Record>,
    in_round: Vec<RoundEffect>,
    after_commit: Vec<AfterCommit>,
    looked_back: usize,
    last: Outcome,
    events: Vec<Event>,
    /// Every status the run has had, in order.
    path: Vec<String>,
    /// Every status a step has had after PENDING, by its name.
    step_paths: Vec<(String, String)>,
    decisions: u64,
    pub(crate) bounds: Bounds,
}

impl Scenario {
    fn begun(definition: Arc<Definition>, now: Timestamp, run: Run, outcome: Outcome) -> Scenario {
        let records: Vec<Record> = outcome.records.iter().map(read_back).collect();
        let replayed =
            Run::replay(Arc::clone(&definition), &records[..1]).expect("a history begins with a creation");
        let mut scenario = Scenario {
            now,
            path: vec![replayed.status.to_string()],
            run: run.clone(),
            replayed,
            definition,
            others: Vec::new(),
            history: vec![records[0].clone()],
            in_round: Vec::new(),
            after_commit: Vec::new(),
            looked_back: 0,
            last: outcome.clone(),
            events: Vec::new(),
            step_paths: Vec::new(),
            decisions: 0,
            bounds: Bounds::default(),
        };
        scenario.take_in(run, outcome, 1);
        scenario
    }

    pub(crate) fn send(&mut self, command: Command) -> Answer {
        self.send_as("tester", command)
    }

    pub(crate) fn send_as(&mut self, by: &str, command: Command) -> Answer {
        let context = self.context(by);
        let mut run = self.run.clone();
        let answer = decide(&mut run, command, &context);
        self.decided(run, answer)
    }

    pub(crate) fn context(&mut self, by: &str) -> Context {
        self.decisions += 1;
        Context {
            now: self.now,
            random: self.decisions.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            by: Actor::new(by),
            traceparent: None,
            bounds: self.bounds,
        }
    }

    pub(crate) fn decided(&mut self, run: Run, answer: Result<Outcome, Refusal>) -> Answer {
        match answer {
            Ok(outcome) => {
                let reply = outcome.reply.clone();
                self.take_in(run, outcome, 0);
                Answer::of(Ok(reply))
            }
            Err(refusal) => {
                assert!(!matches!(refusal, Refusal::Illegal(_)), "a decision broke the law: {refusal}");
                assert_eq!(run.snapshot(), self.run.snapshot(), "a refusal changed the run: {refusal}");
                Answer::of(Err(refusal))
            }
        }
    }

    fn take_in(&mut self, run: Run, outcome: Outcome, already_replayed: usize) {
        let changed = !outcome.records.is_empty();
        let has_effects = !(outcome.in_round.is_empty() && outcome.after_commit.is_empty());
        assert!(changed || !has_effects, "effects without records: {outcome:?}");
        for record in outcome.records.iter().skip(already_replayed).map(read_back) {
            self.replay(&record);
            self.history.push(record);
        }
        assert_eq!(self.replayed.snapshot(), run.snapshot(), "replaying the history gives another run");
        self.run = if self.decisions < STORED_EACH_TIME || self.decisions.is_multiple_of(STORED_EACH_TIME) {
            self.store_and_load(&run)
        } else {
            run
        };
        self.in_round.extend(outcome.in_round.iter().cloned());
        self.after_commit.extend(outcome.after_commit.iter().cloned());
        self.last = outcome;
    }

    fn store_and_load(&self, run: &Run) -> Run {
        let stored = serde_json::to_string(run.snapshot()).expect("a snapshot is JSON");
        let snapshot: Snapshot = serde_json::from_str(&stored).expect("a stored snapshot can be read");
        assert_eq!(&snapshot, run.snapshot(), "the stored snapshot is another run");
        Run::restore(Arc::clone(&run.definition), snapshot)
    }

    fn replay(&mut self, record: &Record) {
        let before: (_, BTreeSet<_>) = (
            self.replayed.status,
            step_statuses(&self.replayed).into_iter().map(|(at, status)| (at, status.to_string())).collect(),
        );
        self.replayed.apply_with(&self.others, record).expect("a record follows the run it was decided on");
        if matches!(record.change, Change::WorkflowMoved { .. }) {
            // The places are others; nothing has happened to them.
            self.definition = Arc::clone(&self.replayed.definition);
            return;
        }
        if self.replayed.status != before.0 {
            self.path.push(self.replayed.status.to_string());
        }
        for (at, status) in step_statuses(&self.replayed) {
            if status != StepStatus::Pending && !before.1.contains(&(at, status.to_string())) {
                self.step_paths.push((self.replayed.step_name(at), status.to_string()));
            }
        }
    }
}

/// The clock.
impl Scenario {
    /// Time passes; no timer goes off.
    pub(crate) fn advance(&mut self, length: &str) {
        self.now = millis(length).after(self.now);
    }

    pub(crate) fn set_clock_back(&mut self, length: &str) {
        self.now = millis(length).before(self.now);
    }

    /// The timers that are set, the earliest first.
    pub(crate) fn timers(&self) -> Vec<(Timestamp, Timer)> {
        let mut timers = self.run.timers();
        timers.sort_unstable();
        timers
    }

    /// Every timer whose instant has come goes off, in due order; says how many did.
    pub(crate) fn fire_due_timers(&mut self) -> usize {
        let mut fired = 0;
        while let Some((_, timer)) = self.first_timer_until(self.now) {
            self.fire(timer);
            fired += 1;
            assert!(fired < TIMERS, "timers go off for ever");
        }
        fired
    }

    /// Time passes, and each timer goes off at its very instant.
    pub(crate) fn live(&mut self, length: &str) {
        let end = millis(length).after(self.now);
        let mut fired = 0;
        while let Some((instant, timer)) = self.first_timer_until(end) {
            self.now = self.now.max(instant);
            self.fire(timer);
            fired += 1;
            assert!(fired < TIMERS, "timers go off for ever");
        }
        self.now = end;
    }

    fn first_timer_until(&self, end: Timestamp) -> Option<(Timestamp, Timer)> {
        self.timers().first().copied().filter(|(instant, _)| *instant <= end)
    }

    pub(crate) fn fire(&mut self, timer: Timer) -> Answer {
        self.send_as("clock", Command::TimerFired(timer))
    }

    pub(crate) fn fire_wait(&mut self, step: &str) -> Answer {
        let number = self.wait(step);
        self.fire(Timer::Waitpoint(number))
    }
}

fn step_statuses(run: &Run) -> Vec<(StepAddress, StepStatus)> {
    run.step_runs().map(|(at, step)| (at, step.status)).collect()
}

/// A record as a store gives it back.
fn read_back(record: &Record) -> Record {
    let text = serde_json::to_string(record).expect("a record is JSON");
    let read = serde_json::from_str(&text).expect("a stored record can be read");
    assert_eq!(&read, record, "the stored record is another one");
    read
}

pub(crate) fn millis(text: &str) -> Millis {
    Millis::parse(text).expect("a duration")
}

pub(crate) fn instant(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}
