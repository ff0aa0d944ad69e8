//! A server for tests: a process of its own, a store that is thrown away, and time that passes when you say so.
//!
//! ```no_run
//! use abide_sdk::testing::TestServer;
//! use abide_sdk::{Context, Result, Workflow};
//!
//! # async fn test() -> Result<(), abide_sdk::Error> {
//! let server = TestServer::start().await?; // ABIDE_BIN, or `abide` from the path
//! let rest = |ctx: Context, days: u64| async move {
//!     ctx.sleep("rest", format!("{days}d")).await?;
//!     Ok("rested")
//! };
//! server.worker().handler("rest", rest).start();
//! let rest = Workflow::<u64, String>::new("rest").task("rest", "rest");
//! server.client.deploy(&rest).await?;
//! assert_eq!(server.run_through(&rest, 30).await?, "rested");
//! # Ok(())
//! # }
//! ```

mod replay;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

use crate::Timestamp;
use crate::client::{Client, WorkflowRef};
use crate::length::{Length, random_hex};
use crate::problem::Error;
use crate::resources::has_ended;
use crate::wire::{self, HistoryRecord, ListensFor, MoveClock, WaitingForKind};
use crate::worker::Worker;

pub use replay::{Journals, ReplayOutcome, ReplayVerdict, StoredJournal, assert_fits, replay_check};

/// How long workers may take for what they have, in real time.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Where the server leaves the first key of a store that has none.
const FIRST_KEY: &str = "abide.db.admin-key";
const WORKER_POLL: Duration = Duration::from_secs(5);
const WORKER_DRAIN: Duration = Duration::from_secs(1);

/// A server that is there for one test, and is gone when this is dropped.
#[derive(Debug)]
pub struct TestServer {
    /// A client of it.
    pub client: Client,
    settings: TestServerBuilder,
    process: Mutex<Child>,
    directory: Directory,
}

/// How a test server is made.
#[derive(Debug, Clone, Default)]
pub struct TestServerBuilder {
    bin: Option<PathBuf>,
    real_time: bool,
    args: Vec<OsString>,
}

impl TestServerBuilder {
    /// The `abide` binary; `ABIDE_BIN`, or `abide` from the path, if absent.
    pub fn bin(mut self, bin: impl Into<PathBuf>) -> TestServerBuilder {
        self.bin = Some(bin.into());
        self
    }

    /// Goes by the machine's clock, not by one that the test moves.
    pub fn real_time(mut self) -> TestServerBuilder {
        self.real_time = true;
        self
    }

    /// More arguments for `abide serve`. With `--auth required`, the client has the first key of the store.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> TestServerBuilder {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The server, when it listens.
    pub async fn start(self) -> Result<TestServer, Error> {
        let directory = Directory::new()?;
        let (process, url) = self.serve(&directory.0, "127.0.0.1:0").await?;
        let client = Client::builder().url(url);
        let client = match std::fs::read_to_string(directory.0.join(FIRST_KEY)) {
            Ok(key) => client.api_key(key.trim()).build()?,
            Err(_) => client.build()?,
        };
        Ok(TestServer { client, settings: self, directory, process: Mutex::new(process) })
    }

    async fn serve(&self, directory: &Path, address: &str) -> Result<(Child, String), Error> {
        let given = self.bin.clone().or_else(|| std::env::var_os("ABIDE_BIN").map(PathBuf::from));
        let bin = given.unwrap_or_else(|| PathBuf::from("abide"));
        let store = format!("sqlite:{}", directory.join("abide.db").display());
        let mut command = Command::new(&bin);
        command.args(["serve", "--listen", address, "--store", &store, "--log", "error"]).args(&self.args);
        command.args((!self.real_time).then_some(OsStr::new("--test-clock")));
        command.current_dir(directory).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let failed = |why: String| Error::Unusable(format!("{}: {why}", bin.display()));
        let mut child = command.spawn().map_err(|error| failed(format!("{error}; set ABIDE_BIN")))?;
        let out = child.stdout.as_mut().expect("the server's output is piped");
        let mut line = String::new();
        let read = BufReader::new(out).read_line(&mut line).await;
        match (read, line.trim().split_once("listens on ")) {
            (Ok(_), Some((_, url))) => Ok((child, url.to_owned())),
            (read, _) => {
                let ended =
                    child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string());
                let said = read.map_or_else(|error| error.to_string(), |_| line);
                Err(failed(format!("it does not listen: {ended} {said}")))
            }
        }
    }
}

impl TestServer {
    /// A server with a clock that stands still until you let time pass.
    pub async fn start() -> Result<TestServer, Error> {
        TestServer::builder().start().await
    }

    /// A server with settings of its own.
    pub fn builder() -> TestServerBuilder {
        TestServerBuilder::default()
    }

