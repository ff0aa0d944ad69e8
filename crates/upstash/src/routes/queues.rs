//! `/v2/queues`: queues of messages, with how many of them are delivered at a time.

use std::collections::BTreeMap;

use abide_core::status::RunStatus;
use abide_engine::SendEvent;
use abide_engine::stored::{Page, RunFilter};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, GuestRequest, Problem, decoded, ok};
use crate::registry::Queue;
use crate::started::queue_tag;
use crate::{Gateway, MESSAGE};

/// How far the messages of a queue are counted.
const COUNTED: usize = 10_000;
const MOST_AT_ONCE: u64 = 100_000;

pub(super) async fn answer(gateway: &Gateway, asked: &GuestRequest, method: &str, rest: &str) -> Answer {
    let (name, act) = rest.split_once('/').map_or((rest, ""), |(name, act)| (name, act));
    let name = decoded(name);
    match (method, name.as_str(), act) {
        ("POST", "", "") => upsert(gateway, asked).await,
        ("GET", "", "") => list(gateway).await,
        ("GET", _, "") => {
            let queue = gateway.registered_as::<Queue>(&name).await?.ok_or_else(|| unknown(&name))?;
            ok(shown(gateway, &name, &queue).await?)
        }
        ("DELETE", _, "") => remove(gateway, &name).await,
        ("POST", _, "pause") => pause(gateway, &name, true).await,
        ("POST", _, "resume") => pause(gateway, &name, false).await,
        (_, _, _) => Err(asked.not_served()),
    }
}

fn unknown(name: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, format!("there is no queue {name}"))
}

async fn upsert(gateway: &Gateway, asked: &GuestRequest) -> Answer {
    let body: Value =
        serde_json::from_slice(&asked.body).map_err(|_| Problem::bad("a queue is a JSON object"))?;
    let name = body["queueName"].as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Problem::bad("a queue has a `queueName`"))?;
    let given = body.get("parallelism").filter(|given| !given.is_null());
    let parallelism = match given {
        None => 1,
        Some(given) => {
            given.as_u64().filter(|given| (1..=MOST_AT_ONCE).contains(given)).ok_or_else(|| {
                Problem::bad(format!("`parallelism` is a whole number from 1 to {MOST_AT_ONCE}"))
            })?
        }
    };
    let parallelism = u32::try_from(parallelism).unwrap_or(u32::MAX);
    let (now, usual) = (gateway.engine.now().as_millisecond(), gateway.queue(name).await?);
    let set = |all: &mut BTreeMap<String, Queue>| {
        let queue = all.entry(name.to_owned()).or_insert_with(|| usual.clone());
        (queue.parallelism, queue.updated_at) = (parallelism, now);
        Ok(())
    };
    gateway.change_registered(set).await?;
    match body["paused"].as_bool() {
        Some(is_paused) => pause(gateway, name, is_paused).await,
        None => ok(json!({})),
    }
}

async fn list(gateway: &Gateway) -> Answer {
    let mut listed = Vec::new();
    for (name, queue) in gateway.registered::<Queue>().await? {
        listed.push(shown(gateway, &name, &queue).await?);
    }
    ok(Value::Array(listed))
}

async fn shown(gateway: &Gateway, name: &str, queue: &Queue) -> Result<Value, Problem> {
    let open = [RunStatus::Pending, RunStatus::Running, RunStatus::Waiting, RunStatus::Paused];
    let filter = RunFilter {
        statuses: open.to_vec(),
        definition: Some(MESSAGE.to_owned()),
        tag: Some(queue_tag(name)),
        ..RunFilter::default()
    };
    let messages = gateway.workspace().runs().ids(filter, Page { after: None, limit: COUNTED }).await?;
    Ok(json!({
        "createdAt": queue.created_at,
        "updatedAt": queue.updated_at,
        "name": name,
        "parallelism": queue.parallelism,
        "lag": messages.len(),
        "paused": queue.paused_at.is_some(),
    }))
}

async fn remove(gateway: &Gateway, name: &str) -> Answer {
    pause(gateway, name, false).await?;
    let remove = |all: &mut BTreeMap<String, Queue>| {
        all.remove(name);
        Ok(())
    };
    gateway.change_registered(remove).await?;
    ok(json!({}))
}

/// Pauses a queue, or lets it go on: messages whose turn came meanwhile wait for that as for any event.
async fn pause(gateway: &Gateway, name: &str, pauses: bool) -> Answer {
    let now = gateway.engine.now().as_millisecond();
    let set = |all: &mut BTreeMap<String, Queue>| {
        let queue = all.get_mut(name).ok_or_else(|| unknown(name))?;
        let was = queue.paused_at;
        queue.paused_at = if pauses { was.or(Some(now)) } else { None };
        if queue.paused_at != was {
            queue.updated_at = now;
        }
        Ok(was)
    };
    let was = gateway.change_registered(set).await?;
    if let Some(paused_at) = was.filter(|_| !pauses) {
        let event = SendEvent::new(crate::plain::resumed_event(name)).data(json!({ "pausedAt": paused_at }));
        gateway.workspace().events().send(event).await?;
    }
    ok(json!({}))
}
