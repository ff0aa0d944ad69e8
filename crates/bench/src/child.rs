//! Other processes of this program, for what one process cannot measure of itself: how it is to be killed, and how
//! it is to be started. A child says what it did in lines of JSON, and ends when its parent does.
//!
//! ```text
//!   parent ── spawn ──▶ child create   "created" …           killed, or ends by itself
//!          ── spawn ──▶ child queue    "created"             ends
//!          ── spawn ──▶ child serve    "serving"             ends
//!          ── spawn ──▶ child wake     "serving" … "told"    ends
//! ```

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Instant;

use abide_engine::{Engine, Options, SettableClock};
use abide_store::sqlite::Sqlite;
use anyhow::Context;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::limits::Queue;
use super::machine;
use super::report::Quantiles;
use super::sleeper::{self, Due, Told, Wakes};
use super::sleepers::Sleepers;

/// What this process does for the one that started it
#[derive(Debug, Args)]
pub(super) struct Child {
    #[arg(long)]
    file: PathBuf,
    #[command(subcommand)]
    work: ChildWork,
}

#[derive(Debug, Subcommand)]
pub(super) enum ChildWork {
    Create(Create),
    Queue(Queue),
    Serve,
    Wake(Wake),
}

/// Creates sleepers
#[derive(Clone, Debug, Args)]
pub(super) struct Create {
    #[arg(long)]
    pub(super) count: usize,
    /// How many ask at the same time
    #[arg(long)]
    pub(super) at_a_time: usize,
    /// How many more when the first sleepers have been created
    #[arg(long)]
    pub(super) later: usize,
    #[arg(long)]
    pub(super) first_ms: i64,
    #[arg(long)]
    pub(super) spread_ms: i64,
    /// The instant at which the clock stands meanwhile
    #[arg(long)]
    pub(super) clock_ms: Option<i64>,
    /// Waits to be killed
    #[arg(long)]
    pub(super) stay: bool,
}

/// Waits for sleepers to wake
#[derive(Clone, Debug, Args)]
pub(super) struct Wake {
    #[arg(long)]
    pub(super) count: usize,
    #[arg(long)]
    pub(super) last_due_ms: i64,
}

/// Sleepers are there, synced.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Created {
    pub(super) first: Batch,
    /// With more starters.
    pub(super) later: Option<Batch>,
    pub(super) resident_before: Option<u64>,
    pub(super) resident_after: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) count: usize,
    pub(super) starters: usize,
    pub(super) seconds: f64,
    pub(super) latency: Quantiles,
}

/// The first request has been acknowledged.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Serving {
    /// How long opening the store and taking up what was under way took.
    pub(super) open_ms: f64,
    pub(super) resident: Option<u64>,
}

impl Child {
    pub(super) async fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.work {
            ChildWork::Create(create) => create.run(&self.file, out).await,
            ChildWork::Queue(queue) => queue.run(&self.file, out).await,
            ChildWork::Serve => serve(&self.file, out).await?.shut_down().await.map_err(Into::into),
            ChildWork::Wake(wake) => wake.run(&self.file, out).await,
        }
    }
}

impl Create {
    async fn run(self, store: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
        let clock = match self.clock_ms {
            Some(ms) => Some(SettableClock::new(Timestamp::from_millisecond(ms)?)),
            None => None,
        };
        let engine =
            Engine::open_with(Box::new(Sqlite::open(store)?), Options { clock, ..Options::default() })
                .await?;
        sleeper::deploy(&engine).await?;
        let resident_before = machine::resident_bytes();
        let split = if self.later == self.at_a_time { self.count } else { self.count.min(Sleepers::FIRST) };
        let first = self.batch(&engine, 0..split, self.at_a_time).await?;
        let later = if split < self.count {
            Some(self.batch(&engine, split..self.count, self.later).await?)
        } else {
            None
        };
        say(out, &Created { first, later, resident_before, resident_after: machine::resident_bytes() })?;
        if self.stay {
            // Until it is killed, or whoever would kill it is gone.
            io::stdin().read_to_end(&mut Vec::new())?;
        }
        Ok(engine.shut_down().await?)
    }

    async fn batch(
        &self,
        engine: &Engine,
        which: std::ops::Range<usize>,
        starters: usize,
    ) -> anyhow::Result<Batch> {
        let due = Due { first_ms: self.first_ms, spread_ms: self.spread_ms };
        let count = which.len();
        let pace = sleeper::create(engine, which, self.count, starters, due).await?;
        Ok(Batch { count, starters, seconds: pace.seconds, latency: Quantiles::of(&pace.latency) })
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["create".to_owned()];
        let mut put = |name: &str, value: String| arguments.push(format!("--{name}={value}"));
        put("count", self.count.to_string());
        put("at-a-time", self.at_a_time.to_string());
        put("later", self.later.to_string());
        put("first-ms", self.first_ms.to_string());
        put("spread-ms", self.spread_ms.to_string());
        if let Some(clock_ms) = self.clock_ms {
            put("clock-ms", clock_ms.to_string());
        }
        if self.stay {
            arguments.push("--stay".to_owned());
        }
        arguments
    }
}

