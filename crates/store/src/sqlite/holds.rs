//! What is held, and what is suspected of taking the process down with it.

use rusqlite::{Transaction, params};

use crate::cluster::NodeId;
use crate::holds::HELD;
use crate::roles::{Holds, WriteHolds};
use crate::sqlite::column;
use crate::sqlite::query::{collect, first};
use crate::sqlite::{Handle, Sqlite};
use crate::{Error, Held, Owner, Page, Suspect};

impl<Role: Send> Holds for Handle<Role> {
    fn held(&mut self, owner: Owner) -> Result<Option<Held>, Error> {
        let mut statement = self.connection.prepare_cached(&format!("{HELD} WHERE id = ?"))?;
        first(statement.query([column::run(owner.id())])?, |row| Held::read(row))
    }

    fn all_held(&mut self, page: &Page<Owner>) -> Result<Vec<Held>, Error> {
        let mut statement =
            self.connection.prepare_cached(&format!("{HELD} WHERE id > ? ORDER BY id LIMIT ?"))?;
        let after = page.after.map_or(Vec::new(), |owner| column::run(owner.id()).to_vec());
        collect(statement.query(params![after, column::limit(page.limit)])?, |row| Held::read(row))
    }
}

impl WriteHolds for Sqlite {
    fn hold(&mut self, held: &Held) -> Result<bool, Error> {
        self.change(|transaction| {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO held (id, workspace, held_at, held_by, reason) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )?;
    let workspace = held.workspace.map(|workspace| workspace.0);
    let (id, at) = (column::run(held.owner.id()), column::instant(held.at));
    Ok(statement.execute(params![id, workspace, at, held.by, held.reason])? == 1)
})
    }

    fn release(&mut self, owner: Owner) -> Result<bool, Error> {
        self.change(|transaction| {
            forgive(transaction, owner)?;
            let mut statement = transaction.prepare_cached("DELETE FROM held WHERE id = ?")?;
            Ok(statement.execute([column::run(owner.id())])? == 1)
        })
    }

    fn note_suspect(&mut self, by: Option<NodeId>, owner: Option<Owner>) -> Result<(), Error> {
        self.change(|transaction| {
            transaction
                .prepare_cached("UPDATE suspects SET node = NULL WHERE node = ?")?
                .execute([node(by)])?;
            transaction
                .prepare_cached("DELETE FROM suspects WHERE node IS NULL AND deaths = 0")?
                .execute([])?;
            if let Some(owner) = owner {
                transaction
                    .prepare_cached(
                        "INSERT INTO suspects (id, node, deaths) VALUES (?, ?, 0)
                 ON CONFLICT (id) DO UPDATE SET node = excluded.node",
                    )?
                    .execute(params![column::run(owner.id()), node(by)])?;
            }
            Ok(())
        })
    }

    /// Whoever has the file is alone: all others are gone.
    fn take_suspects(&mut self, _: &[NodeId]) -> Result<Vec<Suspect>, Error> {
        self.change(|transaction| {
            let counted = "UPDATE suspects SET deaths = deaths + 1, node = NULL WHERE node IS NOT NULL";
            transaction.prepare_cached(counted)?.execute([])?;
            let mut statement =
                transaction.prepare_cached("SELECT id, deaths FROM suspects WHERE deaths > 0 ORDER BY id")?;
            collect(statement.query([])?, |row| Suspect::read(row))
        })
    }

    fn forgive(&mut self, owner: Owner) -> Result<(), Error> {
        self.change(|transaction| forgive(transaction, owner))
    }
}

pub(super) fn forgive(transaction: &Transaction<'_>, owner: Owner) -> Result<(), Error> {
    transaction.prepare_cached("DELETE FROM suspects WHERE id = ?")?.execute([column::run(owner.id())])?;
    Ok(())
}

fn node(node: Option<NodeId>) -> [u8; 16] {
    node.map_or(0, |node| node.0).to_be_bytes()
}
