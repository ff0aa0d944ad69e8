//! R25 Cost follows the change: a decision costs the same however much has happened to its run before. What is compared
//! is the work of this thread early and late in the same run, so that the speed of the machine does not matter.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../definition/tests/definition/work/time.rs"]
mod work;

use std::sync::Arc;

use abide_core::command::{
    Command, Context, NewRun, SendSignal, TaskCompleted, TaskHeartbeat, TaskStarted, TaskSuspended, WaitFor,
    WaitSpec, decide, start,
};
use abide_core::definition::Definition;
use abide_core::history::{JournalResult, WakeOn};
use abide_core::id::{RunId, StepAddress};
use abide_core::run::{Run, Timer};
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use jiff::Timestamp;
use serde_json::{Value, json};

use work::Work;

/// Trees get deeper and caches miss more often. A walk over all that has happened costs fifteen times as much and more.
const MOST: u32 = 8;

/// One run, and the time.
struct Story {
    run: Run,
    now: Timestamp,
}

impl Story {
    fn begin(step: Value, input: Value) -> Story {
        let document = json!({ "name": "long", "steps": [step] });
        let definition = Arc::new(Definition::from_value(document).expect("a definition").definition);
        let now = Timestamp::UNIX_EPOCH;
        let new = NewRun::new(RunId(1), definition, input.into());
        Story { run: start(new, &context(now)).expect("a start").0, now }
    }

    /// Decides a command while somebody still has the run as it was before.
    fn decide_beside_a_copy(&mut self, command: Command) {
        let copy = self.run.clone();
        self.decide(command);
        drop(copy);
    }

    fn decide(&mut self, command: Command) {
        decide(&mut self.run, command, &context(self.now)).expect("a decision");
    }

    fn lease_epoch(&self, at: StepAddress) -> u32 {
        self.run.step(at).and_then(|step| step.task.as_ref()).map_or(0, |task| task.lease_epoch)
    }
}

fn context(now: Timestamp) -> Context {
    Context { now, random: 1, by: Actor::new("test"), traceparent: None, bounds: Default::default() }
}

/// Does something `rounds` times, and compares the work of the first and the last tenth.
#[track_caller]
fn stays_flat(story: &mut Story, rounds: u32, mut act: impl FnMut(&mut Story, u32)) {
    let tenth = rounds / 10;
    let mut stretch = |story: &mut Story, rounds: std::ops::Range<u32>| {
        let begun = Work::begin();
        rounds.for_each(|round| act(story, round));
        begun.so_far()
    };
    let early = stretch(story, 0..tenth);
    stretch(story, tenth..rounds - tenth);
    let late = stretch(story, rounds - tenth..rounds);
    assert!(late <= early * MOST, "{early:?} for the first tenth, {late:?} for the last");
}

#[test]
fn r25_the_last_item_of_a_map_costs_what_the_first_did() {
    let items: Vec<u32> = (0..9_990).collect();
    let inner = json!({ "type": "task", "handler": "work" });
    let map = json!({ "name": "m", "type": "map", "items": "input.items", "concurrency": 1, "step": inner });
    let mut story = Story::begin(map, json!({ "items": items }));
    stays_flat(&mut story, 9_980, |story, item| {
        let at = StepAddress::item(0, item);
        story.decide(Command::TaskStarted(TaskStarted::new(at, 1, "w")));
        let output = json!({ "done": true }).into();
        story.decide(Command::TaskCompleted(TaskCompleted {
            at,
            lease_epoch: 1,
            output,
            state_updates: None,
        }));
    });
}

