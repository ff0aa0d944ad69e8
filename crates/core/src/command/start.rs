//! Starts a run, at once or at a later instant.

use std::sync::Arc;

use jiff::Timestamp;

use crate::command::{Context, Outcome, Reply};
use crate::definition::Definition;
use crate::flow;
use crate::history::{Change, Creation, DefinitionRef, Parent, Record, Scheduled};
use crate::id::{RunId, WorkspaceId};
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::run::Run;
use crate::turn::Turn;
use crate::waitpoint::{Actor, DELAYED_START, Kind, ListensFor};

/// What a run begins with.
#[derive(Clone, Debug)]
pub struct NewRun {
    pub id: RunId,
    pub workspace: WorkspaceId,
    pub definition: Arc<Definition>,
    pub input: Json,
    /// Begin then, not now. A past instant begins now.
    pub run_at: Option<Timestamp>,
    pub tags: Vec<Arc<str>>,
    pub parent: Option<Parent>,
    pub scheduled: Option<Scheduled>,
    /// On whose behalf, where that is not who asks: a parent's or a schedule's maker.
    pub started_by: Option<Actor>,
}

impl NewRun {
    /// A run of a definition with an input, and nothing else said about it.
    pub fn new(id: RunId, definition: Arc<Definition>, input: Json) -> NewRun {
        NewRun {
            id,
            workspace: WorkspaceId::DEFAULT,
            definition,
            input,
            run_at: None,
            tags: Vec::new(),
            parent: None,
            scheduled: None,
            started_by: None,
        }
    }
}

/// Decides what starting does, with an input that [`Definition::check_input`] has let through: checking it against the
/// `inputSchema` may be a lot of work, and is done where nobody waits for it. There is no run yet, so this is not a [`Command`](crate::command::Command).
pub fn start(new: NewRun, context: &Context) -> Result<(Run, Outcome), Refusal> {
    check(&new, context)?;
    let NewRun { id, workspace, definition, input, run_at, tags, parent, scheduled, started_by } = new;
    let started_by = started_by.filter(|by| *by != context.by);
    let definition_ref =
        DefinitionRef { name: definition.name().into(), version: definition.version().into() };
    let creation = Creation {
        run_id: id,
        workspace,
        definition: definition_ref,
        input,
        tags,
        parent,
        scheduled,
        started_by,
    };
    let change = Change::WorkflowCreated(Box::new(creation));
    let (by, traceparent) = (context.by.clone(), context.traceparent);
    let record = Record { seq: 1, at: context.now, by, traceparent, change };
    let mut run = Run::created(definition, &record)?;
    let mut turn = Turn::new(&mut run, context);
    turn.note_creation(record);
    match run_at.filter(|instant| *instant > context.now) {
        Some(instant) => {
            let (resume_at, listens_for) = (Some(instant), ListensFor::Time);
            let wait = flow::NewWait { kind: Kind::Delay, resume_at, listens_for, response: None };
            let opens = flow::new_waitpoint(&turn, None, DELAYED_START.into(), wait);
            turn.emit(Change::WaitCreated { opens })?;
        }
        None => flow::start_run(&mut turn)?,
    }
    let outcome = turn.finish(Reply::Started(id))?;
    Ok((run, outcome))
}

fn check(new: &NewRun, context: &Context) -> Result<(), Refusal> {
    let (now, max_wait) = (context.now, context.bounds.max_wait);
    within("the input's size in bytes", new.input.bytes(), limits::PAYLOAD_BYTES)?;
    within("the number of tags", new.tags.len(), limits::TAGS)?;
    for tag in &new.tags {
        within("a tag's length", tag.chars().count(), limits::NAME_CHARS)?;
    }
    if new.run_at.is_some_and(|instant| instant > max_wait.after(now)) {
        let message = format!("more than {max_wait} from now");
        return Err(Refusal::Malformed { pointer: "/runAt", message });
    }
    Ok(())
}
