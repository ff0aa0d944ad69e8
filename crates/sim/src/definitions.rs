//! Random workflows: every step type, both orders, all the ways out of a wait.

use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::random::Random;
use serde_json::{Map, Value, json};

const DURATIONS: [&str; 6] = ["1s", "30s", "10m", "2h", "3d", "40d"];

/// A workflow that starts no other.
pub(crate) fn leaf(random: &mut Random, name: &str) -> Arc<Definition> {
    generate(random, name, &[])
}

/// A workflow that may start the given others.
pub(crate) fn generate(random: &mut Random, name: &str, children: &[String]) -> Arc<Definition> {
    let document = document(random, name, children);
    match Definition::from_value(document.clone()) {
        Ok(checked) => Arc::new(checked.definition),
        Err(rejected) => panic!("the generator wrote a workflow that is refused: {rejected}\n{document:#}"),
    }
}

/// The workflow with some of its tasks for the handler `local`, which nodes have themselves.
pub(crate) fn with_local_handlers(random: &mut Random, definition: &Definition) -> Arc<Definition> {
    let mut document = serde_json::to_value(&definition.document).expect("a workflow is JSON");
    let steps = document["steps"].as_array_mut().into_iter().flatten();
    for step in steps.filter(|step| step["handler"] == "work" && step["pinToBuild"] != true) {
        if random.below(3) == 0 {
            step["handler"] = json!("local");
        }
    }
    let checked = Definition::from_value(document).expect("another handler makes no workflow unsound");
    Arc::new(checked.definition)
}

fn document(random: &mut Random, name: &str, children: &[String]) -> Value {
    let count = 1 + random.below(6) as usize;
    let graph = count > 1 && random.below(2) == 0;
    let mut steps: Vec<Map<String, Value>> =
        (0..count).map(|index| step(random, index, count, graph, children)).collect();
    if graph {
        connect(random, &mut steps);
    }
    let mut document = json!({ "name": name, "steps": steps });
    if random.below(5) == 0 {
        document["timeout"] = json!(DURATIONS[2 + random.below(4) as usize]);
    }
    for hook in ["onFailure", "onCancel"] {
        if random.below(2) == 0 {
            document[hook] = json!({ "handler": "work", "config": { "of": "{{ input.run.name }}" }, "retry": retry(random) });
        }
    }
    if random.below(3) == 0 {
        let matching =
            ["event.n == input.n", "event.kind == \"this\"", "event.n > 4"][random.below(3) as usize];
        let event_id = ["e1", "e2", "e-3", "e-4"][random.below(4) as usize];
        document["cancelOn"] = json!([{ "eventId": event_id, "match": matching }]);
    }
    if random.below(6) == 0 {
        document["output"] = json!({ "n": "{{ input.n }}", "doc": "{{ state.doc ?? 'none' }}" });
    }
    document
}

fn step(
    random: &mut Random,
    index: usize,
    count: usize,
    graph: bool,
    children: &[String],
) -> Map<String, Value> {
    let jumps = index + 1 < count;
    let mut step = match random.below(15) {
        0..4 => task(random),
        4 => wait(random),
        5 if jumps => condition(random, index, count),
        6 => signal(random),
        7 => event(random),
        8 => webhook(random),
        9 | 13..15 if index > 0 => approval(random),
        10 => engine_call(random),
        11 => map(random, children),
        12 if !children.is_empty() => child(random, children),
        _ => task(random),
    };
    goto(random, &mut step, index, count);
    let fields = step.as_object_mut().expect("a step is an object");
    fields.insert("name".to_owned(), json!(name(index)));
    if random.below(6) == 0 {
        fields.insert("when".to_owned(), json!("input.n > 2 or state.doc"));
    }
    if random.below(6) == 0 {
        fields.insert("saveAs".to_owned(), json!("kept"));
    }
    if !graph && jumps && random.below(6) == 0 {
        let target = index + 1 + random.below((count - index) as u64) as usize;
        fields.insert("next".to_owned(), json!(if target < count { name(target) } else { "end".to_owned() }));
    }
    fields.clone()
}

pub(crate) fn name(index: usize) -> String {
    format!("s{index}")
}

fn signal(random: &mut Random) -> Value {
    let signal_type = ["a", "b"][random.below(2) as usize];
    timed(random, json!({ "type": "external_event", "signalType": signal_type }))
}

fn webhook(random: &mut Random) -> Value {
    let allow_get = random.below(4) == 0;
    timed(random, json!({ "type": "webhook", "allowGet": allow_get }))
}

fn duration(random: &mut Random) -> &'static str {
    DURATIONS[random.below(DURATIONS.len() as u64) as usize]
}

fn retry(random: &mut Random) -> Value {
    json!({ "maxAttempts": 1 + random.below(4), "backoffMs": 100 + random.below(5_000) })
}

fn task(random: &mut Random) -> Value {
    let mut step = json!({ "type": "task", "handler": "work", "retry": retry(random) });
    if random.below(3) == 0 {
        step["input"] = json!({ "n": "{{ input.n }}", "static": [1, 2] });
    }
    if random.below(4) == 0 {
        step["timeout"] = json!(["5s", "10m"][random.below(2) as usize]);
    }
    if random.below(3) == 0 {
        step["pinToBuild"] = json!(true);
    }
    step
}

fn engine_call(random: &mut Random) -> Value {
    match random.below(3) {
        0 => json!({ "type": "http", "url": "https://example.com/{{ input.n }}", "retry": retry(random) }),
        1 => {
            json!({ "type": "notify", "eventId": "e1", "data": { "n": "{{ input.n }}" }, "retry": retry(random) })
        }
        _ => json!({
            "type": "llm", "model": "m", "retry": retry(random),
            "messages": [{ "role": "user", "content": "{{ state.doc | default('') }}" }],
        }),
    }
}

