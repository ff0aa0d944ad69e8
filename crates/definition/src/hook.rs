//! The workflow behind `onFailure` and `onCancel`: one task. It is compiled with the workflow that names the handler and
//! never stored, so it is there as long as that workflow is. Its run is a child of the run that ended: handed out, leased,
//! retried, listed and cancelled like any other. It has no hooks of its own.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Definition;
use super::compile::{self, MissingParts};
use super::derived::OWN;
use super::document::{self, Step, StepKind, Task, Workflow};
use super::findings::Findings;
use crate::problem::Problem;

/// Which end of a run a handler is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Hook {
    OnFailure,
    OnCancel,
}

/// The compiled hooks of a workflow.
#[derive(Debug, Default)]
pub struct Hooks {
    pub on_failure: Option<Arc<Definition>>,
    pub on_cancel: Option<Arc<Definition>>,
}

impl Hook {
    /// Every hook there is.
    pub const ALL: [Hook; 2] = [Hook::OnFailure, Hook::OnCancel];

    /// The field of a workflow that says it.
    pub fn field(self) -> &'static str {
        match self {
            Hook::OnFailure => "onFailure",
            Hook::OnCancel => "onCancel",
        }
    }

    /// The name of the workflow that calls this hook's handler for runs of the given one.
    pub fn workflow_name(self, of: &str) -> String {
        format!("${}/{of}", self.field())
    }

    /// Which hook a workflow of this name is, and of which workflow.
    pub fn of(name: &str) -> Option<(Hook, &str)> {
        let own = name.strip_prefix(OWN)?;
        Hook::ALL.into_iter().find_map(|hook| {
            let of = own.strip_prefix(hook.field())?.strip_prefix('/')?;
            Some((hook, of))
        })
    }

    fn document(self, workflow: &Workflow) -> Option<&document::Hook> {
        match self {
            Hook::OnFailure => workflow.on_failure.as_ref(),
            Hook::OnCancel => workflow.on_cancel.as_ref(),
        }
    }
}

impl Definition {
    /// The workflow that calls the handler of this hook.
    pub fn hook(&self, hook: Hook) -> Option<&Arc<Definition>> {
        match hook {
            Hook::OnFailure => self.hooks.on_failure.as_ref(),
            Hook::OnCancel => self.hooks.on_cancel.as_ref(),
        }
    }
}

pub(super) fn compile(workflow: &Workflow, findings: &mut Findings) -> Hooks {
    let mut one = |hook| compile_one(hook, workflow, findings).map(Arc::new);
    Hooks { on_failure: one(Hook::OnFailure), on_cancel: one(Hook::OnCancel) }
}

fn compile_one(hook: Hook, workflow: &Workflow, findings: &mut Findings) -> Option<Definition> {
    let document::Hook { handler, config, retry, timeout_ms, timeout } = hook.document(workflow)?.clone();
    let task = Task { handler, config, timeout_ms, timeout, ..Task::default() };
    let step = Step {
        name: hook.field().to_owned(),
        description: None,
        when: None,
        save_as: None,
        retry,
        after: None,
        next: None,
        kind: StepKind::Task(task),
    };
    let derived = Workflow {
        version: workflow.version.clone(),
        default_retry: workflow.default_retry.clone(),
        on_code_change: workflow.on_code_change,
        steps: vec![step],
        ..Workflow::new(hook.workflow_name(&workflow.name))
    };
    let mut found = Findings::within(findings.max_wait());
    let compiled = compile::compile(derived, MissingParts::default(), &mut found);
    // What is wrong with the workflow's own fields is told by the workflow.
    let place = |problem: Problem| {
        let below = problem.pointer.strip_prefix("/steps/0")?;
        Some(Problem { pointer: format!("/{}{below}", hook.field()), ..problem })
    };
    let (problems, warnings) = found.into_both();
    problems.into_iter().filter_map(place).for_each(|problem| findings.problem(|| problem));
    warnings.into_iter().filter_map(place).for_each(|warning| findings.warning(|| warning));
    compiled
}
