//! What calls to models used up.

use std::sync::Arc;

use abide_core::command::{Command, TaskHeartbeat};
use abide_core::history::{JournalResult, ModelCall};
use abide_core::id::{StepAddress, WorkspaceId};
use abide_core::json::Json;
use abide_core::spent::Spent;
use jiff::civil::date;
use serde_json::json;

use super::Subject;
use super::story::{self, World};

pub(crate) fn call(entry: &str, model: &str, cost_micros: Option<u64>) -> ModelCall {
    ModelCall {
        entry: entry.into(),
        model: model.into(),
        input_tokens: 100,
        cached_input_tokens: 20,
        output_tokens: 10,
        cost_micros,
        error: None,
    }
}

pub fn costs_are_added_up_by_day_workflow_and_model(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut story = world.start(&story::asked(), json!({}));
    let beat = |entries: &[&str], calls: Vec<ModelCall>| {
        let result = |name: &&str| JournalResult {
            name: Arc::from(*name),
            result: Json::new(json!({ "kind": name })),
        };
        let entries = entries.iter().map(result).collect();
        Command::TaskHeartbeat(TaskHeartbeat {
            at: StepAddress::step(0),
            lease_epoch: 1,
            checkpoint: None,
            entries,
            calls,
            cancels: Vec::new(),
        })
    };
    let calls = vec![call("call 1", "m", Some(7)), call("call 2", "n", None)];
    world.tell(&mut story, beat(&["call 1", "call 2"], calls));
    story.save(&mut *store);
    world.tell(&mut story, beat(&["call 3"], vec![call("call 3", "m", Some(5))]));
    story.save(&mut *store);
    let mut store = subject.after_a_crash(store);
    let day = date(2026, 3, 1);
    let rows = store.costs(WorkspaceId::DEFAULT, day, day).expect("costs");
    let shown: Vec<(&str, &str, Spent)> =
        rows.iter().map(|row| (row.definition.as_str(), row.model.as_str(), row.spent)).collect();
    let spent = |calls: u64, cost_micros, unpriced_calls| Spent {
        calls,
        input_tokens: 100 * calls,
        cached_input_tokens: 20 * calls,
        output_tokens: 10 * calls,
        cost_micros,
        unpriced_calls,
    };
    assert_eq!(shown, [("asked", "m", spent(2, 12, 0)), ("asked", "n", spent(1, 0, 1))]);
    let other = date(1999, 1, 1);
    assert_eq!(store.costs(WorkspaceId::DEFAULT, other, other).expect("costs"), []);
    assert_eq!(store.costs(WorkspaceId(7), day, day).expect("costs"), []);
}