fn wait(random: &mut Random) -> Value {
    match random.below(5) {
        0 => json!({ "type": "wait", "cron": "*/5 * * * *", "timezone": "Europe/Berlin" }),
        1 => json!({ "type": "wait", "untilTimestamp": "2026-04-15T09:00:00.000Z" }),
        2 => json!({ "type": "sleep", "duration": "{{ input.sleep }}" }),
        _ => json!({ "type": "wait", "duration": duration(random) }),
    }
}

fn condition(random: &mut Random, index: usize, count: usize) -> Value {
    let target = |random: &mut Random| index + 1 + random.below((count - index - 1) as u64) as usize;
    let mut step =
        json!({ "type": "condition", "expression": "input.n >= 3", "trueStep": name(target(random)) });
    if random.below(2) == 0 {
        step["falseStep"] = json!(name(target(random)));
    }
    step
}

/// A wait that may have a deadline.
fn timed(random: &mut Random, mut step: Value) -> Value {
    if random.below(3) > 0 {
        step["timeout"] = json!(duration(random));
        step["onTimeout"] = json!(["fail", "continue"][random.below(2) as usize]);
    }
    step
}

fn event(random: &mut Random) -> Value {
    let event_id = ["e1", "e2", "e-{{ input.n }}"][random.below(3) as usize];
    let mut step = json!({ "type": "wait_for_event", "eventId": event_id });
    match random.below(4) {
        0 => step["match"] = json!("event.n == input.n"),
        1 => step["match"] = json!("event.n > 2 and event.kind != 'other'"),
        _ => {}
    }
    match random.below(5) {
        0 => step["lookback"] = json!("0s"),
        1 => step["lookback"] = json!("2d"),
        _ => {}
    }
    timed(random, step)
}

fn approval(random: &mut Random) -> Value {
    let mut step = json!({ "type": "approval", "contentKey": "doc" });
    if random.below(2) == 0 {
        step["approvers"] = json!(["anna", "ben", "cleo"]);
        step["quorum"] = json!(1 + random.below(3));
    }
    if random.below(2) == 0 {
        step["onReject"] = json!("continue");
    }
    if random.below(3) == 0 {
        step["allowSelfApproval"] = json!(false);
    }
    if random.below(3) > 0 {
        step["timeout"] = json!(duration(random));
        step["onTimeout"] = json!(["fail", "continue", "approve", "reject"][random.below(4) as usize]);
    } else if random.below(2) == 0 {
        step["remindAfter"] = json!([duration(random), "3h"]);
        if !step["approvers"].is_null() {
            step["escalateAfter"] = json!(duration(random));
            step["escalateTo"] = json!(["cleo", "mallory"]);
        }
    }
    step
}

fn child(random: &mut Random, children: &[String]) -> Value {
    let definition = &children[random.below(children.len() as u64) as usize];
    let wait = random.below(4) > 0;
    json!({
        "type": "workflow", "definition": definition, "wait": wait, "retry": retry(random),
        "input": { "n": "{{ input.n }}", "sleep": "1m", "list": [1, 2] },
    })
}

fn map(random: &mut Random, children: &[String]) -> Value {
    let inner = match random.below(5) {
        0 => json!({ "type": "wait", "duration": duration(random) }),
        1 => signal(random),
        2 => event(random),
        3 if !children.is_empty() => child(random, children),
        _ => json!({ "type": "task", "handler": "work", "input": "{{ item }}", "retry": retry(random) }),
    };
    let items = [json!("input.list"), json!([1, "{{ input.n }}", 3]), json!([])];
    let mut step = json!({ "type": "map", "items": items[random.below(3) as usize], "step": inner });
    if random.below(2) == 0 {
        step["concurrency"] = json!(1 + random.below(3));
    }
    if random.below(2) == 0 {
        step["onItemFailure"] = json!("collect");
    }
    step
}

/// Sends some timeouts and rejections further down.
fn goto(random: &mut Random, step: &mut Value, index: usize, count: usize) {
    if index + 1 < count
        && random.below(3) == 0
        && step.get("timeout").is_some()
        && step.get("onTimeout").is_some()
    {
        let target = index + 1 + random.below((count - index - 1) as u64) as usize;
        step["onTimeout"] = json!({ "goto": name(target) });
    }
}

/// Gives a graph its edges: some at random, and those that its jumps need.
fn connect(random: &mut Random, steps: &mut [Map<String, Value>]) {
    let mut after: Vec<Vec<String>> = (0..steps.len())
        .map(|index| (0..index).filter(|_| random.below(3) == 0).map(name).collect())
        .collect();
    for (index, step) in steps.iter().enumerate() {
        let goto = step.get("onTimeout").and_then(|on| on.get("goto"));
        let jumps = [step.get("trueStep"), step.get("falseStep"), goto];
        for target in jumps.into_iter().flatten().filter_map(Value::as_str) {
            let target: usize =
                target.trim_start_matches('s').parse().expect("a step's name ends in its index");
            if !after[target].contains(&name(index)) {
                after[target].push(name(index));
            }
        }
    }
    if after.iter().all(Vec::is_empty) {
        let last = steps.len() - 1;
        after[last].push(name(0));
    }
    for (step, after) in steps.iter_mut().zip(after) {
        if !after.is_empty() {
            step.insert("after".to_owned(), json!(after));
        }
    }
}
