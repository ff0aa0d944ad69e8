//! Backups: a whole copy of the file, made while others read and write.
//!
//! The copy is written beside its place and moved there when it is on disk, so that what stands there is a backup.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::Error;
use crate::sqlite::header::{self, APPLICATION_ID, Header, UNCHECKED_ID};
use crate::sqlite::lock::Lock;
use crate::sqlite::{open, private};
use crate::table::{COPY_OF, STORE_ID};

pub(super) fn backup(connection: &Connection, to: &Path) -> Result<(), Error> {
    write_beside(to, |part| write(connection, part))
}

/// Makes a file one whose pages have no checksums, so that another program may write pages, too. Nobody may have it open.
pub fn forgo_page_checksums(path: impl AsRef<Path>) -> Result<(), Error> {
    let path = open::resolve(path.as_ref());
    let _lock = Lock::take(&path)?;
    // What is damaged now would not be noticed later.
    drop(open::beside(&path)?);
    let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "application_id", UNCHECKED_ID)?;
    connection.close().map_err(|(_, error)| error)?;
    sync(&path).map_err(|why| Error::BackupFailed { path: path.display().to_string(), why })
}

/// Has a file written beside its place, and puts it there when it is whole and on disk.
pub(crate) fn write_beside(to: &Path, write: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), Error> {
    let to = open::resolve(to);
    let failed = |why: String| Error::BackupFailed { path: to.display().to_string(), why };
    if fs::symlink_metadata(&to).is_ok() {
        return Err(failed("there is a file already, and it is not overwritten".to_owned()));
    }
    let part = begin(&to).map_err(failed)?;
    let written = write(&part)
        .and_then(|()| stamp(&part))
        .and_then(|()| sync(&part))
        .and_then(|()| put_in_place(&part, &to));
    if written.is_err() {
        // Half a copy is of no use, and it would be in the way of the next one.
        let _ = fs::remove_file(&part);
    }
    written.map_err(failed)
}

/// Two backups to one place at a time do not get in each other's way: the second is refused.
fn begin(to: &Path) -> Result<PathBuf, String> {
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    match private::options().create_new(true).open(&part) {
        Ok(_) => Ok(part),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(format!("{} is there; remove it, unless a backup is under way", part.display()))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn write(connection: &Connection, part: &Path) -> Result<(), String> {
    let result = copy(connection, part).map_err(|error| error.to_string())?;
    if result != StepResult::Done {
        return Err("the store is being written to; try again".to_owned());
    }
    Ok(())
}

/// A copy is another store than its original: it has an id of its own, and says of which one it is a copy.
fn stamp(part: &Path) -> Result<(), String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let stamped = Connection::open_with_flags_and_vfs(part, flags, header::VFS).and_then(|copy| {
        copy.execute(
            "INSERT OR REPLACE INTO settings (name, value) SELECT ?, value FROM settings WHERE name = ?",
            [COPY_OF, STORE_ID],
        )?;
        copy.execute(
            "UPDATE settings SET value = CAST(lower(hex(randomblob(16))) AS BLOB) WHERE name = ?",
            [STORE_ID],
        )?;
        copy.close().map_err(|(_, error)| error)
    });
    stamped.map_err(|error| error.to_string())
}

pub(super) fn sync(part: &Path) -> Result<(), String> {
    let copy = File::options().write(true).open(part).map_err(|error| error.to_string())?;
    copy.sync_all().map_err(|error| error.to_string())
}

/// In one step, which sees one state; the log takes what is committed meanwhile.
fn copy(connection: &Connection, part: &Path) -> rusqlite::Result<StepResult> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let mut copy = Connection::open_with_flags_and_vfs(part, flags, header::VFS)?;
    let result = Backup::new(connection, &mut copy)?.step(-1)?;
    copy.close().map_err(|(_, error)| error)?;
    if result == StepResult::Done && Header::of(part) != Header::Sound {
        // Copied from memory, or from a file that has none: pages get their checksums as they are written anew.
        let copy = Connection::open_with_flags_and_vfs(part, flags, header::VFS)?;
        copy.query_row("PRAGMA checksum_verification = OFF", [], |_| Ok(()))?;
        copy.pragma_update(None, "application_id", APPLICATION_ID)?;
        open::make_room_for_checksums(&copy)?;
        copy.close().map_err(|(_, error)| error)?;
    }
    Ok(result)
}

fn put_in_place(part: &Path, to: &Path) -> Result<(), String> {
    fs::rename(part, to).map_err(|error| error.to_string())?;
    // The name is on disk when its directory is. Not every system can sync one.
    #[cfg(unix)]
    if let Some(directory) = to.parent() {
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|error| error.to_string())?;
    }
    Ok(())
}
