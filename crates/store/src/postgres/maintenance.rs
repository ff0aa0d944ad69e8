//! Looking at the database, copying it, and making rows anew.

use std::path::Path;

use abide_core::id::WorkspaceId;
use abide_core::waitpoint::Waitpoint;

use crate::code::WAIT_EVENT;
use crate::postgres::{Handle, Postgres, backup, column};
use crate::roles::{Maintenance, WriteMaintenance};
use crate::row::RowReader;
use crate::{Error, Owner, waits};

impl<Role: Send> Maintenance for Handle<Role> {
    fn check_pages(&mut self) -> Result<Vec<String>, Error> {
        let sql = "SELECT current_setting('data_checksums')";
        let row = self.connection.ask(async |session| session.one(sql, &[]).await)?;
        let advice = "the database keeps no checksums of its pages (data_checksums is off): damage below it may go \
                      unnoticed; turn them on with pg_checksums";
        Ok(if row.text(0)? == "on" { Vec::new() } else { vec![advice.to_owned()] })
    }

    fn backup(&mut self, to: &Path) -> Result<(), Error> {
        backup::backup(&mut self.connection, to)
    }
}

impl WriteMaintenance for Postgres {
    fn rewrite_waits(
        &mut self,
        owner: Owner,
        workspace: WorkspaceId,
        all: &[&Waitpoint],
    ) -> Result<(), Error> {
        let forget = "DELETE FROM waitpoints WHERE run = $1";
        let insert = format!("INSERT INTO waitpoints (run, number, workspace, created_at, resume_at, began_in, kind, status, listens,
            filter)
        VALUES ($1, $2, $3, $4, $5, CASE WHEN $6::smallint = {WAIT_EVENT} THEN pg_current_xact_id() END, $6, $7, $8, $9)");
        let (id, place) = (column::run(owner.id()), column::workspace(workspace));
        self.connection.ask(async |session| {
            session
                .transaction("BEGIN", async |session| {
                    session.count(forget, &[&id]).await?;
                    for wait in all {
                        let number = i64::from(wait.number);
                        let created_at = column::instant(wait.created_at);
                        let resume_at = wait.resume_at.map(column::instant);
                        let (kind, status) = (column::kind(wait.kind), column::wait_status(wait.status));
                        let listens = waits::listens(wait).map(|listens| column::name(&listens).into_owned());
                        let filter = waits::filter(wait);
                        session
                            .count(
                                &insert,
                                &[
                                    &id,
                                    &number,
                                    &place,
                                    &created_at,
                                    &resume_at,
                                    &kind,
                                    &status,
                                    &listens,
                                    &filter,
                                ],
                            )
                            .await?;
                    }
                    Ok(())
                })
                .await
        })
    }

    /// Adds up what was noted in parts. Several processes may do it at once: each part is taken by one of them.
    fn fold(&mut self) -> Result<(), Error> {
        let sql = "WITH parts AS (DELETE FROM stored_bytes WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM stored_bytes LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING workspace, bytes)
        INSERT INTO stored_bytes (workspace, bytes) SELECT workspace, sum(bytes) FROM parts GROUP BY workspace";
        self.connection.ask(async |session| session.count(sql, &[&PARTS]).await).map(drop)
    }
}

/// Parts that are added up at once.
const PARTS: i64 = 100_000;
