//! `onFailure` and `onCancel`: who is called, when, how often and with what.

use abide_core::command::{Command, TaskFailed, WaitFor};
use abide_core::definition::{AwaitedEvent, Definition, Derived, Hook};
use abide_core::effect::ChildStart;
use abide_core::history::FailureDetail;
use abide_core::webhook_message::webhook_messages;
use serde_json::{Value, json};

use crate::scenario::*;

fn with_hooks(steps: Value) -> Plan {
    plan(json!({
        "name": "order", "version": "3", "steps": steps,
        "onFailure": { "handler": "tell-ops", "retry": { "maxAttempts": 5 } },
        "onCancel": { "handler": "release", "config": { "of": "{{ input.run.name }}" } },
    }))
}

/// The runs that were started to call a handler, with the last command.
fn called(run: &Scenario) -> Vec<ChildStart> {
    run.children().into_iter().filter(|child| Hook::of(&child.definition).is_some()).cloned().collect()
}

fn given(child: &ChildStart) -> Value {
    Value::clone(child.input.given().expect("it is rendered with the end"))
}

/// The run of a hook, begun as the engine would.
fn begun(of: &Scenario, child: &ChildStart) -> Scenario {
    let Some(Derived::Hook(hook, name)) = Definition::derived(&child.definition, child.version.as_deref())
    else {
        panic!("{} is no hook", child.definition);
    };
    assert_eq!(name, of.run().definition.name());
    let derived = of.run().definition.hook(hook).expect("the workflow has it");
    let document = serde_json::to_string(&derived.document).expect("a document is JSON");
    assert_eq!((derived.name(), derived.version()), (&*child.definition, "3"), "{document}");
    Plan::shared(std::sync::Arc::clone(derived)).input(given(child)).child_of(child.parent).start()
}

#[test]
fn a_run_that_fails_calls_its_handler_with_what_became_of_it() {
    let mut run = with_hooks(json!([task("fetch"), task("pay").tries(1)]))
        .input(json!({ "order": 7 }))
        .tags(&["eu"])
        .start();
    run.update("fetch", json!({ "total": 30 }));
    let detail = FailureDetail {
        kind: Some("CardError".to_owned()),
        call: Some("charge".to_owned()),
        stack: Some("at pay".to_owned()),
        ..FailureDetail::default()
    };
    let (at, lease_epoch, code) = (run.at("pay"), run.lease_epoch("pay"), Some("DECLINED".into()));
    run.send(Command::TaskFailed(TaskFailed {
        at,
        lease_epoch,
        message: "the card was declined".to_owned(),
        code,
        retryable: false,
        retry_after: None,
        detail: Some(Box::new(detail)),
        mismatch: None,
    }));
    assert_eq!(run.status(), "FAILED");
    let [child] = &called(&run)[..] else { panic!("it is called once") };
    assert_eq!(run.run().handled_by, Some(child.run_id));
    assert_eq!((&*child.definition, child.version.as_deref()), ("$onFailure/order", Some("3")));
    assert_eq!((child.parent.run_id, child.parent.waitpoint, child.is_hook), (run.run().id, None, true));
    let input = given(child);
    let id = run.run().id.to_string();
    assert_eq!((&input["run"]["id"], &input["run"]["name"]), (&json!(id), &json!("order")));
    assert_eq!((&input["run"]["version"], &input["run"]["tags"]), (&json!("3"), &json!(["eu"])));
    assert_eq!((&input["input"], &input["state"]), (&json!({ "order": 7 }), &json!({ "total": 30 })));
    let error = &input["error"];
    assert_eq!((&error["code"], &error["step"]), (&json!("DECLINED"), &json!("pay")));
    assert_eq!((&error["detail"]["call"], &error["detail"]["stack"]), (&json!("charge"), &json!("at pay")));
    assert!(input.get("leftOut").is_none() && input.get("reason").is_none());
}

#[test]
fn each_failure_of_a_run_that_is_retried_calls_its_handler_once() {
    let mut run = with_hooks(json!([task("pay").tries(1)])).start();
    run.fail("pay");
    let first = run.run().handled_by.unwrap();
    run.retry();
    assert_eq!((run.run().handled_by, called(&run).len()), (None, 1), "a retry calls nobody");
    run.fail("pay");
    let second = run.run().handled_by.unwrap();
    assert_ne!(first, second);
    assert_eq!(called(&run).iter().map(|child| child.run_id).collect::<Vec<_>>(), [first, second]);
    run.retry();
    run.complete("pay", json!(1));
    assert_eq!((run.status().as_str(), run.run().handled_by, called(&run).len()), ("COMPLETED", None, 2));
}

