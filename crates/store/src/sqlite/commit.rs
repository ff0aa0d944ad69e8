//! Commits: a batch in one transaction.
//!
//! A run's row says how far its history goes and what it comes to: a commit is made on the version that it says, and moves
//! it on. Loading compares the two, so that a chunk that cannot be found any more is missed.

use abide_core::command::Event;
use abide_core::id::{DefinitionId, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::run::{Run, Snapshot};
use abide_core::waitpoint::Waitpoint;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::row::RowReader;
use crate::snapshots::{self, LastSnapshot};
use crate::sqlite::column;
use crate::sqlite::tally::Tally;
use crate::sqlite::{admin, costs, event_starts, follow_ups, limits, query, schedules, webhooks};
use crate::{Batch, Culprit, Error, NewDefinition, RunWrite, chunk, waits};

pub(super) fn commit(transaction: &Transaction<'_>, batch: &Batch<'_>) -> Result<(), Error> {
    admin::check_workspaces(transaction, workspaces(batch))?;
    for definition in &batch.definitions {
        insert_definition(transaction, definition)?;
    }
    for write in &batch.event_starts {
        event_starts::write(transaction, write)?;
    }
    let mut tally = Tally::default();
    write_runs(transaction, &mut tally, &batch.runs)?;
    for event in &batch.events {
        insert_event(transaction, &mut tally, event)?;
    }
    tally.write(transaction)?;
    for idempotency in &batch.idempotency {
        insert_remembered(transaction, idempotency)?;
    }
    for write in &batch.schedules {
        schedules::write(transaction, write).map_err(|error| error.of(write.schedule.id.owner().id()))?;
    }
    for write in &batch.limit_settings {
        limits::write_settings(transaction, write)?;
    }
    for write in &batch.limits {
        limits::write(transaction, write)?;
    }
    for write in &batch.follow_ups {
        follow_ups::write(transaction, write)?;
    }
    for (root, more) in &batch.descendants {
        follow_ups::add_descendants(transaction, *root, *more)?;
    }
    for delivery in &batch.deliveries {
        webhooks::insert_delivery(transaction, delivery).map_err(|error| error.of(delivery.run))?;
    }
    Ok(())
}

/// Tries each part of a batch alone, and takes it back.
pub(super) fn culprits(connection: &mut Connection, batch: &Batch<'_>) -> Result<Vec<Culprit>, Error> {
    let mut culprits = Vec::new();
    for (owner, part) in batch.one_by_one() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // What is damaged and nobody's own is not its fault.
        if let Err(error @ Error::Damaged { .. }) = commit(&transaction, &part) {
            culprits.push(Culprit { owner, why: error.to_string() });
        }
        transaction.rollback()?;
    }
    Ok(culprits)
}

/// Those in which something new is written.
fn workspaces(batch: &Batch<'_>) -> impl Iterator<Item = WorkspaceId> {
    let runs = batch.runs.iter().filter(|write| write.based_on == 0).map(|write| write.run.workspace);
    let events = batch.events.iter().map(|event| event.workspace);
    let definitions = batch.definitions.iter().map(|definition| definition.workspace);
    let schedules = batch.schedules.iter().map(|write| write.schedule.workspace);
    runs.chain(events).chain(definitions).chain(schedules)
}

fn insert_definition(transaction: &Transaction<'_>, definition: &NewDefinition<'_>) -> Result<(), Error> {
    let NewDefinition { id, workspace, name, version, document, awaits, created_at } = *definition;
    let awaits = serde_json::to_string(awaits).expect("event ids are JSON");
    let inserted = transaction
        .prepare_cached(
            "INSERT INTO definitions (id, workspace, name, version, document, awaits, created_at)
             VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            column::definition(id),
            workspace.0,
            name,
            version,
            document,
            awaits,
            column::instant(created_at)
        ])?;
    if inserted == 1 {
        return Ok(());
    }
    let mut statement = transaction.prepare_cached(
        "SELECT id FROM definitions WHERE (workspace = ? AND name = ? AND version = ?) OR id = ?",
    )?;
    let rows = statement.query(params![workspace.0, name, version, column::definition(id)])?;
    let id = query::first(rows, |row| row.id(0).map(DefinitionId))?.unwrap_or(id);
    Err(Error::DefinitionExists { id, name: name.to_owned(), version: version.to_owned() })
}

