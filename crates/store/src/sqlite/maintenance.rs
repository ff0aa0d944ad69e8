//! Looking at every page, copying the file, and making rows anew.

use std::path::Path;

use abide_core::id::WorkspaceId;
use abide_core::waitpoint::Waitpoint;
use rusqlite::Connection;

use crate::roles::{Maintenance, WriteMaintenance};
use crate::sqlite::commit::Statements;
use crate::sqlite::{Handle, Sqlite, backup, column};
use crate::{Error, Owner};

impl<Role: Send> Maintenance for Handle<Role> {
    fn check_pages(&mut self) -> Result<Vec<String>, Error> {
        check_pages(&self.connection)
    }

    fn backup(&mut self, to: &Path) -> Result<(), Error> {
        backup::backup(&self.connection, to)
    }
}

impl WriteMaintenance for Sqlite {
    /// Makes the rows of all waits of a run or a schedule anew.
    fn rewrite_waits(
        &mut self,
        owner: Owner,
        workspace: WorkspaceId,
        all: &[&Waitpoint],
    ) -> Result<(), Error> {
        self.change(|transaction| {
            let id = column::run(owner.id());
            transaction.prepare_cached("DELETE FROM waitpoints WHERE run = ?")?.execute([id])?;
            let mut statements = Statements::prepare(transaction)?;
            for wait in all {
                statements.insert_waitpoint(&id, workspace, wait)?;
            }
            Ok(())
        })
    }
}

/// What is said of a file at most: one that is damaged all over need not be told in full.
const MOST: usize = 1_000;

/// Reads every page: whether it is what was written, and whether tables and indexes agree.
pub(super) fn check_pages(connection: &Connection) -> Result<Vec<String>, Error> {
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
