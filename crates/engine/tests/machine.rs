//! The writer as a state machine, driven by hand: time is a number, commits are done when the test says so, and what leaves
//! is looked at.

#![allow(clippy::unwrap_used, reason = "a machine that cannot be set up is a failed test")]

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use abide_core::command::{Command, TaskHeartbeat};
use abide_core::definition::Definition;
use abide_core::id::{DefinitionId, RunId, WorkspaceId};
use abide_core::refusal::Refusal;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Actor;
use abide_engine::machine::{
    Answer, Decide, Deploy, Done, Input, Machine, Now, Output, Poll, Query, Request, Setup, StartRun,
    TaskRequest,
};
use abide_engine::{Error, Leased, Started, Stats};
use abide_store::Store;
use abide_store::sqlite::Sqlite;
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};

const EPOCH: Timestamp = Timestamp::constant(1_770_000_000, 0);
const LEASE: Duration = Duration::from_secs(30);

type Reply<T> = oneshot::Receiver<Result<T, Error>>;

/// A machine, and the world around it.
struct Driver {
    machine: Machine,
    store: Box<dyn Store>,
    elapsed: Duration,
    /// How long the wall clock has stood.
    stood: Duration,
    inputs: VecDeque<Input>,
    done: VecDeque<Done>,
    /// What came out, as text.
    log: Vec<String>,
    /// From here on no commit goes through.
    is_full: bool,
    /// Tasks whose poller has gone come back here.
    back: (mpsc::Sender<Request>, mpsc::Receiver<Request>),
}

impl Driver {
    fn open(folder: &TempDir, seed: u64) -> Driver {
        let mut store: Box<dyn Store> = Box::new(Sqlite::open(folder.path().join("abide.db")).unwrap());
        let document = json!({
            "name": "w",
            "steps": [{ "type": "task", "name": "work", "handler": "remote" }],
        });
        let definition = Arc::new(Definition::from_value(document).unwrap().definition);
        let (workspace, id) = (WorkspaceId::DEFAULT, DefinitionId::new(EPOCH, 1));
        Deploy { workspace, definition, id, now: EPOCH }.perform(&mut *store).unwrap();
        let back = mpsc::channel(64);
        let setup = Setup::new(store.reader().unwrap(), seed, back.0.downgrade());
        let (machine, inputs, log) = (Machine::new(setup), VecDeque::new(), Vec::new());
        let (elapsed, stood, is_full) = (Duration::ZERO, Duration::ZERO, false);
        let mut driver =
            Driver { machine, store, elapsed, stood, inputs, done: VecDeque::new(), log, is_full, back };
        let mut outputs = Vec::new();
        driver.machine.recover(driver.now(), &mut outputs).unwrap();
        driver
    }

    /// Time passes, but not by the wall clock.
    fn wall_stands(&mut self) {
        self.stood += Duration::from_secs(1);
        self.elapsed += Duration::from_secs(1);
    }

    fn now(&self) -> Now {
        let wall = EPOCH + (self.elapsed - self.stood);
        Now { wall, latest: wall, elapsed: self.elapsed }
    }

    fn ask<T>(&mut self, request: impl FnOnce(Answer<T>) -> Request) -> Reply<T> {
        let (answer, reply) = oneshot::channel();
        self.inputs.push_back(Input::Request(request(answer)));
        reply
    }

    fn start(&mut self) -> Reply<Started> {
        let start = Box::new(StartRun::new("w").input(json!({})));
        self.ask(|answer| Decide::Start { start, listener: None, answer }.into())
    }

    fn command(&mut self, run: RunId, command: Command) -> Reply<abide_core::command::Reply> {
        let (command, asker) = (Box::new(command), Actor::new("test").into());
        self.ask(|answer| {
            let (workspace, key, listener) = (None, None, None);
            Decide::Command { workspace, run, command, asker, key, listener, answer }.into()
        })
    }

    fn poll(&mut self, most: usize) -> Reply<abide_engine::machine::Handed> {
        let poll = Poll::new("worker", ["remote"], LEASE).most(most).waits(true);
        let poll = poll.in_workspace(WorkspaceId::DEFAULT);
        self.ask(|answer| TaskRequest::Poll { poll, answer }.into())
    }

    /// One step, of which nothing is committed yet.
    fn step(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Ok(request) = self.back.1.try_recv() {
            self.inputs.push_back(Input::Request(request));
        }
        while let Some(done) = self.done.pop_front() {
            self.machine.hear(self.now(), done, &mut outputs);
        }
        self.machine.step(self.now(), &mut self.inputs, &mut outputs);
        outputs
    }

