//! Moves: all that a store holds, carried over to another one of any kind, while neither is served.
//!
//! ```text
//!   begin   both say that they are part of this move        (from here on neither can be opened to work with it)
//!   copy    table by table, in the order of their keys; each batch is a transaction that notes how far it is
//!   verify  both are read from end to end: the same number of rows, the same checksum, in every table
//!   finish  the old one says where its runs are now; the new one can be opened
//! ```
//!
//! A move that was cut off goes on where it was, when it is begun again between the same two. Which tasks are out is
//! kept by some stores only, and follows from the runs: whoever knows how writes it before the end, with
//! [`Move::target`].

mod contents;
mod error;
pub(crate) mod note;
mod plan;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::path::Path;

use abide_core::status::RunStatus;
use jiff::Timestamp;

#[cfg(feature = "postgres")]
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::table::{self, MOVE, Row, TABLES, Table};
use crate::{Read, Store, code};

pub use crate::table::Sum;
pub use contents::Contents;
pub use error::{Difference, Error};
use note::{MoveId, Note, Reached};
use plan::{Plan, check_empty, check_rests, plan};

/// Rows that are written together, by number and by what they take in memory.
const BATCH_ROWS: usize = 5_000;
const BATCH_BYTES: usize = 8 << 20;
/// Rows that are read between two words of how far it is.
const TELL_ROWS: u64 = 5_000;

/// A store as a move sees it that changes nothing.
pub(crate) trait Look: Read {
    /// As it may be shown.
    fn place(&self) -> String;

    /// How many rows there are in a table.
    fn count(&mut self, table: &Table) -> Result<u64, crate::Error>;

    /// The columns by which rows are read in order.
    fn key(&self, table: &'static Table) -> &'static [&'static str] {
        table.key
    }

    /// All rows of a table in the order of their key, or those after one.
    fn each(
        &mut self,
        table: &'static Table,
        after: Option<&Row>,
        take: &mut dyn FnMut(Row) -> Result<(), crate::Error>,
    ) -> Result<(), crate::Error>;

    /// How many processes work on it, and how many tasks are written down as being out.
    fn at_work(&mut self) -> Result<AtWork, crate::Error>;
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AtWork {
    pub(crate) nodes: u64,
    pub(crate) tasks: u64,
}

/// A store as an end of a move.
pub(crate) trait End: Look + Store + Debug {
    /// Does this if the note is still what it was, and changes the note with it, all or nothing. Says whether it did.
    fn write(
        &mut self,
        was: Option<&[u8]>,
        becomes: Option<&[u8]>,
        work: &Work<'_>,
    ) -> Result<bool, crate::Error>;

    /// By the clock that counts in it.
    fn now(&mut self) -> Result<Timestamp, crate::Error>;
}

pub(crate) enum Work<'r> {
    Nothing,
    /// What a new store has is removed, for it has other values where it comes from.
    Clear,
    Insert(&'static Table, &'r [Row]),
    /// What follows from the tables is brought in line with them.
    Settle,
}

/// The store that is moved.
#[derive(Debug)]
pub struct Source(Box<dyn End>);

/// The store that it is moved to.
#[derive(Debug)]
pub struct Target(Box<dyn End>);

impl Source {
    /// Of a file that is there. Nobody else can have it meanwhile.
    pub fn file(path: impl AsRef<Path>) -> Result<Source, Error> {
        Ok(Source(Box::new(Sqlite::open_to_move(path, false)?)))
    }

    /// Of a database with a store in it.
    #[cfg(feature = "postgres")]
    pub fn database(address: &str) -> Result<Source, Error> {
        Ok(Source(Box::new(Postgres::open_to_move(address, false)?)))
    }

    /// Takes back that the store was moved, or that a move of it was begun. Says where to.
    pub fn reopen(mut self) -> Result<Option<String>, Error> {
        let was = self.0.setting(MOVE)?;
        match Note::read(was.as_deref())? {
            None => Ok(None),
            Some(Note::Source { to, .. }) => match self.0.write(was.as_deref(), None, &Work::Nothing)? {
                true => Ok(Some(to)),
                false => Err(Error::Interfered(self.0.place())),
            },
            Some(Note::Target { from, .. }) => Err(Error::IsTarget { place: self.0.place(), from }),
        }
    }
}

impl Target {
    /// Of a file, which is made where there is none.
    pub fn file(path: impl AsRef<Path>) -> Result<Target, Error> {
        Ok(Target(Box::new(Sqlite::open_to_move(path, true)?)))
    }

