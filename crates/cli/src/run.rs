//! `abide run`: one workflow, here and now, on an engine in this process.

mod stand_in;
mod tracker;
mod view;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_definition::{Checked, Definition};
use abide_engine::{Ended, Engine, Options, SendEvent, SettableClock, StartRun, TaskResult};
use abide_standin::StandIn;
use abide_store::Store;
use abide_store::sqlite::Sqlite;
use clap::Args;
use jiff::Timestamp;
use serde_json::Value;

use crate::check::check_file;
use crate::client::{Error, Exit};
use crate::commands::finish;
use crate::config::{self, Config, Flags};
use crate::console::Console;
use crate::handler::{self, Aside, Named, Worked};
use crate::payload;
use crate::place::Place;
use crate::stop::StopSignals;
use tracker::Tracker;
use view::View;

/// Run a workflow here, without a server, and watch its steps.
#[derive(Debug, Args)]
#[command(
    after_help = "A handler is a command as `abide worker` runs it. A task without one waits, and so does everything that waits for\nsomebody else; give what they would send with --signal and --event, in any order.\nModels, secrets and addresses are those of the settings; see `abide config`.\n\nExamples:\n  abide run examples/rate-limited-pipeline.yaml --handler api-call='echo 1' --handler write-log=cat --skip-waits\n  abide run examples/payment.json --input '{\"order\": 7}' --signal 'payment.received={\"amount\": 99}' \\\n    --handler reserve-goods=cat --handler ship-order=cat\n  abide run workflow.yaml --store sqlite:runs.db --skip-waits --quiet | jq .\n  abide run examples/research.yaml --stand-in examples/answers/research.json --handler search=cat --input '{\"topic\": \"tea\"}'\n\nExits with 0 when the run completed, 1 when it failed, 7 when it waits for what nobody here can give or was interrupted."
)]
pub(crate) struct RunHere {
    /// A file in JSON or YAML; `-` reads the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the run is given; null if absent
    #[arg(long, short, value_name = payload::FORM)]
    input: Option<String>,
    /// A handler's name and its command; may be given more than once
    #[arg(long = "handler", value_name = "NAME=COMMAND", value_parser = handler::parse)]
    handlers: Vec<Named>,
    /// A signal to send to the run; may be given more than once
    #[arg(long = "signal", value_name = "TYPE=JSON")]
    signals: Vec<String>,
    /// An event to send; may be given more than once
    #[arg(long = "event", value_name = "EVENT=JSON")]
    events: Vec<String>,
    /// Let no time pass: every wait that time ends is over at once
    #[arg(long)]
    skip_waits: bool,
    /// Answer for every model by a script, in this process, instead of calling it; without a file, answers repeat the
    /// question
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "")]
    stand_in: Option<String>,
    /// Only write the run's output
    #[arg(long, short)]
    quiet: bool,
    /// Keep the run in this store; else it is gone in the end
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
}

