//! A store on a disk that fails when the test says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::id::{DefinitionId, KeyId, OccurrenceId, RunId, WaitpointId, WorkspaceId};
use abide_core::status::RunStatus;
use abide_store::sqlite::Sqlite;
use abide_store::{
    ApiKey, Batch, DefinitionSummary, Error, KeyHash, Page, Read, RunFilter, RunSummary, Store,
    StoredDefinition, StoredRun, StoredTimer, Waiter, WaitpointFilter, WaitpointSummary, Workspace,
};
use jiff::Timestamp;

/// Whether the disk is full.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble(Arc<AtomicBool>);

impl Trouble {
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn end(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), Error> {
        if self.0.load(Ordering::SeqCst) {
            return Err(Error::Unavailable("the disk is full".to_owned()));
        }
        Ok(())
    }
}

pub(crate) struct Faulty {
    pub(crate) disk: Sqlite,
    pub(crate) trouble: Trouble,
}

macro_rules! reads {
    ($($name:ident($($argument:ident: $type:ty),*) -> $found:ty;)*) => {
        impl Read for Faulty {
            $(fn $name(&mut self, $($argument: $type),*) -> Result<$found, Error> {
                self.disk.$name($($argument),*)
            })*
        }
    };
}

reads! {
    load(run: RunId) -> Option<StoredRun>;
    definition(workspace: WorkspaceId, name: &str, version: Option<&str>) -> Option<StoredDefinition>;
    definition_by_id(id: DefinitionId) -> Option<StoredDefinition>;
    definitions(workspace: WorkspaceId, name: Option<&str>, page: &Page<DefinitionId>) -> Vec<DefinitionSummary>;
    timers(after: Option<&StoredTimer>, until: Timestamp, limit: usize) -> Vec<StoredTimer>;
    waiters(
        workspace: WorkspaceId, event: &str, after: Option<(Timestamp, WaitpointId)>, limit: usize
    ) -> Vec<Waiter>;
    occurrences(
        workspace: WorkspaceId, event: &str, since: Timestamp, after: Option<(Timestamp, OccurrenceId)>,
        limit: usize
    ) -> Vec<Occurrence>;
    events(
        workspace: WorkspaceId, event: Option<&str>, page: &Page<(Timestamp, OccurrenceId)>
    ) -> Vec<Occurrence>;
    remembered(key: &str) -> Option<Remembered>;
    runs(filter: &RunFilter, page: &Page<RunId>) -> Vec<RunSummary>;
    waitpoints(
        filter: &WaitpointFilter, page: &Page<(Option<Timestamp>, WaitpointId)>
    ) -> Vec<WaitpointSummary>;
    counts(workspace: Option<WorkspaceId>) -> Vec<(RunStatus, u64)>;
    workspaces() -> Vec<Workspace>;
    key_by_hash(hash: &KeyHash) -> Option<ApiKey>;
    keys(workspace: WorkspaceId) -> Vec<ApiKey>;
    setting(name: &str) -> Option<Vec<u8>>;
    link_generation(waitpoint: WaitpointId) -> u32;
}

macro_rules! writes {
    ($($name:ident($($argument:ident: $type:ty),*) -> $done:ty;)*) => {
        impl Store for Faulty {
            fn reader(&self) -> Result<Box<dyn Read>, Error> {
                Store::reader(&self.disk)
            }

            $(fn $name(&mut self, $($argument: $type),*) -> Result<$done, Error> {
                self.trouble.check()?;
                self.disk.$name($($argument),*)
            })*
        }
    };
}

writes! {
    commit(batch: &Batch<'_>) -> ();
    forget_events(before: Timestamp, limit: usize) -> usize;
    forget_runs(before: Timestamp, limit: usize) -> usize;
    forget_keys(before: Timestamp, limit: usize) -> usize;
    add_workspace(name: &str, now: Timestamp) -> WorkspaceId;
    add_key(key: &ApiKey) -> ();
    revoke_key(id: KeyId, now: Timestamp) -> bool;
    touch_key(id: KeyId, now: Timestamp) -> ();
    put_setting(name: &str, value: &[u8]) -> ();
    bump_link_generation(waitpoint: WaitpointId) -> u32;
}