    /// Of a database, in which the tables are made where there are none.
    #[cfg(feature = "postgres")]
    pub fn database(address: &str) -> Result<Target, Error> {
        Ok(Target(Box::new(Postgres::open_to_move(address, true)?)))
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub stage: Stage,
    pub table: &'static str,
    pub rows: u64,
    pub of: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Copying,
    Verifying,
}

/// Is told how far it is.
pub type Tell<'t> = &'t mut dyn FnMut(Progress);

/// A move that is under way.
#[derive(Debug)]
pub struct Move {
    from: Box<dyn End>,
    to: Box<dyn End>,
    /// As they stand in the stores.
    from_note: Vec<u8>,
    to_note: Vec<u8>,
    reached: Option<Reached>,
    goes_on: bool,
    tables: Vec<(&'static Table, u64)>,
    batch_rows: usize,
}

impl Move {
    /// Notes in both stores that they are part of this move, unless they are already. The number tells this move from
    /// all others.
    pub fn begin(from: Source, to: Target, now: Timestamp, number: u128) -> Result<Move, Error> {
        let (Source(mut from), Target(mut to)) = (from, to);
        let (from_place, to_place) = (from.place(), to.place());
        let (from_stored, to_stored) = (from.setting(MOVE)?, to.setting(MOVE)?);
        let (from_note, to_note) = (Note::read(from_stored.as_deref())?, Note::read(to_stored.as_deref())?);
        let plan = plan(from_note.as_ref(), to_note.as_ref(), &from_place, &to_place)?;
        for end in [&mut from, &mut to] {
            check_rests(&mut **end)?;
        }
        let (id, goes_on) = match plan {
            Plan::GoOn => (None, true),
            Plan::Begin(id) => {
                let tables = count(&mut *to)?;
                let tables: Vec<_> = tables.iter().map(|(table, rows)| (table.name, *rows)).collect();
                check_empty(&to_place, &tables, to.at_work()?.tasks)?;
                (Some(id.unwrap_or_else(|| MoveId::of(number))), false)
            }
        };
        let (mut from_written, mut to_written) =
            (from_stored.unwrap_or_default(), to_stored.unwrap_or_default());
        if let Some(id) = id {
            let note = Note::Source { id: id.clone(), to: to_place.clone(), begun_at: now, ended_at: None };
            let was = from_note.is_some().then_some(&*from_written);
            let written = note.written();
            interfered(&from_place, from.write(was, Some(&written), &Work::Nothing)?)?;
            from_written = written;
            let note = Note::Target { id, from: from_place.clone(), begun_at: now, reached: None };
            to_written = note.written();
            interfered(&to_place, to.write(None, Some(&to_written), &Work::Clear)?)?;
            // One who opened it before the note was there says so by now, or is caught at the end.
            check_rests(&mut *from)?;
        }
        let reached = match Note::read(Some(&to_written))? {
            Some(Note::Target { reached, .. }) => reached,
            Some(Note::Source { .. }) | None => None,
        };
        let tables = count(&mut *from)?;
        Ok(Move {
            from,
            to,
            from_note: from_written,
            to_note: to_written,
            reached,
            goes_on,
            tables,
            batch_rows: BATCH_ROWS,
        })
    }

    /// Whether the move was begun before and goes on.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Tables and how many rows are to be carried over.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.tables.iter().map(|(table, rows)| (table.name, *rows))
    }

    /// Carries over what is not there yet.
    pub fn copy(&mut self, tell: Tell<'_>) -> Result<(), Error> {
        let reached = self.reached.clone();
        let first = match &reached {
            None => 0,
            Some(reached) => {
                let unknown = || Error::Store(crate::Error::Corrupt(format!("no table {}", reached.table)));
                let place = self.tables.iter().position(|(table, _)| table.name == reached.table);
                place.ok_or_else(unknown)?
            }
        };
        for (index, (table, of)) in self.tables.clone().into_iter().enumerate().skip(first) {
            let after = reached.as_ref().filter(|_| index == first).map(Reached::key);
            self.copy_table(table, of, after.as_ref(), tell)?;
        }
        Ok(())
    }

    fn copy_table(
        &mut self,
        table: &'static Table,
        of: u64,
        after: Option<&Row>,
        tell: Tell<'_>,
    ) -> Result<(), Error> {
        let Move { from, to, to_note, batch_rows, .. } = self;
        let batch_rows = *batch_rows;
        let mut rows = if after.is_some() { to.count(table)? } else { 0 };
        let place = to.place();
        let key = from.key(table);
        tell(Progress { stage: Stage::Copying, table: table.name, rows, of });
        let (mut batch, mut bytes): (Vec<Row>, usize) = (Vec::with_capacity(batch_rows), 0);
        let mut was_interfered = false;
        let mut write = |batch: &mut Vec<Row>| -> Result<(), crate::Error> {
            let Some(last) = batch.last() else { return Ok(()) };
            let next = moved_on(to_note, table, table.values_of(key, last))?;
            if !to.write(Some(to_note), Some(&next), &Work::Insert(table, batch))? {
                was_interfered = true;
                return Err(crate::Error::Unavailable(format!("{place} is written to by somebody else")));
            }
            *to_note = next;
            rows += batch.len() as u64;
            batch.clear();
            tell(Progress { stage: Stage::Copying, table: table.name, rows, of });
            Ok(())
        };
        let copied = from.each(table, after, &mut |row| {
            bytes += table::weight(&row);
            batch.push(row);
            if batch.len() >= batch_rows || bytes >= BATCH_BYTES {
                write(&mut batch)?;
                bytes = 0;
            }
            Ok(())
        });
        let copied = copied.and_then(|()| write(&mut batch));
        match copied {
            Err(_) if was_interfered => Err(Error::Interfered(self.to.place())),
            copied => Ok(copied?),
        }
    }

