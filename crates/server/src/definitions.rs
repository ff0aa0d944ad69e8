//! Definitions of late, and runs read with them. A version never changes, so what was read once need not be read again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_core::definition::{Definition, Derived};
use abide_core::history::{Change, DefinitionRef};
use abide_core::id::{DefinitionId, RunId, WorkspaceId};
use abide_core::run::Run;
use abide_store::{Error, Read, StoredRun};

use crate::app::App;
use crate::problem::Problem;

/// Definitions kept. When there are more, all are forgotten: it is cheaper than remembering which were used.
const KEPT: usize = 1_000;
/// Runs that are read in one turn of a reader, so that others get theirs.
const READ_AT_ONCE: usize = 20;

type Key = (WorkspaceId, DefinitionRef);

#[derive(Default)]
pub(crate) struct Definitions {
    known: Mutex<HashMap<Key, Known>>,
}

#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) id: DefinitionId,
    pub(crate) definition: Arc<Definition>,
}

impl Definitions {
    fn known(&self) -> MutexGuard<'_, HashMap<Key, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks it up in the store where it is not known yet.
    pub(crate) fn find(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        definition: &DefinitionRef,
    ) -> Result<Known, Error> {
        let key = (workspace, definition.clone());
        if let Some(found) = self.known().get(&key) {
            return Ok(found.clone());
        }
        let DefinitionRef { name, version } = definition;
        let damaged = |what: &str| Error::Corrupt(format!("the definition {name} {version} {what}"));
        // What is derived is not stored, and has no id of its own.
        let derived = |definition| Ok(Known { id: DefinitionId(0), definition });
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
        let found = Known { id: stored.id, definition: Arc::new(checked.definition) };
        let mut known = self.known();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(key, found.clone());
        Ok(found)
    }
}

impl Definitions {
    /// The definition that a run began with, and those it was moved to.
    pub(crate) fn versions(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        stored: &StoredRun,
    ) -> Result<(Arc<Definition>, Vec<Arc<Definition>>), Error> {
        let first = match stored.history.first().map(|record| &record.change) {
            Some(Change::WorkflowCreated(creation)) => &creation.definition,
            Some(_) | None => &stored.definition,
        };
        let first = self.find(store, workspace, first)?.definition;
        let mut moved_to = Vec::new();
        for record in &stored.history {
            if let Change::WorkflowMoved { to, .. } = &record.change {
                moved_to.push(self.find(store, workspace, to)?.definition);
            }
        }
        Ok((first, moved_to))
    }
}

impl App {
    /// The definition of a run.
    pub(crate) async fn definition(
        &self,
        workspace: WorkspaceId,
        definition: &DefinitionRef,
    ) -> Result<Known, Problem> {
        let key = (workspace, definition.clone());
        if let Some(found) = self.definitions.known().get(&key) {
            return Ok(found.clone());
        }
        let (definitions, definition) = (Arc::clone(&self.definitions), key.1);
        Ok(self
            .engine
            .read_in(workspace, move |store| definitions.find(store, workspace, &definition))
            .await?)
    }

    /// Those of these runs that are in the workspace, as they were committed last. They are read beside the writer:
    /// a long list holds up nobody.
    pub(crate) async fn runs_beside(
        &self,
        workspace: WorkspaceId,
        wanted: Vec<RunId>,
    ) -> Result<HashMap<RunId, Run>, Problem> {
        let mut runs = HashMap::with_capacity(wanted.len());
        for few in wanted.chunks(READ_AT_ONCE) {
            let (few, definitions) = (few.to_vec(), Arc::clone(&self.definitions));
            let found = self.engine.read_in(workspace, move |store| {
                let load = |id: &RunId| load(store, &definitions, workspace, *id).transpose();
                few.iter().filter_map(load).collect::<Result<Vec<Run>, Error>>()
            });
            runs.extend(found.await?.into_iter().map(|run| (run.id, run)));
        }
        Ok(runs)
    }
}

fn load(
    store: &mut dyn Read,
    definitions: &Definitions,
    workspace: WorkspaceId,
    id: RunId,
) -> Result<Option<Run>, Error> {
    let Some(stored) = store.load(id)?.filter(|stored| stored.workspace == workspace) else {
        return Ok(None);
    };
    let (first, moved_to) = definitions.versions(store, workspace, &stored)?;
    let run = Run::replay_with(first, &moved_to, &stored.history);
    run.map(Some).map_err(|error| Error::Corrupt(format!("{id}: {error}")))
}
