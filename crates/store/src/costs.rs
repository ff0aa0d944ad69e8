//! Costs: what calls to models used up.

use abide_core::id::WorkspaceId;
use abide_core::spent::Spent;
use jiff::civil::Date;

use crate::row::RowReader;
use crate::{Error, code};

/// Sums up what models cost.
pub trait Costs: Send {
    /// What calls to models used up in a workspace, on these days of UTC, both included: by day, workflow and model.
    fn costs(&mut self, workspace: WorkspaceId, from: Date, until: Date) -> Result<Vec<CostRow>, Error>;
}

/// What the runs of one workflow used up on one day, with one model. Written with the calls, and kept when their runs
/// are forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostRow {
    pub day: Date,
    pub definition: String,
    pub model: String,
    pub spent: Spent,
}

/// What is read of costs, by [`CostRow::read`].
pub(crate) const COSTS: &str =
    "SELECT day, definition, model, calls, input_tokens, cached_input_tokens, output_tokens,
    cost_micros, unpriced_calls FROM costs";

impl CostRow {
    pub(crate) fn read(row: &impl RowReader, day: i32) -> Result<CostRow, Error> {
        let spent = Spent {
            calls: row.number(3)?,
            input_tokens: row.number(4)?,
            cached_input_tokens: row.number(5)?,
            output_tokens: row.number(6)?,
            cost_micros: row.number(7)?,
            unpriced_calls: row.number(8)?,
        };
        Ok(CostRow { day: code::read_day(day)?, definition: row.name(1)?, model: row.name(2)?, spent })
    }
}
