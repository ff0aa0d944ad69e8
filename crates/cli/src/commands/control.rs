//! `abide cancel`, `pause`, `unpause`, `retry`, `pin` and `unpin`: some runs, or all that a filter finds.

use abide_sdk::wire::{CommandedRun, Problem, RunStatus};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Api;
use super::filter::RunFilter;
use crate::client::{Client, Error, Exit, explained};
use crate::console::Console;
use crate::terminal::counted;

/// Which runs.
#[derive(Debug, Args)]
struct Target {
    /// Ids of runs, the beginnings of ids, or `latest`
    #[arg(value_name = "RUN", required_unless_present = "all", conflicts_with_all = ["all", "dry_run"])]
    runs: Vec<String>,
    /// Every run that the filters below find
    #[arg(long)]
    all: bool,
    /// With --all: only count them
    #[arg(long, requires = "all")]
    dry_run: bool,
    #[command(flatten)]
    filter: RunFilter,
    #[command(flatten)]
    api: Api,
}

/// Cancel runs. Whatever they wait for is cancelled with them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide cancel latest --reason 'ordered twice'\n  abide cancel --all --workflow drip-campaign --status WAITING --dry-run"
)]
pub(crate) struct Cancel {
    /// Stands in the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    target: Target,
}

/// Pause runs at their next step boundary. Their timers go on; what ends meanwhile is kept.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide pause latest\n  abide pause --all --workflow drip-campaign --status RUNNING,WAITING"
)]
pub(crate) struct Pause {
    #[command(flatten)]
    target: Target,
}

/// Let paused runs go on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide unpause latest\n  abide unpause --all --status PAUSED")]
pub(crate) struct Unpause {
    #[command(flatten)]
    target: Target,
}

/// Try the failed steps of failed runs again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide retry latest\n  abide retry --all --status FAILED --workflow payment --dry-run"
)]
pub(crate) struct Retry {
    #[command(flatten)]
    target: Target,
}

/// Pin the tasks of runs to another build, where their steps say `pinToBuild`: only its workers are given them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide pin latest --build 4f2c1e9\n  abide pin --all --workflow refunds --build 4f2c1e9 --dry-run\n\nA worker that has a task keeps it until it lets go. Tasks that are not pinned stay as they are."
)]
pub(crate) struct Pin {
    /// The build whose workers are given the tasks
    #[arg(long, value_name = "BUILD")]
    build: String,
    /// Only tasks of this handler
    #[arg(long, value_name = "HANDLER")]
    handler: Option<String>,
    #[command(flatten)]
    target: Target,
}

/// Let workers of any build have the tasks of runs that are pinned to one.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide unpin latest\n  abide unpin --all --workflow refunds --status RUNNING,WAITING --dry-run\n\nThe tasks are not pinned again."
)]
pub(crate) struct Unpin {
    /// Only tasks of this handler
    #[arg(long, value_name = "HANDLER")]
    handler: Option<String>,
    #[command(flatten)]
    target: Target,
}

impl Pin {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut body = of_handler(self.handler.as_deref());
        body["build"] = json!(self.build);
        self.target.tell(console, "pin", body).await
    }
}

impl Unpin {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        self.target.tell(console, "unpin", of_handler(self.handler.as_deref())).await
    }
}

fn of_handler(handler: Option<&str>) -> Value {
    handler.map_or(json!({}), |handler| json!({ "handler": handler }))
}

impl Cancel {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let body = self.reason.as_ref().map_or(json!({}), |reason| json!({ "reason": reason }));
        self.target.tell(console, "cancel", body).await
    }
}

impl Pause {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        self.target.tell(console, "pause", json!({})).await
    }
}

impl Unpause {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        self.target.tell(console, "unpause", json!({})).await
    }
}

impl Retry {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        self.target.tell(console, "retry", json!({})).await
    }
}

