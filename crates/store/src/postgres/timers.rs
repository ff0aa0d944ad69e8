//! What is due.

use abide_core::id::RunId;
use abide_core::run::Timer;
use jiff::Timestamp;

use crate::code::WAIT_PENDING;
use crate::postgres::Handle;
use crate::postgres::column::{self, Id};
use crate::roles::Timers;
use crate::row::RowReader;
use crate::{Error, StoredTimer};

impl<Role: Send> Timers for Handle<Role> {
    /// Three ordered lists, of waits, of runs and of limits, merged.
    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        let (at, run, number, seen) = after.map_or((i64::MIN, Id(0), -1, false), |after| {
            let number = match after.timer {
                Timer::Waitpoint(number) => i64::from(number),
                Timer::Attempt { .. } | Timer::Run => i64::MAX,
            };
            (column::instant(after.at), column::run(after.run), number, after.timer == Timer::Run)
        });
        let sql = format!("(SELECT resume_at, run, number FROM waitpoints
            WHERE status = {WAIT_PENDING} AND resume_at <= $5 AND (resume_at, run, number) > ($1, $2, $3)
            ORDER BY resume_at, run, number LIMIT $6)
        UNION ALL
        (SELECT deadline_at, id, NULL::bigint FROM runs
            WHERE deadline_at <= $5 AND (deadline_at, id) >= ($1, $2) AND NOT ($4 AND id = $2 AND deadline_at = $1)
            ORDER BY deadline_at, id LIMIT $6)
        UNION ALL
        (SELECT due_at, id, 0::bigint FROM limits
            WHERE due_at <= $5 AND (due_at, id) > ($1, $2) ORDER BY due_at, id LIMIT $6)");
        let (until, most) = (column::instant(until), column::limit(limit));
        let rows = self
            .connection
            .ask(async |session| session.rows(&sql, &[&at, &run, &number, &seen, &until, &most]).await)?;
        let mut due = Vec::with_capacity(rows.len());
        for row in rows {
            let timer = row.optional_number(2)?.map_or(Timer::Run, Timer::Waitpoint);
            due.push(StoredTimer { at: row.instant(0)?, run: RunId(row.id(1)?), timer });
        }
        // Sorted lists one after the other: the sort finds them and only merges.
        due.sort();
        due.truncate(limit);
        Ok(due)
    }
}