fn insert_event(transaction: &Transaction<'_>, tally: &mut Tally, event: &Event) -> Result<(), Error> {
    let Event { id, workspace, event_id, data, received_at, run } = event;
    let (id, received_at) = (column::event(*id), column::instant(*received_at));
    let data = serde_json::to_string(data).expect("data is JSON");
    tally.add_bytes(*workspace, column::limit(data.len()));
    transaction
        .prepare_cached(
            "INSERT INTO events (id, workspace, event_id, received_at, data, run) VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![id, workspace.0, event_id, received_at, data, run.map(column::run)])?;
    Ok(())
}

/// The first answer under a key is the one that stands.
fn insert_remembered(transaction: &Transaction<'_>, idempotency: &IdempotencyRecord) -> Result<(), Error> {
    let IdempotencyRecord { key, digest, reply, run, at } = idempotency;
    let reply = serde_json::to_string(reply).expect("a reply is JSON");
    let inserted = transaction
        .prepare_cached(
            "INSERT INTO idempotency_records (key, digest, reply, written_at, run) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![key, digest.cast_signed(), reply, column::instant(*at), run.map(column::run)])?;
    if inserted == 1 { Ok(()) } else { Err(Error::KeyUsed(key.clone())) }
}

fn write_runs(transaction: &Transaction<'_>, tally: &mut Tally, runs: &[RunWrite<'_>]) -> Result<(), Error> {
    if runs.is_empty() {
        return Ok(());
    }
    let mut statements = Statements::prepare(transaction)?;
    let mut encoder = chunk::Encoder::default();
    for write in runs.iter().filter(|write| !write.records.is_empty()) {
        let written = write_one(transaction, &mut statements, &mut encoder, tally, write);
        written.map_err(|error| error.of(write.run.id))?;
    }
    Ok(())
}

fn write_one(
    transaction: &Transaction<'_>,
    statements: &mut Statements<'_>,
    encoder: &mut chunk::Encoder,
    tally: &mut Tally,
    write: &RunWrite<'_>,
) -> Result<(), Error> {
    let Some(last) = write.records.last() else { return Ok(()) };
    debug_assert_eq!(last.seq, write.run.seq, "a run is written after all its records");
    let id = column::run(write.run.id);
    let was = statements.find(&id)?;
    if was.map_or(0, |was| was.seq) != column::count(write.based_on) {
        return Err(Error::Conflict(write.run.id));
    }
    let (seq, written_at) = (column::count(last.seq), column::instant(last.at));
    let chunk = encoder.encode(write.run.id, write.records);
    let sum = was.map_or(Some(0), |was| was.sum).map(|sum| chunk::add_up(sum, chunk));
    if snapshots::may_be_due(write) && snapshots::is_due(write.run.seq, last_snapshot(transaction, &id)?) {
        write_snapshot(transaction, &id, write.run, sum)?;
    }
    statements.append.execute(params![id, seq, written_at, chunk])?;
    tally.add_bytes(write.run.workspace, column::limit(chunk.len()));
    statements.write_run(&id, write, was, sum, tally)?;
    costs::add(transaction, write)?;
    if write.based_on == 0 {
        insert_tags(transaction, &id, write.run)?;
    }
    for number in write.waitpoints() {
        let waitpoint = write
            .run
            .waitpoint(number)
            .ok_or_else(|| Error::Corrupt(format!("it has no waitpoint {number}")))?;
        statements.write_waitpoint(&id, write, waitpoint)?;
    }
    Ok(())
}

/// When the last snapshot of a run was written by this code, and how large it is.
fn last_snapshot(transaction: &Transaction<'_>, id: &column::Id) -> Result<Option<LastSnapshot>, Error> {
    let mut statement =
        transaction.prepare_cached("SELECT seq, length(data) FROM snapshots WHERE run = ? AND format = ?")?;
    query::first(statement.query(params![id, Snapshot::FORMAT])?, |row| {
        Ok(LastSnapshot { seq: row.number(0)?, bytes: row.number(1)? })
    })
}

fn write_snapshot(
    transaction: &Transaction<'_>,
    id: &column::Id,
    run: &Run,
    sum: Option<u32>,
) -> Result<(), Error> {
    transaction
        .prepare_cached(
            "INSERT INTO snapshots (run, seq, sum, format, data) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET seq = excluded.seq, sum = excluded.sum, format = excluded.format,
                 data = excluded.data",
        )?
        .execute(params![id, column::count(run.seq), sum, Snapshot::FORMAT, snapshots::encode(run)])?;
    Ok(())
}

fn insert_tags(transaction: &Transaction<'_>, id: &column::Id, run: &Run) -> Result<(), Error> {
    for tag in &run.tags {
        transaction
            .prepare_cached(
                "INSERT INTO run_tags (workspace, tag, run) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            )?
            .execute(params![run.workspace.0, tag, id])?;
    }
    Ok(())
}

/// What changes of a run's row.
#[derive(Clone, Copy)]
struct Row {
    found_by: FoundBy,
    seq: i64,
    /// Nothing, where nobody has added it up.
    sum: Option<u32>,
}

/// What indexes of runs hold, beside what never changes. SQLite writes every index anew that has a column of an update, whether
/// its value is another one or not.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FoundBy {
    status: i64,
    ended_at: Option<i64>,
    deadline_at: Option<i64>,
}

/// What is executed for each run of a batch, looked up once a batch.
pub(super) struct Statements<'t> {
    append: CachedStatement<'t>,
    insert_run: CachedStatement<'t>,
    find_run: CachedStatement<'t>,
    update_run: CachedStatement<'t>,
    advance_run: CachedStatement<'t>,
    move_run: CachedStatement<'t>,
    new_waitpoint: CachedStatement<'t>,
    update_waitpoint: CachedStatement<'t>,
}

