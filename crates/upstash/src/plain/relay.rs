//! Messages that do not go out at once: the occurrence of a schedule is published as it would be then, and a message of a
//! queue that is paused waits until the queue goes on.

use abide_core::command::{WaitFor, WaitSpec};
use abide_core::task::Task;
use abide_engine::TaskResult;
use serde_json::json;

use super::Plain;
use super::perform::{delay, has_waited, suspended};
use crate::Gateway;
use crate::registry::{Group, Queue};
use crate::routes::Problem;

/// The event with which a queue goes on.
pub(crate) fn resumed_event(queue: &str) -> String {
    format!("upstash-queue:{queue}")
}

/// The wait of a message whose queue is paused; `None` if it is not. It keeps its place in the queue meanwhile.
pub(super) async fn held_back(
    gateway: &Gateway,
    plain: &Plain,
    task: &Task,
) -> Result<Option<WaitSpec>, Problem> {
    let Some(queue) = &plain.queue else { return Ok(None) };
    let found = gateway.registered_as::<Queue>(queue).await?;
    let Some(paused_at) = found.and_then(|queue| queue.paused_at) else { return Ok(None) };
    let name = format!("queue paused {paused_at}");
    // Whoever is woken by hand goes out although the queue is paused.
    if has_waited(task, &name) {
        return Ok(None);
    }
    let wait = WaitFor::Event {
        event_id: resumed_event(queue).into(),
        matching: Some(format!("event.pausedAt >= {paused_at}")),
        fields: [].into(),
        lookback: None,
        timeout: None,
    };
    Ok(Some(WaitSpec::new(name, wait)))
}

/// Publishes a message of a schedule: after its delay, to each endpoint of its group, into its queue.
pub(super) async fn relay(gateway: &Gateway, plain: &Plain, task: &Task) -> TaskResult {
    if let Some(duration) = delay(plain)
        && !has_waited(task, "delay")
    {
        return suspended(vec![WaitSpec::new("delay", WaitFor::Sleep { duration })]);
    }
    if has_waited(task, "publish 1") {
        let published = task.journal.iter().filter(|item| item.name.starts_with("publish ")).count();
        return TaskResult::complete(json!({ "published": published }));
    }
    match published(gateway, plain).await {
        Ok(waits) if waits.is_empty() => TaskResult::complete(json!({ "published": 0 })),
        Ok(waits) => suspended(waits),
        Err(problem) => TaskResult::fail(problem.to_string()),
    }
}

async fn published(gateway: &Gateway, plain: &Plain) -> Result<Vec<WaitSpec>, Problem> {
    let mut waits = Vec::new();
    for (place, message) in gateway.addressed(plain).await?.into_iter().enumerate() {
        waits.push(WaitSpec::new(format!("publish {}", place + 1), message.detached(gateway).await?));
    }
    Ok(waits)
}

impl Gateway {
    /// The messages that a message comes to: one, or one for each endpoint of the group that it is for.
    pub(crate) async fn addressed(&self, plain: &Plain) -> Result<Vec<Plain>, Problem> {
        let one = Plain { relays: false, ..plain.clone() };
        let Some(name) = plain.group.as_deref() else { return Ok(vec![one]) };
        let unknown = || {
            Problem::new(
                axum::http::StatusCode::NOT_FOUND,
                format!("`{name}` is neither a URL nor a URL group"),
            )
        };
        let group = self.registered_as::<Group>(name).await?.ok_or_else(unknown)?;
        let each = group.endpoints.into_iter().map(|endpoint| Plain {
            url: endpoint.url,
            endpoint: endpoint.name,
            ..one.clone()
        });
        Ok(each.collect())
    }
}
