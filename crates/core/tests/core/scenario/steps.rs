//! Steps of definitions, short to write.

use serde_json::{Value, json};

pub(crate) fn task(name: &str) -> Value {
    json!({ "name": name, "type": "task", "handler": "work" })
}

pub(crate) fn sleep(name: &str, duration: &str) -> Value {
    json!({ "name": name, "type": "wait", "duration": duration })
}

pub(crate) fn signal(name: &str, signal_type: &str) -> Value {
    json!({ "name": name, "type": "external_event", "signalType": signal_type })
}

pub(crate) fn event(name: &str, event_id: &str) -> Value {
    json!({ "name": name, "type": "wait_for_event", "eventId": event_id })
}

pub(crate) fn webhook(name: &str) -> Value {
    json!({ "name": name, "type": "webhook" })
}

/// Of `state.draft`.
pub(crate) fn approval(name: &str) -> Value {
    json!({ "name": name, "type": "approval", "contentKey": "draft" })
}

pub(crate) fn condition(name: &str, expression: &str, on_true: &str, on_false: &str) -> Value {
    json!({ "name": name, "type": "condition", "expression": expression, "trueStep": on_true, "falseStep": on_false })
}

pub(crate) fn child(name: &str) -> Value {
    json!({ "name": name, "type": "workflow", "definition": "other" })
}

pub(crate) fn respond(name: &str, body: Value) -> Value {
    json!({ "name": name, "type": "respond", "body": body })
}

pub(crate) fn llm(name: &str) -> Value {
    json!({ "name": name, "type": "llm", "model": "a-model", "messages": [{ "role": "user", "content": "Hello." }] })
}

/// Over `items`; the inner step needs no name.
pub(crate) fn map(name: &str, items: Value, mut step: Value) -> Value {
    if let Some(fields) = step.as_object_mut() {
        fields.remove("name");
    }
    json!({ "name": name, "type": "map", "items": items, "step": step })
}

/// More about a step.
pub(crate) trait Also {
    fn also(self, fields: Value) -> Value;
    fn after(self, steps: &[&str]) -> Value;
    fn tries(self, attempts: u32) -> Value;
}

impl Also for Value {
    fn also(mut self, fields: Value) -> Value {
        for (key, value) in fields.as_object().expect("fields of a step") {
            self[key] = value.clone();
        }
        self
    }

    fn after(self, steps: &[&str]) -> Value {
        self.also(json!({ "after": steps }))
    }

    fn tries(self, attempts: u32) -> Value {
        self.also(json!({ "retry": { "maxAttempts": attempts } }))
    }
}
