//! Commits: a batch in one transaction.
//!
//! Most are a single statement, which is a transaction of its own. Where there are more, they are sent in one go, without
//! waiting in between, and `COMMIT` follows when the answers say that all of it is sound. What is looked at on the way:
//!
//! - A run has not moved on: its row has the version that was decided on. Whoever writes to a run takes hold of its row,
//!   which makes the later of two at the same time wait for the earlier, and then find another version.
//! - A run has not been forgotten meanwhile: [retention](super::retention) takes hold of the row, too, and the row is gone.
//! - A new run was not begun by another: there is no row of it.
//! - No idempotency key and no version of a definition was written by another.
//! - No event and no wait for it, begun at the same time, missed each other ([event snapshots](super::event_snapshots)).
//!
//! Locks are taken in one order, so that no two commits wait for each other: event ids, definitions, rows of runs that are
//! there, rows of new runs; ids and rows are sorted. What else is written of a run is written by whoever holds its row, and
//! after it; the rest comes table by table, sorted.

mod batch_statement;
mod events;
mod plan;
mod runs;
mod snapshots;
mod tasks;
mod waitpoints;

use std::thread;
use std::time::{Duration, Instant};

use abide_core::command::Event;
use abide_core::id::{DefinitionId, RunId, WorkspaceId};
use abide_core::waitpoint::{EventFilter, ListensFor};
use tokio_postgres::Row;
use tokio_postgres::error::{DbError, Severity, SqlState};

use crate::events::read_event;
use crate::postgres::column::{self, Id};
use crate::postgres::connection::{Answer, PgConnection, Session};
use crate::postgres::refusal::Refusal;
use crate::postgres::{admin, limits, schedules};
use crate::row::RowReader;
use crate::{Batch, Culprit, Error, RunWrite};
use plan::{Part, Plan};

/// How long a database is waited for that went away in the middle of a commit, and how often it is asked.
const OUTCOME: Duration = Duration::from_secs(30);
const OUTCOME_EVERY: Duration = Duration::from_millis(50);

/// Which commits were made is known from the last one of each writer, a row that is written with it. The number of the
/// transaction would not do: a server that crashes may give it to another one. Between two numbers is that of a fence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    writer: Id,
    number: i64,
}

pub(super) fn commit(
    connection: &mut PgConnection,
    mark: &mut Option<Mark>,
    batch: &Batch<'_>,
) -> Result<(), Error> {
    let result = write_all(connection, mark, batch);
    let written = result.as_ref().ok().cloned().flatten();
    // What is decided beside this is decided on looks of before it.
    if !batch.runs.is_empty() || !batch.events.is_empty() {
        connection.snapshots.rotate(written);
    }
    if let Some(notifier) = connection.notifier.get().filter(|_| result.is_ok()) {
        notifier.notify(batch);
    }
    result.map(drop)
}

/// Says which transaction it was, where that is known.
fn write_all(
    connection: &mut PgConnection,
    mark: &mut Option<Mark>,
    batch: &Batch<'_>,
) -> Result<Option<String>, Error> {
    let mark = next(connection, mark)?;
    let due = snapshots::due(connection, batch)?;
    let connection_number = connection.connection_number()?;
    let plan = Plan::of(batch, &connection.snapshots, mark, &due)?;
    let mut may_be_written = false;
    let result = connection.ask(async |session| {
        // The plan is made for what was seen before.
        if session.connection_number != connection_number {
            return Err(went_away());
        }
        admin::check_workspaces(session, workspaces(batch)).await?;
        if plan.is_empty() {
            return Ok(None);
        }
        if plan.is_one_statement() {
            return write_at_once(session, &plan, batch, &mut may_be_written).await.map(Some);
        }
        let transaction = write(session, &plan, batch).await?;
        may_be_written = true;
        session.run("COMMIT").await.map(|()| Some(transaction))
    });
    match result {
        Err(error) if may_be_written => outcome(connection, mark, error).map(|()| None),
        Ok(_) | Err(_) => result,
    }
}