impl Target {
    async fn tell(&self, console: &mut Console<'_>, verb: &str, mut body: Value) -> Result<(), Error> {
        let client = self.api.open()?;
        if self.all {
            body["action"] = json!(verb);
            body["filter"] = self.filter.json();
            body["dryRun"] = json!(self.dry_run);
            return bulk(&self.api, &client, console, "workflow-runs", "run", body).await;
        }
        each(console, &self.runs, &Telling { api: &self.api, client: &client, verb, body: &body }).await
    }
}

/// What is asked of each run that was named.
pub(super) trait Each {
    async fn tell(&self, console: &mut Console<'_>, named: &str) -> Result<(), Error>;
}

/// Each is tried, and the worst decides the exit code.
pub(super) async fn each(console: &mut Console<'_>, runs: &[String], asked: &impl Each) -> Result<(), Error> {
    let mut worst: Option<Exit> = None;
    for named in runs {
        match asked.tell(console, named).await {
            Ok(()) => {}
            Err(error) if runs.len() == 1 => return Err(error),
            Err(error @ (Error::Unreachable { .. } | Error::Io(_))) => return Err(error),
            Err(error) => {
                console.note(&format!("{named}: {error}"))?;
                worst = worst.max(Some(error.exit()));
            }
        }
    }
    worst.map_or(Ok(()), |exit| Err(Error::Said(exit)))
}

struct Telling<'a> {
    api: &'a Api,
    client: &'a Client,
    verb: &'a str,
    body: &'a Value,
}

impl Each for Telling<'_> {
    async fn tell(&self, console: &mut Console<'_>, named: &str) -> Result<(), Error> {
        let run = self.client.find_run(named).await?;
        let answer = self.client.post(&["workflow-runs", &run, self.verb], self.body).await?;
        self.api.show(console, &answer, |console, run: CommandedRun| {
            let soon = if run.pausing && run.status != RunStatus::Paused {
                "; it pauses at its next step boundary"
            } else {
                ""
            };
            if matches!(self.verb, "pin" | "unpin") {
                let done = match (run.changed, self.verb) {
                    (false, _) => "has no task under way that this would change",
                    (true, "pin") => "has its tasks pinned to that build",
                    (true, _) => "has its tasks unpinned",
                };
                return console.line(&format!("{} {done}", run.id));
            }
            let unchanged = if run.changed { "" } else { " already" };
            console.line(&format!("{} is {}{unchanged}{soon}", run.id, run.status))
        })
    }
}

/// A part of what became of many runs, or of many waits.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    dry_run: bool,
    matched: u64,
    done: u64,
    refused: u64,
    refusals: Vec<Refused>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Refused {
    #[serde(alias = "runId", alias = "waitpointId")]
    id: String,
    problem: Problem,
}

/// Has all that a filter finds do something, page by page.
pub(super) async fn bulk(
    api: &Api,
    client: &Client,
    console: &mut Console<'_>,
    resource: &str,
    noun: &str,
    mut body: Value,
) -> Result<(), Error> {
    let (mut matched, mut done, mut refused) = (0, 0, 0);
    loop {
        let answer = client.post(&[resource, "bulk"], &body).await?;
        let part: Part = answer.read()?;
        (matched, done, refused) = (matched + part.matched, done + part.done, refused + part.refused);
        if api.json {
            console.raw(&answer.text)?;
        }
        for refusal in part.refusals.iter().filter(|_| !api.json) {
            console.note(&format!("{}: {}", refusal.id, explained(&refusal.problem)))?;
        }
        match part.next_cursor {
            Some(cursor) => body["cursor"] = json!(cursor),
            None if api.json => break,
            None if part.dry_run && done + refused > 0 => {
                let found = counted(matched, noun);
                console.line(&format!("{found} found, {done} fit, {refused} do not; nothing was changed"))?;
                break;
            }
            None if part.dry_run => {
                console.line(&format!("{} found; nothing was changed", counted(matched, noun)))?;
                break;
            }
            None => {
                console.line(&format!("{} found, {done} done, {refused} refused", counted(matched, noun)))?;
                break;
            }
        }
    }
    if refused > 0 { Err(Error::Said(Exit::Refused)) } else { Ok(()) }
}
