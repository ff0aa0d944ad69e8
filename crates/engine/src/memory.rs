//! Runs and definitions in memory. Runs at work stay; those that wait are kept as long as there is room, reckoned in
//! bytes, and found again in the store. Of large payloads only the text is kept, but for the runs that were at work last.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use abide_core::definition::{Definition, Derived};
use abide_core::history::{Change, DefinitionRef, Record};
use abide_core::id::{EventUid, RunId, WorkspaceId};
use abide_core::run::{Run, Snapshot};
use abide_core::status::RunStatus;
use abide_store::{Read, RunUpdate, StoredRun};
use jiff::Timestamp;

use crate::by_run::ByRun;
use crate::error::Error;
use crate::round::KnownSettings;

/// Runs that wait or have ended, kept because they may be needed again soon.
const IDLE_RUNS: usize = 4_096;
/// How much memory idle runs may take together, in bytes.
const IDLE_BYTES: usize = 256 * 1024 * 1024;
/// Large payloads of idle runs that stay as they were read, counted by their text. Read, they take up to 17 times as much.
const UNFOLDED_BYTES: usize = 8 * 1024 * 1024;

/// The definition that a run began with, if that is known, and those it was moved to.
type Versions = (Option<Arc<Definition>>, Vec<Arc<Definition>>);

#[derive(Default)]
pub(crate) struct Memory {
    runs: ByRun<RunId, Box<Run>>,
    /// Idle runs, the longest idle first. A run may be named more than once; the last time counts.
    idle: VecDeque<RunId>,
    idle_bytes: usize,
    unfolded: Unfolded,
    /// The id given to a run last, and that given to an event.
    last_id: u128,
    last_event: u128,
    /// The latest instant at which a run was made or an event received.
    latest: Option<Timestamp>,
    definitions: HashMap<(WorkspaceId, Arc<str>, Arc<str>), Arc<Definition>>,
    /// The newest version of each name. Where this process is not the only one that adds any, they are looked up
    /// again in each pass.
    newest: HashMap<(WorkspaceId, Arc<str>), Arc<Definition>>,
    /// What is set for limits.
    pub(crate) settings: KnownSettings,
    /// On a store that others write to: the runs that were compared with it in this pass. `None`: nobody else does.
    fresh: Option<HashSet<RunId>>,
}

/// Idle runs whose large payloads may have been read, the longest idle first.
#[derive(Default)]
struct Unfolded {
    order: BTreeMap<u64, (RunId, usize)>,
    by_run: ByRun<RunId, u64>,
    bytes: usize,
    last: u64,
}

impl Unfolded {
    fn push(&mut self, run: &Run) {
        self.remove(run.id);
        let bytes = run.large_bytes();
        if bytes > 0 {
            self.last += 1;
            self.order.insert(self.last, (run.id, bytes));
            self.by_run.insert(run.id, self.last);
            self.bytes += bytes;
        }
    }

    fn remove(&mut self, run: RunId) {
        if let Some((_, bytes)) = self.by_run.remove(&run).and_then(|place| self.order.remove(&place)) {
            self.bytes -= bytes;
        }
    }

    /// One that is to be folded.
    fn too_many(&mut self) -> Option<RunId> {
        let oldest = self.order.values().next().filter(|_| self.bytes > UNFOLDED_BYTES)?.0;
        self.remove(oldest);
        Some(oldest)
    }
}

impl Memory {
    /// The memory of a node that is one of several on its store.
    pub(crate) fn shared() -> Memory {
        Memory { fresh: Some(HashSet::new()), ..Memory::default() }
    }

    /// What comes now was asked now: nothing is decided on what was read before.
    pub(crate) fn begin_pass(&mut self) {
        if let Some(fresh) = &mut self.fresh {
            fresh.clear();
            self.newest.clear();
        }
    }

    /// Whether others write to the store. What was read may be old then.
    pub(crate) fn is_shared(&self) -> bool {
        self.fresh.is_some()
    }

    /// Has a run compared with the store when it is needed next.
    pub(crate) fn distrust(&mut self, run: Box<Run>) {
        if let Some(fresh) = &mut self.fresh {
            fresh.remove(&run.id);
        }
        self.put(run);
    }

