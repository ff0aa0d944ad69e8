//! Nodes, and the tasks that are out. What is written here is not synced: a crash of the server makes tasks free again
//! that somebody had taken, and nothing else.

use abide_core::id::RunId;
use jiff::Timestamp;
use tokio_postgres::Row;

use crate::postgres::Handle;
use crate::postgres::column::{self, Column, Id};
use crate::postgres::link::{Step, values};
use crate::postgres::news;
use crate::share::{Beat, FoundTask, News, NodeId, Share, TaskCounts, WantedTasks};
use crate::{Error, code};

/// A connection of a node to what it shares with others.
#[derive(Debug)]
pub struct Sharing;

/// A node that was not heard of for so long does not count, and is forgotten after the second.
const SEEN_US: i64 = 1_200_000;
const FORGOTTEN_US: i64 = 60_000_000;

/// Goes from workflow to workflow, a step in the index each, and looks at the oldest tasks of each. Takes the first of
/// all, then the second of all, until there are enough.
macro_rules! take {
    (where $is_wanted:literal) => {
        concat!(
            "WITH RECURSIVE flows AS (
                SELECT flows.*, (SELECT tasks.definition FROM tasks
                    WHERE NOT has_begun AND ", $is_wanted, " ORDER BY tasks.definition LIMIT 1) AS definition
                FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY
                    AS flows (workspace, queue, most, number)
                UNION ALL
                SELECT flows.workspace, flows.queue, flows.most, flows.number, (SELECT tasks.definition FROM tasks
                    WHERE NOT has_begun AND ", $is_wanted, " AND tasks.definition > flows.definition
                    ORDER BY tasks.definition LIMIT 1)
                FROM flows WHERE flows.definition IS NOT NULL),
            free AS (
                SELECT flows.number, flows.most, free.ctid, free.free_at, row_number()
                    OVER (PARTITION BY flows.number, flows.definition ORDER BY free.free_at) AS turn
                FROM flows CROSS JOIN LATERAL (SELECT tasks.ctid, tasks.free_at FROM tasks
                    WHERE NOT has_begun AND ", $is_wanted, " AND tasks.definition = flows.definition
                      AND tasks.free_at <= $4
                    ORDER BY tasks.free_at LIMIT flows.most FOR UPDATE SKIP LOCKED) AS free),
            taken AS (
                SELECT free.ctid, free.most, row_number()
                    OVER (PARTITION BY free.number ORDER BY free.turn, free.free_at) AS place FROM free)
            UPDATE tasks SET free_at = $5
            WHERE ctid = ANY (ARRAY(SELECT taken.ctid FROM taken WHERE taken.place <= taken.most))
            RETURNING run, place, delivery, workspace, queue"
        )
    };
}

pub(super) const TAKE_ANYWHERE: &str = take!(where "tasks.queue = flows.queue");
pub(super) const TAKE_SOMEWHERE: &str =
    take!(where "tasks.workspace = flows.workspace AND tasks.queue = flows.queue");

impl Share for Handle<Sharing> {
    fn beat(&mut self, node: NodeId) -> Result<Beat, Error> {
        const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let said = format!(
            "INSERT INTO nodes (id, seen_at) VALUES ($1, {NOW}) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at"
        );
        let others = format!("SELECT id, {NOW} FROM nodes WHERE seen_at > {NOW} - $1 ORDER BY id");
        let gone = format!(
            "DELETE FROM nodes WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM nodes WHERE seen_at < {NOW} - $1 FOR UPDATE SKIP LOCKED))"
        );
        let rows = self.link.ask(async |session| {
            session.count(&said, &[&Id(node.0)]).await?;
            session.count(&gone, &[&FORGOTTEN_US]).await?;
            session.rows(&others, &[&SEEN_US]).await
        })?;
        let last = rows.last().ok_or_else(|| Error::Corrupt("a node that is not there".to_owned()))?;
        let now: i64 = last.try_get(1)?;
        let now = Timestamp::from_microsecond(now).map_err(|error| Error::Corrupt(error.to_string()))?;
        let nodes: Vec<NodeId> =
            rows.iter().map(|row| Ok(NodeId(row.id(0)?))).collect::<Result<_, Error>>()?;
        if let Some(crier) = self.link.crier.get() {
            crier.set_alone(nodes == [node]);
        }
        Ok(Beat { now, nodes })
    }

    fn leave(&mut self, node: NodeId) -> Result<(), Error> {
        let sql = "DELETE FROM nodes WHERE id = $1";
        self.link.ask(async |session| session.count(sql, &[&Id(node.0)]).await).map(drop)
    }

