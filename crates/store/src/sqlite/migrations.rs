//! The schema's versions: numbered files, forward only. The file says its version in `user_version`.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::chunk;

/// The version that has sums over histories.
const WITH_SUMS: i64 = 9;

/// In order; the first is version 1. A file that was released is never changed.
const MIGRATIONS: [&str; 15] = [
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_costs.sql"),
    include_str!("migrations/0003_run_counts.sql"),
    include_str!("migrations/0004_webhooks.sql"),
    include_str!("migrations/0005_schedules.sql"),
    include_str!("migrations/0006_audit.sql"),
    include_str!("migrations/0007_follow_ups.sql"),
    include_str!("migrations/0008_kept.sql"),
    include_str!("migrations/0009_checks.sql"),
    include_str!("migrations/0010_stored_bytes.sql"),
    include_str!("migrations/0011_code.sql"),
    include_str!("migrations/0012_snapshots.sql"),
    include_str!("migrations/0013_limits.sql"),
    include_str!("migrations/0014_event_starts.sql"),
    include_str!("migrations/0015_limit_settings.sql"),
];

pub(super) fn latest() -> i64 {
    i64::try_from(MIGRATIONS.len()).expect("few migrations")
}

/// Brings the file from its version to the latest, one transaction a step.
pub(super) fn migrate(connection: &mut Connection, application_id: i32) -> rusqlite::Result<()> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > version) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(migration)?;
        if number == WITH_SUMS {
            add_up(&transaction)?;
        }
        transaction.pragma_update(None, "application_id", application_id)?;
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Writes into the row of each run what its history comes to.
pub(super) fn add_up(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut chunks = transaction.prepare("SELECT run, seq, chunk FROM history ORDER BY run, seq")?;
    let mut update = transaction.prepare("UPDATE runs SET seq = ?2, sum = ?3 WHERE id = ?1")?;
    let mut rows = chunks.query([])?;
    let mut last: Option<(Vec<u8>, i64, u32)> = None;
    while let Some(row) = rows.next()? {
        let (run, seq): (Vec<u8>, i64) = (row.get(0)?, row.get(1)?);
        let chunk = row.get_ref(2)?.as_blob().unwrap_or_default();
        let before = match last.take() {
            Some((same, _, sum)) if same == run => sum,
            Some((other, seq, sum)) => {
                update.execute(params![other, seq, sum])?;
                0
            }
            None => 0,
        };
        last = Some((run, seq, chunk::add_up(before, chunk)));
    }
    if let Some((run, seq, sum)) = last {
        update.execute(params![run, seq, sum])?;
    }
    Ok(())
}
