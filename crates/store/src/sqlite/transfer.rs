//! A file as an end of a move, and its tables as rows of values.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params, params_from_iter};

use crate::Error;
use crate::row::RowReader;
use crate::sqlite::lock::Lock;
use crate::sqlite::open::Opening;
use crate::sqlite::{Handle, Reader, Reading, Sqlite, admin, migrations, open};
use crate::table::{MOVE, Row, Table};
use crate::transfer::{self, AtWork, End, Look, Work};

/// A file keeps count of its runs, and of what they take.
const COUNT_RUNS: &str = "DELETE FROM run_counts;
    INSERT INTO run_counts (workspace, status, count)
        SELECT workspace, status, count(*) FROM runs GROUP BY workspace, status;
    DELETE FROM stored_bytes;
    INSERT INTO stored_bytes (workspace, bytes)
        SELECT workspace, sum(bytes) FROM (
            SELECT runs.workspace, length(history.chunk) AS bytes FROM history JOIN runs ON runs.id = history.run
            UNION ALL
            SELECT workspace, length(CAST(data AS BLOB)) FROM events
        ) GROUP BY workspace";

/// What follows from the tables.
fn follow(transaction: &Transaction<'_>) -> Result<(), Error> {
    transaction.execute_batch(COUNT_RUNS)?;
    Ok(migrations::add_up(transaction)?)
}

/// In a file, a chunk of history does not say what it follows: it is the one before it.
const BASED_ON: &str = "based_on";
const BEFORE: &str = "coalesce((SELECT max(before.seq) FROM history AS before
    WHERE before.run = history.run AND before.seq < history.seq), 0)";
const HISTORY_KEY: [&str; 2] = ["run", "seq"];

impl Sqlite {
    /// Whatever it says of moves.
    pub(crate) fn open_to_move(path: impl AsRef<Path>, make: bool) -> Result<Sqlite, transfer::Error> {
        let path = open::resolve(path.as_ref());
        if !make && !path.exists() {
            return Err(transfer::Error::Nothing(shown(&path)));
        }
        Ok(Sqlite::of_file(path, Opening::default())?)
    }
}

/// A file to look at, if there is one, which nobody else can have meanwhile.
pub(crate) fn look(path: &Path) -> Result<Option<(Lock, Reader)>, Error> {
    let path = open::resolve(path);
    if !path.exists() {
        return Ok(None);
    }
    let lock = Lock::take(&path)?;
    Ok(Some((lock, Handle { connection: open::beside(&path)?, role: Reading })))
}

/// As it may be shown.
pub(crate) fn shown(path: &Path) -> String {
    format!("sqlite:{}", open::resolve(path).display())
}

impl<Role: Send> Look for Handle<Role> {
    fn place(&self) -> String {
        format!("sqlite:{}", self.connection.path().unwrap_or_default())
    }

    fn count(&mut self, table: &Table) -> Result<u64, Error> {
        let there = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)";
        let is_there: bool = self.connection.query_row(there, [table.name], |row| row.get(0))?;
        if !is_there {
            // The file is of an earlier version.
            return Ok(0);
        }
        let sql = format!("SELECT count(*) FROM {}{}", table.name, only(table, "WHERE"));
        self.connection.query_row(&sql, [], |row| Ok(row.number(0)))?
    }

    fn key(&self, table: &'static Table) -> &'static [&'static str] {
        key(table)
    }

    fn each(
        &mut self,
        table: &'static Table,
        after: Option<&Row>,
        take: &mut dyn FnMut(Row) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut statement = self.connection.prepare(&select(table, after.is_some()))?;
        let mut rows = statement.query(params_from_iter(after.into_iter().flatten()))?;
        while let Some(row) = rows.next()? {
            let values = (0..table.columns.len()).map(|index| row.get::<_, Value>(index));
            take(values.collect::<Result<_, _>>()?)?;
        }
        Ok(())
    }

    /// Whoever has it open has it alone.
    fn at_work(&mut self) -> Result<AtWork, Error> {
        Ok(AtWork::default())
    }
}

