//! `abide upstash`: what apps of the Upstash Workflow SDK need, and the gateway that serves them.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use abide_core::id::WorkspaceId;
use abide_engine::Engine;
use abide_server::{Guest, Server};
use abide_store::{postgres, sqlite};
use abide_upstash::{Gateway, Keys, SETTING, Settings};
use anyhow::Context;
use clap::{Args, Subcommand};

use crate::config::{self, Config, Flags};
use crate::place::Place;
use crate::terminal;

/// Show what apps of the Upstash Workflow SDK need.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide upstash keys\n  eval \"$(abide upstash keys --env)\" && npm start"
)]
pub(crate) struct Upstash {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Keys(Box<ShowKeys>),
}

/// Show the URL, the token and the signing keys. They are made when a server is first started with `--upstash`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide upstash keys\n  eval \"$(abide upstash keys --env)\" && npm start\n  abide upstash keys --store postgres://abide@db.example/abide\n\nExits with 0 when they were shown, 2 when there are none."
)]
struct ShowKeys {
    #[command(flatten)]
    flags: Flags,
    /// As exports of a shell
    #[arg(long)]
    env: bool,
}

impl Upstash {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let What::Keys(show) = &self.what;
        match show.keys() {
            Ok((url, keys)) => {
                let export = if show.env { "export " } else { "" };
                terminal::line(out, &format!("{export}QSTASH_URL={url}"))?;
                terminal::line(out, &format!("{export}QSTASH_TOKEN={}", keys.token))?;
                terminal::line(out, &format!("{export}QSTASH_CURRENT_SIGNING_KEY={}", keys.current))?;
                terminal::line(out, &format!("{export}QSTASH_NEXT_SIGNING_KEY={}", keys.next))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                terminal::line(err, &format!("abide upstash keys: {error:#}"))?;
                Ok(ExitCode::from(2))
            }
        }
    }
}

impl ShowKeys {
    fn keys(&self) -> anyhow::Result<(String, Keys)> {
        let config = Config::read(&self.flags, |name| std::env::var(name).ok())?;
        let settings = config.server()?;
        let url = settings.public_url.unwrap_or_else(|| format!("http://{}", settings.listen));
        if config.upstash()?.is_some_and(|upstash| upstash.development) {
            return Ok((url, Keys::of_development()));
        }
        let stored = match config.store()? {
            Place::File(path) => {
                use abide_store::roles::Admin;
                sqlite::Reader::open(path)?.setting(SETTING)?
            }
            Place::Database(address) => {
                use abide_store::roles::Admin;
                postgres::Reader::open(&address)?.setting(SETTING)?
            }
        };
        let stored = stored.context("there are none yet; start `abide serve --upstash` once")?;
        let vault = config.vault(|name| std::env::var(name).ok())?;
        Ok((url, Keys::read(&vault, &stored)?))
    }
}

/// The gateway beside the server's own API.
pub(crate) async fn serve(
    engine: Engine,
    server: Server,
    upstash: config::Upstash,
) -> anyhow::Result<Server> {
    let settings = Settings {
        workspace: WorkspaceId::DEFAULT,
        public_url: server.public_url().to_owned(),
        development: upstash.development,
    };
    let gateway = Gateway::open(engine, settings).await?;
    let router = gateway.router();
    Ok(server.with_guest(Guest { router, admits: Arc::new(move |headers| gateway.admits(headers)) }))
}
