//! Workflows written in Rust. They are written as exactly the JSON that the server takes; [`Workflow::build`] checks
//! their structure, the server all of it.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use crate::Timestamp;
use crate::check::{self, InvalidWorkflow};
use crate::client::WorkflowRef;
use crate::length::Length;
use crate::step;
use crate::wire::{
    self, Json, WorkflowCancelOn, WorkflowDebounce, WorkflowHook, WorkflowLimit, WorkflowMapStep,
    WorkflowMcp, WorkflowMember, WorkflowMessage, WorkflowOnCodeChange, WorkflowRestartOn, WorkflowRetry,
    WorkflowStartOn, WorkflowStep,
};

/// A workflow for inputs `I` and outputs `O`. Steps run in the order written, or, if one says `after`, as a graph.
///
/// A step that needs no more than a name and what it is about has a method here. [`Workflow::step`] takes any step, with all
/// that it may have: see [`step`].
#[derive(Debug, Clone)]
pub struct Workflow<I = Json, O = Json> {
    document: wire::Workflow,
    types: PhantomData<fn(I) -> O>,
}

impl From<&str> for WorkflowStartOn {
    fn from(event_id: &str) -> WorkflowStartOn {
        WorkflowStartOn::new(event_id)
    }
}

impl From<&str> for WorkflowCancelOn {
    fn from(event_id: &str) -> WorkflowCancelOn {
        WorkflowCancelOn::new(event_id)
    }
}

impl From<&str> for WorkflowRestartOn {
    fn from(event_id: &str) -> WorkflowRestartOn {
        WorkflowRestartOn::new(event_id)
    }
}

impl From<&str> for WorkflowHook {
    fn from(handler: &str) -> WorkflowHook {
        WorkflowHook::new(handler)
    }
}

/// A workflow to build, for any JSON. [`Workflow::new`] is for types.
///
/// ```
/// use abide_sdk::{step, workflow};
/// use serde_json::json;
///
/// let graph = workflow("graph")
///     .step(step::task("left", "add").input(json!({"a": 1, "b": 2})))
///     .step(step::task("right", "add").input(json!({"a": 2, "b": 2})))
///     .step(step::task("join", "add").after(["left", "right"]).input(json!({"a": "{{ steps.left.output }}"})));
/// assert_eq!(json!(graph)["steps"][2]["after"], json!(["left", "right"]));
/// ```
pub fn workflow(name: impl Into<String>) -> Workflow {
    Workflow::new(name)
}

impl<I, O> Workflow<I, O> {
    /// A workflow to build: `Workflow::<Order, Receipt>::new("orders")`.
    pub fn new(name: impl Into<String>) -> Workflow<I, O> {
        Workflow { document: wire::Workflow::new(name, Vec::<WorkflowStep>::new()), types: PhantomData }
    }

    /// Which version this is; 1 if absent.
    pub fn version(self, version: impl Into<String>) -> Self {
        self.with(|document| document.version(version))
    }

    /// What it is for.
    pub fn description(self, description: impl Into<String>) -> Self {
        self.with(|document| document.description(description))
    }

    /// A JSON Schema that every run's input must satisfy.
    pub fn input_schema(self, schema: impl Into<Json>) -> Self {
        self.with(|document| document.input_schema(schema))
    }

    /// An event that starts runs of the newest version: its id, or a [`WorkflowStartOn`] with a condition, an input and a key.
    pub fn start_on(mut self, event: impl Into<WorkflowStartOn>) -> Self {
        self.document.start_on.get_or_insert_default().push(event.into());
        self
    }

    /// An event that cancels a run, wherever it is: its id, or a [`WorkflowCancelOn`] with a condition.
    pub fn cancel_on(mut self, event: impl Into<WorkflowCancelOn>) -> Self {
        self.document.cancel_on.get_or_insert_default().push(event.into());
        self
    }

    /// An event that cancels a run and starts another in its place: its id, or a [`WorkflowRestartOn`] with a condition and an
    /// input.
    pub fn restart_on(mut self, event: impl Into<WorkflowRestartOn>) -> Self {
        self.document.restart_on.get_or_insert_default().push(event.into());
        self
    }

