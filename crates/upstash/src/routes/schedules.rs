//! `/v2/schedules`: schedules of abide that publish a message at each occurrence.

use std::sync::Arc;

use abide_core::cron::Cron;
use abide_core::schedule::{CatchUp, Overlap, Plan, Schedule, When};
use abide_core::waitpoint::Actor;
use abide_engine::stored::Page;
use abide_engine::{Error, ScheduleOrder};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, GuestRequest, Problem, decoded, ok};
use crate::plain::Plain;
use crate::throttle::Throttle;
use crate::{Gateway, MESSAGE};

/// What the names of the gateway's schedules begin with.
const PREFIX: &str = "upstash/";
/// How many schedules are listed.
const LISTED: usize = 1_000;
/// What a cron line begins with that names its zone.
const ZONE: &str = "CRON_TZ=";

pub(super) async fn answer(gateway: &Gateway, asked: &GuestRequest, method: &str, rest: &str) -> Answer {
    if method == "POST" {
        return create(gateway, asked, rest).await;
    }
    let (id, act) = match rest.rsplit_once('/') {
        Some((id, act @ ("pause" | "resume"))) => (decoded(id), act),
        Some(_) | None => (decoded(rest), ""),
    };
    match (method, id.as_str(), act) {
        ("GET", "", "") => list(gateway).await,
        ("GET", id, "") => ok(shown(&find(gateway, id).await?).unwrap_or_default()),
        ("DELETE", id, "") => order(gateway, id, ScheduleOrder::Remove).await,
        ("PATCH", id, "pause") => order(gateway, id, ScheduleOrder::Pause).await,
        ("PATCH", id, "resume") => order(gateway, id, ScheduleOrder::Unpause).await,
        (_, _, _) => Err(asked.not_served()),
    }
}

async fn named(gateway: &Gateway, id: &str) -> Result<Option<Schedule>, Problem> {
    Ok(gateway.workspace().schedules().by_name(&format!("{PREFIX}{id}")).await?)
}

async fn find(gateway: &Gateway, id: &str) -> Result<Schedule, Problem> {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, format!("there is no schedule {id}"));
    named(gateway, id).await?.ok_or_else(unknown)
}

async fn order(
    gateway: &Gateway,
    id: &str,
    order: fn(abide_core::id::ScheduleId) -> ScheduleOrder,
) -> Answer {
    let schedule = find(gateway, id).await?;
    gateway.workspace().schedules().order(order(schedule.id), by(), None).await?;
    ok(json!({}))
}

fn by() -> Actor {
    Actor::new("upstash")
}

async fn create(gateway: &Gateway, asked: &GuestRequest, rest: &str) -> Answer {
    let mut message = asked.message(rest)?;
    let line = message.headers.get("upstash-cron").unwrap_or_default().trim().to_owned();
    let (zone, line) = match line.strip_prefix(ZONE).and_then(|rest| rest.split_once(' ')) {
        Some((zone, line)) => (Some(zone.to_owned()), line.trim().to_owned()),
        None => (None, line),
    };
    let cron = Cron::parse(&line, zone.as_deref())
        .map_err(|error| Problem::bad(format!("`Upstash-Cron` is not a cron line: {error}")))?;
    let given = message.headers.get("upstash-schedule-id").filter(|id| !id.is_empty());
    let id = match given {
        Some(id) => id.to_owned(),
        None => format!("scd_{}", crate::keys::secret(15).map_err(failed)?),
    };
    let queue = message.headers.get("upstash-queue-name").map(str::to_owned);
    let delay = message.headers.0.remove("upstash-delay");
    let message = gateway.sealer.seal_message(message)?;
    let mut plain = gateway.plain(message, queue.as_deref())?;
    match plain.group {
        Some(_) => drop(gateway.addressed(&plain).await?),
        None => gateway.check(&plain.url)?,
    }
    plain.control.0.extend(delay.map(|delay| ("upstash-delay".to_owned(), delay)));
    plain.relays =
        ["upstash-delay", "upstash-flow-control-key"].iter().any(|it| plain.control.get(it).is_some())
            || plain.group.is_some()
            || plain.queue.is_some();
    plain.schedule = Some(id.clone());
    if let Some(queue) = &queue {
        gateway.make_queue(queue).await?;
    }
    let plan = Plan {
        name: format!("{PREFIX}{id}"),
        workflow: MESSAGE.to_owned(),
        version: Some(gateway.version(MESSAGE, Throttle::default()).await?),
        input: serde_json::to_value(&plain).expect("a message is JSON").into(),
        tags: plain.tags(),
        when: When::Cron(cron),
        overlap: Overlap::Allow,
        catch_up: CatchUp::Last,
    };
    let schedules = gateway.workspace().schedules();
    let order = match named(gateway, &id).await? {
        Some(schedule) => ScheduleOrder::Change(schedule.id, Arc::new(move |old| *old = plan.clone())),
        None => ScheduleOrder::Create(plan),
    };
    match schedules.order(order, by(), None).await {
        Ok(_) => Ok((StatusCode::CREATED, json!({ "scheduleId": id }))),
        Err(Error::ScheduleExists(_)) => {
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the schedule was just made; try again"))
        }
        Err(error) => Err(error.into()),
    }
}

fn failed(error: crate::OpenError) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
}

async fn list(gateway: &Gateway) -> Answer {
    let mut listed = Vec::new();
    // Names are listed in their order, and this is the first that a schedule of the gateway can have.
    let mut after = Some(PREFIX.to_owned());
    while listed.len() < LISTED {
        let page = Page { after: after.take(), limit: 100 };
        let schedules = gateway.workspace().schedules().list(page).await?;
        let own = schedules.iter().take_while(|schedule| schedule.plan.name.starts_with(PREFIX));
        let own: Vec<&Schedule> = own.collect();
        listed.extend(own.iter().filter_map(|schedule| shown(schedule)));
        match own.last() {
            Some(last) if own.len() == 100 => after = Some(last.plan.name.clone()),
            Some(_) | None => break,
        }
    }
    ok(Value::Array(listed))
}

fn shown(schedule: &Schedule) -> Option<Value> {
    let plain: Plain = serde_json::from_value(Value::clone(&schedule.plan.input)).ok()?;
    let cron = match &schedule.plan.when {
        When::Cron(cron) if cron.zone_name() == "UTC" => cron.line().to_owned(),
        When::Cron(cron) => format!("{ZONE}{} {}", cron.zone_name(), cron.line()),
        When::Every(_) => return None,
    };
    let mut shown = plain.described();
    let pending = schedule.pending().and_then(|wait| wait.resume_at);
    shown["scheduleId"] = json!(plain.schedule);
    shown["cron"] = json!(cron);
    shown["createdAt"] = json!(schedule.created_at.as_millisecond());
    shown["destination"] = json!(plain.group.as_deref().unwrap_or(&plain.url));
    shown["retries"] = json!(plain.retries);
    shown["isPaused"] = json!(schedule.paused);
    if let Some(delay) = plain.control.get("upstash-delay").and_then(crate::duration::parse) {
        shown["delay"] = json!(delay.0 / 1_000);
    }
    if let Some(next) = pending {
        shown["nextScheduleTime"] = json!(next.as_millisecond());
    }
    Some(shown)
}
