//! Which events may be forgotten.
//!
//! An event that was sent to one run is kept until that run has ended. One that was sent to everyone is kept as long as
//! an open run may come to a wait that looks back to it. What a definition says of its waits is stored with it, so that
//! this is a question about the oldest open run of each definition, and not about all of them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use abide_core::definition::Hook;
use abide_core::history::DefinitionRef;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::time::Millis;
use abide_store::{Error, EventPlace, OfRun, OldEvent, Read};
use jiff::Timestamp;

use super::{LOOK, SWEEP};

/// How far the looks at events have come.
#[derive(Debug)]
pub(super) struct Events {
    /// In the order of time, by workspace.
    looked_at: HashMap<WorkspaceId, EventPlace>,
    /// Event ids of which some were passed over, and how far the looks at those have come.
    passed_over: BTreeMap<(WorkspaceId, Arc<str>), Option<EventPlace>>,
    /// Runs that ended up to here have nothing left that was sent to them.
    ended: Option<(Timestamp, RunId)>,
}

/// What a look at events came to.
#[derive(Debug, Default)]
pub(super) struct FoundEvents {
    pub(super) events: Vec<OldEvent>,
    /// Ended runs to which events were sent.
    pub(super) of_runs: Vec<RunId>,
    pub(super) there_is_more: bool,
}

/// From which instant on events are held by open runs.
#[derive(Debug, Default)]
struct Holds {
    /// Whatever their event id.
    any: Option<Timestamp>,
    by_event: HashMap<Arc<str>, Timestamp>,
}

impl Events {
    pub(super) fn new() -> Events {
        Events { looked_at: HashMap::new(), passed_over: BTreeMap::new(), ended: None }
    }

    /// Looks at everything again, from the beginning.
    pub(super) fn begin_anew(&mut self) {
        self.looked_at.clear();
        self.passed_over.clear();
    }

    pub(super) fn look(
        &mut self,
        store: &mut dyn Read,
        now: Timestamp,
        kept: Millis,
        at_most: Option<Millis>,
    ) -> Result<FoundEvents, Error> {
        let mut found = FoundEvents::default();
        let line = kept.before(now);
        for workspace in store.workspaces()? {
            self.look_in(store, workspace.id, (now, line), at_most, &mut found)?;
        }
        self.look_at_ended(store, line, &mut found)?;
        Ok(found)
    }

    fn look_in(
        &mut self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        (now, line): (Timestamp, Timestamp),
        at_most: Option<Millis>,
        found: &mut FoundEvents,
    ) -> Result<(), Error> {
        let floor = at_most.map(|kept| kept.before(now)).map(|floor| floor.min(line));
        if let Some(floor) = floor {
            let too_old = store.old_events((workspace, None), floor, None, found.room())?;
            found.take(too_old);
        }
        let begun = self.looked_at.get(&workspace).copied();
        let is_anything_old = !store.old_events((workspace, None), line, begun, 1)?.is_empty()
            || self.passed_over.keys().any(|(place, _)| *place == workspace);
        if !is_anything_old {
            return Ok(());
        }
        let holds = Holds::of(store, workspace, now, line)?;
        let line = holds.any.map_or(line, |any| any.min(line));
        let old = store.old_events((workspace, None), line, begun, LOOK)?;
        found.there_is_more |= old.len() == LOOK;
        for event in old {
            if found.room() == 0 {
                found.there_is_more = true;
                break;
            }
            self.looked_at.insert(workspace, (event.received_at, event.id));
            let is_needed = match event.sent_to {
                Some((_, is_open)) => is_open,
                None => {
                    let is_held = holds.from(&event.event_id).is_some_and(|from| event.received_at >= from);
                    if is_held {
                        let held = (workspace, Arc::clone(&event.event_id));
                        self.passed_over.entry(held).or_insert(None);
                    }
                    is_held
                }
            };
            if !is_needed {
                found.events.push(event);
            }
        }
        self.look_again(store, workspace, line, &holds, found)
    }

