//! A file written anew from its tables: whatever is wrong with its indexes is not in the new one. The old one is only read,
//! and stays beside it.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::sqlite::header::{Header, VFS};
use crate::sqlite::lock::Lock;
use crate::sqlite::{Sqlite, backup, maintenance, open};
use crate::{Error, Store};

/// What came of it.
#[derive(Clone, Debug)]
pub struct Repaired<T> {
    /// Where the old file is.
    pub kept: PathBuf,
    /// What mending the new one came to.
    pub mended: T,
}

/// What can be told from histories alone: where it cannot be read it is left out of the copy, and made anew.
const DERIVED: &str = "waitpoints";

/// Before the new file takes the place of the old one it is mended: rows that can be made from others are. Refused if
/// another table is damaged: what cannot be read is not left out in silence.
pub fn repair<T>(
    path: impl AsRef<Path>,
    mend: impl FnOnce(&mut dyn Store) -> Result<T, Error>,
) -> Result<Repaired<T>, Error> {
    let path = open::resolve(path.as_ref());
    let _lock = Lock::take(&path)?;
    let kept = beside(&path, ".damaged");
    if kept.exists() {
        let why = format!("{} is there; move it away", kept.display());
        return Err(open::unusable(&path, why, "it is what an earlier repair was made from"));
    }
    let fresh = beside(&path, ".repaired");
    remove(&fresh);
    let mended = write_anew(&path, &fresh).and_then(|()| {
        let mut store = Sqlite::open(&fresh)?;
        // It is synced as a whole.
        store.connection.pragma_update(None, "synchronous", "OFF")?;
        let mended = mend(&mut store)?;
        drop(store);
        backup::sync(&fresh).map_err(|why| open::unusable(&path, why, "check the disk"))?;
        Ok(mended)
    });
    let mended = mended.inspect_err(|_| remove(&fresh))?;
    let moved = fs::rename(&path, &kept).and_then(|()| {
        // What is left of its log is in the new file, and would be taken for the new one's.
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(beside(&path, end));
        }
        fs::rename(&fresh, &path)
    });
    moved.map_err(|error| open::denied(&path, &error))?;
    remove(&fresh);
    Ok(Repaired { kept, mended })
}

/// A file and all that lies beside it.
fn remove(path: &Path) {
    for end in ["", "-wal", "-shm", ".commits", ".lock"] {
        let _ = fs::remove_file(beside(path, end));
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

fn write_anew(path: &Path, fresh: &Path) -> Result<(), Error> {
    let copied = copy(path, fresh);
    if copied.as_ref().is_err_and(Error::is_damage) {
        remove(fresh);
        copy_without_derived(path, fresh)?;
    } else {
        copied?;
    }
    let new = connect(fresh)?;
    match maintenance::check_pages(&new)?.first() {
        None => Ok(()),
        Some(wrong) => Err(Error::Corrupt(wrong.clone())),
    }
}

fn connect(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    Ok(match Header::of(path) {
        Header::Unchecked => Connection::open_with_flags(path, flags)?,
        Header::New
        | Header::Foreign
        | Header::Cut
        | Header::WithoutChecksums
        | Header::Old
        | Header::Sound => Connection::open_with_flags_and_vfs(path, flags, VFS)?,
    })
}

/// Tables are read and indexes are made: that is how it copies.
fn copy(path: &Path, fresh: &Path) -> Result<(), Error> {
    connect(path)?.execute("VACUUM INTO ?", [fresh.to_string_lossy()])?;
    Ok(())
}

/// Leaves out one table, which is empty in the copy. The old file stays as it is: the table is taken out of a second one.
fn copy_without_derived(path: &Path, fresh: &Path) -> Result<(), Error> {
    let scratch = beside(path, ".scratch");
    remove(&scratch);
    let copied = (|| {
        for end in ["", "-wal"] {
            if beside(path, end).exists() {
                let copied = fs::copy(beside(path, end), beside(&scratch, end));
                copied.map_err(|error| open::denied(path, &error))?;
            }
        }
        let old = connect(&scratch)?;
        let made: Vec<String> = old
            .prepare(
                "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC",
            )?
            .query_map([DERIVED], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        old.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
        old.pragma_update(None, "writable_schema", true)?;
        old.execute("DELETE FROM sqlite_schema WHERE tbl_name = ?", [DERIVED])?;
        drop(old);
        copy(&scratch, fresh)?;
        let new = connect(fresh)?;
        made.iter().try_for_each(|sql| new.execute_batch(sql))?;
        Ok(())
    })();
    remove(&scratch);
    copied
}
