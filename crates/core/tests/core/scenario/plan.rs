//! How a scenario begins.

use std::sync::Arc;

use abide_core::command::{Context, NewRun, start as start_run};
use abide_core::definition::Definition;
use abide_core::history::Parent;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::refusal::Refusal;
use abide_core::waitpoint::Actor;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{MORNING, Scenario, instant};

/// A run that is to be started.
pub(crate) struct Plan {
    definition: Arc<Definition>,
    input: Value,
    now: Timestamp,
    run_at: Option<Timestamp>,
    tags: Vec<Arc<str>>,
    parent: Option<Parent>,
    workspace: WorkspaceId,
}

/// Starts a run of these steps, or of a whole document.
pub(crate) fn start(document: Value) -> Scenario {
    plan(document).start()
}

pub(crate) fn plan(document: Value) -> Plan {
    Plan::of(definition(document))
}

/// A definition from its steps alone, or from a document that may lack its name.
pub(crate) fn definition(document: Value) -> Definition {
    let mut document = if document.is_array() { json!({ "steps": document }) } else { document };
    if document.get("name").is_none() {
        document["name"] = json!("scenario");
    }
    match Definition::from_value(document) {
        Ok(checked) => checked.definition,
        Err(rejected) => panic!("{rejected}"),
    }
}

impl Plan {
    pub(crate) fn of(definition: Definition) -> Plan {
        Plan::shared(Arc::new(definition))
    }

    pub(crate) fn shared(definition: Arc<Definition>) -> Plan {
        let (now, workspace) = (instant(MORNING), WorkspaceId::DEFAULT);
        Plan { definition, input: json!({}), now, run_at: None, tags: Vec::new(), parent: None, workspace }
    }

    pub(crate) fn input(mut self, input: Value) -> Plan {
        self.input = input;
        self
    }

    pub(crate) fn at(mut self, now: &str) -> Plan {
        self.now = instant(now);
        self
    }

    pub(crate) fn run_at(mut self, instant: Timestamp) -> Plan {
        self.run_at = Some(instant);
        self
    }

    pub(crate) fn delayed_until(self, text: &str) -> Plan {
        self.run_at(instant(text))
    }

    pub(crate) fn tags(mut self, tags: &[&str]) -> Plan {
        self.tags = tags.iter().map(|tag| Arc::from(*tag)).collect();
        self
    }

    pub(crate) fn child_of(mut self, parent: Parent) -> Plan {
        self.parent = Some(parent);
        self
    }

    pub(crate) fn in_workspace(mut self, workspace: WorkspaceId) -> Plan {
        self.workspace = workspace;
        self
    }

    #[track_caller]
    pub(crate) fn start(self) -> Scenario {
        let (definition, now) = (Arc::clone(&self.definition), self.now);
        let context = self.context();
        match start_run(self.new_run(), &context) {
            Ok((run, outcome)) => Scenario::begun(definition, now, run, outcome),
            Err(refusal) => panic!("not started: {refusal}"),
        }
    }

    #[track_caller]
    pub(crate) fn refused(self) -> Refusal {
        let context = self.context();
        let new = self.new_run();
        match new.definition.check_input(&new.input) {
            Ok(()) => start_run(new, &context).expect_err("the start is refused"),
            Err(bad) => bad.into(),
        }
    }

    fn context(&self) -> Context {
        Context {
            now: self.now,
            random: 7,
            by: Actor::new("starter"),
            traceparent: None,
            bounds: Default::default(),
        }
    }

    fn new_run(self) -> NewRun {
        let id = RunId::new(self.now, 42);
        let new = NewRun::new(id, self.definition, self.input.into());
        let workspace = self.workspace;
        NewRun { workspace, run_at: self.run_at, tags: self.tags, parent: self.parent, ..new }
    }
}
