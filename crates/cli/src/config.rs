//! `abide config`, and where the settings of `abide serve` come from: a flag, else the environment, else the file,
//! else the default. Every setting has the same name in all of them.

mod calls;
mod known;
mod read;
mod secrets;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::place::Place;
use crate::terminal;
pub(crate) use known::Flags;
pub(crate) use read::{Config, Upstash};

/// What is shown of a secret.
const HIDDEN: &str = "[redacted]";

/// Show every setting of `abide serve`, its value, and where that came from.
#[derive(Debug, Args)]
#[command(
    after_help = "A setting comes from its flag, else from the environment, else from the file, else it has its default.\n\nExamples:\n  abide config\n  abide config --listen 127.0.0.1:8080\n  ABIDE_AUTH=required abide config\n  abide config --json | jq '.listen.from'"
)]
pub(crate) struct ShowConfig {
    #[command(flatten)]
    flags: Flags,
    /// Write an object with `value` and `from` for each setting
    #[arg(long)]
    json: bool,
}

impl ShowConfig {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let config = match Config::read(&self.flags, |name| std::env::var(name).ok()) {
            Ok(config) => config,
            Err(error) => {
                terminal::line(err, &format!("abide config: {error}"))?;
                return Ok(ExitCode::from(2));
            }
        };
        let secrets = match config.secrets(&variables()) {
            Ok(secrets) => secrets,
            Err(error) => {
                terminal::line(err, &format!("abide config: {error}"))?;
                return Ok(ExitCode::from(2));
            }
        };
        let secrets =
            secrets.listed().into_iter().map(|(workspace, name, _)| format!("secret.{workspace}.{name}"));
        if self.json {
            let settings = config.values().map(|(known, value)| {
                let (text, from) = (shown(known.name, &value.text), value.from.to_string());
                (known.name.to_owned(), serde_json::json!({ "value": text, "from": from }))
            });
            let hidden = serde_json::json!({ "value": HIDDEN, "from": "secrets" });
            let secrets = secrets.map(|name| (name, hidden.clone()));
            let settings: serde_json::Map<_, _> = settings.chain(secrets).collect();
            serde_json::to_writer_pretty(&mut *out, &settings)?;
            writeln!(out)?;
        } else {
            for (known, value) in config.values() {
                let text = shown(known.name, &value.text);
                let shown = if text.is_empty() { "-" } else { &text };
                terminal::line(out, &format!("{:<22} {:<28} {}", known.name, shown, value.from))?;
            }
            for name in secrets {
                terminal::line(out, &format!("{name:<22} {HIDDEN:<28} secrets"))?;
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The environment, as far as it is text.
pub(crate) fn variables() -> Vec<(String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

/// An address may have a password in it.
fn shown(name: &str, text: &str) -> String {
    let place = (name == "store").then(|| Place::parse(text)).flatten();
    place.map_or_else(|| text.to_owned(), |place| place.to_string())
}

/// The file, if none is named and there is one.
fn default_file() -> PathBuf {
    PathBuf::from("abide.toml")
}
