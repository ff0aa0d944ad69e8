//! Calls that the engine makes for durable code: a wait of the handler, a run of its own, one `http` step.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::command::{ChildOutcome, WaitFor};
use abide_core::definition::document::{Method, Retry, StatusPattern};
use abide_core::definition::{Definition, Derived, Executor, HttpCall};
use abide_core::effect::{ChildStart, RoundEffect};
use abide_core::history::{Failure, WakeOn};
use serde_json::{Value, json};

use crate::scenario::*;

fn call() -> HttpCall {
    HttpCall {
        url: "https://example.com/{{ input.order }}".to_owned(),
        method: Method::Post,
        headers: BTreeMap::from([("x-from".to_owned(), "{{ secret.KEY }}".to_owned())]),
        body: Some(json!({ "n": "{{ state.n }}" }).into()),
        fail_on: None,
        retry: Retry::attempts(2),
        timeout_ms: Some(4_000),
    }
}

fn asks(name: &str, call: HttpCall) -> abide_core::command::WaitSpec {
    wait_for(name, WaitFor::Http(Box::new(call)))
}

fn begun(child: &ChildStart) -> Scenario {
    let Some(Derived::Whole(derived)) = Definition::derived(&child.definition, child.version.as_deref())
    else {
        panic!("a call is derived from its name");
    };
    let input = Value::clone(child.input.given().expect("a call has its request"));
    Plan::shared(Arc::new(derived.expect("it is sound"))).input(input).child_of(child.parent).start()
}

#[test]
fn a_call_is_a_run_whose_request_is_what_the_code_asked_for_and_no_template() {
    let mut run = start(json!([task("desk")]));
    run.suspend("desk", vec![asks("rate", call())]);
    assert_eq!((run.status(), run.open()), ("WAITING".to_owned(), vec!["desk CHILD".to_owned()]));
    let child = run.children()[0].clone();
    let made = begun(&child);
    let asked = made.task("call");
    assert_eq!((asked.executor, asked.timeout), (Executor::Http, Some(millis("4s"))));
    assert!(asked.secrets.is_empty());
    assert_eq!(
        *asked.input,
        json!({
            "url": "https://example.com/{{ input.order }}", "method": "POST",
            "headers": { "x-from": "{{ secret.KEY }}" }, "body": { "n": "{{ state.n }}" },
            "failOn": ["4xx", "5xx"],
        })
    );
}

#[test]
fn a_call_that_fails_is_made_again_after_a_back_off_and_its_outcome_ends_the_wait() {
    let mut run = start(json!([task("desk")]));
    run.suspend("desk", vec![asks("rate", call())]);
    let mut made = begun(&run.children()[0].clone());
    made.fail("call");
    assert_eq!(made.open(), ["call RETRY"]);
    made.live("1m");
    made.complete("call", json!({ "status": 200, "headers": {}, "body": { "rate": 3 } }));
    let tells = made.last_in_round().to_vec();
    let [RoundEffect::TellParent { outcome, .. }] = &tells[..] else { panic!("{tells:?}") };
    run.child_ends("desk", outcome.clone());
    assert_eq!(run.step("desk"), "RUNNING");
    let (name, payload) = run.journal_of("desk")[0].clone();
    assert_eq!((name.as_str(), &payload["payload"]["output"]["body"]), ("rate", &json!({ "rate": 3 })));
    assert_eq!(payload["payload"]["status"], json!("COMPLETED"));
}

#[test]
fn a_call_that_is_given_up_hands_its_failure_to_the_code() {
    let mut run = start(json!([task("desk")]));
    run.suspend("desk", vec![asks("rate", call())]);
    let error = Failure::new("HTTP_ADDRESS_REFUSED", "not there");
    run.child_ends("desk", ChildOutcome::Failed { error });
    let (_, payload) = run.journal_of("desk")[0].clone();
    assert_eq!(payload["payload"]["error"]["code"], json!("HTTP_ADDRESS_REFUSED"));
}

#[test]
fn the_loser_of_a_race_and_the_call_of_a_cancelled_run_are_cancelled() {
    let nap = || wait_for("nap", WaitFor::Sleep { duration: millis("1s") });
    let mut race = start(json!([task("desk")]));
    race.suspend_for("desk", vec![asks("rate", call()), nap()], WakeOn::Any, &[]);
    let run_id = race.children()[0].run_id;
    race.live("1m");
    assert!(race.in_round().contains(&RoundEffect::CancelChild { run_id }));
    let mut run = start(json!([task("desk")]));
    run.suspend("desk", vec![asks("rate", call())]);
    let run_id = run.children()[0].run_id;
    run.cancel();
    assert!(run.last_in_round().contains(&RoundEffect::CancelChild { run_id }));
}

#[test]
fn a_call_that_cannot_be_made_is_refused_with_its_place() {
    let long = "x".repeat(9_000);
    let bad: Vec<(HttpCall, &str)> = vec![
        (HttpCall { url: "/here".to_owned(), ..call() }, "MALFORMED"),
        (HttpCall { url: "ftp://x".to_owned(), ..call() }, "MALFORMED"),
        (HttpCall { url: format!("https://{long}"), ..call() }, "LIMIT_EXCEEDED"),
        (HttpCall { headers: [("a b".to_owned(), String::new())].into(), ..call() }, "MALFORMED"),
        (HttpCall { fail_on: Some(vec![StatusPattern::One(99)]), ..call() }, "MALFORMED"),
        (HttpCall { fail_on: Some(vec![StatusPattern::Class("6xx".to_owned())]), ..call() }, "MALFORMED"),
        (HttpCall { retry: Retry::attempts(21), ..call() }, "MALFORMED"),
        (HttpCall { retry: Retry::attempts(0), ..call() }, "MALFORMED"),
        (HttpCall { retry: Retry::default().backoff_ms(1, 2.0), ..call() }, "MALFORMED"),
        (HttpCall { retry: Retry::default().backoff_ms(100, 11.0), ..call() }, "MALFORMED"),
        (HttpCall { timeout_ms: Some(0), ..call() }, "MALFORMED"),
        (HttpCall { body: Some(json!("x".repeat(1024 * 1024)).into()), ..call() }, "LIMIT_EXCEEDED"),
    ];
    for (call, code) in bad {
        let mut run = start(json!([task("desk")]));
        let url = call.url.chars().take(20).collect::<String>();
        assert_eq!(run.suspend("desk", vec![asks("rate", call)]).code(), code, "{url}");
    }
}
