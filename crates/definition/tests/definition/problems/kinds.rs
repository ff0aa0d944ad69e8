use abide_definition::problem::Code;

use super::{assert_is, problem, problem_of_steps, rejected, workflow};

const MESSAGES: &str = "messages: [{role: user, content: hello}]";

#[test]
fn expressions_are_parsed_where_they_stand() {
    for (step, field) in [
        ("{name: a, type: task, handler: h, when: 'x =='}", "when"),
        ("{name: a, type: condition, expression: '(x', trueStep: end}", "expression"),
        ("{name: a, type: wait_for_event, eventId: e, match: 'event.x and'}", "match"),
        ("{name: a, type: map, items: 'input.', step: {type: task, handler: h}}", "items"),
    ] {
        assert_is(&problem_of_steps(step), &format!("/steps/0/{field}"), Code::BadExpression, None);
    }
}

#[test]
fn templates_are_parsed_where_they_stand() {
    for (step, field) in [
        ("{name: a, type: task, handler: h, input: {list: [x, '{{ a']}}", "input/list/1"),
        ("{name: a, type: task, handler: h, config: {'a/b': '{{ }}'}}", "config/a~1b"),
        ("{name: a, type: http, url: 'https://x/{{'}", "url"),
        ("{name: a, type: http, url: 'https://x', headers: {x: '{{ a'}}", "headers/x"),
        ("{name: a, type: http, url: 'https://x', body: '{{ a ==}}'}", "body"),
        ("{name: a, type: llm, model: m, messages: [{role: user, content: '{{ a'}]}", "messages/0/content"),
        ("{name: a, type: notify, eventId: '{{'}", "eventId"),
        ("{name: a, type: notify, eventId: e, runId: '{{'}", "runId"),
        ("{name: a, type: respond, body: {x: '{{ a'}}", "body/x"),
        ("{name: a, type: webhook, responseToSend: {body: '{{ a'}}", "responseToSend/body"),
        ("{name: a, type: workflow, definition: d, input: ['{{ a']}", "input/0"),
        ("{name: a, type: approval, contentKey: k, prompt: '{{ a'}", "prompt"),
        ("{name: a, type: wait, duration: '{{ a'}", "duration"),
        ("{name: a, type: wait_for_event, eventId: 'order-{{'}", "eventId"),
        ("{name: a, type: map, items: ['{{ a'], step: {type: task, handler: h}}", "items/0"),
        ("{name: a, type: map, items: input.x, step: {type: task, handler: h, input: '{{ a'}}", "step/input"),
    ] {
        assert_is(&problem_of_steps(step), &format!("/steps/0/{field}"), Code::BadTemplate, None);
    }
    let output = problem("name: w\noutput: {x: '{{ a'}\nsteps: [{name: a, type: task, handler: h}]");
    assert_is(&output, "/output/x", Code::BadTemplate, None);
}

#[test]
fn a_debounce_says_for_how_long_it_is_quiet_and_its_key_sees_the_input_alone() {
    let of = |debounce: &str| {
        format!("name: w\ndebounce: {debounce}\nsteps: [{{name: a, type: task, handler: h}}]")
    };
    for (text, field, code) in [
        ("{}", "quiet", Code::Contradiction),
        ("{quiet: 0s}", "quiet", Code::OutOfRange),
        ("{quiet: 1m, quietMs: 5}", "quiet", Code::Contradiction),
        ("{quiet: 1m, atMost: 59s}", "atMost", Code::Contradiction),
        ("{quiet: 1m, size: 5}", "size", Code::Contradiction),
        ("{quiet: 1m, key: '{{ state.x }}'}", "key", Code::BadTemplate),
        ("{quiet: soon}", "quiet", Code::BadDuration),
    ] {
        assert_is(&problem(&of(text)), &format!("/debounce/{field}"), code, None);
    }
    let good =
        abide_definition::Definition::from_text(&of("{quiet: 30s, key: 'a-{{ input.id }}'}")).expect("good");
    let debounce = good.definition.debounce.expect("it has one");
    assert_eq!((debounce.quiet.0, debounce.at_most.0, debounce.collect), (30_000, 300_000, false));
    let key = |input| debounce.key(&input).ok().map(|key| key.to_string());
    assert_eq!(key(serde_json::json!({ "id": 7 })), Some("a-7".to_owned()));
    assert_eq!(key(serde_json::json!({})), None, "what is unknown is no key");
    assert_eq!(key(serde_json::json!({ "id": "x".repeat(300) })), None);
    let own = problem(
        "name: w\nlimits: [{name: $debounce, concurrency: 1}]\nsteps: [{name: a, type: task, handler: h}]",
    );
    assert_is(&own, "/limits/0/name", Code::Contradiction, None);
}

