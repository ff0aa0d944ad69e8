//! What is in a store, looked at without changing anything in it: for whoever wants to know what a move would do.

use std::path::Path;

use super::plan::{Plan, check_empty, plan, rests};
use super::{AtWork, Error, Look, Note};
#[cfg(feature = "postgres")]
use crate::postgres;
use crate::sqlite;
use crate::table::{MOVE, TABLES};

#[derive(Clone, Debug)]
pub struct Contents {
    pub place: String,
    /// There is a store, with something in it or nothing.
    pub is_there: bool,
    /// Tables and how many rows they have.
    pub tables: Vec<(&'static str, u64)>,
    at_work: AtWork,
    note: Option<Note>,
}

impl Contents {
    pub fn of_file(path: impl AsRef<Path>) -> Result<Contents, Error> {
        match sqlite::look(path.as_ref())? {
            Some((_lock, mut reader)) => Contents::of(&mut reader),
            None => Ok(Contents::nothing(sqlite::shown(path.as_ref()))),
        }
    }

    #[cfg(feature = "postgres")]
    pub fn of_database(address: &str) -> Result<Contents, Error> {
        match postgres::look(address)? {
            Some(mut reader) => Contents::of(&mut reader),
            None => Ok(Contents::nothing(postgres::shown(address))),
        }
    }

    fn nothing(place: String) -> Contents {
        Contents { place, is_there: false, tables: Vec::new(), at_work: AtWork::default(), note: None }
    }

    fn of(store: &mut dyn Look) -> Result<Contents, Error> {
        let mut tables = Vec::new();
        for table in &TABLES {
            tables.push((table.name, store.count(table)?));
        }
        let note = Note::read(store.setting(MOVE)?.as_deref())?;
        Ok(Contents { place: store.place(), is_there: true, tables, at_work: store.at_work()?, note })
    }

    /// How many rows there are in all.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|(_, rows)| rows).sum()
    }

    /// Refuses a move that is not possible; otherwise, whether a move between the two stores goes on.
    pub fn check(&self, target: &Contents) -> Result<bool, Error> {
        if !self.is_there {
            return Err(Error::Nothing(self.place.clone()));
        }
        for Contents { place, at_work, .. } in [self, target] {
            rests(place, *at_work)?;
        }
        match plan(self.note.as_ref(), target.note.as_ref(), &self.place, &target.place)? {
            Plan::GoOn => Ok(true),
            Plan::Begin(_) => {
                check_empty(&target.place, &target.tables, target.at_work.tasks).map(|()| false)
            }
        }
    }
}
