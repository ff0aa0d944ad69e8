//! A run as it goes on: its records become progress and lines of a log, and say when it is worth looking at it.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::api::text;
use crate::catalog::Offered;
use crate::client::protocol_level;
use crate::dispatch::Context;
use crate::rpc;

/// After these records a run may have ended, or wait for somebody.
pub(crate) fn is_worth_a_look(record: &Value) -> bool {
    let kind = text(record, "type");
    kind == "STEP_WAITING" || kind.starts_with("WORKFLOW_PAUSED") || ends(record)
}

/// Whether the run has ended with it.
pub(crate) fn ends(record: &Value) -> bool {
    ["WORKFLOW_COMPLETED", "WORKFLOW_FAILED", "WORKFLOW_CANCELLED"].contains(&text(record, "type"))
}

/// What the caller is told on the way.
pub(crate) struct Reporter<'a> {
    context: &'a Context,
    steps: &'a [String],
    done: HashSet<String>,
    begun: bool,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(context: &'a Context, offered: &'a Offered) -> Reporter<'a> {
        Reporter { context, steps: &offered.steps, done: HashSet::new(), begun: false }
    }

    /// Whether anything is told at all.
    pub(crate) fn is_heard(&self) -> bool {
        self.context.client.progress_token.is_some() || self.context.client.wants_logs()
    }

    pub(crate) async fn tell(&mut self, record: &Value) {
        match text(record, "type") {
            "TASK_LOGGED" => self.log(record).await,
            "STEP_COMPLETED" | "STEP_SKIPPED" => {
                let step = text(record, "stepName");
                if self.steps.iter().any(|known| known == step) && self.done.insert(step.to_owned()) {
                    self.progress(record).await;
                }
            }
            _ if !std::mem::replace(&mut self.begun, true) => self.progress(record).await,
            _ => {}
        }
    }

    /// Tells how many of the steps are done.
    async fn progress(&self, record: &Value) {
        let Some(token) = &self.context.client.progress_token else { return };
        let params = json!({
            "progressToken": token,
            "progress": self.done.len(),
            "total": self.steps.len(),
            "message": text(record, "text"),
        });
        self.context.outbox.send(rpc::notification("notifications/progress", params)).await;
    }

    async fn log(&self, record: &Value) {
        for line in record.get("lines").and_then(Value::as_array).into_iter().flatten() {
            let level = protocol_level(text(line, "level"));
            if self.context.client.wants(level) {
                let params = json!({ "level": level, "logger": text(record, "stepName"), "data": text(line, "message") });
                self.context.outbox.send(rpc::notification("notifications/message", params)).await;
            }
        }
    }
}
