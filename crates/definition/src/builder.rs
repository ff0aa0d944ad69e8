//! Workflows written in code: methods that read like the document they make.
//!
//! ```
//! use abide_definition::document::Workflow;
//! use jiff::ToSpan;
//!
//! let checked = Workflow::new("rate-limited-pipeline")
//!     .task("call-api", "api-call")
//!     .sleep("cooldown", 30.seconds()).after("call-api")
//!     .task("call-again", "api-call").after("cooldown")
//!     .check()?;
//! assert_eq!(checked.definition.steps.len(), 3);
//! # Ok::<(), abide_definition::Rejected>(())
//! ```
//!
//! One method adds a step; the methods after it are about that step, until the next one is added. A modifier
//! that says nothing about the last step is a problem that [`Workflow::check`] reports, like every other.
//! Nothing is checked before: a builder makes documents, and the checks are those of documents.

mod calls;
mod given;
mod group;
mod kinds;
mod modifiers;
mod parts;

use serde_json::Value;

use crate::document::{
    Approval, Condition, ExternalEvent, Hook, Http, Llm, Map, MapStep, MapStepKind, Mcp, Method, Notify,
    Respond, Retry, Step, StepKind, SubWorkflow, Task, Wait, WaitForEvent, Webhook, Workflow,
};
use crate::problem::{Code, Problem, pointer};

pub use given::{Instant, Length, Names};

/// The workflow itself.
impl Workflow {
    /// A workflow of this name without steps, of version `1`.
    pub fn new(name: impl Into<String>) -> Workflow {
        Workflow { name: name.into(), version: "1".to_owned(), ..Workflow::default() }
    }

    /// The version of the workflow.
    pub fn version(mut self, version: impl Into<String>) -> Workflow {
        self.version = version.into();
        self
    }

    /// What the workflow is for, in words for people.
    pub fn description(mut self, description: impl Into<String>) -> Workflow {
        self.description = Some(description.into());
        self
    }

    /// A JSON Schema that every run's input must satisfy.
    pub fn input_schema(mut self, schema: Value) -> Workflow {
        self.input_schema = Some(schema);
        self
    }

    /// How long a whole run may take.
    pub fn run_timeout(mut self, length: impl Into<Length>) -> Workflow {
        match self.length(length.into(), "timeoutMs", String::new()) {
            (Some(ms), _) => self.timeout_ms = Some(ms),
            (None, text) => self.timeout = text,
        }
        self
    }

    /// What all calls to models of a run together may cost, in millionths of the currency of the price table.
    pub fn run_budget_micros(mut self, micros: u64) -> Workflow {
        self.budget_micros = Some(micros);
        self
    }

    /// The retry policy of steps that have none of their own.
    pub fn default_retry(mut self, retry: Retry) -> Workflow {
        self.default_retry = Some(retry);
        self
    }

    /// Called when a run has failed, each time it does: `"tell-ops"`, or a [`Hook`] with settings and a retry policy.
    pub fn on_failure(mut self, hook: impl Into<Hook>) -> Workflow {
        self.on_failure = Some(hook.into());
        self
    }

    /// Called when a run was cancelled.
    pub fn on_cancel(mut self, hook: impl Into<Hook>) -> Workflow {
        self.on_cancel = Some(hook.into());
        self
    }

    /// Every task stays with the build that took it first, unless its step says otherwise.
    pub fn pin_tasks_to_builds(mut self) -> Workflow {
        self.pin_to_build = Some(true);
        self
    }

    /// Offers the workflow to clients of the Model Context Protocol: `Mcp::default()` makes it a tool.
    pub fn mcp(mut self, mcp: Mcp) -> Workflow {
        self.mcp = Some(mcp);
        self
    }

    /// What a completed run's output is; templates allowed.
    pub fn output(mut self, output: Value) -> Workflow {
        self.output = Some(output);
        self
    }

    /// The document, as it is posted.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a workflow is JSON")
    }

    /// Milliseconds or text; what is neither is remembered as a problem.
    fn length(&mut self, length: Length, field: &str, at: String) -> (Option<u64>, Option<String>) {
        match length {
            Length::Ms(ms) => (Some(ms), None),
            Length::Text(text) => (None, Some(text)),
            Length::Bad(error) => {
                self.misfits.push(Problem::new(pointer(&at, field), Code::BadDuration, error.to_string()));
                (None, None)
            }
        }
    }
}