/// Tries each part of a batch alone, and takes it back.
pub(super) fn culprits(
    connection: &mut PgConnection,
    mark: &mut Option<Mark>,
    batch: &Batch<'_>,
) -> Result<Vec<Culprit>, Error> {
    let mark = next(connection, mark)?;
    let (mut culprits, mut tried_so_far) = (Vec::new(), 0);
    for (owner, part) in batch.one_by_one() {
        let tried = Plan::of(&part, &connection.snapshots, mark, &[]).and_then(|plan| {
            connection.ask(async |session| {
                let written = write(session, &plan, &part).await;
                session.roll_back().await;
                written.map(drop)
            })
        });
        if let Err(error) = tried
            && error.is_damage()
        {
            culprits.push(Culprit { owner, why: error.to_string() });
        }
        tried_so_far += 1;
    }
    // What is damaged for all of them is nobody's own.
    let is_shared = tried_so_far > 1 && culprits.len() == tried_so_far;
    Ok(if is_shared { Vec::new() } else { culprits })
}

fn next(connection: &mut PgConnection, mark: &mut Option<Mark>) -> Result<Mark, Error> {
    let next = match *mark {
        Some(Mark { writer, number }) => Mark { writer, number: number + 2 },
        None => {
            let row = connection.ask(async |session| session.one("SELECT gen_random_uuid()", &[]).await)?;
            Mark { writer: Id(row.id(0)?), number: 1 }
        }
    };
    *mark = Some(next);
    Ok(next)
}

fn went_away() -> Error {
    Error::Unavailable("the database went away for a moment; try again".to_owned())
}

/// How many statements a batch takes.
#[cfg(test)]
pub(super) fn statements(batch: &Batch<'_>, snapshots: &super::event_snapshots::SnapshotLog) -> usize {
    const BEGIN_AND_COMMIT: usize = 2;
    let plan = Plan::of(batch, snapshots, Mark { writer: Id(1), number: 1 }, &[]).expect("a sound batch");
    let is_short = plan.is_empty() || plan.is_one_statement();
    plan.steps.len() + if is_short { 0 } else { BEGIN_AND_COMMIT }
}

/// Those in which something new is written.
fn workspaces(batch: &Batch<'_>) -> impl Iterator<Item = WorkspaceId> {
    let runs = batch.runs.iter().filter(|write| write.based_on == 0).map(|write| write.run.workspace);
    let events = batch.events.iter().map(|event| event.workspace);
    let definitions = batch.definitions.iter().map(|definition| definition.workspace);
    let schedules = batch.schedules.iter().map(|write| write.schedule.workspace);
    runs.chain(events).chain(definitions).chain(schedules)
}

/// Writes everything, and says which transaction it was. After an error that the server tells us of, nothing is left of it.
async fn write_at_once(
    session: &mut Session,
    plan: &Plan<'_>,
    batch: &Batch<'_>,
    may_be_written: &mut bool,
) -> Result<String, Error> {
    *may_be_written = true;
    match session.pipeline(None, &plan.steps).await {
        Ok(answers) => transaction(&answers),
        Err(error) => {
            let is_told = |said: &DbError| said.parsed_severity() == Some(Severity::Error);
            *may_be_written = !error.as_db_error().is_some_and(is_told);
            Err(refused(session, error, batch).await?)
        }
    }
}

/// Writes everything but the end, and says which transaction it is. After an error, nothing is left of it.
async fn write(session: &mut Session, plan: &Plan<'_>, batch: &Batch<'_>) -> Result<String, Error> {
    let answers = match session.pipeline(Some("BEGIN"), &plan.steps).await {
        Ok(answers) => answers,
        Err(error) => {
            session.roll_back().await;
            return Err(refused(session, error, batch).await?);
        }
    };
    match judge(plan, &answers, batch) {
        Ok(transaction) => Ok(transaction),
        Err(trouble) => {
            session.roll_back().await;
            Err(explain(session, trouble, batch).await?)
        }
    }
}

/// What an error of the server means.
async fn refused(
    session: &mut Session,
    error: tokio_postgres::Error,
    batch: &Batch<'_>,
) -> Result<Error, Error> {
    match error.as_db_error() {
        Some(said) if has_moved_on(said) => moved_on(session, batch).await,
        Some(_) | None => Ok(error.into()),
    }
}

/// Not all rows of runs were written, or a new run has one already.
fn has_moved_on(said: &DbError) -> bool {
    let has_begun = *said.code() == SqlState::UNIQUE_VIOLATION && said.constraint() == Some("runs_pkey");
    Refusal::of(said).is_some() || has_begun
}

