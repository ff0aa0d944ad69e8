//! `abide move`: takes runs that wait over to another version of their workflow.

use abide_sdk::wire::MovedRun;
use clap::Args;
use serde_json::{Value, json};

use super::Api;
use super::control::{Each, bulk, each};
use super::filter::RunFilter;
use crate::client::{Client, Error};
use crate::console::Console;

/// Move runs that wait to another version of their workflow, where their past fits it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide move latest --to 2 --dry-run\n  abide move run_01J… --to 2\n  abide move --all --workflow order --from 1 --to 2 --dry-run\n\nOnly a run that stands still is moved: WAITING, PAUSED or PENDING, with no task at work. `abide deploy --check` says beforehand which fit."
)]
pub(crate) struct MoveRuns {
    /// Ids of runs, the beginnings of ids, or `latest`
    #[arg(value_name = "RUN", required_unless_present = "all", conflicts_with = "all")]
    runs: Vec<String>,
    /// The version to go on with
    #[arg(long, value_name = "VERSION")]
    to: String,
    /// Every run that the filters below find; needs --workflow
    #[arg(long, requires = "workflow")]
    all: bool,
    /// Only say which fit
    #[arg(long)]
    dry_run: bool,
    /// With --all: only runs of this version
    #[arg(long, value_name = "VERSION", requires = "all")]
    from: Option<String>,
    #[command(flatten)]
    filter: RunFilter,
    #[command(flatten)]
    api: Api,
}

impl MoveRuns {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let mut body = json!({ "version": self.to, "dryRun": self.dry_run });
        if self.all {
            body["action"] = json!("move");
            body["filter"] = self.filter.json();
            if let Some(from) = &self.from {
                body["filter"]["version"] = json!(from);
            }
            return bulk(&self.api, &client, console, "workflow-runs", "run", body).await;
        }
        each(console, &self.runs, &Moving { command: self, client: &client, body: &body }).await
    }
}

struct Moving<'a> {
    command: &'a MoveRuns,
    client: &'a Client,
    body: &'a Value,
}

impl Each for Moving<'_> {
    async fn tell(&self, console: &mut Console<'_>, named: &str) -> Result<(), Error> {
        let run = self.client.find_run(named).await?;
        let answer = self.client.post(&["workflow-runs", &run, "move"], self.body).await?;
        self.command.api.show(console, &answer, |console, moved: MovedRun| {
            let MovedRun { id, status, from, to, changed, dry_run } = moved;
            match (dry_run, changed) {
                (true, _) => console.line(&format!("{id} fits version {to}; nothing was changed")),
                (false, true) => {
                    console.line(&format!("{id} was moved from {from} to {to}, and is {status}"))
                }
                (false, false) => console.line(&format!("{id} is of version {to} already")),
            }
        })
    }
}
