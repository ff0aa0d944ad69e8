//! `abide signal`: something for one run.

use abide_sdk::wire::Signalled;
use clap::Args;
use serde_json::json;

use super::Api;
use crate::client::Error;
use crate::console::Console;
use crate::payload;

/// Send a signal to a run. If the run does not wait for it yet, it is kept until it does.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide signal latest payment.received --payload '{\"amount\": 99}'\n  abide signal run_06f3mzv0 go"
)]
pub(crate) struct Signal {
    /// The run's id, the beginning of one, or `latest`
    #[arg(value_name = "RUN")]
    run: String,
    /// The signal type that the step waits for
    #[arg(value_name = "TYPE")]
    signal_type: String,
    /// What it brings; null if absent
    #[arg(long, short, value_name = payload::FORM)]
    payload: Option<String>,
    /// The same key and the same request are sent once
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    api: Api,
}

impl Signal {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let payload = payload::read_or_null("--payload", self.payload.as_deref())?;
        let run = client.find_run(&self.run).await?;
        let mut body = json!({ "signalType": self.signal_type, "payload": payload });
        if let Some(key) = &self.idempotency_key {
            body["idempotencyKey"] = json!(key);
        }
        let answer = client.post(&["workflow-runs", &run, "resume"], &body).await?;
        self.api.show(console, &answer, |console, signalled: Signalled| match signalled.taken_by {
            Some(wait) => console.line(&format!("taken by {wait}")),
            None => console.line(&format!("kept by {} until it waits for it", signalled.run_id)),
        })
    }
}
