//! Limits, and their lines.

use abide_core::capacity::{Limit, LimitSettings};
use abide_core::id::{LimitId, RunId, WaitpointId, WorkspaceId};

use crate::code::{WAIT_CAPACITY, WAIT_PENDING};
use crate::limits::range;
use crate::postgres::Handle;
use crate::postgres::column::{self, Id};
use crate::postgres::connection::{Step, values};
use crate::roles::Limits;
use crate::row::RowReader;
use crate::{Error, InLine, LimitFigures, LimitPlace, LimitWrite, Page, PressurePlace, SettingsWrite};

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

    fn limits_by_pressure(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<PressurePlace>,
    ) -> Result<Vec<Limit>, Error> {
        let only = if name.is_some() { "name = $2 AND" } else { "$2::text IS NULL AND" };
        let sql = format!(
            "SELECT document FROM limits
             WHERE workspace = $1 AND {only} waiting > 0 AND waiting <= $3 AND (waiting < $3 OR id > $4)
             ORDER BY waiting DESC, id LIMIT $5"
        );
        let after = page.after.unwrap_or(PressurePlace { waiting: u64::MAX >> 1, id: LimitId(0) });
        let (waiting, id) = (column::count(after.waiting), Id(after.id.0));
        let (place, name, limit) =
            (column::workspace(workspace), name.map(column::name), column::limit(page.limit));
        let rows = self
            .connection
            .ask(async |session| session.rows(&sql, &[&place, &name, &waiting, &id, &limit]).await)?;
        rows.iter().map(|row| row.json(0)).collect()
    }

    fn limit_figures(&mut self, limit: usize) -> Result<Vec<LimitFigures>, Error> {
        let sql = "SELECT workspace, name, count(*), sum(used)::bigint, sum(waiting)::bigint, min(waiting_since) FROM limits
            GROUP BY workspace, name ORDER BY sum(waiting) DESC, workspace, name LIMIT $1";
        let limit = column::limit(limit);
        let rows = self.connection.ask(async |session| session.rows(sql, &[&limit]).await)?;
        rows.iter().map(LimitFigures::read).collect()
    }

    fn limit_settings(&mut self, id: LimitId) -> Result<Option<LimitSettings>, Error> {
        let sql = "SELECT document FROM limit_settings WHERE id = $1";
        let found = self.connection.ask(async |session| session.first(sql, &[&Id(id.0)]).await)?;
        found.map(|row| row.json(0)).transpose()
    }

    fn all_limit_settings(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        limit: usize,
    ) -> Result<Vec<LimitSettings>, Error> {
        let only = if name.is_some() { "name = $2" } else { "$2::text IS NULL" };
        let sql = format!(
            "SELECT document FROM limit_settings WHERE workspace = $1 AND {only} ORDER BY name, id LIMIT $3"
        );
        let (place, name, limit) =
            (column::workspace(workspace), name.map(column::name), column::limit(limit));
        let rows = self.connection.ask(async |session| session.rows(&sql, &[&place, &name, &limit]).await)?;
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
        let sql = format!(
            "UPDATE limits SET version = new.version, due_at = new.due_at, used = new.used, waiting = new.waiting,
                waiting_since = new.waiting_since, document = new.document
            FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                    $8::text[], $9::uuid[], $10::bigint[])
                AS new (id, based_on, version, due_at, used, waiting, waiting_since, document, settings, set_by)
            WHERE limits.id = new.id AND limits.version = new.based_on AND {AS_SET}"
        );
        let values = values![
            ids(&changed),
            bases(&changed),
            versions(&changed),
            dues(&changed),
            used(&changed),
            waiting(&changed),
            waiting_since(&changed),
            documents(&changed),
            settings(&changed),
            set_by(&changed)
        ];
        steps.push((changed.len(), Step { sql: sql.into(), values }));
    }
    if !removed.is_empty() {
        let sql = format!(
            "DELETE FROM limits USING unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[])
                AS new (id, based_on, settings, set_by)
            WHERE limits.id = new.id AND limits.version = new.based_on AND {AS_SET}"
        );
        let values = values![ids(&removed), bases(&removed), settings(&removed), set_by(&removed)];
        steps.push((removed.len(), Step { sql: sql.into(), values }));
    }
    if !new.is_empty() {
        let sql = format!(
            "INSERT INTO limits (id, workspace, name, key, version, due_at, used, waiting, waiting_since, document)
            SELECT id, workspace, name, key, version, due_at, used, waiting, waiting_since, document
            FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
                    $8::bigint[], $9::bigint[], $10::text[], $11::uuid[], $12::bigint[])
                AS new (id, workspace, name, key, version, due_at, used, waiting, waiting_since, document, settings, set_by)
            WHERE {AS_SET}
            ON CONFLICT DO NOTHING"
        );
        let name = |text: &str| column::name(text).into_owned();
        let values = values![
            ids(&new),
            new.iter().map(|write| column::workspace(write.limit.workspace)).collect::<Vec<i64>>(),
            new.iter().map(|write| name(&write.limit.name)).collect::<Vec<String>>(),
            new.iter().map(|write| name(&write.limit.key)).collect::<Vec<String>>(),
            versions(&new),
            dues(&new),
            used(&new),
            waiting(&new),
            waiting_since(&new),
            documents(&new),
            settings(&new),
            set_by(&new)
        ];
        steps.push((new.len(), Step { sql: sql.into(), values }));
    }
    steps
}

