//! The engine as its users hold it: a handle that any number of tasks share, and smaller ones for each of its parts.
//!
//! ```text
//!   engine.workspace(w) ─┬─ .start(…)  .run(id).signal(…)  .runs()  .definitions()  .events()  .schedules()
//!                        └─ .tasks()  .waitpoints()  .webhooks()  .keys()
//!   engine.run(id)       a run of any workspace          engine.clock()   tests move it
//!   engine.admin()       what belongs to no workspace    engine.holds()   what stands still
//! ```
//!
//! Whoever has a handle asks the writer through its queue, or reads beside it; nobody gets at the store itself.

mod admin;
mod clock;
mod definitions;
mod events;
mod figures;
mod holds;
mod keys;
mod limits;
mod open;
mod options;
mod reply;
mod run;
mod runs;
mod schedules;
mod serving;
mod tasks;
mod waitpoints;
mod webhooks;
mod workspace;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use abide_calls::vault::Vault;
use abide_core::definition::document::Workflow;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::time::Millis;
use abide_store::Store;
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::clock::{Clock, SettableClock};
use crate::deploy::Deployed;
use crate::error::Error;
use crate::executor::{CallSettings, Executors};
use crate::followers::{Changed, Followers};
use crate::gate::Gate;
use crate::handler::{Handler, TaskResult};
use crate::holds::Holds;
use crate::limits::OpenRuns;
use crate::readers::Readers;
use crate::request::{Answer, Control, Query, Request, Stats, TaskRequest, Workers};
use crate::retention::Sweeper;
use crate::shares::Shares;
use crate::watch::Watch;
use crate::webhooks::Linking;

pub use admin::Admin;
pub use clock::{ClockHandle, ClockStatus};
pub use definitions::Definitions;
pub use events::{EventPage, Events, StartedOnEvent};
pub use figures::{Figures, Overdue};
pub use holds::HoldsHandle;
pub use keys::ApiKeys;
pub use limits::LimitsHandle;
pub use options::{Options, Queue};
pub use reply::{Ended, Listener, RunReply};
pub use run::RunHandle;
pub use runs::Runs;
pub use schedules::Schedules;
pub use tasks::Tasks;
pub use waitpoints::{WaitCounts, Waitpoints};
pub use webhooks::Webhooks;
pub use workspace::WorkspaceHandle;

/// How long an overloaded engine asks its callers to wait.
pub(crate) const RETRY_AFTER: Duration = Duration::from_millis(50);

/// A durable workflow engine in this process. Clones share it. Open it inside a tokio runtime.
#[derive(Clone)]
pub struct Engine {
    queue: mpsc::Sender<Request>,
    clock: Arc<dyn Clock>,
    settable: Option<SettableClock>,
    is_shared: bool,
    followers: Followers,
    readers: Arc<Readers>,
    executors: Arc<Executors>,
    vault: Vault,
    paused: bool,
    store_id: Arc<str>,
    sweeper: Arc<Sweeper>,
    open_runs: OpenRuns,
    shares: Shares,
    max_wait: Millis,
    gate: Arc<Gate>,
    holds: Holds,
    linking: Linking,
    watch: Arc<Watch>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Engine")
    }
}

impl Engine {
    /// Opens the store in a file, and goes on with whatever was under way in it.
    pub async fn open(path: impl AsRef<Path>) -> Result<Engine, Error> {
        Engine::options().open(path).await
    }