impl<'t> Statements<'t> {
    pub(super) fn prepare(transaction: &'t Transaction<'_>) -> Result<Statements<'t>, Error> {
        Ok(Statements {
            append: transaction
                .prepare_cached("INSERT INTO history (run, seq, written_at, chunk) VALUES (?, ?, ?, ?)")?,
            insert_run: transaction.prepare_cached(
                "INSERT INTO runs (id, status, ended_at, deadline_at, seq, sum, workspace, definition, version,
                     created_at, tags)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?,
            find_run: transaction.prepare_cached(
                "SELECT status, ended_at, deadline_at, seq, sum FROM runs WHERE id = ?",
            )?,
            update_run: transaction.prepare_cached(
                "UPDATE runs SET status = ?2, ended_at = ?3, deadline_at = ?4, seq = ?5, sum = ?6 WHERE id = ?1",
            )?,
            advance_run: transaction
                .prepare_cached("UPDATE runs SET seq = ?2, sum = ?3 WHERE id = ?1")?,
            move_run: transaction.prepare_cached("UPDATE runs SET version = ?2 WHERE id = ?1")?,
            new_waitpoint: transaction.prepare_cached(
                "INSERT INTO waitpoints (run, number, status, resume_at, filter, workspace, kind, created_at,
                     listens)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?,
            update_waitpoint: transaction.prepare_cached(
                "UPDATE waitpoints SET status = ?3, resume_at = ?4, filter = ?5 WHERE run = ?1 AND number = ?2",
            )?,
        })
    }

    /// The row of a run, if there is one.
    fn find(&mut self, id: &column::Id) -> Result<Option<Row>, Error> {
        let row = self.find_run.query_row([id], |row| {
            let found_by = FoundBy { status: row.get(0)?, ended_at: row.get(1)?, deadline_at: row.get(2)? };
            Ok(Row { found_by, seq: row.get(3)?, sum: row.get(4)? })
        });
        Ok(row.optional()?)
    }

    fn write_run(
        &mut self,
        id: &column::Id,
        write: &RunWrite<'_>,
        was: Option<Row>,
        sum: Option<u32>,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        let run = write.run;
        let (status, seq) = (column::run_status(run.status), column::count(run.seq));
        let ended_at = run.ended_at.map(column::instant);
        let deadline_at = run.open_deadline().map(column::instant);
        if let Some(was) = was {
            if was.found_by == (FoundBy { status, ended_at, deadline_at }) {
                self.advance_run.execute(params![id, seq, sum])?;
            } else {
                self.update_run.execute(params![id, status, ended_at, deadline_at, seq, sum])?;
            }
            if write.is_moved() {
                self.move_run.execute(params![id, run.definition_ref.version])?;
            }
            if was.found_by.status != status {
                tally.add(run.workspace, was.found_by.status, -1);
                tally.add(run.workspace, status, 1);
            }
            return Ok(());
        }
        tally.add(run.workspace, status, 1);
        let tags = (!run.tags.is_empty())
            .then(|| serde_json::to_string(&run.tags))
            .transpose()
            .expect("tags are JSON");
        let created_at = column::instant(run.created_at);
        let definition = &run.definition_ref;
        self.insert_run.execute(params![
            id,
            status,
            ended_at,
            deadline_at,
            seq,
            sum,
            run.workspace.0,
            definition.name,
            definition.version,
            created_at,
            tags
        ])?;
        Ok(())
    }

    fn write_waitpoint(
        &mut self,
        run: &column::Id,
        write: &RunWrite<'_>,
        waitpoint: &Waitpoint,
    ) -> Result<(), Error> {
        let filter = waits::filter(waitpoint);
        let number = waitpoint.number;
        let status = column::wait_status(waitpoint.status);
        let resume_at = waitpoint.resume_at.map(column::instant);
        // An upsert would be one statement, but SQLite builds temporary tables for it.
        let run_is_new = write.based_on == 0;
        if !run_is_new && self.update_waitpoint.execute(params![run, number, status, resume_at, filter])? == 1
        {
            return Ok(());
        }
        self.insert_waitpoint(run, write.run.workspace, waitpoint)
    }

    pub(super) fn insert_waitpoint(
        &mut self,
        run: &column::Id,
        workspace: WorkspaceId,
        waitpoint: &Waitpoint,
    ) -> Result<(), Error> {
        let (number, status) = (waitpoint.number, column::wait_status(waitpoint.status));
        let (workspace, kind) = (workspace.0, column::kind(waitpoint.kind));
        let created_at = column::instant(waitpoint.created_at);
        let resume_at = waitpoint.resume_at.map(column::instant);
        let (listens, filter) = (waits::listens(waitpoint), waits::filter(waitpoint));
        self.new_waitpoint
            .execute(params![run, number, status, resume_at, filter, workspace, kind, created_at, listens])?;
        Ok(())
    }
}