impl RunHere {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let console = &mut Console::new(out, err);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let done = runtime.block_on(self.perform(console));
        finish(done, console)
    }

    async fn perform(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let checked = self.definition(console)?;
        let input = payload::read_or_null("--input", self.input.as_deref())?;
        let named = |flag, given: &[String]| -> Result<Vec<(String, Value)>, Error> {
            given.iter().map(|given| payload::read_named(flag, given)).collect()
        };
        let (signals, events) = (named("--signal", &self.signals)?, named("--event", &self.events)?);
        let stand_in = match &self.stand_in {
            Some(script) => Some(stand_in::start(script).await?),
            None => None,
        };
        let engine = self.engine(&checked.definition, stand_in.as_ref()).await?;
        let handlers = handler::by_name(&self.handlers);
        for (name, command) in &handlers {
            let command: Arc<str> = command.as_str().into();
            let work = move |task| perform_task(Arc::clone(&command), task);
            engine.handler(name, work).await.map_err(failed)?;
        }
        let (name, version) = (checked.definition.name().to_owned(), checked.definition.version().to_owned());
        engine.default_workspace().definitions().deploy_checked(checked).await.map_err(failed)?;
        let new = StartRun::new(name).version(version).input(input);
        let run = engine.default_workspace().start(new).await.map_err(failed)?;
        for (signal_type, payload) in signals {
            engine.run(run).signal(&signal_type, payload).await.map_err(failed)?;
        }
        for (event_id, data) in events {
            let event = SendEvent::new(event_id).data(data);
            engine.default_workspace().events().send(event).await.map_err(failed)?;
        }
        let view = View::of(console, self.quiet, io::stdout().is_terminal());
        let tracker = Tracker::new(engine.clone(), run, handlers.keys().cloned().collect(), view);
        let done = self.watch(&engine, run, tracker, console).await;
        engine.shut_down().await.map_err(failed)?;
        done
    }

    fn definition(&self, console: &mut Console<'_>) -> Result<Checked, Error> {
        let outcome = check_file(&self.file);
        console.note(&outcome.findings()?)?;
        match outcome.result {
            Ok(Ok(checked)) => Ok(checked),
            Ok(Err(_)) => Err(Error::Said(Exit::Failed)),
            Err(why) => Err(Error::Usage(format!("{} cannot be read: {why}", outcome.file))),
        }
    }

    async fn engine(&self, definition: &Definition, stand_in: Option<&StandIn>) -> Result<Engine, Error> {
        let store = self.open_store()?;
        let clock = self.skip_waits.then(|| SettableClock::new(Timestamp::now()));
        let config = Config::read(&Flags::default(), |name| std::env::var(name).ok());
        let calls = config.and_then(|config| config.calls(&config::variables(), &[]));
        let mut calls = calls.map_err(|error| Error::Usage(error.to_string()))?;
        if let Some(stand_in) = stand_in {
            stand_in::answer(stand_in, definition, &mut calls);
        }
        let options = Options { clock, calls, ..Options::default() };
        Engine::open_with(store, options).await.map_err(failed)
    }

    fn open_store(&self) -> Result<Box<dyn Store>, Error> {
        let opened = match &self.place()? {
            None => Sqlite::open_in_memory().map(|store| Box::new(store) as Box<dyn Store>),
            Some(Place::Database(_)) if self.skip_waits => {
                let why = "--skip-waits cannot be used with a database: the waits of all others in it would end, too";
                return Err(Error::Usage(why.to_owned()));
            }
            Some(place) => place.open(),
        };
        opened.map_err(|error| Error::Failed(error.to_string()))
    }

    fn place(&self) -> Result<Option<Place>, Error> {
        self.store.as_deref().map(|given| Place::given("--store", given)).transpose()
    }

    /// Until the run has ended, or cannot go on, or somebody has had enough.
    async fn watch(
        &self,
        engine: &Engine,
        run: RunId,
        mut tracker: Tracker,
        console: &mut Console<'_>,
    ) -> Result<(), Error> {
        let mut stop = StopSignals::listen()?;
        let mut ended = Box::pin(engine.clock().skip_waits(run));
        let ended = loop {
            tokio::select! {
                ended = &mut ended => break Some(ended.map_err(failed)?),
                changed = tracker.changed() => {
                    changed?;
                    tracker.show(console).await?;
                }
                () = stop.next() => break None,
            }
        };
        tracker.show(console).await?;
        match ended {
            Some(Some(ended)) => self.tell(console, &ended),
            Some(None) => {
                Err(Error::NotOver(format!("nothing here ends this:\n{}", tracker.open_waits().await?)))
            }
            None => {
                let later = match self.place()? {
                    Some(place) => format!("; `abide serve --store {place}` lets it go on"),
                    None => String::new(),
                };
                Err(Error::NotOver(format!("interrupted{later}")))
            }
        }
    }

    fn tell(&self, console: &mut Console<'_>, ended: &Ended) -> Result<(), Error> {
        let output = ended.output.as_ref().map_or(Value::Null, |output| Value::clone(output));
        match ended.status {
            RunStatus::Completed if self.quiet => Ok(console.raw(&output.to_string())?),
            RunStatus::Completed => Ok(console.line(&format!("COMPLETED {output}"))?),
            RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::Pending
            | RunStatus::Running
            | RunStatus::Waiting
            | RunStatus::Paused => {
                let why = ended.error.as_ref().map(|error| format!(": {} [{}]", error.message, error.code));
                Err(Error::Failed(format!("the run is {}{}", ended.status, why.unwrap_or_default())))
            }
        }
    }
}

fn failed(error: abide_engine::Error) -> Error {
    Error::Failed(error.to_string())
}

async fn perform_task(command: Arc<str>, task: abide_core::task::Task) -> TaskResult {
    // A command need not know where it is run.
    let task = task.for_workers();
    match handler::work(&command, &task, None, Aside::Kept, &[]).await {
        Worked::Done { output, state_updates } => TaskResult::Complete {
            output: output.into(),
            state_updates: state_updates
                .map(|updates| updates.into_iter().map(|(name, value)| (name, value.into())).collect()),
        },
        Worked::Failed { message, code, retryable } => {
            let code = Some(code.into());
            TaskResult::Fail { message, code, retryable, retry_after: None, detail: None }
        }
    }
}
