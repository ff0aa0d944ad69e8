//! A step in a few words.

use std::collections::BTreeMap;

use abide_definition::document::{MapStepKind, Member, Method, StepKind, Wait};
use abide_definition::time::Millis;
use serde_json::Value;

pub(super) fn marker(kind: &StepKind) -> char {
    match kind {
        StepKind::Condition(_) => '◆',
        StepKind::Wait(_)
        | StepKind::ExternalEvent(_)
        | StepKind::WaitForEvent(_)
        | StepKind::Webhook(_)
        | StepKind::Approval(_)
        | StepKind::WaitAny(_)
        | StepKind::WaitAll(_)
        | StepKind::WaitSome(_) => '○',
        StepKind::Task(_)
        | StepKind::Llm(_)
        | StepKind::Http(_)
        | StepKind::Notify(_)
        | StepKind::Respond(_)
        | StepKind::Workflow(_)
        | StepKind::Map(_) => '●',
    }
}

pub(super) fn description(kind: &StepKind) -> String {
    match kind {
        StepKind::Task(task) => format!("task {}", task.handler),
        StepKind::Wait(wait) => wait_text(wait),
        StepKind::Condition(condition) => format!("if {}", condition.expression),
        StepKind::ExternalEvent(signal) => {
            format!("signal {}{}", signal.signal_type, at_most(signal.timeout_ms, signal.timeout.as_deref()))
        }
        StepKind::WaitForEvent(event) => {
            format!("event {}{}", event.event_id, at_most(event.timeout_ms, event.timeout.as_deref()))
        }
        StepKind::Webhook(webhook) => {
            format!("webhook{}", at_most(webhook.timeout_ms, webhook.timeout.as_deref()))
        }
        StepKind::Approval(approval) => {
            format!(
                "approval of {}{}",
                approval.content_key,
                at_most(approval.timeout_ms, approval.timeout.as_deref())
            )
        }
        StepKind::Llm(llm) => format!("llm {}", llm.model),
        StepKind::Http(http) => {
            format!("http {} {}", method_name(http.method.unwrap_or(Method::Get)), http.url)
        }
        StepKind::Notify(notify) => format!("notify {}", notify.event_id),
        StepKind::Respond(respond) => format!("respond {}", respond.status.unwrap_or(200)),
        StepKind::Workflow(child) => format!("workflow {}", child.definition),
        StepKind::Map(map) => {
            let items = match &map.items {
                Value::String(items) => items.clone(),
                Value::Array(items) => format!("{} items", items.len()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "a list".to_owned(),
            };
            format!("map over {items}: {}", item_description(&map.step.kind))
        }
        StepKind::WaitAny(any) => {
            let late = at_most(any.timeout_ms, any.timeout.as_deref());
            format!("the first of {}{late}", names(&any.waits))
        }
        StepKind::WaitAll(all) => {
            let late = at_most(all.timeout_ms, all.timeout.as_deref());
            format!("all of {}{late}", names(&all.waits))
        }
        StepKind::WaitSome(some) => {
            let late = at_most(some.timeout_ms, some.timeout.as_deref());
            format!("{} of {}{late}", some.count, names(&some.waits))
        }
    }
}

fn names(waits: &BTreeMap<String, Member>) -> String {
    waits.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn item_description(kind: &MapStepKind) -> String {
    match kind {
        MapStepKind::Task(task) => format!("task {}", task.handler),
        MapStepKind::Wait(wait) => wait_text(wait),
        MapStepKind::ExternalEvent(signal) => format!("signal {}", signal.signal_type),
        MapStepKind::WaitForEvent(event) => format!("event {}", event.event_id),
        MapStepKind::Webhook(_) => "webhook".to_owned(),
        MapStepKind::Llm(llm) => format!("llm {}", llm.model),
        MapStepKind::Http(http) => {
            format!("http {} {}", method_name(http.method.unwrap_or(Method::Get)), http.url)
        }
        MapStepKind::Notify(notify) => format!("notify {}", notify.event_id),
        MapStepKind::Workflow(child) => format!("workflow {}", child.definition),
    }
}

fn wait_text(wait: &Wait) -> String {
    if let Some(ms) = wait.duration_ms {
        return format!("wait {}", Millis(ms));
    }
    let zone = wait.timezone.as_ref().map(|zone| format!(" in {zone}")).unwrap_or_default();
    let text = wait.duration.as_ref().map(|duration| format!("wait {duration}"));
    let text = text.or_else(|| wait.until_timestamp.as_ref().map(|instant| format!("wait until {instant}")));
    text.or_else(|| wait.cron.as_ref().map(|line| format!("wait for {line}{zone}")))
        .unwrap_or_else(|| "wait".to_owned())
}

fn at_most(ms: Option<u64>, text: Option<&str>) -> String {
    match (ms, text) {
        (Some(ms), _) => format!(", at most {}", Millis(ms)),
        (None, Some(text)) => format!(", at most {text}"),
        (None, None) => String::new(),
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
        Method::Options => "OPTIONS",
    }
}
