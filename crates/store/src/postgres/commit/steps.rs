//! The statements of a commit: one for the rows of all runs, and one for each other table.

use std::collections::{BTreeMap, HashMap, HashSet};

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::waitpoint::Waitpoint;

use super::together::Together;
use super::{Looks, Mark, event_waits};
use crate::postgres::column::{self, Id};
use crate::postgres::cost::Costs;
use crate::postgres::link::{Step, Value, values};
use crate::postgres::looks::{Look, Snapshot, event_key};
use crate::postgres::{follow_ups, schedules, webhooks};
use crate::tasks::{StoredTask, TaskWrite};
use crate::{
    Batch, Delivery, Error, FollowUpWrite, NewDefinition, RunWrite, ScheduleWrite, chunk, code, waits,
};

/// What a statement is for.
pub(super) enum Part {
    Locks,
    Definitions,
    /// All rows of runs. It answers with the transaction, or fails if not all of them were written.
    Rows,
    Costs,
    /// So many schedules.
    Schedules(usize),
    /// So many follow-ups.
    FollowUps(usize),
    Descendants,
    Deliveries,
    Tasks,
    Occurrences,
    Remembered,
    UnheardWaits,
    UnheardEvents,
}

/// What is sent, and what each of it is for.
#[derive(Default)]
pub(super) struct Plan<'a> {
    pub(super) steps: Vec<Step<'a>>,
    pub(super) parts: Vec<Part>,
    rows: Together<'a>,
}

