//! A host program with an engine in it, that can be stopped and started again on the same store: a file, or a database
//! where `ABIDE_TEST_STORE=postgres` says so.

use abide_core::definition::Definition;
use abide_core::definition::document::Workflow;
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_engine::{Clock, Ended, Engine, Error, Limits, Options, Retention, SettableClock, TaskResult};
use abide_store::postgres::{self, Postgres};
use abide_store::sqlite::{self, Sqlite};
use abide_store::{Read, Store};
use abide_testkit::postgres::{self as database, Server};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::watched::Watch;

/// Where a host keeps its runs.
pub(crate) enum Place {
    File(TempDir),
    Database(String),
}

impl Place {
    pub(crate) fn new() -> Place {
        match database::is_asked_for() {
            true => Place::Database(Server::shared().database()),
            false => Place::File(tempfile::tempdir().unwrap()),
        }
    }

    pub(crate) fn open(&self) -> Box<dyn Store> {
        match self {
            Place::File(directory) => Box::new(Sqlite::open(directory.path().join("abide.db")).unwrap()),
            Place::Database(address) => Box::new(Postgres::open(address).unwrap()),
        }
    }

    /// Somebody else who reads what the engine has written.
    pub(crate) fn reader(&self) -> Box<dyn Read> {
        match self {
            Place::File(directory) => {
                Box::new(sqlite::Reader::open(directory.path().join("abide.db")).unwrap())
            }
            Place::Database(address) => Box::new(postgres::Reader::open(address).unwrap()),
        }
    }

    /// As a process that was killed leaves it: a file and its log, folded and closed by nobody.
    fn left_behind(&self) -> Place {
        match self {
            Place::File(before) => {
                let directory = tempfile::tempdir().unwrap();
                for name in ["abide.db", "abide.db-wal"] {
                    std::fs::copy(before.path().join(name), directory.path().join(name)).unwrap();
                }
                Place::File(directory)
            }
            Place::Database(address) => Place::Database(address.clone()),
        }
    }
}

pub(crate) struct Host {
    pub(crate) place: Place,
    pub(crate) clock: SettableClock,
    pub(crate) engine: Engine,
}

impl Host {
    pub(crate) async fn new() -> Host {
        Host::on(Place::new()).await
    }

    /// On a file, whatever else is asked for.
    pub(crate) async fn on_a_file() -> Host {
        Host::on(Place::File(tempfile::tempdir().unwrap())).await
    }

    async fn on(place: Place) -> Host {
        Host::keeping(place, Retention::default()).await
    }

    /// One that keeps things so long.
    pub(crate) async fn keeping(place: Place, retention: Retention) -> Host {
        let clock = SettableClock::new("2026-03-01T00:00:00Z".parse().unwrap());
        let options = Options { clock: Some(clock.clone()), retention, ..Options::default() };
        let engine = Engine::open_with(place.open(), options).await.unwrap();
        Host { place, clock, engine }
    }

    pub(crate) async fn with(workflow: Workflow) -> Host {
        let host = Host::new().await;
        host.engine.deploy(workflow).await.unwrap();
        host.echo().await;
        host
    }

    /// A handler `echo` that gives back its input.
    pub(crate) async fn echo(&self) {
        let echo = async |task: abide_core::task::Task| TaskResult::complete(json!({ "echo": task.input }));
        self.engine.handler("echo", echo).await.unwrap();
    }

    pub(crate) async fn start(&self, workflow: &str) -> RunId {
        self.engine.start(workflow, json!({})).await.unwrap()
    }

    /// Starts many at once, so that they share their commits.
    pub(crate) async fn start_many(&self, workflow: &'static str, count: usize) -> Vec<RunId> {
        let started = self.start_each(workflow, vec![json!({}); count]).await;
        started.into_iter().map(|(run, _)| run).collect()
    }

