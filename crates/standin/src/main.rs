//! `abide-standin`: the stand-in as a process of its own.

use std::path::PathBuf;

use abide_standin::{Options, Script, StandIn};
use anyhow::Context as _;
use clap::Parser;

/// Stands in for model providers on loopback: POST /v1/chat/completions, /v1/responses and /v1/messages.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// A JSON file that says what is answered; without one, answers repeat the question.
    #[arg(long)]
    script: Option<PathBuf>,
    #[arg(long, default_value_t = 4141)]
    port: u16,
    /// A file to which every call is added, one line of JSON each.
    #[arg(long)]
    log: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let script = match &arguments.script {
        None => Script::default(),
        Some(path) => {
            let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            serde_json::from_slice(&text).with_context(|| format!("{} is not a script", path.display()))?
        }
    };
    let options = Options { script, port: arguments.port, log: arguments.log };
    let standin = StandIn::start(options).await.context("cannot listen")?;
    announce(&standin.url())?;
    tokio::signal::ctrl_c().await.context("cannot wait for the end")
}

fn announce(url: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "standing in at {url}")
}
