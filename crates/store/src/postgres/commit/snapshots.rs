//! Snapshots that are written with a commit.

use abide_core::run::Snapshot;
use tokio_postgres::types::ToSql;

use super::plan::Plan;
use crate::postgres::column::{self, Id};
use crate::postgres::connection::{PgConnection, values};
use crate::row::RowReader;
use crate::snapshots::{self, LastSnapshot};
use crate::{Batch, Error, RunWrite};

/// The runs of a batch of which a snapshot is to be written. Few batches ask the database for it.
pub(super) fn due<'b, 'a>(
    connection: &mut PgConnection,
    batch: &'b Batch<'a>,
) -> Result<Vec<&'b RunWrite<'a>>, Error> {
    let mut due: Vec<&RunWrite<'a>> =
        batch.runs.iter().filter(|write| snapshots::may_be_due(write)).collect();
    if due.is_empty() {
        return Ok(due);
    }
    let sql = "SELECT known.run, last.seq, last.bytes FROM unnest($1::uuid[]) AS known (run)
        CROSS JOIN LATERAL (SELECT seq, octet_length(data)::bigint AS bytes FROM snapshots
            WHERE snapshots.run = known.run AND format = $2 OFFSET 0) AS last";
    let ids: Vec<Id> = due.iter().map(|write| column::run(write.run.id)).collect();
    let values: [&(dyn ToSql + Sync); 2] = [&ids, &Snapshot::FORMAT];
    for row in connection.ask(async |session| session.rows(sql, &values).await)? {
        let (run, last) = (row.run(0)?, LastSnapshot { seq: row.number(1)?, bytes: row.number(2)? });
        due.retain(|write| write.run.id != run || snapshots::is_due(write.run.seq, Some(last)));
    }
    Ok(due)
}

impl<'a> Plan<'a> {
    /// Each with the sum that its run's row has from this commit on. `updated` are the parts that write the rows.
    pub(super) fn write_snapshots(&mut self, due: &[&RunWrite<'a>], updated: &[&str]) {
        if due.is_empty() || updated.is_empty() {
            return;
        }
        let rows: Vec<String> = updated.iter().map(|part| format!("SELECT id, sum FROM {part}")).collect();
        self.rows.add(
            "snapshotted",
            &format!(
                "INSERT INTO snapshots (run, seq, sum, format, data)
                 SELECT new.run, new.seq, written.sum, $4, new.data
                 FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS new (run, seq, data)
                     JOIN ({}) AS written ON written.id = new.run
                 WHERE ALL_ROWS_WRITTEN
                 ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, sum = excluded.sum, format = excluded.format,
                     data = excluded.data",
                rows.join(" UNION ALL ")
            ),
            values![
                due.iter().map(|write| column::run(write.run.id)).collect::<Vec<_>>(),
                due.iter().map(|write| column::count(write.run.seq)).collect::<Vec<_>>(),
                due.iter().map(|write| snapshots::encode(write.run)).collect::<Vec<_>>(),
                Snapshot::FORMAT,
            ],
        );
    }
}
