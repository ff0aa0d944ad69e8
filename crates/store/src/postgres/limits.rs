//! Limits, and their lines.

use abide_core::capacity::Limit;
use abide_core::id::{LimitId, RunId, WaitpointId, WorkspaceId};

use crate::code::{WAIT_CAPACITY, WAIT_PENDING};
use crate::limits::range;
use crate::postgres::Handle;
use crate::postgres::column::{self, Id};
use crate::postgres::connection::{Step, values};
use crate::roles::Limits;
use crate::row::RowReader;
use crate::{Error, InLine, LimitPlace, LimitWrite, Page};

impl<Role: Send> Limits for Handle<Role> {
    fn limit(&mut self, id: LimitId) -> Result<Option<Limit>, Error> {
        let sql = "SELECT document FROM limits WHERE id = $1";
        let found = self.connection.ask(async |session| session.first(sql, &[&Id(id.0)]).await)?;
        found.map(|row| row.json(0)).transpose()
    }

    fn limits(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<LimitPlace>,
    ) -> Result<Vec<Limit>, Error> {
        let only = if name.is_some() { "name = $2 AND" } else { "$2::text IS NULL AND" };
        let sql = format!(
            "SELECT document FROM limits
             WHERE workspace = $1 AND {only} (name, key, id) > ($3, $4, $5) ORDER BY name, key, id LIMIT $6"
        );
        let (after_name, key, id) =
            page.after.as_ref().map_or(("", "", 0), |after| (&*after.name, &*after.key, after.id.0));
        let (place, name) = (column::workspace(workspace), name.map(column::name));
        let (after_name, key, id) = (column::name(after_name), column::name(key), Id(id));
        let limit = column::limit(page.limit);
        let rows = self.connection.ask(async |session| {
            session.rows(&sql, &[&place, &name, &after_name, &key, &id, &limit]).await
        })?;
        rows.iter().map(|row| row.json(0)).collect()
    }

    fn line(&mut self, id: LimitId, after: Option<&InLine>, limit: usize) -> Result<Vec<InLine>, Error> {
        let sql = format!(
            "SELECT run, number, filter FROM waitpoints
             WHERE status = {WAIT_PENDING} AND kind = {WAIT_CAPACITY}
                 AND (filter COLLATE \"C\", run, number) > ($1, $2, $3) AND filter COLLATE \"C\" < $4
             ORDER BY filter COLLATE \"C\", run, number LIMIT $5"
        );
        let (from, WaitpointId { run, number }, before) = range(id, after);
        let (run, number, limit) = (column::run(run), i64::from(number), column::limit(limit));
        let rows = self
            .connection
            .ask(async |session| session.rows(&sql, &[&from, &run, &number, &before, &limit]).await)?;
        rows.iter().map(InLine::read).collect()
    }
}

/// The statements that write limits. Each affects as many rows as it is given, unless somebody else was first.
pub(super) fn steps<'a>(writes: &[LimitWrite<'a>]) -> Vec<(usize, Step<'a>)> {
    let mut sorted: Vec<&LimitWrite<'a>> = writes.iter().collect();
    sorted.sort_by_key(|write| write.limit.id);
    let of = |wanted: fn(&LimitWrite<'_>) -> bool| -> Vec<&LimitWrite<'a>> {
        sorted.iter().copied().filter(|write| wanted(write)).collect()
    };
    let new = of(|write| !write.removed && write.based_on == 0);
    let changed = of(|write| !write.removed && write.based_on > 0);
    let removed = of(|write| write.removed);
    let mut steps = Vec::new();
    if !changed.is_empty() {
        let sql = "UPDATE limits SET version = new.version, due_at = new.due_at, document = new.document
            FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
                AS new (id, based_on, version, due_at, document)
            WHERE limits.id = new.id AND limits.version = new.based_on";
        let values =
            values![ids(&changed), bases(&changed), versions(&changed), dues(&changed), documents(&changed)];
        steps.push((changed.len(), Step { sql: sql.into(), values }));
    }
    if !removed.is_empty() {
        let sql = "DELETE FROM limits USING unnest($1::uuid[], $2::bigint[]) AS gone (id, based_on)
            WHERE limits.id = gone.id AND limits.version = gone.based_on";
        let values = values![ids(&removed), bases(&removed)];
        steps.push((removed.len(), Step { sql: sql.into(), values }));
    }
    if !new.is_empty() {
        let sql = "INSERT INTO limits (id, workspace, name, key, version, due_at, document)
            SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
                $7::text[])
            ON CONFLICT DO NOTHING";
        let name = |text: &str| column::name(text).into_owned();
        let values = values![
            ids(&new),
            new.iter().map(|write| column::workspace(write.limit.workspace)).collect::<Vec<i64>>(),
            new.iter().map(|write| name(&write.limit.name)).collect::<Vec<String>>(),
            new.iter().map(|write| name(&write.limit.key)).collect::<Vec<String>>(),
            versions(&new),
            dues(&new),
            documents(&new)
        ];
        steps.push((new.len(), Step { sql: sql.into(), values }));
    }
    steps
}

/// Whoever wrote one of these meanwhile.
pub(super) fn first_of(writes: &[LimitWrite<'_>]) -> Option<RunId> {
    writes.first().map(|write| RunId(write.limit.id.0))
}

fn ids(writes: &[&LimitWrite<'_>]) -> Vec<Id> {
    writes.iter().map(|write| Id(write.limit.id.0)).collect()
}

fn bases(writes: &[&LimitWrite<'_>]) -> Vec<i64> {
    writes.iter().map(|write| column::count(write.based_on)).collect()
}

fn versions(writes: &[&LimitWrite<'_>]) -> Vec<i64> {
    writes.iter().map(|write| column::count(write.limit.version)).collect()
}

fn dues(writes: &[&LimitWrite<'_>]) -> Vec<Option<i64>> {
    writes.iter().map(|write| write.limit.due_at.map(column::instant)).collect()
}

fn documents(writes: &[&LimitWrite<'_>]) -> Vec<String> {
    writes.iter().map(|write| serde_json::to_string(write.limit).expect("a limit is JSON")).collect()
}