    /// Options to open an engine with that does more than run handlers.
    ///
    /// ```no_run
    /// # async fn open() -> Result<(), Box<dyn std::error::Error>> {
    /// use abide_engine::{Engine, Provider};
    ///
    /// let local = Provider::compatible("http://127.0.0.1:11434/v1", None);
    /// let options = Engine::options().provider("local", local).secret("API_KEY", "from somewhere safe", &["api.example.com"])?;
    /// let engine = options.allow(["127.0.0.1:8080".parse()?]).open("app.db").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn options() -> Options {
        Options::default()
    }

    /// A workspace: the way to its runs, workflows, events, schedules, tasks, waitpoints, webhooks and keys.
    pub fn workspace(&self, id: WorkspaceId) -> WorkspaceHandle<'_> {
        WorkspaceHandle { engine: self, id }
    }

    /// The default workspace, which every store has.
    pub fn default_workspace(&self) -> WorkspaceHandle<'_> {
        self.workspace(WorkspaceId::DEFAULT)
    }

    /// A run, whatever its workspace.
    pub fn run(&self, run: RunId) -> RunHandle<'_> {
        RunHandle::new(self, None, run)
    }

    /// What belongs to no single workspace: workspaces, keys, settings, the audit log, copies.
    pub fn admin(&self) -> Admin<'_> {
        Admin(self)
    }

    /// What whoever runs the engine watches: queues, what is overdue, connections.
    pub fn figures(&self) -> Figures<'_> {
        Figures(self)
    }

    /// Runs and schedules that stand still until somebody lets them go on.
    pub fn holds(&self) -> HoldsHandle<'_> {
        HoldsHandle(self)
    }

    /// The clock, as tests move it.
    pub fn clock(&self) -> ClockHandle<'_> {
        ClockHandle(self)
    }

    /// Registers an in-process handler for the tasks of this name.
    pub async fn handler<F, R>(&self, name: &str, function: F) -> Result<(), Error>
    where
        F: Fn(abide_core::task::Task) -> R + Send + Sync + 'static,
        R: Future<Output = TaskResult> + Send + 'static,
    {
        let request = TaskRequest::Register { name: name.into(), handler: Handler::new(function) };
        self.queue.send(request.into()).await.map_err(|_| Error::Stopped)
    }

    /// Stores a workflow of the default workspace under its name and version. Once stored, it never changes.
    pub async fn deploy(&self, workflow: Workflow) -> Result<Deployed, Error> {
        self.default_workspace().definitions().deploy(workflow).await
    }

    /// Starts a run of the newest version of a workflow of the default workspace. When it returns, the run is on disk.
    pub async fn start(&self, workflow: &str, input: Value) -> Result<RunId, Error> {
        self.default_workspace().start((workflow, input)).await
    }

    /// What the engine's clock says.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Why the engine cannot be relied on at the moment: no round ends, or none can be committed. Does not ask the
    /// writer, which may be stuck.
    pub fn trouble(&self) -> Option<String> {
        self.watch.trouble()
    }

    /// The id of the store, which no other has: not even a copy of it.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// Whether the engine only reads: it decides nothing, and no timer fires.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether other nodes may work on the same store.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The master key, under which the store's own secrets are sealed.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// The longest that a wait may take in this engine.
    pub fn max_wait(&self) -> Millis {
        self.max_wait
    }

    /// The settings of outgoing calls: addresses, secrets, models, handlers at URLs.
    pub fn calls(&self) -> &CallSettings {
        self.executors.settings()
    }

    /// Checks whether a URL may be called, as far as that can be told without looking up its host.
    pub fn check_url(&self, url: &str) -> Result<(), abide_calls::http::Error> {
        self.executors.client().check(url)
    }

    /// Follows the changes of every run.
    pub fn feed(&self) -> broadcast::Receiver<Changed> {
        self.followers.feed()
    }

    /// Waits until no webhook delivery is due. Says when the next attempt is due.
    pub async fn told(&self) -> Result<Option<Timestamp>, Error> {
        self.ask(|answer| Query::WebhooksSettled { answer }).await
    }

    /// The workers that polled lately, and the handlers that are known.
    pub async fn workers(&self) -> Result<Workers, Error> {
        self.ask(|answer| Query::Workers { answer }).await
    }

    /// What the engine has seen since it was opened.
    pub async fn stats(&self) -> Result<Stats, Error> {
        self.ask(|answer| Query::Stats { answer }).await
    }

    /// Removes all that retention allows to remove now. An engine does this by itself, a little at a time.
    pub async fn sweep(&self) -> Result<(), Error> {
        while self.sweeper.sweep().await? {}
        Ok(())
    }

    /// Finishes what is in the queue and closes the store. Handlers at work are stopped; their tasks are handed out
    /// again by the next engine.
    pub async fn shut_down(self) -> Result<(), Error> {
        // The last connection to close should be the one that can tidy up.
        self.readers.close().await;
        let (answer, stopped) = oneshot::channel();
        self.queue.send(Control::Stop { answer }.into()).await.map_err(|_| Error::Stopped)?;
        stopped.await.map_err(|_| Error::Stopped)?;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It has answered: what is left of it is its return.
            drop(thread.join());
        }
        Ok(())
    }

    async fn ask<T, R: Into<Request>>(&self, request: impl FnOnce(Answer<T>) -> R) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue.try_send(request(answer).into()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Overloaded { retry_after: RETRY_AFTER },
            mpsc::error::TrySendError::Closed(_) => Error::Stopped,
        })?;
        answered.await.map_err(|_| Error::Stopped)?
    }

    /// Asks the writer on behalf of a workspace, which has its share of the queue.
    async fn ask_in<T, R: Into<Request>>(
        &self,
        workspace: WorkspaceId,
        request: impl FnOnce(Answer<T>) -> R,
    ) -> Result<T, Error> {
        let overloaded = || Error::Overloaded { retry_after: RETRY_AFTER };
        let _place = self.gate.enter(workspace).await.ok_or_else(overloaded)?;
        self.ask(request).await
    }

    /// Writes what belongs to no run: keys, workspaces, settings. When it returns, it is on disk.
    async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&mut dyn Store) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.ask(|answer| {
            Control::Write(Box::new(move |store| drop(answer.send(write(store).map_err(Error::from)))))
        })
        .await
    }
}
