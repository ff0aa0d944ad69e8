//! Starts a run, at once or at a later instant.

use std::sync::Arc;

use jiff::Timestamp;

use crate::capacity::CapacityRequest;
use crate::command::{Context, Outcome, Reply};
use crate::debounce::{self, Collecting};
use crate::definition::Definition;
use crate::flow;
use crate::history::{Change, Creation, DefinitionRef, Parent, Record, Scheduled, StartedOn};
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
    /// The id of the new run, chosen by the caller.
    pub id: RunId,
    /// The workspace that the run belongs to.
    pub workspace: WorkspaceId,
    /// The version of the workflow that the run is of.
    pub definition: Arc<Definition>,
    /// The input, which the caller has checked against the `inputSchema`.
    pub input: Json,
    /// When the run begins; `None` or a past instant: now.
    pub run_at: Option<Timestamp>,
    /// Labels that runs can be listed by.
    pub tags: Vec<Arc<str>>,
    /// The run that started this one; `None`: nobody's child.
    pub parent: Option<Parent>,
    /// The occurrence of a schedule that the run is for.
    pub scheduled: Option<Scheduled>,
    /// The key of the starts that the run collects before it begins, by the `debounce` of its workflow; `None`: it begins
    /// by itself.
    pub debounced: Option<Arc<str>>,
    /// The event that the run is started on.
    pub started_on: Option<StartedOn>,
    /// On whose behalf the run is, where that is not who asks: whoever started the parent, or made the schedule.
    pub started_by: Option<Actor>,
}

impl NewRun {
    /// A new run of a definition with an input, in the default workspace, to begin now.
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
            debounced: None,
            started_on: None,
            started_by: None,
        }
    }
}

/// Decides what starting a run does, with an input that [`Definition::check_input`] has accepted: to check it against
/// the `inputSchema` may be a lot of work, and is done where nobody waits for it. There is no run yet, so this is not
/// a [`Command`](crate::command::Command).
pub fn start(new: NewRun, context: &Context) -> Result<(Run, Outcome), Refusal> {
    start_with(new, context, &mut |_, _| Ok(false))
}

/// Decides what starting a run does, where somebody can say at once whether the run has room under its limits: then it need
/// not wait for it first. Whoever says yes has taken the room; whoever refuses has the run not started.
pub fn start_with(
    new: NewRun,
    context: &Context,
    has_room: &mut dyn FnMut(&Run, &CapacityRequest) -> Result<bool, Refusal>,
) -> Result<(Run, Outcome), Refusal> {
    check(&new, context)?;
    let NewRun {
        id,
        workspace,
        definition,
        input,
        run_at,
        tags,
        parent,
        scheduled,
        debounced,
        started_on,
        started_by,
    } = new;
    let collecting = debounced.zip(definition.debounce.as_ref()).map(|(key, debounce)| {
        let limit = debounce::ask(workspace, definition.name(), &key).limit;
        Collecting::new(limit, key, debounce, &input, context.now)
    });
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
        started_on,
        started_by,
    };
    let change = Change::WorkflowCreated(Box::new(creation));
    let (by, traceparent) = (context.by.clone(), context.traceparent);
    let record = Record { seq: 1, at: context.now, by, traceparent, change };
    let mut run = Run::created(definition, &record)?;
    let run_at = run_at.filter(|instant| *instant > context.now);
    let mut rooms = None;
    if run_at.is_none() && collecting.is_none() && run.lacks_room() {
        let request = flow::request_of_run(&run, context.now)
            .map_err(|failure| Refusal::Malformed { pointer: "/input", message: failure.message })?;
        rooms = has_room(&run, &request)?.then(|| request.rooms());
    }
    let mut turn = Turn::new(&mut run, context);
    turn.note_creation(record);
    if let Some(rooms) = rooms {
        turn.emit(Change::CapacityTaken { at: None, rooms, number: None })?;
    }
    flow::open_guards(&mut turn)?;
    let begins_at = collecting.as_ref().map(|collecting| collecting.begins_at(context.now)).or(run_at);
    match begins_at {
        Some(instant) => {
            let resume_at = Some(instant);
            let listens_for = collecting.map_or(ListensFor::Time, |it| ListensFor::Starts(Box::new(it)));
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
