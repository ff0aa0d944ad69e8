//! The runs that an event starts, by the `startOn` of workflows: in the event's own round as far as there is room, in later
//! ones otherwise. Which of them were looked at is committed with what they started, so that none is started twice.

use std::sync::Arc;

use abide_core::command::{Event, NewRun, Reply};
use abide_core::definition::{Definition, StartOn};
use abide_core::event_start::{EventStart, EventStartOutcome, RefusedStart};
use abide_core::follow_up::FollowUp;
use abide_core::history::{Parent, StartedOn};
use abide_core::id::{RunId, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::json::Json;
use abide_core::refusal::Refusal;
use abide_core::waitpoint::Actor;
use abide_store::{EventStartWrite, EventStarter, StoredFollowUp};

use super::debounce::Debounced;
use super::follow_up::{NotStarted, Taken, check_input};
use super::starts::started_run;
use super::{Decider, FIRST_PAGE};
use crate::backlog::{EventKey, Verdict};
use crate::error::Error;

/// The last `startOn` that was looked at: the workflow's name, and the index.
type Place = (Arc<str>, u16);

/// How far the starts of an event came.
enum Progress {
    All,
    /// The rest goes on in a later round, after this place.
    Left(Option<Place>),
    /// The event or a workflow cannot be read now.
    Unread(Option<Place>),
    /// An input is to be checked first, by somebody who has the time; then it goes on after this place.
    Check(Option<Place>, Arc<Definition>, Json),
}

/// An event whose runs are to be started.
struct Cause<'e> {
    event: &'e Event,
    /// The run that sent the event.
    from: Option<RunId>,
    is_dry: bool,
}

/// A start that was refused, to be kept for people to see.
pub(super) struct RefusedWrite {
    workspace: WorkspaceId,
    event_id: Arc<str>,
    workflow: Arc<str>,
    refused: RefusedStart,
}

impl RefusedWrite {
    pub(super) fn is_of_same(&self, other: &RefusedWrite) -> bool {
        let place = |it: &RefusedWrite| (it.workspace, Arc::clone(&it.event_id), Arc::clone(&it.workflow));
        place(self) == place(other)
    }

    pub(super) fn write(&self) -> EventStartWrite<'_> {
        let RefusedWrite { workspace, event_id, workflow, refused } = self;
        EventStartWrite { workspace: *workspace, event_id, workflow, refused: Some(refused) }
    }
}

