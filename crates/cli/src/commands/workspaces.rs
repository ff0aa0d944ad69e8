//! `abide workspaces`: parts of the world that know nothing of each other, and how much each may have.

use abide_sdk::wire::{Quotas, Workspace};
use clap::{Args, Subcommand};
use serde_json::json;

use super::Api;
use crate::client::{Error, List};
use crate::console::Console;
use crate::table::{Table, shortening, whole};
use crate::times;

/// List and make workspaces, and say how much they may have. A key belongs to one.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  abide workspaces\n  abide workspaces make shop\n  abide workspaces limit shop --open-runs 10000 --calls 20\n  abide keys make shop-server --scope run --workspace \"$(abide workspaces make shop)\""
)]
pub(crate) struct Workspaces {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    api: Api,
}

#[derive(Debug, Subcommand)]
enum Action {
    Make(Make),
    Limit(Limit),
}

/// Make a workspace. Its id is all that is written to the standard output.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide workspaces make shop")]
struct Make {
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    api: Api,
}

/// Give a workspace quotas of its own, in place of those it had. Those that are not given are the server's.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide workspaces limit shop --open-runs 10000 --starts-per-second 50\n  abide workspaces limit shop --calls 20 --schedules 10 --webhooks 5\n  abide workspaces limit shop --share 3\n  abide workspaces limit shop"
)]
struct Limit {
    /// The workspace's id or name
    #[arg(value_name = "WORKSPACE")]
    workspace: String,
    /// Runs that have not ended
    #[arg(long, value_name = "COUNT")]
    open_runs: Option<u64>,
    /// Bytes that its histories and events take
    #[arg(long, value_name = "BYTES")]
    stored_bytes: Option<u64>,
    /// Runs started in a second
    #[arg(long, value_name = "COUNT")]
    starts_per_second: Option<u32>,
    /// Calls of one kind at the same time
    #[arg(long, value_name = "COUNT")]
    calls: Option<u32>,
    #[arg(long, value_name = "COUNT", help = "Schedules")]
    schedules: Option<u32>,
    #[arg(long, value_name = "COUNT", help = "Webhooks")]
    webhooks: Option<u32>,
    /// Turns in a row where several workspaces wait; 1 if absent
    #[arg(long, value_name = "TURNS")]
    share: Option<u32>,
    #[command(flatten)]
    api: Api,
}

/// `calls 5, openRuns 100`
fn shown(quotas: &Quotas) -> String {
    let quotas = json!(quotas);
    let given = quotas.as_object().into_iter().flatten().map(|(name, figure)| format!("{name} {figure}"));
    given.collect::<Vec<_>>().join(", ")
}

impl Workspaces {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        match &self.action {
            None => {
                let answer = self.api.open()?.get(&["workspaces"], &[]).await?;
                self.api.show(console, &answer, |console, list: List<Workspace>| {
                    let now = console.now();
                    let mut table = Table::new([
                        whole("WORKSPACE"),
                        shortening("NAME"),
                        whole("CREATED"),
                        whole("OPEN RUNS"),
                        whole("BYTES"),
                        shortening("QUOTAS"),
                    ]);
                    for workspace in list.data {
                        let created = times::relative(workspace.created_at, now);
                        let (open, quotas) = (workspace.open_runs.to_string(), shown(&workspace.quotas));
                        let bytes = workspace.stored_bytes.to_string();
                        table.row([workspace.id, workspace.name, created, open, bytes, quotas]);
                    }
                    console.table(&table)
                })
            }
            Some(Action::Make(make)) => {
                let answer = make.api.open()?.post(&["workspaces"], &json!({ "name": make.name })).await?;
                make.api.show(console, &answer, |console, workspace: Workspace| console.line(&workspace.id))
            }
            Some(Action::Limit(limit)) => {
                let quotas = json!({
                    "openRuns": limit.open_runs,
                    "storedBytes": limit.stored_bytes,
                    "startsPerSecond": limit.starts_per_second,
                    "calls": limit.calls,
                    "schedules": limit.schedules,
                    "webhooks": limit.webhooks,
                    "share": limit.share,
                });
                let api = limit.api.open()?;
                let answer =
                    api.patch(&["workspaces", &limit.workspace], &json!({ "quotas": quotas })).await?;
                limit.api.show(console, &answer, |console, workspace: Workspace| {
                    console.line(&format!("{} may have: {}", workspace.name, shown(&workspace.quotas)))
                })
            }
        }
    }
}
