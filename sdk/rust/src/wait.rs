//! Something that a handler waits for. Awaiting it is what makes the handler wait; until then it is only begun.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use serde::de::DeserializeOwned;

use crate::asked;
use crate::branch::Branch;
use crate::execution::{Execution, Group};
use crate::failure::{Result, TaskError};
use crate::length::Length;
use crate::wire::{
    JournalWait, Json, TaskReportPause, TaskWait, TaskWaitApproval, TaskWaitEvent, WaitpointStatus, Wake,
};

/// What is waited for, as the server is told.
#[derive(Debug, Clone)]
pub(crate) enum Spec {
    Wait(TaskWait),
    Pause(TaskReportPause),
}

/// A wait of this execution, and what the journal knows of it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) known: Option<JournalWait>,
    /// The branch that waits for it has lost an `any` meanwhile: it does not return.
    given_up: bool,
    spec: Mutex<Spec>,
}

impl Opened {
    pub(crate) fn new(name: String, known: Option<JournalWait>, given_up: bool, spec: Spec) -> Opened {
        Opened { name, known, given_up, spec: Mutex::new(spec) }
    }

    pub(crate) fn spec(&self) -> Spec {
        self.spec.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What stands against the journal's wait of this name being the one that the code asks for.
    pub(crate) fn mismatch(&self) -> Option<TaskError> {
        asked::mismatch(&self.name, self.known.as_ref()?, &self.spec())
    }

    fn change(&self, change: impl FnOnce(&mut Spec)) {
        change(&mut self.spec.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.status != WaitpointStatus::Pending && !self.given_up)
    }

    pub(crate) fn was_cancelled(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.status == WaitpointStatus::Cancelled && !self.given_up)
    }

    /// Whether what was waited for came, or its time was over.
    pub(crate) fn has_happened(&self) -> bool {
        self.has_ended() && !self.was_cancelled()
    }

    /// What came; nothing if its time was over.
    pub(crate) fn payload(&self) -> Result<Option<&Json>> {
        match &self.known {
            Some(known) if known.status == WaitpointStatus::Completed => Ok(Some(&known.payload)),
            Some(known) if known.status == WaitpointStatus::TimedOut => Ok(None),
            _ => Err(TaskError::wait_cancelled(&self.name)),
        }
    }
}

type Read<T> = Box<dyn FnOnce(&Opened) -> Result<T> + Send>;

/// A wait, and what it comes to. `K` says what else may be told of it before it is awaited.
#[must_use = "a wait that is not held is not waited for"]
pub struct Wait<T, K = ()> {
    state: Result<Begun<T>>,
    kind: PhantomData<fn() -> K>,
}

struct Begun<T> {
    opened: Open,
    group: Group,
    read: Option<Read<T>>,
}

impl<T> Begun<T> {
    fn value(&mut self) -> Result<T> {
        let read = self.read.take().expect("a wait comes to something once");
        read(&self.opened.wait).inspect_err(|_| self.opened.execution.note_branch_failure())
    }
}

/// What was begun and is held, so that it may be awaited later.
pub(crate) struct Open {
    execution: Arc<Execution>,
    pub(crate) wait: Arc<Opened>,
}

impl Open {
    pub(crate) fn new(execution: &Arc<Execution>, wait: Arc<Opened>) -> Open {
        Open { execution: execution.clone(), wait }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.execution.close(&self.wait);
    }
}

/// A wait that has no limit of time, unless it is given one.
#[derive(Debug)]
pub enum Unlimited {}
/// A wait for an event.
#[derive(Debug)]
pub enum ForEvent {}
/// A wait for people.
#[derive(Debug)]
pub enum ForApproval {}
/// A wait for a run.
#[derive(Debug)]
pub enum ForChild {}
/// A wait for a call that the engine makes.
#[derive(Debug)]
pub enum ForHttp {}
/// A pause.
#[derive(Debug)]
pub enum ForPause {}

/// Waits that may have a limit of time.
pub trait TimesOut {}
impl TimesOut for Unlimited {}
impl TimesOut for ForEvent {}
impl TimesOut for ForApproval {}

impl<T, K> Wait<T, K> {
    pub(crate) fn begin(
        execution: &Arc<Execution>,
        name: String,
        spec: Spec,
        read: impl FnOnce(&Opened) -> Result<T> + Send + 'static,
    ) -> Wait<T, K> {
        let state = execution.open(name, spec).map(|wait| Begun {
            group: Group::new(execution.clone(), vec![wait.clone()], Wake::All),
            opened: Open::new(execution, wait),
            read: Some(Box::new(read)),
        });
        Wait { state, kind: PhantomData }
    }

    /// A wait that cannot be begun.
    pub(crate) fn failed(error: TaskError) -> Wait<T, K> {
        Wait { state: Err(error), kind: PhantomData }
    }

    /// Makes something else of what it comes to: waits of one type can stand together in an `any`.
    pub fn map<U, F>(self, make: F) -> Wait<U>
    where
        T: 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        let state = self.state.map(|Begun { opened, group, read }| Begun {
            opened,
            group,
            read: read.map(|read| -> Read<U> { Box::new(move |opened| read(opened).map(make)) }),
        });
        Wait { state, kind: PhantomData }
    }

    /// Without what else may be told of it.
    pub(crate) fn plain(self) -> Wait<T> {
        Wait { state: self.state, kind: PhantomData }
    }

    /// Waits and branches in one list must be of one type: this makes a branch of a wait.
    pub fn into_branch<'a>(self) -> Branch<'a, T> {
        Branch::of_wait(self.plain())
    }

    pub(crate) fn tell(self, change: impl FnOnce(&mut Spec)) -> Self {
        if let Ok(begun) = &self.state {
            begun.opened.wait.change(change);
        }
        self
    }

    pub(crate) fn opened(&self) -> Result<Arc<Opened>> {
        self.state.as_ref().map(|begun| begun.opened.wait.clone()).map_err(TaskError::clone)
    }

    /// What it came to.
    pub(crate) fn value(self) -> Result<T> {
        self.state.and_then(|mut begun| begun.value())
    }
}