/// One step more.
impl Workflow {
    fn add(mut self, name: impl Into<String>, kind: StepKind) -> Workflow {
        self.steps.push(Step {
            name: name.into(),
            description: None,
            when: None,
            save_as: None,
            retry: None,
            after: None,
            next: None,
            kind,
        });
        self
    }

    /// Runs a registered handler.
    pub fn task(self, name: impl Into<String>, handler: impl Into<String>) -> Workflow {
        self.add(name, StepKind::Task(Task { handler: handler.into(), ..Task::default() }))
    }

    /// Sleeps for a time: `30.seconds()`, a [`std::time::Duration`], `"2d 4h"`, or a template that gives one.
    pub fn sleep(mut self, name: impl Into<String>, length: impl Into<Length>) -> Workflow {
        let at = format!("/steps/{}", self.steps.len());
        let (duration_ms, duration) = self.length(length.into(), "durationMs", at);
        self.add(name, StepKind::Wait(Wait { duration_ms, duration, ..Wait::default() }))
    }

    /// Sleeps until an instant: a [`jiff::Timestamp`], RFC 3339, or a template that gives one.
    pub fn sleep_until(self, name: impl Into<String>, instant: impl Into<Instant>) -> Workflow {
        let until_timestamp = Some(instant.into().0);
        self.add(name, StepKind::Wait(Wait { until_timestamp, ..Wait::default() }))
    }

    /// Sleeps until the next time of a cron line.
    pub fn cron(self, name: impl Into<String>, line: impl Into<String>) -> Workflow {
        self.add(name, StepKind::Wait(Wait { cron: Some(line.into()), ..Wait::default() }))
    }

    /// Goes on with `true_step` when the expression is true; see [`Workflow::otherwise`].
    pub fn condition(
        self,
        name: impl Into<String>,
        expression: impl Into<String>,
        true_step: impl Into<String>,
    ) -> Workflow {
        let condition =
            Condition { expression: expression.into(), true_step: true_step.into(), false_step: None };
        self.add(name, StepKind::Condition(condition))
    }

    /// Waits for a signal sent to this run.
    pub fn signal(self, name: impl Into<String>, signal_type: impl Into<String>) -> Workflow {
        let signal = ExternalEvent { signal_type: signal_type.into(), ..ExternalEvent::default() };
        self.add(name, StepKind::ExternalEvent(signal))
    }

    /// [`Workflow::signal`] under the name it has in a document.
    pub fn external_event(self, name: impl Into<String>, signal_type: impl Into<String>) -> Workflow {
        self.signal(name, signal_type)
    }

    /// Waits for an event sent to everyone.
    pub fn wait_for_event(self, name: impl Into<String>, event_id: impl Into<String>) -> Workflow {
        let event = WaitForEvent { event_id: event_id.into(), ..WaitForEvent::default() };
        self.add(name, StepKind::WaitForEvent(event))
    }

    /// Waits for a call on its resume URL.
    pub fn webhook(self, name: impl Into<String>) -> Workflow {
        self.add(name, StepKind::Webhook(Webhook::default()))
    }

    /// Waits for people to approve what is in `state` under `content_key`.
    pub fn approval(self, name: impl Into<String>, content_key: impl Into<String>) -> Workflow {
        let approval = Approval { content_key: content_key.into(), ..Approval::default() };
        self.add(name, StepKind::Approval(approval))
    }

    /// Calls a model with the messages that [`Workflow::message`] adds.
    pub fn llm(self, name: impl Into<String>, model: impl Into<String>) -> Workflow {
        self.add(name, StepKind::Llm(Box::new(Llm { model: model.into(), ..Llm::default() })))
    }

    /// The engine makes an HTTP call.
    pub fn http(self, name: impl Into<String>, method: Method, url: impl Into<String>) -> Workflow {
        let http = Http { url: url.into(), method: Some(method), ..Http::default() };
        self.add(name, StepKind::Http(Box::new(http)))
    }

