//! An `llm` step: does what the tool loop says comes next. Each model's answer and each tool's result is an entry of
//! the journal, committed before the next call. A tool is a child run; a rate limit is a RETRY wait. Both suspend the
//! task.

use abide_calls::models::{Class, Failure};
use abide_calls::tool_loop::{Ask, Entry, Failed, Journal, Next, ServedBy, Step, ToolRun, entry_of_wait};
use abide_core::command::{ChildOutcome, WaitFor, WaitSpec};
use abide_core::definition::Definition;
use abide_core::history::{ModelCall, WakeOn};
use abide_core::json::Json;
use abide_core::limits::PAYLOAD_BYTES;
use abide_core::status::WaitStatus;
use abide_core::task::{JournalItem, JournalWhat, Task};
use serde_json::Value;

use super::ledger::Reservation;
use super::tokens::Token;
use super::{Executors, TaskCall, fail};
use crate::error::Error;
use crate::handler::TaskResult;

const BUDGET_USED_UP: &str = "LLM_BUDGET_USED_UP";

pub(super) async fn perform(executors: &Executors, task_call: &TaskCall, task: &Task) -> Option<TaskResult> {
    let step = match Step::read(&task.input, task.visit, task.attempt) {
        Ok(step) => step,
        Err(error) => return Some(fail("LLM_BAD_REQUEST", error.to_string(), false)),
    };
    let mut work =
        Work { executors, task_call, task, step, journal: Journal::default(), unwritten: Vec::new() };
    work.read(&task.journal);
    match work.go_on().await {
        Ok(result) => Some(result),
        // The task is not wanted any more, or the engine has stopped.
        Err(Error::Stopped) => None,
        Err(error) => Some(fail("LLM_JOURNAL_REFUSED", error.to_string(), false)),
    }
}

struct Work<'w> {
    executors: &'w Executors,
    task_call: &'w TaskCall,
    task: &'w Task,
    step: Step,
    journal: Journal,
    /// Results of tools, known from waits. They are recorded with the next entry, so that they outlast the visit.
    unwritten: Vec<(String, Value)>,
}

impl<'w> Work<'w> {
    fn read(&mut self, items: &[JournalItem]) {
        for item in items {
            if let JournalWhat::Result(result) = &item.what
                && let Ok(entry) = serde_json::from_value::<Entry>(Value::clone(result))
            {
                self.journal.record(&*item.name, entry);
            }
        }
        for item in items {
            if let JournalWhat::Wait { status, payload, .. } = &item.what
                && *status != WaitStatus::Pending
            {
                self.wait_over(&item.name, *status, payload.as_ref());
            }
        }
    }

    fn wait_over(&mut self, name: &str, status: WaitStatus, payload: Option<&Json>) {
        match entry_of_wait(name) {
            None => self.journal.wait_over(name),
            Some(entry) if self.journal.get(&entry).is_none() => {
                let outcome = tool_outcome(status, payload);
                self.unwritten.push((entry.clone(), json(&outcome)));
                self.journal.record(entry, outcome);
            }
            Some(_) => {}
        }
    }

    async fn go_on(&mut self) -> Result<TaskResult, Error> {
        loop {
            let (next, reservation) = self.next().await?;
            match next {
                Next::Call(ask) => self.call(&ask, reservation).await?,
                Next::Tools(runs) => return Ok(self.suspend(runs.into_iter().map(tool_wait).collect())),
                Next::Wait { entry, until } => {
                    let wait = WaitFor::RateLimit { until };
                    return Ok(self.suspend(vec![WaitSpec::new(entry, wait)]));
                }
                Next::Done(done) => {
                    if !done.warnings.is_empty() {
                        let run = self.task_call.run_id();
                        tracing::warn!(%run, step = self.task.step_name, warnings = ?done.warnings, "a model's answer");
                        let name = format!("warnings after call {}", done.spent.calls);
                        self.unwritten.push((name, done.warnings.into()));
                    }
                    self.write(Vec::new()).await?;
                    return Ok(TaskResult::Complete { output: done.output.into(), state_updates: None });
                }
                Next::Failed(Failed { code, message, retryable, spent: _ }) => {
                    self.write(Vec::new()).await?;
                    return Ok(fail(code, message, retryable));
                }
            }
        }
    }

    /// The next thing to do, and the money for it. Where other calls of the run have reserved what this one needs, it
    /// waits for them.
    async fn next(&self) -> Result<(Next, Option<Reservation<'w>>), Error> {
        let (settings, ledger) = (self.executors.models.settings(), &self.executors.ledger);
        let Some(budget) = self.task_call.run_budget_micros else {
            return Ok((self.step.next(&self.journal, settings), None));
        };
        let run = self.task_call.run_id();
        loop {
            let open = ledger.open().await;
            let (spent, reserved) = (self.task_call.run().await?.spent.cost_micros, ledger.reserved(run));
            let left = budget.saturating_sub(spent).saturating_sub(reserved);
            let own = self.journal.cost_micros().saturating_add(left);
            let own = self.step.budget_micros.map_or(own, |budget| budget.min(own));
            let step = Step { budget_micros: Some(own), ..self.step.clone() };
            match step.next(&self.journal, settings) {
                Next::Failed(failed) if failed.code == BUDGET_USED_UP && reserved > 0 => {
                    ledger.changed(open).await;
                }
                Next::Call(ask) => {
                    let reservation = ledger.reserve(run, ask.most_micros);
                    return Ok((Next::Call(ask), Some(reservation)));
                }
                next @ (Next::Tools(_) | Next::Wait { .. } | Next::Done(_) | Next::Failed(_)) => {
                    return Ok((next, None));
                }
            }
        }
    }

