//! What the journal of a guest's run is made of: entries, and requests for what is not in the log yet.

use abide_core::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Headers;

/// How much of a step's name is in the name of its journal entry.
const NAME_CHARS: usize = 100;

/// A step by its number and its name.
pub(crate) fn shown_name(step: u32, name: &str) -> String {
    let name: String = name.chars().take(NAME_CHARS).collect();
    format!("{step} {name}")
}

/// An entry as the journal holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The step, if it was submitted as compact JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<Value>,
    /// The step exactly as it was submitted, if it was written otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The headers of its message that differ from the run's.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub(crate) headers: Headers,
    /// The first step of the parallel group that a plan belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<u32>,
}

impl Stored {
    /// A step that was submitted with this body.
    pub(crate) fn new(body: String, headers: Headers, group: Option<u32>) -> Stored {
        let step = serde_json::from_str(&body).ok().filter(|step: &Value| step.is_object());
        // What is as long as before has the same fields and the same numbers, perhaps in another order.
        match step.filter(|step| step.to_string().len() == body.len()) {
            Some(step) => Stored { step: Some(step), body: None, headers, group },
            None => Stored { step: None, body: Some(body), headers, group },
        }
    }

    /// The step as it is delivered.
    pub(crate) fn text(&self) -> String {
        match (&self.step, &self.body) {
            (Some(step), _) => step.to_string(),
            (None, body) => body.clone().unwrap_or_default(),
        }
    }

    /// The result of the step, if it has one.
    pub(crate) fn result(&self) -> Option<String> {
        self.value().get("out")?.as_str().map(str::to_owned)
    }

    /// The result of the step, if it is sealed.
    pub(super) fn sealed_result(&self) -> Option<&str> {
        let out = self.step.as_ref()?.get("out")?.as_str()?;
        crate::sealed::is_sealed(out).then_some(out)
    }

    /// The step, with another result if it has one.
    pub(crate) fn with_result(mut self, change: impl FnOnce(&str) -> String) -> Stored {
        let mut step = self.value();
        if let Some(Value::String(out)) = step.get_mut("out") {
            *out = change(out);
            (self.step, self.body) = (Some(step), None);
        }
        self
    }

    /// The step as JSON.
    pub(crate) fn value(&self) -> Value {
        match (&self.step, &self.body) {
            (Some(step), _) => step.clone(),
            (None, body) => serde_json::from_str(body.as_deref().unwrap_or_default()).unwrap_or_default(),
        }
    }

    /// What the gateway has to know of the step; `None` if it is none.
    pub(super) fn step(&self) -> Option<Step> {
        match (&self.step, &self.body) {
            (Some(step), _) => Step::deserialize(step).ok(),
            (None, body) => Step::parse(body.as_deref()?),
        }
    }
}

/// What of a step the gateway has to know.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Step {
    pub(crate) step_id: u32,
    pub(crate) step_name: String,
    pub(crate) step_type: String,
    pub(crate) concurrent: Option<u32>,
    pub(crate) target_step: Option<u32>,
}

impl Step {
    pub(crate) fn parse(body: &str) -> Option<Step> {
        serde_json::from_str(body).ok()
    }

    /// The number of the planned step, if this is a plan.
    pub(crate) fn plans(&self) -> Option<u32> {
        self.target_step.filter(|target| self.step_id == 0 && *target > 0)
    }

    /// The name of the journal entry: the step's number and its name.
    pub(crate) fn entry_name(&self) -> String {
        match self.plans() {
            Some(_) => format!("{} (plan)", self.result_name()),
            None => self.result_name(),
        }
    }

    /// The name of the journal entry of the step's result, for a plan, too.
    pub(crate) fn result_name(&self) -> String {
        shown_name(self.plans().unwrap_or(self.step_id), &self.step_name)
    }
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The name of the journal entry; `init` for the initial payload.
    pub(crate) name: String,
    pub(crate) message_id: String,
    pub(crate) step: Step,
    pub(crate) stored: Stored,
    /// Where the entry ends in what is delivered of the log.
    pub(super) end: usize,
}

/// Something that a step waits for outside of the log, under the step's number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The step as the SDK wrote it; its result is made of it.
    pub(crate) step: Value,
    /// The name of the waitpoint; of a call, that of the wait for room before it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wait: Option<String>,
    /// What is asked for, by kind.
    pub(crate) asked: Value,
    /// Headers of the message that carries the result.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub(crate) headers: Headers,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RequestKind {
    Wait,
    Invoke,
    Call,
}

impl RequestKind {
    /// The name of a call that has room under a limit: an entry of this name, or with `!` before it, releases the room.
    pub(crate) fn call_name(step: u32) -> String {
        format!("called {step}")
    }

    /// The name of the entry with the answer to the call of a step.
    pub(crate) fn answer_name(step: u32) -> String {
        format!("!{}", RequestKind::call_name(step))
    }

    pub(crate) fn entry_name(self, step: u32) -> String {
        match self {
            RequestKind::Wait => format!("!wait {step}"),
            RequestKind::Invoke => format!("!invoke {step}"),
            RequestKind::Call => format!("!call {step}"),
        }
    }
}

/// The part of a message's id that says which message of its run it is.
pub(crate) fn entry_key(step: &Step) -> String {
    match step.plans() {
        Some(target) => format!("p{target}"),
        None => format!("s{}", step.step_id),
    }
}

/// Ids of the messages of a run: the same message always has the same one.
pub(crate) fn message_ids(run: &Run) -> impl Fn(&str) -> String + use<> {
    let id = run.id.to_string();
    let id = id.strip_prefix("run_").unwrap_or(&id).to_owned();
    move |key: &str| format!("msg_{id}_{key}")
}
