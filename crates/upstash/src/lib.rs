//! A gateway for the Upstash Workflow SDK: an app whose `QSTASH_URL` names this server runs on abide, unchanged.
//!
//! ```text
//!   app (SDK) ── /v2/batch, /v2/wait, … ──▶ routes ── a command ──▶ engine: the journal of the run's task
//!       ▲                                                               │ is the log
//!       └── signed deliveries, the log up to an entry ◀── driver ◀──────┘
//! ```
//!
//! It is no second engine. A guest's run is a run of one step whose task is performed here: what the SDK submits are
//! entries of its journal, what it waits for are waitpoints of the run, and both are one commit. What is to be
//! delivered next follows from the journal (`log`), so nothing is lost with a process and nothing is submitted twice.

mod delivery;
mod driver;
mod duration;
mod event;
mod keys;
mod log;
mod logs;
mod message;
mod origin;
mod plain;
mod publish;
mod record;
mod registry;
mod retry_delay;
mod routes;
mod sealed;
mod shared;
mod signature;
mod start;
mod started;
mod throttle;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use abide_calls::http::Client;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::task::Task;
use abide_engine::vault;
use abide_engine::{Engine, Error, TaskResult, WorkspaceHandle};
use axum::Router;
use axum::http::HeaderMap;
use tokio::sync::{Mutex, Semaphore};

pub use keys::{Keys, SETTING};

/// The workflow whose runs are guests' runs.
pub const WORKFLOW: &str = "upstash-workflow";
/// The workflow whose runs deliver one message each.
pub const MESSAGE: &str = "upstash-message";
const VERSION: &str = "1";
/// How many deliveries of all runs are under way at a time.
const DELIVERIES: usize = 1_000;
/// How long another node's rotation of the keys may stay unnoticed here.
const KEYS_AGE: Duration = Duration::from_secs(10);
/// How many ids of clients are remembered with the runs that they name.
const KNOWN_IDS: usize = 100_000;

/// Why the gateway could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The engine did not do its part.
    #[error(transparent)]
    Engine(Box<Error>),
    /// What the store holds are not keys.
    #[error("the setting `{SETTING}` of the store does not hold the gateway's keys")]
    Keys,
    /// The master key does not open the keys.
    #[error("the gateway's keys could not be opened: {0}")]
    Vault(vault::Error),
    /// A workflow of the gateway could not be stored.
    #[error("{0}")]
    Definition(String),
    /// The system gave no random bytes.
    #[error("no random bytes: {0}")]
    Random(String),
}

/// What the gateway is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The workspace of the guests' runs.
    pub workspace: WorkspaceId,
    /// How apps reach this server: `https://abide.example.com`.
    pub public_url: String,
    /// Whether apps use the public credentials of the vendor's development server.
    pub development: bool,
}

/// What a handler of the gateway performs.
#[derive(Clone, Copy, Debug)]
enum Performs {
    Run,
    Message,
}

/// The gateway. It performs the tasks of guests' runs from the moment it is opened.
pub struct Gateway {
    engine: Engine,
    settings: Settings,
    /// The keys, and when they were read.
    keys: RwLock<(Keys, Instant)>,
    client: Client,
    room: Semaphore,
    origins: origin::Origins,
    known: Mutex<HashMap<String, RunId>>,
    logs: logs::Logs,
    sealer: sealed::Sealer,
    /// The versions of the two workflows that are stored, by their limits.
    versions: Mutex<HashSet<(&'static str, throttle::Throttle)>>,
    /// The versions of the guests' workflow that have in them what runs share.
    shared: Mutex<shared::Versions>,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Gateway {
    /// Opens the gateway on an engine: its keys and its two workflows are stored, its tasks are performed from now on.
    pub async fn open(engine: Engine, settings: Settings) -> Result<Arc<Gateway>, OpenError> {
        let stored = Keys::of(&engine).await?;
        let sealer = sealed::Sealer::of(&stored)?;
        let keys = if settings.development { Keys::of_development() } else { stored };
        let client = Client::new(engine.calls().policy.clone());
        let gateway = Arc::new(Gateway {
            engine,
            settings,
            keys: RwLock::new((keys, Instant::now())),
            client,
            room: Semaphore::new(DELIVERIES),
            origins: origin::Origins::default(),
            known: Mutex::default(),
            logs: logs::Logs::default(),
            sealer,
            versions: Mutex::default(),
            shared: Mutex::default(),
        });
        for name in [WORKFLOW, MESSAGE] {
            gateway
                .version(name, throttle::Throttle::default())
                .await
                .map_err(|problem| OpenError::Definition(problem.to_string()))?;
        }
        for (name, perform) in [(WORKFLOW, Performs::Run), (MESSAGE, Performs::Message)] {
            // The engine has the handlers, and the gateway the engine.
            let gateway_of_task = Arc::downgrade(&gateway);
            let handler = move |task: Task| {
                let gateway = gateway_of_task.upgrade();
                async move {
                    match (gateway, perform) {
                        (Some(gateway), Performs::Run) => driver::drive(gateway, task).await,
                        (Some(gateway), Performs::Message) => plain::perform(gateway, task).await,
                        (None, _) => TaskResult::fail("the gateway is closed"),
                    }
                }
            };
            gateway.engine.handler(name, handler).await?;
        }
        Ok(gateway)
    }

    /// The routes, all under `/v2`.
    pub fn router(self: &Arc<Gateway>) -> Router {
        routes::router(Arc::clone(self))
    }

    /// The credentials that an app needs. They are read again now and then: another node may have rotated them.
    pub async fn keys(&self) -> Result<Keys, OpenError> {
        let (keys, read_at) = self.known_keys();
        if self.settings.development || read_at.elapsed() < KEYS_AGE {
            return Ok(keys);
        }
        let keys = Keys::of(&self.engine).await?;
        self.use_keys(keys.clone());
        Ok(keys)
    }

    fn known_keys(&self) -> (Keys, Instant) {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn use_keys(&self, keys: Keys) {
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = (keys, Instant::now());
    }

    /// Whether a request shows the token.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(axum::http::header::AUTHORIZATION).and_then(|shown| shown.to_str().ok());
        shown.is_some_and(|shown| self.known_keys().0.admit(shown))
    }

    pub(crate) fn workspace(&self) -> WorkspaceHandle<'_> {
        self.engine.workspace(self.settings.workspace)
    }
}

/// The id under which a failed run is in the dead letter queue.
pub(crate) fn dlq_id(run: &Run) -> String {
    let id = run.id.to_string();
    format!("dlq_{}", id.strip_prefix("run_").unwrap_or(&id))
}
