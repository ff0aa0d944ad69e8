//! One task in a worker's hands: its command, the heartbeats meanwhile, and the report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use abide_core::time::Millis;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};

use super::{field, is_passing};
use crate::client::{Client, Error};
use crate::handler::{self, Aside, Worked};
use crate::times;

/// Heartbeats in the time after which the server gives up on a worker.
const BEATS_PER_LEASE: u64 = 3;
const SHORTEST_BEAT_MS: u64 = 50;
/// How long a report is tried while the server does not answer.
const REPORT_TIME: Duration = Duration::from_secs(300);
const REPORT_AGAIN: Duration = Duration::from_millis(500);

pub(super) struct Errand {
    pub(super) client: Arc<Client>,
    pub(super) commands: Arc<BTreeMap<String, String>>,
    /// Variables with keys or secrets that commands get all the same.
    pub(super) pass: Arc<Vec<String>>,
    pub(super) lease: Millis,
    pub(super) task: Value,
    /// True when the worker wants to end at once.
    pub(super) off: watch::Receiver<bool>,
}

impl Errand {
    /// Says in the end what became of it.
    pub(super) async fn run(mut self) -> String {
        let begun = Instant::now();
        let commands = Arc::clone(&self.commands);
        let Some(command) = commands.get(field(&self.task, "handler")) else {
            return give_back(self.client, self.task).await;
        };
        let (task, client) = (self.task.clone(), Arc::clone(&self.client));
        let (server, pass) = (Some(client.server()), Arc::clone(&self.pass));
        let mut work = Box::pin(handler::work(command, &task, server, Aside::PassedOn, &pass));
        let every = self.beat();
        let mut beats = interval_at(begun + every, every);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let worked = loop {
            tokio::select! {
                worked = &mut work => break worked,
                _ = beats.tick() => {
                    if let Err(error) = self.report("heartbeat", json!({})).await && !is_passing(&error) {
                        return format!("{}  let go: {error}", self.label());
                    }
                }
                _ = self.off.changed() => {
                    drop(work);
                    return give_back(self.client, self.task).await;
                }
            }
        };
        let took = times::length(i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX));
        let (verb, body, said) = match worked {
            Worked::Done { output, state_updates } => {
                let mut body = json!({ "output": output });
                if let Some(updates) = state_updates {
                    body["stateUpdates"] = updates.into();
                }
                ("complete", body, format!("done in {took}"))
            }
            Worked::Failed { message, code, retryable } => {
                let said = format!("failed after {took}: {message}");
                ("fail", json!({ "message": message, "code": code, "retryable": retryable }), said)
            }
        };
        match self.insist(verb, body).await {
            Ok(()) => format!("{}  {said}", self.label()),
            Err(error) => format!("{}  {said}, but that was not taken: {error}", self.label()),
        }
    }

    fn label(&self) -> String {
        let task = &self.task;
        format!("{}  {}  {}", field(task, "id"), field(task, "stepName"), field(task, "handler"))
    }

    fn beat(&self) -> Duration {
        let asked = self.task["heartbeatMs"].as_u64().unwrap_or(u64::MAX);
        Duration::from_millis((self.lease.0.min(asked) / BEATS_PER_LEASE).max(SHORTEST_BEAT_MS))
    }

    async fn report(&self, verb: &str, body: Value) -> Result<(), Error> {
        report(&self.client, &self.task, verb, body).await
    }

    /// A result is not lost because the server is being restarted.
    async fn insist(&self, verb: &str, body: Value) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            match self.report(verb, body.clone()).await {
                Err(error) if is_passing(&error) && begun.elapsed() < REPORT_TIME => {
                    sleep(REPORT_AGAIN).await
                }
                done => return done,
            }
        }
    }
}

async fn report(client: &Client, task: &Value, verb: &str, mut body: Value) -> Result<(), Error> {
    body["leaseToken"] = task["leaseToken"].clone();
    client.post(&["tasks", field(task, "id"), verb], &body).await.map(drop)
}

/// For another worker. If that cannot be said, its lease ends by itself.
pub(super) async fn give_back(client: Arc<Client>, task: Value) -> String {
    match report(&client, &task, "release", json!({})).await {
        Ok(()) => format!("{}  given back", field(&task, "id")),
        Err(error) => format!("{}  could not be given back: {error}", field(&task, "id")),
    }
}
