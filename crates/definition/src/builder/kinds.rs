//! The last step as the type that a modifier is about.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::document::{
    Approval, Condition, Http, Llm, Map, Notify, OnTimeout, StepKind, SubWorkflow, Task, Wait, WaitForEvent,
    Webhook,
};

macro_rules! kinds {
    ($($function:ident: $variant:ident => $part:ty;)*) => {$(
        pub(super) fn $function(kind: &mut StepKind) -> Option<&mut $part> {
            if let StepKind::$variant(part) = kind { Some(part) } else { None }
        }
    )*};
}

kinds! {
    task: Task => Task;
    condition: Condition => Condition;
    event: WaitForEvent => WaitForEvent;
    webhook: Webhook => Webhook;
    approval: Approval => Approval;
    llm: Llm => Llm;
    http: Http => Http;
    notify: Notify => Notify;
    child: Workflow => SubWorkflow;
    map: Map => Map;
}

pub(super) fn cron(kind: &mut StepKind) -> Option<&mut Wait> {
    if let StepKind::Wait(wait) = kind { Some(wait).filter(|wait| wait.cron.is_some()) } else { None }
}

pub(super) fn input(kind: &mut StepKind) -> Option<&mut Option<Value>> {
    match kind {
        StepKind::Task(task) => Some(&mut task.input),
        StepKind::Workflow(child) => Some(&mut child.input),
        StepKind::Wait(_)
        | StepKind::Condition(_)
        | StepKind::ExternalEvent(_)
        | StepKind::WaitForEvent(_)
        | StepKind::Webhook(_)
        | StepKind::Approval(_)
        | StepKind::Llm(_)
        | StepKind::Http(_)
        | StepKind::Notify(_)
        | StepKind::Respond(_)
        | StepKind::Map(_)
        | StepKind::WaitAny(_)
        | StepKind::WaitAll(_)
        | StepKind::WaitSome(_) => None,
    }
}

/// Where a timeout in milliseconds and one as text are kept.
pub(super) type Timeout<'s> = (&'s mut Option<u64>, &'s mut Option<String>);

pub(super) fn timeout(kind: &mut StepKind) -> Option<Timeout<'_>> {
    match kind {
        StepKind::Task(task) => Some((&mut task.timeout_ms, &mut task.timeout)),
        StepKind::ExternalEvent(signal) => Some((&mut signal.timeout_ms, &mut signal.timeout)),
        StepKind::WaitForEvent(event) => Some((&mut event.timeout_ms, &mut event.timeout)),
        StepKind::Webhook(webhook) => Some((&mut webhook.timeout_ms, &mut webhook.timeout)),
        StepKind::Approval(approval) => Some((&mut approval.timeout_ms, &mut approval.timeout)),
        StepKind::Llm(llm) => Some((&mut llm.timeout_ms, &mut llm.timeout)),
        StepKind::Http(http) => Some((&mut http.timeout_ms, &mut http.timeout)),
        StepKind::WaitAny(any) => Some((&mut any.timeout_ms, &mut any.timeout)),
        StepKind::WaitAll(all) => Some((&mut all.timeout_ms, &mut all.timeout)),
        StepKind::WaitSome(some) => Some((&mut some.timeout_ms, &mut some.timeout)),
        StepKind::Wait(_)
        | StepKind::Condition(_)
        | StepKind::Notify(_)
        | StepKind::Respond(_)
        | StepKind::Workflow(_)
        | StepKind::Map(_) => None,
    }
}

/// An approval has outcomes of its own.
pub(super) fn on_timeout(kind: &mut StepKind) -> Option<&mut Option<OnTimeout>> {
    match kind {
        StepKind::ExternalEvent(signal) => Some(&mut signal.on_timeout),
        StepKind::WaitForEvent(event) => Some(&mut event.on_timeout),
        StepKind::Webhook(webhook) => Some(&mut webhook.on_timeout),
        StepKind::WaitAny(any) => Some(&mut any.on_timeout),
        StepKind::WaitAll(all) => Some(&mut all.on_timeout),
        StepKind::WaitSome(some) => Some(&mut some.on_timeout),
        StepKind::Task(_)
        | StepKind::Wait(_)
        | StepKind::Condition(_)
        | StepKind::Approval(_)
        | StepKind::Llm(_)
        | StepKind::Http(_)
        | StepKind::Notify(_)
        | StepKind::Respond(_)
        | StepKind::Workflow(_)
        | StepKind::Map(_) => None,
    }
}

/// Where the first of several waits leads, by its name.
pub(super) fn goto(kind: &mut StepKind) -> Option<&mut Option<BTreeMap<String, String>>> {
    match kind {
        StepKind::WaitAny(any) => Some(&mut any.goto),
        StepKind::WaitSome(some) => Some(&mut some.goto),
        StepKind::Task(_)
        | StepKind::Wait(_)
        | StepKind::Condition(_)
        | StepKind::ExternalEvent(_)
        | StepKind::WaitForEvent(_)
        | StepKind::Webhook(_)
        | StepKind::Approval(_)
        | StepKind::Llm(_)
        | StepKind::Http(_)
        | StepKind::Notify(_)
        | StepKind::Respond(_)
        | StepKind::Workflow(_)
        | StepKind::Map(_)
        | StepKind::WaitAll(_) => None,
    }
}
