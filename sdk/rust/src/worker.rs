//! A worker: handlers by name, tasks from one long poll, reports in batches.
//!
//! ```text
//!   poll (one at a time, for as many as there is room) ──▶ executions ──▶ reports (batched)
//!                                              heartbeats (batched) ──▶ taken back? the handler is dropped
//!   SIGTERM: no more polls, executions are finished; once more, or after the drain time: tasks are given back
//! ```

mod work;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::context::Context;
use crate::failure::Result;
use crate::handlers::Handlers;
use crate::middleware::{Middleware, Stack};
use crate::problem::Error;
use work::{Stage, Work};

const CONCURRENCY: usize = 100;
const LEASE: Duration = Duration::from_secs(30);
const HEARTBEAT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_secs(30);
const DRAIN: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(2);

/// Takes tasks for its handlers, and does them.
#[derive(Clone)]
pub struct Worker {
    client: Client,
    name: String,
    build_id: Option<String>,
    handlers: Handlers,
    middleware: Stack,
    settings: Settings,
}

#[derive(Debug, Clone)]
struct Settings {
    concurrency: usize,
    lease: Duration,
    heartbeat: Duration,
    poll: Duration,
    drain: Duration,
    grace: Duration,
    until_idle: bool,
}

impl Worker {
    /// A worker of the client's server, without handlers yet.
    pub fn new(client: &Client) -> Worker {
        let (concurrency, lease, heartbeat) = (CONCURRENCY, LEASE, HEARTBEAT);
        let (poll, drain, grace) = (POLL, DRAIN, GRACE);
        let settings = Settings { concurrency, lease, heartbeat, poll, drain, grace, until_idle: false };
        let name = format!("{}-{}", machine(), std::process::id());
        let (client, handlers) = (client.clone(), Handlers::new());
        let middleware = Stack::default();
        Worker { client, name, build_id: None, handlers, middleware, settings }
    }

