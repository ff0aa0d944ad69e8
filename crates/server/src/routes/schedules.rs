//! Schedules: workflows that are started by the clock. The next occurrence of each is a waitpoint of kind SCHEDULE.

use std::collections::HashMap;
use std::sync::Arc;

use abide_core::cron::{Cron, CronError};
use abide_core::id::{Owner, RunId, ScheduleId, WaitpointId};
use abide_core::json::Json;
use abide_core::limits;
use abide_core::schedule::{CatchUp, Overlap, Plan, Schedule, When};
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_engine::stored::{Page, Scope};
use abide_engine::{Ordered, ScheduleOrder};
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::waitpoints::present;
use super::{PageQuery, page_size};
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::quotas::exceeded;
use crate::request::{Body, Id, IdempotencyKey, Name, Query, cursor, length};
use crate::shape::waitpoint::WaitpointBody;
use crate::shape::{Answer, List, words};

const READ: Access = Access::Key(&[Scope::Read]);
const DEPLOY: Access = Access::Key(&[Scope::Deploy]);
const RUN: Access = Access::Key(&[Scope::Run]);
const LIST: &str = "schedules";

pub(super) fn routes() -> Group {
    let one = |verb, path, access, summary| {
        Endpoint::new(verb, path, access, summary)
            .ok::<ScheduleBody>("The schedule.")
            .codes(&[Code::UnknownSchedule])
    };
    Group::new(
        "schedules",
        "Workflows that are started by the clock. The next occurrence is a waitpoint of kind SCHEDULE.",
    )
    .add(
        Endpoint::new(Verb::Post, "/schedules", DEPLOY, "Make a schedule")
            .about("Either `cron`, with a `timezone` (UTC if absent), or `every` says when.")
            .body::<NewSchedule>()
            .answer::<ScheduleBody>(StatusCode::CREATED, "The schedule.")
            .codes(&[Code::UnknownDefinition, Code::ScheduleExists, Code::InvalidInput])
            .codes(&[Code::PayloadTooLarge, Code::LimitExceeded, Code::QuotaExceeded]),
        make,
    )
    .add(
        Endpoint::new(Verb::Get, "/schedules", READ, "List schedules, by name")
            .query::<PageQuery>()
            .ok::<List<ScheduleBody>>("A page.")
            .codes(&[Code::BadCursor]),
        list,
    )
    .add(one(Verb::Get, "/schedules/{id}", READ, "Get a schedule"), get)
    .add(
        one(Verb::Patch, "/schedules/{id}", DEPLOY, "Change a schedule")
            .about("What is not named stays as it is. Another rule of time begins now.")
            .body::<ChangeBody>()
            .codes(&[Code::UnknownDefinition, Code::ScheduleExists, Code::InvalidInput])
            .codes(&[Code::PayloadTooLarge, Code::LimitExceeded]),
        change,
    )
    .add(
        Endpoint::new(Verb::Delete, "/schedules/{id}", DEPLOY, "Remove a schedule")
            .about("Runs that it started go on.")
            .empty(StatusCode::NO_CONTENT, "Removed.")
            .codes(&[Code::UnknownSchedule]),
        remove,
    )
    .add(
        one(Verb::Post, "/schedules/{id}/pause", RUN, "Pause a schedule")
            .about("Nothing comes while it is paused, and nothing of that is made up for later."),
        pause,
    )
    .add(one(Verb::Post, "/schedules/{id}/unpause", RUN, "Let a schedule go on"), unpause)
    .add(
        Endpoint::new(Verb::Post, "/schedules/{id}/trigger", RUN, "Start a run of a schedule now")
            .about("One more: the next occurrence stays as it is. The overlap policy applies.")
            .idempotent()
            .ok::<TriggeredBody>("What came of it.")
            .codes(&[Code::UnknownSchedule]),
        trigger,
    )
}

