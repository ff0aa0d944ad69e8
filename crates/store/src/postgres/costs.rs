//! What calls to models used up: one row for each day, workflow and model, so that a summary costs what it shows.

use std::collections::BTreeMap;

use abide_core::history::Change;
use abide_core::id::WorkspaceId;
use abide_core::spent::Spent;
use jiff::civil::Date;

use crate::costs::COSTS;
use crate::postgres::Handle;
use crate::postgres::column::{self};
use crate::postgres::connection::{Value, values};
use crate::roles::Costs;
use crate::{CostRow, Error, RunWrite, code};

impl<Role: Send> Costs for Handle<Role> {
    fn costs(&mut self, workspace: WorkspaceId, from: Date, until: Date) -> Result<Vec<CostRow>, Error> {
        let sql =
            format!("{COSTS} WHERE workspace = $1 AND day BETWEEN $2 AND $3 ORDER BY day, definition, model");
        let (workspace, from, until) = (column::workspace(workspace), code::day(from), code::day(until));
        let rows =
            self.connection.ask(async |session| session.rows(&sql, &[&workspace, &from, &until]).await)?;
        rows.iter().map(|row| CostRow::read(row, row.try_get(0)?)).collect()
    }
}

/// By workspace, day, workflow and model, so that all who add to them do it in one order.
pub(super) struct NewCosts(BTreeMap<(i64, i32, String, String), Spent>);

impl NewCosts {
    /// The calls that are recorded with these writes.
    pub(super) fn of(runs: &[&RunWrite<'_>]) -> NewCosts {
        let mut costs: BTreeMap<_, Spent> = BTreeMap::new();
        for write in runs {
            for record in write.records {
                let Change::LlmCallCompleted { at: _, call } = &record.change else { continue };
                let day = code::day(code::day_of(record.at));
                let definition = column::name(&write.run.definition_ref.name).into_owned();
                let model = column::name(&call.model).into_owned();
                let key = (column::workspace(write.run.workspace), day, definition, model);
                costs.entry(key).or_default().add(call);
            }
        }
        NewCosts(costs)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) const ADD: &'static str =
        "INSERT INTO costs (workspace, day, definition, model, calls, input_tokens,
             cached_input_tokens, output_tokens, cost_micros, unpriced_calls)
         SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
             $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
         ON CONFLICT (workspace, day, definition, model) DO UPDATE SET calls = costs.calls + excluded.calls,
             input_tokens = costs.input_tokens + excluded.input_tokens,
             cached_input_tokens = costs.cached_input_tokens + excluded.cached_input_tokens,
             output_tokens = costs.output_tokens + excluded.output_tokens,
             cost_micros = costs.cost_micros + excluded.cost_micros,
             unpriced_calls = costs.unpriced_calls + excluded.unpriced_calls";

    pub(super) fn values<'v>(self) -> Vec<Value<'v>> {
        let column = |count: fn(&Spent) -> u64| -> Vec<i64> {
            self.0.values().map(|spent| column::count(count(spent))).collect()
        };
        values![
            self.0.keys().map(|(workspace, ..)| *workspace).collect::<Vec<_>>(),
            self.0.keys().map(|(_, day, ..)| *day).collect::<Vec<_>>(),
            self.0.keys().map(|(_, _, definition, _)| definition.clone()).collect::<Vec<_>>(),
            self.0.keys().map(|(.., model)| model.clone()).collect::<Vec<_>>(),
            column(|spent| spent.calls),
            column(|spent| spent.input_tokens),
            column(|spent| spent.cached_input_tokens),
            column(|spent| spent.output_tokens),
            column(|spent| spent.cost_micros),
            column(|spent| spent.unpriced_calls),
        ]
    }
}
