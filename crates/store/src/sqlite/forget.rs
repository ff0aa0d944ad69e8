//! Retention: what is old enough is removed, a little at a time.

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::Error;
use crate::sqlite::column;
use crate::sqlite::find::collect;

pub(super) fn events(connection: &mut Connection, before: Timestamp, limit: usize) -> Result<usize, Error> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM occurrences WHERE number IN
             (SELECT number FROM occurrences WHERE received_at < ?1 ORDER BY received_at LIMIT ?2)",
    )?;
    Ok(statement.execute(params![column::instant(before), column::limit(limit)])?)
}

pub(super) fn runs(connection: &mut Connection, before: Timestamp, limit: usize) -> Result<usize, Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let ended: Vec<column::Id> = {
        let mut statement = transaction
            .prepare_cached("SELECT id FROM runs WHERE ended_at < ?1 ORDER BY ended_at, id LIMIT ?2")?;
        let rows = statement.query(params![column::instant(before), column::limit(limit)])?;
        collect(rows, |row| Ok(row.get(0)?))?
    };
    for id in &ended {
        for removal in [
            "DELETE FROM history WHERE run = ?",
            "DELETE FROM waitpoints WHERE run = ?",
            "DELETE FROM run_tags WHERE run = ?1
                 AND tag IN (SELECT value FROM runs, json_each(runs.tags) WHERE runs.id = ?1)",
            "DELETE FROM runs WHERE id = ?",
        ] {
            transaction.prepare_cached(removal)?.execute([id])?;
        }
    }
    transaction.commit()?;
    Ok(ended.len())
}
