//! What has changed in a workflow, in one line.

use std::collections::BTreeMap;

use abide_definition::document::Workflow;
use serde_json::Value;

/// Names that are told of one kind of change.
const NAMES: usize = 5;

/// `added ship; changed pay; removed old; also timeout`, or nothing where both say the same.
pub(super) fn between(before: &Workflow, after: &Workflow) -> Option<String> {
    let (before, after) = (written(before), written(after));
    let (old, new) = (steps(&before), steps(&after));
    let missing_in = |these: &BTreeMap<String, Value>, names: &[String]| -> Vec<String> {
        names.iter().filter(|name| !these.contains_key(*name)).cloned().collect()
    };
    let (old_order, new_order) = (order(&before), order(&after));
    let both = |name: &&String| old.contains_key(*name) && new.contains_key(*name);
    let changed = new_order.iter().filter(both).filter(|name| old[*name] != new[*name]).cloned().collect();
    let moved = old_order.iter().filter(both).ne(new_order.iter().filter(both));
    let others = |from: &Value, to: &Value| -> Vec<String> {
        let fields = from.as_object().into_iter().flatten();
        let fields =
            fields.filter(|(name, value)| !OWN.contains(&name.as_str()) && to.get(name) != Some(value));
        fields.map(|(name, _)| name.clone()).collect()
    };
    let mut fields = others(&before, &after);
    fields.extend(others(&after, &before));
    fields.sort();
    fields.dedup();
    let parts = [
        ("added", missing_in(&old, &new_order)),
        ("changed", changed),
        ("removed", missing_in(&new, &old_order)),
        ("also", fields),
    ];
    let mut told: Vec<String> = parts
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(verb, names)| listed(verb, &names))
        .collect();
    if moved {
        told.push("the order of the steps".to_owned());
    }
    (!told.is_empty()).then(|| told.join("; "))
}

/// Fields that are told otherwise.
const OWN: [&str; 3] = ["name", "version", "steps"];

fn written(workflow: &Workflow) -> Value {
    serde_json::to_value(workflow).expect("a workflow is JSON")
}

fn name_of(step: &Value) -> Option<String> {
    Some(step.get("name")?.as_str()?.to_owned())
}

fn order(workflow: &Value) -> Vec<String> {
    workflow["steps"].as_array().into_iter().flatten().filter_map(name_of).collect()
}

fn steps(workflow: &Value) -> BTreeMap<String, Value> {
    let steps = workflow["steps"].as_array().into_iter().flatten();
    steps.filter_map(|step| Some((name_of(step)?, step.clone()))).collect()
}

fn listed(verb: &str, names: &[String]) -> String {
    let shown = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => format!("{verb} {shown}"),
        more => format!("{verb} {shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;

    fn orders() -> Workflow {
        Workflow::new("orders").task("pay", "pay").task("ship", "ship")
    }

    #[test]
    fn steps_that_came_went_changed_or_moved_are_told_by_name() {
        assert_eq!(between(&orders(), &orders()), None);
        assert_eq!(between(&orders(), &orders().version("2")), None);
        let told = |after: Workflow| between(&orders(), &after).unwrap();
        assert_eq!(told(orders().sleep("rest", 1.hour())), "added rest");
        assert_eq!(told(Workflow::new("orders").task("pay", "charge")), "changed pay; removed ship");
        assert_eq!(
            told(Workflow::new("orders").task("ship", "ship").task("pay", "pay")),
            "the order of the steps"
        );
        assert_eq!(told(orders().description("now with words")), "also description");
        let many = (0..7).fold(orders(), |flow, number| flow.task(format!("s{number}"), "h"));
        assert_eq!(told(many), "added s0, s1, s2, s3, s4 and 2 more");
    }
}
