//! The rows of waits.

use abide_core::run::Run;
use abide_core::waitpoint::Waitpoint;

use super::plan::Plan;
use crate::code::WAIT_EVENT;
use crate::postgres::column;
use crate::postgres::connection::values;
use crate::{Error, RunWrite, waits};

impl<'a> Plan<'a> {
    pub(super) fn write_waitpoints(&mut self, runs: &[&RunWrite<'a>]) -> Result<(), Error> {
        let (mut opened, mut changed) = (Vec::new(), Vec::new());
        for write in runs {
            let opens = write.opens();
            for number in write.waitpoints() {
                let waitpoint = write
                    .run
                    .waitpoint(number)
                    .ok_or_else(|| Error::Corrupt(format!("{} has no waitpoint {number}", write.run.id)))?;
                let waits = if opens.contains(&number) { &mut opened } else { &mut changed };
                waits.push((write.run, waitpoint));
            }
        }
        if !opened.is_empty() {
            self.insert_waitpoints(&opened);
        }
        if !changed.is_empty() {
            self.update_waitpoints(&changed);
        }
        Ok(())
    }

    pub(super) fn insert_waitpoints(&mut self, waits: &[(&'a Run, &'a Waitpoint)]) {
        let each = || waits.iter().map(|(_, wait)| *wait);
        self.rows.add(
            "opened",
            &format!("INSERT INTO waitpoints (run, number, workspace, created_at, resume_at, began_in, kind, status, listens,
                 filter)
             SELECT run, number, workspace, created_at, resume_at,
                 CASE WHEN kind = {WAIT_EVENT} THEN pg_current_xact_id() END, kind, status, listens, filter
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::smallint[],
                     $7::smallint[], $8::text[], $9::text[])
                 AS new (run, number, workspace, created_at, resume_at, kind, status, listens, filter)
             WHERE ALL_ROWS_WRITTEN"),
            values![
                waits.iter().map(|(run, _)| column::run(run.id)).collect::<Vec<_>>(),
                each().map(|wait| i64::from(wait.number)).collect::<Vec<_>>(),
                waits.iter().map(|(run, _)| column::workspace(run.workspace)).collect::<Vec<_>>(),
                each().map(|wait| column::instant(wait.created_at)).collect::<Vec<_>>(),
                each().map(|wait| wait.resume_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|wait| column::kind(wait.kind)).collect::<Vec<_>>(),
                each().map(|wait| column::wait_status(wait.status)).collect::<Vec<_>>(),
                each()
                    .map(|wait| waits::listens(wait).map(|listens| column::name(&listens).into_owned()))
                    .collect::<Vec<_>>(),
                each().map(waits::filter).collect::<Vec<_>>(),
            ],
        );
    }

    /// The rest of a row stays as it began.
    pub(super) fn update_waitpoints(&mut self, waits: &[(&'a Run, &'a Waitpoint)]) {
        let each = || waits.iter().map(|(_, wait)| *wait);
        self.rows.add(
            "changed",
            "UPDATE waitpoints SET status = new.status, resume_at = new.resume_at, filter = new.filter
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::smallint[], $5::text[])
                 AS new (run, number, resume_at, status, filter)
             WHERE waitpoints.run = new.run AND waitpoints.number = new.number AND ALL_ROWS_WRITTEN",
            values![
                waits.iter().map(|(run, _)| column::run(run.id)).collect::<Vec<_>>(),
                each().map(|wait| i64::from(wait.number)).collect::<Vec<_>>(),
                each().map(|wait| wait.resume_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|wait| column::wait_status(wait.status)).collect::<Vec<_>>(),
                each().map(waits::filter).collect::<Vec<_>>(),
            ],
        );
    }
}
