//! Follows a run in this process: what is new in its history, how its steps are, and what it waits for.

use std::collections::BTreeSet;
use std::time::Duration;

use abide_core::history::sentence;
use abide_core::id::{RunId, StepAddress};
use abide_core::run::Run;
use abide_core::status::StepStatus;
use abide_core::waiting_for::waiting_for;
use abide_definition::{Action, Executor};
use abide_engine::{Engine, Follower};
use serde_json::Value;

use super::failed;
use super::view::View;
use crate::client::Error;
use crate::console::Console;
use crate::record::Record;
use crate::steps::Line;
use crate::times;

/// A countdown in the terminal moves this often.
const TICK: Duration = Duration::from_millis(250);

pub(super) struct Tracker {
    engine: Engine,
    run: RunId,
    handlers: BTreeSet<String>,
    follower: Follower,
    view: View,
    /// The last record that was shown.
    last: u64,
}

impl Tracker {
    pub(super) fn new(engine: Engine, run: RunId, handlers: BTreeSet<String>, view: View) -> Tracker {
        let mut follower = engine.run(run).follow();
        // The start itself is to be shown.
        follower.mark_changed();
        Tracker { engine, run, handlers, follower, view, last: 0 }
    }

    /// Something happened; where time itself is shown, that is enough.
    pub(super) async fn changed(&mut self) -> Result<(), Error> {
        let gone = || Error::Failed("the engine has stopped".to_owned());
        if !self.view.shows_time() {
            return self.follower.changed().await.map_err(|_| gone());
        }
        match tokio::time::timeout(TICK, self.follower.changed()).await {
            Ok(changed) => changed.map_err(|_| gone()),
            Err(_) => Ok(()),
        }
    }

    pub(super) async fn show(&mut self, console: &mut Console<'_>) -> Result<(), Error> {
        let run = self.engine.run(self.run).get().await.map_err(failed)?;
        let news = self.news(&run).await?;
        let steps = lines(&run);
        let waits = self.waits(&run);
        let title =
            format!("{}  {} {}  {}", run.id, run.definition.name(), run.definition.version(), run.status);
        Ok(self.view.show(console, &title, &steps, &waits, &news)?)
    }

    /// Records that were not shown yet.
    async fn news(&mut self, run: &Run) -> Result<Vec<Record>, Error> {
        let id = self.run;
        let stored = self.engine.run(id).history().await.map_err(failed)?;
        let history = stored.map(|stored| stored.history).unwrap_or_default();
        let new = history.iter().filter(|record| record.seq > self.last);
        let text = |record: &abide_core::history::Record| {
            sentence(&run.definition, &|number| run.waitpoint(number), record)
        };
        let records: Result<Vec<Record>, _> = new
            .map(|record| {
                let mut value = serde_json::to_value(record)?;
                value["text"] = Value::from(text(record));
                let at = serde_json::from_value::<StepAddress>(value["at"].clone());
                if let Ok(at) = at {
                    value["stepName"] = Value::from(run.step_name(at));
                }
                serde_json::from_value(value)
            })
            .collect();
        let records = records.map_err(|why| Error::NotUnderstood(why.to_string()))?;
        self.last = records.last().map_or(self.last, |record| record.seq);
        Ok(records)
    }

    /// What it waits for, one line each.
    pub(super) async fn open_waits(&self) -> Result<String, Error> {
        let run = self.engine.run(self.run).get().await.map_err(failed)?;
        Ok(self.waits(&run).join("\n"))
    }

    fn waits(&self, run: &Run) -> Vec<String> {
        let now = self.engine.now();
        let waits = waiting_for(run).into_iter().map(|wait| {
            let left = wait.until.map(|until| format!(" ({})", times::relative(until, now)));
            format!("{wait}{}", left.unwrap_or_default())
        });
        let tasks =
            run.step_runs().filter(|(_, step)| step.status == StepStatus::Running).filter_map(|(at, _)| {
                let Action::Work(work) = &run.defined(at).action else { return None };
                let is_ours = work.executor != Executor::Handler || self.handlers.contains(&*work.handler);
                let step = run.step_name(at);
                let handler = &work.handler;
                (!is_ours).then(|| {
                    format!("`{step}` waits for a worker; give one with --handler {handler}='COMMAND'")
                })
            });
        waits.chain(tasks).collect()
    }
}

fn lines(run: &Run) -> Vec<Line> {
    let count = u16::try_from(run.definition.steps.len()).unwrap_or(u16::MAX);
    (0..count).map(|index| line(run, StepAddress::step(index))).collect()
}

fn line(run: &Run, at: StepAddress) -> Line {
    let step = run.step(at);
    let took = step.and_then(|step| step.started_at.zip(step.ended_at));
    let took = took.map(|(from, to)| times::length(to.as_millisecond() - from.as_millisecond()));
    let is_current = run.step_status(at) == StepStatus::Failed || run.is_backing_off(at);
    let said = step.and_then(|step| match (step.error.as_ref().filter(|_| is_current), &step.output) {
        (Some(error), _) => Some(format!("{} [{}]", error.message, error.code)),
        (None, Some(output)) if !output.is_null() => Some(Value::clone(output).to_string()),
        (None, _) => None,
    });
    Line {
        name: run.step_name(at),
        r#type: type_name(&run.defined(at).action).to_owned(),
        status: run.step_status(at).to_string(),
        detail: [took, said].into_iter().flatten().collect::<Vec<_>>().join("  "),
    }
}

/// As the step's `type` is written in a definition.
fn type_name(action: &Action) -> &'static str {
    match action {
        Action::Work(work) => match work.executor {
            Executor::Handler => "task",
            Executor::Http => "http",
            Executor::Llm => "llm",
            Executor::Notify => "notify",
        },
        Action::Wait(_) => "wait",
        Action::Condition { .. } => "condition",
        Action::Signal { .. } => "external_event",
        Action::Event { .. } => "wait_for_event",
        Action::Webhook { .. } => "webhook",
        Action::Approval(_) => "approval",
        Action::Respond { .. } => "respond",
        Action::Child { .. } => "workflow",
        Action::Map(_) => "map",
        Action::Group(group) => group.type_name(),
    }
}
