//! A look at every page: whether it is what was written, and whether tables and indexes agree.

use rusqlite::Connection;

use crate::Error;

/// What is said of a file at most: one that is damaged all over need not be told in full.
const MOST: usize = 1_000;

pub(super) fn pages(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MOST})"))?;
    let mut rows = statement.query([])?;
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let said: String = row.get(0)?;
                found.extend((said != "ok").then_some(said));
            }
            Ok(None) => return Ok(found),
            // It ends at a page that it cannot go on without.
            Err(error) => {
                let error = Error::from(error);
                if !error.is_damage() {
                    return Err(error);
                }
                found.push(error.to_string());
                return Ok(found);
            }
        }
    }
}