impl Decider<'_> {
    /// Starts the runs that an event of this round starts. Says what became of each, and whether there are more to come.
    pub(super) fn start_runs(
        &mut self,
        event: &Event,
        from: Option<RunId>,
        is_dry: bool,
    ) -> (Vec<EventStart>, bool) {
        let mut starts = Vec::new();
        let cause = Cause { event, from, is_dry };
        let after = match self.start_runs_after(&cause, None, None, &mut starts) {
            Progress::All => return (starts, false),
            Progress::Left(after) | Progress::Unread(after) | Progress::Check(after, ..) => after,
        };
        if !is_dry {
            let Event { id, workspace, event_id, received_at, .. } = event;
            let (event_id, event, received_at) = (Arc::clone(event_id), *id, *received_at);
            self.leave(*workspace, FollowUp::StartRuns { event_id, event, received_at, from, after });
        }
        (starts, true)
    }

    /// Goes on with the starts of an event that an earlier round had no room for.
    pub(super) fn go_on_starting(
        &mut self,
        stored: &StoredFollowUp,
        (from, after): (Option<RunId>, Option<&Place>),
        event: &Event,
        verdict: Option<&Verdict>,
    ) -> Taken {
        let cause = Cause { event, from, is_dry: false };
        let left = match self.start_runs_after(&cause, after.cloned(), verdict, &mut Vec::new()) {
            Progress::All => return Taken::Done,
            Progress::Check(place, definition, input) if place.as_ref() == after => {
                return Taken::Check(definition, input);
            }
            Progress::Unread(place) if place.as_ref() == after => return Taken::Unread,
            Progress::Check(place, ..) | Progress::Unread(place) | Progress::Left(place) => place,
        };
        let Event { id, event_id, received_at, .. } = event;
        let (event_id, event, received_at) = (Arc::clone(event_id), *id, *received_at);
        self.go_on_later(stored, FollowUp::StartRuns { event_id, event, received_at, from, after: left })
    }

    /// Looks at every `startOn` for an event after a place, in the order of the workflows' names.
    fn start_runs_after(
        &mut self,
        cause: &Cause<'_>,
        mut after: Option<Place>,
        mut verdict: Option<&Verdict>,
        starts: &mut Vec<EventStart>,
    ) -> Progress {
        let workspace = cause.event.workspace;
        // A workflow may have been left between two of its own.
        let mut unfinished =
            after.as_ref().filter(|(_, index)| *index < u16::MAX).map(|(name, _)| Arc::clone(name));
        loop {
            let (names, is_last) = match self.starters(cause, after.as_ref().map(|(name, _)| &**name)) {
                Ok(found) => found,
                Err(error) => {
                    tracing::error!(%error, "what an event starts could not be looked up");
                    return Progress::Unread(after);
                }
            };
            for name in unfinished.take().into_iter().chain(names) {
                let definition = match self.memory.definition(self.store, workspace, &name, None) {
                    Ok(definition) => definition,
                    Err(error) if error.passes() => return Progress::Unread(after),
                    Err(_) => continue,
                };
                for (index, on) in (0..).zip(&definition.start_on) {
                    let place = (Arc::clone(&name), index);
                    let is_before = after.as_ref().is_some_and(|after| *after >= place);
                    if is_before || on.event_id != cause.event.event_id {
                        continue;
                    }
                    if !self.has_room_to_start(cause) {
                        return Progress::Left(after);
                    }
                    match self.start_on(cause, &definition, (on, index), verdict.take()) {
                        Ok(start) => starts.extend(start),
                        Err(NotStarted::Check(definition, input)) => {
                            return Progress::Check(after, definition, input);
                        }
                        Err(NotStarted::Failed(error)) if error.passes() => return Progress::Unread(after),
                        Err(NotStarted::Failed(error)) => {
                            starts.push(self.start_refused(cause, &definition, &error));
                        }
                    }
                    after = Some(place);
                }
                // Whatever its newest version says, it was looked at.
                after = Some((name, u16::MAX));
            }
            if is_last {
                return Progress::All;
            }
        }
    }

    /// The names of workflows that an event may start after this one, and whether they are the last.
    fn starters(&mut self, cause: &Cause<'_>, after: Option<&str>) -> Result<(Vec<Arc<str>>, bool), Error> {
        let Event { workspace, event_id, .. } = cause.event;
        let key: EventKey = (*workspace, Arc::clone(event_id));
        let known = if after.is_none() { self.starting.get(&key) } else { None };
        let found: Vec<EventStarter> = match known {
            Some(found) => found.clone(),
            None => {
                let after = after.map(|workflow| (&**event_id, workflow));
                self.store.event_starts(*workspace, Some(event_id), after, FIRST_PAGE)?
            }
        };
        let is_last = found.len() < FIRST_PAGE;
        Ok((found.into_iter().map(|starter| starter.workflow.into()).collect(), is_last))
    }

    fn has_room_to_start(&mut self, cause: &Cause<'_>) -> bool {
        if self.batch.spent.is_matched_out() {
            return false;
        }
        if cause.is_dry {
            return true;
        }
        let has_room = self.allowance > 0 && self.batch.spent.take_follow_up();
        self.allowance -= usize::from(has_room);
        has_room
    }

    /// Starts a run, if the event matches.
    fn start_on(
        &mut self,
        cause: &Cause<'_>,
        definition: &Arc<Definition>,
        (on, index): (&StartOn, u16),
        verdict: Option<&Verdict>,
    ) -> Result<Option<EventStart>, NotStarted> {
        let Event { id: event, workspace, event_id, data, received_at, .. } = cause.event;
        let (matches, bytes) = on.accepts_at(data);
        self.batch.spent.matched(bytes);
        if !matches {
            return Ok(None);
        }
        let malformed = |error: abide_core::expression::EvaluationError| Refusal::Malformed {
            pointer: "/input",
            message: error.to_string(),
        };
        let wanted = on.start(data).map_err(|error| Error::from(malformed(error)))?;
        let started = |outcome| {
            let (workflow, version) = (definition.name().into(), definition.version().into());
            Ok(Some(EventStart { workflow, version, outcome }))
        };
        let key = wanted.key.map(|key| {
            let workflow = definition.name();
            format!(
                "{workspace}/startOn/{}:{workflow}/{}:{event_id}/{index}/{key}",
                workflow.len(),
                event_id.len()
            )
        });
        let earlier = key.as_ref().map(|key| self.idempotency_record(key)).transpose()?.flatten();
        if let Some((run, _)) = earlier.and_then(|earlier| started_run(earlier.reply)) {
            return started(EventStartOutcome::Repeated(run));
        }
        if cause.is_dry {
            return started(EventStartOutcome::WouldStart);
        }
        check_input(definition, &wanted.input, verdict)?;
        let by = Actor::new("event");
        let debounced = self.debounce(*workspace, definition, &wanted.input, &by)?;
        if let Debounced::Into(run) = debounced {
            self.remember_start(key, Reply::Collected(run), run);
            return started(EventStartOutcome::Collected(run));
        }
        let parent = self.sender_of(cause)?;
        if let Some(parent) = &parent {
            self.check_descendants(parent.root())?;
        }
        self.check_open_runs(*workspace)?;
        let run = self.memory.fresh_id(self.now, self.random.draw_u128());
        let new = NewRun {
            workspace: *workspace,
            parent,
            debounced: debounced.opens(),
            started_on: Some(StartedOn {
                event: *event,
                event_id: Arc::clone(event_id),
                received_at: *received_at,
            }),
            ..NewRun::new(run, Arc::clone(definition), wanted.input)
        };
        self.start_run(new, by, None)?;
        self.remember_start(key, Reply::Started(run), run);
        started(EventStartOutcome::Started(run))
    }

    fn remember_start(&mut self, key: Option<String>, reply: Reply, run: RunId) {
        if let Some(key) = key {
            let record =
                IdempotencyRecord { key: key.clone(), digest: 0, reply, run: Some(run), at: self.now };
            self.batch.idempotency.insert(key, record);
        }
    }

    /// A run that an event of another run starts descends from it: so a workflow that starts itself by its own events ends
    /// at the limit of descendants.
    fn sender_of(&mut self, cause: &Cause<'_>) -> Result<Option<Parent>, Error> {
        let Some(from) = cause.from else { return Ok(None) };
        match self.run(from) {
            Ok(sender) => {
                let depth = sender.parent.map_or(0, |parent| parent.depth) + 1;
                let root = sender.parent.map(|parent| parent.root());
                Ok(Some(Parent { waitpoint: None, run_id: from, depth, root }))
            }
            Err(error) if error.passes() => Err(error),
            Err(_) => Ok(None),
        }
    }

    fn start_refused(&mut self, cause: &Cause<'_>, definition: &Definition, error: &Error) -> EventStart {
        let Event { id: event, workspace, event_id, .. } = cause.event;
        let (code, message): (Arc<str>, String) = (code_of(error).into(), error.to_string());
        let (workflow, version): (Arc<str>, Arc<str>) =
            (definition.name().into(), definition.version().into());
        if !cause.is_dry {
            tracing::warn!(%workflow, %event_id, error = %message, "an event could not start a run");
            let refused = RefusedStart {
                event: *event,
                at: self.now,
                code: Arc::clone(&code),
                message: message.clone(),
            };
            let event_id = Arc::clone(event_id);
            let write =
                RefusedWrite { workspace: *workspace, event_id, workflow: Arc::clone(&workflow), refused };
            self.batch.note_refused_start(write);
        }
        EventStart { workflow, version, outcome: EventStartOutcome::Refused { code, message } }
    }
}

/// The stable code of what stands against a start.
fn code_of(error: &Error) -> &'static str {
    match error {
        Error::Refused(refusal) => refusal.code(),
        Error::TooManyDescendants { .. } => "LIMIT_EXCEEDED",
        Error::TooManyOpenRuns { .. } => "QUOTA_EXCEEDED",
        Error::Held { .. } => "HELD",
        Error::UnknownRun(_)
        | Error::UnknownDefinition { .. }
        | Error::UnknownSchedule(_)
        | Error::ScheduleExists(_)
        | Error::DefinitionExists { .. }
        | Error::Rejected(_)
        | Error::InvalidContent(_)
        | Error::Busy(_)
        | Error::Overloaded { .. }
        | Error::Store(_)
        | Error::Paused
        | Error::MasterKey(_)
        | Error::NotStarted(_)
        | Error::Stopped => "NOT_STARTED",
    }
}