#[test]
fn what_an_event_starts_sees_the_event_and_nothing_else() {
    let start =
        |start: &str| format!("name: w\nstartOn: [{start}]\nsteps: [{{name: a, type: task, handler: h}}]");
    for (text, field, code) in [
        ("{eventId: e, match: 'event.x and'}", "match", Code::BadExpression),
        ("{eventId: e, match: 'input.x == 1'}", "match", Code::BadExpression),
        ("{eventId: e, match: 'x == 1'}", "match", Code::BadExpression),
        ("{eventId: e, input: {a: ['{{ state.x }}']}}", "input/a/0", Code::BadTemplate),
        ("{eventId: e, input: '{{ event.x'}", "input", Code::BadTemplate),
        ("{eventId: e, idempotencyKey: '{{ run.id }}'}", "idempotencyKey", Code::BadTemplate),
        ("{eventId: 'order-{{ event.x }}'}", "eventId", Code::BadTemplate),
    ] {
        assert_is(&problem(&start(text)), &format!("/startOn/0/{field}"), code, None);
    }
    let unknown = problem(&start("{eventId: e, key: k}"));
    assert_eq!(unknown.pointer, "/startOn/0/key");
    let good = "{eventId: e, match: 'event.kind == \"x\"', input: {id: '{{ event.id }}'}, idempotencyKey: 'k-{{ event.id }}'}";
    let good = abide_definition::Definition::from_text(&start(good)).expect("it is good").definition;
    let [on] = &good.start_on[..] else { panic!("one") };
    let data = abide_definition::json::Json::from(serde_json::json!({ "kind": "x", "id": 7 }));
    assert!(on.accepts_at(&data).0 && !on.accepts_at(&serde_json::json!(null)).0);
    let wanted = on.start(&data).expect("it can be rendered");
    assert_eq!((wanted.input, wanted.key), (serde_json::json!({ "id": 7 }).into(), Some("k-7".to_owned())));
    assert!(on.start(&serde_json::json!({}).into()).is_err());
}

#[test]
fn a_template_where_none_is_filled_in_is_refused() {
    for (step, field) in [
        ("{name: a, type: task, handler: '{{ input.h }}'}", "handler"),
        ("{name: a, type: external_event, signalType: 'x-{{ input.id }}'}", "signalType"),
        ("{name: a, type: workflow, definition: '{{ input.d }}'}", "definition"),
        ("{name: a, type: task, handler: h, saveAs: '{{ input.k }}'}", "saveAs"),
        ("{name: a, type: approval, contentKey: k, approvers: ['{{ input.boss }}']}", "approvers/0"),
        ("{name: a, type: llm, model: '{{ input.m }}', messages: [{role: user, content: x}]}", "model"),
    ] {
        assert_is(&problem_of_steps(step), &format!("/steps/0/{field}"), Code::BadTemplate, None);
    }
}

#[test]
fn an_expression_or_template_that_names_no_step_comes_with_the_nearest() {
    for (step, field) in [
        ("{name: b, type: task, handler: h, when: steps.lod-lead.output.ok}", "when"),
        ("{name: b, type: task, handler: h, input: {x: '{{ steps[\"lod-lead\"].output }}'}}", "input/x"),
        ("{name: b, type: wait_for_event, eventId: e, match: event.id == steps.lod-lead.output.id}", "match"),
    ] {
        let unknown = problem_of_steps(&format!("{{name: load-lead, type: task, handler: h}}\n{step}"));
        assert_is(&unknown, &format!("/steps/1/{field}"), Code::UnknownStep, Some("load-lead"));
    }
    let output =
        problem("name: w\noutput: '{{ steps.b.output }}'\nsteps: [{name: a, type: task, handler: h}]");
    assert_is(&output, "/output", Code::UnknownStep, None);
}

