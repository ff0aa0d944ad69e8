//! What decisions cost. One decision on a run of a thousand steps should cost about as much as on one of ten: no
//! decision walks the whole run. Loading and cloning the run are outside the timed part.

use std::sync::Arc;

use abide_core::command::{Command, Context, NewRun, Outcome, SendSignal, TaskCompleted, decide, start};
use abide_core::definition::Definition;
use abide_core::id::{RunId, StepAddress};
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use divan::Bencher;
use divan::counter::ItemsCount;
use jiff::Timestamp;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const WAITS: u16 = 10;

/// Start to end of a run with ten waits of three days: every decision of it, each on the run the last one left.
#[divan::bench]
fn thirty_days_ten_waits(bencher: Bencher) {
    let step = |n: u16| {
        [task(&format!("task-{n}")), json!({ "name": format!("wait-{n}"), "type": "wait", "duration": "3d" })]
    };
    let definition = definition((0..WAITS).flat_map(step).collect());
    let decisions = thirty_days(&definition);
    bencher.counter(ItemsCount::new(decisions)).bench(|| thirty_days(&definition));
}

fn thirty_days(definition: &Arc<Definition>) -> u32 {
    let mut context = context();
    let mut run = begin(definition, &context);
    let mut decisions = 1;
    for n in 0..WAITS {
        decided(&mut run, completion(StepAddress::step(2 * n)), &context);
        let (instant, timer) = run.timers()[0];
        context.now = instant;
        decided(&mut run, Command::TimerFired(timer), &context);
        decisions += 2;
    }
    assert!(run.status.has_ended() && context.now == Millis::from_days(30).after(Timestamp::UNIX_EPOCH));
    decisions
}

#[divan::bench_group]
mod one_decision {
    use super::*;

    /// The task in the middle of a sequence reports its result, and the next one begins.
    #[divan::bench(args = [10, 1000])]
    fn complete_the_middle_task(bencher: Bencher, steps: u16) {
        let definition = definition((0..steps).map(|n| task(&format!("task-{n}"))).collect());
        let context = context();
        let mut run = begin(&definition, &context);
        for n in 0..steps / 2 {
            decided(&mut run, completion(StepAddress::step(n)), &context);
        }
        on(bencher, &run, &completion(StepAddress::step(steps / 2)));
    }

    /// A signal ends the one wait of a graph of parallel tasks, and the step after it begins.
    #[divan::bench(args = [10, 1000])]
    fn signal_a_graph(bencher: Bencher, steps: u16) {
        let mut written: Vec<Value> = (2..steps).map(|n| task(&format!("task-{n}"))).collect();
        written.push(json!({ "name": "wait", "type": "external_event", "signalType": "go" }));
        written.push(json!({ "name": "then", "type": "task", "handler": "work", "after": ["wait"] }));
        let run = begin(&definition(written), &context());
        let payload = json!({ "amount": 99.0 }).into();
        on(bencher, &run, &Command::SendSignal(SendSignal { signal_type: "go".into(), payload }));
    }

    #[divan::bench(args = [10, 1000])]
    fn begin_a_sequence(bencher: Bencher, steps: u16) {
        let definition = definition((0..steps).map(|n| task(&format!("task-{n}"))).collect());
        let context = context();
        bencher.bench(|| start(new_run(&definition), &context));
    }

    fn on(bencher: Bencher, run: &Run, command: &Command) {
        let context = context();
        bencher.with_inputs(|| (run.clone(), command.clone())).bench_values(|(mut run, command)| {
            let outcome = decided(&mut run, command, &context);
            (run, outcome)
        });
    }
}

fn task(name: &str) -> Value {
    json!({ "name": name, "type": "task", "handler": "work" })
}

fn definition(steps: Vec<Value>) -> Arc<Definition> {
    let checked = Definition::from_value(json!({ "name": "bench", "steps": steps }));
    Arc::new(checked.expect("a definition").definition)
}

fn context() -> Context {
    Context {
        now: Timestamp::UNIX_EPOCH,
        random: 1,
        by: Actor::new("bench"),
        traceparent: None,
        bounds: Default::default(),
    }
}

fn new_run(definition: &Arc<Definition>) -> NewRun {
    NewRun::new(RunId(1), Arc::clone(definition), json!({ "customer": "c-1" }).into())
}

fn begin(definition: &Arc<Definition>, context: &Context) -> Run {
    start(new_run(definition), context).expect("a start").0
}

fn decided(run: &mut Run, command: Command, context: &Context) -> Outcome {
    decide(run, command, context).expect("a decision")
}

fn completion(at: StepAddress) -> Command {
    let output = json!({ "sent": true }).into();
    Command::TaskCompleted(TaskCompleted { at, lease_epoch: 1, output, state_updates: None })
}
