//! Runs a handler until it has returned, only waits, or does not count any more; and says what to report.

use std::any::Any;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::time::{Sleep, sleep};

use super::{Execution, State, quoted, swallowed};
use crate::asked::asked_of;
use crate::failure::{Result, TaskError};
use crate::origin::told;
use crate::wait::{Opened, Spec};
use crate::wire::{
    Json, Task, TaskReport, TaskReportComplete, TaskReportFail, TaskReportSuspend, TaskWait, Wake,
};

/// How often a handler that only waits is looked at again, after everything else that is ready, before it is left.
const LOOKS: u32 = 2;

pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Json>> + Send>>;

/// What a check of the code against its journal came to.
pub(crate) enum Rehearsed {
    Fits,
    Failed(TaskError),
}

enum Outcome {
    Returned(Result<Json>),
    /// The handler only waits.
    Left,
    /// The task cannot go on, or is not ours any more.
    Broken,
}

/// What a handler that has not returned is at.
enum Progress {
    Working,
    /// These are held back, or wait, while the journal holds something that the code has not come to.
    Held(String),
    /// The handler only waits, and nothing has happened since this activity.
    Waiting(u64),
}

impl Execution {
    /// Runs the handler. The last report on this execution, or nothing if the task is not ours any more.
    pub(crate) async fn drive(self: &Arc<Self>, handler: Running) -> Option<TaskReport> {
        let mut driver = Driver { execution: self, handler, looks: 0, seen: 0, grace: None };
        let outcome = std::future::poll_fn(|cx| driver.poll(cx)).await;
        let report = self.locked(|state| self.verdict(state, outcome));
        self.end();
        drop(driver);
        // What was written is there before the task is over.
        self.send_log().await;
        if let Some(TaskReport::Pause(_)) = report {
            // A pause carries no entries: what is to be remembered goes before it.
            if let Some(saved) = self.take_unsaved() {
                self.reports.as_ref()?.send(saved).await.inspect(|done| self.heed(done)).ok()?;
            }
        }
        report
    }

    /// Runs the handler against its journal, and does nothing.
    pub(crate) async fn rehearse(self: &Arc<Self>, handler: Running) -> Rehearsed {
        let mut driver = Driver { execution: self, handler, looks: 0, seen: 0, grace: None };
        let outcome = std::future::poll_fn(|cx| driver.poll(cx)).await;
        let failed = self.locked(|state| match (&state.fatal, outcome) {
            (Some(fatal), _) => Some(fatal.clone()),
            (None, Outcome::Returned(Ok(_))) => state.not_at_its_end(),
            (None, Outcome::Returned(Err(error))) => Some(error),
            (None, Outcome::Left | Outcome::Broken) => None,
        });
        self.end();
        failed.map_or(Rehearsed::Fits, Rehearsed::Failed)
    }

    fn verdict(&self, state: &State, outcome: Outcome) -> Option<TaskReport> {
        if state.lost.is_some() {
            return None;
        }
        if let Some(fatal) = &state.fatal {
            return Some(self.failure(fatal.clone()));
        }
        match outcome {
            Outcome::Left => Some(self.suspend(state)),
            Outcome::Returned(Err(error)) => Some(self.failure(error)),
            Outcome::Returned(Ok(output)) => Some(self.completion(state, output)),
            Outcome::Broken => unreachable!("what breaks a handler is fatal, or the task was taken back"),
        }
    }

    fn completion(&self, state: &State, output: Json) -> TaskReport {
        if let Some(failed) = state.not_at_its_end() {
            return self.failure(failed);
        }
        let report = TaskReportComplete::new(&self.task.lease_token).output(output);
        let updates = state.state_updates.clone();
        if updates.is_empty() { report.into() } else { report.state_updates(updates).into() }
    }

    fn failure(&self, error: TaskError) -> TaskReport {
        self.tell(&error);
        let message = if error.message.is_empty() { "it failed".to_owned() } else { error.message };
        let mut report = TaskReportFail::new(&self.task.lease_token, message).retryable(error.retryable);
        report.code = error.code;
        report.detail = error.origin.map(|origin| (*origin).into());
        (report.retry_after_ms, report.retry_after) =
            error.retry_after.map_or((None, None), |after| after.parts());
        report.mismatch = error.mismatch.map(|mismatch| *mismatch);
        report.into()
    }

    /// A failure is told here, too: whoever watches the worker need not look elsewhere.
    fn tell(&self, error: &TaskError) {
        let Task { handler, run_id, attempt, .. } = &self.task;
        let call = error.origin.as_ref().and_then(|origin| origin.call.as_deref());
        let call = call.map(|call| format!(" › {call}")).unwrap_or_default();
        let told = format!("{handler}{call} failed in attempt {attempt} of {run_id}: {}", told(error));
        if tracing::dispatcher::has_been_set() {
            tracing::error!("{told}");
        } else {
            // A program that listens to no events still has a console; whether it can be written to is its own affair.
            let _ = writeln!(std::io::stderr(), "abide: {told}");
        }
    }

