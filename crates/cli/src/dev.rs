//! `abide dev`: a server for one developer, which stores workflows as their files change, and keeps a worker running.
//!
//! ```text
//!   files ── a look every quarter of a second ──▶ checked ──▶ stored under a version made of their content
//!   --watch DIR ── changed ──▶ the command is ended and started again, as it is when it exits
//! ```
//!
//! It listens on loopback only and needs no key; what a production server has in `abide.toml` about stores, keys and
//! addresses does not count here.

mod command;
mod definitions;
mod difference;
mod say;
mod scan;
mod session;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use abide_engine::{CallSettings, Engine, Options, Rule};
use abide_server::{Auth, PORT, Server, Settings, StartError};
use abide_store::Store;
use abide_store::sqlite::Sqlite;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use tokio::sync::oneshot;

use crate::config::{self, Config, Flags};
use crate::page::{self, Wish};
use crate::place::Place;
use crate::stop::StopSignals;
use crate::{mcp, process, terminal};
use command::{Recipe, Supervisor};
use definitions::Definitions;
use say::{Line, Mark, Teller};
use scan::Scan;
use session::Session;
use watch::{Change, Watch};

/// The store, if none is named.
const STORE: &str = ".abide/dev.db";
/// What is logged, if nobody says otherwise: what happens is told line by line anyway.
const LOG: &str = "warn";

/// Develop workflows: a server that stores definition files as they change, and keeps a worker running.
#[derive(Debug, Args)]
#[command(
    after_help = "A workflow is stored again whenever its file changes, under a version made of its content\n(`1-dev.3f2a9c1e`). Runs that are started by name use the newest; runs under way keep theirs.\nA file with problems is told with all of them, and what it held before stays in use.\n\nThe command after `--` gets ABIDE_SERVER. It is started again when it ends, or when files in\n--watch change, and is ended with all it started. In the dashboard, a button skips each wait.\n\nThe server listens on this machine only, needs no key, and may call addresses of this machine.\nModels, secrets and other settings are those of `abide serve`; store, address and keys of\n`abide.toml` do not count.\n\nExamples:\n  abide dev\n  abide dev workflows -- npm run worker\n  abide dev orders.yaml --watch src -- python -m shop.worker\n  abide dev examples/cool-down.json --ephemeral -- abide worker --handler lock-account='echo true' \\\n    --handler unlock-account='echo true'\n\nExits with 0 when it was stopped, 2 when it could not start."
)]
pub(crate) struct Dev {
    /// Definition files in JSON or YAML, or directories that have some; the current directory if none is named
    #[arg(value_name = "FILE")]
    places: Vec<PathBuf>,
    /// A command to keep running, such as a worker
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Start the command again when a file in this directory changes; may be given more than once
    #[arg(long = "watch", value_name = "DIR", requires = "command")]
    watched: Vec<PathBuf>,
    /// The address to listen on, of this machine; without it 127.0.0.1:22433, or any port if that one is taken
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The file in which runs are kept [default: sqlite:.abide/dev.db]
    #[arg(long, value_name = "STORE", conflicts_with = "ephemeral")]
    store: Option<String>,
    /// Keep runs in memory only: they are gone in the end
    #[arg(long)]
    ephemeral: bool,
    /// Open the dashboard in a browser, on a terminal; done by itself where there is a screen
    #[arg(long, overrides_with = "no_open")]
    open: bool,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
    /// The file with settings; `abide.toml` if there is one [env: ABIDE_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What the server logs: error, warn, info, debug, trace, or by module [env: ABIDE_LOG] [default: warn]
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
}