    /// Looks at what was passed over because of its event id.
    fn look_again(
        &mut self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        line: Timestamp,
        holds: &Holds,
        found: &mut FoundEvents,
    ) -> Result<(), Error> {
        let Some(reached) = self.looked_at.get(&workspace).copied() else { return Ok(()) };
        let held: Vec<(WorkspaceId, Arc<str>)> =
            self.passed_over.keys().filter(|(place, _)| *place == workspace).cloned().collect();
        for held in held {
            let from = holds.from(&held.1);
            let line = from.map_or(line, |from| from.min(line));
            let begun = self.passed_over.get(&held).copied().flatten();
            let old = store.old_events((workspace, Some(&held.1)), line, begun, LOOK)?;
            let mut is_done = old.len() < LOOK;
            found.there_is_more |= !is_done;
            // Those beyond are still to be looked at in the order of time.
            for event in old.into_iter().filter(|event| (event.received_at, event.id) <= reached) {
                if found.room() == 0 {
                    (is_done, found.there_is_more) = (false, true);
                    break;
                }
                self.passed_over.insert(held.clone(), Some((event.received_at, event.id)));
                if event.sent_to.is_none() {
                    found.events.push(event);
                }
            }
            if is_done && from.is_none() {
                self.passed_over.remove(&held);
            }
        }
        Ok(())
    }

    /// Looks for what was sent to runs that have ended since.
    fn look_at_ended(
        &mut self,
        store: &mut dyn Read,
        line: Timestamp,
        found: &mut FoundEvents,
    ) -> Result<(), Error> {
        let begun = *self.ended.get_or_insert((line, RunId(0)));
        let ended = store.ended_runs(line, begun, LOOK)?;
        found.there_is_more |= ended.len() == LOOK;
        let runs: Vec<RunId> = ended.iter().map(|(_, run)| *run).collect();
        found.of_runs = store.owners(&runs, OfRun::Events)?;
        self.ended = ended.last().copied().or(self.ended);
        Ok(())
    }
}

impl FoundEvents {
    fn room(&self) -> usize {
        SWEEP.saturating_sub(self.events.len())
    }

    fn take(&mut self, events: Vec<OldEvent>) {
        self.there_is_more |= !events.is_empty() && events.len() == self.room();
        self.events.extend(events);
    }
}

impl Holds {
    fn of(
        store: &mut dyn Read,
        workspace: WorkspaceId,
        now: Timestamp,
        line: Timestamp,
    ) -> Result<Holds, Error> {
        let mut holds = Holds::default();
        if store.oldest_open(workspace, None)?.is_none() {
            return Ok(holds);
        }
        let since = |lookback: Option<Millis>| lookback.map(|lookback| lookback.before(now));
        for awaits in store.awaits(workspace)? {
            // A wait that does not look back to what is old holds nothing of it.
            let matters = |lookback| since(lookback).is_none_or(|since| since < line);
            if !awaits.events.iter().any(|event| matters(event.lookback)) {
                continue;
            }
            let mut oldest_of = HashMap::new();
            for event in awaits.events {
                let oldest = match oldest_of.entry(event.hook) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(unknown) => {
                        let definition = owner(&awaits.definition, event.hook);
                        *unknown.insert(store.oldest_open(workspace, Some(&definition))?)
                    }
                };
                let Some(oldest) = oldest else { continue };
                let from = since(event.lookback).unwrap_or_else(|| oldest.made_at());
                if from < line {
                    holds.hold(event.event_id, from);
                }
            }
        }
        Ok(holds)
    }

    fn hold(&mut self, event_id: Option<Arc<str>>, from: Timestamp) {
        match event_id {
            Some(event_id) => {
                let held = self.by_event.entry(event_id).or_insert(from);
                *held = from.min(*held);
            }
            None => self.any = Some(self.any.map_or(from, |any| any.min(from))),
        }
    }

    fn from(&self, event_id: &str) -> Option<Timestamp> {
        self.by_event.get(event_id).copied()
    }
}

/// The definition whose runs wait: the one that is named, or its hook.
fn owner(definition: &DefinitionRef, hook: Option<Hook>) -> DefinitionRef {
    let DefinitionRef { name, version } = definition.clone();
    DefinitionRef { name: hook.map_or(name.clone(), |hook| hook.workflow_name(&name).into()), version }
}
