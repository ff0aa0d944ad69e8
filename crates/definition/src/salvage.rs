//! The readable part of a document that has problems of shape, so that what else is wrong can be told at once.
//! Leaves out what cannot be read and keeps every step at its place; where something left out could make another
//! thing look wrong, that other thing is not judged.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::compile::MissingParts;
use super::document::{Step, Workflow};
use crate::problem::{Code, Problem};

/// The fields every type of step has, beside its name.
const SHARED_FIELDS: [&str; 6] = ["description", "when", "saveAs", "retry", "after", "next"];

pub(super) fn salvage(document: &Value, problems: &[Problem]) -> Option<(Workflow, MissingParts)> {
    let mut rest = Rest {
        document: document.clone(),
        missing_parts: MissingParts::default(),
        unreadable: BTreeSet::new(),
    };
    for problem in problems {
        rest.leave_out(problem)?;
    }
    rest.document.as_object_mut()?.entry("name").or_insert(json!("-"));
    rest.neutral_steps()?;
    let workflow = Workflow::deserialize(&rest.document).ok()?;
    Some((workflow, rest.missing_parts))
}

struct Rest {
    document: Value,
    missing_parts: MissingParts,
    /// Steps in which something has another type than it should.
    unreadable: BTreeSet<usize>,
}

impl Rest {
    fn leave_out(&mut self, problem: &Problem) -> Option<()> {
        if problem.code == Code::UnknownField {
            return self.remove(&problem.pointer);
        }
        let segments: Vec<&str> = problem.pointer.split('/').skip(1).collect();
        match segments.as_slice() {
            [] => Some(()),
            ["steps"] => None,
            ["steps", index, field, ..] if SHARED_FIELDS.contains(field) => {
                self.missing_parts.links |= ["after", "next"].contains(field);
                self.remove(&format!("/steps/{index}/{field}"))
            }
            ["steps", index, ..] => {
                // A list where an object belongs would be read as one, field by field.
                let index = index.parse::<usize>().ok().filter(|_| problem.code == Code::WrongType);
                self.unreadable.extend(index);
                Some(())
            }
            [field, ..] => self.remove(&format!("/{field}")),
        }
    }

    /// Gone already is fine: two problems may lie in one field.
    fn remove(&mut self, pointer: &str) -> Option<()> {
        let (parent, field) = pointer.rsplit_once('/')?;
        let field = field.replace("~1", "/").replace("~0", "~");
        if let Some(parent) = self.document.pointer_mut(parent) {
            parent.as_object_mut()?.remove(&field);
        }
        Some(())
    }

    /// Of a step that cannot be read, only the fields that every step has are kept.
    fn neutral_steps(&mut self) -> Option<()> {
        for (index, step) in self.document.get_mut("steps")?.as_array_mut()?.iter_mut().enumerate() {
            let name = step.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
            let name = name.map_or_else(|| json!(format!("step {index}")), Value::from);
            if step.get("name") != Some(&name) {
                self.missing_parts.links = true;
                step.as_object_mut().map(|step| step.insert("name".to_owned(), name.clone()));
            }
            if self.unreadable.contains(&index) || Step::deserialize(&*step).is_err() {
                *step = neutral(step, name);
            }
        }
        Some(())
    }
}

fn neutral(step: &Value, name: Value) -> Value {
    let mut neutral = Map::new();
    for field in SHARED_FIELDS {
        neutral.extend(step.get(field).map(|value| (field.to_owned(), value.clone())));
    }
    neutral.insert("name".to_owned(), name);
    neutral.insert("type".to_owned(), json!("task"));
    neutral.insert("handler".to_owned(), json!("-"));
    Value::Object(neutral)
}
