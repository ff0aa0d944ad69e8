//! Definitions that were read lately, and runs read with them beside the writer. A version never changes, so what was
//! read once need not be read again.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_core::definition::{Definition, Derived};
use abide_core::history::{Change, DefinitionRef, Record};
use abide_core::id::{DefinitionId, RunId, WorkspaceId};
use abide_core::run::{Run, Snapshot};
use abide_store::{Error, Read, RunUpdate, StoredRun};

/// How many definitions are kept. When there are more, all are forgotten: that is cheaper than remembering which were
/// used.
const KEPT: usize = 1_000;

type Key = (WorkspaceId, DefinitionRef);

/// A version of a workflow, and the id it is stored under.
#[derive(Clone, Debug)]
pub struct KnownDefinition {
    /// The id of the stored definition; 0 for what is derived from a workflow (a step of a map, a hook) and not
    /// stored.
    pub id: DefinitionId,
    /// The definition, ready to be decided with.
    pub definition: Arc<Definition>,
}

/// The history of a run, and the definitions that its records are of.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The workspace of the run.
    pub workspace: WorkspaceId,
    /// The definition that the run began with.
    pub first: Arc<Definition>,
    /// The definitions that the run was moved to, in order.
    pub moved_to: Vec<Arc<Definition>>,
    /// All records, from the first.
    pub history: Vec<Record>,
}

#[derive(Default)]
pub(crate) struct KnownDefinitions(Mutex<HashMap<Key, KnownDefinition>>);

impl fmt::Debug for KnownDefinitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownDefinitions")
    }
}

impl KnownDefinitions {
    fn known(&self) -> MutexGuard<'_, HashMap<Key, KnownDefinition>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, workspace: WorkspaceId, definition: &DefinitionRef) -> Option<KnownDefinition> {
        self.known().get(&(workspace, definition.clone())).cloned()
    }

    /// Looks a definition up in the store where it is not known yet.
    pub(crate) fn find(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        definition: &DefinitionRef,
    ) -> Result<KnownDefinition, Error> {
        if let Some(found) = self.get(workspace, definition) {
            return Ok(found);
        }
        let DefinitionRef { name, version } = definition;
        let damaged = |what: &str| Error::Corrupt(format!("the definition {name} {version} {what}"));
        let derived = |definition| Ok(KnownDefinition { id: DefinitionId(0), definition });
        match Definition::derived(name, Some(version)) {
            Some(Derived::Whole(whole)) => {
                return derived(Arc::new(whole.map_err(|_| damaged("cannot be read"))?));
            }
            Some(Derived::Hook(hook, of)) => {
                let of = DefinitionRef { name: of.into(), version: Arc::clone(version) };
                let of = self.find(store, workspace, &of)?.definition;
                return derived(of.hook(hook).map(Arc::clone).ok_or_else(|| damaged("is not there"))?);
            }
            None => {}
        }
        let stored = store.definition(workspace, name, Some(version))?;
        let stored = stored.ok_or_else(|| damaged("of a run is not there"))?;
        let checked = Definition::from_stored(&stored.document).map_err(|_| damaged("cannot be read"))?;
        let found = KnownDefinition { id: stored.id, definition: Arc::new(checked.definition) };
        let mut known = self.known();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert((workspace, definition.clone()), found.clone());
        Ok(found)
    }

    /// The newest version of a workflow; `None` if there is no such workflow.
    pub(crate) fn newest(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Arc<Definition>>, Error> {
        let Some(stored) = store.definition(workspace, name, None)? else { return Ok(None) };
        let newest = DefinitionRef { name: stored.name.into(), version: stored.version.into() };
        Ok(Some(self.find(store, workspace, &newest)?.definition))
    }

    /// What a run has recorded, with the definition that it began with and those it was moved to.
    pub(crate) fn recorded(&self, store: &mut dyn Read, run: RunId) -> Result<Option<Recorded>, Error> {
        let Some(stored) = store.load(run)? else { return Ok(None) };
        self.with_versions(store, stored).map(Some)
    }

    fn with_versions(&self, store: &mut dyn Read, stored: StoredRun) -> Result<Recorded, Error> {
        let StoredRun { workspace, definition, history } = stored;
        let first = match history.first().map(|record| &record.change) {
            Some(Change::WorkflowCreated(creation)) => &creation.definition,
            Some(_) | None => &definition,
        };
        let first = self.find(store, workspace, first)?.definition;
        let moved_to = self.moved_to(store, workspace, &history)?;
        Ok(Recorded { workspace, first, moved_to, history })
    }

    /// The definitions that a run was moved to in these records.
    fn moved_to(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        records: &[Record],
    ) -> Result<Vec<Arc<Definition>>, Error> {
        let mut moved_to = Vec::new();
        for record in records {
            if let Change::WorkflowMoved { to, .. } = &record.change {
                moved_to.push(self.find(store, workspace, to)?.definition);
            }
        }
        Ok(moved_to)
    }

    /// A run of this workspace as it was committed last; `None` if there is none.
    pub(crate) fn run(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        id: RunId,
    ) -> Result<Option<Run>, Error> {
        let run = match store.updates(&[(id, 0)])?.pop() {
            None => return Ok(None),
            Some((_, Err(error))) => return Err(error),
            Some((_, Ok(RunUpdate::Snapshot { snapshot, records }))) => {
                match self.restore(store, *snapshot, &records)? {
                    Some(run) => run,
                    None => return self.replayed(store, workspace, id),
                }
            }
            Some((_, Ok(RunUpdate::Whole(stored)))) => self.replay(store, id, stored)?,
            Some((_, Ok(RunUpdate::Records(_)))) => return self.replayed(store, workspace, id),
        };
        Ok(Some(run).filter(|run| run.workspace == workspace))
    }

    /// The run that records give on top of a snapshot; `None` if they do not follow it.
    fn restore(
        &self,
        store: &mut dyn Read,
        snapshot: Snapshot,
        records: &[Record],
    ) -> Result<Option<Run>, Error> {
        let definition = self.find(store, snapshot.workspace, &snapshot.definition_ref)?.definition;
        let moved_to = self.moved_to(store, snapshot.workspace, records)?;
        let mut run = Run::restore(definition, snapshot);
        let applied = records.iter().try_for_each(|record| run.apply_with(&moved_to, record));
        Ok(applied.is_ok().then_some(run))
    }

    fn replayed(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        id: RunId,
    ) -> Result<Option<Run>, Error> {
        let stored = store.load(id)?.filter(|stored| stored.workspace == workspace);
        stored.map(|stored| self.replay(store, id, stored)).transpose()
    }

    fn replay(&self, store: &mut dyn Read, id: RunId, stored: StoredRun) -> Result<Run, Error> {
        let Recorded { first, moved_to, history, .. } = self.with_versions(store, stored)?;
        let run = Run::replay_with(first, &moved_to, &history);
        run.map_err(|error| Error::Corrupt(format!("{id}: {error}")))
    }
}
