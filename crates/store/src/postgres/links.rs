//! Which resume links are still valid.

use abide_core::id::WaitpointId;

use crate::Error;
use crate::postgres::column::{self};
use crate::postgres::{Handle, Postgres};
use crate::roles::{Links, WriteLinks};
use crate::row::RowReader;

impl<Role: Send> Links for Handle<Role> {
    fn link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error> {
        let sql = "SELECT generation FROM link_generations WHERE run = $1 AND number = $2";
        let (run, number) = (column::run(waitpoint.run), i64::from(waitpoint.number));
        let found = self.connection.ask(async |session| session.first(sql, &[&run, &number]).await)?;
        found.map_or(Ok(0), |row| row.number(0))
    }
}

impl WriteLinks for Postgres {
    fn bump_link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error> {
        let sql = "INSERT INTO link_generations (run, number, generation)
            SELECT run, number, 1 FROM waitpoints WHERE run = $1 AND number = $2
        ON CONFLICT (run, number) DO UPDATE SET generation = link_generations.generation + 1
        RETURNING generation";
        let (run, number) = (column::run(waitpoint.run), i64::from(waitpoint.number));
        let found = self.connection.ask(async |session| session.first(sql, &[&run, &number]).await)?;
        found.map_or(Ok(0), |row| row.number(0))
    }
}
