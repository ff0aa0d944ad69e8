//! The statements of a commit: one for the rows of all runs, and one for each other table.

use std::borrow::Cow;
use std::collections::HashMap;

use abide_core::id::RunId;
use abide_core::idempotency::IdempotencyRecord;

use super::Mark;
use super::batch_statement::BatchStatement;
use super::events::Events;
use crate::postgres::column;
use crate::postgres::connection::{Step, Value, values};
use crate::postgres::costs::NewCosts;
use crate::postgres::event_snapshots::SnapshotLog;
use crate::postgres::refusal::Refusal;
use crate::postgres::{event_starts, follow_ups, limits, schedules, webhooks};
use crate::{
    Batch, Delivery, Error, EventStartWrite, FollowUpWrite, NewDefinition, RunWrite, ScheduleWrite, chunk,
};

/// What a statement is for.
pub(super) enum Part {
    Locks,
    Definitions,
    EventStarts,
    /// All rows of runs. It answers with the transaction, or fails if not all of them were written.
    Rows,
    Costs,
    /// How many schedules are written.
    Schedules(usize),
    /// How many limits are written.
    Limits(usize),
    /// How many settings of limits are written.
    LimitSettings(usize),
    /// How many follow-ups are written.
    FollowUps(usize),
    Descendants,
    Deliveries,
    Tasks,
    Events,
    IdempotencyRecord,
    UnheardWaits,
    UnheardEvents,
}

/// What is sent, and what each of it is for.
#[derive(Default)]
pub(super) struct Plan<'a> {
    pub(super) steps: Vec<Step<'a>>,
    pub(super) parts: Vec<Part>,
    /// The rows of all runs.
    pub(super) rows: BatchStatement<'a>,
}

impl<'a> Plan<'a> {
    /// With snapshots of those runs that are due.
    pub(super) fn of(
        batch: &Batch<'a>,
        snapshots: &SnapshotLog,
        mark: Mark,
        due: &[&RunWrite<'a>],
    ) -> Result<Plan<'a>, Error> {
        let mut plan = Plan::default();
        let mut runs: Vec<&RunWrite<'a>> =
            batch.runs.iter().filter(|write| !write.records.is_empty()).collect();
        runs.sort_by_key(|write| write.run.id);
        let events = Events::of(batch, &runs, snapshots)?;
        plan.lock(&events);
        if let Some(sql) = limits::lock(&batch.limits, &batch.limit_settings) {
            plan.add(Part::Locks, sql, Vec::new());
        }
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
        plan.weigh(&runs, &chunks, &batch.events);
        plan.append_history(&runs, chunks);
        let updated = [(&known, "moved"), (&moved, "versioned")];
        let updated: Vec<&str> =
            updated.iter().filter(|(runs, _)| !runs.is_empty()).map(|(_, part)| *part).collect();
        plan.write_snapshots(due, &updated);
        plan.write_waitpoints(&runs)?;
        plan.add_costs(&runs);
        plan.write_schedules(&batch.schedules);
        for (count, step) in limits::settings_steps(&batch.limit_settings) {
            plan.parts.push(Part::LimitSettings(count));
            plan.steps.push(step);
        }
        for (count, step) in limits::steps(&batch.limits) {
            plan.parts.push(Part::Limits(count));
            plan.steps.push(step);
        }
        plan.write_follow_ups(&batch.follow_ups);
        plan.add_descendants(&batch.descendants);
        plan.write_deliveries(&batch.deliveries);
        plan.write_tasks(&batch.tasks);
        plan.write_events(&batch.events);
        plan.write_event_starts(&batch.event_starts);
        plan.write_idempotency_records(&batch.idempotency);
        plan.look_again(&events, snapshots);
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
            &format!(
                "INSERT INTO commits (writer, number, written_at) VALUES ($1, $2, now())
             ON CONFLICT (writer) DO UPDATE SET written_at = excluded.written_at,
                 number = CASE WHEN commits.number < excluded.number THEN excluded.number ELSE {} END",
                Refusal::Fenced.sql()
            ),
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

    pub(super) fn add(&mut self, part: Part, sql: impl Into<Cow<'static, str>>, values: Vec<Value<'a>>) {
        self.parts.push(part);
        self.steps.push(Step { sql: sql.into(), values });
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

    fn add_costs(&mut self, runs: &[&RunWrite<'a>]) {
        let costs = NewCosts::of(runs);
        if !costs.is_empty() {
            self.add(Part::Costs, NewCosts::ADD, costs.values());
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

    fn write_event_starts(&mut self, writes: &[EventStartWrite<'a>]) {
        if !writes.is_empty() {
            self.parts.push(Part::EventStarts);
            self.steps.push(event_starts::write(writes));
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

    /// The first answer under a key is the one that stands.
    fn write_idempotency_records(&mut self, idempotency: &[&'a IdempotencyRecord]) {
        if idempotency.is_empty() {
            return;
        }
        let mut sorted = idempotency.to_vec();
        sorted.sort_by(|a, b| a.key.cmp(&b.key));
        let each = || sorted.iter();
        let reply = |idempotency: &IdempotencyRecord| {
            serde_json::to_string(&idempotency.reply).expect("a reply is JSON")
        };
        self.add(
            Part::IdempotencyRecord,
            "INSERT INTO idempotency_records (key, digest, written_at, reply, run)
             SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::uuid[]) ON CONFLICT DO NOTHING",
            values![
                each().map(|idempotency| column::name(&idempotency.key)).collect::<Vec<_>>(),
                each().map(|idempotency| idempotency.digest.cast_signed()).collect::<Vec<_>>(),
                each().map(|idempotency| column::instant(idempotency.at)).collect::<Vec<_>>(),
                each().map(|idempotency| reply(idempotency)).collect::<Vec<_>>(),
                each().map(|idempotency| idempotency.run.map(column::run)).collect::<Vec<_>>(),
            ],
        );
    }
}
