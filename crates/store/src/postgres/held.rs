//! What is held, and what is suspected of taking a process down with it.

use abide_core::id::RunId;
use tokio_postgres::Row;

use crate::cluster::NodeId;
use crate::postgres::column::{self, Column, Id};
use crate::postgres::link::Link;
use crate::{Error, Held, Owner, Page, Suspect};

const HELD: &str = "SELECT id, workspace, held_at, held_by, reason FROM held";

fn read(row: &Row) -> Result<Held, Error> {
    let is_known = row.try_get::<_, Option<i64>>(1)?.is_some();
    Ok(Held {
        owner: Owner(RunId(row.id(0)?)),
        workspace: if is_known { Some(row.workspace(1)?) } else { None },
        at: row.instant(2)?,
        by: row.name(3)?,
        reason: row.name(4)?,
    })
}

pub(super) fn held(link: &mut Link, owner: Owner) -> Result<Option<Held>, Error> {
    let sql = format!("{HELD} WHERE id = $1");
    let found = link.ask(async |session| session.first(&sql, &[&column::run(owner.0)]).await)?;
    found.as_ref().map(read).transpose()
}

pub(super) fn all(link: &mut Link, page: &Page<Owner>) -> Result<Vec<Held>, Error> {
    let sql = format!("{HELD} WHERE id >= $1 AND NOT ($2 AND id = $1) ORDER BY id LIMIT $3");
    let (after, seen) = (page.after.map_or(Id(0), |owner| column::run(owner.0)), page.after.is_some());
    let limit = column::limit(page.limit);
    let rows = link.ask(async |session| session.rows(&sql, &[&after, &seen, &limit]).await)?;
    rows.iter().map(read).collect()
}

pub(super) fn hold(link: &mut Link, held: &Held) -> Result<bool, Error> {
    let sql = "INSERT INTO held (id, workspace, held_at, held_by, reason) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING";
    let (id, at) = (column::run(held.owner.0), column::instant(held.at));
    let workspace = held.workspace.map(column::workspace);
    let (by, reason) = (column::name(&held.by), column::name(&held.reason));
    let added = link.ask(async |session| session.count(sql, &[&id, &workspace, &at, &by, &reason]).await)?;
    Ok(added == 1)
}

pub(super) fn let_go(link: &mut Link, owner: Owner) -> Result<bool, Error> {
    forgive(link, owner)?;
    let sql = "DELETE FROM held WHERE id = $1";
    let removed = link.ask(async |session| session.count(sql, &[&column::run(owner.0)]).await)?;
    Ok(removed == 1)
}

pub(super) fn note_suspect(link: &mut Link, node: Option<NodeId>, owner: Option<Owner>) -> Result<(), Error> {
    let node = Id(node.map_or(0, |node| node.0));
    let done = "WITH done AS (UPDATE suspects SET node = NULL WHERE node = $1 AND deaths > 0)
        DELETE FROM suspects WHERE node = $1 AND deaths = 0";
    let noted = "INSERT INTO suspects (id, node, deaths) VALUES ($1, $2, 0)
        ON CONFLICT (id) DO UPDATE SET node = excluded.node";
    link.ask(async |session| {
        session.count(done, &[&node]).await?;
        if let Some(owner) = owner {
            session.count(noted, &[&column::run(owner.0), &node]).await?;
        }
        Ok(())
    })
}

pub(super) fn take_suspects(link: &mut Link, alive: &[NodeId]) -> Result<Vec<Suspect>, Error> {
    let alive: Vec<Id> = alive.iter().map(|node| Id(node.0)).collect();
    let counted = "UPDATE suspects SET deaths = deaths + 1, node = NULL
        WHERE node IS NOT NULL AND node <> ALL ($1)";
    let sql = "SELECT id, deaths FROM suspects WHERE deaths > 0 ORDER BY id";
    let rows = link.ask(async |session| {
        session.count(counted, &[&alive]).await?;
        session.rows(sql, &[]).await
    })?;
    let read = |row: &Row| Ok(Suspect { owner: Owner(RunId(row.id(0)?)), deaths: row.number(1)? });
    rows.iter().map(read).collect()
}

pub(super) fn forgive(link: &mut Link, owner: Owner) -> Result<(), Error> {
    let sql = "DELETE FROM suspects WHERE id = $1";
    link.ask(async |session| session.count(sql, &[&column::run(owner.0)]).await).map(drop)
}
