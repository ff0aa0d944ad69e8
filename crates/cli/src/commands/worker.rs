//! `abide worker`: a worker of the Rust SDK whose handlers are commands.

mod desk;

use std::time::Duration;

use abide_definition::time::Millis;
use clap::Args;
use tracing_subscriber::EnvFilter;

use crate::client::{Connection, Error};
use crate::console::Console;
use crate::handler::{self, Named};
use crate::stop::StopSignals;
use crate::times;
use desk::Desk;

/// With `--until-idle`, nothing for this long is nothing to do.
const IDLE: Duration = Duration::from_millis(500);
/// Heartbeats in the time after which the server gives up on a worker.
const BEATS_PER_LEASE: u32 = 3;

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
        let client = self.connection.open()?;
        let commands = handler::by_name(&self.handlers);
        let name = self.name.clone().unwrap_or_else(own_name);
        let names: Vec<&str> = commands.keys().map(String::as_str).collect();
        console.note(&format!("{name} works for {}: {}", client.server(), names.join(", ")))?;
        show_trouble();
        let (desk, mut said) = Desk::new(client.server(), &self.pass);
        let lease = Duration::from_millis(self.lease.0);
        let mut worker = abide_sdk::Worker::new(client.sdk())
            .handlers(&desk.handlers(commands))
            .name(name)
            // Commands are not this program: which code they are, nobody knows.
            .build_id("")
            .concurrency(usize::from(self.concurrency))
            .lease(lease)
            .heartbeat(lease / BEATS_PER_LEASE);
        if self.until_idle {
            worker = worker.poll(IDLE).until_idle();
        }
        let mut stop = StopSignals::listen()?;
        let mut working = worker.start();
        let mut is_stopping = false;
        let ended = loop {
            tokio::select! {
                Some(said) = said.recv() => console.note(&said)?,
                ended = working.ended() => break ended,
                () = stop.next() => {
                    if std::mem::replace(&mut is_stopping, true) {
                        desk.release();
                        working.release();
                        continue;
                    }
                    working.drain();
                    let count = working.tasks();
                    if count > 0 {
                        console.note(&format!("finishing {count} task(s); once more to give them back"))?;
                    }
                }
            }
        };
        while let Ok(said) = said.try_recv() {
            console.note(&said)?;
        }
        Ok(ended?)
    }
}

fn own_name() -> String {
    let machine = std::env::var("HOSTNAME").unwrap_or_else(|_| "worker".to_owned());
    format!("{machine}-{}", std::process::id())
}

/// A server that is away, or does not take a report, is told of on the standard error.
fn show_trouble() {
    let log = tracing_subscriber::fmt().with_env_filter(EnvFilter::new("abide_sdk=info"));
    // Whoever set one up already sees it there.
    let _ = log.with_writer(std::io::stderr).with_target(false).without_time().try_init();
}
