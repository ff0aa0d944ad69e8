//! Names of steps and of keys in `state`.

use std::cell::Cell;
use std::collections::HashMap;

use super::{Compiler, MissingParts};
use crate::document::Step;
use crate::findings::{Findings, quoted};
use crate::problem::{Code, Problem, pointer};
use crate::{END, RESERVED_KEYS};

/// The letters compared in search of nearest names, for a whole document. Each unknown name is compared with all
/// steps; a thousand of them in a thousand steps must not keep the engine busy.
const COMPARED_CHARS: usize = 2_000_000;

/// The steps by name.
pub(super) struct Names<'d> {
    by_name: HashMap<&'d str, u16>,
    in_order: Vec<&'d str>,
    chars: usize,
    compared: Cell<usize>,
}

impl<'d> Names<'d> {
    pub(super) fn new(steps: &'d [Step], missing_parts: MissingParts, findings: &mut Findings) -> Names<'d> {
        let mut by_name = HashMap::with_capacity(steps.len());
        for (index, step) in (0_u16..).zip(steps) {
            let at = || pointer(&format!("/steps/{index}"), "name");
            check_step_name(&step.name, at, findings);
            let first = *by_name.entry(step.name.as_str()).or_insert(index);
            if first != index && !missing_parts.links {
                findings.problem(|| {
                    let message = format!("the step {first} has the name {} too", quoted(&step.name));
                    Problem::new(at(), Code::DuplicateName, message).expected("a name that no other step has")
                });
            }
        }
        let in_order: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        let chars = in_order.iter().map(|name| name.len()).sum();
        Names { by_name, in_order, chars, compared: Cell::new(0) }
    }

    pub(super) fn index(&self, name: &str) -> Option<u16> {
        self.by_name.get(name).copied()
    }

    pub(super) fn name(&self, index: u16) -> &'d str {
        self.in_order[usize::from(index)]
    }

    pub(super) fn unknown(&self, at: impl Into<String>, name: &str) -> Problem {
        let problem = Problem::new(at, Code::UnknownStep, format!("there is no step {}", quoted(name)));
        let problem = problem.expected("the name of a step of this workflow");
        let compared = self.compared.get() + self.chars * name.len().min(crate::limits::NAME_CHARS);
        if compared > COMPARED_CHARS && self.compared.get() > 0 {
            return problem;
        }
        self.compared.set(compared);
        problem.nearest(name, self.in_order.iter().copied())
    }
}

fn check_step_name(name: &str, at: impl Fn() -> String, findings: &mut Findings) {
    if name == END {
        findings.problem(|| {
            Problem::new(
                at(),
                Code::ReservedName,
                format!("`{END}` as a target ends the run; a step cannot have this name"),
            )
        });
    } else if RESERVED_KEYS.contains(&name) {
        findings.problem(|| reserved(at(), name));
    } else if let Some(wrong) = wrong_in_name(name) {
        findings.problem(|| {
            Problem::new(at(), Code::OutOfRange, format!("the name {} {wrong}", quoted(name)))
                .expected("a name without brackets, control characters, and white space around it")
        });
    }
}

fn wrong_in_name(name: &str) -> Option<&'static str> {
    if name.contains(['[', ']']) {
        Some("holds a bracket, which tells the items of a `map`")
    } else if name.chars().any(char::is_control) {
        Some("holds a control character")
    } else if name.trim() != name {
        Some("begins or ends with white space")
    } else {
        None
    }
}

fn reserved(at: String, name: &str) -> Problem {
    Problem::new(at, Code::ReservedName, format!("`{name}` has a meaning of its own in expressions"))
        .expected(format!("a name other than {}", RESERVED_KEYS.map(|key| format!("`{key}`")).join(", ")))
}

impl Compiler<'_> {
    /// A key of `state` that this step writes.
    pub(super) fn state_key(&mut self, field: &str, key: &str) {
        let at = self.place.field(field);
        if RESERVED_KEYS.contains(&key) {
            self.findings.problem(|| reserved(at, key));
        } else {
            self.plain(field, key);
        }
    }
}
