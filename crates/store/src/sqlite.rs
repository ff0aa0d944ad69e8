//! A store in one SQLite file. One process writes to it, and one connection of that process; any number of
//! [`Reader`]s look at it at the same time.
//!
//! A commit is one transaction, synced once, that touches few pages: history is only ever appended, a run's row is
//! moved on with each commit, and a waitpoint has one narrow row.
//!
//! Each role of a store is a file of its name. Beside them:
//!
//! ```text
//!   open.rs    whose file is it                    lock.rs          one writer
//!   commit.rs  batches                             acknowledged.rs  what was acknowledged
//!   column.rs  how values are stored               header.rs        whether pages have checksums
//!   tally.rs   how many there are                  query.rs         what a query found
//!   backup.rs  copies                              transfer.rs      its tables as rows of values, for moves
//!   repair.rs  what can be read of a damaged file  private.rs       files that only their owner may read
//! ```

mod acknowledged;
mod admin;
mod audit;
mod backup;
mod code_waits;
mod column;
mod commit;
mod costs;
mod definitions;
mod error;
mod event_starts;
mod events;
mod follow_ups;
mod header;
mod histories;
mod holds;
mod idempotency;
mod limits;
mod links;
mod lists;
mod lock;
mod maintenance;
mod migrations;
mod open;
mod private;
mod query;
mod repair;
mod retention;
mod schedules;
mod tally;
mod timers;
mod transfer;
mod webhooks;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::roles::Admin;
use crate::table::MOVE;
use crate::transfer::note;
use crate::{Batch, Culprit, Error, Read, Store};

use acknowledged::{Acknowledged, Count};
use header::Header;
use lock::Lock;

pub use backup::forgo_page_checksums;
#[cfg(feature = "postgres")]
pub(crate) use backup::write_beside;
pub use open::Opening;
use open::Pages;
#[cfg(feature = "postgres")]
pub(crate) use open::new_file;
pub use repair::{Repaired, repair};
#[cfg(feature = "postgres")]
pub(crate) use transfer::{insert, settle};
pub(crate) use transfer::{look, shown};

/// The writer of a file.
pub type Sqlite = Handle<Writing>;

/// Another connection to a file, that only reads. It never holds up the writer.
pub type Reader = Handle<Reading>;

/// A connection, and what it is for.
#[derive(Debug)]
pub struct Handle<Role> {
    connection: Connection,
    role: Role,
}

#[derive(Debug)]
pub struct Reading;

#[derive(Debug)]
pub struct Writing {
    path: PathBuf,
    pages: Pages,
    /// There is none where there is no file. Dropped last: after it, others may write.
    file: Option<OurFile>,
}

#[derive(Debug)]
struct OurFile {
    acknowledged: Acknowledged,
    ended_well: bool,
    _lock: Lock,
}

impl Sqlite {
    /// Opens the file, or makes one where there is none. Refuses a file that another process has, that is not
    /// ours, that a newer program wrote, or that is part of a [move](crate::transfer); it is left as it was.
    ///
    /// Refuses one that ends before the last commit that was acknowledged, too: see [`Sqlite::open_with`].
    pub fn open(path: impl AsRef<Path>) -> Result<Sqlite, Error> {
        Sqlite::open_with(path, Opening::default())
    }

    pub fn open_with(path: impl AsRef<Path>, opening: Opening) -> Result<Sqlite, Error> {
        let path = open::resolve(path.as_ref());
        let shown = path.display().to_string();
        let mut store = Sqlite::of_file(path, opening)?;
        note::check(&shown, store.setting(MOVE)?.as_deref())?;
        Ok(store)
    }

    fn of_file(path: PathBuf, opening: Opening) -> Result<Sqlite, Error> {
        let lock = Lock::take(&path)?;
        let last = acknowledged::last(&path);
        if !opening.accept_loss
            && let Some(last) = last.filter(|last| last.number > 0 && Header::of(&path) == Header::New)
        {
            return Err(Error::Lost { path: path.display().to_string(), missing: last.number });
        }
        let ended_well = open::ended_well(&path);
        let (connection, pages) = open::writer(&path, opening)?;
        open::check_acknowledged(&connection, &path, last, opening)?;
        open::fold_long_log(&connection, &path)?;
        let noted = Acknowledged::open(&path, Count::of(&connection)?);
        let acknowledged = noted.map_err(|error| open::denied(&path, &error))?;
        let file = Some(OurFile { acknowledged, ended_well, _lock: lock });
        Ok(Handle { connection, role: Writing { path, pages, file } })
    }

    /// One transaction. What it changes has a number, which is noted beside the store before anybody hears of it.
    fn change<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before = transaction.total_changes();
        let done = work(&transaction)?;
        if transaction.total_changes() == before {
            transaction.commit()?;
            return Ok(done);
        }
        let count = acknowledged::next(&transaction)?;
        transaction.commit()?;
        if let Some(file) = &self.role.file {
            file.acknowledged.note(count);
        }
        Ok(done)
    }

    /// A store that is gone when its last connection is.
    pub fn open_in_memory() -> Result<Sqlite, Error> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let name = format!("file:/abide-{}?vfs=memdb", OPENED.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(name);
        let (connection, pages) = open::writer(&path, Opening::default())?;
        Ok(Handle { connection, role: Writing { path, pages, file: None } })
    }

    /// Another connection, for another thread.
    pub fn reader(&self) -> Result<Reader, Error> {
        Ok(Handle { connection: open::reader(&self.role.path, self.role.pages)?, role: Reading })
    }
}

impl Reader {
    /// Opens a file to look at it, while this or another process writes to it. Refuses what [`Sqlite::open`]
    /// refuses, except one that was moved, and a file that is not there.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, Error> {
        let path = open::resolve(path.as_ref());
        let mut reader = Handle { connection: open::beside(&path)?, role: Reading };
        note::check_whole(&path.display().to_string(), reader.setting(MOVE)?.as_deref())?;
        Ok(reader)
    }
}

impl Store for Sqlite {
    fn reader(&self) -> Result<Box<dyn Read>, Error> {
        Ok(Box::new(Sqlite::reader(self)?))
    }

    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        self.change(|transaction| commit::commit(transaction, batch))
    }

    fn culprits(&mut self, batch: &Batch<'_>) -> Result<Vec<Culprit>, Error> {
        commit::culprits(&mut self.connection, batch)
    }

    fn ended_well(&self) -> bool {
        self.role.file.as_ref().is_none_or(|file| file.ended_well)
    }
}

#[cfg(test)]
mod tests;
