//! The doors of a definition. Whichever is taken, a document goes through the same checks in the same order.

use serde::Deserialize;
use serde_json::Value;

use super::compile::{self, MissingParts};
use super::document::Workflow;
use super::findings::{Findings, Rejected};
use super::{Definition, is_own, read, salvage, shape, values};
use crate::json::Json;
use crate::limits;
use crate::problem::{Code, Problem};
use crate::time::Millis;

/// A definition, and what is doubtful about it.
#[derive(Debug)]
pub struct Checked {
    pub definition: Definition,
    pub warnings: Vec<Problem>,
}

impl Definition {
    /// Reads and checks a document in JSON.
    pub fn from_json(text: &str) -> Result<Checked, Rejected> {
        read::json(text).map_err(Rejected::one).and_then(Definition::from_value)
    }

    /// Reads and checks a document in YAML.
    pub fn from_yaml(text: &str) -> Result<Checked, Rejected> {
        read::yaml(text).map_err(Rejected::one).and_then(Definition::from_value)
    }

    /// A document that was accepted once, whatever the longest wait was then.
    pub fn from_stored(text: &str) -> Result<Checked, Rejected> {
        let document = read::json(text).map_err(Rejected::one)?;
        Definition::from_value_within(document, Millis(u64::MAX))
    }

    /// JSON if it looks like JSON, else YAML.
    pub fn from_text(text: &str) -> Result<Checked, Rejected> {
        Definition::from_text_within(text, limits::WAIT)
    }

    /// Reads and checks a definition, with another limit for waits and deadlines than [`limits::WAIT`].
    pub fn from_text_within(text: &str, max_wait: Millis) -> Result<Checked, Rejected> {
        let document = read::text(text).map_err(Rejected::one)?;
        Definition::from_value_within(document, max_wait)
    }

    /// Checks a document that was read before.
    pub fn from_value(document: Value) -> Result<Checked, Rejected> {
        Definition::from_value_within(document, limits::WAIT)
    }

    fn from_value_within(mut document: Value, max_wait: Millis) -> Result<Checked, Rejected> {
        if let Err(problem) = read::check_nesting(&document) {
            read::dismantle(document);
            return Err(Rejected::one(problem));
        }
        shape::make_whole(&mut document);
        let document = Json::new(document);
        read::check_bytes(document.bytes()).map_err(Rejected::one)?;
        check(&document, max_wait)
    }
}

impl Workflow {
    /// The same checks as for a document that was read.
    pub fn check(self) -> Result<Checked, Rejected> {
        self.check_within(limits::WAIT)
    }

    /// Checks the document, with another limit for waits and deadlines than [`limits::WAIT`].
    pub fn check_within(mut self, max_wait: Millis) -> Result<Checked, Rejected> {
        let misfits = std::mem::take(&mut self.misfits);
        let mut values = values::of(&mut self);
        if let Some(problem) = values.iter().find_map(|value| read::check_nesting(value).err()) {
            values.iter_mut().for_each(|value| read::dismantle(value.take()));
            return Err(Rejected::one(problem));
        }
        let document = serde_json::to_value(&self).expect("a workflow is JSON");
        let checked = Definition::from_value_within(document, max_wait);
        if misfits.is_empty() {
            return checked;
        }
        let mut findings = Findings::default();
        let (problems, warnings) = match checked {
            Ok(checked) => (Vec::new(), checked.warnings),
            Err(rejected) => (rejected.problems, rejected.warnings),
        };
        misfits.into_iter().chain(problems).for_each(|problem| findings.problem(|| problem));
        warnings.into_iter().for_each(|warning| findings.warning(|| warning));
        Err(findings.reject())
    }
}

fn check(document: &Value, max_wait: Millis) -> Result<Checked, Rejected> {
    let mut findings = Findings::within(max_wait);
    shape::check(document, &mut findings);
    if findings.are_good() {
        let workflow = Workflow::deserialize(document).expect("what has the right shape can be read");
        if is_own(&workflow.name) {
            findings.problem(|| {
                let message = "names of workflows that begin with `$` are the engine's";
                Problem::new("/name", Code::ReservedName, message)
                    .expected("a name that begins with another character")
            });
        }
        return match compile::compile(workflow, MissingParts::default(), &mut findings) {
            Some(definition) => Ok(findings.approve(definition)),
            None => Err(findings.reject()),
        };
    }
    // What is wrong with the well-shaped part is told at once, not after the rest is mended.
    if let Some((workflow, missing_parts)) = salvage::salvage(document, findings.problems()) {
        let of_shape = findings.problems().len();
        compile::compile(workflow, missing_parts, &mut findings);
        findings.forget_repeats(of_shape);
    }
    Err(findings.reject())
}
