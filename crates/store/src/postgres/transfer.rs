//! A database as an end of a move, and its tables as rows of values.

use std::error::Error as StdError;
use std::pin::pin;

use abide_core::id::RunId;
use abide_core::waitpoint::Kind;
use bytes::BytesMut;
use futures_util::StreamExt;
use jiff::Timestamp;
use rusqlite::types::Value;
use tokio_postgres::Row as Read;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::postgres::column::{self, Id};
use crate::postgres::connection::Session;
use crate::postgres::{Handle, Postgres, Reader, Reading, Writing, open};
use crate::row::RowReader;
use crate::table::{MOVE, Row, Table};
use crate::transfer::{self, AtWork, End, Look, Work};
use crate::{Error, code};

/// A node that was heard of since counts as being there, even if it is slow.
const HEARD_US: i64 = 10_000_000;

/// What is stored follows from the tables.
const ADD_UP_BYTES: &str = "DELETE FROM stored_bytes;
    INSERT INTO stored_bytes (workspace, bytes)
        SELECT workspace, sum(bytes) FROM (
            SELECT runs.workspace, octet_length(history.chunk)::bigint AS bytes
            FROM history JOIN runs ON runs.id = history.run
            UNION ALL
            SELECT workspace, octet_length(data) FROM events
        ) AS stored GROUP BY workspace";

/// The values of what counts its rows are given, so it goes on after them.
const COUNT_ON: &str = "SELECT setval(pg_get_serial_sequence('abide.definitions', 'number'),
    coalesce(max(number), 1), max(number) IS NOT NULL) FROM definitions";

/// However long the tables are, and whatever others may take at most.
const PATIENT: &str = "SET statement_timeout = 0";

impl Postgres {
    /// Whatever it says of moves.
    pub(crate) fn open_to_move(address: &str, make: bool) -> Result<Postgres, transfer::Error> {
        if !make && open::look(address)?.is_none() {
            return Err(transfer::Error::Nothing(open::shown(address)));
        }
        let mut connection = open::open(address)?;
        connection.ask(async |session| session.run(PATIENT).await)?;
        Ok(Handle { connection, role: Writing::default() })
    }
}

/// A database to look at, if there is a store in it.
pub(crate) fn look(address: &str) -> Result<Option<Reader>, Error> {
    Ok(open::look(address)?.map(|connection| Handle { connection, role: Reading }))
}

impl<Role: Send> Look for Handle<Role> {
    fn place(&self) -> String {
        self.connection.address.to_string()
    }

    fn count(&mut self, table: &Table) -> Result<u64, Error> {
        let sql = format!("SELECT count(*) FROM {}{}", table.name, only(table, "WHERE"));
        self.connection.ask(async |session| session.one(&sql, &[]).await)?.number(0)
    }

    fn each(
        &mut self,
        table: &'static Table,
        after: Option<&Row>,
        take: &mut dyn FnMut(Row) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.connection.ask(async |session| each(session, table, after, take).await)
    }

    fn at_work(&mut self) -> Result<AtWork, Error> {
        let sql = "SELECT (SELECT count(*) FROM nodes
                WHERE seen_at > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $1),
            (SELECT count(*) FROM tasks)";
        let row = self.connection.ask(async |session| session.one(sql, &[&HEARD_US]).await)?;
        Ok(AtWork { nodes: row.number(0)?, tasks: row.number(1)? })
    }
}

impl End for Postgres {
    fn write(&mut self, was: Option<&[u8]>, becomes: Option<&[u8]>, work: &Work<'_>) -> Result<bool, Error> {
        self.connection.ask(async |session| {
            session.run("BEGIN").await?;
            let written = write(session, was, becomes, work).await;
            match written {
                Ok(true) => session.run("COMMIT").await?,
                Ok(false) | Err(_) => session.roll_back().await,
            }
            written
        })
    }

    fn now(&mut self) -> Result<Timestamp, Error> {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let now: i64 = self.connection.ask(async |session| session.one(sql, &[]).await)?.number(0)?;
        Timestamp::from_microsecond(now).map_err(|error| Error::Corrupt(error.to_string()))
    }
}