    /// Does what came out: a commit is a commit, and its answer is there for the next step.
    fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Commit { round, batch } => {
                    self.log.push(format!("commit {:?}", batch.batch()));
                    let result = match self.is_full {
                        true => Err(abide_store::Error::Unavailable("the disk is full".to_owned())),
                        false => self.store.commit(&batch.batch()),
                    };
                    let result = result.map_err(Error::from);
                    drop(batch);
                    let (culprits, took) = (Vec::new(), Duration::from_millis(1));
                    self.done.push_back(Done::Committed { round, result, culprits, took });
                }
                Output::Changed(changed) => self.log.push(format!("{changed:?}")),
                Output::Perform(perform) => self.log.push(format!("{perform:?}")),
                Output::Abort(task) | Output::Detach(task) => self.log.push(format!("{task:?}")),
                Output::Deploy { .. }
                | Output::Write(_)
                | Output::Hold { .. }
                | Output::Unhold { .. }
                | Output::Check(_)
                | Output::Register { .. }
                | Output::Webhooks(_)
                | Output::SettleWebhooks(_)
                | Output::Version { .. } => {}
            }
        }
    }

    /// Steps until there is nothing to do without another input or more time.
    fn settle(&mut self) {
        loop {
            let outputs = self.step();
            self.perform(outputs);
            if self.inputs.is_empty()
                && self.done.is_empty()
                && !self.machine.wake(self.now()).after.is_zero()
            {
                return;
            }
        }
    }

    fn stats(&mut self) -> Stats {
        let mut reply = self.ask(|answer| Query::Stats { answer }.into());
        let outputs = self.step();
        self.perform(outputs);
        reply.try_recv().unwrap().unwrap()
    }

    /// Starts a run, and has a worker take its task.
    fn leased(&mut self) -> Leased {
        let (mut started, mut polled) = (self.start(), self.poll(1));
        self.settle();
        started.try_recv().unwrap().unwrap();
        let mut tasks = polled.try_recv().unwrap().unwrap().take();
        tasks.pop().unwrap()
    }
}

#[test]
fn nothing_is_answered_before_its_commit_and_a_task_and_its_lease_are_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = Driver::open(&folder, 1);
    driver.settle();
    let mut polled = driver.poll(1);
    driver.settle();
    let mut started = driver.start();
    let outputs = driver.step();
    assert!(outputs.iter().any(|output| matches!(output, Output::Commit { .. })));
    assert!(started.try_recv().is_err() && polled.try_recv().is_err(), "it is not committed yet");
    driver.perform(outputs);
    assert!(started.try_recv().is_err() && polled.try_recv().is_err(), "nobody has heard of the commit");
    let outputs = driver.step();
    assert!(!outputs.iter().any(|output| matches!(output, Output::Commit { .. })));
    let run = started.try_recv().unwrap().unwrap().run;
    let leased = polled.try_recv().unwrap().unwrap().take();
    assert_eq!(leased.iter().map(|leased| leased.task.run_id).collect::<Vec<_>>(), [run]);
}

#[test]
fn the_committer_has_the_next_round_before_the_effects_of_the_last_one_leave() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = Driver::open(&folder, 1);
    driver.settle();
    let mut first = driver.start();
    let committing = driver.step();
    let mut second = driver.start();
    let outputs = driver.step();
    assert!(outputs.is_empty(), "the committer has a round");
    driver.perform(committing);
    let (now, mut outputs) = (driver.now(), Vec::new());
    driver.machine.hear(now, driver.done.pop_front().unwrap(), &mut outputs);
    assert!(matches!(outputs[..], [Output::Commit { .. }]), "the next round, and nothing else");
    assert!(first.try_recv().is_err(), "that comes when the committer has something to do");
    driver.perform(outputs);
    driver.settle();
    first.try_recv().unwrap().unwrap();
    second.try_recv().unwrap().unwrap();
}

/// B1, B2: a recalled task that a worker held was missing from those that are ready, for ever; rounds were not counted.
#[test]
fn a_task_that_is_cancelled_while_a_worker_has_it_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = Driver::open(&folder, 1);
    for _ in 0..3 {
        let leased = driver.leased();
        let stats = driver.stats();
        assert_eq!((stats.tasks_out, stats.tasks_ready), (1, 0));
        let mut cancelled = driver.command(leased.task.run_id, Command::Cancel { reason: None });
        driver.settle();
        cancelled.try_recv().unwrap().unwrap();
        let stats = driver.stats();
        assert_eq!((stats.tasks_out, stats.tasks_ready), (0, 0));
    }
    let mut started = driver.start();
    driver.settle();
    started.try_recv().unwrap().unwrap();
    let stats = driver.stats();
    assert_eq!(
        (stats.tasks_out, stats.tasks_ready),
        (0, 1),
        "one task is ready, whatever was cancelled before"
    );
    assert!(stats.rounds >= stats.commits && stats.commits > 0);
}

