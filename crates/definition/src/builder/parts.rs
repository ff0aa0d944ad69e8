//! The parts of a document that are handed to the builder whole.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::document::{Hook, OnApprovalTimeout, OnTimeout, Respond, Retry, StepKind, Tool};

impl Retry {
    /// All tries together.
    pub fn attempts(attempts: u32) -> Retry {
        Retry { max_attempts: Some(attempts), ..Retry::default() }
    }

    /// The initial back-off, before the second try, and by how much it grows from try to try.
    pub fn backoff_ms(mut self, first: u64, multiplier: f64) -> Retry {
        self.backoff_ms = Some(first);
        self.backoff_multiplier = Some(multiplier);
        self
    }

    /// The longest time between two attempts.
    pub fn max_backoff_ms(mut self, most: u64) -> Retry {
        self.max_backoff_ms = Some(most);
        self
    }
}

impl Hook {
    /// A hook that calls the handler of this name.
    pub fn new(handler: impl Into<String>) -> Hook {
        Hook { handler: handler.into(), ..Hook::default() }
    }

    /// Settings for the handler; templates allowed, over what the handler gets.
    pub fn config(mut self, config: Value) -> Hook {
        self.config = Some(config);
        self
    }

    /// How often, and after what time, the handler is tried again.
    pub fn retry(mut self, retry: Retry) -> Hook {
        self.retry = Some(retry);
        self
    }

    /// How long one attempt may work.
    pub fn timeout_ms(mut self, ms: u64) -> Hook {
        self.timeout_ms = Some(ms);
        self
    }
}

impl From<&str> for Hook {
    fn from(handler: &str) -> Hook {
        Hook::new(handler)
    }
}

impl From<String> for Hook {
    fn from(handler: String) -> Hook {
        Hook::new(handler)
    }
}

impl Respond {
    /// A reply with this HTTP status.
    pub fn status(status: u16) -> Respond {
        Respond { status: Some(status), ..Respond::default() }
    }

    /// A header of the reply.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Respond {
        self.headers.get_or_insert_with(BTreeMap::new).insert(name.into(), value.into());
        self
    }

    /// The body of the reply; templates allowed.
    pub fn body(mut self, body: impl Into<Value>) -> Respond {
        self.body = Some(body.into());
        self
    }
}

impl Tool {
    /// A tool served by the handler of the same name.
    pub fn new(name: impl Into<String>) -> Tool {
        Tool { name: name.into(), ..Tool::default() }
    }

    /// What the tool does, in words for the model.
    pub fn description(mut self, description: impl Into<String>) -> Tool {
        self.description = Some(description.into());
        self
    }

    /// A JSON Schema of the arguments.
    pub fn parameters(mut self, schema: Value) -> Tool {
        self.parameters = Some(schema);
        self
    }

    /// The handler that does what the tool is for.
    pub fn handler(mut self, handler: impl Into<String>) -> Tool {
        self.handler = Some(handler.into());
        self
    }

    /// The workflow that does what the tool is for.
    pub fn workflow(mut self, workflow: impl Into<String>) -> Tool {
        self.workflow = Some(workflow.into());
        self
    }
}

impl OnTimeout {
    /// The run goes on with this step.
    pub fn goto(step: impl Into<String>) -> OnTimeout {
        OnTimeout::Goto(step.into())
    }
}

impl From<OnTimeout> for OnApprovalTimeout {
    fn from(on_timeout: OnTimeout) -> OnApprovalTimeout {
        match on_timeout {
            OnTimeout::Fail => OnApprovalTimeout::Fail,
            OnTimeout::Continue => OnApprovalTimeout::Continue,
            OnTimeout::Goto(step) => OnApprovalTimeout::Goto(step),
        }
    }
}

impl StepKind {
    /// The step's `type`.
    pub fn type_name(&self) -> &'static str {
        match self {
            StepKind::Task(_) => "task",
            StepKind::Wait(_) => "wait",
            StepKind::Condition(_) => "condition",
            StepKind::ExternalEvent(_) => "external_event",
            StepKind::WaitForEvent(_) => "wait_for_event",
            StepKind::Webhook(_) => "webhook",
            StepKind::Approval(_) => "approval",
            StepKind::Llm(_) => "llm",
            StepKind::Http(_) => "http",
            StepKind::Notify(_) => "notify",
            StepKind::Respond(_) => "respond",
            StepKind::Workflow(_) => "workflow",
            StepKind::Map(_) => "map",
            StepKind::WaitAny(_) => "wait_any",
            StepKind::WaitAll(_) => "wait_all",
            StepKind::WaitSome(_) => "wait_some",
        }
    }
}
