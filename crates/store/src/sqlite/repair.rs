//! A file written anew from its tables: whatever is wrong with its indexes is not in the new one. The old one is only read,
//! and stays beside it.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::Error;
use crate::sqlite::header::VFS;
use crate::sqlite::lock::Lock;
use crate::sqlite::{backup, check, open};

/// What came of it.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// Where the old file is.
    pub kept: PathBuf,
}

/// Refused if a table itself is damaged: what cannot be read is not left out in silence.
pub fn repair(path: impl AsRef<Path>) -> Result<Repaired, Error> {
    let path = open::resolve(path.as_ref());
    let _lock = Lock::take(&path)?;
    let kept = beside(&path, ".damaged");
    if kept.exists() {
        let why = format!("{} is there; move it away", kept.display());
        return Err(open::unusable(&path, why, "it is what an earlier repair was made from"));
    }
    let fresh = beside(&path, ".repaired");
    let _ = fs::remove_file(&fresh);
    let written = write_anew(&path, &fresh);
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written?;
    let moved = fs::rename(&path, &kept).and_then(|()| {
        // What is left of its log is in the new file, and would be taken for the new one's.
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(beside(&path, end));
        }
        fs::rename(&fresh, &path)
    });
    moved.map_err(|error| open::denied(&path, &error))?;
    Ok(Repaired { kept })
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

fn write_anew(path: &Path, fresh: &Path) -> Result<(), Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let old = Connection::open_with_flags_and_vfs(path, flags, VFS)?;
    // Tables are read and indexes are made: that is how it copies.
    old.execute("VACUUM INTO ?", [fresh.to_string_lossy()])?;
    drop(old);
    let new = Connection::open_with_flags_and_vfs(fresh, flags, VFS)?;
    let wrong = check::pages(&new)?;
    drop(new);
    match wrong.first() {
        None => backup::sync(fresh).map_err(|why| open::unusable(path, why, "check the disk")),
        Some(wrong) => Err(Error::Corrupt(wrong.clone())),
    }
}
