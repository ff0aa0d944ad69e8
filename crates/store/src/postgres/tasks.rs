//! The tasks that are out. Leases are not synced: a crash of the server makes tasks free again that somebody had taken, and
//! nothing else.

use abide_core::id::RunId;
use jiff::Timestamp;
use tokio_postgres::Row;

use crate::postgres::column::{self, Id};
use crate::postgres::{Handle, Unsynced};
use crate::row::RowReader;
use crate::tasks::{FoundTask, LateTasks, Shares, TaskCounts, Tasks, WantedTasks};
use crate::{Error, code};

/// Tasks that are late, looked at in one statement and in one call: those that have not begun are only made free, and may
/// be as many as a node had that is gone.
const LATE_AT_ONCE: usize = 256;
const LATE_IN_ALL: usize = 4_096;

/// Goes from workflow to workflow, a step in the index each, and looks at the oldest tasks of each. In a workspace the first of
/// all workflows come first, then the second of all; the workspaces take turns, each with as many in a row as its share says.
pub(super) const TAKE: &str = "WITH RECURSIVE flows AS (
        SELECT asked.number, asked.queue, asked.last, asked.most, first.workspace, first.definition
        FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY
                AS asked (queue, first, last, most, number)
            CROSS JOIN LATERAL (SELECT tasks.workspace, tasks.definition FROM tasks
                WHERE NOT is_taken AND tasks.queue = asked.queue
                  AND tasks.workspace >= asked.first AND tasks.workspace <= asked.last
                ORDER BY tasks.workspace, tasks.definition LIMIT 1) AS first
        UNION ALL
        SELECT flows.number, flows.queue, flows.last, flows.most, next.workspace, next.definition
        FROM flows CROSS JOIN LATERAL (SELECT tasks.workspace, tasks.definition FROM tasks
                WHERE NOT is_taken AND tasks.queue = flows.queue AND tasks.workspace <= flows.last
                  AND (tasks.workspace, tasks.definition) > (flows.workspace, flows.definition)
                ORDER BY tasks.workspace, tasks.definition LIMIT 1) AS next),
    free AS (
        SELECT flows.number, flows.most, flows.workspace, free.ctid, free.free_at, row_number()
            OVER (PARTITION BY flows.number, flows.workspace, flows.definition ORDER BY free.free_at) AS turn
        FROM flows CROSS JOIN LATERAL (SELECT tasks.ctid, tasks.free_at FROM tasks
            WHERE NOT is_taken AND tasks.queue = flows.queue AND tasks.workspace = flows.workspace
              AND tasks.definition = flows.definition AND tasks.free_at <= $5
            ORDER BY tasks.free_at LIMIT flows.most FOR UPDATE SKIP LOCKED) AS free),
    within AS (
        SELECT free.*, row_number()
            OVER (PARTITION BY free.number, free.workspace ORDER BY free.turn, free.free_at) AS place FROM free),
    turns AS (
        SELECT within.ctid, within.most, row_number()
            OVER (PARTITION BY within.number ORDER BY (within.place - 1) / coalesce(own.share, 1), within.free_at) AS place
        FROM within LEFT JOIN unnest($7::bigint[], $8::bigint[]) AS own (workspace, share)
            ON own.workspace = within.workspace)
    UPDATE tasks SET is_taken = true, free_at = $6
    WHERE ctid = ANY (ARRAY(SELECT turns.ctid FROM turns WHERE turns.place <= turns.most))
    RETURNING run, place, lease_epoch, workspace, queue";

/// Those that have not begun are free from when their time was over, which keeps their place among the others.
pub(super) const TAKE_LATE: &str = "UPDATE tasks
        SET is_taken = has_begun, free_at = CASE WHEN has_begun THEN $2 ELSE free_at END
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM tasks WHERE is_taken AND free_at <= $1
        ORDER BY free_at LIMIT $3 FOR UPDATE SKIP LOCKED))
    RETURNING run, place, lease_epoch, workspace, queue, has_begun";

/// Goes from workflow to workflow of each queue, a step in the index each; counts those of each up to a number, and those that
/// are leased up to a number in all.
pub(super) const QUEUES: &str = "WITH RECURSIVE flows AS (
        (SELECT queue, workspace, definition FROM tasks WHERE NOT is_taken AND queue >= ''
            ORDER BY queue, workspace, definition LIMIT 1)
        UNION ALL
        SELECT next.queue, next.workspace, next.definition
        FROM flows CROSS JOIN LATERAL (SELECT tasks.queue, tasks.workspace, tasks.definition FROM tasks
            WHERE NOT is_taken
              AND (tasks.queue, tasks.workspace, tasks.definition) > (flows.queue, flows.workspace, flows.definition)
            ORDER BY tasks.queue, tasks.workspace, tasks.definition LIMIT 1) AS next),
    taken AS (SELECT queue, workspace FROM tasks WHERE is_taken AND free_at > 0 ORDER BY free_at LIMIT $1)
    SELECT flows.queue, flows.workspace, free.ready, 0::bigint, free.oldest
        FROM flows CROSS JOIN LATERAL (SELECT count(*) AS ready, min(found.free_at) AS oldest FROM (
            SELECT tasks.free_at FROM tasks
            WHERE NOT is_taken AND tasks.queue = flows.queue AND tasks.workspace = flows.workspace
              AND tasks.definition = flows.definition
            ORDER BY tasks.free_at LIMIT $1) AS found) AS free
    UNION ALL
    SELECT taken.queue, taken.workspace, 0::bigint, count(*), NULL::bigint FROM taken
        GROUP BY taken.queue, taken.workspace";

