//! What a definition says, compiled: what the decisions of a run rely on.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use abide_definition::expression::Template;
use abide_definition::limits;
use abide_definition::retry::RetryPolicy;
use abide_definition::time::Millis;
use abide_definition::{
    Action, Definition, Executor, Items, OnApprovalTimeout, OnTimeout, Order, Target, Until, Work,
};
use serde_json::{Value, json};

fn definition(document: Value) -> Definition {
    Definition::from_value(document).unwrap_or_else(|rejected| panic!("{rejected}")).definition
}

fn with_steps(steps: Value) -> Definition {
    definition(json!({"name": "w", "steps": steps}))
}

/// The action of a workflow's only step.
fn action(step: Value) -> Action {
    with_steps(json!([step])).steps.remove(0).action
}

fn work(step: Value) -> Work {
    let Action::Work(work) = action(step) else { panic!("not work") };
    work
}

fn constant(template: &Template) -> Value {
    Value::clone(template.as_constant().expect("nothing in it is templated"))
}

fn rendered(template: &Template, scope: Value) -> Value {
    Value::clone(&template.render(&scope).unwrap())
}

#[test]
fn a_sequence_goes_on_as_written_unless_a_step_says_otherwise() {
    let definition = with_steps(json!([
        {"name": "a", "type": "task", "handler": "h"},
        {"name": "b", "type": "task", "handler": "h", "next": "d"},
        {"name": "c", "type": "task", "handler": "h", "next": "end"},
        {"name": "d", "type": "task", "handler": "h"},
    ]));
    let next: Vec<Target> = definition.steps.iter().map(|step| step.next).collect();
    assert_eq!(next, [Target::Step(1), Target::Step(3), Target::End, Target::End]);
    assert_eq!(definition.order, Order::Sequence);
    assert_eq!((definition.index_of("c"), definition.index_of("x")), (Some(2), None));
    assert_eq!(&*definition.step(2).name, "c");
}

#[test]
fn a_graph_knows_both_directions_in_the_order_written() {
    let definition = with_steps(json!([
        {"name": "last", "type": "task", "handler": "h", "after": ["y", "x"]},
        {"name": "y", "type": "task", "handler": "h", "after": ["root"]},
        {"name": "root", "type": "task", "handler": "h"},
        {"name": "x", "type": "task", "handler": "h", "after": ["root"]},
    ]));
    assert_eq!(definition.order, Order::Graph);
    assert_eq!(definition.steps[0].after, [1, 3]);
    assert_eq!(definition.steps[2].before, [1, 3]);
    assert_eq!(definition.steps[1].before, [0]);
}

#[test]
fn an_empty_after_makes_a_graph() {
    let definition = with_steps(json!([
        {"name": "a", "type": "task", "handler": "h", "after": []},
        {"name": "b", "type": "task", "handler": "h"},
    ]));
    assert_eq!(definition.order, Order::Graph);
}

#[test]
fn a_condition_leads_to_its_targets() {
    let steps = |order: Value| {
        json!([
            {"name": "a", "type": "condition", "expression": "x", "trueStep": "b", "falseStep": "end"},
            {"name": "b", "type": "task", "handler": "h", "after": order},
        ])
    };
    for order in [Value::Null, json!(["a"])] {
        let Action::Condition { on_true, on_false, .. } = with_steps(steps(order)).steps.remove(0).action
        else {
            panic!()
        };
        assert_eq!((on_true, on_false), (Target::Step(1), Some(Target::End)));
    }
}

#[test]
fn retry_policies_are_whole_and_people_are_asked_once() {
    let definition = definition(
        json!({"name": "w", "defaultRetry": {"maxAttempts": 7, "backoffMs": 500}, "steps": [
            {"name": "a", "type": "task", "handler": "h"},
            {"name": "b", "type": "task", "handler": "h", "retry": {"maxAttempts": 2}},
            {"name": "c", "type": "approval", "contentKey": "k"},
            {"name": "d", "type": "approval", "contentKey": "k", "retry": {"backoffMs": 200}},
            {"name": "e", "type": "approval", "contentKey": "k", "retry": {"maxAttempts": 4}},
            {"name": "f", "type": "map", "items": [], "retry": {"maxAttempts": 5}, "step": {"type": "task", "handler": "h"}},
            {"name": "g", "type": "map", "items": [], "step": {"type": "task", "handler": "h", "retry": {"maxAttempts": 6}}},
        ]}),
    );
    let attempts: Vec<(u32, Millis)> =
        definition.steps.iter().map(|step| (step.retry.max_attempts, step.retry.backoff)).collect();
    assert_eq!(attempts[0], (7, Millis(500)));
    assert_eq!(attempts[1], (2, Millis(500)));
    assert_eq!(definition.steps[2].retry, RetryPolicy::ONCE);
    assert_eq!(attempts[3], (1, Millis(200)));
    assert_eq!(attempts[4].0, 4);
    let of_items: Vec<u32> = definition.steps[5..]
        .iter()
        .map(|step| {
            let Action::Map(map) = &step.action else { panic!("not a map") };
            map.step.retry.max_attempts
        })
        .collect();
    assert_eq!(of_items, [5, 6]);
}