    /// Reads both from end to end, and says what it found in each table, if both hold the same.
    pub fn verify(&mut self, tell: Tell<'_>) -> Result<Vec<(&'static str, Sum)>, Error> {
        let mut sums = Vec::new();
        for (table, of) in self.tables.clone() {
            let from = sum(&mut *self.from, table, 2 * of, 0, tell)?;
            let to = sum(&mut *self.to, table, 2 * of, from.rows, tell)?;
            if from != to {
                let (from_place, to_place) = (self.from.place(), self.to.place());
                let difference = Difference { table: table.name, from_place, from, to_place, to };
                return Err(Error::Differs(Box::new(difference)));
            }
            sums.push((table.name, to));
        }
        let counts = |end: &mut dyn End| -> Result<Vec<(RunStatus, u64)>, Error> {
            let mut counts = end.counts(None)?;
            counts.retain(|(_, count)| *count > 0);
            counts.sort_by_key(|(status, _)| code::run_status(*status));
            Ok(counts)
        };
        let settled = self.to.write(Some(&self.to_note), Some(&self.to_note), &Work::Settle)?;
        interfered(&self.to.place(), settled)?;
        if counts(&mut *self.from)? != counts(&mut *self.to)? {
            return Err(Error::Miscounted { from: self.from.place(), to: self.to.place() });
        }
        Ok(sums)
    }

    /// The new store, to write what follows from its runs and not from the tables of the old one. By its clock.
    pub fn target(&mut self) -> Result<(&mut dyn Store, Timestamp), Error> {
        let now = self.to.now()?;
        Ok((&mut *self.to, now))
    }

    /// From here on the new store can be worked with, and the old one says where that is.
    pub fn finish(mut self, now: Timestamp) -> Result<(), Error> {
        for end in [&mut self.from, &mut self.to] {
            check_rests(&mut **end)?;
        }
        let note = match Note::read(Some(&self.from_note))? {
            Some(Note::Source { id, to, begun_at, ended_at }) => {
                Note::Source { id, to, begun_at, ended_at: ended_at.or(Some(now)) }
            }
            Some(Note::Target { .. }) | None => return Err(Error::Interfered(self.from.place())),
        };
        let noted = self.from.write(Some(&self.from_note), Some(&note.written()), &Work::Nothing)?;
        interfered(&self.from.place(), noted)?;
        let opened = self.to.write(Some(&self.to_note), None, &Work::Nothing)?;
        interfered(&self.to.place(), opened)
    }
}

fn count(end: &mut dyn End) -> Result<Vec<(&'static Table, u64)>, Error> {
    let mut tables = Vec::new();
    for table in &TABLES {
        tables.push((table, end.count(table)?));
    }
    Ok(tables)
}

fn moved_on(note: &[u8], table: &Table, key: Row) -> Result<Vec<u8>, crate::Error> {
    let unknown = || crate::Error::Corrupt(format!("{}: a row without a key", table.name));
    match Note::read(Some(note))? {
        Some(Note::Target { id, from, begun_at, .. }) => {
            let reached = Some(Reached::new(table.name, key).ok_or_else(unknown)?);
            Ok(Note::Target { id, from, begun_at, reached }.written())
        }
        Some(Note::Source { .. }) | None => Err(unknown()),
    }
}

fn sum(end: &mut dyn End, table: &'static Table, of: u64, before: u64, tell: Tell<'_>) -> Result<Sum, Error> {
    let mut sum = Sum::default();
    let told = |rows| Progress { stage: Stage::Verifying, table: table.name, rows, of };
    end.each(table, None, &mut |row| {
        sum.add(&row);
        if sum.rows % TELL_ROWS == 0 {
            tell(told(before + sum.rows));
        }
        Ok(())
    })?;
    tell(told(before + sum.rows));
    Ok(sum)
}

fn interfered(place: &str, written: bool) -> Result<(), Error> {
    if written { Ok(()) } else { Err(Error::Interfered(place.to_owned())) }
}