/// Why a batch is not committed.
enum Trouble {
    Known(Error),
    DefinitionExists,
    KeyUsed,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Known(error)
    }
}

fn judge(plan: &Plan<'_>, answers: &[Answer], batch: &Batch<'_>) -> Result<String, Trouble> {
    let mut written = None;
    for (part, answer) in plan.parts.iter().zip(answers) {
        let is_short = |expected: usize| answer.affected < expected as u64;
        match part {
            Part::Definitions if is_short(batch.definitions.len()) => return Err(Trouble::DefinitionExists),
            Part::Schedules(count) if is_short(*count) => {
                let moved_on = schedules::first_of(&batch.schedules);
                return Err(Trouble::Known(moved_on.map_or_else(nothing_moved, Error::Conflict)));
            }
            Part::Limits(count) if is_short(*count) => {
                let moved_on = limits::first_of(&batch.limits);
                return Err(Trouble::Known(moved_on.map_or_else(nothing_moved, Error::Conflict)));
            }
            Part::LimitSettings(count) if is_short(*count) => {
                let moved_on = limits::first_set(&batch.limit_settings);
                return Err(Trouble::Known(moved_on.map_or_else(nothing_moved, Error::Conflict)));
            }
            Part::FollowUps(count) if is_short(*count) => {
                let first = batch.follow_ups.first().map(|write| RunId(write.follow_up().id));
                return Err(Trouble::Known(first.map_or_else(nothing_moved, Error::Conflict)));
            }
            Part::Rows => {
                written = Some(transaction(std::slice::from_ref(answer))?);
            }
            Part::IdempotencyRecord if is_short(batch.idempotency.len()) => return Err(Trouble::KeyUsed),
            Part::UnheardWaits => check_unheard_waits(&answer.rows, batch)?,
            Part::UnheardEvents => check_unheard_events(&answer.rows, batch)?,
            Part::Locks
            | Part::Definitions
            | Part::EventStarts
            | Part::Costs
            | Part::Schedules(_)
            | Part::Limits(_)
            | Part::LimitSettings(_)
            | Part::FollowUps(_)
            | Part::Descendants
            | Part::Deliveries
            | Part::Tasks
            | Part::Events
            | Part::IdempotencyRecord => {}
        }
    }
    written.ok_or_else(|| Trouble::Known(nameless()))
}

/// What the statement of the rows of runs says.
fn transaction(rows: &[Answer]) -> Result<String, Error> {
    let row = rows.first().and_then(|answer| answer.rows.first()).ok_or_else(nameless)?;
    Ok(row.try_get(0)?)
}

fn nameless() -> Error {
    Error::Corrupt("a transaction without a number".to_owned())
}

/// Waits that began elsewhere since those of the batch were looked for, and that would take one of its events.
fn check_unheard_waits(rows: &[Row], batch: &Batch<'_>) -> Result<(), Error> {
    for row in rows {
        let (run, workspace, filter) = (RunId(row.id(0)?), row.workspace(1)?, row.json::<EventFilter>(2)?);
        let takes = |event: &Event| {
            event.workspace == workspace
                && event.run.is_none_or(|only| only == run)
                && event.event_id == filter.event_id
                && event.received_at >= filter.since
                && filter.accepts(&event.data)
        };
        if batch.events.iter().any(|event| takes(event)) {
            return Err(Error::Conflict(run));
        }
    }
    Ok(())
}

/// Events that came elsewhere since they were looked for, and that a wait of the batch would take.
fn check_unheard_events(rows: &[Row], batch: &Batch<'_>) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let unheard: Vec<Event> = rows.iter().map(read_event).collect::<Result<_, _>>()?;
    for write in &batch.runs {
        for (number, _) in event_waits(write) {
            if unheard.iter().any(|event| write.run.takes(number, event)) {
                return Err(Error::Conflict(write.run.id));
            }
        }
    }
    Ok(())
}