impl Dev {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let done = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("the runtime could not be started")
            .and_then(|runtime| runtime.block_on(self.develop(out)));
        match done {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => match error.downcast::<io::Error>() {
                Ok(error) => Err(error),
                Err(error) => {
                    terminal::line(err, &format!("abide dev: {error:#}"))?;
                    Ok(ExitCode::from(2))
                }
            },
        }
    }

    async fn develop(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let places = self.places();
        for place in places.iter().chain(&self.watched) {
            scan::check(place).map_err(|why| anyhow!("{why}"))?;
        }
        let config = Config::read(&Flags::in_file(self.config.clone()), |name| std::env::var(name).ok())?;
        let level = self.log.as_deref().or_else(|| config.is_given("log").then(|| config.text("log")));
        process::start_log(level.unwrap_or(LOG), &config)?;
        let stop = StopSignals::listen_to_hangups_too()?;
        let engine = self.engine(&config).await?;
        let server = mcp::serve(self.server(&engine, &config).await?);
        let url = format!("http://{}", server.address());

        let seen = scan::scan(&places, scan::is_definition);
        let mut definitions = Definitions::new(engine.clone(), &places);
        let mut lines = told_if_more(&seen, "definition files");
        for path in seen.seen.keys() {
            lines.extend(definitions.take(&Change::Settled(path.clone())).await);
        }
        self.greet(out, &url, &definitions)?;
        let (stopper, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(server.run(async { drop(stopped.await) }));
        let (teller, told) = say::channel();
        let watched = scan::scan(&self.watched, |_| true);
        lines.extend(told_if_more(&watched, "watched files"));
        let mut session = Session {
            out,
            in_colour: say::in_colour(),
            stop,
            told,
            changes: engine.feed(),
            engine: engine.clone(),
            definitions,
            files: Watch::beginning_with(seen.seen),
            sources: Watch::beginning_with(watched.seen),
            places,
            watched: self.watched.clone(),
            command: None,
        };
        let mut done = session.say_all(&lines);
        if done.is_ok() {
            session.command = self.start_command(&url, teller);
            self.open_page(&mut session, &url);
            done = session.live().await;
        }
        session.end(stopper, serving).await;
        engine.shut_down().await?;
        Ok(done?)
    }

    fn places(&self) -> Vec<PathBuf> {
        if self.places.is_empty() { vec![PathBuf::from(".")] } else { self.places.clone() }
    }

    async fn engine(&self, config: &Config) -> anyhow::Result<Engine> {
        process::ignore_file_size_signal();
        let mut store = self.open_store()?;
        let workspaces = store.workspaces()?;
        let mut calls = CallSettings { served: true, ..config.calls(&config::variables(), &workspaces)? };
        calls.allow_also(loopback()?);
        let vault = config.vault(|name| std::env::var(name).ok())?;
        let (retention, max_wait) = (config.retention()?, Some(config.max_wait()?));
        let options = Options { retention, max_wait, calls, vault, ..Options::default() };
        Ok(Engine::open_with(store, options).await?)
    }

    fn open_store(&self) -> anyhow::Result<Box<dyn Store>> {
        if self.ephemeral {
            return Ok(Box::new(Sqlite::open_in_memory()?));
        }
        let Place::File(path) = self.place()? else {
            bail!(
                "--store: `abide dev` keeps runs in a file of its own, such as `sqlite:{STORE}`; a database is for `abide serve`"
            );
        };
        if self.store.is_none() {
            make_folder(&path)?;
        }
        Ok(Place::File(path).open()?)
    }

    fn place(&self) -> anyhow::Result<Place> {
        match &self.store {
            Some(given) => Ok(Place::given("--store", given)?),
            None => Ok(Place::File(STORE.into())),
        }
    }

    /// What is set for others does not count: whoever can reach this server may do everything.
    async fn server(&self, engine: &Engine, config: &Config) -> anyhow::Result<Server> {
        let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
        let listen = self.listen.unwrap_or(usual);
        if !listen.ip().is_loopback() {
            bail!(
                "--listen: {listen} can be reached from other machines; `abide dev` listens on this one only, `abide serve` where it is told to"
            );
        }
        let mut settings = Settings {
            listen,
            auth: Auth::OnLoopbackOpen,
            allow_everyone: false,
            public_url: None,
            allowed_hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            development: true,
            ..config.server()?
        };
        process::raise_file_limit(&mut settings.limits, config);
        match Server::bind(engine.clone(), settings.clone()).await {
            Err(StartError::Listen(_, error))
                if self.listen.is_none() && error.kind() == io::ErrorKind::AddrInUse =>
            {
                settings.listen.set_port(0);
                Ok(Server::bind(engine.clone(), settings).await?)
            }
            bound => Ok(bound?),
        }
    }

    fn greet(&self, out: &mut dyn Write, url: &str, definitions: &Definitions) -> anyhow::Result<()> {
        let places =
            self.places().iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ");
        let store =
            if self.ephemeral { "in memory; gone in the end".to_owned() } else { self.place()?.to_string() };
        let count = match definitions.count() {
            1 => "1 workflow".to_owned(),
            count => format!("{count} workflows"),
        };
        writeln!(out, "abide dev {} listens on {url}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "  page   {url}/")?;
        writeln!(out, "  API    {url}/api/v1")?;
        if !url.ends_with(&format!(":{PORT}")) {
            writeln!(out, "  CLI    export ABIDE_SERVER={url}")?;
        }
        terminal::line(out, &format!("  store  {store}"))?;
        terminal::line(out, &format!("  files  {places}: {count}"))?;
        if !self.watched.is_empty() {
            let watched =
                self.watched.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ");
            terminal::line(out, &format!("  watch  {watched}"))?;
        }
        writeln!(out)?;
        Ok(out.flush()?)
    }

    fn start_command(&self, url: &str, teller: Teller) -> Option<Supervisor> {
        let recipe = Recipe { words: self.command.clone(), server: url.to_owned() };
        (!self.command.is_empty()).then(|| Supervisor::start(recipe, teller))
    }

    fn open_page(&self, session: &mut Session<'_>, url: &str) {
        let wish = match (self.open, self.no_open) {
            (_, true) => Wish::Leave,
            (true, false) => Wish::Open,
            (false, false) => Wish::IfPossible,
        };
        if page::is_to_open(wish)
            && let Err(why) = page::open(&format!("{url}/"))
        {
            // The URL was told already.
            drop(session.say(&say::line(Mark::Again, format!("no browser could be opened: {why}"))));
        }
    }
}

/// Addresses of this machine, which nothing else may call without being allowed to.
fn loopback() -> anyhow::Result<Vec<Rule>> {
    ["127.0.0.0/8", "::1"].iter().map(|rule| Ok(rule.parse::<Rule>()?)).collect()
}

/// The folder of the store, with a note to git that nothing in it is meant to be kept.
fn make_folder(store: &Path) -> anyhow::Result<()> {
    let Some(folder) = store.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let note = folder.join(".gitignore");
    if !note.exists() {
        std::fs::write(&note, "*\n").with_context(|| format!("{} cannot be written", note.display()))?;
    }
    Ok(())
}

fn told_if_more(scan: &Scan, what: &str) -> Vec<Line> {
    let text = || format!("there are more {what} than are looked at; name a smaller directory");
    if scan.more { vec![say::line(Mark::Again, text())] } else { Vec::new() }
}