#[test]
fn r25_a_handler_that_slept_ten_thousand_times_sleeps_again_at_the_same_cost() {
    let mut story = Story::begin(json!({ "name": "a", "type": "task", "handler": "work" }), json!({}));
    let at = StepAddress::step(0);
    stays_flat(&mut story, 9_980, |story, round| {
        let lease_epoch = story.lease_epoch(at);
        story.decide(Command::TaskStarted(TaskStarted::new(at, lease_epoch, "w")));
        let nap = WaitSpec::new(format!("nap-{round}"), WaitFor::Sleep { duration: Millis(1_000) });
        story.decide(Command::TaskSuspended(TaskSuspended {
            at,
            lease_epoch,
            entries: Vec::new(),
            waits: vec![nap],
            wake: WakeOn::All,
            checkpoint: None,
            cancels: Vec::new(),
        }));
        story.now = Millis(1_000).after(story.now);
        story.decide(Command::TimerFired(Timer::Waitpoint(round + 1)));
    });
    assert_eq!(story.run.waitpoints().len(), 9_980);
}

#[test]
fn r25_after_a_hundred_thousand_records_another_costs_the_same() {
    let mut story = Story::begin(json!({ "name": "a", "type": "task", "handler": "work" }), json!({}));
    let at = StepAddress::step(0);
    story.decide(Command::TaskStarted(TaskStarted::new(at, 1, "w")));
    stays_flat(&mut story, 100_000, |story, round| {
        let checkpoint = Some(json!(round).into());
        let (entries, calls, cancels) = (Vec::new(), Vec::new(), Vec::new());
        let beat = TaskHeartbeat { at, lease_epoch: 1, checkpoint, entries, calls, cancels };
        story.decide(Command::TaskHeartbeat(beat));
    });
    assert!(story.run.seq > 100_000);
}

#[test]
fn r25_a_run_that_is_being_committed_is_decided_about_without_being_copied_whole() {
    let items: Vec<u32> = (0..9_990).collect();
    let inner = json!({ "type": "task", "handler": "work" });
    let map = json!({ "name": "m", "type": "map", "items": "input.items", "concurrency": 1, "step": inner });
    let mut story = Story::begin(map, json!({ "items": items }));
    stays_flat(&mut story, 9_980, |story, item| {
        let at = StepAddress::item(0, item);
        story.decide_beside_a_copy(Command::TaskStarted(TaskStarted::new(at, 1, "w")));
        let (lease_epoch, output, state_updates) = (1, json!({ "done": true }).into(), None);
        let completed = TaskCompleted { at, lease_epoch, output, state_updates };
        story.decide_beside_a_copy(Command::TaskCompleted(completed));
    });
}

#[test]
fn r25_a_handler_with_ten_thousand_waits_and_results_is_decided_about_without_being_copied_whole() {
    let mut story = Story::begin(json!({ "name": "a", "type": "task", "handler": "work" }), json!({}));
    let at = StepAddress::step(0);
    stays_flat(&mut story, 4_980, |story, round| {
        let lease_epoch = story.lease_epoch(at);
        story.decide_beside_a_copy(Command::TaskStarted(TaskStarted::new(at, lease_epoch, "w")));
        let nap = WaitSpec::new(format!("nap-{round}"), WaitFor::Sleep { duration: Millis(1_000) });
        let (name, result) = (format!("call-{round}").into(), json!(round).into());
        story.decide_beside_a_copy(Command::TaskSuspended(TaskSuspended {
            at,
            lease_epoch,
            entries: vec![JournalResult { name, result }],
            waits: vec![nap],
            wake: WakeOn::All,
            checkpoint: None,
            cancels: Vec::new(),
        }));
        story.now = Millis(1_000).after(story.now);
        story.decide_beside_a_copy(Command::TimerFired(Timer::Waitpoint(round + 1)));
    });
}

#[test]
fn r25_a_mailbox_is_filled_without_being_copied() {
    let wait = json!({ "name": "a", "type": "external_event", "signalType": "other" });
    let mut story = Story::begin(wait, json!({}));
    stays_flat(&mut story, 990, |story, round| {
        let signal = SendSignal { signal_type: "kept".into(), payload: json!(round).into() };
        story.decide_beside_a_copy(Command::SendSignal(signal));
    });
}
