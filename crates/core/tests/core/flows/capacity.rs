//! R22 A limit is a wait: what a run and its steps ask for, what they hold, and when they give it back.

use abide_core::command::{Capacity, Command, Steering};
use abide_core::effect::{CapacityEffect, RoundEffect};
use abide_core::waitpoint::Kind;
use serde_json::{Value, json};

use crate::scenario::*;

fn limited(limits: Value, steps: Value) -> Scenario {
    start(json!({ "name": "limited", "version": "1", "limits": limits, "steps": steps }))
}

/// What the last decision asks of limits.
fn asked(run: &Scenario) -> Vec<&'static str> {
    let capacity = |effect: &RoundEffect| match effect {
        RoundEffect::Capacity(effect) => Some(match effect {
            CapacityEffect::Ask { .. } => "ask",
            CapacityEffect::Leave { .. } => "leave",
            CapacityEffect::Seize { .. } => "seize",
            CapacityEffect::Release { .. } => "give back",
        }),
        RoundEffect::LookBack { .. }
        | RoundEffect::StartChild(_)
        | RoundEffect::CancelChild { .. }
        | RoundEffect::TellParent { .. }
        | RoundEffect::TellSchedule { .. } => None,
    };
    run.last().in_round.iter().filter_map(capacity).collect()
}

fn grant(run: &mut Scenario) {
    let number = run.wait_of_kind(Kind::Capacity);
    run.send(Command::Capacity(Capacity::Grant { number }));
}

#[test]
fn a_run_asks_before_it_begins_and_gives_its_room_back_when_it_ends() {
    let mut run = limited(json!([{ "name": "one", "concurrency": 1 }]), json!([task("a")]));
    assert_eq!((run.status(), asked(&run)), ("PENDING".to_owned(), vec!["ask"]));
    grant(&mut run);
    assert_eq!((run.status(), run.dispatched()), ("RUNNING".to_owned(), vec!["a".to_owned()]));
    run.complete("a", json!(1));
    assert_eq!((run.status(), asked(&run)), ("COMPLETED".to_owned(), vec!["give back"]));
}

#[test]
fn a_run_that_waits_holds_nothing_for_its_work_and_asks_again_before_it_goes_on() {
    let mut run = limited(
        json!([{ "name": "one", "concurrency": 1 }]),
        json!([task("a"), sleep("s", "1d"), task("b")]),
    );
    grant(&mut run);
    run.complete("a", json!(1));
    assert_eq!((run.status(), asked(&run)), ("WAITING".to_owned(), vec!["give back"]));
    run.live("1d");
    assert_eq!((run.status(), asked(&run), run.dispatched()), ("WAITING".to_owned(), vec!["ask"], vec![]));
    grant(&mut run);
    assert_eq!((run.status(), run.dispatched()), ("RUNNING".to_owned(), vec!["b".to_owned()]));
    run.complete("b", json!(1));
    assert_eq!((run.status(), asked(&run)), ("COMPLETED".to_owned(), vec!["give back"]));
}

#[test]
fn a_run_that_holds_its_room_to_the_end_keeps_it_while_it_waits() {
    let limits = json!([{ "name": "one", "concurrency": 1, "holds": "run" }]);
    let mut run = limited(limits, json!([sleep("s", "1d"), task("b")]));
    grant(&mut run);
    assert_eq!((run.status(), asked(&run)), ("WAITING".to_owned(), vec![]));
    run.live("1d");
    assert_eq!(
        (run.status(), asked(&run), run.dispatched()),
        ("RUNNING".to_owned(), vec![], vec!["b".to_owned()])
    );
}

#[test]
fn whatever_ends_a_wait_for_room_leaves_the_line_and_an_operator_lets_it_in_past_it() {
    let limits = json!([{ "name": "one", "concurrency": 1 }]);
    for (steering, status, asks) in [
        (Steering::Complete { payload: None }, "RUNNING", "seize"),
        (Steering::TimeOut, "FAILED", "leave"),
        (Steering::Cancel, "CANCELLED", "leave"),
    ] {
        let mut run = limited(limits.clone(), json!([task("a")]));
        let number = run.wait_of_kind(Kind::Capacity);
        run.send_as("operator", Command::Steer(abide_core::command::Steer::new(number, steering)));
        assert_eq!((run.status(), asked(&run)), (status.to_owned(), vec![asks]));
    }
}

#[test]
fn each_attempt_of_a_step_asks_and_gives_back() {
    let limit = json!({ "limits": [{ "name": "crm", "concurrency": 1 }] });
    let mut run = start(json!([task("a").also(limit).tries(2)]));
    assert_eq!((run.status(), asked(&run)), ("WAITING".to_owned(), vec!["ask"]));
    grant(&mut run);
    assert_eq!((run.dispatched(), run.attempt("a")), (vec!["a".to_owned()], 1));
    run.fail("a");
    assert_eq!(asked(&run), ["give back"]);
    run.live("1h");
    assert_eq!((asked(&run), run.attempt("a")), (vec!["ask"], 2));
    grant(&mut run);
    assert_eq!((run.dispatched(), run.attempt("a")), (vec!["a".to_owned()], 2));
    run.complete("a", json!(1));
    assert_eq!((run.status(), asked(&run)), ("COMPLETED".to_owned(), vec!["give back"]));
}

#[test]
fn a_failed_run_asks_again_when_it_is_retried() {
    let mut run =
        limited(json!([{ "name": "one", "concurrency": 1, "holds": "run" }]), json!([task("a").tries(1)]));
    grant(&mut run);
    run.fail("a");
    assert_eq!((run.status(), asked(&run)), ("FAILED".to_owned(), vec!["give back"]));
    run.send(Command::Retry);
    assert_eq!((run.status(), asked(&run), run.dispatched()), ("WAITING".to_owned(), vec!["ask"], vec![]));
    grant(&mut run);
    assert_eq!(run.dispatched(), ["a"]);
}
