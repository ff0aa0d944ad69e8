//! What a worker's tasks are done with: a command for each, and a line about what became of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use abide_sdk::{Context, Handlers, Json, TaskError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::handler::{self, Aside, Worked};
use crate::times;

/// The tasks that commands are at.
#[derive(Debug)]
pub(super) struct Desk {
    server: String,
    /// Variables with keys or secrets that commands get all the same.
    pass: Vec<String>,
    at_work: Mutex<BTreeSet<String>>,
    say: UnboundedSender<String>,
}

impl Desk {
    /// The desk, and what is said about its tasks.
    pub(super) fn new(server: &str, pass: &[String]) -> (Arc<Desk>, UnboundedReceiver<String>) {
        let (say, said) = unbounded_channel();
        let (server, pass) = (server.to_owned(), pass.to_vec());
        (Arc::new(Desk { server, pass, at_work: Mutex::default(), say }), said)
    }

    /// A handler for each command.
    pub(super) fn handlers(self: &Arc<Desk>, commands: BTreeMap<String, String>) -> Handlers {
        commands.into_iter().fold(Handlers::new(), |handlers, (name, command)| {
            let (desk, command) = (Arc::clone(self), Arc::<str>::from(command));
            handlers.handler(name, move |ctx: Context, _: Json| {
                let (desk, command) = (Arc::clone(&desk), Arc::clone(&command));
                async move { desk.work(&ctx, &command).await }
            })
        })
    }

    /// Says of every task that it goes back to the server.
    pub(super) fn release(&self) {
        let given = std::mem::take(&mut *self.at_work.lock().unwrap_or_else(PoisonError::into_inner));
        given.iter().for_each(|task| self.say(format!("{task}  given back")));
    }

    async fn work(self: &Arc<Desk>, ctx: &Context, command: &str) -> Result<Json, TaskError> {
        let task = ctx.task();
        let label = format!("{}  {}  {}", task.id, task.step_name, task.handler);
        let begun = Instant::now();
        let held = Held::new(self, &task.id, &label);
        let told = serde_json::to_value(task)?;
        let worked = handler::work(command, &told, Some(&self.server), Aside::PassedOn, &self.pass).await;
        held.end();
        let took = times::length(i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX));
        match worked {
            Worked::Done { output, state_updates } => {
                for (key, value) in state_updates.into_iter().flatten() {
                    ctx.set_state(key, value);
                }
                self.say(format!("{label}  done in {took}"));
                Ok(output)
            }
            Worked::Failed { message, code, retryable } => {
                self.say(format!("{label}  failed after {took}: {message}"));
                let mut error = TaskError::new(message).code(code);
                error.retryable = retryable;
                // No line of this program made it.
                error.origin = None;
                Err(error)
            }
        }
    }

    fn say(&self, line: String) {
        // Nobody listens any more when the worker has ended.
        drop(self.say.send(line));
    }

    fn remove(&self, task: &str) -> bool {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner).remove(task)
    }
}

/// A task that a command is at. If this is dropped before it has ended, the task is not this worker's any more.
struct Held {
    desk: Arc<Desk>,
    task: String,
    label: String,
}

impl Held {
    fn new(desk: &Arc<Desk>, task: &str, label: &str) -> Held {
        desk.at_work.lock().unwrap_or_else(PoisonError::into_inner).insert(task.to_owned());
        Held { desk: Arc::clone(desk), task: task.to_owned(), label: label.to_owned() }
    }

    fn end(self) {
        self.desk.remove(&self.task);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.desk.remove(&self.task) {
            self.desk.say(format!("{}  let go: the task was taken back", self.label));
        }
    }
}
