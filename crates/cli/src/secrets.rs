//! `abide secrets`: which secrets `abide serve` would have, never what they are.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::config::{self, Config, Flags};
use crate::terminal;

/// List the secrets of `abide serve` by workspace, and where each may be sent. Values are never shown.
#[derive(Debug, Args)]
#[command(
    after_help = "Secrets come from ABIDE_SECRET_NAME and ABIDE_SECRET_HOSTS_NAME in the environment, for the default workspace, and from\na --secrets-file. A workflow names one as {{ secret.NAME }}. Those of the server itself (SIGNING_KEY, keys of providers)\nare reached by no workflow.\n\nExamples:\n  abide secrets\n  abide secrets --secrets-file secrets.toml\n  abide secrets --json | jq -r '.[].name'\n\nExits with 0 when all of them can be used, 2 when one cannot."
)]
pub(crate) struct ListSecrets {
    #[command(flatten)]
    flags: Flags,
    /// Write a list of objects with `workspace`, `name` and `hosts`
    #[arg(long)]
    json: bool,
}

impl ListSecrets {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let variables = config::variables();
        let config = Config::read(&self.flags, |name| std::env::var(name).ok());
        let given = config.and_then(|config| {
            let given = config.secrets(&variables)?;
            given.for_workflows(&[])?;
            Ok(given)
        });
        let given = match given {
            Ok(given) => given,
            Err(error) => {
                terminal::line(err, &format!("abide secrets: {error}"))?;
                return Ok(ExitCode::from(2));
            }
        };
        if self.json {
            let listed = given.listed().into_iter().map(|(workspace, name, hosts)| {
                json!({ "workspace": workspace, "name": name, "hosts": hosts.split(", ").collect::<Vec<_>>() })
            });
            serde_json::to_writer_pretty(&mut *out, &listed.collect::<Vec<_>>())?;
            writeln!(out)?;
        } else {
            for (workspace, name, hosts) in given.listed() {
                terminal::line(out, &format!("{workspace:<16} {name:<24} {hosts}"))?;
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
