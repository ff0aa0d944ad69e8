//! A file that is not ours, or not ours alone, is refused with a reason and left as it was.

use std::fs;
use std::path::Path;
use std::process::Command;

use abide_store::Error;
use abide_store::roles::*;
use abide_store::sqlite::{Reader, Sqlite};
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

fn refused(path: &Path) -> (String, &'static str) {
    let before = fs::read(path).ok();
    match Sqlite::open(path) {
        Err(Error::Unusable { path: named, why, what_to_do }) => {
            assert_eq!(Path::new(&named).file_name(), path.file_name());
            assert_eq!(fs::read(path).ok(), before, "the file was changed");
            (why, what_to_do)
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn the_database_of_another_program_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("foreign.db");
    let foreign = Connection::open(&path).unwrap();
    foreign.execute_batch("CREATE TABLE runs (id); INSERT INTO runs VALUES (1);").unwrap();
    drop(foreign);
    let (why, what_to_do) = refused(&path);
    assert!(why.contains("another program"), "{why}");
    assert!(what_to_do.contains("a path of its own"), "{what_to_do}");

    let path = directory.path().join("marked.db");
    Connection::open(&path).unwrap().pragma_update(None, "application_id", 7).unwrap();
    assert!(refused(&path).0.contains("another program"));
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("newer.db");
    drop(Sqlite::open(&path).unwrap());
    // By way of what keeps the checksums, as the newer program would.
    let newer =
        Connection::open_with_flags_and_vfs(&path, OpenFlags::SQLITE_OPEN_READ_WRITE, "cksmvfs").unwrap();
    newer.pragma_update(None, "user_version", 9_999).unwrap();
    drop(newer);
    let (why, what_to_do) = refused(&path);
    assert!(why.contains("version 9999"), "{why}");
    assert!(what_to_do.contains("newer"), "{what_to_do}");
}

#[test]
fn what_is_not_a_database_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("letter.txt");
    for text in ["Dear Sir or Madam, ".repeat(100), "short".to_owned()] {
        fs::write(&path, text).unwrap();
        assert!(refused(&path).0.contains("not an SQLite database"));
    }
    assert!(matches!(Sqlite::open(directory.path()), Err(Error::Unusable { .. })), "a directory");
    let nowhere = directory.path().join("no/such/directory/file.db");
    let (_, what_to_do) = refused(&nowhere);
    assert!(what_to_do.contains("directory exists"), "{what_to_do}");
}

#[test]
fn an_empty_file_becomes_a_store() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("empty.db");
    fs::write(&path, "").unwrap();
    drop(Sqlite::open(&path).unwrap());
    Sqlite::open(&path).unwrap();
}

#[test]
fn a_damaged_file_is_refused_or_says_so_when_it_is_read() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("damaged.db");
    drop(Sqlite::open(&path).unwrap());
    let sound = fs::read(&path).unwrap();
    assert!(sound.len() > 20_000);
    // The head says it is ours, and the first page holds the schema.
    let mut damaged = sound.clone();
    damaged[100..4096].fill(0xA5);
    fs::write(&path, &damaged).unwrap();
    let (why, what_to_do) = refused(&path);
    assert!(why.contains("damaged"), "{why}");
    assert!(what_to_do.contains("backup"), "{what_to_do}");

    let mut damaged = sound.clone();
    damaged[4096..].fill(0xA5);
    fs::write(&path, &damaged).unwrap();
    let lost = match Sqlite::open(&path) {
        Ok(store) => matches!(store.reader().unwrap().counts(None), Err(Error::Corrupt(_))),
        Err(error) => matches!(error, Error::Unusable { .. }),
    };
    assert!(lost);

    fs::write(&path, &sound[..sound.len() / 2]).unwrap();
    let lost = match Sqlite::open(&path) {
        Ok(store) => matches!(store.reader().unwrap().counts(None), Err(Error::Corrupt(_))),
        Err(error) => matches!(error, Error::Unusable { .. }),
    };
    assert!(lost);
}

const FILE: &str = "ABIDE_STORE_TEST_FILE";
const IN_USE: i32 = 17;

/// Not a test of its own: what the second process does.
#[test]
fn second_process() {
    let Ok(path) = std::env::var(FILE) else { return };
    std::process::exit(match Sqlite::open(path) {
        Ok(_) => 0,
        Err(Error::InUse(_)) => IN_USE,
        Err(error) => panic!("{error}"),
    });
}

#[test]
fn a_second_process_is_refused_until_the_first_is_gone() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("shared.db");
    let second = |path: &Path| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "refusals::second_process", "--nocapture"]).env(FILE, path);
        command.output().unwrap().status.code()
    };
    let first = Sqlite::open(&path).unwrap();
    assert_eq!(second(&path), Some(IN_USE));
    assert!(matches!(Sqlite::open(&path), Err(Error::InUse(_))), "not twice in one process either");
    #[cfg(unix)]
    {
        let link = directory.path().join("link.db");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(second(&link), Some(IN_USE), "a link leads to the same file");
    }
    let mut reader = first.reader().unwrap();
    drop(first);
    assert_eq!(second(&path), Some(0), "a reader that is left over holds nobody up");
    reader.counts(None).unwrap();
}

#[test]
fn a_reader_looks_at_a_file_that_somebody_else_has_and_makes_none() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("store.db");
    assert!(matches!(Reader::open(&path), Err(Error::Unusable { .. })), "there is no file");
    assert!(!path.exists());
    let _writer = Sqlite::open(&path).unwrap();
    assert_eq!(Reader::open(&path).unwrap().workspaces().unwrap().len(), 1);
    let foreign = directory.path().join("foreign.db");
    Connection::open(&foreign).unwrap().pragma_update(None, "application_id", 7).unwrap();
    assert!(matches!(Reader::open(&foreign), Err(Error::Unusable { .. })), "it is not ours");
}