#[test]
fn a_task_has_templates_for_its_config_and_its_input() {
    let work = work(
        json!({"name": "a", "type": "task", "handler": "h", "config": {"x": 1}, "input": {"to": "{{ input.to }}"},
        "timeout": "5m", "heartbeatMs": 100}),
    );
    assert_eq!((work.executor, &*work.handler), (Executor::Handler, "h"));
    assert_eq!(constant(&work.config.unwrap()), json!({"x": 1}));
    assert_eq!(rendered(&work.input.unwrap(), json!({"input": {"to": 5}})), json!({"to": 5}));
    assert_eq!((work.timeout, work.heartbeat), (Some(Millis(300_000)), Some(Millis(100))));
}

#[test]
fn a_request_over_http_is_whole() {
    let work = work(
        json!({"name": "a", "type": "http", "url": "https://x/{{ input.id }}", "body": "{{ input.body }}"}),
    );
    assert_eq!((work.executor, &*work.handler), (Executor::Http, "http"));
    let request = rendered(&work.input.unwrap(), json!({"input": {"id": 7, "body": {"a": 1}}}));
    assert_eq!(
        request,
        json!({"url": "https://x/7", "method": "GET", "failOn": ["4xx", "5xx"], "body": {"a": 1}})
    );
    let given = self::work(
        json!({"name": "a", "type": "http", "url": "https://x", "method": "PUT", "failOn": [404, "5xx"],
        "headers": {"x-a": "b"}, "timeoutMs": 9}),
    );
    let request = constant(&given.input.unwrap());
    assert_eq!(
        request,
        json!({"url": "https://x", "method": "PUT", "failOn": [404, "5xx"], "headers": {"x-a": "b"}})
    );
    assert_eq!(given.timeout, Some(Millis(9)));
}

#[test]
fn in_a_request_to_a_model_only_the_prompts_are_templates() {
    let schema = json!({"type": "object", "description": "not a {{ template }}"});
    let work = work(
        json!({"name": "a", "type": "llm", "model": "m", "fallbackModels": ["n"], "systemPrompt": "Be {{ state.mood }}.",
        "messages": [{"role": "user", "content": "{{ input.question }}"}], "responseFormat": "json", "outputSchema": schema,
        "tools": [{"name": "t", "description": "{{ no template }}"}], "temperature": 0.5, "maxTokens": 10, "maxToolRounds": 2,
        "guardrails": [{"type": "content_safety", "blocked": ["{{ x }}"]}]}),
    );
    assert_eq!((work.executor, &*work.handler), (Executor::Llm, "llm"));
    let request =
        rendered(&work.input.unwrap(), json!({"state": {"mood": "kind"}, "input": {"question": "Why?"}}));
    assert_eq!(
        request,
        json!({"model": "m", "fallbackModels": ["n"], "systemPrompt": "Be kind.", "messages": [{"role": "user", "content": "Why?"}],
            "responseFormat": "json", "outputSchema": schema, "tools": [{"name": "t", "description": "{{ no template }}"}],
            "temperature": 0.5, "maxTokens": 10, "maxToolRounds": 2,
            "guardrails": [{"type": "content_safety", "blocked": ["{{ x }}"]}]})
    );
}

#[test]
fn a_notification_says_everything() {
    let work = work(json!({"name": "a", "type": "notify", "eventId": "e"}));
    assert_eq!((work.executor, &*work.handler), (Executor::Notify, "notify"));
    assert_eq!(
        constant(&work.input.unwrap()),
        json!({"eventId": "e", "data": null, "runId": null, "delivery": "all"})
    );
}

#[test]
fn a_reply_is_whole() {
    let Action::Respond { response } = action(json!({"name": "a", "type": "respond"})) else { panic!() };
    assert_eq!(constant(&response), json!({"status": 200, "headers": {}, "body": null}));
    let webhook = json!({"name": "a", "type": "webhook", "responseToSend": {"status": 202, "body": {"id": "{{ run.id }}"}}});
    let Action::Webhook { response, allow_get, deadline, .. } = action(webhook) else { panic!() };
    let reply = rendered(&response.unwrap(), json!({"run": {"id": "r"}}));
    assert_eq!(reply, json!({"status": 202, "headers": {}, "body": {"id": "r"}}));
    assert!(!allow_get);
    assert_eq!((deadline.timeout, deadline.on_timeout), (None, OnTimeout::Fail));
}

#[test]
fn waits_are_lengths_instants_cron_lines_or_templates_of_them() {
    let until = |fields: Value| {
        let Action::Wait(until) = action(merged(json!({"name": "a", "type": "sleep"}), fields)) else {
            panic!("not a wait")
        };
        until
    };
    assert!(matches!(until(json!({"durationMs": 1_800_000})), Until::For(Millis(1_800_000))));
    assert!(matches!(until(json!({"duration": "2d 4h"})), Until::For(Millis(187_200_000))));
    assert!(matches!(until(json!({"duration": "{{ input.delay }}"})), Until::ForRendered(_)));
    let Until::Instant(instant) = until(json!({"untilTimestamp": "2026-04-15T09:00:00.000Z"})) else {
        panic!()
    };
    assert_eq!(instant.to_string(), "2026-04-15T09:00:00Z");
    assert!(matches!(until(json!({"untilTimestamp": "{{ input.when }}"})), Until::InstantRendered(_)));
    let Until::Cron(cron) = until(json!({"cron": "0 9 * * MON", "timezone": "Europe/Berlin"})) else {
        panic!()
    };
    assert_eq!(cron.zone_name(), "Europe/Berlin");
}

