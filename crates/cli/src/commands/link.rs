//! `abide link`: the URL that ends a wait without a key, for somebody, or no longer for anybody.

use abide_definition::time::Millis;
use abide_sdk::wire::{Link as Made, Waitpoint};
use clap::Args;
use serde_json::json;

use super::Api;
use crate::client::Error;
use crate::console::Console;
use crate::times;

/// Make a resume link for one person, or revoke all links of a wait.
#[derive(Debug, Args)]
#[command(
    after_help = "What is done with a link is recorded under the name it is for. Opening it decides nothing: a page asks first.\n\nExamples:\n  abide link latest --for ann --expires-in 2d\n  abide link wp_06f3mzv0szn5sfxsn4tffvdytw_3 --for bob\n  abide link latest --revoke"
)]
pub(crate) struct Link {
    /// A wait's id (`wp_…`), or a run that has only one: its id, the beginning of one, or `latest`
    #[arg(value_name = "WAIT")]
    wait: String,
    /// With a run: the wait of this step
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Whom it is for; anyone who has it, if absent
    #[arg(long = "for", value_name = "NAME", conflicts_with = "revoke")]
    recipient: Option<String>,
    /// How long the link is valid; as long as its wait, if absent
    #[arg(long, value_name = "DURATION", conflicts_with = "revoke", value_parser = times::parse_length)]
    expires_in: Option<Millis>,
    /// Make every link to the wait invalid. The wait goes on
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    api: Api,
}

impl Link {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let wait = client.find_wait(&self.wait, self.step.as_deref(), None).await?;
        let path = ["waitpoints", &wait, "link"];
        if self.revoke {
            let answer = client.delete(&path).await?;
            return self.api.show(console, &answer, |console, wait: Waitpoint| {
                console.line(&format!("no link to {} is valid any more; it is {}", wait.id, wait.status))
            });
        }
        let mut body = json!({});
        if let Some(recipient) = &self.recipient {
            body["recipient"] = json!(recipient);
        }
        if let Some(Millis(expires_in)) = self.expires_in {
            body["expiresInMs"] = json!(expires_in);
        }
        let answer = client.post(&path, &body).await?;
        self.api.show(console, &answer, |console, made: Made| console.line(&made.resume_url))
    }
}
