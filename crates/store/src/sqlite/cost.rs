//! What calls to models used up: one row for each day, workflow and model, so that a summary costs what it shows.

use abide_core::history::Change;
use abide_core::id::WorkspaceId;
use abide_core::spent::Spent;
use jiff::civil::Date;
use rusqlite::{Connection, Transaction, params};

use crate::sqlite::find::collect;
use crate::{CostRow, Error, RunWrite, code};

/// Adds the calls that are recorded with this write.
pub(super) fn add(transaction: &Transaction<'_>, write: &RunWrite<'_>) -> Result<(), Error> {
    for record in write.records {
        let Change::LlmCallCompleted { at: _, call } = &record.change else { continue };
        let mut spent = Spent::default();
        spent.add(call);
        transaction
            .prepare_cached(
                "INSERT INTO costs (workspace, day, definition, model, calls, input_tokens, cached_input_tokens,
                     output_tokens, cost_micros, unpriced_calls)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                 ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,
                     input_tokens = input_tokens + excluded.input_tokens,
                     cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
                     output_tokens = output_tokens + excluded.output_tokens,
                     cost_micros = cost_micros + excluded.cost_micros,
                     unpriced_calls = unpriced_calls + excluded.unpriced_calls",
            )?
            .execute(params![
                write.run.workspace.0,
                code::day(code::day_of(record.at)),
                write.run.definition_ref.name,
                call.model,
                signed(spent.calls),
                signed(spent.input_tokens),
                signed(spent.cached_input_tokens),
                signed(spent.output_tokens),
                signed(spent.cost_micros),
                signed(spent.unpriced_calls),
            ])?;
    }
    Ok(())
}

pub(super) fn costs(
    connection: &Connection,
    workspace: WorkspaceId,
    from: Date,
    until: Date,
) -> Result<Vec<CostRow>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT day, definition, model, calls, input_tokens, cached_input_tokens, output_tokens, cost_micros,
             unpriced_calls
         FROM costs WHERE workspace = ? AND day BETWEEN ? AND ? ORDER BY day, definition, model",
    )?;
    collect(statement.query(params![workspace.0, code::day(from), code::day(until)])?, |row| {
        let count = |index: usize| -> Result<u64, Error> {
            let count: i64 = row.get(index)?;
            u64::try_from(count).map_err(|_| Error::Corrupt("a negative count of costs".to_owned()))
        };
        let day = code::read_day(row.get(0)?)?;
        let spent = Spent {
            calls: count(3)?,
            input_tokens: count(4)?,
            cached_input_tokens: count(5)?,
            output_tokens: count(6)?,
            cost_micros: count(7)?,
            unpriced_calls: count(8)?,
        };
        Ok(CostRow { day, definition: row.get(1)?, model: row.get(2)?, spent })
    })
}

/// A sum that the file can hold: money and tokens are far below it.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