    /// The same, with an input for each.
    pub(crate) async fn start_each(
        &self,
        workflow: &'static str,
        inputs: impl IntoIterator<Item = Value>,
    ) -> Vec<(RunId, Value)> {
        let mut starts = JoinSet::new();
        for input in inputs {
            let engine = self.engine.clone();
            starts.spawn(async move { (engine.start(workflow, input.clone()).await.unwrap(), input) });
        }
        starts.join_all().await
    }

    pub(crate) async fn status(&self, run: RunId) -> RunStatus {
        self.engine.run(run).get().await.unwrap().status
    }

    /// Lets time pass until the run ends.
    pub(crate) async fn end_of(&self, run: RunId) -> Ended {
        self.engine.clock().skip_waits(run).await.unwrap().expect("the run ends by itself")
    }

    /// Another process on the same file, without the handlers of the last one.
    pub(crate) async fn restart(self) -> Host {
        self.restart_after("0s").await
    }

    /// The same, some time later.
    pub(crate) async fn restart_after(self, length: &str) -> Host {
        self.reopen(length, |store| store).await
    }

    /// The same, on a store that is looked into.
    pub(crate) async fn restart_on(self, watch: &Watch, length: &str) -> Host {
        self.reopen(length, |store| watch.store(store)).await
    }

    async fn reopen(self, length: &str, store: impl FnOnce(Box<dyn Store>) -> Box<dyn Store>) -> Host {
        let Host { place, clock, engine } = self;
        engine.shut_down().await.unwrap();
        clock.advance(Millis::parse(length).unwrap());
        let engine = open(store(place.open()), &clock).await;
        Host { place, clock, engine }
    }

    /// Restarts the host, after something was written to its store meanwhile.
    pub(crate) async fn restart_noting(
        self,
        note: impl FnOnce(&mut dyn Store) -> Result<(), abide_store::Error>,
    ) -> Host {
        let noted = |mut store: Box<dyn Store>| {
            note(&mut *store).unwrap();
            store
        };
        self.reopen("0s", noted).await
    }

    /// A process on what this one would leave behind if it were killed now. On a database they are two nodes.
    pub(crate) async fn another(&self) -> Host {
        let (place, clock) = (self.place.left_behind(), self.clock.clone());
        let engine = open(place.open(), &clock).await;
        Host { place, clock, engine }
    }

    /// On a new store, with these limits.
    pub(crate) async fn limited(limits: Limits) -> Host {
        let (place, clock) = (Place::new(), SettableClock::new("2026-03-01T00:00:00Z".parse().unwrap()));
        let options = Options { clock: Some(clock.clone()), limits, ..Options::default() };
        let engine = Engine::open_with(place.open(), options).await.unwrap();
        Host { place, clock, engine }
    }

    /// Deploys a workflow as people write them.
    pub(crate) async fn deploy(&self, document: Value) -> Result<(), Error> {
        let checked = Definition::from_text(&document.to_string())?;
        self.engine.default_workspace().definitions().deploy_checked(checked).await.map(drop)
    }

    /// Another process on what a killed one left behind.
    pub(crate) async fn crash_after(self, length: &str) -> Host {
        // So that the files are not copied in the middle of a commit.
        self.look().await;
        let Host { place: before, clock, engine } = self;
        let place = before.left_behind();
        engine.shut_down().await.unwrap();
        clock.advance(Millis::parse(length).unwrap());
        let engine = open(place.open(), &clock).await;
        Host { place, clock, engine }
    }

    pub(crate) fn advance(&self, length: &str) {
        self.clock.advance(Millis::parse(length).unwrap());
    }

    /// Lets time pass, and the engine look at the clock.
    pub(crate) async fn pass(&self, length: &str) {
        self.advance(length);
        self.look().await;
    }

    /// Until what is due has fired, and is committed.
    pub(crate) async fn look(&self) {
        self.engine.clock().settled().await.unwrap();
    }

    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }
}

async fn open(store: Box<dyn Store>, clock: &SettableClock) -> Engine {
    Engine::open_with(store, Options { clock: Some(clock.clone()), ..Options::default() }).await.unwrap()
}

pub(crate) fn output(ended: &Ended) -> Value {
    ended.output.as_deref().cloned().unwrap_or_default()
}