fn merged(step: Value, fields: Value) -> Value {
    let (Value::Object(mut step), Value::Object(fields)) = (step, fields) else { panic!() };
    step.extend(fields);
    Value::Object(step)
}

#[test]
fn each_wait_has_its_own_default_for_the_end_of_its_time() {
    let Action::Signal { deadline, signal_type } =
        action(json!({"name": "a", "type": "external_event", "signalType": "s", "timeoutMs": 5}))
    else {
        panic!()
    };
    assert_eq!(
        (&*signal_type, deadline.timeout, deadline.on_timeout),
        ("s", Some(Millis(5)), OnTimeout::Fail)
    );
    let event = json!({"name": "a", "type": "wait_for_event", "eventId": "e-{{ input.x }}", "match": "event.y", "lookback": "1h"});
    let Action::Event { deadline, lookback, matching, event_id } = action(event) else { panic!() };
    assert_eq!((deadline.on_timeout, lookback), (OnTimeout::Continue, Some(Millis(3_600_000))));
    assert_eq!((matching.unwrap().source(), event_id.as_constant().is_none()), ("event.y", true));
    let Action::Approval(approval) = action(json!({"name": "a", "type": "approval", "contentKey": "k"}))
    else {
        panic!()
    };
    assert_eq!(
        (approval.quorum, approval.on_timeout, approval.on_reject),
        (1, OnApprovalTimeout::Fail, OnTimeout::Fail)
    );
    let jump = with_steps(json!([
        {"name": "a", "type": "approval", "contentKey": "k", "onTimeout": {"goto": "b"}, "onReject": {"goto": "end"}},
        {"name": "b", "type": "task", "handler": "h"},
    ]));
    let Action::Approval(approval) = &jump.steps[0].action else { panic!() };
    assert_eq!(approval.on_timeout, OnApprovalTimeout::Goto(Target::Step(1)));
    assert_eq!(approval.on_reject, OnTimeout::Goto(Target::End));
}

#[test]
fn a_child_waits_and_gets_an_empty_object_unless_told_otherwise() {
    let Action::Child { definition, version, input, wait } =
        action(json!({"name": "a", "type": "workflow", "definition": "d"}))
    else {
        panic!()
    };
    assert_eq!((&*definition, version, wait), ("d", None, true));
    assert_eq!(constant(&input), json!({}));
}

#[test]
fn a_map_does_its_step_under_its_own_name() {
    let map = |items: Value| {
        let step = json!({"name": "m", "type": "map", "items": items, "step": {"type": "task", "handler": "h", "input": "{{ item }}-{{ index }}"}});
        let Action::Map(map) = action(step) else { panic!("not a map") };
        map
    };
    let by_expression = map(json!("input.orders"));
    assert!(
        matches!(&by_expression.items, Items::Expression(expression) if expression.source() == "input.orders")
    );
    assert_eq!(
        (&*by_expression.step.name, by_expression.concurrency, by_expression.collect_failures),
        ("m", limits::MAP_CONCURRENCY, false)
    );
    assert!(matches!(map(json!("{{ input.orders }}")).items, Items::Template(_)));
    assert!(matches!(map(json!([1, "{{ input.x }}"])).items, Items::Template(_)));
}

#[test]
fn a_run_has_its_own_deadline_input_and_output() {
    let definition =
        definition(json!({"name": "w", "version": "2", "timeout": "1h", "inputSchema": {"type": "object"},
        "output": {"x": "{{ state.x }}"}, "steps": [{"name": "a", "type": "task", "handler": "h"}]}));
    assert_eq!(
        (definition.name(), definition.version(), definition.timeout),
        ("w", "2", Some(Millis(3_600_000)))
    );
    assert_ne!(definition.input_schema.unwrap().errors(&json!(5)), []);
    assert_eq!(rendered(&definition.output.unwrap(), json!({"state": {"x": 1}})), json!({"x": 1}));
}

/// A payload's keys never become part of the engine's own requests.
#[test]
fn the_keys_of_requests_are_those_of_the_document() {
    let work =
        work(json!({"name": "a", "type": "http", "url": "https://x", "headers": {"a": "{{ input.v }}"}}));
    let request = rendered(&work.input.unwrap(), json!({"input": {"v": "1"}}));
    let keys: BTreeMap<String, Value> = serde_json::from_value(request).unwrap();
    assert_eq!(keys.keys().map(String::as_str).collect::<Vec<_>>(), ["failOn", "headers", "method", "url"]);
}

#[test]
fn runs_on_many_threads_share_a_definition() {
    fn shared<T: Send + Sync>() {}
    shared::<Definition>();
}
