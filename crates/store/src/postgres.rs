//! A store in a PostgreSQL database. Any number of processes write to it at the same time: a commit is a
//! compare-and-set on the runs it changes, and commits of different runs do not wait for each other.
//!
//! A commit is one transaction, most often of a single statement of many rows. If the connection is lost before the answer
//! comes, a row that is written with it tells how it ended.
//!
//! Everything is in the schema `abide` of the database.
//!
//! Each role of a store is a file of its name. Beside them:
//!
//! ```text
//!   open.rs    whose database is it                connection.rs     connections
//!   commit.rs  batches                             tls.rs            connections that are encrypted
//!   column.rs  how values are stored               notifications.rs  what other nodes are told of a commit
//!   event_snapshots.rs   events and waits that begin at the same time
//!   backup.rs  copies                              transfer.rs       its tables as rows of values, for moves
//!   figures.rs what measures itself asks a server
//! ```

mod admin;
mod audit;
mod backup;
mod cluster;
mod code_waits;
mod column;
mod commit;
mod connection;
mod costs;
mod definitions;
mod error;
mod event_snapshots;
mod event_starts;
mod events;
mod figures;
mod follow_ups;
mod histories;
mod holds;
mod idempotency;
mod limits;
mod links;
mod lists;
mod maintenance;
mod migrations;
mod notifications;
mod open;
mod refusal;
mod retention;
mod schedules;
mod tasks;
mod timers;
mod tls;
mod transfer;
mod webhooks;

use crate::cluster::Cluster;
use crate::roles::Admin;
use crate::table::MOVE;
use crate::tasks::Tasks;
use crate::transfer::note;
use crate::{Batch, Culprit, Error, Read, Store};
use connection::PgConnection;

pub use connection::Sent;
pub use figures::Figures;
pub(crate) use transfer::look;

/// A writer of a database, one of any number.
///
/// If the connection is lost while a batch is committed, the store connects again and asks how the commit ended. Only
/// if the database stays away for half a minute does [`Store::commit`] fail without knowing; its error says so.
pub type Postgres = Handle<Writing>;

/// Another connection to a database, that only reads.
pub type Reader = Handle<Reading>;

/// A connection, and what it is for.
#[derive(Debug)]
pub struct Handle<Role> {
    connection: PgConnection,
    role: Role,
}

#[derive(Debug)]
pub struct Reading;

#[derive(Debug, Default)]
pub struct Writing {
    last: Option<commit::Mark>,
}

/// For what is lost in a crash of the server without harm: leases and heartbeats.
#[derive(Debug)]
pub struct Unsynced;

/// An address as it may be shown: without its password.
pub fn shown(address: &str) -> String {
    open::shown(address)
}

impl Postgres {
    /// Opens the database at an address like `postgresql://user:password@host:5432/database`, and makes our schema in
    /// it where there is none. Refuses a database in which another program has one of this name, that a newer program
    /// wrote, or that is part of a [move](crate::transfer); it is left as it was.
    pub fn open(address: &str) -> Result<Postgres, Error> {
        let mut store = Handle { connection: open::open(address)?, role: Writing::default() };
        note::check(&shown(address), store.setting(MOVE)?.as_deref())?;
        Ok(store)
    }

    /// Counts the statements that are sent from here on, by readers and all others that come of this store, too.
    pub fn sent(&self) -> Sent {
        self.connection.driver.statements()
    }

    /// What the server and the database say of themselves.
    pub fn figures(&mut self) -> Result<Figures, Error> {
        figures::figures(&mut self.connection)
    }

    /// Another connection, for another thread.
    pub fn reader(&self) -> Reader {
        Handle { connection: self.connection.reading(), role: Reading }
    }
}

impl Reader {
    /// Opens a database to look at it, while others work on it. Refuses what [`Postgres::open`] refuses, except one that
    /// was moved, and a database without a store.
    pub fn open(address: &str) -> Result<Reader, Error> {
        let nothing = || {
            let why = "there is no store in it".to_owned();
            Error::Unusable { path: shown(address), why, what_to_do: "check the address" }
        };
        let mut reader = look(address)?.ok_or_else(nothing)?;
        note::check_whole(&shown(address), reader.setting(MOVE)?.as_deref())?;
        Ok(reader)
    }
}

impl Store for Postgres {
    fn reader(&self) -> Result<Box<dyn Read>, Error> {
        Ok(Box::new(Postgres::reader(self)))
    }

    fn another(&self) -> Result<Option<Box<dyn Store>>, Error> {
        let mut connection = self.connection.writing();
        connection.connect()?;
        Ok(Some(Box::new(Handle { connection, role: Writing::default() })))
    }

    fn tasks(&self) -> Result<Option<Box<dyn Tasks>>, Error> {
        Ok(Some(Box::new(Handle { connection: self.connection.unsynced(), role: Unsynced })))
    }

    fn cluster(&self) -> Result<Option<Box<dyn Cluster>>, Error> {
        Ok(Some(Box::new(Handle { connection: self.connection.unsynced(), role: Unsynced })))
    }

    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        commit::commit(&mut self.connection, &mut self.role.last, batch)
    }

    fn culprits(&mut self, batch: &Batch<'_>) -> Result<Vec<Culprit>, Error> {
        commit::culprits(&mut self.connection, &mut self.role.last, batch)
    }
}

#[cfg(test)]
pub(crate) mod tests;