    async fn call(&mut self, ask: &Ask, reservation: Option<Reservation<'_>>) -> Result<(), Error> {
        let entry = self.answer(ask).await;
        let value = json(&entry);
        let bill = bill(&ask.entry, &entry);
        self.unwritten.push((ask.entry.clone(), value));
        // Spent and given back in one, for whoever looks at the money.
        let open = match &reservation {
            Some(_) => Some(self.executors.ledger.open().await),
            None => None,
        };
        self.write(bill.into_iter().collect()).await?;
        drop(reservation);
        drop(open);
        self.journal.record(ask.entry.clone(), entry);
        Ok(())
    }

    async fn answer(&self, ask: &Ask) -> Entry {
        let model = format!("model://{}", ask.call.model);
        let _turn = self.executors.model_turns.turn(self.task_call.workspace, &model).await;
        let (models, run) = (&self.executors.models, self.task_call.run_id());
        let answered = match self.executors.tokens.wanted(run) {
            None => models.call(&ask.call).await,
            Some(followers) => {
                let mut say = |text: &str| {
                    let (step_name, entry) = (self.task.step_name.clone(), ask.entry.clone());
                    // Whoever listened may have gone.
                    let _ = followers.send(Token { step_name, entry, text: text.to_owned() });
                };
                models.stream(&ask.call, &mut say).await
            }
        };
        let (settings, now) = (models.settings(), self.executors.clock.now());
        let answer = match answered {
            Ok(answer) => answer,
            Err(failure) => return ask.failed(failure, settings, now),
        };
        let usage = answer.usage;
        let entry = ask.answered(answer, settings);
        let bytes = Json::new(json(&entry)).bytes();
        if bytes <= PAYLOAD_BYTES {
            return entry;
        }
        let message =
            format!("the answer has {bytes} bytes, over the limit of {PAYLOAD_BYTES} (PAYLOAD_BYTES)");
        let failure = Failure { usage: Some(usage), ..Failure::new(Class::Malformed, message) };
        ask.failed(failure, settings, now)
    }

    /// Records the entries that the journal does not have yet.
    async fn write(&mut self, calls: Vec<ModelCall>) -> Result<(), Error> {
        let entries = std::mem::take(&mut self.unwritten);
        if entries.is_empty() { Ok(()) } else { self.task_call.record(entries, calls).await }
    }

    fn suspend(&mut self, waits: Vec<WaitSpec>) -> TaskResult {
        let entries = std::mem::take(&mut self.unwritten).into_iter();
        let entries = entries.map(|(name, result)| abide_core::history::JournalResult {
            name: name.into(),
            result: result.into(),
        });
        TaskResult::Suspend { entries: entries.collect(), waits, wake: WakeOn::All }
    }
}

/// The wait for a tool. A tool with a handler is a run of one task, so that it waits for a worker as any task does.
fn tool_wait(run: ToolRun) -> WaitSpec {
    let definition = match run.served_by {
        ServedBy::Handler(handler) => Definition::tool_name(&handler),
        ServedBy::Workflow(workflow) => workflow,
    };
    let wait = WaitFor::Child {
        definition: definition.into(),
        version: None,
        input: run.arguments.into(),
        timeout: None,
        detached: false,
        tags: Vec::new(),
    };
    WaitSpec::new(run.wait, wait)
}

fn tool_outcome(status: WaitStatus, payload: Option<&Json>) -> Entry {
    let given = payload.map_or(Value::Null, |payload| Value::clone(payload));
    match status {
        WaitStatus::Completed => match serde_json::from_value::<ChildOutcome>(given.clone()) {
            Ok(ChildOutcome::Completed { output }) => Entry::tool_returned(Value::clone(&output)),
            Ok(ChildOutcome::Failed { error }) => {
                Entry::tool_failed(format!("{}: {}", error.code, error.message))
            }
            Ok(ChildOutcome::Cancelled) => Entry::tool_failed("it was cancelled"),
            Ok(ChildOutcome::Started { .. }) => Entry::tool_failed("it was only started"),
            // Somebody has answered by hand.
            Err(_) => Entry::tool_returned(given),
        },
        WaitStatus::TimedOut => Entry::tool_failed("it did not answer in time"),
        WaitStatus::Cancelled | WaitStatus::Pending => Entry::tool_failed("it was cancelled"),
    }
}

fn bill(name: &str, entry: &Entry) -> Option<ModelCall> {
    let (model, failure) = entry.call()?;
    let (usage, cost_micros) = entry.bill().unwrap_or_default();
    Some(ModelCall {
        entry: name.into(),
        model: model.into(),
        input_tokens: usage.input,
        cached_input_tokens: usage.cached_input,
        output_tokens: usage.output,
        cost_micros,
        error: failure.map(|failure| failure.class.code().into()),
    })
}

fn json(entry: &Entry) -> Value {
    serde_json::to_value(entry).expect("an entry is JSON")
}