impl Tasks for Handle<Unsynced> {
    fn take_by_shares(
        &mut self,
        wanted: &[WantedTasks],
        shares: &Shares,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let anywhere = (i64::MIN, i64::MAX);
        let somewhere = |workspace| (column::workspace(workspace), column::workspace(workspace));
        let (first, last): (Vec<i64>, Vec<i64>) =
            wanted.iter().map(|wanted| wanted.workspace.map_or(anywhere, somewhere)).unzip();
        let queues: Vec<_> = wanted.iter().map(|wanted| column::name(&wanted.queue)).collect();
        let most: Vec<i64> = wanted.iter().map(|wanted| column::limit(wanted.limit)).collect();
        let (now, until) = (column::instant(now), column::instant(until));
        let (sharing, shares): (Vec<i64>, Vec<i64>) = shares
            .iter()
            .map(|(workspace, share)| (column::workspace(*workspace), i64::from((*share).max(1))))
            .unzip();
        let rows = self.connection.ask(async |session| {
            session.rows(TAKE, &[&queues, &first, &last, &most, &now, &until, &sharing, &shares]).await
        })?;
        rows.iter().map(found).collect()
    }

    fn late(&mut self, now: Timestamp, until: Timestamp, limit: usize) -> Result<LateTasks, Error> {
        let (now, until) = (column::instant(now), column::instant(until));
        let mut late = LateTasks::default();
        while late.taken.len() < limit && late.freed < LATE_IN_ALL {
            let most = LATE_AT_ONCE.min(limit - late.taken.len());
            let rows = self
                .connection
                .ask(async |session| session.rows(TAKE_LATE, &[&now, &until, &column::limit(most)]).await)?;
            for row in &rows {
                match row.try_get(5)? {
                    true => late.taken.push(found(row)?),
                    false => late.freed += 1,
                }
            }
            if rows.len() < most {
                break;
            }
        }
        Ok(late)
    }

    fn renew(&mut self, tasks: &[FoundTask], until: Timestamp) -> Result<(), Error> {
        self.set_lease(tasks, "true", until)
    }

    fn release(&mut self, tasks: &[FoundTask], now: Timestamp) -> Result<(), Error> {
        self.set_lease(tasks, "has_begun", now)
    }

    fn count(&mut self, most: usize) -> Result<TaskCounts, Error> {
        let sql = "SELECT
            (SELECT count(*) FROM (SELECT FROM tasks WHERE is_taken ORDER BY free_at LIMIT $1) AS taken),
            (SELECT count(*) FROM (SELECT FROM tasks WHERE NOT is_taken ORDER BY queue LIMIT $1) AS free)";
        let row = self.connection.ask(async |session| session.one(sql, &[&column::limit(most)]).await)?;
        Ok(TaskCounts { taken: row.number(0)?, free: row.number(1)? })
    }
}

impl Handle<Unsynced> {
    fn set_lease(&mut self, tasks: &[FoundTask], is_taken: &str, until: Timestamp) -> Result<(), Error> {
        let sql = format!(
            "UPDATE tasks SET is_taken = {is_taken}, free_at = least($4, coalesce(deadline_at, $4))
             WHERE ctid = ANY (ARRAY(
                 SELECT held.ctid FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS known (run, place, lease_epoch)
                     CROSS JOIN LATERAL (SELECT ctid FROM tasks
                         WHERE tasks.run = known.run AND tasks.place = known.place AND tasks.lease_epoch = known.lease_epoch
                         FOR UPDATE SKIP LOCKED) AS held))"
        );
        let runs: Vec<Id> = tasks.iter().map(|task| column::run(task.run)).collect();
        let places: Vec<i64> = tasks.iter().map(|task| code::place(task.at)).collect();
        let lease_epochs: Vec<i64> = tasks.iter().map(|task| task.lease_epoch.into()).collect();
        let until = column::instant(until);
        self.connection
            .ask(async |session| session.count(&sql, &[&runs, &places, &lease_epochs, &until]).await)
            .map(drop)
    }
}

fn found(row: &Row) -> Result<FoundTask, Error> {
    Ok(FoundTask {
        run: RunId(row.id(0)?),
        at: code::read_place(row.number(1)?)?,
        lease_epoch: row.number(2)?,
        workspace: row.workspace(3)?,
        queue: row.name(4)?.into(),
    })
}
