//! What is to be done, and how many runs began with one.

use abide_core::id::RunId;

use crate::postgres::Handle;
use crate::postgres::column::{self, Id};
use crate::postgres::connection::{Step, values};
use crate::roles::FollowUps;
use crate::row::RowReader;
use crate::{Error, FollowUpWrite, StoredFollowUp};

impl<Role: Send> FollowUps for Handle<Role> {
    fn follow_ups(&mut self, not_of: &[u128], limit: usize) -> Result<Vec<StoredFollowUp>, Error> {
        // One workspace after the other, so that one with many leaves room for the others.
        let sql = "WITH RECURSIVE places (workspace) AS (
            (SELECT workspace FROM follow_ups ORDER BY workspace LIMIT 1)
            UNION ALL
            SELECT (SELECT next.workspace FROM follow_ups AS next WHERE next.workspace > places.workspace
                ORDER BY next.workspace LIMIT 1)
            FROM places WHERE places.workspace IS NOT NULL)
        SELECT found.* FROM places CROSS JOIN LATERAL
            (SELECT workspace, id, owner, version, document FROM follow_ups
             WHERE follow_ups.workspace = places.workspace AND owner <> ALL ($1::uuid[]) ORDER BY id LIMIT $2) AS found
        ORDER BY found.workspace, found.id";
        let owners: Vec<Id> = not_of.iter().map(|owner| Id(*owner)).collect();
        let limit = column::limit(limit);
        let rows = self.connection.ask(async |session| session.rows(sql, &[&owners, &limit]).await)?;
        rows.iter().map(StoredFollowUp::read).collect()
    }

    fn descendants(&mut self, root: RunId) -> Result<u64, Error> {
        let sql = "SELECT count FROM descendants WHERE root = $1";
        let found = self.connection.ask(async |session| session.first(sql, &[&column::run(root)]).await)?;
        found.map_or(Ok(0), |row| row.number(0))
    }
}

/// The statements that write them. Each affects as many rows as it is given, unless somebody else was first.
pub(super) fn steps<'a>(writes: &[FollowUpWrite<'a>]) -> Vec<(usize, Step<'a>)> {
    let of = |wanted: fn(&FollowUpWrite<'_>) -> bool| -> Vec<&'a StoredFollowUp> {
        let mut rows: Vec<_> =
            writes.iter().filter(|write| wanted(write)).map(FollowUpWrite::follow_up).collect();
        rows.sort_by_key(|row| (row.workspace, row.id));
        rows
    };
    let new = of(|write| matches!(write, FollowUpWrite::Put(_)));
    let changed = of(|write| matches!(write, FollowUpWrite::Change(_)));
    let removed = of(|write| matches!(write, FollowUpWrite::Remove(_)));
    let places = |rows: &[&StoredFollowUp]| -> Vec<i64> {
        rows.iter().map(|row| column::workspace(row.workspace)).collect()
    };
    let ids = |rows: &[&StoredFollowUp]| -> Vec<Id> { rows.iter().map(|row| Id(row.id)).collect() };
    let owners = |rows: &[&StoredFollowUp]| -> Vec<Id> { rows.iter().map(|row| Id(row.owner)).collect() };
    let versions =
        |rows: &[&StoredFollowUp]| -> Vec<i64> { rows.iter().map(|row| i64::from(row.version)).collect() };
    let documents = |rows: &[&StoredFollowUp]| -> Vec<String> {
        rows.iter().map(|row| serde_json::to_string(&row.what).expect("a follow-up is JSON")).collect()
    };
    let mut steps = Vec::new();
    if !removed.is_empty() {
        let sql = "DELETE FROM follow_ups USING unnest($1::bigint[], $2::uuid[], $3::bigint[])
                AS done (workspace, id, version)
            WHERE follow_ups.workspace = done.workspace AND follow_ups.id = done.id
              AND follow_ups.version = done.version";
        let values = values![places(&removed), ids(&removed), versions(&removed)];
        steps.push((removed.len(), Step { sql: sql.into(), values }));
    }
    if !changed.is_empty() {
        let sql = "UPDATE follow_ups SET owner = new.owner, version = new.version, document = new.document
            FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[])
                AS new (workspace, id, owner, version, document)
            WHERE follow_ups.workspace = new.workspace AND follow_ups.id = new.id
              AND follow_ups.version = new.version - 1";
        let values = values![
            places(&changed),
            ids(&changed),
            owners(&changed),
            versions(&changed),
            documents(&changed)
        ];
        steps.push((changed.len(), Step { sql: sql.into(), values }));
    }
    if !new.is_empty() {
        let sql = "INSERT INTO follow_ups (workspace, id, owner, version, document)
            SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[])";
        let values = values![places(&new), ids(&new), owners(&new), versions(&new), documents(&new)];
        steps.push((new.len(), Step { sql: sql.into(), values }));
    }
    steps
}

pub(super) fn add_descendants<'a>(more: &[(RunId, u64)]) -> Step<'a> {
    let mut sorted = more.to_vec();
    sorted.sort();
    let sql = "INSERT INTO descendants (root, count) SELECT * FROM unnest($1::uuid[], $2::bigint[])
        ON CONFLICT (root) DO UPDATE SET count = descendants.count + excluded.count";
    let roots: Vec<Id> = sorted.iter().map(|(root, _)| column::run(*root)).collect();
    let counts: Vec<i64> = sorted.iter().map(|(_, count)| column::count(*count)).collect();
    Step { sql: sql.into(), values: values![roots, counts] }
}
