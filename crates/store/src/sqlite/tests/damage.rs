//! Damage to the file is told: to pages, to the log, to what one file says of another.

use std::fs;
use std::path::{Path, PathBuf};

use abide_core::command::Command;
use abide_core::id::Owner;
use serde_json::json;
use tempfile::TempDir;

use super::super::*;
use crate::RunUpdate;
use crate::conformance::story::{self, World};
use crate::roles::*;

/// The files of a store as the next process finds them when this one is gone without a word.
fn crashed(store: &Path, to: &TempDir) -> PathBuf {
    let copy = to.path().join("store.db");
    for end in ["", "-wal", ".commits"] {
        let name = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        let _ = fs::remove_file(name(&copy));
        if name(store).exists() {
            fs::copy(name(store), name(&copy)).unwrap();
        }
    }
    let _ = fs::remove_file(to.path().join("store.db-shm"));
    copy
}

fn log_of(store: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", store.display()))
}

fn missing(path: &Path) -> u64 {
    match Sqlite::open(path) {
        Err(Error::Lost { missing, .. }) => missing,
        other => panic!("opened without a word: {other:?}"),
    }
}

#[test]
fn a_log_that_is_gone_or_cut_short_or_has_a_flipped_bit_is_missed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let mut store = Sqlite::open(&path).unwrap();
    let mut world = World::new();
    for _ in 0..30 {
        world.start(&story::nap(), json!({ "sleep": "1h" })).save(&mut store);
    }
    let other = TempDir::new().unwrap();
    let copy = crashed(&path, &other);
    assert!(Sqlite::open(&copy).unwrap().counts(None).unwrap().iter().any(|(_, runs)| *runs == 30));

    let copy = crashed(&path, &other);
    fs::remove_file(log_of(&copy)).unwrap();
    assert!(missing(&copy) >= 30);

    let copy = crashed(&path, &other);
    let log = fs::read(log_of(&copy)).unwrap();
    fs::write(log_of(&copy), &log[..log.len() - 10_000]).unwrap();
    let lost = missing(&copy);
    assert!((1..30).contains(&lost), "{lost}");
    let opening = Opening { accept_loss: true, ..Opening::default() };
    assert!(Sqlite::open_with(&copy, opening).is_ok(), "somebody knows");
    assert!(Sqlite::open(&copy).is_ok(), "and need not say so again");

    for place in [100, 5_000, log.len() / 2, log.len() - 100] {
        let copy = crashed(&path, &other);
        let mut flipped = log.clone();
        flipped[place] ^= 1;
        fs::write(log_of(&copy), flipped).unwrap();
        assert!(missing(&copy) > 0, "a bit of byte {place}");
    }
}

#[test]
fn a_long_log_that_a_crash_left_is_folded_back_before_the_store_is_used() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let mut store = Sqlite::open(&path).unwrap();
    World::new().start(&story::nap(), json!({ "sleep": "1h" })).save(&mut store);
    let other = TempDir::new().unwrap();
    let log = |store: &Path| fs::metadata(log_of(store)).map_or(0, |log| log.len());
    let copy = crashed(&path, &other);
    let short = log(&copy);
    let opened = Sqlite::open(&copy).unwrap();
    assert_eq!(log(&copy), short, "a short one is left to the next commits");
    drop(opened);

    store.connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    store.connection.execute("INSERT INTO settings VALUES ('long', zeroblob(40000000))", []).unwrap();
    let copy = crashed(&path, &other);
    assert!(log(&copy) > 40_000_000);
    let opened = Sqlite::open(&copy).unwrap();
    assert_eq!(log(&copy), 0, "no commit and no other start has to go through it again");
    assert!(
        opened
            .connection
            .query_row("SELECT length(value) = 40000000 FROM settings WHERE name = 'long'", [], |row| row
                .get::<_, bool>(0))
            .unwrap()
    );
}

#[test]
fn a_file_cut_within_its_first_page_is_not_taken_for_a_new_store() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let mut store = Sqlite::open(&path).unwrap();
    World::new().start(&story::nap(), json!({ "sleep": "1h" })).save(&mut store);
    drop(store);
    let sound = fs::read(&path).unwrap();
    let note = PathBuf::from(format!("{}.commits", path.display()));
    for keep_note in [true, false] {
        if !keep_note {
            fs::remove_file(&note).unwrap();
        }
        for length in [1, 15, 16, 99, 100, 512, 4_095] {
            fs::write(&path, &sound[..length]).unwrap();
            let refused = Sqlite::open(&path);
            assert!(matches!(refused, Err(Error::Unusable { .. })), "{length}: {refused:?}");
        }
    }
}

