//! From a well-shaped document to a [`Definition`]: names, order, expressions, templates, times, limits. Every
//! check records what it finds and goes on, so that an author sees all of it at once.

mod branches;
mod debounce;
mod group;
mod headers;
mod limits;
mod llm;
mod mcp;
mod names;
mod order;
mod retries;
mod starts;
mod step;
mod text;
mod times;
mod work;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::document::{self, Workflow};
use super::findings::Findings;
use super::{Definition, Order, Schema, Step, Target, hook};
use crate::problem::{Code, Problem, pointer};
pub use mcp::OWN_TOOLS;
use names::Names;
use order::Links;
pub use work::is_header_name;

/// What is not known about a document of which only a part is well-shaped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MissingParts {
    /// Some step's name, `after` or `next` cannot be read, so nothing can be said about who leads to whom.
    pub(super) links: bool,
}

/// `None` exactly when a problem was found.
pub(super) fn compile(
    document: Workflow,
    missing_parts: MissingParts,
    findings: &mut Findings,
) -> Option<Definition> {
    let names = Names::new(&document.steps, missing_parts, findings);
    let links = Links::new(&document.steps, &names, missing_parts, findings);
    let mut compiler =
        Compiler { document: &document, names: &names, links: &links, findings, place: Place::document() };
    let input_schema =
        document.input_schema.as_ref().and_then(|schema| compiler.schema("inputSchema", schema));
    let start_on = compiler.start_on(document.start_on.as_deref());
    let guards = compiler.guards(document.cancel_on.as_deref(), document.restart_on.as_deref());
    let debounce = compiler.debounce(document.debounce.as_ref());
    let timeout = compiler.timeout(document.timeout_ms, document.timeout.as_deref());
    let output = document.output.as_ref().and_then(|output| compiler.template("output", output));
    if let Some(retry) = &document.default_retry {
        compiler.retry_range("/defaultRetry", retry);
    }
    let keep_headers = compiler.kept_headers("keepHeaders", document.keep_headers.as_deref());
    let limits = compiler.run_limits(document.limits.as_deref());
    let priority = compiler.priority(document.priority.as_ref());
    compiler.mcp(document.mcp.as_ref());
    let compiled: Vec<Option<Step>> =
        (0..).zip(&document.steps).map(|(index, step)| compiler.step(index, step)).collect();
    let hooks = hook::compile(&document, findings);
    let steps: Vec<Step> = compiled.into_iter().collect::<Option<_>>().filter(|_| findings.are_good())?;
    let order = links.order();
    if order == Order::Sequence {
        branches::warn(&document.steps, &steps, findings);
    }
    let by_name: HashMap<Arc<str>, u16> =
        (0..).zip(&steps).map(|(index, step)| (step.name.clone(), index)).collect();
    Some(Definition {
        document,
        steps,
        order,
        timeout,
        output,
        input_schema,
        start_on,
        guards,
        debounce,
        keep_headers,
        limits,
        priority,
        hooks,
        by_name,
    })
}

/// The state of a check: what is known of the whole document, and the place it has come to.
struct Compiler<'c> {
    document: &'c Workflow,
    names: &'c Names<'c>,
    links: &'c Links,
    findings: &'c mut Findings,
    place: Place,
}

/// The object whose fields are being checked.
struct Place {
    pointer: String,
    /// The step it belongs to; of no meaning for the fields of the workflow itself, which jump nowhere.
    step: u16,
    in_map: bool,
    /// What is rendered here is filled in by whoever makes the call, and only there.
    sees_secrets: bool,
}

impl Place {
    fn document() -> Place {
        Place { pointer: String::new(), step: 0, in_map: false, sees_secrets: false }
    }

    fn step(index: u16) -> Place {
        Place { pointer: format!("/steps/{index}"), step: index, in_map: false, sees_secrets: false }
    }

    fn field(&self, name: &str) -> String {
        pointer(&self.pointer, name)
    }
}

impl Compiler<'_> {
    fn step(&mut self, index: u16, step: &document::Step) -> Option<Step> {
        self.place = Place::step(index);
        let when = step.when.as_deref().and_then(|source| self.expression("when", source));
        if let Some(key) = &step.save_as {
            self.state_key("saveAs", key);
        }
        if let Some(retry) = &step.retry {
            self.retry_range(&self.place.field("retry"), retry);
        }
        let next = match &step.next {
            Some(name) if self.links.order() == Order::Graph => self.refuse_next(name),
            Some(name) => self.target(&self.place.field("next"), name),
            None => Some(self.links.following(index)),
        };
        let name: Arc<str> = Arc::from(step.name.as_str());
        let action = self.action(step, &name);
        Some(Step {
            when,
            save_as: step.save_as.as_deref().map(Arc::from),
            retry: self.retry_policy(step),
            action: action?,
            next: next?,
            after: self.links.after(index).to_vec(),
            before: self.links.before(index).to_vec(),
            name,
        })
    }

    fn refuse_next(&mut self, name: &str) -> Option<Target> {
        let at = self.place.field("next");
        self.findings.problem(|| {
            Problem::new(at, Code::Contradiction, "in a graph, a step does not say what comes next")
                .expected(format!("`after` in the step `{name}`"))
        });
        None
    }

    fn schema(&mut self, field: &str, schema: &Value) -> Option<Schema> {
        self.schema_at(self.place.field(field), schema)
    }

    fn schema_at(&mut self, at: String, schema: &Value) -> Option<Schema> {
        Schema::compile(schema)
            .map_err(|reason| {
                self.findings.problem(|| {
                    Problem::new(at, Code::BadSchema, format!("this is not a JSON Schema: {reason}"))
                        .expected("a JSON Schema that refers to nothing outside itself")
                });
            })
            .ok()
    }
}
