//! Backups: a copy of everything in a file of its own, made while others read and write. The file is an SQLite store, so
//! that it can be opened, looked at and worked with wherever there is this program.

use std::path::Path;

use rusqlite::Connection;

use crate::Error;
use crate::postgres::connection::{PgConnection, Session};
use crate::postgres::transfer;
use crate::sqlite;
use crate::table::{TABLES, Table};

/// One transaction sees one state, however long it takes.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

pub(super) fn backup(connection: &mut PgConnection, to: &Path) -> Result<(), Error> {
    sqlite::write_beside(to, |part| {
        let copy = sqlite::new_file(part).map_err(|error| error.to_string())?;
        let copied = connection.ask(async |session| {
            session
                .transaction(BEGIN, async |session| {
                    for table in &TABLES {
                        copy_table(session, &copy, table).await?;
                    }
                    Ok(())
                })
                .await
        });
        copied.and_then(|()| sqlite::settle(&copy)).map_err(|error| error.to_string())?;
        // Closing folds the log into the file.
        copy.close().map_err(|(_, error)| error.to_string())
    })
}

async fn copy_table(session: &mut Session, copy: &Connection, table: &'static Table) -> Result<(), Error> {
    let writing = copy.unchecked_transaction()?;
    transfer::each(session, table, None, &mut |row| sqlite::insert(&writing, table, [&row])).await?;
    Ok(writing.commit()?)
}
