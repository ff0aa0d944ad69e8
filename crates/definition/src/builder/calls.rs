//! What can be said about the last step when it is a call: to a model, over HTTP, or to those who wait for an
//! event.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Names, kinds};
use crate::document::{FanOut, Guardrail, Llm, Message, ResponseFormat, Role, StatusPattern, Tool, Workflow};

impl Workflow {
    fn model(self, modifier: &str, change: impl FnOnce(&mut Llm)) -> Workflow {
        self.of_kind(modifier, "an `llm`", |kind| kinds::llm(kind).map(change))
    }

    /// Models that are tried in this order when the first one fails.
    pub fn fallback_models(self, models: impl Names) -> Workflow {
        self.model("fallback_models", |llm| llm.fallback_models = Some(models.into_names()))
    }

    /// Templates allowed.
    pub fn system_prompt(self, prompt: impl Into<String>) -> Workflow {
        self.model("system_prompt", |llm| llm.system_prompt = Some(prompt.into()))
    }

    /// One message more; templates allowed.
    pub fn message(self, role: Role, content: impl Into<String>) -> Workflow {
        self.model("message", |llm| llm.messages.push(Message { role, content: content.into() }))
    }

    /// One tool more that the model may call.
    pub fn tool(self, tool: Tool) -> Workflow {
        self.model("tool", |llm| llm.tools.get_or_insert_default().push(tool))
    }

    /// Whether the model answers with text or with JSON.
    pub fn response_format(self, format: ResponseFormat) -> Workflow {
        self.model("response_format", |llm| llm.response_format = Some(format))
    }

    /// An answer in JSON that satisfies this JSON Schema.
    pub fn output_schema(self, schema: Value) -> Workflow {
        self.model("output_schema", |llm| {
            llm.response_format = Some(ResponseFormat::Json);
            llm.output_schema = Some(schema);
        })
    }

    /// How freely the model answers.
    pub fn temperature(self, temperature: f64) -> Workflow {
        self.model("temperature", |llm| llm.temperature = Some(temperature))
    }

    /// How long the answer of the model may be, in tokens.
    pub fn max_tokens(self, tokens: u32) -> Workflow {
        self.model("max_tokens", |llm| llm.max_tokens = Some(tokens))
    }

    /// What all calls of the step together may cost, in millionths of the currency of the price table.
    pub fn budget_micros(self, micros: u64) -> Workflow {
        self.model("budget_micros", |llm| llm.budget_micros = Some(micros))
    }

    /// How often the model may call tools before it must answer.
    pub fn max_tool_rounds(self, rounds: u32) -> Workflow {
        self.model("max_tool_rounds", |llm| llm.max_tool_rounds = Some(rounds))
    }

    /// One more check of the model's answer.
    pub fn guardrail(self, guardrail: Guardrail) -> Workflow {
        self.model("guardrail", |llm| llm.guardrails.get_or_insert_default().push(guardrail))
    }

    /// One header more of an `http` call; templates allowed.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Workflow {
        self.of_kind("header", "an `http`", |kind| {
            kinds::http(kind).map(|http| {
                http.headers.get_or_insert_with(BTreeMap::new).insert(name.into(), value.into());
            })
        })
    }

    /// What an `http` call sends: JSON, or text when it is a string; templates allowed.
    pub fn body(self, body: impl Into<Value>) -> Workflow {
        self.of_kind("body", "an `http`", |kind| kinds::http(kind).map(|http| http.body = Some(body.into())))
    }

    /// The statuses that fail an `http` call.
    pub fn fail_on(self, statuses: impl IntoIterator<Item = impl Into<StatusPattern>>) -> Workflow {
        self.of_kind("fail_on", "an `http`", |kind| {
            kinds::http(kind).map(|http| http.fail_on = Some(statuses.into_iter().map(Into::into).collect()))
        })
    }

    /// Sign an `http` call with the server's signing key.
    pub fn sign(self) -> Workflow {
        self.of_kind("sign", "an `http`", |kind| kinds::http(kind).map(|http| http.sign = true))
    }

    /// What an event carries; templates allowed.
    pub fn data(self, data: impl Into<Value>) -> Workflow {
        self.of_kind("data", "a `notify`", |kind| {
            kinds::notify(kind).map(|notify| notify.data = Some(data.into()))
        })
    }

    /// Only this run gets the event; templates allowed.
    pub fn to_run(self, run_id: impl Into<String>) -> Workflow {
        self.of_kind("to_run", "a `notify`", |kind| {
            kinds::notify(kind).map(|notify| notify.run_id = Some(run_id.into()))
        })
    }

    /// Whether the event goes to everyone who waits for it, or to one of them.
    pub fn delivery(self, delivery: FanOut) -> Workflow {
        self.of_kind("delivery", "a `notify`", |kind| {
            kinds::notify(kind).map(|notify| notify.delivery = Some(delivery))
        })
    }
}

/// `404`
impl From<u16> for StatusPattern {
    fn from(status: u16) -> StatusPattern {
        StatusPattern::One(status)
    }
}

/// `5xx`
impl From<&str> for StatusPattern {
    fn from(class: &str) -> StatusPattern {
        StatusPattern::Class(class.to_owned())
    }
}