/// A limit was decided on as it is set.
const AS_SET: &str =
    "new.set_by = coalesce((SELECT version FROM limit_settings WHERE limit_settings.id = new.settings), 0)";

/// What is locked before anything else ("limits", as a number): whoever sets limits waits for commits that were decided by what
/// was set before, and they for it.
pub(super) fn lock(writes: &[LimitWrite<'_>], settings: &[SettingsWrite<'_>]) -> Option<&'static str> {
    const ALONE: &str = "SELECT pg_advisory_xact_lock(119200062993523)";
    const TOGETHER: &str = "SELECT pg_advisory_xact_lock_shared(119200062993523)";
    if !settings.is_empty() { Some(ALONE) } else { (!writes.is_empty()).then_some(TOGETHER) }
}

/// The statements that write what is set. Each affects as many rows as it is given, unless somebody else was first.
pub(super) fn settings_steps<'a>(writes: &[SettingsWrite<'a>]) -> Vec<(usize, Step<'a>)> {
    let steps = writes.iter().map(|write| {
        let SettingsWrite { based_on, settings, removed } = write;
        let (id, based_on) = (Id(settings.id.0), column::count(*based_on));
        if *removed {
            let sql = "DELETE FROM limit_settings WHERE id = $1 AND version = $2";
            return (1, Step { sql: sql.into(), values: values![id, based_on] });
        }
        let document = serde_json::to_string(settings).expect("settings are JSON");
        let version = column::count(settings.version);
        if based_on > 0 {
            let sql = "UPDATE limit_settings SET version = $3, document = $4 WHERE id = $1 AND version = $2";
            return (1, Step { sql: sql.into(), values: values![id, based_on, version, document] });
        }
        let sql =
            "INSERT INTO limit_settings (id, workspace, name, version, document) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT DO NOTHING";
        let (workspace, name) =
            (column::workspace(settings.workspace), column::name(&settings.name).into_owned());
        (1, Step { sql: sql.into(), values: values![id, workspace, name, version, document] })
    });
    steps.collect()
}

/// Whoever set one of these meanwhile.
pub(super) fn first_set(writes: &[SettingsWrite<'_>]) -> Option<RunId> {
    writes.first().map(|write| RunId(write.settings.id.0))
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

fn used(writes: &[&LimitWrite<'_>]) -> Vec<i64> {
    writes.iter().map(|write| i64::from(write.limit.used)).collect()
}

fn waiting(writes: &[&LimitWrite<'_>]) -> Vec<i64> {
    writes.iter().map(|write| column::count(write.limit.waiting)).collect()
}

fn waiting_since(writes: &[&LimitWrite<'_>]) -> Vec<Option<i64>> {
    writes.iter().map(|write| write.limit.waiting_since.map(column::instant)).collect()
}

fn settings(writes: &[&LimitWrite<'_>]) -> Vec<Id> {
    writes.iter().map(|write| Id(write.limit.settings_id().0)).collect()
}

fn set_by(writes: &[&LimitWrite<'_>]) -> Vec<i64> {
    writes.iter().map(|write| column::count(write.limit.set_by)).collect()
}
