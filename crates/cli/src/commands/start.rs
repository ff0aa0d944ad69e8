//! `abide start`: a run of a workflow that the server has.

use abide_definition::time::Millis;
use abide_sdk::wire::{Run, StartedRun};
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Api, show};
use crate::client::Error;
use crate::console::Console;
use crate::{payload, times};

/// Start a run. Its id is all that is written to the standard output.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide start payment --input '{\"order\": 7}'\n  abide start drip-campaign --input @customer.json --tag vip\n  abide start weekly-report --in 2h\n  abide start quote --input '{}' --wait 30s\n  RUN=$(abide start payment)\n\nWith --wait, exits with 0 when the run completed, 1 when it failed or was cancelled, 7 when it goes on."
)]
pub(crate) struct Start {
    /// The workflow's name, or a definition's id (`def_…`)
    #[arg(value_name = "WORKFLOW")]
    workflow: String,
    /// The workflow's version; the newest if absent
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// What the run is given; null if absent
    #[arg(long, short, value_name = payload::FORM)]
    input: Option<String>,
    /// Begin at this instant
    #[arg(long, value_name = "INSTANT", value_parser = times::parse_instant)]
    at: Option<Timestamp>,
    /// Begin after this time
    #[arg(long = "in", value_name = "DURATION", value_parser = times::parse_length, conflicts_with = "at")]
    after: Option<Millis>,
    /// To find it by; may be given more than once
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// The same key and the same request give the same run
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Wait so long for it to end, and show it
    #[arg(long, value_name = "DURATION", value_parser = times::parse_length)]
    wait: Option<Millis>,
    #[command(flatten)]
    api: Api,
}

impl Start {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let wait = self.wait.map(|wait| format!("{}ms", wait.0));
        let query: Vec<(&str, &str)> = wait.iter().map(|wait| ("wait", wait.as_str())).collect();
        let body = self.body(client.instant(self.at, self.after).await?)?;
        let answer = client.post_with(&["workflow-runs"], &query, &body).await?;
        if self.wait.is_none() {
            return self.api.show(console, &answer, |console, started: StartedRun| console.line(&started.id));
        }
        self.api.show(console, &answer, |console, run: Run| show::write(console, &run))?;
        show::outcome(&answer.read()?)
    }

    fn body(&self, run_at: Option<Timestamp>) -> Result<Value, Error> {
        let mut body = json!({ "input": payload::read_or_null("--input", self.input.as_deref())? });
        let is_id = self.workflow.starts_with("def_");
        body[if is_id { "definitionId" } else { "name" }] = json!(self.workflow);
        if let Some(version) = &self.version {
            body["version"] = json!(version);
        }
        if let Some(at) = run_at {
            body["runAt"] = json!(at);
        }
        if !self.tag.is_empty() {
            body["tags"] = json!(self.tag);
        }
        if let Some(key) = &self.idempotency_key {
            body["idempotencyKey"] = json!(key);
        }
        Ok(body)
    }
}
