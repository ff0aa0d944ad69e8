//! Definitions of late. A version never changes, so what was read once need not be read again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use abide_core::definition::Definition;
use abide_core::history::DefinitionRef;
use abide_core::id::{DefinitionId, WorkspaceId};

use crate::app::App;
use crate::problem::{Code, Problem};

/// Definitions kept. When there are more, all are forgotten: it is cheaper than remembering which were used.
const KEPT: usize = 1_000;

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

impl App {
    /// The definition of a run.
    pub(crate) async fn definition(
        &self,
        workspace: WorkspaceId,
        definition: &DefinitionRef,
    ) -> Result<Known, Problem> {
        let key = (workspace, definition.clone());
        let known = || self.definitions.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&key) {
            return Ok(found.clone());
        }
        let DefinitionRef { name, version } = definition.clone();
        let stored = self.engine.read(move |store| store.definition(workspace, &name, Some(&version)));
        let gone = || Problem::new(Code::Internal, "the run's definition is not in the store");
        let stored = stored.await?.ok_or_else(gone)?;
        let checked = Definition::from_json(&stored.document);
        let checked =
            checked.map_err(|_| Problem::new(Code::Internal, "the run's definition cannot be read"))?;
        let found = Known { id: stored.id, definition: Arc::new(checked.definition) };
        let mut known = known();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(key, found.clone());
        Ok(found)
    }
}
