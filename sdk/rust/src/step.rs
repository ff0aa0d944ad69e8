//! Steps of workflows, each with what it needs. What else it may have is told by its methods:
//!
//! ```
//! use abide_sdk::step;
//! use abide_sdk::wire::{WorkflowOnTimeout, WorkflowRetry};
//!
//! let charge = step::task("charge", "charge-card").retry(WorkflowRetry::default().max_attempts(5)).save_as("receipt");
//! let reply = step::wait_for_signal("reply", "reply").timeout("2d").on_timeout(WorkflowOnTimeout::Goto("remind".into()));
//! # let _ = (charge, reply);
//! ```

use std::collections::BTreeMap;

use crate::Timestamp;
use crate::client::WorkflowRef;
use crate::length::Length;
use crate::wire::{
    Json, WorkflowMapStep, WorkflowMember, WorkflowMessage, WorkflowStepApproval, WorkflowStepCondition,
    WorkflowStepExternalEvent, WorkflowStepHttp, WorkflowStepLlm, WorkflowStepMap, WorkflowStepNotify,
    WorkflowStepRespond, WorkflowStepSubWorkflow, WorkflowStepTask, WorkflowStepWait, WorkflowStepWaitAll,
    WorkflowStepWaitAny, WorkflowStepWaitForEvent, WorkflowStepWaitSome, WorkflowStepWebhook,
};

/// Work for a handler.
pub fn task(name: impl Into<String>, handler: impl Into<String>) -> WorkflowStepTask {
    WorkflowStepTask::new(name, handler)
}

/// Sleeps, without a worker, a thread or memory.
pub fn sleep(name: impl Into<String>, duration: impl Into<Length>) -> WorkflowStepWait {
    WorkflowStepWait::new(name).duration(duration)
}

/// Sleeps until an instant.
pub fn sleep_until(name: impl Into<String>, at: Timestamp) -> WorkflowStepWait {
    WorkflowStepWait::new(name).until_timestamp(at.to_string())
}

/// Sleeps until a cron line is due.
pub fn cron(name: impl Into<String>, line: impl Into<String>) -> WorkflowStepWait {
    WorkflowStepWait::new(name).cron(line)
}

/// Waits for a signal to this run.
pub fn wait_for_signal(name: impl Into<String>, signal_type: impl Into<String>) -> WorkflowStepExternalEvent {
    WorkflowStepExternalEvent::new(name, signal_type)
}

/// Waits for an event to everyone.
pub fn wait_for_event(name: impl Into<String>, event_id: impl Into<String>) -> WorkflowStepWaitForEvent {
    WorkflowStepWaitForEvent::new(name, event_id)
}

/// Waits for a call on its resume URL.
pub fn webhook(name: impl Into<String>) -> WorkflowStepWebhook {
    WorkflowStepWebhook::new(name)
}

/// Waits for people, who decide on what `state` has under this key.
pub fn approve(name: impl Into<String>, content_key: impl Into<String>) -> WorkflowStepApproval {
    WorkflowStepApproval::new(name, content_key)
}

/// Goes on with a step if an expression is true.
pub fn condition(
    name: impl Into<String>,
    expression: impl Into<String>,
    true_step: impl Into<String>,
) -> WorkflowStepCondition {
    WorkflowStepCondition::new(name, expression, true_step)
}

/// Calls a model.
pub fn llm(
    name: impl Into<String>,
    model: impl Into<String>,
    messages: impl IntoIterator<Item = WorkflowMessage>,
) -> WorkflowStepLlm {
    WorkflowStepLlm::new(name, model, messages)
}

/// A call that the engine makes.
pub fn http(name: impl Into<String>, url: impl Into<String>) -> WorkflowStepHttp {
    WorkflowStepHttp::new(name, url)
}

/// Sends an event to everyone who waits for it.
pub fn notify(name: impl Into<String>, event_id: impl Into<String>) -> WorkflowStepNotify {
    WorkflowStepNotify::new(name, event_id)
}

/// Answers the caller that started the run; the run goes on.
pub fn respond(name: impl Into<String>) -> WorkflowStepRespond {
    WorkflowStepRespond::new(name)
}

/// Starts a child run and waits for it.
pub fn child(name: impl Into<String>, workflow: &(impl WorkflowRef + ?Sized)) -> WorkflowStepSubWorkflow {
    WorkflowStepSubWorkflow::new(name, workflow.name())
}

/// One step over a list, in parallel.
pub fn map(
    name: impl Into<String>,
    items: impl Into<Json>,
    step: impl Into<WorkflowMapStep>,
) -> WorkflowStepMap {
    WorkflowStepMap::new(name, items, step)
}

/// Several waits of one step, by name.
fn by_name<N: Into<String>>(
    waits: impl IntoIterator<Item = (N, WorkflowMember)>,
) -> BTreeMap<String, WorkflowMember> {
    waits.into_iter().map(|(name, wait)| (name.into(), wait)).collect()
}

/// Waits for the first of several waits; the others are cancelled with it.
///
/// ```
/// use abide_sdk::step;
/// use abide_sdk::wire::{WorkflowMemberExternalEvent, WorkflowMemberWait, WorkflowMemberWaitForEvent};
///
/// let outcome = step::wait_any(
///     "outcome",
///     [
///         ("paid", WorkflowMemberWaitForEvent::new("order.paid").into()),
///         ("withdrawn", WorkflowMemberExternalEvent::new("withdraw").into()),
///         ("late", WorkflowMemberWait::default().duration("3d").into()),
///     ],
/// )
/// .goto([("withdrawn".to_owned(), "refund".to_owned())]);
/// # let _ = outcome;
/// ```
pub fn wait_any<N: Into<String>>(
    name: impl Into<String>,
    waits: impl IntoIterator<Item = (N, WorkflowMember)>,
) -> WorkflowStepWaitAny {
    WorkflowStepWaitAny::new(name, by_name(waits))
}

/// Waits for all of several waits.
pub fn wait_all<N: Into<String>>(
    name: impl Into<String>,
    waits: impl IntoIterator<Item = (N, WorkflowMember)>,
) -> WorkflowStepWaitAll {
    WorkflowStepWaitAll::new(name, by_name(waits))
}

/// Waits for so many of several waits; the others are cancelled with the last of them.
pub fn wait_some<N: Into<String>>(
    name: impl Into<String>,
    count: u32,
    waits: impl IntoIterator<Item = (N, WorkflowMember)>,
) -> WorkflowStepWaitSome {
    WorkflowStepWaitSome::new(name, by_name(waits), count)
}