#[test]
fn an_engine_answers_before_the_runs_under_way_are_loaded_and_hands_out_all_their_tasks() {
    const RUNS: usize = 450;
    let folder = tempfile::tempdir().unwrap();
    let mut driver = Driver::open(&folder, 1);
    for _ in 0..RUNS {
        drop(driver.start());
    }
    driver.settle();
    drop(driver);
    let mut driver = Driver::open(&folder, 2);
    let at_once = driver.stats();
    assert_eq!((at_once.runs_in_memory, at_once.tasks_ready), (0, 0), "nothing was loaded to open it");
    let soon = driver.stats();
    assert!(soon.runs_in_memory > 0 && soon.runs_in_memory < RUNS, "a page of them: {}", soon.runs_in_memory);
    let mut handed = BTreeSet::new();
    while handed.len() < RUNS {
        let mut polled = driver.poll(RUNS);
        driver.settle();
        let tasks = polled.try_recv().unwrap().unwrap().take();
        assert!(!tasks.is_empty(), "whoever polls gets what there is");
        handed.extend(tasks.iter().map(|leased| leased.task.run_id));
    }
    let stats = driver.stats();
    assert_eq!((stats.tasks_out, stats.tasks_ready), (RUNS, 0));
}

#[test]
fn a_worker_that_was_at_a_task_when_the_process_ended_goes_on_and_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = Driver::open(&folder, 1);
    let leased = driver.leased();
    drop(driver);
    let mut driver = Driver::open(&folder, 2);
    driver.settle();
    let stats = driver.stats();
    assert_eq!((stats.tasks_out, stats.tasks_ready), (1, 0));
    driver.elapsed += Duration::from_secs(50);
    let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
    let (entries, calls, cancels) = (Vec::new(), Vec::new(), Vec::new());
    let beat = TaskHeartbeat { at, lease_epoch, checkpoint: None, entries, calls, cancels };
    let mut kept = driver.command(leased.task.run_id, Command::TaskHeartbeat(beat));
    driver.settle();
    kept.try_recv().unwrap().unwrap();
    driver.elapsed += Duration::from_secs(50);
    driver.settle();
    assert_eq!(driver.stats().tasks_out, 1);
    driver.elapsed += Duration::from_secs(50);
    driver.settle();
    assert_eq!(driver.stats().tasks_ready, 1, "nothing was heard of it for a minute");
}

#[test]
fn the_same_seed_and_inputs_give_the_same_outputs() {
    let story = |seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let mut driver = Driver::open(&folder, seed);
        for _ in 0..20 {
            drop(driver.start());
        }
        driver.settle();
        let mut polled = driver.poll(7);
        driver.settle();
        for leased in polled.try_recv().unwrap().unwrap().take() {
            drop(driver.command(leased.task.run_id, Command::Cancel { reason: None }));
        }
        driver.elapsed += Duration::from_secs(3_600);
        driver.settle();
        driver.log
    };
    let (first, again, other) = (story(1), story(1), story(2));
    assert!(first.len() > 20);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn a_watcher_hears_of_an_end_when_it_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = Driver::open(&folder, 1);
    let leased = driver.leased();
    let run = leased.task.run_id;
    let mut watched = driver.ask(|answer| Query::Watch { run, answer }.into());
    driver.settle();
    assert!(watched.try_recv().is_err());
    drop(driver.command(run, Command::Cancel { reason: None }));
    let outputs = driver.step();
    assert!(watched.try_recv().is_err());
    driver.perform(outputs);
    driver.settle();
    assert_eq!(watched.try_recv().unwrap().unwrap().status, RunStatus::Cancelled);
}

/// The board gave a lease that was over two seconds more when its end could not be committed: never, by a clock that stands.
#[test]
fn a_lease_whose_end_could_not_be_committed_is_over_as_soon_as_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = Driver::open(&folder, 1);
    driver.leased();
    driver.is_full = true;
    driver.elapsed += LEASE + Duration::from_secs(1);
    let outputs = driver.step();
    assert!(outputs.iter().any(|output| matches!(output, Output::Commit { .. })), "its end is decided");
    driver.perform(outputs);
    drop(driver.step());
    driver.is_full = false;
    assert_eq!(driver.stats().tasks_out, 1);
    driver.wall_stands();
    driver.settle();
    let stats = driver.stats();
    assert_eq!((stats.tasks_out, stats.tasks_ready), (0, 1));
}

/// The task stayed taken for a poller who could not have it, and nobody else was given it.
#[test]
fn a_poll_under_a_name_that_is_too_long_is_refused_and_takes_no_task() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = Driver::open(&folder, 1);
    drop(driver.start());
    driver.settle();
    let poll = Poll::new("w".repeat(201).as_str(), ["remote"], LEASE).waits(true);
    let poll = poll.in_workspace(WorkspaceId::DEFAULT);
    let mut refused = driver.ask(|answer| TaskRequest::Poll { poll, answer }.into());
    driver.settle();
    assert!(matches!(refused.try_recv().unwrap(), Err(Error::Refused(Refusal::LimitExceeded { .. }))));
    let mut polled = driver.poll(1);
    driver.settle();
    assert_eq!(polled.try_recv().unwrap().unwrap().take().len(), 1);
}