/// What is started, and when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewSchedule {
    /// No two in a workspace have the same.
    name: Name,
    /// The workflow's name.
    #[schemars(length(min = 1, max = limits::WORKFLOW_NAME_CHARS))]
    definition: String,
    /// The newest at each occurrence, if absent.
    #[schemars(length(min = 1, max = limits::VERSION_CHARS))]
    version: Option<String>,
    /// A cron line: `0 9 * * 1-5`.
    cron: Option<String>,
    /// Of the cron line; UTC if absent.
    timezone: Option<String>,
    /// In place of a cron line: `15m`.
    every: Option<String>,
    /// `every` as a number of milliseconds.
    every_ms: Option<u64>,
    /// What to do when the run before has not ended; `skip` if absent.
    #[schemars(schema_with = "words::overlap")]
    #[serde(default)]
    overlap: Overlap,
    /// What to do about occurrences that were missed; `last` if absent.
    #[schemars(schema_with = "words::catch_up")]
    #[serde(default)]
    catch_up: CatchUp,
    /// Null if absent.
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    input: Value,
    #[serde(default)]
    #[schemars(length(max = limits::TAGS))]
    tags: Vec<Name>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "ChangeSchedule")]
struct ChangeBody {
    name: Option<Name>,
    #[schemars(length(min = 1, max = limits::WORKFLOW_NAME_CHARS))]
    definition: Option<String>,
    #[schemars(length(min = 1, max = limits::VERSION_CHARS))]
    version: Option<String>,
    cron: Option<String>,
    timezone: Option<String>,
    every: Option<String>,
    every_ms: Option<u64>,
    #[schemars(schema_with = "words::overlap")]
    #[serde(default)]
    overlap: Option<Overlap>,
    #[schemars(schema_with = "words::catch_up")]
    #[serde(default)]
    catch_up: Option<CatchUp>,
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    input: Option<Value>,
    #[schemars(length(max = limits::TAGS))]
    tags: Option<Vec<Name>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Schedule")]
struct ScheduleBody {
    #[schemars(with = "String")]
    id: ScheduleId,
    name: String,
    /// The workflow's name.
    definition: String,
    /// Null: the newest at each occurrence.
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every_ms: Option<u64>,
    #[schemars(schema_with = "words::overlap")]
    overlap: Overlap,
    #[schemars(schema_with = "words::catch_up")]
    catch_up: CatchUp,
    #[schemars(schema_with = "words::any")]
    input: Json,
    tags: Vec<String>,
    paused: bool,
    /// When it comes next; null while it is paused.
    next_at: Option<Timestamp>,
    /// The wait for that; steer it like any other.
    #[schemars(with = "Option<String>")]
    waitpoint_id: Option<WaitpointId>,
    /// The run it started last.
    #[schemars(with = "Option<String>")]
    last_run_id: Option<RunId>,
    /// Occurrences that wait for that run to end.
    queued: usize,
    /// What became of the last occurrences, the newest first.
    recent: Vec<WaitpointBody>,
    #[schemars(with = "String")]
    created_by: Actor,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// What a trigger came to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Triggered")]
struct TriggeredBody {
    /// `started`, or `skipped`, `queued`, `queueFull` as the overlap policy has it, or `failed`.
    outcome: &'static str,
    #[schemars(with = "Option<String>")]
    run_id: Option<RunId>,
}

impl From<Schedule> for ScheduleBody {
    fn from(schedule: Schedule) -> ScheduleBody {
        let next = schedule.pending();
        let (next_at, waitpoint_id) =
            (next.and_then(|wait| wait.resume_at), next.map(|wait| schedule.waitpoint_id(wait.number)));
        let over = schedule.waits().rev().filter(|wait| !wait.is_pending());
        let recent = over.map(|wait| WaitpointBody::of_schedule(&schedule, wait)).collect();
        let plan = &schedule.plan;
        let (cron, timezone, every_ms) = match &plan.when {
            When::Cron(cron) => (Some(cron.line().to_owned()), Some(cron.zone_name().to_owned()), None),
            When::Every(every) => (None, None, Some(every.0)),
        };
        ScheduleBody {
            id: schedule.id,
            name: plan.name.clone(),
            definition: plan.workflow.clone(),
            version: plan.version.clone(),
            cron,
            timezone,
            every_ms,
            overlap: plan.overlap,
            catch_up: plan.catch_up,
            input: plan.input.clone(),
            tags: plan.tags.iter().map(ToString::to_string).collect(),
            paused: schedule.paused,
            next_at,
            waitpoint_id,
            last_run_id: schedule.last_run,
            queued: schedule.queued.len(),
            recent,
            created_by: schedule.created_by.clone(),
            created_at: schedule.created_at,
            updated_at: schedule.updated_at,
        }
    }
}

/// When a schedule comes, from the fields that say so; `None` if none does.
fn when(
    cron: Option<&str>,
    timezone: Option<&str>,
    every: Option<&str>,
    every_ms: Option<u64>,
) -> Result<Option<When>, Problem> {
    let every: Option<Millis> = length("every", every_ms, every)?;
    match (cron, every) {
        (Some(line), None) => match Cron::parse(line, timezone) {
            Ok(cron) => Ok(Some(When::Cron(cron))),
            Err(error @ CronError::UnknownZone { .. }) => {
                Err(Problem::malformed("/timezone", format!("/timezone: {error}")))
            }
            Err(error @ (CronError::BadLine(_) | CronError::Never)) => {
                Err(Problem::malformed("/cron", format!("/cron: {error}")))
            }
        },
        (None, every) if timezone.is_none() => Ok(every.map(When::Every)),
        (None, _) => Err(Problem::malformed("/timezone", "/timezone: belongs to `cron`, which is not given")),
        (Some(_), Some(_)) => Err(Problem::malformed("/every", "/every: either `cron` or `every`, not both")),
    }
}

impl App {
    async fn schedule(&self, caller: &Caller, id: ScheduleId) -> Result<Schedule, Problem> {
        let found = self.engine.workspace(caller.workspace).schedules().get(id).await?;
        let unknown = || Problem::new(Code::UnknownSchedule, format!("there is no schedule {id}"));
        found.ok_or_else(unknown)
    }

