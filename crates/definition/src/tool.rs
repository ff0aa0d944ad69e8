//! The workflow behind a tool that a handler serves: one task. It is made from the handler's name and never stored, so
//! that such a tool is a child run like any other: handed out, leased, listed and cancelled in the same way.

use super::compile::{self, MissingParts};
use super::document::{Retry, Step, StepKind, Task, Workflow};
use super::findings::Findings;
use super::{Definition, Rejected};

const PREFIX: &str = "$tool/";

impl Definition {
    /// The name of the workflow that does one task of a handler.
    pub fn tool_name(handler: &str) -> String {
        format!("{PREFIX}{handler}")
    }

    /// The workflow of this name, if it is one that [`Definition::tool_name`] gives.
    pub(super) fn of_tool(name: &str) -> Option<Result<Definition, Rejected>> {
        let handler = name.strip_prefix(PREFIX)?;
        let task = Task { handler: handler.to_owned(), ..Task::default() };
        let step = Step {
            name: "tool".to_owned(),
            description: None,
            when: None,
            save_as: None,
            // Whoever called it is told that it failed, and may call again.
            retry: Some(Retry { max_attempts: Some(1), ..Retry::default() }),
            after: None,
            next: None,
            kind: StepKind::Task(task),
        };
        let workflow = Workflow { steps: vec![step], ..Workflow::new(name) };
        let mut findings = Findings::default();
        let compiled = compile::compile(workflow, MissingParts::default(), &mut findings);
        Some(compiled.ok_or_else(|| findings.reject()))
    }
}
