mod damage;
mod plans;
mod unchecked;

use abide_core::command::Command;
use abide_core::id::{DefinitionId, DeliveryId, RunId, ScheduleId, WebhookId, WorkspaceId};
use abide_core::status::RunStatus;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::conformance::story::{self, World};
use crate::roles::*;
use crate::{DeliveryFilter, Due, Health, OfRun, OldEvent, Page, RunFilter, StoredTimer, WaitpointFilter};

#[test]
fn a_full_disk_refuses_the_batch_and_the_next_one_works_when_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Sqlite::open(directory.path().join("full.db")).unwrap();
    let mut world = World::new();
    let mut first = world.start(&story::signalled(), json!({}));
    first.save(&mut store);
    let pages: i64 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |store: &Sqlite, pages: i64| {
        store.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    };
    limit(&store, pages + 1);
    let large = world.start(&story::signalled(), Value::from("x".repeat(100_000)));
    for _ in 0..3 {
        assert!(matches!(large.try_save(&mut store), Err(Error::Unavailable(_))));
        assert_eq!(store.load(large.id()).unwrap(), None);
        first.check(&mut store);
    }
    // What fits is still written.
    world.tell(&mut first, Command::Cancel { reason: None });
    first.save(&mut store);
    limit(&store, 1 << 30);
    large.try_save(&mut store).unwrap();
    large.check(&mut store);
    first.check(&mut store);
}

#[test]
fn a_store_in_memory_has_readers_too() {
    let mut store = Sqlite::open_in_memory().unwrap();
    let mut other = Sqlite::open_in_memory().unwrap();
    let mut nap = World::new().start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut store);
    nap.check(&mut store);
    assert!(store.reader().unwrap().load(nap.id()).unwrap().is_some());
    assert!(other.load(nap.id()).unwrap().is_none());
}

#[test]
fn a_reader_sees_what_was_committed_and_does_not_hold_up_the_writer() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Sqlite::open(directory.path().join("read.db")).unwrap();
    let reader = store.reader().unwrap();
    let mut world = World::new();
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut store);
    let runs = |connection: &Connection| {
        let found = lists::runs::runs(connection, &RunFilter::default(), &Page { after: None, limit: 10 });
        found.unwrap().len()
    };
    let mut looking = reader.connection.prepare("SELECT id FROM runs").unwrap();
    let mut look = looking.query([]).unwrap();
    look.next().unwrap();
    assert_eq!(runs(&reader.connection), 1);
    let mut second = world.start(&story::nap(), json!({ "sleep": "1h" }));
    second.save(&mut store);
    assert_eq!(runs(&reader.connection), 1, "a look that takes long sees one state");
    drop(look);
    assert_eq!(runs(&reader.connection), 2);
    assert!(reader.connection.execute("DELETE FROM runs", []).is_err(), "a reader only reads");
}

#[test]
fn a_flipped_bit_in_a_history_is_noticed_and_the_run_is_named() {
    let mut store = Sqlite::open_in_memory().unwrap();
    let mut world = World::new();
    let mut damaged = world.start(&story::signalled(), json!({}));
    let mut sound = world.start(&story::nap(), json!({ "sleep": "1h" }));
    damaged.save(&mut store);
    sound.save(&mut store);
    world.tell(&mut damaged, Command::Cancel { reason: None });
    damaged.save(&mut store);
    let id = column::run(damaged.id());
    let chunks: Vec<(i64, Vec<u8>)> = {
        let mut select =
            store.connection.prepare("SELECT number, chunk FROM history WHERE run = ? ORDER BY seq").unwrap();
        let rows = select.query_map([id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    assert_eq!(chunks.len(), 2);
    let write = |store: &Sqlite, number: i64, chunk: &[u8]| {
        let update = "UPDATE history SET chunk = ?2 WHERE number = ?1";
        store.connection.execute(update, rusqlite::params![number, chunk]).unwrap();
    };
    for (number, chunk) in chunks {
        for bit in (0..chunk.len() * 8).step_by(7) {
            let mut flipped = chunk.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            write(&store, number, &flipped);
            let refused = store.load(damaged.id());
            let Err(Error::Damaged { owner, .. }) = &refused else { panic!("bit {bit}: {refused:?}") };
            assert_eq!(*owner, damaged.id());
            sound.check(&mut store);
        }
        write(&store, number, &chunk);
        damaged.check(&mut store);
    }
}

#[test]
fn a_store_in_memory_can_be_backed_up_and_a_backup_that_failed_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("copy.db");
    let mut store = Sqlite::open_in_memory().unwrap();
    let mut nap = World::new().start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut store);
    let unfinished = directory.path().join("copy.db.part");
    std::fs::write(&unfinished, "half").unwrap();
    let Err(Error::BackupFailed { why, .. }) = store.backup(&path) else { panic!("two at a time") };
    assert!(why.contains("copy.db.part is there"), "{why}");
    assert_eq!(std::fs::read(&unfinished).unwrap(), b"half");
    std::fs::remove_file(&unfinished).unwrap();

    let writing = store.connection.unchecked_transaction().unwrap();
    writing.execute("DELETE FROM runs", []).unwrap();
    assert!(matches!(backup::backup(&writing, &path), Err(Error::BackupFailed { .. })));
    drop(writing);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);

    store.reader().unwrap().backup(&path).unwrap();
    nap.check(&mut Sqlite::open(&path).unwrap());
}

#[test]
fn what_is_forgotten_leaves_its_room_to_what_comes_next() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.db");
    let size = || std::fs::metadata(&path).unwrap().len();
    let mut world = World::new();
    let mut sizes = Vec::new();
    for _ in 0..4 {
        let events: Vec<_> = (0..300).map(|_| world.event("paid", Value::from("x".repeat(8_000)))).collect();
        let mut store = Sqlite::open(&path).unwrap();
        store.commit(&Batch { events: events.iter().collect(), ..Batch::default() }).unwrap();
        loop {
            let old = store.old_events((WorkspaceId::DEFAULT, None), Timestamp::MAX, None, 500).unwrap();
            if old.is_empty() {
                break;
            }
            store.forget_events(&old).unwrap();
        }
        drop(store);
        sizes.push(size());
    }
    assert!(sizes[0] > 300 * 8_000, "{sizes:?}");
    assert!(sizes[3] < sizes[0] + sizes[0] / 20, "it grows by what is kept, and by nothing else: {sizes:?}");
    repair::repair(&path, |_| Ok(())).unwrap();
    assert!(size() < 1_000_000, "written anew, it is as large as what it holds: {}", size());
}
