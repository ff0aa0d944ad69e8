//! What calls to models used up: one row for each day, workflow and model, so that a summary costs what it shows.

use abide_core::history::Change;
use abide_core::id::WorkspaceId;
use abide_core::spent::Spent;
use jiff::civil::Date;
use rusqlite::{Transaction, params};

use crate::costs::COSTS;
use crate::roles::Costs;
use crate::sqlite::Handle;
use crate::sqlite::query::collect;
use crate::{CostRow, Error, RunWrite, code};

impl<Role: Send> Costs for Handle<Role> {
    fn costs(&mut self, workspace: WorkspaceId, from: Date, until: Date) -> Result<Vec<CostRow>, Error> {
        let sql =
            format!("{COSTS} WHERE workspace = ? AND day BETWEEN ? AND ? ORDER BY day, definition, model");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query(params![workspace.0, code::day(from), code::day(until)])?;
        collect(rows, |row| CostRow::read(row, row.get(0)?))
    }
}

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

/// A sum that the file can hold: money and tokens are far below it.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
