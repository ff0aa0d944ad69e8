//! What is written to several tables in one statement, for a statement costs as much as many rows. The parts of one
//! statement have no order but what one takes from another: so the rows of runs are counted, and all else that could be in
//! another's way asks whether they were all written.

use crate::postgres::column;
use crate::postgres::connection::{Step, Value, values};
use crate::postgres::refusal::Refusal;

/// One statement of many parts, each a `WITH`.
#[derive(Default)]
pub(super) struct BatchStatement<'a> {
    sql: String,
    values: Vec<Value<'a>>,
    /// The condition that holds if all rows that were expected so far were written.
    all_rows_written: Option<String>,
}

/// What a part writes for that condition.
const ALL_ROWS_WRITTEN: &str = "ALL_ROWS_WRITTEN";

impl<'a> BatchStatement<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.sql.is_empty()
    }

    /// Adds a part. Its values are counted on from those before. `ALL_ROWS_WRITTEN` in it stands for whether what was
    /// expected before it was written.
    pub(super) fn add(&mut self, name: &str, sql: &str, values: Vec<Value<'a>>) {
        self.sql.push_str(if self.sql.is_empty() { "WITH " } else { ", " });
        self.sql.push_str(name);
        self.sql.push_str(" AS (");
        let sql = sql.replace(ALL_ROWS_WRITTEN, self.all_rows_written());
        let mut parts = sql.split('$');
        self.sql.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let digits = part.find(|char: char| !char.is_ascii_digit()).unwrap_or(part.len());
            let (number, rest) = part.split_at(digits);
            let number: usize = number.parse().expect("the number of a value");
            self.sql.push_str(&format!("${}{rest}", self.values.len() + number));
        }
        self.sql.push(')');
        self.values.extend(values);
    }

    /// As many rows are written by the part of this name, or nothing that follows is.
    pub(super) fn expect(&mut self, name: &str, count: usize) {
        let sql = format!("SELECT count(*) = $1 AS so FROM {name}");
        self.add(&format!("all_{name}"), &sql, values![column::limit(count)]);
        self.all_rows_written = Some(format!("(SELECT so FROM all_{name})"));
    }

    fn all_rows_written(&self) -> &str {
        self.all_rows_written.as_deref().unwrap_or("true")
    }

    /// The whole statement. It answers with the transaction. If not all that was expected was written, it fails: it may be
    /// all of a transaction, and then nobody else could still undo it.
    pub(super) fn step(mut self) -> Step<'a> {
        let (written, refuse) = (self.all_rows_written(), Refusal::Conflict.sql());
        let end = format!(" SELECT pg_current_xact_id()::text, CASE WHEN {written} THEN 0 ELSE {refuse} END");
        self.sql.push_str(&end);
        Step { sql: self.sql.into(), values: self.values }
    }
}