/// What the run waits for, of the waits that are written.
fn event_waits<'a>(write: &RunWrite<'a>) -> impl Iterator<Item = (u32, &'a EventFilter)> {
    let run = write.run;
    write.waitpoints().into_iter().filter_map(move |number| {
        let wait = run.waitpoint(number).filter(|wait| wait.is_pending())?;
        match &wait.listens_for {
            ListensFor::Event(filter) => Some((number, filter)),
            ListensFor::Time
            | ListensFor::Signal { .. }
            | ListensFor::Call { .. }
            | ListensFor::Approval(_)
            | ListensFor::Child { .. }
            | ListensFor::Attempt(_)
            | ListensFor::Code(_)
            | ListensFor::Capacity(_)
            | ListensFor::Starts(_) => None,
        }
    })
}

async fn explain(session: &mut Session, trouble: Trouble, batch: &Batch<'_>) -> Result<Error, Error> {
    match trouble {
        Trouble::Known(error) => Ok(error),
        Trouble::DefinitionExists => definition_exists(session, batch).await,
        Trouble::KeyUsed => {
            let sql = "SELECT key FROM idempotency_records WHERE key = ANY ($1) ORDER BY key LIMIT 1";
            let keys: Vec<_> =
                batch.idempotency.iter().map(|idempotency| column::name(&idempotency.key)).collect();
            let used = session.first(sql, &[&keys]).await?.map(|row| row.name(0)).transpose()?;
            let first = || batch.idempotency.first().map(|idempotency| idempotency.key.clone());
            Ok(Error::KeyUsed(used.or_else(first).unwrap_or_default()))
        }
    }
}

async fn moved_on(session: &mut Session, batch: &Batch<'_>) -> Result<Error, Error> {
    let sql = "SELECT run FROM unnest($1::uuid[], $2::bigint[]) AS decided (run, based_on)
        WHERE based_on <> coalesce((SELECT seq FROM runs WHERE runs.id = decided.run), 0)
        LIMIT 1";
    let runs: Vec<Id> = batch.runs.iter().map(|write| column::run(write.run.id)).collect();
    let versions: Vec<i64> = batch.runs.iter().map(|write| column::count(write.based_on)).collect();
    let found = session.first(sql, &[&runs, &versions]).await?;
    let moved = found.map(|row| row.id(0).map(RunId)).transpose()?;
    // It may have moved on and been forgotten since.
    let any = || batch.runs.first().map(|write| write.run.id);
    Ok(moved.or_else(any).map_or_else(nothing_moved, Error::Conflict))
}

fn nothing_moved() -> Error {
    Error::Corrupt("a conflict about nothing".to_owned())
}

async fn definition_exists(session: &mut Session, batch: &Batch<'_>) -> Result<Error, Error> {
    let sql = "SELECT id FROM definitions WHERE workspace = $1 AND name = $2 AND version = $3
        UNION ALL SELECT id FROM definitions WHERE id = $4 LIMIT 1";
    for new in &batch.definitions {
        let (name, version) = (column::name(new.name), column::name(new.version));
        let (workspace, id) = (column::workspace(new.workspace), column::definition(new.id));
        if let Some(row) = session.first(sql, &[&workspace, &name, &version, &id]).await? {
            let (name, version) = (new.name.to_owned(), new.version.to_owned());
            return Ok(Error::DefinitionExists { id: DefinitionId(row.id(0)?), name, version });
        }
    }
    Ok(Error::Unavailable("a definition was being written elsewhere; try again".to_owned()))
}

/// How a commit ended whose answer was lost. If it is still being written by a server that has not noticed, this waits for
/// the end of that; if the server has not begun with it, the fence keeps it from being written later.
fn outcome(connection: &mut PgConnection, Mark { writer, number }: Mark, lost: Error) -> Result<(), Error> {
    let sql = "INSERT INTO commits (writer, number, written_at) VALUES ($1, $2::bigint + 1, now())
        ON CONFLICT (writer) DO UPDATE
            SET number = CASE WHEN commits.number = $2 THEN commits.number ELSE excluded.number END
        RETURNING number";
    let begun = Instant::now();
    loop {
        let last: Result<i64, Error> =
            connection.ask(async |session| Ok(session.one(sql, &[&writer, &number]).await?.try_get(0)?));
        match last {
            Ok(last) if last == number => return Ok(()),
            Ok(_) => return Err(lost),
            // There is no server yet to ask.
            Err(_) => {}
        }
        if begun.elapsed() > OUTCOME {
            let message = format!("{lost}; and it is not known whether the batch was written");
            return Err(Error::Unavailable(message));
        }
        thread::sleep(OUTCOME_EVERY);
    }
}
