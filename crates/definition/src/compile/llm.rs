//! The request of a call to a model, its tools and its guardrails.

use super::Compiler;
use super::work::{Request, limited, plain_json};
use crate::document::{Guardrail, Llm, ResponseFormat, Tool};
use crate::findings::quoted;
use crate::problem::{Code, Problem, pointer};
use crate::{Action, Executor, blocked_pattern};

impl Compiler<'_> {
    pub(super) fn llm(&mut self, llm: &Llm) -> Option<Action> {
        self.plain("model", &llm.model);
        for (index, model) in llm.fallback_models.iter().flatten().enumerate() {
            self.plain_at(&pointer(&self.place.field("fallbackModels"), index), model);
        }
        let system_prompt =
            llm.system_prompt.as_deref().and_then(|prompt| self.text_template("systemPrompt", prompt));
        let messages = self.template("messages", &plain_json(&llm.messages));
        self.tools(llm.tools.as_deref().unwrap_or_default());
        self.output_schema(llm);
        self.guardrails(llm);
        let timeout = self.timeout(llm.timeout_ms, llm.timeout.as_deref());
        let mut request = Request::default()
            .constant("model", &llm.model)
            .field("messages", messages?)
            .constant_if_given("fallbackModels", llm.fallback_models.as_ref())
            .constant_if_given("tools", llm.tools.as_ref())
            .constant_if_given("responseFormat", llm.response_format.as_ref())
            .constant_if_given("outputSchema", llm.output_schema.as_ref())
            .constant_if_given("temperature", llm.temperature.as_ref())
            .constant_if_given("maxTokens", llm.max_tokens.as_ref())
            .constant_if_given("budgetMicros", llm.budget_micros.as_ref())
            .constant_if_given("maxToolRounds", llm.max_tool_rounds.as_ref())
            .constant_if_given("guardrails", llm.guardrails.as_ref());
        if let Some(system_prompt) = system_prompt {
            request = request.field("systemPrompt", system_prompt);
        }
        let limits = self.step_limits(llm.limits.as_deref());
        Some(limited(request.call(Executor::Llm, "llm", timeout), limits))
    }

    fn output_schema(&mut self, llm: &Llm) {
        let Some(schema) = &llm.output_schema else { return };
        self.schema("outputSchema", schema);
        if llm.response_format != Some(ResponseFormat::Json) {
            let at = self.place.field("outputSchema");
            self.findings.problem(|| needs_json(at));
        }
    }

    fn tools(&mut self, tools: &[Tool]) {
        for (index, tool) in tools.iter().enumerate() {
            let at = pointer(&self.place.field("tools"), index);
            if tools[..index].iter().any(|other| other.name == tool.name) {
                self.findings.problem(|| {
                    let message = format!("there are two tools with the name {}", quoted(&tool.name));
                    Problem::new(pointer(&at, "name"), Code::DuplicateName, message)
                });
            }
            if !tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
                self.findings.problem(|| {
                    let message = format!("models do not know tools named {}", quoted(&tool.name));
                    Problem::new(pointer(&at, "name"), Code::OutOfRange, message)
                        .expected("letters, digits, `_` and `-`")
                });
            }
            if tool.handler.is_some() && tool.workflow.is_some() {
                self.findings.problem(|| {
                    let message = "a tool is served by a `handler` or a `workflow`, not by both";
                    Problem::new(at.clone(), Code::Contradiction, message).expected("one of them")
                });
            }
            for (field, name) in [("handler", &tool.handler), ("workflow", &tool.workflow)] {
                if let Some(name) = name {
                    self.plain_at(&pointer(&at, field), name);
                }
            }
            if let Some(parameters) = &tool.parameters {
                self.schema_at(pointer(&at, "parameters"), parameters);
            }
        }
    }

    fn guardrails(&mut self, llm: &Llm) {
        for (index, guardrail) in llm.guardrails.iter().flatten().enumerate() {
            let at = pointer(&self.place.field("guardrails"), index);
            let of_json = match guardrail {
                Guardrail::SchemaValidation { schema: Some(schema), .. } => {
                    self.schema_at(pointer(&at, "schema"), schema);
                    true
                }
                Guardrail::SchemaValidation { schema: None, .. } => {
                    if llm.output_schema.is_none() {
                        self.findings.problem(|| {
                            Problem::new(at.clone(), Code::Contradiction, "there is no schema to satisfy")
                                .expected("`schema` here, or `outputSchema` in the step")
                        });
                    }
                    true
                }
                Guardrail::ConfidenceThreshold { .. } => true,
                Guardrail::ContentSafety { blocked, judge_model, .. } => {
                    self.blocked(&pointer(&at, "blocked"), blocked.as_deref().unwrap_or_default());
                    if let Some(model) = judge_model {
                        self.plain_at(&pointer(&at, "judgeModel"), model);
                    }
                    false
                }
            };
            if of_json && llm.response_format != Some(ResponseFormat::Json) {
                self.findings.problem(|| needs_json(at));
            }
        }
    }
}

impl Compiler<'_> {
    fn blocked(&mut self, at: &str, words: &[String]) {
        for (index, word) in words.iter().enumerate() {
            if let Err(why) = blocked_pattern(word) {
                self.findings.problem(|| {
                    let message = format!("{} is not a pattern: {why}", quoted(word));
                    Problem::new(pointer(at, index), Code::OutOfRange, message)
                        .expected("a word, or a regular expression between slashes such as `/\\d{4}/`")
                });
            }
        }
    }
}

fn needs_json(at: String) -> Problem {
    Problem::new(at, Code::Contradiction, "this is for answers in JSON")
        .expected("`responseFormat: json` in the step")
}