impl End for Sqlite {
    fn write(&mut self, was: Option<&[u8]>, becomes: Option<&[u8]>, work: &Work<'_>) -> Result<bool, Error> {
        self.change(|transaction| {
            if admin::setting(transaction, MOVE)?.as_deref() != was {
                return Ok(false);
            }
            match work {
                Work::Nothing => {}
                Work::Clear => transaction.execute_batch("DELETE FROM workspaces")?,
                Work::Insert(table, rows) => insert(transaction, table, *rows)?,
                Work::Settle => follow(transaction)?,
            }
            match becomes {
                Some(note) => admin::put_setting(transaction, MOVE, note)?,
                None => drop(transaction.execute("DELETE FROM settings WHERE name = ?", params![MOVE])?),
            }
            Ok(true)
        })
    }

    fn now(&mut self) -> Result<Timestamp, Error> {
        Ok(Timestamp::now())
    }
}

/// Appends rows to a table of a file, as many as there are.
pub(crate) fn insert<'r>(
    connection: &Connection,
    table: &Table,
    rows: impl IntoIterator<Item = &'r Row>,
) -> Result<(), Error> {
    let own: Vec<&str> = table.columns.iter().copied().filter(|column| is_stored(column)).collect();
    let places = vec!["?"; own.len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, own.join(", "));
    let mut insert = connection.prepare_cached(&sql)?;
    for row in rows {
        let values = row.iter().zip(table.columns).filter(|(_, column)| is_stored(column));
        insert.execute(params_from_iter(values.map(|(value, _)| value)))?;
    }
    Ok(())
}

/// What follows from the tables of a file that was filled.
#[cfg(feature = "postgres")]
pub(crate) fn settle(connection: &Connection) -> Result<(), Error> {
    let transaction = connection.unchecked_transaction()?;
    follow(&transaction)?;
    Ok(transaction.commit()?)
}

fn is_stored(column: &str) -> bool {
    column != BASED_ON
}

fn key(table: &'static Table) -> &'static [&'static str] {
    match table.key.iter().all(|column| is_stored(column)) {
        true => table.key,
        false => &HISTORY_KEY,
    }
}

fn select(table: &'static Table, from_a_key: bool) -> String {
    let expressions: Vec<&str> =
        table.columns.iter().map(|column| if is_stored(column) { *column } else { BEFORE }).collect();
    let (columns, key) = (expressions.join(", "), key(table).join(", "));
    let after = match from_a_key {
        true => {
            let places = vec!["?"; self::key(table).len()].join(", ");
            format!(" WHERE ({key}) > ({places}){}", only(table, "AND"))
        }
        false => only(table, "WHERE"),
    };
    format!("SELECT {columns} FROM {}{after} ORDER BY {key}", table.name)
}

/// What a store says of moves is no part of them.
fn only(table: &Table, word: &str) -> String {
    if table.name == "settings" { format!(" {word} name <> '{MOVE}'") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TABLES;

    #[test]
    fn every_table_is_read_in_the_order_of_an_index() {
        let store = Sqlite::open_in_memory().unwrap();
        for table in &TABLES {
            for from_a_key in [false, true] {
                let sql = format!("EXPLAIN QUERY PLAN {}", select(table, from_a_key));
                let mut statement = store.connection.prepare(&sql).unwrap();
                let values = vec![Value::Integer(0); if from_a_key { key(table).len() } else { 0 }];
                let plan: Vec<String> = statement
                    .query_map(params_from_iter(values), |row| row.get(3))
                    .unwrap()
                    .collect::<Result<_, _>>()
                    .unwrap();
                let plan = plan.join("; ");
                assert!(!plan.contains("TEMP B-TREE"), "{}: {plan}", table.name);
                assert!(!from_a_key || plan.starts_with("SEARCH"), "{}: {plan}", table.name);
            }
        }
    }
}