#[test]
fn a_store_that_is_gone_is_missed_by_what_is_left_of_it() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let mut store = Sqlite::open(&path).unwrap();
    World::new().start(&story::nap(), json!({ "sleep": "1h" })).save(&mut store);
    drop(store);
    fs::write(&path, "").unwrap();
    assert_eq!(missing(&path), 1);
    fs::remove_file(&path).unwrap();
    assert_eq!(missing(&path), 1);
    assert_eq!(missing(&path), 1, "however often it is tried");
    drop(Sqlite::open_with(&path, Opening { accept_loss: true, ..Opening::default() }).unwrap());
    Sqlite::open(&path).unwrap();
}

#[test]
fn an_older_copy_in_the_place_of_a_store_is_told() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let copy = directory.path().join("copy.db");
    let mut store = Sqlite::open(&path).unwrap();
    let mut world = World::new();
    let mut start = |store: &mut Sqlite| world.start(&story::nap(), json!({ "sleep": "1h" })).save(store);
    start(&mut store);
    store.backup(&copy).unwrap();
    (0..3).for_each(|_| start(&mut store));
    drop(store);
    fs::copy(&copy, &path).unwrap();
    assert_eq!(missing(&path), 3);
    let mut store = Sqlite::open(&copy).unwrap();
    start(&mut store);
}

#[test]
fn a_note_that_lags_behind_is_no_trouble() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let note = directory.path().join("store.db.commits");
    let mut store = Sqlite::open(&path).unwrap();
    let mut world = World::new();
    let mut start = |store: &mut Sqlite| world.start(&story::nap(), json!({ "sleep": "1h" })).save(store);
    start(&mut store);
    let before = fs::read(&note).unwrap();
    start(&mut store);
    drop(store);
    for content in [before, b"damaged".to_vec(), Vec::new()] {
        fs::write(&note, content).unwrap();
        drop(Sqlite::open(&path).unwrap());
    }
    fs::remove_file(&note).unwrap();
    Sqlite::open(&path).unwrap();
}

#[test]
fn a_flipped_bit_in_any_page_is_told_when_it_is_read() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let mut store = Sqlite::open(&path).unwrap();
    let mut world = World::new();
    let mut runs: Vec<_> = (0..20).map(|_| world.start(&story::nap(), json!({ "sleep": "1h" }))).collect();
    runs.iter_mut().for_each(|run| run.save(&mut store));
    drop(store);
    let sound = fs::read(&path).unwrap();
    assert_eq!(sound.len() % 4_096, 0);
    for page in 0..sound.len() / 4_096 {
        let mut damaged = sound.clone();
        damaged[page * 4_096 + 777] ^= 4;
        fs::write(&path, &damaged).unwrap();
        match Sqlite::open(&path) {
            Ok(mut store) => assert!(!store.check_pages().unwrap().is_empty(), "page {page}"),
            Err(Error::Unusable { why, .. }) => assert!(why.contains("checksum"), "{why}"),
            Err(Error::Corrupt(why)) => assert!(why.contains("checksum"), "{why}"),
            Err(error) => panic!("page {page}: {error}"),
        }
    }
    fs::write(&path, &sound).unwrap();
    let mut store = Sqlite::open(&path).unwrap();
    assert_eq!(store.check_pages().unwrap(), Vec::<String>::new());
    runs.iter().for_each(|run| run.check(&mut store));
}

#[test]
fn a_header_that_says_there_are_no_checksums_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    drop(Sqlite::open(&path).unwrap());
    let sound = fs::read(&path).unwrap();
    for bit in 0..8 {
        let mut damaged = sound.clone();
        damaged[20] ^= 1 << bit;
        fs::write(&path, &damaged).unwrap();
        assert!(matches!(Sqlite::open(&path), Err(Error::Unusable { .. })), "bit {bit}");
    }
}

/// As a flipped bit in the index would have it.
#[test]
fn a_history_that_ends_before_its_row_says_is_told() {
    let mut store = Sqlite::open_in_memory().unwrap();
    let mut world = World::new();
    let mut run = world.start(&story::signalled(), json!({}));
    run.save(&mut store);
    let first = run.run.seq;
    world.tell(&mut run, Command::Cancel { reason: None });
    run.save(&mut store);
    let id = column::run(run.id());
    let change = |store: &Sqlite, sql: &str| store.connection.execute(sql, [id]).unwrap();
    change(
        &store,
        "UPDATE history SET run = zeroblob(16) WHERE run = ? AND seq > 1 AND seq = (SELECT max(seq) FROM history)",
    );
    for result in [
        store.load(run.id()).map(drop),
        store.run(run.id()).map(drop),
        store.records_after(run.id(), 0, 100, usize::MAX).map(drop),
        store.records_after(run.id(), first, 100, usize::MAX).map(drop),
    ] {
        let Err(Error::Damaged { owner, what }) = result else { panic!("{result:?}") };
        assert_eq!(owner, run.id());
        assert!(what.contains(&first.to_string()) || what.contains("not all"), "{what}");
    }
    change(&store, "DELETE FROM history WHERE run = ?");
    assert!(matches!(store.load(run.id()), Err(Error::Damaged { .. })), "no history at all");
}

