//! `abide keys`: who may do what.

use std::io;

use abide_sdk::wire::{Key, MadeKey, Scope};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::json;

use super::Api;
use crate::client::{Error, List};
use crate::console::Console;
use crate::table::{Table, optional, shortening, whole};
use crate::times;

/// List, make and revoke API keys.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  abide keys\n  abide keys make ci --scope deploy\n  abide keys make shop --scope run\n  abide keys make ana@example.com --scope approve --workspace ws_1\n  abide keys revoke key_06f3mzv0szn5sfxsn4tffvdytw"
)]
pub(crate) struct Keys {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    api: Api,
}

#[derive(Debug, Subcommand)]
enum Action {
    Make(Make),
    Revoke(Revoke),
}

/// Make a key. Its secret is all that is written to the standard output, and only this once.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide keys make ci --scope deploy\n  export ABIDE_API_KEY=$(abide keys make me --scope admin)"
)]
struct Make {
    /// Whose it is: what histories say, and what a step's `approvers` name
    #[arg(value_name = "NAME")]
    name: String,
    /// What it allows: read, deploy, run, worker, approve, admin; may be given more than once
    #[arg(long, required = true, value_delimiter = ',', value_parser = ["read", "deploy", "run", "worker", "approve", "admin"], hide_possible_values = true)]
    scope: Vec<String>,
    /// For this workspace (`ws_…`), not the one of the key in use
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// Refused from this instant on
    #[arg(long, value_name = "INSTANT", value_parser = times::parse_instant)]
    expires: Option<Timestamp>,
    #[command(flatten)]
    api: Api,
}

/// Revoke a key. It is refused from then on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide keys revoke key_06f3mzv0szn5sfxsn4tffvdytw")]
struct Revoke {
    /// The key's id; `abide keys` shows it
    #[arg(value_name = "KEY-ID")]
    id: String,
    #[command(flatten)]
    api: Api,
}

impl Keys {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        match &self.action {
            None => {
                let answer = self.api.open()?.get(&["keys"], &[]).await?;
                self.api.show(console, &answer, |console, list: List<Key>| write(console, &list.data))
            }
            Some(Action::Make(make)) => make.run(console).await,
            Some(Action::Revoke(revoke)) => {
                revoke.api.open()?.delete(&["keys", &revoke.id]).await?;
                Ok(console.note(&format!("{} is revoked", revoke.id))?)
            }
        }
    }
}

impl Make {
    async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut body = json!({ "name": self.name, "scopes": self.scope });
        if let Some(workspace) = &self.workspace {
            body["workspace"] = json!(workspace);
        }
        if let Some(expires) = self.expires {
            body["expiresAt"] = json!(expires);
        }
        let answer = self.api.open()?.post(&["keys"], &body).await?;
        self.api.show(console, &answer, |console, key: MadeKey| {
            console.line(&key.secret)?;
            console.note(&format!("{} ({}). The secret is shown only now.", key.id, scopes(&key.scopes)))
        })
    }
}

fn scopes(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ")
}

fn write(console: &mut Console<'_>, keys: &[Key]) -> io::Result<()> {
    if keys.is_empty() {
        return console.note("No keys. `abide keys make NAME --scope SCOPE` makes one.");
    }
    let now = console.now();
    let mut table = Table::new([
        whole("KEY"),
        shortening("NAME"),
        shortening("SCOPES"),
        whole("STATE"),
        optional("BEGINS WITH"),
        optional("USED"),
        optional("CREATED"),
    ]);
    for key in keys {
        let state = match (key.revoked_at, key.expires_at) {
            (Some(at), _) => format!("revoked {}", times::relative(at, now)),
            (None, Some(at)) if at <= now => "expired".to_owned(),
            (None, Some(at)) => format!("expires {}", times::relative(at, now)),
            (None, None) => "good".to_owned(),
        };
        let used = key.last_used_at.map_or("never".to_owned(), |at| times::relative(at, now));
        let created = times::relative(key.created_at, now);
        let (name, scopes) = (key.name.clone(), scopes(&key.scopes));
        table.row([key.id.clone(), name, scopes, state, key.prefix.clone(), used, created]);
    }
    console.table(&table)
}
