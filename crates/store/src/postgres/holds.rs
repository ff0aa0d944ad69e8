//! What is held, and what is suspected of taking a process down with it.

use crate::cluster::NodeId;
use crate::holds::HELD;
use crate::postgres::column::{self, Id};
use crate::postgres::{Handle, Postgres};
use crate::roles::{Holds, WriteHolds};
use crate::{Error, Held, Owner, Page, Suspect};

impl<Role: Send> Holds for Handle<Role> {
    fn held(&mut self, owner: Owner) -> Result<Option<Held>, Error> {
        let sql = format!("{HELD} WHERE id = $1");
        let found =
            self.connection.ask(async |session| session.first(&sql, &[&column::run(owner.id())]).await)?;
        found.as_ref().map(Held::read).transpose()
    }

    fn all_held(&mut self, page: &Page<Owner>) -> Result<Vec<Held>, Error> {
        let sql = format!("{HELD} WHERE id >= $1 AND NOT ($2 AND id = $1) ORDER BY id LIMIT $3");
        let (after, seen) = (page.after.map_or(Id(0), |owner| column::run(owner.id())), page.after.is_some());
        let limit = column::limit(page.limit);
        let rows = self.connection.ask(async |session| session.rows(&sql, &[&after, &seen, &limit]).await)?;
        rows.iter().map(Held::read).collect()
    }
}

impl WriteHolds for Postgres {
    fn hold(&mut self, held: &Held) -> Result<bool, Error> {
        let sql = "INSERT INTO held (id, workspace, held_at, held_by, reason) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING";
        let (id, at) = (column::run(held.owner.id()), column::instant(held.at));
        let workspace = held.workspace.map(column::workspace);
        let (by, reason) = (column::name(&held.by), column::name(&held.reason));
        let added = self
            .connection
            .ask(async |session| session.count(sql, &[&id, &workspace, &at, &by, &reason]).await)?;
        Ok(added == 1)
    }

    fn release(&mut self, owner: Owner) -> Result<bool, Error> {
        self.forgive(owner)?;
        let sql = "DELETE FROM held WHERE id = $1";
        let removed =
            self.connection.ask(async |session| session.count(sql, &[&column::run(owner.id())]).await)?;
        Ok(removed == 1)
    }

    fn note_suspect(&mut self, node: Option<NodeId>, owner: Option<Owner>) -> Result<(), Error> {
        let node = Id(node.map_or(0, |node| node.0));
        let done = "WITH done AS (UPDATE suspects SET node = NULL WHERE node = $1 AND deaths > 0)
        DELETE FROM suspects WHERE node = $1 AND deaths = 0";
        let noted = "INSERT INTO suspects (id, node, deaths) VALUES ($1, $2, 0)
        ON CONFLICT (id) DO UPDATE SET node = excluded.node";
        self.connection.ask(async |session| {
            session.count(done, &[&node]).await?;
            if let Some(owner) = owner {
                session.count(noted, &[&column::run(owner.id()), &node]).await?;
            }
            Ok(())
        })
    }

    fn take_suspects(&mut self, alive: &[NodeId]) -> Result<Vec<Suspect>, Error> {
        let alive: Vec<Id> = alive.iter().map(|node| Id(node.0)).collect();
        let counted = "UPDATE suspects SET deaths = deaths + 1, node = NULL
        WHERE node IS NOT NULL AND node <> ALL ($1)";
        let sql = "SELECT id, deaths FROM suspects WHERE deaths > 0 ORDER BY id";
        let rows = self.connection.ask(async |session| {
            session.count(counted, &[&alive]).await?;
            session.rows(sql, &[]).await
        })?;
        rows.iter().map(Suspect::read).collect()
    }

    fn forgive(&mut self, owner: Owner) -> Result<(), Error> {
        let sql = "DELETE FROM suspects WHERE id = $1";
        self.connection.ask(async |session| session.count(sql, &[&column::run(owner.id())]).await).map(drop)
    }
}