#[test]
fn item_and_index_are_known_in_a_map_only_and_event_in_a_match_only() {
    let item = problem_of_steps("{name: a, type: task, handler: h, input: '{{ item.url }}'}");
    assert_is(&item, "/steps/0/input", Code::BadTemplate, None);
    let index = problem_of_steps("{name: a, type: task, handler: h, when: index > 0}");
    assert_is(&index, "/steps/0/when", Code::BadExpression, None);
    let items = problem_of_steps("{name: a, type: map, items: item.list, step: {type: task, handler: h}}");
    assert_is(&items, "/steps/0/items", Code::BadExpression, None);
    let event = problem_of_steps("{name: a, type: condition, expression: event.x, trueStep: end}");
    assert_is(&event, "/steps/0/expression", Code::BadExpression, None);
    let id = problem_of_steps("{name: a, type: wait_for_event, eventId: '{{ event.x }}'}");
    assert_is(&id, "/steps/0/eventId", Code::BadTemplate, None);
}

#[test]
fn the_items_of_a_map_are_a_list_or_something_that_gives_one() {
    for items in ["5", "{a: 1}", "true"] {
        let wrong = problem_of_steps(&format!(
            "{{name: a, type: map, items: {items}, step: {{type: task, handler: h}}}}"
        ));
        assert_is(&wrong, "/steps/0/items", Code::WrongType, None);
    }
    let many = format!("[{}]", "1,".repeat(10_001));
    let many =
        problem_of_steps(&format!("{{name: a, type: map, items: {many}, step: {{type: task, handler: h}}}}"));
    assert_is(&many, "/steps/0/items", Code::LimitExceeded, None);
}

#[test]
fn schemas_are_json_schemas_that_refer_to_nothing_outside() {
    for schema in [
        "{type: strin}",
        "5",
        "{pattern: '('}",
        "{pattern: '(?=x)'}",
        "{$ref: 'https://example.com/x.json'}",
        "{$ref: '#/$defs/x'}",
    ] {
        let bad =
            problem(&format!("name: w\ninputSchema: {schema}\nsteps: [{{name: a, type: task, handler: h}}]"));
        assert_is(&bad, "/inputSchema", Code::BadSchema, None);
    }
    for (rest, field) in [
        ("responseFormat: json, outputSchema: {type: strin}", "outputSchema"),
        ("tools: [{name: t, parameters: {type: 5}}]", "tools/0/parameters"),
        (
            "responseFormat: json, guardrails: [{type: schema_validation, schema: {type: 5}}]",
            "guardrails/0/schema",
        ),
    ] {
        let bad = problem_of_steps(&format!("{{name: a, type: llm, model: m, {MESSAGES}, {rest}}}"));
        assert_is(&bad, &format!("/steps/0/{field}"), Code::BadSchema, None);
    }
}

#[test]
fn what_is_about_json_needs_an_answer_in_json() {
    for (rest, field) in [
        ("outputSchema: {type: object}", "outputSchema"),
        ("responseFormat: text, outputSchema: {type: object}", "outputSchema"),
        ("guardrails: [{type: schema_validation, schema: {type: object}}]", "guardrails/0"),
        ("guardrails: [{type: confidence_threshold, minimum: 0.5}]", "guardrails/0"),
        ("responseFormat: json, guardrails: [{type: schema_validation}]", "guardrails/0"),
    ] {
        let bad = problem_of_steps(&format!("{{name: a, type: llm, model: m, {MESSAGES}, {rest}}}"));
        assert_is(&bad, &format!("/steps/0/{field}"), Code::Contradiction, None);
    }
}

#[test]
fn tools_have_names_of_their_own_and_one_server_each() {
    let llm = |tools: &str| {
        problem_of_steps(&format!("{{name: a, type: llm, model: m, {MESSAGES}, tools: {tools}}}"))
    };
    assert_is(&llm("[{name: t}, {name: t}]"), "/steps/0/tools/1/name", Code::DuplicateName, None);
    assert_is(&llm("[{name: t, handler: h, workflow: w}]"), "/steps/0/tools/0", Code::Contradiction, None);
    assert_is(&llm("[{name: 'look up'}]"), "/steps/0/tools/0/name", Code::OutOfRange, None);
}

#[test]
fn no_more_approvals_are_needed_than_there_are_approvers() {
    let quorum = problem_of_steps("{name: a, type: approval, contentKey: k, approvers: [x, y], quorum: 3}");
    assert_is(&quorum, "/steps/0/quorum", Code::OutOfRange, None);
    let twice = problem_of_steps("{name: a, type: approval, contentKey: k, approvers: [x, x]}");
    assert_is(&twice, "/steps/0/approvers/1", Code::DuplicateName, None);
}

