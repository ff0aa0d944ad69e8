//! Backups: a copy of everything in a file of its own, made while others read and write. The file is an SQLite store, so
//! that it can be opened, looked at and worked with wherever there is this program.

use std::fmt::Write as _;
use std::path::Path;
use std::pin::pin;

use futures_util::StreamExt;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::Error;
use crate::postgres::column::{self, Id};
use crate::postgres::link::{Link, Session};
use crate::sqlite;

/// A table of the copy and its columns, which have the same names in both. Names are read as they are meant, JSON is
/// copied.
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    names: &'static [&'static str],
}

const TABLES: [Table; 15] = [
    Table { name: "workspaces", columns: &["number", "name", "created_at"], names: &["name"] },
    Table {
        name: "definitions",
        columns: &["number", "id", "workspace", "name", "version", "document", "created_at"],
        names: &["name", "version"],
    },
    Table {
        name: "runs",
        columns: &[
            "id",
            "workspace",
            "definition",
            "version",
            "status",
            "created_at",
            "ended_at",
            "deadline_at",
            "tags",
        ],
        names: &["definition", "version"],
    },
    Table { name: "run_tags", columns: &["workspace", "tag", "run"], names: &["tag"] },
    Table { name: "history", columns: &["run", "seq", "written_at", "chunk"], names: &[] },
    Table {
        name: "waitpoints",
        columns: &[
            "run",
            "number",
            "workspace",
            "kind",
            "status",
            "created_at",
            "resume_at",
            "listens",
            "filter",
        ],
        names: &["listens"],
    },
    Table { name: "link_generations", columns: &["run", "number", "generation"], names: &[] },
    Table {
        name: "occurrences",
        columns: &["id", "workspace", "event_id", "received_at", "data"],
        names: &["event_id"],
    },
    Table { name: "remembered", columns: &["key", "digest", "reply", "written_at"], names: &["key"] },
    Table {
        name: "api_keys",
        columns: &[
            "id",
            "workspace",
            "name",
            "hash",
            "prefix",
            "scopes",
            "created_at",
            "last_used_at",
            "revoked_at",
            "expires_at",
        ],
        names: &["name", "prefix"],
    },
    Table { name: "settings", columns: &["name", "value"], names: &["name"] },
    Table {
        name: "costs",
        columns: &[
            "workspace",
            "day",
            "definition",
            "model",
            "calls",
            "input_tokens",
            "cached_input_tokens",
            "output_tokens",
            "cost_micros",
            "unpriced_calls",
        ],
        names: &["definition", "model"],
    },
    Table { name: "schedules", columns: &["id", "workspace", "name", "seq", "document"], names: &["name"] },
    Table {
        name: "webhooks",
        columns: &[
            "id",
            "workspace",
            "url",
            "description",
            "topics",
            "secrets",
            "created_at",
            "failing_since",
            "disabled_at",
            "disabled_why",
        ],
        names: &["url", "description", "disabled_why"],
    },
    Table {
        name: "deliveries",
        columns: &[
            "id",
            "webhook",
            "topic",
            "run",
            "body",
            "created_at",
            "status",
            "next_attempt_at",
            "attempts",
            "log",
        ],
        names: &[],
    },
];

/// A file keeps count of its runs.
const COUNT_RUNS: &str = "INSERT OR REPLACE INTO run_counts (workspace, status, count)
    SELECT workspace, status, count(*) FROM runs GROUP BY workspace, status";

/// One transaction sees one state, however long it takes.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

pub(super) fn backup(link: &mut Link, to: &Path) -> Result<(), Error> {
    sqlite::write_beside(to, |part| {
        let copy = sqlite::new_file(part).map_err(|error| error.to_string())?;
        let copied = link.ask(async |session| {
            session
                .transaction(BEGIN, async |session| {
                    for table in &TABLES {
                        copy_table(session, &copy, table).await?;
                    }
                    Ok(())
                })
                .await
        });
        copied.map_err(|error| error.to_string())?;
        copy.execute_batch(COUNT_RUNS).map_err(|error| error.to_string())?;
        // Closing folds the log into the file.
        copy.close().map_err(|(_, error)| error.to_string())
    })
}

async fn copy_table(session: &mut Session, copy: &Connection, table: &Table) -> Result<(), Error> {
    let columns = table.columns.join(", ");
    let mut places = "?".to_owned();
    for _ in 1..table.columns.len() {
        let _ = write!(places, ", ?");
    }
    let writing = copy.unchecked_transaction()?;
    {
        // The default workspace is there already.
        let sql = format!("INSERT OR REPLACE INTO {} ({columns}) VALUES ({places})", table.name);
        let mut insert = writing.prepare(&sql)?;
        let rows = session.stream(&format!("SELECT {columns} FROM {}", table.name)).await?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.next().await.transpose()? {
            let values: Vec<Value> =
                (0..table.columns.len()).map(|index| value(&row, index, table)).collect::<Result<_, _>>()?;
            insert.execute(params_from_iter(values))?;
        }
    }
    Ok(writing.commit()?)
}

fn value(row: &Row, index: usize, table: &Table) -> Result<Value, Error> {
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