    fn suspend(&self, state: &State) -> TaskReport {
        let mut open: Vec<Arc<Opened>> = Vec::new();
        let awaited = state.groups.iter().flat_map(|group| &group.waits);
        // What was begun and is not awaited yet begins now, too: its time counts from here.
        let begun = state.opened.iter().filter(|wait| wait.known.is_none());
        for wait in awaited.chain(begun) {
            if !wait.has_ended() && !open.iter().any(|other| Arc::ptr_eq(other, wait)) {
                open.push(wait.clone());
            }
        }
        let mut waits: Vec<TaskWait> = Vec::new();
        for wait in &open {
            match wait.spec() {
                Spec::Pause(pause) if state.awaits(wait) => return pause.into(),
                Spec::Pause(_) => {}
                Spec::Wait(spec) => waits.push(with_asked(spec)),
            }
        }
        let alone = match &state.groups[..] {
            [group] if open.iter().all(|wait| state.awaits(wait)) => Some(group.wake),
            _ => None,
        };
        let wake = if waits.len() == 1 { Wake::All } else { alone.unwrap_or(Wake::Each) };
        let report = TaskReportSuspend::new(&self.task.lease_token, waits).wake(wake);
        report.entries(state.unsaved.clone()).cancels(state.cancels.clone()).into()
    }
}

impl State {
    /// What stands against the end of the handler, which has returned.
    fn not_at_its_end(&self) -> Option<TaskError> {
        if let Some(abandoned) = &self.abandoned {
            return Some(swallowed(abandoned, "returned"));
        }
        let left = self.unasked.first()?;
        Some(TaskError::code_changed(format!("`{left}`"), "the end of the handler"))
    }

    fn awaits(&self, wait: &Arc<Opened>) -> bool {
        self.groups.iter().flat_map(|group| &group.waits).any(|other| Arc::ptr_eq(other, wait))
    }

    fn progress(&self) -> Progress {
        let idle = self.busy == 0 && !self.groups.is_empty();
        let open = self.groups.iter().flat_map(|group| &group.waits).filter(|wait| !wait.has_ended());
        if !self.unasked.is_empty() && !self.held.is_empty() {
            Progress::Held(quoted(self.held.iter().map(String::as_str)))
        } else if !self.unasked.is_empty() && idle {
            Progress::Held(quoted(open.map(|wait| wait.name.as_str()).take(1)))
        } else if idle {
            Progress::Waiting(self.activity)
        } else {
            Progress::Working
        }
    }
}

struct Driver<'a> {
    execution: &'a Arc<Execution>,
    handler: Running,
    looks: u32,
    seen: u64,
    /// How long another branch may take to come to what the journal holds.
    grace: Option<Pin<Box<Sleep>>>,
}

impl Driver<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        self.execution.driver.register(cx.waker());
        if self.is_broken() {
            return Poll::Ready(Outcome::Broken);
        }
        let handler = &mut self.handler;
        let poll = || self.execution.polled(|| handler.as_mut().poll(cx));
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Ready(result)) => return Poll::Ready(Outcome::Returned(result)),
            Ok(Poll::Pending) => {}
            Err(panic) => return Poll::Ready(Outcome::Returned(Err(TaskError::new(words(&*panic))))),
        }
        if self.is_broken() {
            return Poll::Ready(Outcome::Broken);
        }
        if self.execution.locked(|state| state.passed) {
            return Poll::Ready(Outcome::Left);
        }
        match self.execution.locked(|state| state.progress()) {
            Progress::Working => {
                (self.looks, self.grace) = (0, None);
                Poll::Pending
            }
            Progress::Held(names) => self.hold(&names, cx),
            Progress::Waiting(activity) => self.look_again(activity, cx),
        }
    }

    fn is_broken(&self) -> bool {
        self.execution.locked(|state| state.lost.is_some() || state.fatal.is_some())
    }

    /// Left is a handler only when nothing happens any more while everything that is ready has its turn.
    fn look_again(&mut self, activity: u64, cx: &mut Context<'_>) -> Poll<Outcome> {
        self.grace = None;
        self.looks = if self.seen == activity { self.looks + 1 } else { 1 };
        self.seen = activity;
        if self.looks > LOOKS {
            return Poll::Ready(Outcome::Left);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn hold(&mut self, names: &str, cx: &mut Context<'_>) -> Poll<Outcome> {
        let grace = self.grace.get_or_insert_with(|| Box::pin(sleep(self.execution.grace)));
        if grace.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.execution.locked(|state| {
            let left = state.unasked.first().map_or("", String::as_str);
            state.fatal.get_or_insert(TaskError::code_changed(format!("`{left}`"), names));
        });
        Poll::Ready(Outcome::Broken)
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for reasons of its own");
    format!("the handler panicked: {said}")
}

/// A wait as it is reported: with what it asks for, so that it answers nothing else later.
fn with_asked(wait: TaskWait) -> TaskWait {
    let asked = asked_of(&Spec::Wait(wait.clone()));
    match wait {
        TaskWait::Sleep(wait) => wait.asked(asked).into(),
        TaskWait::Until(wait) => wait.asked(asked).into(),
        TaskWait::Signal(wait) => wait.asked(asked).into(),
        TaskWait::Event(wait) => wait.asked(asked).into(),
        TaskWait::Webhook(wait) => wait.asked(asked).into(),
        TaskWait::Approval(wait) => wait.asked(asked).into(),
        TaskWait::Child(wait) => wait.asked(asked).into(),
        TaskWait::Http(wait) => wait.asked(asked).into(),
        TaskWait::Retry(wait) => wait.asked(asked).into(),
        TaskWait::Capacity(wait) => wait.asked(asked).into(),
        // Its name is all that it asks for.
        TaskWait::Waitpoint(wait) => wait.into(),
    }
}