    /// A worker for it; give it handlers, and start it.
    pub fn worker(&self) -> Worker {
        Worker::new(&self.client).poll(WORKER_POLL).drain(WORKER_DRAIN)
    }

    /// What time it is there.
    pub async fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.client.test_clock().find().await?.now)
    }

    /// Lets time pass. Workers do what falls due on the way, when it does.
    pub async fn advance(&self, duration: impl Into<Length>) -> Result<(), Error> {
        self.idle().await?;
        let mut clock = self.client.test_clock().advance(&MoveClock::default().advance(duration)).await?;
        let to = clock.target.unwrap_or(clock.now);
        while clock.now < to {
            self.idle().await?;
            clock = self.client.test_clock().advance(&MoveClock::default().to(to)).await?;
        }
        self.idle().await.map(drop)
    }

    /// Lets time pass until the run has ended, or waits for something that time does not bring.
    pub async fn skip_waits(&self, run: &(impl AsRef<str> + ?Sized)) -> Result<wire::Run, Error> {
        loop {
            let clock = self.idle().await?;
            let run = self.client.runs().find(run.as_ref()).await?;
            let is_over = has_ended(run.status) || clock.next_timer.is_none();
            if is_over || !self.waits_for_time(&run).await? {
                return Ok(run);
            }
            self.client.test_clock().advance(&MoveClock::default()).await?;
        }
    }

    /// Whether time brings what a run waits for, or what one of its children does.
    async fn waits_for_time(&self, run: &wire::Run) -> Result<bool, Error> {
        let mut waits = run.waiting_for.clone();
        while let Some(wait) = waits.pop() {
            if wait.until.is_some() {
                return Ok(true);
            }
            if let (WaitingForKind::Child, Some(id)) = (wait.kind, &wait.waitpoint_id) {
                let waitpoint = self.client.waitpoints().find(id).await?;
                if let ListensFor::Child(child) = waitpoint.listens_for {
                    waits.extend(self.client.runs().find(&child.run_id).await?.waiting_for);
                }
            }
        }
        Ok(false)
    }

    /// Returns when nothing is being done: the run has ended, or waits.
    pub async fn settle(&self, run: &(impl AsRef<str> + ?Sized)) -> Result<wire::Run, Error> {
        self.idle().await?;
        self.client.runs().find(run.as_ref()).await
    }

    /// Skips every wait of a run, and gives its output.
    pub async fn run_through<W>(&self, workflow: &W, input: W::Input) -> Result<W::Output, Error>
    where
        W: WorkflowRef + ?Sized,
    {
        let run = self.client.start(workflow, input).await?;
        let stood = self.skip_waits(&run).await?;
        if !has_ended(stood.status) {
            let waits: Vec<_> = stood.waiting_for.into_iter().map(|wait| wait.sentence).collect();
            let waits = waits.join("; ");
            return Err(Error::Unusable(format!("{} waits for what time does not bring: {waits}", stood.id)));
        }
        run.result().await
    }

    /// What happened to a run, whole.
    pub async fn history(&self, run: &(impl AsRef<str> + ?Sized)) -> Result<Vec<HistoryRecord>, Error> {
        self.client.runs().history(run.as_ref()).all().await
    }

    /// Kills the server as a power cut would, and starts it again on the same store and address. A task that was on its way
    /// to a worker then comes again when its lease is over: `settle` first, unless that is what a test is about.
    pub async fn crash(&self) -> Result<(), Error> {
        let mut process = self.process.lock().await;
        process
            .kill()
            .await
            .map_err(|error| Error::Unusable(format!("the server cannot be killed: {error}")))?;
        let address = self.client.server().trim_start_matches("http://");
        (*process, _) = self.settings.serve(&self.directory.0, address).await?;
        Ok(())
    }

    /// Returns when no worker has, or could take, a task.
    async fn idle(&self) -> Result<wire::TestClock, Error> {
        let until = Instant::now() + PATIENCE;
        loop {
            let clock = self.client.test_clock().find().await?;
            if clock.tasks == 0 {
                return Ok(clock);
            }
            if Instant::now() > until {
                let (tasks, limit) = (clock.tasks, PATIENCE.as_secs());
                let advice = "is there a worker for each handler?";
                return Err(Error::Unusable(format!(
                    "{tasks} task(s) are not done after {limit} s: {advice}"
                )));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// A place for the store, which is removed with the server.
#[derive(Debug)]
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Directory, Error> {
        let path = std::env::temp_dir().join(format!("abide-test-{}", random_hex::<8>()));
        let failed = |error| Error::Unusable(format!("{}: {error}", path.display()));
        std::fs::create_dir_all(&path).map_err(failed)?;
        Ok(Directory(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What is left is in a place for what is thrown away.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
