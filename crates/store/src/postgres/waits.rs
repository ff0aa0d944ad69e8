//! The rows of waits, made anew.

use abide_core::id::WorkspaceId;
use abide_core::waitpoint::Waitpoint;

use crate::postgres::column;
use crate::postgres::link::Link;
use crate::{Error, Owner, waits};

pub(super) fn rewrite(
    link: &mut Link,
    owner: Owner,
    workspace: WorkspaceId,
    all: &[&Waitpoint],
) -> Result<(), Error> {
    let forget = "DELETE FROM waitpoints WHERE run = $1";
    let insert = "INSERT INTO waitpoints (run, number, workspace, created_at, resume_at, began_in, kind, status, listens,
            filter)
        VALUES ($1, $2, $3, $4, $5, CASE WHEN $6::smallint = 3 THEN pg_current_xact_id() END, $6, $7, $8, $9)";
    let (id, place) = (column::run(owner.0), column::workspace(workspace));
    link.ask(async |session| {
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
                            insert,
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
