//! A store's files are their owner's alone.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use abide_store::roles::*;
use abide_store::sqlite::Sqlite;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_store_what_is_beside_it_and_its_backups_are_their_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abide.db");
    let mut store = Sqlite::open(&path).unwrap();
    store.put_setting("x", b"1").unwrap();
    store.backup(&folder.path().join("copy.db")).unwrap();
    let mut seen = 0;
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        seen += 1;
    }
    assert!(seen >= 4, "the store, its log, its lock and its copy");
}

#[test]
fn a_store_that_others_could_read_is_closed_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abide.db");
    drop(Sqlite::open(&path).unwrap());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let lock = folder.path().join("abide.db.lock");
    fs::set_permissions(&lock, fs::Permissions::from_mode(0o664)).unwrap();
    let _store = Sqlite::open(&path).unwrap();
    assert_eq!((mode(&path), mode(&lock)), (0o600, 0o600));
}
