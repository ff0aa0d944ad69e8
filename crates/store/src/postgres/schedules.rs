//! Schedules, and their waits.

use abide_core::id::{RunId, ScheduleId, WorkspaceId};
use abide_core::schedule::Schedule;
use abide_core::waitpoint::Waitpoint;

use crate::postgres::Handle;
use crate::postgres::column::{self, Id};
use crate::postgres::connection::{Step, values};
use crate::roles::Schedules;
use crate::row::RowReader;
use crate::{Error, Page, ScheduleWrite};

impl<Role: Send> Schedules for Handle<Role> {
    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, Error> {
        let sql = "SELECT document FROM schedules WHERE id = $1";
        let found = self
            .connection
            .ask(async |session| session.first(sql, &[&column::run(id.owner().id())]).await)?;
        found.map(|row| row.json(0)).transpose()
    }

    fn schedule_by_name(&mut self, workspace: WorkspaceId, name: &str) -> Result<Option<Schedule>, Error> {
        let sql = "SELECT document FROM schedules WHERE workspace = $1 AND name = $2";
        let (workspace, name) = (column::workspace(workspace), column::name(name));
        let found = self.connection.ask(async |session| session.first(sql, &[&workspace, &name]).await)?;
        found.map(|row| row.json(0)).transpose()
    }

    fn schedules(&mut self, workspace: WorkspaceId, page: &Page<String>) -> Result<Vec<Schedule>, Error> {
        let sql = "SELECT document FROM schedules WHERE workspace = $1 AND name > $2 ORDER BY name LIMIT $3";
        // No name is empty.
        let after = column::name(page.after.as_deref().unwrap_or_default()).into_owned();
        let (workspace, limit) = (column::workspace(workspace), column::limit(page.limit));
        let rows =
            self.connection.ask(async |session| session.rows(sql, &[&workspace, &after, &limit]).await)?;
        rows.iter().map(|row| row.json(0)).collect()
    }
}