    /// One more limit: how many runs may be at work at once, and how many may begin in a time.
    pub fn limit(mut self, limit: WorkflowLimit) -> Self {
        self.document.limits.get_or_insert_default().push(limit);
        self
    }

    /// Which of several runs that wait for the same room gets it first: 0 to 9, or a template that gives it.
    pub fn priority(self, priority: impl Into<Json>) -> Self {
        self.with(|document| document.priority(priority))
    }

    /// Starts that come shortly after each other begin one run together.
    pub fn debounce(self, debounce: WorkflowDebounce) -> Self {
        self.with(|document| document.debounce(debounce))
    }

    /// Offers the workflow to clients of the Model Context Protocol; a default one makes it a tool.
    pub fn mcp(self, mcp: WorkflowMcp) -> Self {
        self.with(|document| document.mcp(mcp))
    }

    /// How long a whole run may take.
    pub fn timeout(self, timeout: impl Into<Length>) -> Self {
        self.with(|document| document.timeout(timeout))
    }

    /// The retry policy of steps that have none of their own.
    pub fn default_retry(self, retry: WorkflowRetry) -> Self {
        self.with(|document| document.default_retry(retry))
    }

    /// What becomes of tasks whose code does not fit what they have recorded, for those that do not say so themselves.
    pub fn on_code_change(self, what: WorkflowOnCodeChange) -> Self {
        self.with(|document| document.on_code_change(what))
    }

    /// The handler that is called each time a run fails: its name, or a [`WorkflowHook`] with settings and a retry policy.
    pub fn on_failure(self, hook: impl Into<WorkflowHook>) -> Self {
        self.with(|document| document.on_failure(hook))
    }

    /// The handler that is called when a run was cancelled.
    pub fn on_cancel(self, hook: impl Into<WorkflowHook>) -> Self {
        self.with(|document| document.on_cancel(hook))
    }

    /// Whether tasks stay with the build that took them first, for those that do not say so themselves.
    pub fn pin_to_build(self, pins: bool) -> Self {
        self.with(|document| document.pin_to_build(pins))
    }

    /// What all calls to models of a run together may cost, in millionths of the currency of the price table.
    pub fn budget_micros(self, micros: u64) -> Self {
        self.with(|document| document.budget_micros(micros))
    }

    /// What a completed run's output is; templates allowed.
    pub fn output(self, output: impl Into<Json>) -> Self {
        self.with(|document| document.output(output))
    }

    /// One step more.
    pub fn step(mut self, step: impl Into<WorkflowStep>) -> Self {
        self.document.steps.push(step.into());
        self
    }

    /// Work for a handler.
    pub fn task(self, name: impl Into<String>, handler: impl Into<String>) -> Self {
        self.step(step::task(name, handler))
    }

    /// Sleeps, without a worker, a thread or memory.
    pub fn sleep(self, name: impl Into<String>, duration: impl Into<Length>) -> Self {
        self.step(step::sleep(name, duration))
    }

    /// Sleeps until an instant.
    pub fn sleep_until(self, name: impl Into<String>, at: Timestamp) -> Self {
        self.step(step::sleep_until(name, at))
    }

    /// Sleeps until a cron line is due.
    pub fn cron(self, name: impl Into<String>, line: impl Into<String>) -> Self {
        self.step(step::cron(name, line))
    }

    /// Waits for a signal to this run.
    pub fn wait_for_signal(self, name: impl Into<String>, signal_type: impl Into<String>) -> Self {
        self.step(step::wait_for_signal(name, signal_type))
    }

    /// Waits for an event to everyone.
    pub fn wait_for_event(self, name: impl Into<String>, event_id: impl Into<String>) -> Self {
        self.step(step::wait_for_event(name, event_id))
    }

    /// Waits for a call on its resume URL.
    pub fn webhook(self, name: impl Into<String>) -> Self {
        self.step(step::webhook(name))
    }

