//! Steps that wait for several things at once, in some of the worlds.

use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::random::Random;
use serde_json::{Map, Value, json};

/// Worlds with such steps draw from this, and other worlds stay what they were: the seeds that are kept are among those.
const SALT: u64 = 198;
/// One world in so many has such steps.
const RARE: u64 = 3;
/// The types of steps that may become one that waits for several things.
const REPLACED: [&str; 7] =
    ["wait", "sleep", "external_event", "wait_for_event", "webhook", "approval", "task"];

pub(crate) fn chance(seed: u64) -> Option<Random> {
    let mut random = Random::new(seed ^ SALT);
    (random.below(RARE) == 0).then_some(random)
}

/// The workflow with some of its steps waiting for several things at once.
pub(crate) fn with_groups(
    random: &mut Random,
    definition: &Definition,
    children: &[String],
) -> Arc<Definition> {
    let mut document = serde_json::to_value(&definition.document).expect("a workflow is JSON");
    let steps = document["steps"].as_array_mut().expect("a workflow has steps");
    let is_graph = steps.iter().any(|step| step.get("after").is_some());
    let names: Vec<Value> = steps.iter().map(|step| step["name"].clone()).collect();
    for (index, step) in steps.iter_mut().enumerate() {
        let is_replaced = step["type"].as_str().is_some_and(|kind| REPLACED.contains(&kind));
        if is_replaced && random.below(2) == 0 {
            // In a graph a step is left only to those that are after it.
            let later = if is_graph { &[] } else { &names[index + 1..] };
            *step = group(random, step, later, children);
        }
    }
    match Definition::from_value(document.clone()) {
        Ok(checked) => Arc::new(checked.definition),
        Err(rejected) => panic!("the generator wrote a workflow that is refused: {rejected}\n{document:#}"),
    }
}

fn group(random: &mut Random, step: &Value, later: &[Value], children: &[String]) -> Value {
    let mut group = Map::new();
    for field in ["name", "when", "saveAs", "after", "next"] {
        group.extend(step.get(field).map(|value| (field.to_owned(), value.clone())));
    }
    let waits = waits(random, children, true);
    let kind = pick(random, &["wait_any", "wait_all", "wait_some"]);
    group.insert("type".to_owned(), json!(kind));
    if kind == "wait_some" {
        group.insert("count".to_owned(), json!(1 + random.below(waits.len() as u64)));
    }
    if kind != "wait_all" && !later.is_empty() && random.below(2) == 0 {
        let to = &later[random.below(later.len() as u64) as usize];
        let name = waits.keys().nth(random.below(waits.len() as u64) as usize).expect("one of them");
        group.insert("goto".to_owned(), json!({ name: to }));
    }
    group.insert("waits".to_owned(), Value::Object(waits));
    if random.below(3) > 0 {
        group.insert("timeout".to_owned(), json!(pick(random, &["10s", "20m", "1d"])));
        let late = match (later.first(), random.below(3)) {
            (Some(to), 0) => json!({ "goto": to }),
            (_, 1) => json!("continue"),
            (_, _) => json!("fail"),
        };
        group.insert("onTimeout".to_owned(), late);
    }
    Value::Object(group)
}

fn waits(random: &mut Random, children: &[String], nests: bool) -> Map<String, Value> {
    let count = 1 + random.below(4);
    // Named so that the order of the names is not that in which they are drawn.
    (0..count).map(|number| (format!("m{}", (number + 2) % 4), member(random, children, nests))).collect()
}

fn member(random: &mut Random, children: &[String], nests: bool) -> Value {
    match random.below(10) {
        0 | 1 => json!({ "type": "wait", "duration": pick(random, &["1s", "30s", "10m", "2h", "3d"]) }),
        2 => json!({ "type": "wait", "untilTimestamp": "2026-03-01T01:00:00Z" }),
        3 | 4 => json!({ "type": "external_event", "signalType": pick(random, &["a", "b"]) }),
        5 | 6 => json!({ "type": "wait_for_event", "eventId": pick(random, &["e1", "e2"]) }),
        7 => json!({ "type": "webhook", "allowGet": random.below(4) == 0 }),
        8 if !children.is_empty() => {
            let definition = &children[random.below(children.len() as u64) as usize];
            json!({ "type": "workflow", "definition": definition, "input": { "n": "{{ input.n }}", "sleep": "1m" } })
        }
        _ if nests => {
            let inside = waits(random, children, false);
            match random.below(3) {
                0 => json!({ "type": "wait_any", "waits": inside }),
                1 => json!({ "type": "wait_all", "waits": inside }),
                _ => {
                    let count = 1 + random.below(inside.len() as u64);
                    json!({ "type": "wait_some", "count": count, "waits": inside })
                }
            }
        }
        _ => approval(random),
    }
}

/// Without content the step fails when it begins, which is rare enough.
fn approval(random: &mut Random) -> Value {
    let mut approval = json!({ "type": "approval", "contentKey": "doc" });
    if random.below(2) == 0 {
        approval["approvers"] = json!(["anna", "ben", "cleo"]);
        approval["quorum"] = json!(1 + random.below(2));
    }
    if random.below(2) == 0 {
        approval["onReject"] = json!("continue");
    }
    approval
}

fn pick<'t>(random: &mut Random, among: &[&'t str]) -> &'t str {
    among[random.below(among.len() as u64) as usize]
}
