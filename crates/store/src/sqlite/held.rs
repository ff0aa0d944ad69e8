//! What is held, and what is suspected of taking the process down with it.

use abide_core::id::{RunId, WorkspaceId};
use rusqlite::{Connection, Row, Transaction, params};

use crate::cluster::NodeId;
use crate::sqlite::column::{self, Column};
use crate::sqlite::find::{collect, first};
use crate::{Error, Held, Owner, Page, Suspect};

const HELD: &str = "SELECT id, workspace, held_at, held_by, reason FROM held";

fn read(row: &Row<'_>) -> Result<Held, Error> {
    let workspace: Option<u32> = row.get(1)?;
    Ok(Held {
        owner: Owner(RunId(row.id(0)?)),
        workspace: workspace.map(WorkspaceId),
        at: row.instant(2)?,
        by: row.get(3)?,
        reason: row.get(4)?,
    })
}

pub(super) fn held(connection: &Connection, owner: Owner) -> Result<Option<Held>, Error> {
    let mut statement = connection.prepare_cached(&format!("{HELD} WHERE id = ?"))?;
    first(statement.query([column::run(owner.0)])?, read)
}

pub(super) fn all(connection: &Connection, page: &Page<Owner>) -> Result<Vec<Held>, Error> {
    let mut statement = connection.prepare_cached(&format!("{HELD} WHERE id > ? ORDER BY id LIMIT ?"))?;
    let after = page.after.map_or(Vec::new(), |owner| column::run(owner.0).to_vec());
    collect(statement.query(params![after, column::limit(page.limit)])?, read)
}

pub(super) fn hold(transaction: &Transaction<'_>, held: &Held) -> Result<bool, Error> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO held (id, workspace, held_at, held_by, reason) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )?;
    let workspace = held.workspace.map(|workspace| workspace.0);
    let (id, at) = (column::run(held.owner.0), column::instant(held.at));
    Ok(statement.execute(params![id, workspace, at, held.by, held.reason])? == 1)
}

pub(super) fn let_go(transaction: &Transaction<'_>, owner: Owner) -> Result<bool, Error> {
    forgive(transaction, owner)?;
    let mut statement = transaction.prepare_cached("DELETE FROM held WHERE id = ?")?;
    Ok(statement.execute([column::run(owner.0)])? == 1)
}

fn node(node: Option<NodeId>) -> [u8; 16] {
    node.map_or(0, |node| node.0).to_be_bytes()
}

pub(super) fn note_suspect(
    transaction: &Transaction<'_>,
    by: Option<NodeId>,
    owner: Option<Owner>,
) -> Result<(), Error> {
    transaction.prepare_cached("UPDATE suspects SET node = NULL WHERE node = ?")?.execute([node(by)])?;
    transaction.prepare_cached("DELETE FROM suspects WHERE node IS NULL AND deaths = 0")?.execute([])?;
    if let Some(owner) = owner {
        transaction
            .prepare_cached(
                "INSERT INTO suspects (id, node, deaths) VALUES (?, ?, 0)
                 ON CONFLICT (id) DO UPDATE SET node = excluded.node",
            )?
            .execute(params![column::run(owner.0), node(by)])?;
    }
    Ok(())
}

/// Whoever has the file is alone: all others are gone.
pub(super) fn take_suspects(transaction: &Transaction<'_>) -> Result<Vec<Suspect>, Error> {
    let counted = "UPDATE suspects SET deaths = deaths + 1, node = NULL WHERE node IS NOT NULL";
    transaction.prepare_cached(counted)?.execute([])?;
    let mut statement =
        transaction.prepare_cached("SELECT id, deaths FROM suspects WHERE deaths > 0 ORDER BY id")?;
    collect(statement.query([])?, |row| {
        Ok(Suspect { owner: Owner(RunId(row.id(0)?)), deaths: row.number(1)? })
    })
}

pub(super) fn forgive(transaction: &Transaction<'_>, owner: Owner) -> Result<(), Error> {
    transaction.prepare_cached("DELETE FROM suspects WHERE id = ?")?.execute([column::run(owner.0)])?;
    Ok(())
}