    /// Waits for people, who decide on what `state` has under this key.
    pub fn approve(self, name: impl Into<String>, content_key: impl Into<String>) -> Self {
        self.step(step::approve(name, content_key))
    }

    /// Goes on with a step if an expression is true; with another one, if [`step::condition`] is told so.
    pub fn condition(
        self,
        name: impl Into<String>,
        expression: impl Into<String>,
        true_step: impl Into<String>,
    ) -> Self {
        self.step(step::condition(name, expression, true_step))
    }

    /// Calls a model.
    pub fn llm(
        self,
        name: impl Into<String>,
        model: impl Into<String>,
        messages: impl IntoIterator<Item = WorkflowMessage>,
    ) -> Self {
        self.step(step::llm(name, model, messages))
    }

    /// A call that the engine makes.
    pub fn http(self, name: impl Into<String>, url: impl Into<String>) -> Self {
        self.step(step::http(name, url))
    }

    /// Answers the caller that started the run; the run goes on.
    pub fn respond(self, name: impl Into<String>) -> Self {
        self.step(step::respond(name))
    }

    /// One step over a list, in parallel.
    pub fn map(
        self,
        name: impl Into<String>,
        items: impl Into<Json>,
        step: impl Into<WorkflowMapStep>,
    ) -> Self {
        self.step(step::map(name, items, step))
    }

    /// Waits for the first of several waits; the others are cancelled with it.
    pub fn wait_any<N: Into<String>>(
        self,
        name: impl Into<String>,
        waits: impl IntoIterator<Item = (N, WorkflowMember)>,
    ) -> Self {
        self.step(step::wait_any(name, waits))
    }

    /// Waits for all of several waits.
    pub fn wait_all<N: Into<String>>(
        self,
        name: impl Into<String>,
        waits: impl IntoIterator<Item = (N, WorkflowMember)>,
    ) -> Self {
        self.step(step::wait_all(name, waits))
    }

    /// Waits for so many of several waits; the others are cancelled with the last of them.
    pub fn wait_some<N: Into<String>>(
        self,
        name: impl Into<String>,
        count: u32,
        waits: impl IntoIterator<Item = (N, WorkflowMember)>,
    ) -> Self {
        self.step(step::wait_some(name, count, waits))
    }

    /// Sends an event to everyone who waits for it.
    pub fn notify(self, name: impl Into<String>, event_id: impl Into<String>) -> Self {
        self.step(step::notify(name, event_id))
    }

    /// Starts a child run and waits for it.
    pub fn child(self, name: impl Into<String>, workflow: &(impl WorkflowRef + ?Sized)) -> Self {
        self.step(step::child(name, workflow))
    }

    /// The document, as it is posted, or what is wrong with its structure: names, targets, cycles, bounds. The server checks
    /// that too, and also what expressions and templates say.
    ///
    /// ```
    /// use abide_sdk::{step, workflow};
    ///
    /// let lost = workflow("lost").step(step::task("a", "add").next("nowhere")).build().unwrap_err();
    /// assert_eq!((lost.problems[0].pointer.as_str(), lost.problems[0].code), ("/steps/0/next", "UNKNOWN_STEP"));
    /// ```
    pub fn build(&self) -> Result<&wire::Workflow, InvalidWorkflow> {
        let document = serde_json::to_value(&self.document).unwrap_or_default();
        match check::problems(&document) {
            none if none.is_empty() => Ok(&self.document),
            problems => Err(InvalidWorkflow { name: self.document.name.clone(), problems }),
        }
    }

    fn with(mut self, change: impl FnOnce(wire::Workflow) -> wire::Workflow) -> Self {
        self.document = change(self.document);
        self
    }
}

impl<I: Serialize, O: DeserializeOwned> WorkflowRef for Workflow<I, O> {
    type Input = I;
    type Output = O;

    fn name(&self) -> &str {
        &self.document.name
    }
}

impl<I, O> Serialize for Workflow<I, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(serializer)
    }
}