/// The statements that write schedules. Each of the first three affects as many rows as it is given, unless somebody
/// else was first.
pub(super) fn steps<'a>(writes: &[ScheduleWrite<'a>]) -> Vec<(usize, Step<'a>)> {
    let mut sorted: Vec<&ScheduleWrite<'a>> = writes.iter().collect();
    sorted.sort_by_key(|write| write.schedule.id);
    let of = |wanted: fn(&ScheduleWrite<'_>) -> bool| -> Vec<&ScheduleWrite<'a>> {
        sorted.iter().copied().filter(|write| wanted(write)).collect()
    };
    let new = of(|write| !write.removed && write.based_on == 0);
    let changed = of(|write| !write.removed && write.based_on > 0);
    let removed = of(|write| write.removed);
    let mut steps = Vec::new();
    if !new.is_empty() {
        let sql = "INSERT INTO schedules (id, workspace, name, seq, document)
            SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
            ON CONFLICT DO NOTHING";
        let places: Vec<i64> = new.iter().map(|write| column::workspace(write.schedule.workspace)).collect();
        let values = values![ids(&new), places, names(&new), versions(&new), documents(&new)];
        steps.push((new.len(), Step { sql: sql.into(), values }));
    }
    if !changed.is_empty() {
        let sql = "UPDATE schedules SET name = new.name, seq = new.seq, document = new.document
            FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
                AS new (id, based_on, name, seq, document)
            WHERE schedules.id = new.id AND schedules.seq = new.based_on";
        let values =
            values![ids(&changed), bases(&changed), names(&changed), versions(&changed), documents(&changed)];
        steps.push((changed.len(), Step { sql: sql.into(), values }));
    }
    if !removed.is_empty() {
        let sql = "DELETE FROM schedules USING unnest($1::uuid[], $2::bigint[]) AS gone (id, based_on)
            WHERE schedules.id = gone.id AND schedules.seq = gone.based_on";
        steps
            .push((removed.len(), Step { sql: sql.into(), values: values![ids(&removed), bases(&removed)] }));
    }
    steps.extend(waits(&sorted).into_iter().map(|step| (0, step)));
    steps
}

/// Few, and most of them as they were.
fn waits<'a>(writes: &[&ScheduleWrite<'a>]) -> [Step<'a>; 2] {
    let kept = || writes.iter().filter(|write| !write.removed);
    let of = |schedule: &'a Schedule| schedule.waits().map(move |wait| (schedule, wait));
    let waits: Vec<(&Schedule, &Waitpoint)> = kept().flat_map(|write| of(write.schedule)).collect();
    let each = || waits.iter().map(|(_, wait)| *wait);
    let write = Step {
        sql: "INSERT INTO waitpoints (run, number, workspace, kind, status, created_at, resume_at)
            SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::smallint[], $5::smallint[],
                $6::bigint[], $7::bigint[])
            ON CONFLICT (run, number) DO UPDATE SET status = excluded.status, resume_at = excluded.resume_at
            WHERE waitpoints.status <> excluded.status
               OR waitpoints.resume_at IS DISTINCT FROM excluded.resume_at"
            .into(),
        values: values![
            waits.iter().map(|(schedule, _)| column::run(schedule.id.owner().id())).collect::<Vec<Id>>(),
            each().map(|wait| i64::from(wait.number)).collect::<Vec<_>>(),
            waits.iter().map(|(schedule, _)| column::workspace(schedule.workspace)).collect::<Vec<_>>(),
            each().map(|wait| column::kind(wait.kind)).collect::<Vec<_>>(),
            each().map(|wait| column::wait_status(wait.status)).collect::<Vec<_>>(),
            each().map(|wait| column::instant(wait.created_at)).collect::<Vec<_>>(),
            each().map(|wait| wait.resume_at.map(column::instant)).collect::<Vec<_>>(),
        ],
    };
    // All of one that is gone, and of the others those that they have forgotten.
    let first = |write: &ScheduleWrite<'_>| match write.removed {
        true => i64::MAX,
        false => write.schedule.waits().next().map_or(0, |wait| wait.number.into()),
    };
    let forget = Step {
        sql:
            "DELETE FROM waitpoints WHERE ctid = ANY (ARRAY(
            SELECT old.ctid FROM unnest($1::uuid[], $2::bigint[]) AS known (run, first)
                CROSS JOIN LATERAL (SELECT ctid FROM waitpoints
                    WHERE waitpoints.run = known.run AND waitpoints.number < known.first FOR UPDATE) AS old))"
                .into(),
        values: values![ids(writes), writes.iter().map(|write| first(write)).collect::<Vec<i64>>()],
    };
    [write, forget]
}

/// Whoever wrote one of these meanwhile.
pub(super) fn first_of(writes: &[ScheduleWrite<'_>]) -> Option<RunId> {
    writes.first().map(|write| write.schedule.id.owner().id())
}

fn ids(writes: &[&ScheduleWrite<'_>]) -> Vec<Id> {
    writes.iter().map(|write| column::run(write.schedule.id.owner().id())).collect()
}

fn bases(writes: &[&ScheduleWrite<'_>]) -> Vec<i64> {
    writes.iter().map(|write| column::count(write.based_on)).collect()
}

fn versions(writes: &[&ScheduleWrite<'_>]) -> Vec<i64> {
    writes.iter().map(|write| column::count(write.schedule.seq)).collect()
}

fn names(writes: &[&ScheduleWrite<'_>]) -> Vec<String> {
    writes.iter().map(|write| column::name(&write.schedule.plan.name).into_owned()).collect()
}

fn documents(writes: &[&ScheduleWrite<'_>]) -> Vec<String> {
    writes.iter().map(|write| serde_json::to_string(write.schedule).expect("a schedule is JSON")).collect()
}
