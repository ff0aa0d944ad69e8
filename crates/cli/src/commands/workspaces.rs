//! `abide workspaces`: parts of the world that know nothing of each other.

use clap::{Args, Subcommand};
use serde_json::json;

use super::Api;
use crate::client::{Error, List, Workspace};
use crate::console::Console;
use crate::table::{Table, shortening, whole};
use crate::times;

/// List and make workspaces. A key belongs to one.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  abide workspaces\n  abide workspaces make shop\n  abide keys make shop-server --scope run --workspace \"$(abide workspaces make shop)\""
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

impl Workspaces {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        match &self.action {
            None => {
                let answer = self.api.open()?.get(&["workspaces"], &[]).await?;
                self.api.show(console, &answer, |console, list: List<Workspace>| {
                    let now = console.now();
                    let mut table = Table::new([whole("WORKSPACE"), shortening("NAME"), whole("CREATED")]);
                    for workspace in list.data {
                        table.row([workspace.id, workspace.name, times::relative(workspace.created_at, now)]);
                    }
                    console.table(&table)
                })
            }
            Some(Action::Make(make)) => {
                let answer = make.api.open()?.post(&["workspaces"], &json!({ "name": make.name })).await?;
                make.api.show(console, &answer, |console, workspace: Workspace| console.line(&workspace.id))
            }
        }
    }
}
