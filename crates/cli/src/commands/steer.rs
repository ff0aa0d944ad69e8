//! `abide wake` and `abide reschedule`: waits that end now, or at another time (one, or all that a filter finds).

use abide_definition::time::Millis;
use abide_sdk::wire::Waitpoint;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::filter::WaitFilter;
use super::{Api, control};
use crate::client::{Client, Error};
use crate::console::Console;
use crate::{payload, times};

/// Which wait, or which waits.
#[derive(Debug, Args)]
struct Target {
    /// A wait's id (`wp_…`), or a run that has only one: its id, the beginning of one, or `latest`
    #[arg(value_name = "WAIT", required_unless_present = "all", conflicts_with_all = ["all", "dry_run"])]
    wait: Option<String>,
    /// With a run: the wait of this step
    #[arg(long, value_name = "STEP", conflicts_with = "all")]
    step: Option<String>,
    /// Every wait that the filters below find
    #[arg(long)]
    all: bool,
    /// With --all: only count them
    #[arg(long, requires = "all")]
    dry_run: bool,
    #[command(flatten)]
    filter: WaitFilter,
}

impl Target {
    /// The one wait; none where a filter says which.
    async fn find(&self, client: &Client) -> Result<Option<String>, Error> {
        match &self.wait {
            Some(wait) => client.find_wait(wait, self.step.as_deref(), None).await.map(Some),
            None => Ok(None),
        }
    }

    async fn steer_all(
        &self,
        api: &Api,
        client: &Client,
        console: &mut Console<'_>,
        mut body: Value,
    ) -> Result<(), Error> {
        body["filter"] = self.filter.json();
        body["dryRun"] = json!(self.dry_run);
        control::bulk(api, client, console, "waitpoints", "wait", body).await
    }
}

/// How a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Outcome {
    /// As if what it waits for had come
    Completed,
    /// Of a wait for other code (CODE): its step is completed with --output, without its handler
    Skipped,
    /// As if its time were over: what the step's `onTimeout` says happens
    TimedOut,
    /// Nothing is to be waited for any more: the step fails
    Cancelled,
}

impl Outcome {
    /// As the API calls what leads to it.
    fn action(self) -> &'static str {
        match self {
            Outcome::Completed => "complete",
            Outcome::Skipped => "skip",
            Outcome::TimedOut => "timeout",
            Outcome::Cancelled => "cancel",
        }
    }
}

/// End a wait now, as if what it waits for had come, or as if its time were over.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide wake latest\n  abide wake wp_06f3mzv0szn5sfxsn4tffvdytw_1\n  abide wake latest --step await-payment --payload '{\"amount\": 99}'\n  abide wake latest --as timed-out\n  abide wake --all --kind CODE\n  abide wake latest --step charge --as skipped --output '{\"paid\": true}' --reason 'paid by hand'\n  abide wake --all --kind DELAY --due-before 2026-12-01T00:00:00Z --dry-run"
)]
pub(crate) struct Wake {
    #[command(flatten)]
    target: Target,
    /// As if this had come
    #[arg(long, short, value_name = payload::FORM)]
    payload: Option<String>,
    /// With `--as skipped`: the step's output; null if absent
    #[arg(long, short, value_name = payload::FORM)]
    output: Option<String>,
    /// With `--as skipped`: stands in the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// How the wait ends
    #[arg(long = "as", value_name = "OUTCOME", value_enum, default_value_t = Outcome::Completed)]
    outcome: Outcome,
    #[command(flatten)]
    api: Api,
}

impl Wake {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let mut body = json!({});
        if let Some(payload) = &self.payload {
            if self.outcome != Outcome::Completed {
                return Err(Error::Usage("--payload goes with `--as completed` only".to_owned()));
            }
            body["payload"] = payload::read("--payload", payload)?;
        }
        if (self.output.is_some() || self.reason.is_some()) && self.outcome != Outcome::Skipped {
            return Err(Error::Usage("--output and --reason go with `--as skipped` only".to_owned()));
        }
        if let Some(output) = &self.output {
            body["output"] = payload::read("--output", output)?;
        }
        if let Some(reason) = &self.reason {
            body["reason"] = json!(reason);
        }
        let Some(wait) = self.target.find(&client).await? else {
            body["action"] = json!(self.outcome.action());
            return self.target.steer_all(&self.api, &client, console, body).await;
        };
        let answer = client.post(&["waitpoints", &wait, self.outcome.action()], &body).await?;
        self.api.show(console, &answer, |console, wait: Waitpoint| {
            console.line(&format!("{} is {}", wait.id, wait.status))
        })
    }
}

/// Move a wait, or its deadline, to another instant.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide reschedule latest --in 2h\n  abide reschedule latest --step cool-down --at 2026-12-01T09:00:00Z\n  abide reschedule --all --event parcel.delivered --in 7d\n\nA past instant is due at once."
)]
pub(crate) struct Reschedule {
    #[command(flatten)]
    target: Target,
    /// The new instant
    #[arg(long, value_name = "INSTANT", value_parser = times::parse_instant, required_unless_present = "after")]
    at: Option<Timestamp>,
    /// The new instant as a time from now
    #[arg(long = "in", id = "after", value_name = "DURATION", value_parser = times::parse_length, conflicts_with = "at")]
    after: Option<Millis>,
    #[command(flatten)]
    api: Api,
}

impl Reschedule {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let mut body = json!({ "resumeAt": client.instant(self.at, self.after).await? });
        let Some(wait) = self.target.find(&client).await? else {
            body["action"] = json!("reschedule");
            return self.target.steer_all(&self.api, &client, console, body).await;
        };
        let answer = client.patch(&["waitpoints", &wait], &body).await?;
        self.api.show(console, &answer, |console, wait: Waitpoint| {
            let now = console.now();
            let until = wait.resume_at.map(|at| times::both(at, now)).unwrap_or_default();
            console.line(&format!("{} is {}, until {until}", wait.id, wait.status))
        })
    }
}
