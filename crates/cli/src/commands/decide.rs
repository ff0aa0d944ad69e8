//! `abide approve`, `reject` and `edit`.

use abide_sdk::wire::Decided;
use clap::Args;
use serde_json::{Value, json};

use super::Api;
use crate::client::Error;
use crate::console::Console;
use crate::payload;

/// Which request, and what is said beside the decision.
#[derive(Debug, Args)]
struct Request {
    /// The approval's id (`wp_…`), or a run with only one approval: its id, the beginning of one, or `latest`
    #[arg(value_name = "REQUEST")]
    request: String,
    /// With a run: the request of this step
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Stands in the history
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    #[command(flatten)]
    api: Api,
}

/// Approve what a run asks. Who decides is the name of the key.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide approve latest\n  abide approve latest --step review --comment 'looks good'\n  ABIDE_API_KEY=abk_… abide approve wp_06f3mzv0szn5sfxsn4tffvdytw_3"
)]
pub(crate) struct Approve {
    #[command(flatten)]
    request: Request,
}

/// Reject what a run asks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide reject latest --comment 'wrong address'")]
pub(crate) struct Reject {
    #[command(flatten)]
    request: Request,
}

/// Approve with a content of your own.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide edit latest --content '\"Dear Ana, …\"'\n  abide edit latest --content @draft.json"
)]
pub(crate) struct Edit {
    /// What takes the place of the content
    #[arg(long, value_name = payload::FORM)]
    content: String,
    #[command(flatten)]
    request: Request,
}

impl Approve {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        self.request.decide(console, json!({ "decision": "approve" })).await
    }
}

impl Reject {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        self.request.decide(console, json!({ "decision": "reject" })).await
    }
}

impl Edit {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let content = payload::read("--content", &self.content)?;
        self.request.decide(console, json!({ "decision": "edit", "editedContent": content })).await
    }
}

impl Request {
    async fn decide(&self, console: &mut Console<'_>, mut body: Value) -> Result<(), Error> {
        let client = self.api.open()?;
        let id = client.find_wait(&self.request, self.step.as_deref(), Some("APPROVAL")).await?;
        if let Some(comment) = &self.comment {
            body["comment"] = json!(comment);
        }
        let answer = client.post(&["approval-requests", &id, "decide"], &body).await?;
        self.api.show(console, &answer, |console, decided: Decided| {
            let Decided { id, approvals, quorum, resolved, .. } = decided;
            let state = if resolved {
                "decided; the run goes on".to_owned()
            } else {
                format!("{approvals} of {quorum} approvals")
            };
            console.line(&format!("{id}: {state}"))
        })
    }
}
