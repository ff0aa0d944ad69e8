//! A file that an older program filled is brought up to date with everything in it.
//!
//! Each version is made here as its program made it: its migration, and rows as it wrote them. They are not changed
//! when the schema changes; a new version gets a new file.

use std::path::Path;

use abide_core::id::{DefinitionId, EventUid, RunId, WorkspaceId};
use abide_core::run::Timer;
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use abide_store::roles::*;
use abide_store::sqlite::Sqlite;
use abide_store::{Page, RunFilter, Scope, StoredTimer, WaitpointFilter};
use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

/// A sleeper, a listener and a completed run, and what else there can be.
const VERSION_1: &str = include_str!("migrations/version_1.sql");

fn old_file(path: &Path, script: &str) {
    let file = Connection::open(path).expect("a new file");
    file.execute_batch(script).expect("the script is sound");
}

fn instant(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

#[test]
fn a_file_of_version_1_keeps_what_is_in_it() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("old.db");
    old_file(&path, VERSION_1);
    let mut store = Sqlite::open(&path).unwrap();
    let [sleeper, listener, done] = [1, 2, 3].map(RunId);

    let runs = store.runs(&RunFilter::default(), &Page { after: None, limit: 10 }).unwrap();
    let shown: Vec<(RunId, RunStatus, u64)> =
        runs.iter().map(|run| (run.id, run.status, run.version)).collect();
    let (waiting, completed) = (RunStatus::Waiting, RunStatus::Completed);
    assert_eq!(shown, [(done, completed, 9), (listener, waiting, 5), (sleeper, waiting, 5)]);
    assert_eq!(&*runs[2].tags[0], "red");
    for (run, records) in [(sleeper, 5), (listener, 5), (done, 9)] {
        let stored = store.load(run).unwrap().unwrap();
        assert_eq!(stored.history.len(), records);
    }

    let timer = |at: &str, run| StoredTimer { at: instant(at), run, timer: Timer::Waitpoint(1) };
    let deadline = timer("2026-03-01T11:00:00.123456789Z", listener);
    let alarm = timer("2026-03-31T09:00:00.123456789Z", sleeper);
    assert_eq!(store.timers(None, Timestamp::MAX, 10).unwrap(), [deadline, alarm]);
    let waiters = store.waiters(WorkspaceId::DEFAULT, "paid", None, 10).unwrap();
    assert_eq!(waiters.len(), 1);
    assert_eq!(waiters[0].waitpoint, listener.waitpoint(1));
    let filter = WaitpointFilter { status: Some(WaitStatus::Completed), ..WaitpointFilter::default() };
    let waits = store.waitpoints(&filter, &Page { after: None, limit: 10 }).unwrap();
    assert_eq!((waits.len(), waits[0].id, waits[0].kind), (1, done.waitpoint(1), Kind::Delay));

    let events = store.events_since(WorkspaceId::DEFAULT, "paid", Timestamp::MIN, None, 10).unwrap();
    assert_eq!((events.len(), events[0].id), (1, EventUid(4)));
    assert_eq!(store.idempotency_record("key").unwrap().unwrap().digest, u64::MAX);
    assert_eq!(store.definition(WorkspaceId::DEFAULT, "nap", None).unwrap().unwrap().id, DefinitionId(5));

    let workspaces = store.workspaces().unwrap();
    assert_eq!(workspaces.iter().map(|workspace| workspace.id.0).collect::<Vec<_>>(), [0, 1]);
    let key = store.key_by_hash(&[7; 32]).unwrap().unwrap();
    assert_eq!((key.workspace, key.scopes), (WorkspaceId(1), [Scope::Read, Scope::Worker].into()));
    assert_eq!(key.revoked_at, Some(instant("2026-03-01T10:00:00.2Z")));
    assert_eq!(store.setting("secret").unwrap().unwrap(), [0x00, 0xFF]);
    assert_eq!(store.link_generation(listener.waitpoint(1)).unwrap(), 3);
    assert_eq!(store.forget_runs(Timestamp::MAX, 10).unwrap(), 1);
}