#[test]
fn a_call_goes_to_a_whole_url_with_headers_that_exist() {
    for url in ["example.com", "/path", "ftp://example.com", "file:///etc/passwd"] {
        let bad = problem_of_steps(&format!("{{name: a, type: http, url: '{url}'}}"));
        assert_is(&bad, "/steps/0/url", Code::OutOfRange, None);
    }
    for step in [
        "{name: a, type: http, url: 'https://x', headers: {'x y': z}}",
        "{name: a, type: respond, headers: {'x y': z}}",
    ] {
        assert_is(&problem_of_steps(step), "/steps/0/headers/x y", Code::OutOfRange, None);
    }
}

#[test]
fn a_thousand_unknown_targets_in_a_thousand_steps_are_told_quickly() {
    let steps: String = (0..1000)
        .map(|step| {
            format!(
                "{{name: {step:0>100}, type: condition, expression: x, trueStep: {}{step}}}\n",
                "x".repeat(90)
            )
        })
        .collect();
    let work = crate::time::Work::begin();
    assert_eq!(rejected(&workflow(&steps)).problems.len(), 1000);
    assert!(work.so_far().as_secs() < 10, "{:?}", work.so_far());
}

#[test]
fn a_secret_is_known_only_where_a_call_is_made_and_stands_by_itself() {
    for (step, field, code) in [
        ("{name: a, type: task, handler: h, input: 'x {{ secret.A }}'}", "input", Code::BadTemplate),
        (
            "{name: a, type: llm, model: m, messages: [{role: user, content: '{{ secret.A }}'}]}",
            "messages/0/content",
            Code::BadTemplate,
        ),
        ("{name: a, type: task, handler: h, when: secret.A == 1}", "when", Code::BadExpression),
        (
            "{name: a, type: http, url: 'https://x', headers: {b: '{{ secret.A | upper }}'}}",
            "headers/b",
            Code::BadTemplate,
        ),
        (
            "{name: a, type: http, url: 'https://x', body: [1, 'x {{ secret.A ?? 1 }}']}",
            "body/1",
            Code::BadTemplate,
        ),
    ] {
        assert_is(&problem_of_steps(step), &format!("/steps/0/{field}"), code, None);
    }
    let call = "{name: a, type: http, url: '{{ secret.HOOK }}', headers: {b: 'Bearer {{ secret.A }}'}, body: '{{ secret.B }}'}";
    assert!(abide_definition::Definition::from_text(&workflow(call)).is_ok());
}

#[test]
fn a_blocked_pattern_that_is_none_is_told_when_the_definition_is_posted() {
    let step = format!(
        "{{name: a, type: llm, model: m, {MESSAGES}, guardrails: [{{type: content_safety, blocked: [fine, '/(/']}}]}}"
    );
    assert_is(&problem_of_steps(&step), "/steps/0/guardrails/0/blocked/1", Code::OutOfRange, None);
}

#[test]
fn a_tools_handler_and_a_judge_are_no_templates() {
    for (fields, place) in [
        ("tools: [{name: t, handler: '{{ input.h }}'}]", "tools/0/handler"),
        ("tools: [{name: t, workflow: '{{ input.h }}'}]", "tools/0/workflow"),
        ("guardrails: [{type: content_safety, judgeModel: '{{ input.m }}'}]", "guardrails/0/judgeModel"),
    ] {
        let step = format!("{{name: a, type: llm, model: m, {MESSAGES}, {fields}}}");
        assert_is(&problem_of_steps(&step), &format!("/steps/0/{place}"), Code::BadTemplate, None);
    }
}

#[test]
fn names_that_begin_with_a_dollar_are_the_engines() {
    let own = problem("name: $tool/x\nsteps: [{name: a, type: task, handler: h}]");
    assert_is(&own, "/name", Code::ReservedName, None);
}

