//! The rows of tasks that are out.

use std::collections::HashSet;

use abide_core::time::Millis;

use super::plan::{Part, Plan};
use crate::code;
use crate::postgres::column;
use crate::postgres::connection::values;
use crate::tasks::{StoredTask, TaskWrite};

impl<'a> Plan<'a> {
    /// The rows of a run are written by whoever has appended to its history, and so by one at a time; a sign of life
    /// leaves alone what somebody holds. A row that is touched by somebody who takes it at the very same moment may stay;
    /// whoever finds it next finds it out of date, and removes it.
    pub(super) fn write_tasks(&mut self, tasks: &[&'a TaskWrite]) {
        let (mut put, mut put_at, mut removed, mut renewed) =
            (Vec::new(), HashSet::new(), Vec::new(), Vec::new());
        for &task in tasks {
            match task {
                TaskWrite::Put(task) => {
                    put_at.insert((task.run, task.at));
                    put.push(task);
                }
                TaskWrite::Remove { run, at, lease_epoch } => {
                    removed.push((*run, *at, i64::from(*lease_epoch)))
                }
                TaskWrite::Renew { run, at, lease_epoch, now } => {
                    renewed.push((column::run(*run), code::place(*at), i64::from(*lease_epoch), *now));
                }
            }
        }
        // One that is put takes the place of an earlier one.
        removed.retain(|(run, at, _)| !put_at.contains(&(*run, *at)));
        if !removed.is_empty() {
            let each = || removed.iter();
            // Row by row: there are few tasks whenever somebody counts them, and many the next moment.
            self.rows.add(
                "removed",
                "DELETE FROM tasks WHERE ctid = ANY (ARRAY(
                     SELECT gone.ctid
                     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS known (run, place, lease_epoch)
                         CROSS JOIN LATERAL (SELECT ctid FROM tasks
                             WHERE tasks.run = known.run AND tasks.place = known.place
                               AND tasks.lease_epoch <= known.lease_epoch
                             FOR UPDATE SKIP LOCKED) AS gone))",
                values![
                    each().map(|(run, ..)| column::run(*run)).collect::<Vec<_>>(),
                    each().map(|(_, at, _)| code::place(*at)).collect::<Vec<_>>(),
                    each().map(|(.., lease_epoch)| *lease_epoch).collect::<Vec<_>>(),
                ],
            );
        }
        if !put.is_empty() {
            self.put_tasks(&put);
        }
        if let Some(now) = renewed.first().map(|(.., now)| column::instant(*now)) {
            self.add(
                Part::Tasks,
                "UPDATE tasks SET free_at = least($4 + lease, coalesce(deadline_at, $4 + lease))
                 WHERE ctid = ANY (ARRAY(
                     SELECT kept.ctid
                     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS known (run, place, lease_epoch)
                         CROSS JOIN LATERAL (SELECT ctid FROM tasks
                             WHERE tasks.run = known.run AND tasks.place = known.place
                               AND tasks.lease_epoch = known.lease_epoch AND has_begun
                             FOR UPDATE SKIP LOCKED) AS kept))",
                values![
                    renewed.iter().map(|(run, ..)| *run).collect::<Vec<_>>(),
                    renewed.iter().map(|(_, place, ..)| *place).collect::<Vec<_>>(),
                    renewed.iter().map(|(_, _, lease_epoch, _)| *lease_epoch).collect::<Vec<_>>(),
                    now,
                ],
            );
        }
    }

    pub(super) fn put_tasks(&mut self, tasks: &[&'a StoredTask]) {
        let each = || tasks.iter();
        let lease = |lease: Millis| i64::try_from(lease.0).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        self.rows.add(
            "put",
            "INSERT INTO tasks (run, place, lease_epoch, workspace, queue, definition, is_taken, has_begun, free_at, lease,
                 deadline_at)
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
                 $7::boolean[], $8::boolean[], $9::bigint[], $10::bigint[], $11::bigint[])
             WHERE ALL_ROWS_WRITTEN
             ON CONFLICT (run, place) DO UPDATE
                 SET lease_epoch = excluded.lease_epoch, queue = excluded.queue, is_taken = excluded.is_taken,
                     has_begun = excluded.has_begun,
                     free_at = excluded.free_at, lease = excluded.lease, deadline_at = excluded.deadline_at",
            values![
                each().map(|task| column::run(task.run)).collect::<Vec<_>>(),
                each().map(|task| code::place(task.at)).collect::<Vec<_>>(),
                each().map(|task| i64::from(task.lease_epoch)).collect::<Vec<_>>(),
                each().map(|task| column::workspace(task.workspace)).collect::<Vec<_>>(),
                each().map(|task| column::name(&task.queue)).collect::<Vec<_>>(),
                each().map(|task| column::name(&task.definition)).collect::<Vec<_>>(),
                each().map(|task| task.is_taken).collect::<Vec<_>>(),
                each().map(|task| task.has_begun).collect::<Vec<_>>(),
                each().map(|task| column::instant(task.free_at)).collect::<Vec<_>>(),
                each().map(|task| lease(task.lease)).collect::<Vec<_>>(),
                each().map(|task| task.deadline.map(column::instant)).collect::<Vec<_>>(),
            ],
        );
    }
}
