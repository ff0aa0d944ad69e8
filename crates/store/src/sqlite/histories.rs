//! The histories of runs.

use abide_core::history::Record;
use abide_core::id::RunId;
use rusqlite::{Connection, params};

use crate::roles::Histories;
use crate::row::RowReader;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::first;
use crate::{Error, StoredRun, chunk};

impl<Role: Send> Histories for Handle<Role> {
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        load_compared(&self.connection, run).map_err(|error| error.of(run))
    }

    fn records_after(
        &mut self,
        run: RunId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Record>, Error> {
        let damaged = |what: &str| Error::Damaged { owner: run, what: what.to_owned() };
        let looking = self.connection.unchecked_transaction()?;
        let told = told(&looking, run).map_err(|error| error.of(run))?;
        // Record `after` may lie within a chunk: what comes before that chunk is where its numbers begin.
        let mut statement = looking.prepare_cached(
            "SELECT seq, chunk, (SELECT max(seq) FROM history WHERE run = ?1 AND seq <= ?2)
         FROM history WHERE run = ?1 AND seq > ?2 ORDER BY seq",
        )?;
        let after_stored = i64::try_from(after).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![column::run(run), after_stored])?;
        let mut history: Vec<Record> = Vec::new();
        let mut is_all = true;
        while let Some(row) = rows.next().map_err(|error| Error::from(error).of(run))? {
            let before = row.get::<_, Option<i64>>(2)?.map_or(0, i64::cast_unsigned);
            let encoded = row.get_ref(1)?.as_blob().map_err(|error| damaged(&error.to_string()))?;
            chunk::decode_after(run, before, encoded, &mut history)
                .map_err(|error| damaged(&error.to_string()))?;
            if history.last().map(|record| record.seq) != Some(row.number(0)?) {
                return Err(damaged("a chunk has more or fewer records than it should"));
            }
            let found = &history[history.partition_point(|record| record.seq <= after)..];
            if found.len() >= limit || chunk::within(found, bytes) < found.len() {
                is_all = false;
                break;
            }
        }
        let (last, told) = (history.last().map(|record| record.seq), told.map_or(0, |told| told.seq));
        if is_all && last.unwrap_or(after.min(told)) != told {
            return Err(damaged(&format!(
                "its row says version {told}, and not all of its history is there"
            )));
        }
        history.retain(|record| record.seq > after);
        history.truncate(chunk::within(&history, bytes));
        history.truncate(limit);
        Ok(history)
    }
}

fn load_compared(connection: &Connection, run: RunId) -> Result<Option<StoredRun>, Error> {
    // What is committed between the two would be in one of them.
    let looking = connection.unchecked_transaction()?;
    let told = told(&looking, run)?;
    let mut statement =
        looking.prepare_cached("SELECT seq, chunk FROM history WHERE run = ? ORDER BY seq")?;
    let mut rows = statement.query([column::run(run)])?;
    let mut history = chunk::History::new(run);
    while let Some(row) = rows.next()? {
        let encoded = row.get_ref(1)?.as_blob();
        let encoded = encoded.map_err(|error| Error::Corrupt(error.to_string()))?;
        history.push(row.number(0)?, encoded)?;
    }
    history.finish(told)
}

/// What the row of a run says of its history.
fn told(connection: &Connection, run: RunId) -> Result<Option<chunk::Told>, Error> {
    let mut statement = connection.prepare_cached("SELECT seq, sum FROM runs WHERE id = ?")?;
    let rows = statement.query([column::run(run)])?;
    first(rows, |row| Ok(chunk::Told { seq: row.number(0)?, sum: row.get(1)? }))
}
