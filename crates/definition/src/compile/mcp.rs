//! The `mcp` of a workflow: whether clients of the protocol can call it by its name, and what they may be asked.

use std::collections::BTreeMap;

use serde_json::Value;

use super::text::Sees;
use super::{Compiler, Place};
use crate::document::{Mcp, McpAsk, McpKind};
use crate::limits::{MCP_ASKS, MCP_NAME_CHARS};
use crate::problem::{Code, Problem, pointer};

/// What the names of the server's own tools begin with.
pub const OWN_TOOLS: &str = "abide_";

impl Compiler<'_> {
    pub(super) fn mcp(&mut self, given: Option<&Mcp>) {
        let Some(given) = given else { return };
        self.mcp_name();
        self.mcp_input();
        self.place = Place { pointer: "/mcp".to_owned(), ..Place::document() };
        if given.kind == Some(McpKind::Prompt) && given.task.is_some() {
            self.contradiction("task", "only a tool's call may become a task", "`kind: tool`");
        }
        self.asks("askFirst", given.ask_first.as_ref(), Sees::Input);
        self.asks("ask", given.ask.as_ref(), Sees::Run);
        self.place = Place::document();
    }

    /// Clients take no other names.
    fn mcp_name(&mut self) {
        let name = self.document.name.as_str();
        let is_good = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
        if name.chars().count() > MCP_NAME_CHARS || !name.chars().all(is_good) {
            self.findings.problem(|| {
                let message = "MCP clients do not take this name";
                let expected = format!("at most {MCP_NAME_CHARS} letters, digits, `_`, `-`, `.` and `/`");
                Problem::new("/name", Code::OutOfRange, message).expected(expected)
            });
        }
        if name.starts_with(OWN_TOOLS) {
            self.findings.problem(|| {
                let message = format!("names of the server's own tools begin with `{OWN_TOOLS}`");
                Problem::new("/name", Code::ReservedName, message).expected("another name")
            });
        }
    }

    /// Arguments are always an object.
    fn mcp_input(&mut self) {
        let Some(schema) = &self.document.input_schema else { return };
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            self.findings.problem(|| {
                let message = "the arguments of an MCP client are an object";
                Problem::new("/inputSchema", Code::BadSchema, message).expected("`\"type\": \"object\"`")
            });
        }
    }

    fn asks(&mut self, field: &str, given: Option<&BTreeMap<String, McpAsk>>, sees: Sees) {
        let Some(given) = given else { return };
        let at = self.place.field(field);
        if given.len() > MCP_ASKS {
            self.findings.problem(|| {
                let message =
                    format!("{} things to ask are more than MCP_ASKS, which is {MCP_ASKS}", given.len());
                Problem::new(at.clone(), Code::LimitExceeded, message)
            });
        }
        for (name, ask) in given {
            self.place = Place { pointer: pointer(&at, name), ..Place::document() };
            self.ask(ask, sees);
        }
        self.place = Place { pointer: "/mcp".to_owned(), ..Place::document() };
    }

    fn ask(&mut self, ask: &McpAsk, sees: Sees) {
        let roots = ask.roots == Some(true);
        let ways = [ask.message.is_some(), ask.sampling.is_some(), roots];
        if ways.into_iter().filter(|way| *way).count() != 1 {
            let at = self.place.pointer.clone();
            self.findings.problem(|| {
                let message = "a caller is asked in exactly one way";
                let expected = "one of `message`, `sampling` and `roots: true`";
                Problem::new(at, Code::Contradiction, message).expected(expected)
            });
        }
        if let Some(message) = &ask.message {
            self.template_seeing("message", &Value::from(message.as_str()), sees);
        }
        if let Some(sampling) = &ask.sampling {
            self.template_seeing("sampling", sampling, sees);
        }
        let Some(schema) = &ask.schema else { return };
        if ask.message.is_none() {
            self.contradiction("schema", "only a form has a schema", "`message`");
        }
        if self.schema("schema", schema).is_some() && !is_form(schema) {
            let at = self.place.field("schema");
            self.findings.problem(|| {
                let message = "a form is an object of fields that hold no objects";
                Problem::new(at, Code::BadSchema, message)
                    .expected("`{\"type\": \"object\", \"properties\": {\"ok\": {\"type\": \"boolean\"}}}`")
            });
        }
    }

    fn contradiction(&mut self, field: &str, message: &str, expected: &str) {
        let at = self.place.field(field);
        self.findings.problem(|| Problem::new(at, Code::Contradiction, message).expected(expected));
    }
}

/// Whether clients can show the schema as a form.
fn is_form(schema: &Value) -> bool {
    let fields = schema.get("properties").and_then(Value::as_object);
    schema.get("type").and_then(Value::as_str) == Some("object")
        && fields.is_some_and(|fields| {
            fields.values().all(|field| {
                let kind = field.get("type").and_then(Value::as_str);
                kind.is_some_and(|kind| ["string", "number", "integer", "boolean", "array"].contains(&kind))
            })
        })
}