impl<'a> Plan<'a> {
    pub(super) fn of(batch: &Batch<'a>, looks: &Looks, mark: Mark) -> Result<Plan<'a>, Error> {
        let mut plan = Plan::default();
        let mut runs: Vec<&RunWrite<'a>> =
            batch.runs.iter().filter(|write| !write.records.is_empty()).collect();
        runs.sort_by_key(|write| write.run.id);
        let events = Events::of(batch, &runs, looks)?;
        plan.lock(&events);
        plan.write_definitions(&batch.definitions);
        let place = plan.steps.len();
        let (new, known): (Vec<&RunWrite<'a>>, Vec<&RunWrite<'a>>) =
            runs.iter().copied().partition(|write| write.based_on == 0);
        let mut encoder = chunk::Encoder::default();
        let chunks: Vec<Vec<u8>> =
            runs.iter().map(|write| encoder.encode(write.run.id, write.records).to_vec()).collect();
        let tails: HashMap<RunId, u32> =
            runs.iter().zip(&chunks).map(|(write, chunk)| (write.run.id, chunk::tail(chunk))).collect();
        let (moved, known): (Vec<&RunWrite<'a>>, Vec<&RunWrite<'a>>) =
            known.into_iter().partition(|write| write.is_moved());
        plan.update_runs(&known, &tails);
        plan.move_runs(&moved, &tails);
        plan.insert_runs(&new, &tails);
        plan.weigh(&runs, &chunks, &batch.occurrences);
        plan.append_history(&runs, chunks);
        plan.write_waitpoints(&runs)?;
        plan.add_costs(&runs);
        plan.write_schedules(&batch.schedules);
        plan.write_follow_ups(&batch.follow_ups);
        plan.add_descendants(&batch.descendants);
        plan.write_deliveries(&batch.deliveries);
        plan.write_tasks(&batch.tasks);
        plan.write_occurrences(&batch.occurrences);
        plan.write_remembered(&batch.remembered);
        plan.look_again(&events, looks);
        if !(plan.is_empty() && plan.rows.is_empty()) {
            plan.mark(mark);
            let rows = std::mem::take(&mut plan.rows).step();
            plan.parts.insert(place, Part::Rows);
            plan.steps.insert(place, rows);
        }
        Ok(plan)
    }

    /// Writes the number of this commit, by which its writer knows later whether it was written. If the writer lost the
    /// answer and asked for the [outcome](super::outcome) before this came to be written, the commit fails.
    fn mark(&mut self, Mark { writer, number }: Mark) {
        self.rows.add(
            "marked",
            "INSERT INTO commits (writer, number, written_at) VALUES ($1, $2, now())
             ON CONFLICT (writer) DO UPDATE SET written_at = excluded.written_at,
                 number = excluded.number / (commits.number < excluded.number)::integer",
            values![writer, number],
        );
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Then it holds the rows of runs, and says itself whether they were written.
    pub(super) fn is_one_statement(&self) -> bool {
        self.steps.len() == 1
    }

    fn add(&mut self, part: Part, sql: &'static str, values: Vec<Value<'a>>) {
        self.parts.push(part);
        self.steps.push(Step { sql: sql.into(), values });
    }

    /// Events of an id exclude each other and all waits for it; waits do not exclude each other.
    fn lock(&mut self, events: &Events<'_>) {
        if events.0.is_empty() {
            return;
        }
        let mut locks: BTreeMap<i64, bool> = BTreeMap::new();
        for (&(workspace, event_id), event) in &events.0 {
            *locks.entry(event_key(workspace, event_id)).or_default() |= event.occurs;
        }
        let (keys, alone): (Vec<i64>, Vec<bool>) = locks.into_iter().unzip();
        self.add(
            Part::Locks,
            "SELECT CASE WHEN alone THEN pg_advisory_xact_lock(key) ELSE pg_advisory_xact_lock_shared(key) END
             FROM unnest($1::bigint[], $2::boolean[]) AS locks (key, alone)",
            values![keys, alone],
        );
    }

    fn write_definitions(&mut self, definitions: &[NewDefinition<'a>]) {
        if definitions.is_empty() {
            return;
        }
        let each = || definitions.iter();
        let awaits = |new: &NewDefinition<'_>| serde_json::to_string(new.awaits).expect("event ids are JSON");
        self.add(
            Part::Definitions,
            "INSERT INTO definitions (id, workspace, name, version, document, created_at, awaits)
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
             ON CONFLICT DO NOTHING",
            values![
                each().map(|new| column::definition(new.id)).collect::<Vec<_>>(),
                each().map(|new| column::workspace(new.workspace)).collect::<Vec<_>>(),
                each().map(|new| column::name(new.name)).collect::<Vec<_>>(),
                each().map(|new| column::name(new.version)).collect::<Vec<_>>(),
                each().map(|new| new.document).collect::<Vec<_>>(),
                each().map(|new| column::instant(new.created_at)).collect::<Vec<_>>(),
                each().map(awaits).collect::<Vec<_>>(),
            ],
        );
    }

    /// Of a run that has moved on or is gone, no row is written.
    fn update_runs(&mut self, known: &[&RunWrite<'a>], tails: &HashMap<RunId, u32>) {
        if known.is_empty() {
            return;
        }
        let each = || known.iter().map(|write| write.run);
        self.rows.add(
            "moved",
            "UPDATE runs SET seq = new.seq, written_at = new.written_at, status = new.status,
                 ended_at = new.ended_at, deadline_at = new.deadline_at,
                 sum = (runs.sum * 16777619 + new.tail + 1) % 4294967291
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[], $7::bigint[],
                     $8::bigint[])
                 AS new (id, based_on, seq, written_at, status, ended_at, deadline_at, tail)
             WHERE runs.id = new.id AND runs.seq = new.based_on
             RETURNING 1",
            values![
                ids(known),
                known.iter().map(|write| column::count(write.based_on)).collect::<Vec<_>>(),
                each().map(|run| column::count(run.seq)).collect::<Vec<_>>(),
                known.iter().map(|write| written_at(write)).collect::<Vec<_>>(),
                each().map(|run| column::run_status(run.status)).collect::<Vec<_>>(),
                each().map(|run| run.ended_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| run.open_deadline().map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| i64::from(tails[&run.id])).collect::<Vec<_>>(),
            ],
        );
        self.rows.expect("moved", known.len());
    }

    /// Runs that have another version of their workflow. A statement changes a row once, so all of it is changed here.
    fn move_runs(&mut self, moved: &[&RunWrite<'a>], tails: &HashMap<RunId, u32>) {
        if moved.is_empty() {
            return;
        }
        let each = || moved.iter().map(|write| write.run);
        self.rows.add(
            "versioned",
            "UPDATE runs SET seq = new.seq, written_at = new.written_at, status = new.status,
                 ended_at = new.ended_at, deadline_at = new.deadline_at, version = new.version,
                 sum = (runs.sum * 16777619 + new.tail + 1) % 4294967291
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[], $7::bigint[],
                     $8::bigint[], $9::text[])
                 AS new (id, based_on, seq, written_at, status, ended_at, deadline_at, tail, version)
             WHERE runs.id = new.id AND runs.seq = new.based_on AND {sound}
             RETURNING 1",
            values![
                ids(moved),
                moved.iter().map(|write| column::count(write.based_on)).collect::<Vec<_>>(),
                each().map(|run| column::count(run.seq)).collect::<Vec<_>>(),
                moved.iter().map(|write| written_at(write)).collect::<Vec<_>>(),
                each().map(|run| column::run_status(run.status)).collect::<Vec<_>>(),
                each().map(|run| run.ended_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| run.open_deadline().map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| i64::from(tails[&run.id])).collect::<Vec<_>>(),
                each().map(|run| column::name(&run.definition_ref.version)).collect::<Vec<_>>(),
            ],
        );
        self.rows.expect("versioned", moved.len());
    }

    fn insert_runs(&mut self, new: &[&RunWrite<'a>], tails: &HashMap<RunId, u32>) {
        if new.is_empty() {
            return;
        }
        let each = || new.iter().map(|write| write.run);
        let tags = |tags: &_| serde_json::to_string(tags).expect("tags are JSON");
        self.rows.add(
            "started",
            "INSERT INTO runs (id, workspace, seq, created_at, written_at, ended_at, deadline_at, status, definition,
                 version, tags, sum)
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                 $7::bigint[], $8::smallint[], $9::text[], $10::text[], $11::text[], $12::bigint[]) WHERE {sound}
             RETURNING 1",
            values![
                ids(new),
                each().map(|run| column::workspace(run.workspace)).collect::<Vec<_>>(),
                each().map(|run| column::count(run.seq)).collect::<Vec<_>>(),
                each().map(|run| column::instant(run.created_at)).collect::<Vec<_>>(),
                new.iter().map(|write| written_at(write)).collect::<Vec<_>>(),
                each().map(|run| run.ended_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| run.open_deadline().map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| column::run_status(run.status)).collect::<Vec<_>>(),
                each().map(|run| column::name(&run.definition_ref.name)).collect::<Vec<_>>(),
                each().map(|run| column::name(&run.definition_ref.version)).collect::<Vec<_>>(),
                each().map(|run| (!run.tags.is_empty()).then(|| tags(&run.tags))).collect::<Vec<_>>(),
                each().map(|run| i64::from(chunk::add_up_tail(0, tails[&run.id]))).collect::<Vec<_>>(),
            ],
        );
        self.rows.expect("started", new.len());
        let tagged = || each().flat_map(|run| run.tags.iter().map(move |tag| (run, tag)));
        if tagged().next().is_none() {
            return;
        }
        self.rows.add(
            "tagged",
            "INSERT INTO run_tags (workspace, run, tag)
             SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[]) WHERE {sound} ON CONFLICT DO NOTHING",
            values![
                tagged().map(|(run, _)| column::workspace(run.workspace)).collect::<Vec<_>>(),
                tagged().map(|(run, _)| column::run(run.id)).collect::<Vec<_>>(),
                tagged().map(|(_, tag)| column::name(tag)).collect::<Vec<_>>(),
            ],
        );
    }

    /// Notes what histories and events take.
    fn weigh(&mut self, runs: &[&RunWrite<'a>], chunks: &[Vec<u8>], occurrences: &[&'a Occurrence]) {
        let mut bytes: BTreeMap<WorkspaceId, usize> = BTreeMap::new();
        for (write, chunk) in runs.iter().zip(chunks) {
            *bytes.entry(write.run.workspace).or_default() += chunk.len();
        }
        for occurrence in occurrences {
            *bytes.entry(occurrence.workspace).or_default() += data(occurrence).len();
        }
        if bytes.is_empty() {
            return;
        }
        self.rows.add(
            "weighed",
            "INSERT INTO stored_bytes (workspace, bytes)
             SELECT * FROM unnest($1::bigint[], $2::bigint[]) WHERE {sound}",
            values![
                bytes.keys().copied().map(column::workspace).collect::<Vec<_>>(),
                bytes.values().copied().map(column::limit).collect::<Vec<_>>(),
            ],
        );
    }

    fn append_history(&mut self, runs: &[&RunWrite<'a>], chunks: Vec<Vec<u8>>) {
        if runs.is_empty() {
            return;
        }
        self.rows.add(
            "appended",
            "INSERT INTO history (run, based_on, seq, written_at, chunk)
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[]) WHERE {sound}",
            values![
                ids(runs),
                runs.iter().map(|write| column::count(write.based_on)).collect::<Vec<_>>(),
                runs.iter().map(|write| column::count(write.run.seq)).collect::<Vec<_>>(),
                runs.iter().map(|write| written_at(write)).collect::<Vec<_>>(),
                chunks,
            ],
        );
    }

    fn write_waitpoints(&mut self, runs: &[&RunWrite<'a>]) -> Result<(), Error> {
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

    fn insert_waitpoints(&mut self, waits: &[(&'a Run, &'a Waitpoint)]) {
        let each = || waits.iter().map(|(_, wait)| *wait);
        self.rows.add(
            "opened",
            "INSERT INTO waitpoints (run, number, workspace, created_at, resume_at, began_in, kind, status, listens,
                 filter)
             SELECT run, number, workspace, created_at, resume_at,
                 CASE WHEN kind = 3 THEN pg_current_xact_id() END, kind, status, listens, filter
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::smallint[],
                     $7::smallint[], $8::text[], $9::text[])
                 AS new (run, number, workspace, created_at, resume_at, kind, status, listens, filter)
             WHERE {sound}",
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
    fn update_waitpoints(&mut self, waits: &[(&'a Run, &'a Waitpoint)]) {
        let each = || waits.iter().map(|(_, wait)| *wait);
        self.rows.add(
            "changed",
            "UPDATE waitpoints SET status = new.status, resume_at = new.resume_at, filter = new.filter
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::smallint[], $5::text[])
                 AS new (run, number, resume_at, status, filter)
             WHERE waitpoints.run = new.run AND waitpoints.number = new.number AND {sound}",
            values![
                waits.iter().map(|(run, _)| column::run(run.id)).collect::<Vec<_>>(),
                each().map(|wait| i64::from(wait.number)).collect::<Vec<_>>(),
                each().map(|wait| wait.resume_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|wait| column::wait_status(wait.status)).collect::<Vec<_>>(),
                each().map(waits::filter).collect::<Vec<_>>(),
            ],
        );
    }

    fn add_costs(&mut self, runs: &[&RunWrite<'a>]) {
        let costs = Costs::of(runs);
        if !costs.is_empty() {
            self.add(Part::Costs, Costs::ADD, costs.values());
        }
    }

    fn write_schedules(&mut self, writes: &[ScheduleWrite<'a>]) {
        if !writes.is_empty() {
            for (count, step) in schedules::steps(writes) {
                self.parts.push(Part::Schedules(count));
                self.steps.push(step);
            }
        }
    }

    fn write_follow_ups(&mut self, writes: &[FollowUpWrite<'a>]) {
        for (count, step) in follow_ups::steps(writes) {
            self.parts.push(Part::FollowUps(count));
            self.steps.push(step);
        }
    }

    fn add_descendants(&mut self, more: &[(RunId, u64)]) {
        if !more.is_empty() {
            self.parts.push(Part::Descendants);
            self.steps.push(follow_ups::add_descendants(more));
        }
    }

    fn write_deliveries(&mut self, deliveries: &[&'a Delivery]) {
        if !deliveries.is_empty() {
            self.parts.push(Part::Deliveries);
            self.steps.push(webhooks::insert_deliveries(deliveries));
        }
    }

    /// The rows of a run are written by whoever has appended to its history, and so by one at a time; a sign of life
    /// leaves alone what somebody holds. A row that is touched by somebody who takes it at the very same moment may stay;
    /// whoever finds it next finds it out of date, and removes it.
    fn write_tasks(&mut self, tasks: &[&'a TaskWrite]) {
        let (mut put, mut put_at, mut removed, mut renewed) =
            (Vec::new(), HashSet::new(), Vec::new(), Vec::new());
        for &task in tasks {
            match task {
                TaskWrite::Put(task) => {
                    put_at.insert((task.run, task.at));
                    put.push(task);
                }
                TaskWrite::Remove { run, at, delivery } => removed.push((*run, *at, i64::from(*delivery))),
                TaskWrite::Renew { run, at, delivery, now } => {
                    renewed.push((column::run(*run), code::place(*at), i64::from(*delivery), *now));
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
                     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS known (run, place, delivery)
                         CROSS JOIN LATERAL (SELECT ctid FROM tasks
                             WHERE tasks.run = known.run AND tasks.place = known.place
                               AND tasks.delivery <= known.delivery
                             FOR UPDATE SKIP LOCKED) AS gone))",
                values![
                    each().map(|(run, ..)| column::run(*run)).collect::<Vec<_>>(),
                    each().map(|(_, at, _)| code::place(*at)).collect::<Vec<_>>(),
                    each().map(|(.., delivery)| *delivery).collect::<Vec<_>>(),
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
                     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS known (run, place, delivery)
                         CROSS JOIN LATERAL (SELECT ctid FROM tasks
                             WHERE tasks.run = known.run AND tasks.place = known.place
                               AND tasks.delivery = known.delivery AND has_begun
                             FOR UPDATE SKIP LOCKED) AS kept))",
                values![
                    renewed.iter().map(|(run, ..)| *run).collect::<Vec<_>>(),
                    renewed.iter().map(|(_, place, ..)| *place).collect::<Vec<_>>(),
                    renewed.iter().map(|(_, _, delivery, _)| *delivery).collect::<Vec<_>>(),
                    now,
                ],
            );
        }
    }

    fn put_tasks(&mut self, tasks: &[&'a StoredTask]) {
        let each = || tasks.iter();
        let lease = |lease: Millis| i64::try_from(lease.0).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        self.rows.add(
            "put",
            "INSERT INTO tasks (run, place, delivery, workspace, queue, definition, is_taken, has_begun, free_at, lease,
                 deadline_at)
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
                 $7::boolean[], $8::boolean[], $9::bigint[], $10::bigint[], $11::bigint[])
             WHERE {sound}
             ON CONFLICT (run, place) DO UPDATE
                 SET delivery = excluded.delivery, queue = excluded.queue, is_taken = excluded.is_taken,
                     has_begun = excluded.has_begun,
                     free_at = excluded.free_at, lease = excluded.lease, deadline_at = excluded.deadline_at",
            values![
                each().map(|task| column::run(task.run)).collect::<Vec<_>>(),
                each().map(|task| code::place(task.at)).collect::<Vec<_>>(),
                each().map(|task| i64::from(task.delivery)).collect::<Vec<_>>(),
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

    fn write_occurrences(&mut self, occurrences: &[&'a Occurrence]) {
        if occurrences.is_empty() {
            return;
        }
        let each = || occurrences.iter();
        self.add(
            Part::Occurrences,
            "INSERT INTO occurrences (id, workspace, received_at, stored_in, event_id, data, run)
             SELECT id, workspace, received_at, pg_current_xact_id(), event_id, data, run
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::uuid[])
                 AS new (id, workspace, received_at, event_id, data, run)",
            values![
                each().map(|occurrence| column::occurrence(occurrence.id)).collect::<Vec<_>>(),
                each().map(|occurrence| column::workspace(occurrence.workspace)).collect::<Vec<_>>(),
                each().map(|occurrence| column::instant(occurrence.received_at)).collect::<Vec<_>>(),
                each().map(|occurrence| column::name(&occurrence.event_id)).collect::<Vec<_>>(),
                each().map(|occurrence| data(occurrence)).collect::<Vec<_>>(),
                each().map(|occurrence| occurrence.run.map(column::run)).collect::<Vec<_>>(),
            ],
        );
    }

    /// The first answer under a key is the one that stands.
    fn write_remembered(&mut self, remembered: &[&'a Remembered]) {
        if remembered.is_empty() {
            return;
        }
        let mut sorted = remembered.to_vec();
        sorted.sort_by(|a, b| a.key.cmp(&b.key));
        let each = || sorted.iter();
        let reply =
            |remembered: &Remembered| serde_json::to_string(&remembered.reply).expect("a reply is JSON");
        self.add(
            Part::Remembered,
            "INSERT INTO remembered (key, digest, written_at, reply, run)
             SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::uuid[]) ON CONFLICT DO NOTHING",
            values![
                each().map(|remembered| column::name(&remembered.key)).collect::<Vec<_>>(),
                each().map(|remembered| remembered.digest.cast_signed()).collect::<Vec<_>>(),
                each().map(|remembered| column::instant(remembered.at)).collect::<Vec<_>>(),
                each().map(|remembered| reply(remembered)).collect::<Vec<_>>(),
                each().map(|remembered| remembered.run.map(column::run)).collect::<Vec<_>>(),
            ],
        );
    }

    /// What was committed elsewhere since the batch was decided. It stands at the end, so that what the batch itself
    /// resolves is not found.
    fn look_again(&mut self, events: &Events<'_>, looks: &Looks) {
        let own = looks.own();
        let occurring = events.looked_at(|event| event.occurs);
        if let Some([places, names, snapshots]) = occurring {
            self.add(
                Part::UnheardWaits,
                "SELECT unheard.run, unheard.workspace, unheard.filter
                 FROM unnest($1::bigint[], $2::text[], $3::text[]) AS event (workspace, event_id, seen)
                     CROSS JOIN LATERAL (SELECT run, waitpoints.workspace, filter FROM waitpoints
                         WHERE waitpoints.workspace = event.workspace AND listens = event.event_id
                           AND status = 0 AND kind = 3
                           AND began_in >= pg_snapshot_xmin(event.seen::pg_snapshot)
                           AND NOT pg_visible_in_snapshot(began_in, event.seen::pg_snapshot)
                           AND began_in <> pg_current_xact_id() AND began_in::text <> ALL ($4::text[])
                         OFFSET 0) AS unheard",
                vec![places, names, snapshots, Box::new(own.clone())],
            );
        }
        let awaited = events.looked_at(|event| event.is_awaited);
        if let Some([places, names, snapshots]) = awaited {
            self.add(
                Part::UnheardEvents,
                "SELECT unheard.* FROM unnest($1::bigint[], $2::text[], $3::text[]) AS event (workspace, event_id, seen)
                     CROSS JOIN LATERAL (SELECT id, occurrences.workspace, occurrences.event_id, received_at, data, run
                         FROM occurrences
                         WHERE occurrences.workspace = event.workspace AND occurrences.event_id = event.event_id
                           AND stored_in >= pg_snapshot_xmin(event.seen::pg_snapshot)
                           AND NOT pg_visible_in_snapshot(stored_in, event.seen::pg_snapshot)
                           AND stored_in <> pg_current_xact_id() AND stored_in::text <> ALL ($4::text[])
                         OFFSET 0) AS unheard",
                vec![places, names, snapshots, Box::new(own)],
            );
        }
    }
}

/// The instant of the last change.
fn written_at(write: &RunWrite<'_>) -> i64 {
    let last = write.records.last().expect("runs without records are left out");
    debug_assert_eq!(last.seq, write.run.seq, "a run is written after all its records");
    column::instant(last.at)
}

fn data(occurrence: &Occurrence) -> String {
    serde_json::to_string(&occurrence.data).expect("data is JSON")
}

fn ids(runs: &[&RunWrite<'_>]) -> Vec<Id> {
    runs.iter().map(|write| column::run(write.run.id)).collect()
}

/// The event ids that a batch is about.
struct Events<'a>(BTreeMap<(WorkspaceId, &'a str), Event>);

#[derive(Default)]
struct Event {
    occurs: bool,
    is_awaited: bool,
    /// What could be seen at the first look at it that the batch may have been decided on.
    seen: Option<Snapshot>,
}

impl<'a> Events<'a> {
    fn of(batch: &Batch<'a>, runs: &[&RunWrite<'a>], looks: &Looks) -> Result<Events<'a>, Error> {
        let mut events: BTreeMap<(WorkspaceId, &str), Event> = BTreeMap::new();
        for occurrence in &batch.occurrences {
            events.entry((occurrence.workspace, &occurrence.event_id)).or_default().occurs = true;
        }
        for write in runs {
            for (_, filter) in event_waits(write) {
                events.entry((write.run.workspace, &filter.event_id)).or_default().is_awaited = true;
            }
        }
        for (&(workspace, event_id), event) in &mut events {
            event.seen = match looks.first(event_key(workspace, event_id)) {
                Some(Look::Saw(snapshot)) => Some(snapshot),
                Some(Look::Lost) => return Err(super::went_away()),
                None => None,
            };
        }
        Ok(Events(events))
    }

    /// Workspaces, names and looks, of those that were looked at; `None` if there are none.
    fn looked_at<'v>(&self, wanted: fn(&Event) -> bool) -> Option<[Value<'v>; 3]> {
        let (mut places, mut names, mut snapshots) = (Vec::new(), Vec::new(), Vec::new());
        for ((workspace, event_id), event) in &self.0 {
            if let Some(seen) = event.seen.as_ref().filter(|_| wanted(event)) {
                places.push(column::workspace(*workspace));
                names.push(column::name(event_id).into_owned());
                snapshots.push(seen.clone());
            }
        }
        (!places.is_empty()).then(|| [Box::new(places) as Value<'v>, Box::new(names), Box::new(snapshots)])
    }
}
