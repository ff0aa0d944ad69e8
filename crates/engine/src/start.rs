//! A run that is to be started: what the caller says, carried as it is until it is decided.

use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::json::Json;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::Actor;
use jiff::Timestamp;
use serde_json::Value;

/// A start that was carried out: the run, and whether it is a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// The run.
    pub run: RunId,
    /// How the start led to the run.
    pub how: StartedHow,
}

/// How a start led to its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedHow {
    /// The run is new.
    Created,
    /// The run is new and was cancelled at once: there was no room under a limit whose `whenFull` is `skip`.
    Skipped,
    /// The start was added to a run that collects those of its key, and has not begun.
    Collected,
    /// The same start was carried out before, under the same idempotency key or with the same unique tag.
    Repeated {
        /// Whether the start was added to a run that was there.
        collected: bool,
    },
}

impl StartedHow {
    /// Whether the start was added to a run that was there, now or when it was asked for first.
    pub fn is_collected(self) -> bool {
        match self {
            StartedHow::Created | StartedHow::Skipped => false,
            StartedHow::Collected => true,
            StartedHow::Repeated { collected } => collected,
        }
    }
}

/// A run to start with [`WorkspaceHandle::start`](crate::WorkspaceHandle::start): of which workflow, with what.
#[derive(Clone, Debug)]
pub struct StartRun {
    pub(crate) workspace: WorkspaceId,
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) input: Json,
    pub(crate) run_at: Option<Timestamp>,
    pub(crate) tags: Vec<Arc<str>>,
    pub(crate) key: Option<String>,
    pub(crate) unique_tag: Option<Arc<str>>,
    pub(crate) asked: Option<Json>,
    pub(crate) by: Actor,
    pub(crate) traceparent: Option<Traceparent>,
    /// The definition that the input was checked against beside the writer.
    pub(crate) checked: Option<Arc<Definition>>,
}

impl StartRun {
    /// A run of the newest version of a workflow, without an input.
    pub fn new(workflow: impl Into<String>) -> StartRun {
        StartRun {
            workspace: WorkspaceId::DEFAULT,
            name: workflow.into(),
            version: None,
            input: Value::Null.into(),
            run_at: None,
            tags: Vec::new(),
            key: None,
            unique_tag: None,
            asked: None,
            by: Actor::new("host"),
            traceparent: None,
            checked: None,
        }
    }

    /// Sets the workspace; [`WorkspaceHandle::start`](crate::WorkspaceHandle::start) sets its own.
    pub fn in_workspace(self, workspace: WorkspaceId) -> StartRun {
        StartRun { workspace, ..self }
    }

    /// Sets the input of the run; null unless said.
    pub fn input(self, input: impl Into<Json>) -> StartRun {
        StartRun { input: input.into(), ..self }
    }

    /// Sets the version of the workflow; the newest unless said.
    pub fn version(self, version: impl Into<Option<String>>) -> StartRun {
        StartRun { version: version.into(), ..self }
    }

    /// Sets when the run begins; a past instant begins now.
    pub fn run_at(self, at: impl Into<Option<Timestamp>>) -> StartRun {
        StartRun { run_at: at.into(), ..self }
    }

    /// Sets the tags that the run can be listed by.
    pub fn tags<T: Into<Arc<str>>>(self, tags: impl IntoIterator<Item = T>) -> StartRun {
        StartRun { tags: tags.into_iter().map(Into::into).collect(), ..self }
    }

    /// Adds a tag that one run has: as long as there is a run with it, a start with it gives that run, whatever else the
    /// start says. Where one process writes the store, that takes no room besides the tag.
    pub fn unique_tag(mut self, tag: impl Into<Arc<str>>) -> StartRun {
        let tag = tag.into();
        if !self.tags.contains(&tag) {
            self.tags.push(Arc::clone(&tag));
        }
        StartRun { unique_tag: Some(tag), ..self }
    }

    /// Sets an idempotency key: the same key and the same request give the same run.
    pub fn idempotency_key(self, key: impl Into<Option<String>>) -> StartRun {
        StartRun { key: key.into(), ..self }
    }

    /// Sets what makes two requests under a key the same; the whole input unless said.
    pub fn compared_by(self, asked: impl Into<Json>) -> StartRun {
        StartRun { asked: Some(asked.into()), ..self }
    }

    /// Sets on whose behalf the run is started; the program itself unless said.
    pub fn by(self, by: Actor) -> StartRun {
        StartRun { by, ..self }
    }

    /// Sets the W3C trace context that the run will be in.
    pub fn traceparent(self, traceparent: Option<Traceparent>) -> StartRun {
        StartRun { traceparent, ..self }
    }
}

impl From<(&str, Value)> for StartRun {
    fn from((workflow, input): (&str, Value)) -> StartRun {
        StartRun::new(workflow).input(input)
    }
}
