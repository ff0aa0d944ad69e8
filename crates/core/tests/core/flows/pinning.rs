//! `pinToBuild`: the task of a run stays with the build that took it first, until an operator says otherwise.

use abide_core::command::{Command, PinTasks, Steering};
use abide_core::run::Pin;
use serde_json::json;

use crate::scenario::*;

fn pin(run: &mut Scenario, pin: Pin) -> Answer {
    run.send_as("operator", Command::PinTasks(PinTasks { handler: None, pin }))
}

/// A handler that build `b1` has taken, and that has slept.
fn rested() -> Scenario {
    let mut run = start(json!([task("a").also(json!({ "pinToBuild": true }))]));
    run.take_with("a", "b1");
    run.suspend("a", vec![for_sleep("nap", "2d")]);
    run.live("2d");
    run
}

fn pinned_to(run: &Scenario) -> Option<String> {
    let task = run.run().step(run.at("a")).and_then(|step| step.task.as_ref());
    task.and_then(|task| task.pinned_to()).map(ToString::to_string)
}

#[test]
fn the_build_that_takes_a_task_first_is_the_only_one_that_has_it_again() {
    let mut run = rested();
    assert_eq!(pinned_to(&run).as_deref(), Some("b1"));
    assert_eq!(run.names().iter().filter(|name| **name == "TASK_PINNED").count(), 1);
    assert_eq!(run.take_with("a", "b2").code(), "PINNED_TO_BUILD");
    run.take_with("a", "b1");
    run.lose_worker("a");
    assert_eq!(run.take_with("a", "b2").code(), "PINNED_TO_BUILD");
    assert_eq!(run.take("a", "worker-3").code(), "PINNED_TO_BUILD");
    run.take_with("a", "b1");
    run.fail_for_good("a");
    run.retry();
    assert_eq!(run.take_with("a", "b2").code(), "PINNED_TO_BUILD");
}

#[test]
fn it_is_chosen_by_a_step_or_by_the_workflow_for_all_its_tasks() {
    let by_workflow = |own: serde_json::Value| json!({ "pinToBuild": true, "steps": [task("a").also(own)] });
    for (definition, pins) in [
        (json!({ "steps": [task("a")] }), false),
        (by_workflow(json!({})), true),
        (by_workflow(json!({ "pinToBuild": false })), false),
    ] {
        let mut run = start(definition);
        run.take_with("a", "b1");
        assert_eq!(pinned_to(&run).is_some(), pins);
    }
}

#[test]
fn a_worker_that_does_not_say_which_build_it_has_pins_nothing() {
    let mut run = start(json!([task("a").also(json!({ "pinToBuild": true }))]));
    run.take("a", "worker-1");
    run.lose_worker("a");
    run.take_with("a", "b2");
    assert_eq!(pinned_to(&run).as_deref(), Some("b2"));
}

#[test]
fn an_operator_unpins_it_for_good() {
    let mut run = rested();
    pin(&mut run, Pin::Lifted);
    assert_eq!(run.dispatched(), ["a"]);
    run.take_with("a", "b2");
    assert_eq!(pinned_to(&run), None);
    run.lose_worker("a");
    run.take_with("a", "b3");
    assert_eq!(pin(&mut run, Pin::Lifted).reply(), abide_core::command::Reply::Unchanged);
}

#[test]
fn an_operator_pins_it_to_another_build() {
    let mut run = rested();
    pin(&mut run, Pin::To("b2".into()));
    assert_eq!((run.dispatched(), pinned_to(&run).as_deref()), (vec!["a".to_owned()], Some("b2")));
    assert_eq!(run.take_with("a", "b1").code(), "PINNED_TO_BUILD");
    run.take_with("a", "b2");
    pin(&mut run, Pin::To("b3".into()));
    assert_eq!(run.dispatched(), Vec::<String>::new(), "whoever has it keeps it");
    run.complete("a", json!(1));
    assert_eq!(run.status(), "COMPLETED");
    assert_eq!(pin(&mut run, Pin::Lifted).code(), "RUN_ENDED");
}

#[test]
fn what_is_not_pinned_is_not_pinned_by_an_operator() {
    let mut run = start(json!([task("a")]));
    run.take_with("a", "b1");
    assert_eq!(pin(&mut run, Pin::To("b2".into())).reply(), abide_core::command::Reply::Unchanged);
    let of_others = PinTasks { handler: Some("other".into()), pin: Pin::Lifted };
    let mut run = rested();
    let reply = run.send_as("operator", Command::PinTasks(of_others)).reply();
    assert_eq!(reply, abide_core::command::Reply::Unchanged);
    assert_eq!(pin(&mut run, Pin::To("".into())).code(), "MALFORMED");
}

#[test]
fn a_pinned_task_whose_own_build_does_not_fit_waits_for_an_operator() {
    let mismatched = || {
        let mut run = rested();
        run.take_with("a", "b1");
        run.mismatch("a");
        run
    };
    let mut run = mismatched();
    let sentence = "`a` waits for an operator: it is pinned to build `b1`, whose code does not fit: the journal holds `charge`, and the code comes to `bill`";
    assert_eq!(run.waiting_for(), [sentence]);
    run.bring_code("a", "b2");
    assert_eq!(run.open(), ["a CODE"]);
    pin(&mut run, Pin::To("b2".into()));
    assert_eq!((run.open(), run.dispatched()), (Vec::new(), vec!["a".to_owned()]));
    run.take_with("a", "b2");
    let mut run = mismatched();
    pin(&mut run, Pin::Lifted);
    run.take_with("a", "b2");
    assert_eq!(run.status(), "RUNNING");
    let mut run = mismatched();
    run.steer("a", Steering::Complete { payload: None });
    assert_eq!(run.take_with("a", "b2").code(), "PINNED_TO_BUILD");
    run.take_with("a", "b1");
}