    /// The schedules under these ids, of those whose waits are listed.
    pub(super) async fn schedules_of(
        &self,
        caller: &Caller,
        owners: Vec<RunId>,
    ) -> Result<HashMap<RunId, Schedule>, Problem> {
        let ids = owners.into_iter().filter_map(|owner| Owner::of(owner).schedule()).collect();
        let here = self.engine.workspace(caller.workspace).schedules().get_all(ids).await?.into_iter();
        Ok(here.map(|schedule| (schedule.id.owner().id(), schedule)).collect())
    }

    async fn order(&self, caller: &Caller, order: ScheduleOrder) -> Result<Ordered, Problem> {
        Ok(self
            .engine
            .workspace(caller.workspace)
            .schedules()
            .order(order, caller.actor.clone(), None)
            .await?)
    }
}

async fn make(
    State(app): State<Shared>,
    caller: Caller,
    Body(body): Body<NewSchedule>,
) -> Result<Answer<ScheduleBody>, Problem> {
    let timed = when(body.cron.as_deref(), body.timezone.as_deref(), body.every.as_deref(), body.every_ms)?;
    let Some(when) = timed else {
        return Err(Problem::malformed("/cron", "either `cron` or `every` says when it comes"));
    };
    if let Some(limit) = app.quotas.of(caller.workspace).schedules {
        let page = Page { after: None, limit: usize::try_from(limit).unwrap_or(usize::MAX) };
        let found = app.engine.workspace(caller.workspace).schedules().list(page).await?;
        if found.len() as u64 >= limit.into() {
            return Err(exceeded("schedules", limit.into(), u64::from(limit) + 1));
        }
    }
    let plan = Plan {
        name: body.name.into(),
        workflow: body.definition,
        version: body.version,
        input: body.input.into(),
        tags: body.tags.into_iter().map(Into::into).collect(),
        when,
        overlap: body.overlap,
        catch_up: body.catch_up,
    };
    let Ordered { schedule, .. } = app.order(&caller, ScheduleOrder::Create(plan)).await?;
    Ok(Answer(StatusCode::CREATED, schedule.into()))
}

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<PageQuery>,
) -> Result<Answer<List<ScheduleBody>>, Problem> {
    let PageQuery { cursor, limit } = query;
    let size = page_size(limit);
    let page = Page { after: cursor::read::<String>(LIST, cursor.as_deref())?, limit: size };
    let found = app.engine.workspace(caller.workspace).schedules().list(page).await?;
    let last = found.last().filter(|_| found.len() == size);
    let next_cursor = last.map(|last| cursor::write(LIST, &last.plan.name));
    Ok(Answer::ok(List { data: found.into_iter().map(ScheduleBody::from).collect(), next_cursor }))
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
) -> Result<Answer<ScheduleBody>, Problem> {
    Ok(Answer::ok(app.schedule(&caller, id).await?.into()))
}

async fn change(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
    Body(body): Body<ChangeBody>,
) -> Result<Answer<ScheduleBody>, Problem> {
    let ChangeBody {
        name,
        definition,
        version,
        cron,
        timezone,
        every,
        every_ms,
        overlap,
        catch_up,
        input,
        tags,
    } = body;
    // A new zone alone is one for the line that is there.
    let line = match (&cron, &timezone, &every, every_ms) {
        (None, Some(_), None, None) => match app.schedule(&caller, id).await?.plan.when {
            When::Cron(cron) => Some(cron.line().to_owned()),
            When::Every(_) => None,
        },
        (_, _, _, _) => cron,
    };
    let when = when(line.as_deref(), timezone.as_deref(), every.as_deref(), every_ms)?;
    let (input, tags) =
        (input.map(Json::new), tags.map(|tags| tags.into_iter().map(Into::into).collect::<Vec<_>>()));
    let change = move |plan: &mut Plan| {
        if let Some(name) = &name {
            plan.name = name.clone().into();
        }
        if let Some(workflow) = &definition {
            plan.workflow = workflow.clone();
            plan.version = None;
        }
        plan.version = version.clone().or_else(|| plan.version.take());
        plan.when = when.clone().unwrap_or_else(|| plan.when.clone());
        plan.overlap = overlap.unwrap_or(plan.overlap);
        plan.catch_up = catch_up.unwrap_or(plan.catch_up);
        plan.input = input.clone().unwrap_or_else(|| plan.input.clone());
        if let Some(tags) = &tags {
            plan.tags = tags.clone();
        }
    };
    let Ordered { schedule, .. } = app.order(&caller, ScheduleOrder::Change(id, Arc::new(change))).await?;
    Ok(Answer::ok(schedule.into()))
}

async fn remove(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
) -> Result<StatusCode, Problem> {
    app.order(&caller, ScheduleOrder::Remove(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn pause(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
) -> Result<Answer<ScheduleBody>, Problem> {
    Ok(Answer::ok(app.order(&caller, ScheduleOrder::Pause(id)).await?.schedule.into()))
}

async fn unpause(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
) -> Result<Answer<ScheduleBody>, Problem> {
    Ok(Answer::ok(app.order(&caller, ScheduleOrder::Unpause(id)).await?.schedule.into()))
}

async fn trigger(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
    key: IdempotencyKey,
) -> Result<Answer<TriggeredBody>, Problem> {
    let (by, order) = (caller.actor.clone(), ScheduleOrder::Trigger(id));
    let done = app.engine.workspace(caller.workspace).schedules().order(order, by, key.only()).await?;
    let (outcome, run_id) = done.triggered.unwrap_or(("failed", None));
    Ok(Answer::ok(TriggeredBody { outcome, run_id }))
}