    /// Sends an event to everyone who waits for it.
    pub fn notify(self, name: impl Into<String>, event_id: impl Into<String>) -> Workflow {
        self.add(name, StepKind::Notify(Notify { event_id: event_id.into(), ..Notify::default() }))
    }

    /// Answers the caller that started the run.
    pub fn respond(self, name: impl Into<String>, reply: Respond) -> Workflow {
        self.add(name, StepKind::Respond(reply))
    }

    /// Starts a run of another workflow and waits for it.
    pub fn child(self, name: impl Into<String>, definition: impl Into<String>) -> Workflow {
        let child = SubWorkflow { definition: definition.into(), ..SubWorkflow::default() };
        self.add(name, StepKind::Workflow(child))
    }

    /// Does one step for every item of a list, or of what an expression gives. `step` adds that step to an empty
    /// workflow; its name is not kept.
    ///
    /// ```
    /// # use abide_definition::document::Workflow;
    /// # use serde_json::json;
    /// Workflow::new("thumbnails").map("resize", "input.images", |each| {
    ///     each.task("image", "resize-image").input(json!({"url": "{{ item.url }}", "number": "{{ index }}"}))
    /// });
    /// ```
    pub fn map(
        mut self,
        name: impl Into<String>,
        items: impl Into<Value>,
        step: impl FnOnce(Workflow) -> Workflow,
    ) -> Workflow {
        let inside = step(Workflow::default());
        let at = format!("/steps/{}/step", self.steps.len());
        self.misfits.extend(inside.misfits.into_iter().map(|misfit| inside_map(misfit, &at)));
        let mut steps = inside.steps.into_iter();
        let map_step = match (steps.next(), steps.next()) {
            (Some(only), None) => item_step(only),
            (None, _) => Err("a `map` does one step, and there is none".to_owned()),
            (Some(_), Some(_)) => Err("a `map` does one step, not several".to_owned()),
        };
        let step = map_step.unwrap_or_else(|message| {
            self.misfits.push(Problem::new(at, Code::Contradiction, message));
            MapStep {
                retry: None,
                kind: MapStepKind::Task(Task { handler: "-".to_owned(), ..Task::default() }),
            }
        });
        let map = Map { items: items.into(), step: Box::new(step), concurrency: None, on_item_failure: None };
        self.add(name, StepKind::Map(map))
    }
}

/// What was `/steps/0/…` is the map's `step`.
fn inside_map(mut misfit: Problem, at: &str) -> Problem {
    misfit.pointer = format!("{at}{}", misfit.pointer.strip_prefix("/steps/0").unwrap_or_default());
    misfit
}

fn item_step(step: Step) -> Result<MapStep, String> {
    let Step { name: _, description, when, save_as, retry, after, next, kind } = step;
    if description.is_some() || when.is_some() || save_as.is_some() || after.is_some() || next.is_some() {
        return Err("the step of a `map` has no description, condition, key or order of its own".to_owned());
    }
    let kind = match kind {
        StepKind::Task(task) => MapStepKind::Task(task),
        StepKind::Wait(wait) => MapStepKind::Wait(wait),
        StepKind::ExternalEvent(signal) => MapStepKind::ExternalEvent(signal),
        StepKind::WaitForEvent(event) => MapStepKind::WaitForEvent(event),
        StepKind::Webhook(webhook) => MapStepKind::Webhook(webhook),
        StepKind::Llm(llm) => MapStepKind::Llm(llm),
        StepKind::Http(http) => MapStepKind::Http(http),
        StepKind::Notify(notify) => MapStepKind::Notify(notify),
        StepKind::Workflow(child) => MapStepKind::Workflow(child),
        StepKind::Condition(_)
        | StepKind::Approval(_)
        | StepKind::Respond(_)
        | StepKind::Map(_)
        | StepKind::WaitAny(_)
        | StepKind::WaitAll(_)
        | StepKind::WaitSome(_) => {
            return Err(format!("the step of a `map` cannot be of the type `{}`", kind.type_name()));
        }
    };
    Ok(MapStep { retry, kind })
}