    /// Registers a handler. Its input is read, and its output written, as JSON.
    pub fn handler<I, O, F, Fut>(mut self, name: impl Into<String>, handle: F) -> Worker
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
        F: Fn(Context, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O>> + Send + 'static,
    {
        self.handlers = self.handlers.handler(name, handle);
        self
    }

    /// Registers handlers that are also used elsewhere, such as in a [replay check](crate::testing::replay_check).
    pub fn handlers(mut self, handlers: &Handlers) -> Worker {
        self.handlers.extend(handlers);
        self
    }

    /// Stands around every handler and every durable call of this worker. The first one is the outermost.
    pub fn middleware(mut self, middleware: impl Middleware + 'static) -> Worker {
        self.middleware.push(middleware);
        self
    }

    /// Tasks at the same time; 100 if absent.
    pub fn concurrency(mut self, tasks: usize) -> Worker {
        self.settings.concurrency = tasks.max(1);
        self
    }

    /// The worker's name in histories; the machine's name and the process' number if absent.
    pub fn name(mut self, name: impl Into<String>) -> Worker {
        self.name = name.into();
        self
    }

    /// Which code this worker has: handlers whose journal it does not fit wait for a worker with another one.
    /// `ABIDE_BUILD_ID`, or a hash of the program's file, if absent.
    pub fn build_id(mut self, build_id: impl Into<String>) -> Worker {
        self.build_id = Some(build_id.into());
        self
    }

    /// How long a task stays with this worker after its last heartbeat; 30 seconds if absent.
    pub fn lease(mut self, lease: Duration) -> Worker {
        self.settings.lease = lease;
        self
    }

    /// How often the worker asks whether its tasks are still wanted; 5 seconds, or a third of the lease, if absent.
    pub fn heartbeat(mut self, heartbeat: Duration) -> Worker {
        self.settings.heartbeat = heartbeat;
        self
    }

    /// How long a poll waits for a task; 30 seconds if absent.
    pub fn poll(mut self, poll: Duration) -> Worker {
        self.settings.poll = poll;
        self
    }

    /// The worker ends by itself when a poll has found nothing and nothing is left to do.
    pub fn until_idle(mut self) -> Worker {
        self.settings.until_idle = true;
        self
    }

    /// How long a shutdown waits for handlers before it gives their tasks back; 30 seconds if absent.
    pub fn drain(mut self, drain: Duration) -> Worker {
        self.settings.drain = drain;
        self
    }

    /// How long a journal may hold something the code has not come to, before the code counts as changed; 2 seconds if
    /// absent.
    pub fn grace(mut self, grace: Duration) -> Worker {
        self.settings.grace = grace;
        self
    }

    /// Works until SIGTERM or Ctrl-C, then finishes what it has. At the second one it gives its tasks back.
    pub async fn run(self) -> Result<(), Error> {
        let mut signals = Signals::new()?;
        let mut working = self.start();
        tokio::select! {
            ended = &mut working.ended => return outcome(ended),
            () = signals.next() => working.drain(),
        }
        tokio::select! {
            stopped = working.finish() => return stopped,
            () = signals.next() => {}
        }
        working.release();
        outcome((&mut working.ended).await)
    }

    /// Works in the background of this runtime until it is stopped.
    pub fn start(self) -> Working {
        let (stage, stages) = watch::channel(Stage::Working);
        let drain = self.settings.drain;
        let work = Work::new(self, stages);
        let ended = tokio::spawn(work.clone().live());
        Working { stage, work, ended, drain }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Worker { client, name, handlers, settings, .. } = self;
        f.debug_struct("Worker")
            .field("client", client)
            .field("name", name)
            .field("handlers", handlers)
            .field("settings", settings)
            .finish()
    }
}

/// A worker at work. It goes on when this is dropped.
#[derive(Debug)]
pub struct Working {
    stage: watch::Sender<Stage>,
    work: Arc<Work>,
    ended: JoinHandle<Result<(), Error>>,
    drain: Duration,
}

impl Working {
    /// Takes no more tasks and finishes those it has. What is not done in time is given back.
    pub async fn stop(mut self) -> Result<(), Error> {
        self.drain();
        self.finish().await
    }

    /// Returns when it ends: because it was told to, has nothing to do, or the server refuses it.
    pub async fn ended(&mut self) -> Result<(), Error> {
        outcome((&mut self.ended).await)
    }

    /// Takes no more tasks, and finishes those it has: [`Working::ended`] returns when it has.
    pub fn drain(&self) {
        self.stage.send_replace(Stage::Draining);
    }

    /// Gives every task back at once, for another worker, and ends.
    pub fn release(&self) {
        self.stage.send_replace(Stage::Releasing);
    }

    /// How many tasks it has.
    pub fn tasks(&self) -> usize {
        self.work.tasks()
    }

    async fn finish(&mut self) -> Result<(), Error> {
        match tokio::time::timeout(self.drain, &mut self.ended).await {
            Ok(ended) => outcome(ended),
            Err(_) => {
                self.release();
                outcome((&mut self.ended).await)
            }
        }
    }
}

fn outcome(ended: Result<Result<(), Error>, tokio::task::JoinError>) -> Result<(), Error> {
    ended.unwrap_or_else(|error| Err(Error::Unusable(format!("the worker broke: {error}"))))
}

/// What this machine is called.
fn machine() -> String {
    let told = std::env::var("HOSTNAME").ok();
    let name = told.or_else(|| std::fs::read_to_string("/proc/sys/kernel/hostname").ok());
    name.map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "worker".to_owned())
}

/// SIGTERM and Ctrl-C.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Signals, Error> {
        #[cfg(unix)]
        {
            let kind = tokio::signal::unix::SignalKind::terminate();
            let terminate = tokio::signal::unix::signal(kind);
            let terminate = terminate.map_err(|error| Error::Unusable(format!("SIGTERM: {error}")))?;
            Ok(Signals { terminate })
        }
        #[cfg(not(unix))]
        Ok(Signals {})
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}
