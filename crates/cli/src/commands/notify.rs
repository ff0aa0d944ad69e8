//! `abide notify`: something for everyone who waits for it.

use abide_sdk::wire::{EventSent, EventStart, EventStartOutcome};
use clap::Args;
use serde_json::json;

use super::Api;
use crate::client::Error;
use crate::console::Console;
use crate::payload;

/// Send an event to everyone who waits for it, or will.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide notify parcel.delivered --data '{\"parcelId\": 7}'\n  abide notify parcel.delivered --data '{\"parcelId\": 7}' --dry-run\n  abide notify seat.free --one\n  abide notify order.packed --run latest"
)]
pub(crate) struct Notify {
    /// The event id that the steps wait for
    #[arg(value_name = "EVENT")]
    event: String,
    /// What it brings; null if absent
    #[arg(long, short, value_name = payload::FORM)]
    data: Option<String>,
    /// Only to this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Only to the one who has waited longest
    #[arg(long)]
    one: bool,
    /// Only say whom it would wake
    #[arg(long)]
    dry_run: bool,
    /// The same key and the same request are sent once
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    api: Api,
}

impl Notify {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let data = payload::read_or_null("--data", self.data.as_deref())?;
        let mut body = json!({ "eventId": self.event, "eventData": data, "dryRun": self.dry_run });
        if self.one {
            body["delivery"] = json!("one");
        }
        if let Some(run) = &self.run {
            body["workflowRunId"] = json!(client.find_run(run).await?);
        }
        if let Some(key) = &self.idempotency_key {
            body["idempotencyKey"] = json!(key);
        }
        let answer = client.post(&["events"], &body).await?;
        self.api.show(console, &answer, |console, notified: EventSent| {
            let EventSent { id, dry_run, waiters, started, .. } = notified;
            let would = if dry_run { "would wake" } else { "woke" };
            let event = id.map(|id| format!("{id}  ")).unwrap_or_default();
            let count = match waiters.len() {
                0 if !started.is_empty() => "nobody".to_owned(),
                0 if dry_run => "nobody".to_owned(),
                0 => "nobody; whoever waits for it later may still see it".to_owned(),
                1 => "1 wait".to_owned(),
                count => format!("{count} waits"),
            };
            console.line(&format!("{event}{would} {count}"))?;
            waiters.iter().try_for_each(|waiter| console.line(&format!("  {}", waiter.waitpoint_id)))?;
            started.iter().try_for_each(|start| console.line(&format!("  {}", said_of(start))))
        })
    }
}

/// What became of a run that the event starts.
fn said_of(start: &EventStart) -> String {
    let workflow = format!("{} {}", start.workflow, start.version);
    let run = start.run_id.as_deref().unwrap_or_default();
    match (start.outcome, &start.problem) {
        (EventStartOutcome::Started, _) => format!("started {workflow}: {run}"),
        (EventStartOutcome::Collected, _) => format!("added to {workflow}: {run}"),
        (EventStartOutcome::Repeated, _) => format!("started {workflow} before: {run}"),
        (EventStartOutcome::WouldStart, _) => format!("would start {workflow}"),
        (EventStartOutcome::Refused, Some(problem)) => {
            format!("could not start {workflow}: {} [{}]", problem.detail, problem.code)
        }
        (EventStartOutcome::Refused, None) => format!("could not start {workflow}"),
    }
}
