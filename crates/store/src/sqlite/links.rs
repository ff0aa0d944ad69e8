//! Which resume links are still valid.

use abide_core::id::WaitpointId;
use rusqlite::params;

use crate::Error;
use crate::roles::{Links, WriteLinks};
use crate::row::RowReader;
use crate::sqlite::column;
use crate::sqlite::query::first;
use crate::sqlite::{Handle, Sqlite};

impl<Role: Send> Links for Handle<Role> {
    fn link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT generation FROM link_generations WHERE run = ? AND number = ?")?;
        let rows = statement.query(params![column::run(waitpoint.run), waitpoint.number])?;
        Ok(first(rows, |row| row.number(0))?.unwrap_or(0))
    }
}

impl WriteLinks for Sqlite {
    fn bump_link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error> {
        self.change(|connection| {
            let mut statement = connection.prepare_cached(
                "INSERT INTO link_generations (run, number, generation)
             SELECT run, number, 1 FROM waitpoints WHERE run = ? AND number = ?
         ON CONFLICT DO UPDATE SET generation = generation + 1 RETURNING generation",
            )?;
            let rows = statement.query(params![column::run(waitpoint.run), waitpoint.number])?;
            Ok(first(rows, |row| row.number(0))?.unwrap_or(0))
        })
    }
}