async fn write(
    session: &mut Session,
    was: Option<&[u8]>,
    becomes: Option<&[u8]>,
    work: &Work<'_>,
) -> Result<bool, Error> {
    // The row is locked until the end, so of two who move, one is refused.
    let changed = match (was, becomes) {
        (None, None) => return Ok(true),
        (None, Some(note)) => {
            let sql = "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            session.count(sql, &[&MOVE, &note]).await?
        }
        (Some(was), Some(note)) => {
            let sql = "UPDATE settings SET value = $3 WHERE name = $1 AND value = $2";
            session.count(sql, &[&MOVE, &was, &note]).await?
        }
        (Some(was), None) => {
            let sql = "DELETE FROM settings WHERE name = $1 AND value = $2";
            session.count(sql, &[&MOVE, &was]).await?
        }
    };
    if changed == 0 {
        return Ok(false);
    }
    match work {
        Work::Nothing => {}
        Work::Clear => session.run("DELETE FROM workspaces").await?,
        Work::Insert(table, rows) if table.name == "runs" => insert_runs(session, table, rows).await?,
        Work::Insert(table, rows) => insert(session, table, rows).await?,
        Work::Settle => {
            session.one(COUNT_ON, &[]).await?;
            session.run(ADD_UP_BYTES).await?;
        }
    }
    Ok(true)
}

/// Gives all rows of a table in the order of their key, or those after one.
pub(super) async fn each(
    session: &mut Session,
    table: &'static Table,
    after: Option<&Row>,
    take: &mut dyn FnMut(Row) -> Result<(), Error>,
) -> Result<(), Error> {
    let cells: Vec<Cell<'_>> = after
        .into_iter()
        .flatten()
        .zip(table.key)
        .map(|(value, column)| Cell::of(table, column, value))
        .collect();
    let cells: Vec<&(dyn ToSql + Sync)> = cells.iter().map(|cell| cell as &(dyn ToSql + Sync)).collect();
    let mut rows = pin!(session.stream(&select(table, after.is_some()), &cells).await?);
    while let Some(row) = rows.next().await.transpose()? {
        let values = (0..table.columns.len()).map(|index| read(&row, index, table));
        take(values.collect::<Result<_, _>>()?)?;
    }
    Ok(())
}

/// The transaction that writes them stands in rows that say in which they were written.
async fn insert(session: &mut Session, table: &'static Table, rows: &[Row]) -> Result<(), Error> {
    let transaction: String = session.one("SELECT pg_current_xact_id()::text", &[]).await?.try_get(0)?;
    let transaction =
        transaction.parse().map_err(|_| Error::Corrupt(format!("transaction {transaction}")))?;
    let transaction = Value::Integer(transaction);
    let noted = noted_in(table);
    let columns: Vec<&str> = table.columns.iter().copied().chain(noted).collect();
    let columns = columns.join(", ");
    let types = session.types(&format!("SELECT {columns} FROM {}", table.name)).await?;
    let sink = session.client.copy_in(&format!("COPY {} ({columns}) FROM STDIN BINARY", table.name)).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    for row in rows {
        let noted = noted.map(|_| if is_noted(table, row) { &transaction } else { &Value::Null });
        let cells = row.iter().zip(table.columns).map(|(value, column)| Cell::of(table, column, value));
        let cells = cells.chain(noted.map(|value| Cell { value, is_name: false }));
        writer.as_mut().write_raw(cells.collect::<Vec<_>>()).await?;
    }
    let written = writer.finish().await?;
    match written == rows.len() as u64 {
        true => Ok(()),
        false => {
            Err(Error::Corrupt(format!("{}: {written} of {} rows were written", table.name, rows.len())))
        }
    }
}

/// What the row of a run says of its last change stands in its history, which is there already.
async fn insert_runs(session: &mut Session, table: &'static Table, rows: &[Row]) -> Result<(), Error> {
    let columns = table.columns.join(", ");
    let types = session.types(&format!("SELECT {columns} FROM runs")).await?;
    let arrays: Vec<String> =
        types.iter().zip(1..).map(|(kind, number)| format!("${number}::{kind}[]")).collect();
    let sql = format!(
        "INSERT INTO runs ({columns}, seq, written_at)
         SELECT new.*, last.seq, last.written_at FROM unnest({}) AS new ({columns})
             CROSS JOIN LATERAL (SELECT history.seq, history.written_at FROM history WHERE history.run = new.id
                 ORDER BY history.based_on DESC LIMIT 1) AS last",
        arrays.join(", ")
    );
    let cells = |(place, column): (usize, &&str)| -> Vec<Cell<'_>> {
        rows.iter().filter_map(|row| row.get(place)).map(|value| Cell::of(table, column, value)).collect()
    };
    let cells: Vec<Vec<Cell<'_>>> = table.columns.iter().enumerate().map(cells).collect();
    let cells: Vec<&(dyn ToSql + Sync)> = cells.iter().map(|cells| cells as &(dyn ToSql + Sync)).collect();
    if session.count(&sql, &cells).await? == rows.len() as u64 {
        return Ok(());
    }
    // The id is their first column.
    let sql = "SELECT id FROM unnest($1::uuid[]) AS new (id)
        WHERE NOT EXISTS (SELECT FROM history WHERE history.run = new.id) LIMIT 1";
    let run = RunId(session.one(sql, cells.get(..1).unwrap_or_default()).await?.id(0)?);
    Err(Error::Corrupt(format!("{run}: it has a row and no history")))
}

