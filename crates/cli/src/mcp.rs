//! `abide mcp`: the Model Context Protocol on the standard streams, and the gateway that serves it over HTTP.

mod relay;

use std::future::Future;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use abide_engine::{CallSettings, Engine, Options};
use abide_mcp::{Gateway, PATH};
use abide_server::{Guest, OwnRoutes, Server};
use abide_store::sqlite::Opening;
use anyhow::Context;
use clap::Args;
use tokio::sync::oneshot;

use crate::client::Connection;
use crate::config::{self, Config, Flags};
use crate::{process, terminal};

/// Speak the Model Context Protocol on the standard streams, for clients that start a program.
#[derive(Debug, Args)]
#[command(
    after_help = "What is said goes to a server's `/mcp`; with --store, to a server of its own in this process, for as long as the client\nlives. A worker finds that one at the address that is written to the standard error.\n\nExamples:\n  abide mcp\n  abide mcp --server https://abide.example.com --key abk_…\n  abide mcp --store sqlite:abide.db\n\nExits with 0 when its input has ended and everything is answered, 2 when it could not start."
)]
pub(crate) struct Mcp {
    #[command(flatten)]
    connection: Connection,
    /// Where runs are kept, instead of a server: `sqlite:PATH` or `postgres://…`
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// With --store: the file with settings; `abide.toml` if there is one
    #[arg(long, env = "ABIDE_CONFIG", value_name = "FILE", requires = "store")]
    config: Option<PathBuf>,
    /// With --store: the address to listen on, for workers; port 0 takes any
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: String,
}

impl Mcp {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let spoken = runtime.block_on(self.speak(out, err));
        // Whoever still reads the standard input does so for ever.
        runtime.shutdown_background();
        match spoken {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                terminal::line(err, &format!("abide mcp: {error:#}"))?;
                Ok(ExitCode::from(2))
            }
        }
    }

    async fn speak(&self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        let Some(store) = &self.store else {
            let (http, url, key) = self.connection.http()?;
            return relay::relay(http, &format!("{url}{PATH}"), key, out).await;
        };
        let config = Config::read(&Flags::at_store(self.config.clone(), store, &self.listen), |name| {
            std::env::var(name).ok()
        })?;
        let settings = config.server()?;
        settings.check()?;
        process::start_log(config.text("log"), &config)?;
        let mut store = config.store()?.open_with(Opening::default())?;
        let workspaces = store.workspaces()?;
        let calls = CallSettings { served: true, ..config.calls(&config::variables(), &workspaces)? };
        let vault = config.vault(|name| std::env::var(name).ok())?;
        let (retention, max_wait) = (config.retention()?, Some(config.max_wait()?));
        let options = Options { retention, max_wait, calls, vault, ..Options::default() };
        let engine = Engine::open_with(store, options).await?;
        let server = serve(Server::bind(engine.clone(), settings).await?);
        let url = format!("http://{}", server.address());
        terminal::line(err, &format!("abide mcp: serves {} at {url}", config.store()?))?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(server.run(async {
            // If nobody says so any more, it is over as well.
            drop(stopped.await);
        }));
        let (http, _, key) = self.connection.http()?;
        let spoken = relay::relay(http, &format!("{url}{PATH}"), key, out).await;
        drop(stop);
        serving.await.context("the server could not be stopped")?;
        engine.shut_down().await?;
        spoken
    }
}

/// The gateway beside the server's own API.
pub(crate) fn serve(server: Server) -> Server {
    let gateway = Gateway::new(Arc::new(Routes(server.own_routes())), server.public_url());
    // Who shows a key is known by the requests that the gateway makes.
    server.with_guest(Guest { router: gateway.router(), admits: Arc::new(|_| false) })
}

struct Routes(OwnRoutes);

impl abide_mcp::OwnRoutes for Routes {
    fn call(
        &self,
        on_behalf_of: &http::request::Parts,
        request: axum::extract::Request,
    ) -> Pin<Box<dyn Future<Output = axum::response::Response> + Send>> {
        Box::pin(self.0.call(on_behalf_of, request))
    }
}
