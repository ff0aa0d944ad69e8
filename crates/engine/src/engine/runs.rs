//! The runs of a workspace as lists and counts, read beside the writer.

use std::collections::HashMap;
use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_store::{Page, RunFilter, RunSummary};

use super::WorkspaceHandle;
use crate::error::Error;
use crate::moves;

/// How many runs are read in one turn of a reader, so that others get theirs.
const READ_AT_ONCE: usize = 20;

/// The runs of a workspace. Made by [`WorkspaceHandle::runs`].
#[derive(Clone, Copy, Debug)]
pub struct Runs<'e>(pub(super) WorkspaceHandle<'e>);

impl Runs<'_> {
    /// The runs that a filter finds, the newest first.
    pub async fn list(self, filter: RunFilter, page: Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let filter = RunFilter { workspace: Some(id), ..filter };
        engine.readers.read(Some(id), move |store| store.runs(&filter, &page)).await
    }

    /// The ids of the runs that a filter finds, the newest first. Nothing of their histories is read.
    pub async fn ids(self, filter: RunFilter, page: Page<RunId>) -> Result<Vec<RunId>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let filter = RunFilter { workspace: Some(id), ..filter };
        engine.readers.read(Some(id), move |store| store.run_ids(&filter, &page)).await
    }

    /// The runs of these ids that are in the workspace, as they were committed last. They are read beside the writer:
    /// a long list holds up nobody.
    pub async fn read(self, wanted: Vec<RunId>) -> Result<HashMap<RunId, Run>, Error> {
        let WorkspaceHandle { engine, id: workspace } = self.0;
        let mut runs = HashMap::with_capacity(wanted.len());
        for few in wanted.chunks(READ_AT_ONCE) {
            let (few, known) = (few.to_vec(), Arc::clone(&engine.readers.known));
            let found = engine.readers.read(Some(workspace), move |store| {
                let load = |id: &RunId| known.run(store, workspace, *id).transpose();
                few.iter().filter_map(load).collect::<Result<Vec<Run>, _>>()
            });
            runs.extend(found.await?.into_iter().map(|run| (run.id, run)));
        }
        Ok(runs)
    }

    /// How many runs there are of each status.
    pub async fn count_by_status(self) -> Result<Vec<(RunStatus, u64)>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.readers.look_up(move |store| store.counts(Some(id))).await
    }

    /// The runs that are WAITING, the oldest first.
    pub async fn oldest_waiting(self, limit: usize) -> Result<Vec<RunId>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.readers.read(Some(id), move |store| store.oldest_waiting(id, limit)).await
    }

    /// Checks whether a run could be moved to a definition as it is; refused as the move would be.
    pub async fn check_move(self, run: &Run, to: &Arc<Definition>) -> Result<(), Error> {
        moves::check_move(run, to).await
    }
}