    fn take_tasks(
        &mut self,
        wanted: &[WantedTasks],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error> {
        let (now, until) = (column::instant(now), column::instant(until));
        let (somewhere, anywhere): (Vec<&WantedTasks>, Vec<&WantedTasks>) =
            wanted.iter().partition(|wanted| wanted.workspace.is_some());
        let step = |sql: &'static str, wanted: &[&WantedTasks]| {
            let each = || wanted.iter();
            let values = values![
                each().map(|wanted| wanted.workspace.map(column::workspace)).collect::<Vec<_>>(),
                each().map(|wanted| column::name(&wanted.queue).into_owned()).collect::<Vec<_>>(),
                each().map(|wanted| column::limit(wanted.limit)).collect::<Vec<_>>(),
                now,
                until,
            ];
            (!wanted.is_empty()).then(|| Step { sql: sql.into(), values })
        };
        let steps = [step(TAKE_ANYWHERE, &anywhere), step(TAKE_SOMEWHERE, &somewhere)];
        let steps: Vec<Step<'_>> = steps.into_iter().flatten().collect();
        let answers = self.link.ask(async |session| Ok(session.pipeline(None, &steps).await?))?;
        answers.iter().flat_map(|answer| &answer.rows).map(found).collect()
    }

    fn take_late_tasks(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<FoundTask>, Error> {
        let sql = "UPDATE tasks SET free_at = $2 WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM tasks WHERE has_begun AND free_at <= $1
            ORDER BY free_at LIMIT $3 FOR UPDATE SKIP LOCKED))
            RETURNING run, place, delivery, workspace, queue";
        let (now, until, limit) = (column::instant(now), column::instant(until), column::limit(limit));
        let rows = self.link.ask(async |session| session.rows(sql, &[&now, &until, &limit]).await)?;
        rows.iter().map(found).collect()
    }

    fn keep_tasks(&mut self, tasks: &[FoundTask], until: Timestamp) -> Result<(), Error> {
        let sql = "UPDATE tasks SET free_at = least($4, coalesce(deadline_at, $4)) WHERE ctid = ANY (ARRAY(
            SELECT kept.ctid FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS known (run, place, delivery)
                CROSS JOIN LATERAL (SELECT ctid FROM tasks
                    WHERE tasks.run = known.run AND tasks.place = known.place AND tasks.delivery = known.delivery
                    FOR UPDATE SKIP LOCKED) AS kept))";
        let runs: Vec<Id> = tasks.iter().map(|task| column::run(task.run)).collect();
        let places: Vec<i64> = tasks.iter().map(|task| code::place(task.at)).collect();
        let deliveries: Vec<i64> = tasks.iter().map(|task| task.delivery.into()).collect();
        let until = column::instant(until);
        self.link
            .ask(async |session| session.count(sql, &[&runs, &places, &deliveries, &until]).await)
            .map(drop)
    }

    fn count_tasks(&mut self, most: usize) -> Result<TaskCounts, Error> {
        let sql = "SELECT
            (SELECT count(*) FROM (SELECT FROM tasks WHERE has_begun ORDER BY free_at LIMIT $1) AS begun),
            (SELECT count(*) FROM (SELECT FROM tasks WHERE NOT has_begun ORDER BY queue LIMIT $1) AS free)";
        let row = self.link.ask(async |session| session.one(sql, &[&column::limit(most)]).await)?;
        Ok(TaskCounts { begun: row.number(0)?, free: row.number(1)? })
    }

    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
        let sql = "SELECT runs.id, runs.seq FROM unnest($1::uuid[]) AS asked (run) JOIN runs ON runs.id = asked.run";
        let runs: Vec<Id> = runs.iter().map(|run| column::run(*run)).collect();
        let rows = self.link.ask(async |session| session.rows(sql, &[&runs]).await)?;
        rows.iter().map(|row| Ok((RunId(row.id(0)?), row.number(1)?))).collect()
    }

    fn hear(&mut self, hear: Box<dyn Fn(Vec<News>) + Send + Sync>) -> Result<(), Error> {
        news::begin(&self.link, hear);
        Ok(())
    }
}

fn found(row: &Row) -> Result<FoundTask, Error> {
    Ok(FoundTask {
        run: RunId(row.id(0)?),
        at: code::read_place(row.number(1)?)?,
        delivery: row.number(2)?,
        workspace: row.workspace(3)?,
        queue: row.name(4)?.into(),
    })
}