#[test]
fn a_chunk_of_another_time_is_told_by_the_sum() {
    let mut store = Sqlite::open_in_memory().unwrap();
    let mut world = World::new();
    let mut run = world.start(&story::signalled(), json!({}));
    run.save(&mut store);
    let change = "UPDATE runs SET sum = sum + 1 WHERE id = ?";
    store.connection.execute(change, [column::run(run.id())]).unwrap();
    let refused = store.load(run.id());
    assert!(matches!(&refused, Err(Error::Damaged { what, .. }) if what.contains("sum")), "{refused:?}");
}

#[test]
fn of_a_batch_that_cannot_be_written_the_culprit_is_named() {
    let mut store = Sqlite::open_in_memory().unwrap();
    let mut world = World::new();
    let mut runs: Vec<_> = (0..3).map(|_| world.start(&story::nap(), json!({ "sleep": "1h" }))).collect();
    runs.iter_mut().for_each(|run| run.save(&mut store));
    for run in &mut runs {
        world.tell(run, Command::Cancel { reason: None });
    }
    // Its waitpoint has no number that can be found.
    let culprit = column::run(runs[1].id());
    store.connection.execute("UPDATE waitpoints SET number = 77 WHERE run = ?", [culprit]).unwrap();
    let trigger =
        "CREATE TRIGGER damage BEFORE INSERT ON waitpoints BEGIN SELECT raise(ABORT, 'damage'); END";
    store.connection.execute_batch(trigger).unwrap();
    let batch = Batch { runs: runs.iter().map(|run| run.write()).collect(), ..Batch::default() };
    assert!(matches!(store.commit(&batch), Err(Error::Damaged { owner, .. }) if owner == runs[1].id()));
    let culprits = store.culprits(&batch).unwrap();
    let owners: Vec<_> = culprits.iter().map(|culprit| culprit.owner).collect();
    assert_eq!(owners, [Owner::Run(runs[1].id())]);
}

#[test]
#[cfg(unix)]
fn a_hard_link_is_the_same_store_and_a_lock_that_was_removed_is_still_there() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let link = directory.path().join("link.db");
    let first = Sqlite::open(&path).unwrap();
    fs::hard_link(&path, &link).unwrap();
    assert!(matches!(Sqlite::open(&link), Err(Error::InUse(_))));
    fs::remove_file(directory.path().join("store.db.lock")).unwrap();
    assert!(matches!(Sqlite::open(&path), Err(Error::InUse(_))));
    drop(first);
    drop(Sqlite::open(&path).unwrap());
}

#[test]
fn a_damaged_snapshot_is_passed_over_for_the_whole_history() {
    let mut store = Sqlite::open_in_memory().unwrap();
    let mut world = World::new();
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut store);
    for _ in 0..600 {
        for command in [Command::Pause, Command::Unpause] {
            world.tell(&mut nap, command);
        }
        nap.save(&mut store);
    }
    assert!(store.snapshot(nap.id()).unwrap().is_some());
    let id = column::run(nap.id());
    for damage in [
        "UPDATE snapshots SET sum = sum + 1 WHERE run = ?",
        "UPDATE snapshots SET seq = seq + 1, sum = sum - 1 WHERE run = ?",
        "UPDATE snapshots SET data = zeroblob(9) WHERE run = ?",
    ] {
        store.connection.execute(damage, [id]).unwrap();
        let updates = store.updates(&[(nap.id(), 0)]).unwrap();
        assert!(matches!(&updates[..], [(_, Ok(RunUpdate::Whole(_)))]), "{damage}");
        nap.check(&mut store);
    }
    assert!(matches!(store.snapshot(nap.id()), Err(Error::Damaged { .. })));
    store.connection.execute("UPDATE snapshots SET format = 'other' WHERE run = ?", [id]).unwrap();
    assert_eq!(store.snapshot(nap.id()).unwrap(), None);
    nap.check(&mut store);
}
