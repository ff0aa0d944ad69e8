//! `abide serve`: the server, on an embedded store or as one of many nodes on a shared one.

use std::future::Future;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use abide_engine::{CallSettings, Clock, Engine, Options, SettableClock, SystemClock};
use abide_server::{Auth, Server};
use abide_store::sqlite::Opening;
use anyhow::Context;
use clap::Args;

use crate::config::{self, Config, Flags};
use crate::first_key::{self, FirstKey};
use crate::page::{self, Wish};
use crate::{demo, mcp, process, terminal, upstash};

/// Start the server.
#[derive(Debug, Args)]
#[command(
    after_help = "Every setting is also read from the environment (`ABIDE_LISTEN`) and from a file (`abide.toml`); `abide config` shows\nwhich value comes from where.\n\nExamples:\n  abide serve\n  abide serve --demo\n  abide serve --store sqlite:/var/lib/abide/abide.db --listen 127.0.0.1:8080\n  abide serve --store postgres://abide@db.example/abide\n  abide serve --listen 0.0.0.0:22433 --auth required --public-url https://abide.example.com\n\nExits with 0 when it was stopped, 2 when it could not start."
)]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: Flags,
    /// Store a few example workflows and do their work
    #[arg(long)]
    demo: bool,
    /// Open the dashboard in a browser, where somebody sits at a terminal with a screen
    #[arg(long)]
    open: bool,
    /// Only look at the store: no timer goes off, nobody is called, and every change is refused. For a restored backup
    /// whose original is at work
    #[arg(long)]
    paused: bool,
    /// Open a file that ends before the last commit that was acknowledged, and go on without what is missing
    #[arg(long)]
    accept_loss: bool,
    /// Make a new file whose pages have no checksums, for Litestream to replicate. A file that is there has to be so already
    #[arg(long)]
    without_page_checksums: bool,
    /// For tests: a clock that stands still until `POST /test/clock` moves it
    #[arg(long)]
    test_clock: bool,
}

impl Serve {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        match self.serve(out) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                terminal::line(err, &format!("abide serve: {error:#}"))?;
                Ok(ExitCode::from(2))
            }
        }
    }

    fn serve(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let config = Config::read(&self.flags, |name| std::env::var(name).ok())?;
        let mut settings = config.server()?;
        settings.check()?;
        process::start_log(config.text("log"), &config)?;
        process::raise_file_limit(&mut settings.limits, &config);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.context("the runtime could not be started")?.block_on(async {
            process::ignore_file_size_signal();
            let (accept_loss, without_page_checksums) = (self.accept_loss, self.without_page_checksums);
            let mut store = config.store()?.open_with(Opening { accept_loss, without_page_checksums })?;
            let workspaces = store.workspaces()?;
            let clock = self.test_clock.then(|| SettableClock::new(SystemClock.now()));
            let calls = CallSettings { served: true, ..config.calls(&config::variables(), &workspaces)? };
            let vault = config.vault(|name| std::env::var(name).ok())?;
            let (retention, max_wait, paused) = (config.retention()?, Some(config.max_wait()?), self.paused);
            let options = Options { clock, retention, max_wait, calls, vault, paused, ..Options::default() };
            let engine = Engine::open_with(store, options).await?;
            let demo = if self.demo && !self.paused { demo::start(&engine).await? } else { Vec::new() };
            let needs_keys = settings.auth == Auth::Required;
            let upstash = config.upstash()?.filter(|_| !self.paused);
            let mut server = Server::bind(engine.clone(), settings).await?;
            if config.mcp()? {
                server = mcp::serve(server);
            }
            if let Some(upstash) = upstash {
                server = upstash::serve(engine.clone(), server, upstash).await?;
            }
            let key = if needs_keys && !self.paused { first_key::make(&engine, &config.store()?).await? } else { None };
            let stop = stop_signal();
            greet(out, &config, &server, key.as_ref(), &demo)?;
            if upstash.is_some() {
                writeln!(out, "  upstash  QSTASH_URL=http://{}; `abide upstash keys --env` shows the rest", server.address())?;
                out.flush()?;
            }
            if self.paused {
                writeln!(out, "\nPaused: it shows what there is. No timer goes off, nobody is called, every change is refused.")?;
                out.flush()?;
            }
            if self.open && page::is_to_open(Wish::IfPossible) {
                // The URL was told already.
                drop(page::open(&format!("http://{}/", server.address())));
            }
            server.run(stop).await;
            let begun = Instant::now();
            engine.shut_down().await?;
            let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(took_ms, "the engine is shut down");
            Ok(())
        })
    }
}

fn greet(
    out: &mut dyn Write,
    config: &Config,
    server: &Server,
    key: Option<&FirstKey>,
    demo: &[String],
) -> io::Result<()> {
    let url = format!("http://{}", server.address());
    writeln!(out, "abide {} listens on {url}", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "  API    {url}/api/v1")?;
    writeln!(out, "  page   {url}/")?;
    writeln!(out, "  book   {url}/book/")?;
    writeln!(out, "  docs   {url}/docs")?;
    if config.mcp().unwrap_or_default() {
        writeln!(out, "  MCP    {url}/mcp")?;
    }
    let store = config.store().map_or_else(|error| error.to_string(), |place| place.to_string());
    writeln!(out, "  store  {store}")?;
    if !demo.is_empty() {
        writeln!(out, "  demo   {}", demo.join(", "))?;
    }
    if let Some(key) = key {
        writeln!(out, "\n{key}")?;
    }
    out.flush()
}

/// Returns at the first SIGINT or SIGTERM from here on. At the second one the process ends at once; what was acknowledged
/// is on disk.
fn stop_signal() -> impl Future<Output = ()> {
    let first = wait_for_signal();
    async {
        first.await;
        tracing::info!("stopping; once more to stop at once");
        tokio::spawn(async {
            wait_for_signal().await;
            std::process::exit(130);
        });
    }
}

#[cfg(unix)]
fn wait_for_signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async {
        match (interrupt, terminate) {
            (Ok(mut interrupt), Ok(mut terminate)) => {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            }
            (Err(error), _) | (_, Err(error)) => {
                tracing::error!(%error, "signals cannot be heard; only SIGKILL stops this server");
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(not(unix))]
async fn wait_for_signal() {
    drop(tokio::signal::ctrl_c().await);
}
