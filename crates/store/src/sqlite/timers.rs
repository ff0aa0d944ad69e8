//! What is due.

use abide_core::id::RunId;
use abide_core::run::Timer;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::code::WAIT_PENDING;
use crate::roles::Timers;
use crate::row::RowReader;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::collect;
use crate::timers::LIMIT_TIMER;
use crate::{Error, StoredTimer};

impl<Role: Send> Timers for Handle<Role> {
    /// Three ordered lists, of waits, of runs and of limits, merged.
    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        let mut due = due_waits(&self.connection, after, until, limit)?;
        due.append(&mut due_runs(&self.connection, after, until, limit)?);
        due.append(&mut due_limits(&self.connection, after, until, limit)?);
        // Sorted lists one after the other: the sort finds them and only merges.
        due.sort();
        due.truncate(limit);
        Ok(due)
    }
}

fn due_waits(
    connection: &Connection,
    after: Option<&StoredTimer>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<StoredTimer>, Error> {
    let (at, run, number) = after.map_or((i64::MIN, [0; 16], -1), |after| {
        let number = match after.timer {
            Timer::Waitpoint(number) => i64::from(number),
            Timer::Attempt { .. } | Timer::Run => i64::MAX,
        };
        (column::instant(after.at), column::run(after.run), number)
    });
    let mut statement = connection.prepare_cached(&format!(
        "SELECT resume_at, run, number FROM waitpoints
         WHERE status = {WAIT_PENDING} AND resume_at <= ?4 AND (resume_at, run, number) > (?1, ?2, ?3)
         ORDER BY resume_at, run, number LIMIT ?5",
    ))?;
    let rows = statement.query(params![at, run, number, column::instant(until), column::limit(limit)])?;
    collect(rows, |row| {
        let (at, run) = (row.instant(0)?, RunId(row.id(1)?));
        Ok(StoredTimer { at, run, timer: Timer::Waitpoint(row.number(2)?) })
    })
}

fn due_runs(
    connection: &Connection,
    after: Option<&StoredTimer>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<StoredTimer>, Error> {
    let (at, run, seen) = after.map_or((i64::MIN, [0; 16], false), |after| {
        (column::instant(after.at), column::run(after.run), after.timer == Timer::Run)
    });
    let mut statement = connection.prepare_cached(
        "SELECT deadline_at, id FROM runs
         WHERE deadline_at <= ?4 AND (deadline_at, id) >= (?1, ?2) AND NOT (?3 AND id = ?2 AND deadline_at = ?1)
         ORDER BY deadline_at, id LIMIT ?5",
    )?;
    let rows = statement.query(params![at, run, seen, column::instant(until), column::limit(limit)])?;
    collect(rows, |row| Ok(StoredTimer { at: row.instant(0)?, run: RunId(row.id(1)?), timer: Timer::Run }))
}

fn due_limits(
    connection: &Connection,
    after: Option<&StoredTimer>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<StoredTimer>, Error> {
    let (at, id) =
        after.map_or((i64::MIN, [0; 16]), |after| (column::instant(after.at), column::run(after.run)));
    let mut statement = connection.prepare_cached(
        "SELECT due_at, id FROM limits WHERE due_at <= ?3 AND (due_at, id) > (?1, ?2)
         ORDER BY due_at, id LIMIT ?4",
    )?;
    let rows = statement.query(params![at, id, column::instant(until), column::limit(limit)])?;
    collect(rows, |row| Ok(StoredTimer { at: row.instant(0)?, run: RunId(row.id(1)?), timer: LIMIT_TIMER }))
}