#[test]
fn cancelling_a_sleeping_handler_calls_on_cancel_with_who_and_why() {
    let mut run = with_hooks(json!([task("desk")])).start();
    let nap = WaitFor::Sleep { duration: millis("30d") };
    run.suspend("desk", vec![wait_for("cooling-off", nap)]);
    run.send_as("ana", Command::Cancel { reason: Some("ordered twice".to_owned()) });
    assert_eq!(run.status(), "CANCELLED");
    let [child] = &called(&run)[..] else { panic!("it is called once") };
    let input = given(child);
    assert_eq!(&*child.definition, "$onCancel/order");
    assert_eq!(
        (&input["reason"], &input["by"], &input["error"]),
        (&json!("ordered twice"), &json!("ana"), &Value::Null)
    );
}

#[test]
fn a_delayed_start_that_is_cancelled_calls_on_cancel_too() {
    let mut run = with_hooks(json!([task("a")])).delayed_until("2026-04-01T00:00:00Z").start();
    run.cancel();
    assert_eq!(called(&run).len(), 1);
}

#[test]
fn a_run_that_completes_calls_nobody_and_one_without_hooks_neither() {
    let mut run = with_hooks(json!([task("a")])).start();
    run.complete("a", json!(1));
    assert!(called(&run).is_empty() && run.run().handled_by.is_none());
    let mut plain = start(json!([task("a")]));
    plain.cancel();
    assert!(called(&plain).is_empty() && plain.run().handled_by.is_none());
}

#[test]
fn a_run_that_fails_at_its_start_or_by_its_deadline_calls_its_handler() {
    let run = with_hooks(json!([{ "type": "wait", "name": "w", "duration": "{{ input.nothing }}" }])).start();
    assert_eq!((run.status().as_str(), called(&run).len()), ("FAILED", 1));
    let mut late = plan(json!({
        "timeout": "1h", "steps": [{ "type": "external_event", "name": "s", "signalType": "x" }],
        "onFailure": { "handler": "tell-ops" },
    }))
    .start();
    late.live("2h");
    let [child] = &called(&late)[..] else { panic!("it is called once") };
    assert_eq!(given(child)["error"]["code"], json!("RUN_TIMED_OUT"));
}

#[test]
fn the_run_of_a_hook_is_one_task_with_its_own_policy_and_may_wait() {
    let mut run = with_hooks(json!([task("a")])).start();
    run.cancel();
    let mut hook = begun(&run, &called(&run)[0]);
    assert_eq!(hook.task("onCancel").config, json!({ "of": "order" }).into());
    assert_eq!(hook.task("onCancel").input["run"]["name"], json!("order"));
    let nap = WaitFor::Sleep { duration: millis("2d") };
    hook.suspend("onCancel", vec![wait_for("later", nap)]);
    hook.live("3d");
    hook.fail("onCancel");
    assert_eq!(hook.status(), "WAITING", "it has attempts left");
    hook.live("1h");
    hook.complete("onCancel", json!("told"));
    assert_eq!(hook.status(), "COMPLETED");
}

#[test]
fn a_hook_that_fails_calls_no_other_and_is_told_of_like_any_run() {
    let mut run = with_hooks(json!([task("a").tries(1)])).start();
    run.fail("a");
    let mut hook = begun(&run, &called(&run)[0]);
    hook.fail_for_good("onFailure");
    assert_eq!((hook.status().as_str(), hook.run().handled_by, hook.children().len()), ("FAILED", None, 0));
    let told: Vec<String> =
        webhook_messages(hook.run(), hook.history()).map(|notice| notice.topic.name().to_owned()).collect();
    assert_eq!(told, ["workflow.failed"]);
}

#[test]
fn what_is_too_large_for_a_hook_is_left_out_and_named() {
    let mut run = with_hooks(json!([task("a"), task("b").tries(1)]))
        .input(json!({ "text": "x".repeat(300 * 1024) }))
        .start();
    run.update("a", json!({ "text": "y".repeat(300 * 1024) }));
    run.fail("b");
    let input = given(&called(&run)[0]);
    assert_eq!(input["leftOut"], json!(["input", "state"]));
    assert!(input.get("input").is_none() && input.get("state").is_none());
    assert_eq!(input["error"]["step"], json!("b"));
}

#[test]
fn what_a_hook_may_wait_for_is_known_with_its_workflow() {
    let run = with_hooks(json!([{ "type": "wait", "name": "w", "duration": "1h" }])).start();
    let of = |hook| AwaitedEvent { hook: Some(hook), ..AwaitedEvent::ANY };
    assert_eq!(run.run().definition.awaits(), [of(Hook::OnFailure), of(Hook::OnCancel)]);
}
