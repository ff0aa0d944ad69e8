//! Runs and definitions in memory. Runs at work stay; those that wait are kept as long as there is room, and found
//! again in the store.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_store::Read;
use jiff::Timestamp;

use crate::error::Error;

/// Runs that wait or have ended, kept because they may be needed again soon.
const IDLE_RUNS: usize = 4_096;
/// All their records together: a run takes room by what has happened to it.
const IDLE_RECORDS: u64 = 100_000;

#[derive(Default)]
pub(crate) struct Memory {
    runs: HashMap<RunId, Box<Run>>,
    /// Idle runs, the longest idle first. A run may be named more than once; the last time counts.
    idle: VecDeque<RunId>,
    idle_records: u64,
    /// The id given last.
    last_id: u128,
    /// The latest instant at which a run was made or an event received.
    latest: Option<Timestamp>,
    definitions: HashMap<(WorkspaceId, Arc<str>, Arc<str>), Arc<Definition>>,
    /// The newest version of each name. This process is the only one that adds any.
    newest: HashMap<(WorkspaceId, Arc<str>), Arc<Definition>>,
}

impl Memory {
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// An id greater than every one before: runs of one millisecond are ordered as they came, too.
    pub(crate) fn fresh_id(&mut self, now: Timestamp, random: u128) -> RunId {
        self.latest = self.latest.max(Some(now));
        self.last_id = RunId::new(now, random).0.max(self.last_id + 1);
        RunId(self.last_id)
    }

    /// The instant of an event that is received now. It is not before that of any run that waits for it already,
    /// even if the clock went back.
    pub(crate) fn receive_at(&mut self, now: Timestamp) -> Timestamp {
        *self.latest.insert(self.latest.map_or(now, |latest| latest.max(now)))
    }

    /// Takes a run out, from memory or from the store.
    pub(crate) fn take(&mut self, store: &mut dyn Read, id: RunId) -> Result<Option<Box<Run>>, Error> {
        if let Some(run) = self.remove(id) {
            return Ok(Some(run));
        }
        let Some(stored) = store.load(id)? else { return Ok(None) };
        let (name, version) = (&stored.definition.name, &stored.definition.version);
        let definition = self.definition(store, stored.workspace, name, Some(version))?;
        let run = Run::replay(definition, &stored.history);
        run.map(|run| Some(Box::new(run))).map_err(|error| Error::unreadable(id, &error))
    }

    pub(crate) fn put(&mut self, run: Box<Run>) {
        let id = run.id;
        self.remove(id);
        if is_idle(&run) {
            self.idle.push_back(id);
            self.idle_records += run.seq;
        }
        self.runs.insert(id, run);
        while self.idle.len() > IDLE_RUNS || self.idle_records > IDLE_RECORDS {
            match self.idle.pop_front() {
                // It stays, and is named at the end, too, unless it is all there is.
                Some(oldest) if oldest == id && self.idle.is_empty() => return self.idle.push_back(id),
                Some(oldest) if oldest == id => {}
                Some(oldest) => {
                    if self.runs.get(&oldest).is_some_and(|run| is_idle(run)) {
                        self.remove(oldest);
                    }
                }
                None => return,
            }
        }
    }

    fn remove(&mut self, id: RunId) -> Option<Box<Run>> {
        let run = self.runs.remove(&id)?;
        self.idle_records -= if is_idle(&run) { run.seq } else { 0 };
        Some(run)
    }

    /// A definition of this version, or the newest.
    pub(crate) fn definition(
        &mut self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Arc<Definition>, Error> {
        let known = match version {
            Some(version) => self.definitions.get(&(workspace, name.into(), version.into())),
            None => self.newest.get(&(workspace, name.into())),
        };
        if let Some(known) = known {
            return Ok(Arc::clone(known));
        }
        if let Some(tool) = Definition::of_tool(name) {
            let (name, version): (Arc<str>, Arc<str>) = (name.into(), version.unwrap_or("1").into());
            let definition = Arc::new(tool?);
            self.definitions.insert((workspace, Arc::clone(&name), version), Arc::clone(&definition));
            self.newest.insert((workspace, name), Arc::clone(&definition));
            return Ok(definition);
        }
        let unknown =
            || Error::UnknownDefinition { name: name.to_owned(), version: version.map(str::to_owned) };
        let stored = store.definition(workspace, name, version)?.ok_or_else(unknown)?;
        let key = (workspace, Arc::from(stored.name.as_str()), Arc::from(stored.version.as_str()));
        let definition = match self.definitions.get(&key) {
            Some(known) => Arc::clone(known),
            None => Arc::new(Definition::from_json(&stored.document)?.definition),
        };
        if version.is_none() {
            self.newest.insert((workspace, Arc::clone(&key.1)), Arc::clone(&definition));
        }
        self.definitions.insert(key, Arc::clone(&definition));
        Ok(definition)
    }

    /// Another version of this name is there.
    pub(crate) fn forget_newest(&mut self, workspace: WorkspaceId, name: &str) {
        self.newest.remove(&(workspace, name.into()));
    }
}

fn is_idle(run: &Run) -> bool {
    match run.status {
        RunStatus::Running => false,
        RunStatus::Pending
        | RunStatus::Waiting
        | RunStatus::Paused
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::Cancelled => true,
    }
}
