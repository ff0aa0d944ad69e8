//! `abide worker`: polls for tasks and runs a command for each.
//!
//! ```text
//!   poll (one at a time) ──▶ tasks ──▶ errand: command + heartbeats ──▶ report
//!   SIGTERM: no more polls, errands are finished; once more: errands are killed and their tasks given back
//! ```

mod errand;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use abide_core::time::Millis;
use clap::Args;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::client::{Client, Connection, Error, Polled};
use crate::console::Console;
use crate::handler::{self, Named};
use crate::stop::StopSignals;
use crate::times;
use errand::Errand;

/// How long a poll waits for a task.
const POLL_MS: u64 = 30_000;
/// With `--until-idle`, nothing for this long is nothing to do.
const IDLE_MS: u64 = 500;
/// Between two tries to reach a server that does not answer.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Run a command for each task: JSON on its standard input, JSON from its standard output.
#[derive(Debug, Args)]
#[command(
    after_help = "The command is run by `sh -c`. It reads the task (`id`, `input`, `state`, `config`, `attempt`, …) and writes its\noutput. What it writes as a JSON object to the file $ABIDE_STATE_FILE is merged into the run's state. It also has\nABIDE_TASK_ID, ABIDE_RUN_ID, ABIDE_STEP, ABIDE_HANDLER, ABIDE_ATTEMPT and ABIDE_SERVER, and TRACEPARENT if the run is in\na trace. It does not have ABIDE_API_KEY, ABIDE_MASTER_KEY and ABIDE_SECRET_…, unless --env names them.\n\nIt exits with 0 when the task is done, with 65 when another attempt would not help, and with anything else when one\nmay; then what it wrote to its standard error is the message of the failure.\n\nThe worker sends heartbeats by itself. At SIGTERM or Ctrl-C it takes no more tasks and finishes those it has; at the\nsecond one it gives them back.\n\nExamples:\n  abide worker --handler reserve-goods='jq \"{reserved: .input.order}\"' --handler ship-order=./ship.sh\n  abide worker --handler resize-image='python3 resize.py' --concurrency 4"
)]
pub(crate) struct Worker {
    /// A handler's name and its command; may be given more than once
    #[arg(long = "handler", required = true, value_name = "NAME=COMMAND", value_parser = handler::parse)]
    handlers: Vec<Named>,
    /// Commands at the same time
    #[arg(long, short, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    concurrency: u16,
    /// Hand this variable to commands, too, though it holds a key or a secret: ABIDE_API_KEY, ABIDE_MASTER_KEY or
    /// ABIDE_SECRET_…; may be given more than once
    #[arg(long = "env", value_name = "NAME")]
    pass: Vec<String>,
    /// How this worker is called in histories; the machine's name and the process' number if absent
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How long a task stays with this worker after its last heartbeat
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = times::parse_length)]
    lease: Millis,
    /// End when there is nothing to do
    #[arg(long)]
    until_idle: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Worker {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let desk = Desk {
            client: Arc::new(self.connection.open()?),
            commands: Arc::new(handler::by_name(&self.handlers)),
            pass: Arc::new(self.pass.clone()),
            name: self.name.clone().unwrap_or_else(own_name),
            lease: self.lease,
            most: usize::from(self.concurrency),
            wait_ms: if self.until_idle { IDLE_MS } else { POLL_MS },
        };
        let names: Vec<&str> = desk.commands.keys().map(String::as_str).collect();
        console.note(&format!("{} works for {}: {}", desk.name, desk.client.server(), names.join(", ")))?;
        let off = watch::Sender::new(false);
        let mut shift =
            Shift { desk, errands: JoinSet::new(), polling: None, off, lost: false, is_over: false };
        let mut stop = StopSignals::listen()?;
        shift.work(self.until_idle, &mut stop, console).await
    }
}

fn own_name() -> String {
    let machine = std::env::var("HOSTNAME").unwrap_or_else(|_| "worker".to_owned());
    format!("{machine}-{}", std::process::id())
}

/// What a worker works with.
struct Desk {
    client: Arc<Client>,
    commands: Arc<BTreeMap<String, String>>,
    pass: Arc<Vec<String>>,
    name: String,
    lease: Millis,
    most: usize,
    wait_ms: u64,
}