impl<T, K: TimesOut> Wait<T, K> {
    /// How long the wait may take; no limit if absent.
    pub fn timeout(self, timeout: impl Into<Length>) -> Self {
        let (ms, text) = timeout.into().parts();
        self.tell(|spec| match spec {
            Spec::Wait(TaskWait::Signal(wait)) => (wait.timeout_ms, wait.timeout) = (ms, text),
            Spec::Wait(TaskWait::Event(wait)) => (wait.timeout_ms, wait.timeout) = (ms, text),
            Spec::Wait(TaskWait::Webhook(wait)) => (wait.timeout_ms, wait.timeout) = (ms, text),
            Spec::Wait(TaskWait::Approval(wait)) => (wait.timeout_ms, wait.timeout) = (ms, text),
            Spec::Wait(
                TaskWait::Sleep(_)
                | TaskWait::Until(_)
                | TaskWait::Waitpoint(_)
                | TaskWait::Child(_)
                | TaskWait::Http(_)
                | TaskWait::Retry(_)
                | TaskWait::Capacity(_),
            )
            | Spec::Pause(_) => {}
        })
    }
}

impl<T> Wait<T, ForEvent> {
    fn event(self, change: impl FnOnce(TaskWaitEvent) -> TaskWaitEvent) -> Self {
        self.tell(|spec| {
            if let Spec::Wait(TaskWait::Event(wait)) = spec {
                *wait = change(wait.clone());
            }
        })
    }

    /// An expression that the event must satisfy: `event.order == input.id`.
    pub fn matching(self, expression: impl Into<String>) -> Self {
        self.event(|wait| wait.matching(expression))
    }

    /// What a field of the event must be, by its path: `where_is("order.id", id)`. A value of the code goes here, not into
    /// [`matching`](Wait::matching).
    pub fn where_is(self, path: impl Into<String>, value: impl Into<Json>) -> Self {
        self.event(|mut wait| {
            wait.fields.get_or_insert_default().insert(path.into(), value.into());
            wait
        })
    }

    /// How far back to look for events; to the run's creation if absent.
    pub fn lookback(self, lookback: impl Into<Length>) -> Self {
        self.event(|wait| wait.lookback(lookback))
    }
}

impl<T> Wait<T, ForApproval> {
    fn approval(self, change: impl FnOnce(TaskWaitApproval) -> TaskWaitApproval) -> Self {
        self.tell(|spec| {
            if let Spec::Wait(TaskWait::Approval(wait)) = spec {
                *wait = change(wait.clone());
            }
        })
    }

    /// What people are asked.
    pub fn prompt(self, prompt: impl Into<String>) -> Self {
        self.approval(|wait| wait.prompt(prompt))
    }

    /// What is to be approved.
    pub fn content(self, content: impl Into<Json>) -> Self {
        self.approval(|wait| wait.content(content))
    }

    /// A JSON Schema that edited content must satisfy; the page behind a link makes a form of it.
    pub fn content_schema(self, schema: impl Into<Json>) -> Self {
        self.approval(|wait| wait.content_schema(schema))
    }

    /// Who may decide; every key with the scope `approve`, and whoever has a link, if absent.
    pub fn approvers(self, approvers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.approval(|wait| wait.approvers(approvers))
    }

    /// Approvals that are needed; 1 if absent.
    pub fn quorum(self, quorum: u32) -> Self {
        self.approval(|wait| wait.quorum(quorum))
    }
}

impl<T> Wait<T, ForChild> {
    /// The version of the workflow; the newest if absent.
    pub fn version(self, version: impl Into<String>) -> Self {
        self.tell(|spec| {
            if let Spec::Wait(TaskWait::Child(wait)) = spec {
                wait.version = Some(version.into());
            }
        })
    }
}

impl<T> Wait<T, ForPause> {
    /// Leaves a value for the next execution: see [`Context::last_checkpoint`](crate::Context::last_checkpoint).
    pub fn checkpoint(self, value: impl Into<Json>) -> Self {
        self.tell(|spec| {
            if let Spec::Pause(pause) = spec {
                pause.checkpoint = Some(value.into());
            }
        })
    }
}

impl<T, K> Future for Wait<T, K> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let begun = match &mut self.get_mut().state {
            Ok(begun) => begun,
            Err(error) => return Poll::Ready(Err(error.clone())),
        };
        ready!(begun.group.poll(cx))?;
        Poll::Ready(begun.value())
    }
}

impl<T, K> fmt::Debug for Wait<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.state.as_ref().map_or("", |begun| &begun.opened.wait.name);
        f.debug_struct("Wait").field("name", &name).finish_non_exhaustive()
    }
}

/// Nothing comes of it but that it is over.
pub(crate) fn nothing(opened: &Opened) -> Result<()> {
    opened.payload().map(drop)
}

/// What came, if it came in time.
pub(crate) fn given<T: DeserializeOwned>(opened: &Opened) -> Result<Option<T>> {
    let what = || format!("what came for `{}`", opened.name);
    let read = |payload: &Json| serde_json::from_value(payload.clone());
    opened.payload()?.map(read).transpose().map_err(|error| TaskError::unexpected(&what(), &error))
}