/// The column that says in which transaction a row was written; see looks.rs.
fn noted_in(table: &Table) -> Option<&'static str> {
    match table.name {
        "waitpoints" => Some("began_in"),
        "events" => Some("stored_in"),
        _ => None,
    }
}

/// Every event, and of waits those for events.
fn is_noted(table: &Table, row: &Row) -> bool {
    let kind = table.columns.iter().position(|column| *column == "kind").and_then(|place| row.get(place));
    kind.is_none_or(|kind| *kind == Value::Integer(code::kind(Kind::Event)))
}

fn select(table: &Table, from_a_key: bool) -> String {
    let (columns, key) = (table.columns.join(", "), table.key.join(", "));
    let after = match from_a_key {
        true => {
            let places: Vec<String> = (1..=table.key.len()).map(|number| format!("${number}")).collect();
            format!(" WHERE ({key}) > ({}){}", places.join(", "), only(table, "AND"))
        }
        false => only(table, "WHERE"),
    };
    format!("SELECT {columns} FROM {}{after} ORDER BY {key}", table.name)
}

/// What a store says of moves is no part of them.
fn only(table: &Table, word: &str) -> String {
    if table.name == "settings" { format!(" {word} name <> '{MOVE}'") } else { String::new() }
}

fn read(row: &Read, index: usize, table: &Table) -> Result<Value, Error> {
    let kind = row.columns()[index].type_();
    Ok(match *kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(index)?.map_or(Value::Null, Value::from),
        Type::INT4 => row.try_get::<_, Option<i32>>(index)?.map_or(Value::Null, Value::from),
        Type::INT2 => row.try_get::<_, Option<i16>>(index)?.map_or(Value::Null, Value::from),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index)?.map_or(Value::Null, Value::from),
        Type::UUID => {
            let id: Option<Id> = row.try_get(index)?;
            id.map_or(Value::Null, |Id(id)| Value::from(id.to_be_bytes().to_vec()))
        }
        Type::TEXT => {
            let text: Option<String> = row.try_get(index)?;
            let is_name = table.names.contains(&table.columns[index]);
            let text = if is_name { text.map(column::read_name) } else { text };
            text.map_or(Value::Null, Value::from)
        }
        _ => return Err(Error::Corrupt(format!("{}: a column of type {kind}", table.name))),
    })
}

/// A value as its column wants it.
#[derive(Debug)]
struct Cell<'v> {
    value: &'v Value,
    is_name: bool,
}

impl<'v> Cell<'v> {
    fn of(table: &Table, column: &str, value: &'v Value) -> Cell<'v> {
        Cell { value, is_name: table.names.contains(&column) }
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match (self.value, kind) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Integer(number), &(Type::INT8 | Type::XID8)) => {
                out.extend_from_slice(&number.to_be_bytes())
            }
            (Value::Integer(number), &Type::INT4) => {
                out.extend_from_slice(&i32::try_from(*number)?.to_be_bytes());
            }
            (Value::Integer(number), &Type::INT2) => {
                out.extend_from_slice(&i16::try_from(*number)?.to_be_bytes());
            }
            (Value::Text(text), &Type::TEXT) if self.is_name => {
                out.extend_from_slice(column::name(text).as_bytes());
            }
            (Value::Text(text), &Type::TEXT) => out.extend_from_slice(text.as_bytes()),
            (Value::Blob(bytes), &(Type::BYTEA | Type::UUID)) => out.extend_from_slice(bytes),
            (value, kind) => return Err(format!("{:?} is no value of type {kind}", value.data_type()).into()),
        }
        Ok(IsNull::No)
    }

    accepts!(INT8, XID8, INT4, INT2, TEXT, BYTEA, UUID);
    to_sql_checked!();
}