    /// Brings runs up to what the store says, all at once.
    pub(crate) fn refresh(
        &mut self,
        store: &mut dyn Read,
        runs: impl IntoIterator<Item = RunId>,
    ) -> Result<(), Error> {
        let Some(fresh) = &mut self.fresh else { return Ok(()) };
        let known: BTreeMap<RunId, u64> = runs
            .into_iter()
            .filter(|run| !fresh.contains(run))
            .map(|run| (run, self.runs.get(&run).map_or(0, |run| run.seq)))
            .collect();
        if known.is_empty() {
            return Ok(());
        }
        let known: Vec<(RunId, u64)> = known.into_iter().collect();
        let updates = store.updates(&known)?;
        fresh.extend(known.iter().map(|(run, _)| *run));
        for (id, update) in updates {
            let updated = update.map_err(Error::from).and_then(|update| self.update(store, id, update));
            match updated {
                Ok(run) => self.put(run),
                Err(error) => {
                    // Whoever needs it hears why.
                    tracing::error!(run = %id, %error, "a run could not be loaded");
                    self.remove(id);
                    if let Some(fresh) = &mut self.fresh {
                        fresh.remove(&id);
                    }
                }
            }
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// An id greater than every one before: runs of one millisecond are ordered as they came, too.
    pub(crate) fn fresh_id(&mut self, now: Timestamp, random: u128) -> RunId {
        self.latest = self.latest.max(Some(now));
        self.last_id = RunId::new(now, random).0.max(self.last_id + 1);
        RunId(self.last_id)
    }

    /// An id greater than that of every event before: events of one instant are ordered as they came, too.
    pub(crate) fn fresh_event(&mut self, now: Timestamp, random: u128) -> EventUid {
        self.last_event = EventUid::new(now, random).0.max(self.last_event + 1);
        EventUid(self.last_event)
    }

    /// The instant of an event that is received now. It is not before that of any run that waits for it already,
    /// even if the clock went back.
    pub(crate) fn receive_at(&mut self, now: Timestamp) -> Timestamp {
        *self.latest.insert(self.latest.map_or(now, |latest| latest.max(now)))
    }

    /// Takes a run out, from memory or from the store.
    pub(crate) fn take(&mut self, store: &mut dyn Read, id: RunId) -> Result<Option<Box<Run>>, Error> {
        self.refresh(store, [id])?;
        if let Some(run) = self.remove(id) {
            return Ok(Some(run));
        }
        match store.updates(&[(id, 0)])?.pop() {
            Some((_, update)) => self.update(store, id, update?).map(Some),
            None => Ok(None),
        }
    }

    /// A run as its whole history gives it, whatever else is known of it.
    pub(crate) fn replayed(&mut self, store: &mut dyn Read, id: RunId) -> Result<Option<Box<Run>>, Error> {
        let Some(stored) = store.load(id)? else { return Ok(None) };
        self.replay(store, id, &stored).map(Some)
    }

    /// A run as its history gives it up to this version.
    pub(crate) fn at_version(
        &mut self,
        store: &mut dyn Read,
        id: RunId,
        version: u64,
    ) -> Result<Option<Box<Run>>, Error> {
        let Some(mut stored) = store.load(id)? else { return Ok(None) };
        stored.history.retain(|record| record.seq <= version);
        self.replay(store, id, &stored).map(Some)
    }

    /// The run that an update makes of the one that is known. If what the store has beside the history does not fit, it is
    /// made of its history.
    fn update(&mut self, store: &mut dyn Read, id: RunId, update: RunUpdate) -> Result<Box<Run>, Error> {
        let updated = match update {
            RunUpdate::Whole(stored) => return self.replay(store, id, &stored),
            RunUpdate::Records(records) => match self.remove(id) {
                Some(run) => self.apply_all(store, run, &records),
                None => Err(Error::UnknownRun(id)),
            },
            RunUpdate::Snapshot { snapshot, records } => self.restore(store, *snapshot, &records),
        };
        match updated {
            Err(error) if !error.passes() => {
                tracing::warn!(run = %id, %error, "a run is made anew of its history");
                self.replayed(store, id)?.ok_or(Error::UnknownRun(id))
            }
            Ok(_) | Err(_) => updated,
        }
    }

    fn restore(
        &mut self,
        store: &mut dyn Read,
        snapshot: Snapshot,
        records: &[Record],
    ) -> Result<Box<Run>, Error> {
        let DefinitionRef { name, version } = &snapshot.definition_ref;
        let definition = self.definition(store, snapshot.workspace, name, Some(version));
        let definition = definition.map_err(|error| without_definition(snapshot.id, error))?;
        self.apply_all(store, Box::new(Run::restore(definition, snapshot)), records)
    }

    fn apply_all(
        &mut self,
        store: &mut dyn Read,
        mut run: Box<Run>,
        records: &[Record],
    ) -> Result<Box<Run>, Error> {
        let (_, moved_to) = self.versions(store, run.workspace, records)?;
        for record in records {
            run.apply_with(&moved_to, record).map_err(|error| Error::unreadable(run.id, &error))?;
        }
        Ok(run)
    }

    fn replay(&mut self, store: &mut dyn Read, id: RunId, stored: &StoredRun) -> Result<Box<Run>, Error> {
        let definitions = self.versions(store, stored.workspace, &stored.history);
        let (first, moved_to) = definitions.map_err(|error| without_definition(id, error))?;
        let first = match first {
            Some(first) => first,
            None => {
                let DefinitionRef { name, version } = &stored.definition;
                let definition = self.definition(store, stored.workspace, name, Some(version));
                definition.map_err(|error| without_definition(id, error))?
            }
        };
        let run = Run::replay_with(first, &moved_to, &stored.history);
        run.map(Box::new).map_err(|error| Error::unreadable(id, &error))
    }

    /// The definition that records begin with, if they are all, and those that their run was moved to.
    pub(crate) fn versions(
        &mut self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        records: &[Record],
    ) -> Result<Versions, Error> {
        let mut find = |it: &DefinitionRef| self.definition(store, workspace, &it.name, Some(&it.version));
        let first = match records.first().map(|record| &record.change) {
            Some(Change::WorkflowCreated(creation)) => Some(find(&creation.definition)?),
            Some(_) | None => None,
        };
        let mut moved_to = Vec::new();
        for record in records {
            if let Change::WorkflowMoved { to, .. } = &record.change {
                moved_to.push(find(to)?);
            }
        }
        Ok((first, moved_to))
    }

    pub(crate) fn put(&mut self, run: Box<Run>) {
        let id = run.id;
        self.remove(id);
        if self.fresh.is_some() && run.status.has_ended() {
            // Others may forget it.
            return;
        }
        if self.is_idle(&run) {
            self.idle.push_back(id);
            self.idle_bytes += run.weight();
            self.unfolded.push(&run);
        }
        self.runs.insert(id, run);
        while let Some(oldest) = self.unfolded.too_many() {
            if let Some(run) = self.runs.get_mut(&oldest) {
                run.fold();
            }
        }
        while self.idle.len() > IDLE_RUNS || self.idle_bytes > IDLE_BYTES {
            match self.idle.pop_front() {
                // It stays, and is named at the end, too, unless it is all there is.
                Some(oldest) if oldest == id && self.idle.is_empty() => return self.idle.push_back(id),
                Some(oldest) if oldest == id => {}
                Some(oldest) => {
                    if self.runs.get(&oldest).is_some_and(|run| self.is_idle(run)) {
                        self.remove(oldest);
                    }
                }
                None => return,
            }
        }
    }

    fn remove(&mut self, id: RunId) -> Option<Box<Run>> {
        let run = self.runs.remove(&id)?;
        self.idle_bytes -= if self.is_idle(&run) { run.weight() } else { 0 };
        self.unfolded.remove(id);
        Some(run)
    }

    /// One that others may take up may never come back here.
    fn is_idle(&self, run: &Run) -> bool {
        self.fresh.is_some() || is_idle(run)
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
        let unknown =
            || Error::UnknownDefinition { name: name.to_owned(), version: version.map(str::to_owned) };
        match Definition::derived(name, version) {
            // Made anew each time: nothing bounds how many there may be.
            Some(Derived::Whole(definition)) => return Ok(Arc::new((*definition)?)),
            Some(Derived::Hook(hook, of)) => {
                let of = self.definition(store, workspace, of, version)?;
                return of.hook(hook).map(Arc::clone).ok_or_else(unknown);
            }
            None => {}
        }
        let stored = store.definition(workspace, name, version)?.ok_or_else(unknown)?;
        let key = (workspace, Arc::from(stored.name.as_str()), Arc::from(stored.version.as_str()));
        let definition = match self.definitions.get(&key) {
            Some(known) => Arc::clone(known),
            None => Arc::new(Definition::from_stored(&stored.document)?.definition),
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

/// A run whose definition cannot be had is as good as damaged.
fn without_definition(run: RunId, error: Error) -> Error {
    if error.passes() {
        return error;
    }
    abide_store::Error::Damaged { owner: run, what: format!("its definition: {error}") }.into()
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
