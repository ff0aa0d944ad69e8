//! The schema's versions: numbered files, forward only. The file says its version in `user_version`.

use rusqlite::{Connection, TransactionBehavior};

/// In order; the first is version 1. A file that was released is never changed.
const MIGRATIONS: [&str; 8] = [
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_costs.sql"),
    include_str!("migrations/0003_run_counts.sql"),
    include_str!("migrations/0004_webhooks.sql"),
    include_str!("migrations/0005_schedules.sql"),
    include_str!("migrations/0006_audit.sql"),
    include_str!("migrations/0007_follow_ups.sql"),
    include_str!("migrations/0008_kept.sql"),
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
        transaction.pragma_update(None, "application_id", application_id)?;
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
    Ok(())
}