async fn serve(store: &Path, out: &mut dyn Write) -> anyhow::Result<Engine> {
    let begun = Instant::now();
    let engine = Engine::open(store).await?;
    let open_ms = begun.elapsed().as_secs_f64() * 1000.0;
    sleeper::deploy(&engine).await?;
    sleeper::probe(&engine).await?;
    say(out, &Serving { open_ms, resident: machine::resident_bytes() })?;
    Ok(engine)
}

impl Wake {
    async fn run(self, store: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
        let engine = serve(store, out).await?;
        let wakes = Wakes::new(self.count);
        wakes.watch(&engine).await?;
        wakes.wait(&engine, self.last_due_ms).await?;
        say(out, &wakes.tell())?;
        Ok(engine.shut_down().await?)
    }
}

pub(super) fn say(out: &mut dyn Write, what: &impl Serialize) -> anyhow::Result<()> {
    writeln!(out, "{}", serde_json::to_string(what)?)?;
    Ok(out.flush()?)
}

/// A child, as its parent holds it. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Kin {
    process: std::process::Child,
    said: BufReader<ChildStdout>,
}

impl Kin {
    fn with(store: &Path, work: &[String]) -> anyhow::Result<Kin> {
        let mut command = Command::new(std::env::current_exe()?);
        Kin::spawn(command.args(["bench", "child", "--file"]).arg(store).args(work))
    }

    pub(super) fn spawn(command: &mut Command) -> anyhow::Result<Kin> {
        // Its end of the pipe closes when this process ends, however it ends.
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let said = process.stdout.take().context("a child without a voice")?;
        Ok(Kin { process, said: BufReader::new(said) })
    }

    /// Tells it something, in a line.
    pub(super) fn tell(&mut self, what: &impl Serialize) -> anyhow::Result<()> {
        let input = self.process.stdin.as_mut().context("a child without an ear")?;
        say(input, what)
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The next thing it says.
    pub(super) fn hear<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        Ok(serde_json::from_str(&self.hear_line()?)?)
    }

    pub(super) fn hear_line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.said.read_line(&mut line)?;
        anyhow::ensure!(!line.is_empty(), "the process that was started for this ended too soon");
        Ok(line)
    }

    /// Waits until it has ended by itself.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        let status = self.process.wait()?;
        anyhow::ensure!(status.success(), "the process that was started for this failed: {status}");
        Ok(())
    }
}

impl Drop for Kin {
    fn drop(&mut self) {
        // Fails only when it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Lets a child create sleepers and close the store. With [`Create::stay`], it is killed instead.
pub(super) fn create(store: &Path, create: &Create) -> anyhow::Result<Created> {
    let mut kin = Kin::with(store, &create.arguments())?;
    let created = kin.hear()?;
    if !create.stay {
        kin.end()?;
    }
    Ok(created)
}

/// Lets a child queue runs and close the store.
pub(super) fn queue(store: &Path, queue: Queue) -> anyhow::Result<Created> {
    let mut kin = Kin::with(store, &queue.arguments())?;
    let created = kin.hear()?;
    kin.end()?;
    Ok(created)
}

/// Lets a child serve one request, and says how long that took from its start, in milliseconds.
pub(super) fn serve_once(store: &Path) -> anyhow::Result<(f64, Serving)> {
    let begun = Instant::now();
    let mut kin = Kin::with(store, &["serve".to_owned()])?;
    let serving = kin.hear()?;
    let took = begun.elapsed().as_secs_f64() * 1000.0;
    kin.end()?;
    Ok((took, serving))
}

/// Lets a child serve until the sleepers have woken.
pub(super) fn wake(store: &Path, wake: &Wake) -> anyhow::Result<(f64, Serving, Told)> {
    let begun = Instant::now();
    let arguments =
        ["wake".to_owned(), format!("--count={}", wake.count), format!("--last-due-ms={}", wake.last_due_ms)];
    let mut kin = Kin::with(store, &arguments)?;
    let serving = kin.hear()?;
    let took = begun.elapsed().as_secs_f64() * 1000.0;
    let told = kin.hear()?;
    kin.end()?;
    Ok((took, serving, told))
}
