//! The histories of runs.

use abide_core::history::Record;
use abide_core::id::RunId;
use abide_core::run::Snapshot;
use rusqlite::{Connection, Transaction, params};

use crate::roles::Histories;
use crate::row::RowReader;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::first;
use crate::{Error, RunUpdate, StoredRun, Update, chunk, snapshots};

impl<Role: Send> Histories for Handle<Role> {
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        let looking = self.connection.unchecked_transaction()?;
        load(&looking, run).map_err(|error| error.of(run))
    }

    fn updates(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Update)>, Error> {
        let mut updates = Vec::new();
        for (run, version) in known {
            let looking = self.connection.unchecked_transaction()?;
            let updated = update(&looking, *run, *version).or_else(|error| match error.is_damage() {
                // What follows from the history may be what is damaged.
                true => load(&looking, *run).map(|whole| whole.map(RunUpdate::Whole)),
                false => Err(error),
            });
            match updated.map_err(|error| error.of(*run)) {
                Ok(update) => updates.extend(update.map(|update| (*run, Ok(update)))),
                Err(error) if error.is_damage() => updates.push((*run, Err(error))),
                Err(error) => return Err(error),
            }
        }
        Ok(updates)
    }

    fn snapshot(&mut self, run: RunId) -> Result<Option<Snapshot>, Error> {
        let found = stored_snapshot(&self.connection, run).and_then(|found| {
            found.map(|(row_version, data)| snapshots::decode(run, row_version.seq, &data)).transpose()
        });
        found.map_err(|error| error.of(run))
    }

    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
        let mut versions = Vec::new();
        for run in runs {
            versions.extend(row_version(&self.connection, *run)?.map(|row_version| (*run, row_version.seq)));
        }
        Ok(versions)
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
        let row_version = row_version(&looking, run).map_err(|error| error.of(run))?;
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
            chunk::decode(run, before, encoded, &mut history).map_err(|error| damaged(&error.to_string()))?;
            if history.last().map(|record| record.seq) != Some(row.number(0)?) {
                return Err(damaged("a chunk has more or fewer records than it should"));
            }
            let found = &history[history.partition_point(|record| record.seq <= after)..];
            if found.len() >= limit || chunk::within(found, bytes) < found.len() {
                is_all = false;
                break;
            }
        }
        let (last, row_version) =
            (history.last().map(|record| record.seq), row_version.map_or(0, |row_version| row_version.seq));
        if is_all && last.unwrap_or(after.min(row_version)) != row_version {
            return Err(damaged(&format!(
                "its row says version {row_version}, and not all of its history is there"
            )));
        }
        history.retain(|record| record.seq > after);
        history.truncate(chunk::within(&history, bytes));
        history.truncate(limit);
        Ok(history)
    }
}

/// Row and history, in a transaction: what is committed between the two would be in one of them.
fn load(looking: &Transaction<'_>, run: RunId) -> Result<Option<StoredRun>, Error> {
    let row_version = row_version(looking, run)?;
    gather(looking, chunk::History::new(run), run, 0)?.finish(row_version)
}

/// What brings a run up to date for one who knows it in this version; `None` if it has that version, or is not there.
fn update(looking: &Transaction<'_>, run: RunId, known: u64) -> Result<Option<RunUpdate>, Error> {
    let Some(row_version) = row_version(looking, run)? else {
        // There may be a history without a row.
        return Ok(load(looking, run)?.map(RunUpdate::Whole));
    };
    if row_version.seq == known {
        return Ok(None);
    }
    if known == 0
        && let Some((of, data)) = stored_snapshot(looking, run)?.filter(|(of, _)| of.seq <= row_version.seq)
    {
        let snapshot = Box::new(snapshots::decode(run, of.seq, &data)?);
        let records = gather(looking, chunk::History::after(run, of.seq, of.sum), run, of.seq)?;
        return Ok(Some(RunUpdate::Snapshot { snapshot, records: records.finish_part(row_version)? }));
    }
    if known == 0 || known > row_version.seq {
        return Ok(load(looking, run)?.map(RunUpdate::Whole));
    }
    let records = gather(looking, chunk::History::after(run, known, None), run, known)?;
    Ok(Some(RunUpdate::Records(records.finish_part(row_version)?)))
}

/// The snapshot of a run that this code can read, and what it says of the history up to there.
fn stored_snapshot(
    connection: &Connection,
    run: RunId,
) -> Result<Option<(chunk::RowVersion, Vec<u8>)>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT seq, sum, data FROM snapshots WHERE run = ? AND format = ?")?;
    first(statement.query(params![column::run(run), Snapshot::FORMAT])?, |row| {
        let row_version = chunk::RowVersion { seq: row.number(0)?, sum: row.optional_number(1)? };
        Ok((row_version, row.bytes(2)?.to_vec()))
    })
}

/// Reads on in a history, after this version.
fn gather(
    looking: &Transaction<'_>,
    mut history: chunk::History,
    run: RunId,
    after: u64,
) -> Result<chunk::History, Error> {
    let mut statement =
        looking.prepare_cached("SELECT seq, chunk FROM history WHERE run = ? AND seq > ? ORDER BY seq")?;
    let mut rows = statement.query(params![column::run(run), column::count(after)])?;
    while let Some(row) = rows.next()? {
        history.push(row.number(0)?, row.bytes(1)?)?;
    }
    Ok(history)
}

/// What the row of a run says of its history.
fn row_version(connection: &Connection, run: RunId) -> Result<Option<chunk::RowVersion>, Error> {
    let mut statement = connection.prepare_cached("SELECT seq, sum FROM runs WHERE id = ?")?;
    let rows = statement.query([column::run(run)])?;
    first(rows, |row| Ok(chunk::RowVersion { seq: row.number(0)?, sum: row.get(1)? }))
}
