//! Stores whose pages have no checksums, because another program writes pages, too.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::super::*;
use crate::conformance::story::{self, World};
use crate::roles::*;

const UNCHECKED: Opening = Opening { accept_loss: false, without_page_checksums: true };

fn start(store: &mut Sqlite, world: &mut World) {
    world.start(&story::nap(), json!({ "sleep": "1h" })).save(store);
}

fn runs(path: &Path) -> u64 {
    Reader::open(path).unwrap().counts(None).unwrap().iter().map(|(_, runs)| *runs).sum()
}

/// Folds the log back as a program does that knows nothing of checksums.
fn fold_as_a_stranger(path: &Path) {
    let stranger = Connection::open(path).unwrap();
    stranger.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
}

#[test]
fn a_stranger_may_write_pages_of_a_store_without_checksums_and_not_of_another() {
    let directory = TempDir::new().unwrap();
    for (name, opening, is_sound) in [("with", Opening::default(), false), ("without", UNCHECKED, true)] {
        let path = directory.path().join(name);
        let (mut world, mut store) = (World::new(), Sqlite::open_with(&path, opening).unwrap());
        start(&mut store, &mut world);
        assert_eq!(runs(&path), 1, "also beside the writer");
        assert_eq!(
            store.reader().unwrap().counts(None).unwrap().iter().map(|(_, runs)| runs).sum::<u64>(),
            1
        );
        drop(store);
        let mut store = Sqlite::open(&path).unwrap();
        start(&mut store, &mut world);
        fold_as_a_stranger(&path);
        drop(store);
        assert_eq!(Sqlite::open(&path).is_ok(), is_sound, "{name}");
    }
}

#[test]
fn a_store_without_checksums_says_so_itself_from_its_first_byte_on() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let store = Sqlite::open_with(&path, UNCHECKED).unwrap();
    // As another process finds it when this one is gone without a word: only the file, and nothing of its log.
    let copy = directory.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(Header::of(&copy), Header::Unchecked);
    drop(store);
    let bytes = fs::read(&path).unwrap();
    for bit in 0..32 {
        let mut flipped = bytes.clone();
        flipped[68 + bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, flipped).unwrap();
        assert!(Sqlite::open(&path).is_err(), "bit {bit}");
    }
}

#[test]
fn checksums_are_not_dropped_in_silence_but_by_a_copy_and_come_back_by_another() {
    let directory = TempDir::new().unwrap();
    let [path, without, with] = ["a.db", "without.db", "with.db"].map(|name| directory.path().join(name));
    let (mut world, mut store) = (World::new(), Sqlite::open(&path).unwrap());
    start(&mut store, &mut world);
    store.backup(&without).unwrap();
    drop(store);
    let refused = Sqlite::open_with(&path, UNCHECKED).unwrap_err().to_string();
    assert!(refused.contains("--without-page-checksums"), "{refused}");

    forgo_page_checksums(&without).unwrap();
    assert_eq!(Header::of(&without), Header::Unchecked);
    let mut store = Sqlite::open_with(&without, UNCHECKED).unwrap();
    start(&mut store, &mut world);
    fold_as_a_stranger(&without);
    store.backup(&with).unwrap();
    drop(store);
    assert_eq!((Header::of(&with), runs(&with)), (Header::Sound, 2));
    let mut bytes = fs::read(&with).unwrap();
    bytes[5_000] ^= 1;
    fs::write(&with, bytes).unwrap();
    let found = Sqlite::open(&with).and_then(|mut store| store.check_pages());
    assert!(found.is_err() || found.is_ok_and(|wrong| !wrong.is_empty()), "a flipped bit is found again");
}

#[test]
fn a_store_without_checksums_is_repaired_as_one() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    let mut store = Sqlite::open_with(&path, UNCHECKED).unwrap();
    start(&mut store, &mut World::new());
    drop(store);
    repair(&path, |_| Ok(())).unwrap();
    assert_eq!((Header::of(&path), runs(&path)), (Header::Unchecked, 1));
}
