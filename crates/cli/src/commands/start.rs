//! `abide start`: a run of a workflow that the server has, or many of them.

mod batch;

use abide_definition::time::Millis;
use abide_sdk::wire::{Run, StartedRun};
use clap::Args;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Api, show};
use crate::client::Error;
use crate::console::Console;
use crate::{payload, times};

/// Start a run, or many. The ids are all that is written to the standard output.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide start payment --input '{\"order\": 7}'\n  abide start drip-campaign --input @customer.json --tag vip\n  abide start weekly-report --in 2h\n  abide start quote --input '{}' --wait 30s\n  RUN=$(abide start payment)\n  abide start payment --batch orders.jsonl --idempotency-key 2026-11-18\n\nWith --wait, exits with 0 when the run completed, 1 when it failed or was cancelled, 7 when it goes on.\nWith --batch, exits with 4 when some of the starts were refused: each is told with its line, and hinders no other."
)]
pub(crate) struct Start {
    /// The workflow's name, or a definition's id (`def_…`)
    #[arg(value_name = "WORKFLOW", required_unless_present = "batch")]
    workflow: Option<String>,
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
    /// Start a run for every line of a file (`-`: the standard input): an object with `input` and whatever else a start may
    /// have (`name`, `version`, `runAt`, `tags`, `idempotencyKey`). What is given here holds for the lines that do not say
    /// otherwise; line 7 has the idempotency key `KEY/7`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["input", "wait"])]
    batch: Option<String>,
    /// Wait so long for it to end, and show it
    #[arg(long, value_name = "DURATION", value_parser = times::parse_length)]
    wait: Option<Millis>,
    #[command(flatten)]
    api: Api,
}

impl Start {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        if let Some(file) = &self.batch {
            let fields = self.fields(client.instant(self.at, self.after).await?);
            let defaults = batch::Defaults { fields, key: self.idempotency_key.clone() };
            return batch::start(&client, console, (file, self.api.json), &defaults).await;
        }
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
        let mut body = self.fields(run_at);
        body.insert("input".to_owned(), payload::read_or_null("--input", self.input.as_deref())?);
        if let Some(key) = &self.idempotency_key {
            body.insert("idempotencyKey".to_owned(), json!(key));
        }
        Ok(body.into())
    }

    /// What a start says besides its input and its key.
    fn fields(&self, run_at: Option<Timestamp>) -> Map<String, Value> {
        let is_id = self.workflow.as_ref().is_some_and(|workflow| workflow.starts_with("def_"));
        let workflow = if is_id { "definitionId" } else { "name" };
        let tags = Some(&self.tag).filter(|tags| !tags.is_empty());
        let fields = [
            (workflow, self.workflow.as_ref().map(|workflow| json!(workflow))),
            ("version", self.version.as_ref().map(|version| json!(version))),
            ("runAt", run_at.map(|at| json!(at))),
            ("tags", tags.map(|tags| json!(tags))),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}
