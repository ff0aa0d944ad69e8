//! The worker, a process of its own: it asks for many tasks at once, does nothing with them, and reports them in one
//! request. It notes which sleepers woke.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::connection::{Answer, Connection};
use crate::child::{self, Kin};
use crate::machine;
use crate::sleeper::{Asleep, LOOK_EVERY, Told, Wakes};

/// While the tasks of one are reported, another has asked for the next.
const POLLERS: usize = 2;
/// As many as a poll may take.
const TASKS: usize = 1_000;

/// A worker that does nothing, for the process that started it
#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[arg(long)]
    server: SocketAddr,
    /// The handler whose tasks it does
    #[arg(long)]
    handler: String,
    /// How many sleepers it waits for, before it tells what became of them
    #[arg(long, default_value_t = 0)]
    sleepers: usize,
    #[arg(long, default_value_t = 0)]
    last_due_ms: i64,
}

/// Says that the worker has connected.
#[derive(Debug, Serialize, Deserialize)]
struct Ready {}

#[derive(Debug, Deserialize)]
struct Polled<'a> {
    #[serde(borrow)]
    tasks: Vec<Task<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Task<'a> {
    lease_token: &'a str,
    input: Asleep,
}

#[derive(Debug, Deserialize)]
struct Reported {
    results: Vec<Recorded>,
}

#[derive(Debug, Deserialize)]
struct Recorded {
    ok: bool,
}

impl Worker {
    pub(crate) async fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let work = Arc::new(Work { wakes: Wakes::new(self.sleepers), unreported: AtomicUsize::new(0) });
        let poll = serde_json::json!({ "handlers": [self.handler], "maxTasks": TASKS, "workerId": "bench" });
        let mut pollers = JoinSet::new();
        for connection in Connection::open_many(self.server, POLLERS).await? {
            pollers.spawn(Arc::clone(&work).go_on(connection, poll.to_string()));
        }
        child::say(out, &Ready {})?;
        if self.sleepers == 0 {
            // Until it is killed, or whoever would kill it is gone.
            let parent = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
            return work
                .until(&mut pollers, async {
                    drop(parent.await?);
                    Ok(())
                })
                .await;
        }
        work.until(&mut pollers, async {
            work.wakes.wait_for_all(self.last_due_ms).await;
            while work.unreported.load(Ordering::Relaxed) > 0 {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            Ok(())
        })
        .await?;
        child::say(out, &work.wakes.tell())
    }
}

struct Work {
    wakes: Arc<Wakes>,
    unreported: AtomicUsize,
}

impl Work {
    /// Works until this is done, or something fails.
    async fn until(
        &self,
        pollers: &mut JoinSet<anyhow::Result<()>>,
        done: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<()> {
        tokio::select! {
            done = done => done,
            Some(failed) = pollers.join_next() => failed?,
        }
    }

    async fn go_on(self: Arc<Work>, mut connection: Connection, poll: String) -> anyhow::Result<()> {
        let mut reports = String::new();
        loop {
            let polled = connection.post("/api/v1/tasks/poll", &poll).await?;
            let count = self.take(polled, &mut reports)?;
            if count == 0 {
                continue;
            }
            let reported = connection.post("/api/v1/tasks/report", &reports).await?.expect(200)?;
            let reported: Reported = serde_json::from_slice(reported)?;
            let recorded = reported.results.iter().filter(|one| one.ok).count();
            anyhow::ensure!(recorded == count, "{} of {count} reports were refused", count - recorded);
            self.unreported.fetch_sub(count, Ordering::Relaxed);
        }
    }

    /// Takes tasks, and writes what is to be reported of them.
    fn take(&self, polled: Answer<'_>, reports: &mut String) -> anyhow::Result<usize> {
        let Polled { tasks } = serde_json::from_slice(polled.expect(200)?)?;
        self.unreported.fetch_add(tasks.len(), Ordering::Relaxed);
        let now_us = Timestamp::now().as_microsecond();
        reports.clear();
        reports.push_str("{\"reports\":[");
        for (index, Task { lease_token, input }) in tasks.iter().enumerate() {
            self.wakes.note(*input, now_us);
            let comma = if index == 0 { "" } else { "," };
            write!(reports, "{comma}{{\"type\":\"complete\",\"leaseToken\":\"{lease_token}\"}}")?;
        }
        reports.push_str("]}");
        Ok(tasks.len())
    }
}

/// A worker's process, as its parent holds it.
pub(super) struct Hired(Kin);

impl Hired {
    pub(super) fn new(server: SocketAddr, handler: &str) -> anyhow::Result<Hired> {
        Hired::with(server, handler, &[])
    }

    /// One that tells what became of sleepers.
    pub(super) fn for_sleepers(
        server: SocketAddr,
        handler: &str,
        count: usize,
        last_due_ms: i64,
    ) -> anyhow::Result<Hired> {
        let expected = [format!("--sleepers={count}"), format!("--last-due-ms={last_due_ms}")];
        Hired::with(server, handler, &expected)
    }

    fn with(server: SocketAddr, handler: &str, more: &[String]) -> anyhow::Result<Hired> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bench", "worker", &format!("--server={server}"), &format!("--handler={handler}")]);
        let mut kin = Kin::spawn(command.args(more))?;
        let Ready {} = kin.hear()?;
        Ok(Hired(kin))
    }

    pub(super) fn cpu_seconds(&self) -> Option<f64> {
        machine::cpu_seconds_of(self.0.id())
    }

    /// Waits until the sleepers have woken.
    pub(super) fn tell(mut self) -> anyhow::Result<Told> {
        let told = self.0.hear()?;
        self.0.end()?;
        Ok(told)
    }
}
