//! `abide show`: one run, its steps and what it waits for.

mod journal;

use std::io;

use abide_sdk::wire::{Failure, Run, RunStatus, Step, StepStatus};
use clap::Args;
use serde_json::Value;

use super::Api;
use crate::client::{Client, Error};
use crate::console::Console;
use crate::terminal::shortened;
use crate::{steps, times};

/// Show a run: its steps, its data, and what it waits for.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide show latest\n  abide show run_06f3mzv0\n  abide show latest --json | jq .state"
)]
pub(crate) struct Show {
    /// The run's id, the beginning of one, or `latest`
    #[arg(value_name = "RUN")]
    run: String,
    #[command(flatten)]
    api: Api,
}

impl Show {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let id = client.find_run(&self.run).await?;
        let answer = client.get(&["workflow-runs", &id], &[]).await?;
        let children = if self.api.json { Vec::new() } else { children(&client, &answer.read()?).await };
        self.api.show(console, &answer, |console, run: Run| write_with(console, &run, &children))
    }
}

/// Child runs that are looked at, of those that a run waits for: enough to see what holds a map up.
const CHILDREN: usize = 20;

/// The child runs that a run waits for, as far as they can be seen.
async fn children(client: &Client, run: &Run) -> Vec<Run> {
    let mut found = Vec::new();
    for id in run.waiting_for.iter().filter_map(|wait| wait.child_run_id.as_deref()).take(CHILDREN) {
        found.extend(client.read(&["workflow-runs", id], &[]).await.ok().into_iter().collect::<Vec<Run>>());
    }
    found
}

/// The run for people.
pub(super) fn write(console: &mut Console<'_>, run: &Run) -> io::Result<()> {
    write_with(console, run, &[])
}

fn write_with(console: &mut Console<'_>, run: &Run, children: &[Run]) -> io::Result<()> {
    let now = console.now();
    let status = if run.pausing && run.status != RunStatus::Paused { " (pause asked for)" } else { "" };
    console.line(&format!(
        "{}  {} {}  {}{status}",
        run.id, run.definition.name, run.definition.version, run.status
    ))?;
    console.line(&format!("created  {} by {}", times::both(run.created_at, now), run.created_by))?;
    if let Some(ended) = run.ended_at {
        let took = ended.as_millisecond() - run.created_at.as_millisecond();
        console.line(&format!("ended    {}, after {}", times::both(ended, now), times::length(took)))?;
    }
    if !run.tags.is_empty() {
        console.line(&format!("tags     {}", run.tags.join(", ")))?;
    }
    let state = Value::Object(run.state.clone());
    let fields = [("input", &run.input), ("state", &state), ("output", &run.output)];
    for (name, value) in fields.into_iter().filter(|(_, value)| !is_nothing(value)) {
        let text = value.to_string();
        let text = console.width.map_or(text.clone(), |width| shortened(&text, width.saturating_sub(9)));
        console.line(&format!("{name:<8} {text}"))?;
    }
    if let Some(error) = &run.error {
        console.line(&format!("error    {}", failure(error)))?;
    }
    if let Some(handler) = &run.handled_by {
        let hook = if run.status == RunStatus::Cancelled { "onCancel" } else { "onFailure" };
        console.line(&format!("handled  by {handler} ({hook})"))?;
    }
    console.line("")?;
    let all = || run.steps.iter().flat_map(|step| std::iter::once(step).chain(&step.items));
    let lines: Vec<steps::Line> = all().map(|step| of_step(run, step)).collect();
    for (step, line) in all().zip(steps::texts(&lines, "  ", console.width)) {
        console.line(&line)?;
        journal::write(console, step)?;
    }
    for step in all() {
        for line in step.error.iter().flat_map(|error| came_from(&step.name, error)) {
            console.line(&line)?;
        }
    }
    for wait in &run.waiting_for {
        let when = wait.until.map(|until| format!(" ({})", times::relative(until, now))).unwrap_or_default();
        console.line("")?;
        console.line(&format!("{}{when}", wait.sentence))?;
        if let Some(id) = &wait.waitpoint_id {
            console.line(&format!("  {id}"))?;
        }
        let child = children.iter().find(|child| wait.child_run_id.as_ref() == Some(&child.id));
        for inner in child.iter().flat_map(|child| &child.waiting_for) {
            let when =
                inner.until.map(|until| format!(" ({})", times::relative(until, now))).unwrap_or_default();
            console.line(&format!("  there {}{when}", inner.sentence))?;
        }
    }
    Ok(())
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
}

fn failure(failure: &Failure) -> String {
    let step = failure.step.as_ref().map(|step| format!("`{step}`: ")).unwrap_or_default();
    format!("{step}{} [{}]", failure.message, failure.code)
}

/// Where in its handler a failure came from, in lines: what, in which call and attempt, why, and the stack.
fn came_from(step: &str, error: &Failure) -> Vec<String> {
    let Some(detail) = &error.detail else { return Vec::new() };
    let typed = |kind: &Option<String>, message: &str| match kind {
        Some(kind) => format!("{kind}: {message}"),
        None => message.to_owned(),
    };
    let place = detail.call.as_ref().map_or_else(|| step.to_owned(), |call| format!("{step} › {call}"));
    let mut lines = vec![String::new(), format!("{place}, attempt {}", detail.attempt.unwrap_or_default())];
    lines.push(format!("  {}", typed(&detail.kind, &error.message)));
    let causes = detail.causes.iter().flatten().map(|cause| typed(&cause.kind, &cause.message));
    lines.extend(causes.map(|cause| format!("  caused by {cause}")));
    let stack = detail.stack.iter().flat_map(|stack| stack.lines());
    lines.extend(stack.map(|line| format!("    {}", line.trim_end())));
    lines
}

fn of_step(run: &Run, step: &Step) -> steps::Line {
    let took = step.started_at.zip(step.ended_at);
    let took = took.map(|(from, to)| times::length(to.as_millisecond() - from.as_millisecond()));
    let is_running = step.status == StepStatus::Running;
    let attempt = (step.attempt > 1).then(|| match step.previous_error.as_ref().filter(|_| is_running) {
        Some(error) => format!("attempt {}, after: {}", step.attempt, error.message),
        None => format!("attempt {}", step.attempt),
    });
    let waiting = run.waiting_for.iter().any(|wait| wait.step_name.as_deref() == Some(step.name.as_str()));
    let what = match (&step.error, step.status) {
        (Some(error), _) => Some(format!("{} [{}]", error.message, error.code)),
        (None, StepStatus::Running) if !waiting => Some(
            step.worker.as_ref().map_or("waits for a worker".to_owned(), |worker| format!("at {worker}")),
        ),
        (None, _) if is_nothing(&step.output) => None,
        (None, _) => Some(step.output.to_string()),
    };
    let detail = [took, attempt, what].into_iter().flatten().collect::<Vec<_>>().join("  ");
    steps::Line {
        name: step.name.clone(),
        r#type: step.kind.clone(),
        status: step.status.to_string(),
        detail,
    }
}

/// What a caller who waited for the run is told by the exit code.
pub(super) fn outcome(run: &Run) -> Result<(), Error> {
    match run.status {
        RunStatus::Completed => Ok(()),
        RunStatus::Failed | RunStatus::Cancelled => {
            Err(Error::Failed(format!("{} is {}", run.id, run.status)))
        }
        RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => {
            Err(Error::NotOver(format!("{} is {} and goes on by itself", run.id, run.status)))
        }
    }
}