/// From the start to the last report.
struct Shift {
    desk: Desk,
    errands: JoinSet<String>,
    /// A poll that is dropped on its way might take a task with it, so one is left to end.
    polling: Option<JoinHandle<Result<Polled, Error>>>,
    /// Calls every errand off.
    off: watch::Sender<bool>,
    /// The server did not answer last time.
    lost: bool,
    is_over: bool,
}

impl Shift {
    async fn work(
        &mut self,
        until_idle: bool,
        stop: &mut StopSignals,
        console: &mut Console<'_>,
    ) -> Result<(), Error> {
        loop {
            self.poll();
            tokio::select! {
                said = self.errands.join_next(), if !self.errands.is_empty() => {
                    if let Some(Ok(said)) = said {
                        console.note(&said)?;
                    }
                }
                polled = polled(&mut self.polling) => {
                    self.polling = None;
                    let count = self.take(polled, console)?;
                    self.is_over |= until_idle && count == Some(0) && self.errands.is_empty();
                }
                () = stop.next() => {
                    if self.is_over {
                        return self.give_back(console).await;
                    }
                    self.is_over = true;
                    let count = self.errands.len();
                    if count > 0 {
                        console.note(&format!("finishing {count} task(s); once more to give them back"))?;
                    }
                }
            }
            if self.is_over && self.errands.is_empty() {
                return Ok(());
            }
        }
    }

    fn poll(&mut self) {
        let free = self.desk.most - self.errands.len();
        if self.polling.is_some() || free == 0 || self.is_over {
            return;
        }
        let body = json!({
            "handlers": self.desk.commands.keys().collect::<Vec<_>>(),
            "maxTasks": free,
            "waitMs": self.desk.wait_ms,
            "workerId": self.desk.name,
            "leaseMs": self.desk.lease.0,
        });
        let (client, lost) = (Arc::clone(&self.desk.client), self.lost);
        self.polling = Some(tokio::spawn(async move {
            if lost {
                tokio::time::sleep(TRY_AGAIN).await;
            }
            client.post(&["tasks", "poll"], &body).await?.read()
        }));
    }

    /// How many tasks came; none where the server did not answer.
    fn take(
        &mut self,
        polled: Result<Polled, Error>,
        console: &mut Console<'_>,
    ) -> Result<Option<usize>, Error> {
        let tasks = match polled {
            Ok(Polled { tasks }) => tasks,
            Err(error) if is_passing(&error) => {
                if !self.lost {
                    console.note(&format!("{error}\nTrying again."))?;
                }
                self.lost = true;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if std::mem::take(&mut self.lost) {
            console.note("The server is back.")?;
        }
        let count = tasks.len();
        for task in tasks {
            if self.is_over {
                // It came while nobody wanted more.
                self.errands.spawn(errand::give_back(Arc::clone(&self.desk.client), task));
                continue;
            }
            let errand = Errand {
                client: Arc::clone(&self.desk.client),
                commands: Arc::clone(&self.desk.commands),
                pass: Arc::clone(&self.desk.pass),
                lease: self.desk.lease,
                task,
                off: self.off.subscribe(),
            };
            self.errands.spawn(errand.run());
        }
        Ok(Some(count))
    }

    /// Kills the commands. Each errand gives its task back when it is told that it is over.
    async fn give_back(&mut self, console: &mut Console<'_>) -> Result<(), Error> {
        self.off.send_replace(true);
        while let Some(said) = self.errands.join_next().await {
            if let Ok(said) = said {
                console.note(&said)?;
            }
        }
        Ok(())
    }
}

async fn polled(polling: &mut Option<JoinHandle<Result<Polled, Error>>>) -> Result<Polled, Error> {
    match polling {
        Some(polling) => polling.await.unwrap_or_else(|error| Err(Error::Failed(error.to_string()))),
        None => std::future::pending().await,
    }
}

/// Whether it may be better in a while.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Unreachable { .. } => true,
        Error::Problem(problem) => problem.status >= 500 || problem.status == 429,
        Error::Failed(_)
        | Error::Usage(_)
        | Error::NotFound(_)
        | Error::NotUnderstood(_)
        | Error::NotOver(_)
        | Error::Said(_)
        | Error::Io(_) => false,
    }
}

fn field<'a>(task: &'a Value, name: &str) -> &'a str {
    task[name].as_str().unwrap_or_default()
}