#[test]
fn who_approves_and_who_is_asked_later_must_make_sense() {
    for (fields, field, code) in [
        ("approvers: ['scope:root']", "approvers/0", Code::UnknownValue),
        ("approvers: [ana], escalateAfter: 1d", "escalateAfter", Code::Contradiction),
        ("approvers: [ana], escalateTo: [ben]", "escalateTo", Code::Contradiction),
        ("escalateAfter: 1d, escalateTo: [ben]", "escalateTo", Code::Contradiction),
        ("approvers: [ana], escalateAfter: 1d, escalateTo: ['scope:x']", "escalateTo/0", Code::UnknownValue),
        ("remindAfter: [soon]", "remindAfter", Code::BadDuration),
        ("remindAfter: [0s]", "remindAfter", Code::OutOfRange),
        ("timeout: 1d, remindAfter: [24h]", "remindAfter", Code::Contradiction),
        (
            "approvers: [ana], timeout: 1d, escalateAfter: 2d, escalateTo: [ben]",
            "escalateAfter",
            Code::Contradiction,
        ),
    ] {
        let step = format!("{{name: a, type: approval, contentKey: k, {fields}}}");
        assert_is(&problem_of_steps(&step), &format!("/steps/0/{field}"), code, None);
    }
}

#[test]
fn what_is_wrong_with_a_hook_is_told_where_it_stands() {
    let hook =
        |hook: &str| problem(&format!("name: w\n{hook}\nsteps: [{{name: a, type: task, handler: h}}]"));
    assert_is(
        &hook("onFailure: {handler: h, config: {x: '{{ a'}}"),
        "/onFailure/config/x",
        Code::BadTemplate,
        None,
    );
    assert_is(&hook("onCancel: {handler: '{{ input.h }}'}"), "/onCancel/handler", Code::BadTemplate, None);
    assert_is(&hook("onCancel: {handler: h, timeout: soon}"), "/onCancel/timeout", Code::BadDuration, None);
    assert_is(
        &hook("onFailure: {handler: h, retry: {backoffMs: 500, maxBackoffMs: 200}}"),
        "/onFailure/retry/maxBackoffMs",
        Code::Contradiction,
        None,
    );
    assert_is(
        &hook("onFailure: {confg: h, handler: h}"),
        "/onFailure/confg",
        Code::UnknownField,
        Some("config"),
    );
    let steps = "onFailure: {handler: h, config: {of: '{{ steps.a.output }}'}}";
    let unknown = hook(steps);
    assert_eq!(unknown.pointer, "/onFailure/config/of", "a hook has a run of its own, with steps of its own");
}

#[test]
fn what_is_wrong_with_one_of_several_waits_is_told_at_its_place() {
    let of = |wait: &str| problem_of_steps(&format!("{{name: a, type: wait_any, waits: {{x: {wait}}}}}"));
    for (wait, at, code) in [
        ("{type: wait_for_event, eventId: e, match: 'event.x and'}", "/match", Code::BadExpression),
        ("{type: wait_for_event, eventId: '{{'}", "/eventId", Code::BadTemplate),
        ("{type: wait, duration: soon}", "/duration", Code::BadDuration),
        ("{type: workflow, definition: d, input: ['{{ a']}", "/input/0", Code::BadTemplate),
        ("{type: approval, contentKey: k, approvers: [a], quorum: 2}", "/quorum", Code::OutOfRange),
        ("{type: wait_all, waits: {}}", "/waits", Code::OutOfRange),
        ("{type: wait_some, count: 2, waits: {y: {type: webhook}}}", "/count", Code::OutOfRange),
        ("{type: external_event, signalType: s, timeout: 1h}", "/timeout", Code::UnknownField),
        ("{type: task, handler: h}", "/type", Code::UnknownValue),
    ] {
        assert_is(&of(wait), &format!("/steps/0/waits/x{at}"), code, None);
    }
}

#[test]
fn the_ways_on_from_several_waits_are_to_steps_further_down_and_from_waits_that_are_there() {
    let steps = |goto: &str| {
        let waits = "{paid: {type: webhook}, stop: {type: external_event, signalType: s}}";
        let first = format!("{{name: a, type: wait_any, waits: {waits}, goto: {goto}}}");
        problem_of_steps(&format!("{first}\n{{name: b, type: task, handler: h}}"))
    };
    assert_is(&steps("{paid: c}"), "/steps/0/goto/paid", Code::UnknownStep, None);
    assert_is(&steps("{paid: a}"), "/steps/0/goto/paid", Code::BackwardJump, None);
    assert_is(&steps("{piad: b}"), "/steps/0/goto/piad", Code::UnknownValue, Some("paid"));
}
