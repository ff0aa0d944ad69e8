//! What a handler is given: the task, and durable calls whose results outlive the worker.

mod approvals;
mod branches;
mod children;
mod http;
mod log;

use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::call::{Limit, RunOptions};
use crate::client::Client;
use crate::execution::{Call, Execution};
use crate::failure::{Result, TaskError};
use crate::length::{Length, random_hex};
use crate::middleware::Stack;
use crate::wait::{ForApproval, ForEvent, ForPause, Opened, Spec, Unlimited, Wait, given, nothing};
use crate::wire::{
    CreateWaitpoint, EventSent, Json, Object, SendEvent, Task, TaskReportHeartbeat, TaskReportPause,
    TaskWait, TaskWaitApproval, TaskWaitEvent, TaskWaitSignal, TaskWaitSleep, TaskWaitUntil, TaskWaitWebhook,
    Vote,
};

pub use approvals::{NewApproval, RequestedApproval};
pub use http::HttpResponse;

/// The digits of ids: base32 without `i`, `l`, `o` and `u`.
const DIGITS: &str = "0123456789abcdefghjkmnpqrstvwxyz";

/// One execution of a task. A clone is the same.
#[derive(Debug, Clone)]
pub struct Context {
    execution: Arc<Execution>,
    client: Client,
    traceparent: Arc<str>,
    middleware: Stack,
}

/// A waitpoint with a URL that ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waitpoint {
    /// As it was made.
    pub name: String,
    /// The waitpoint's public id.
    pub id: String,
    /// To be given away. Whoever calls it ends the wait.
    pub resume_url: String,
}

/// A call on a resume URL.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeCall<T = Json> {
    /// What was sent.
    pub body: T,
    /// Without those that are secret.
    #[serde(default)]
    pub headers: Object,
    /// Without the token.
    #[serde(default)]
    pub query_params: Object,
}

/// What people decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Yes.
    Approve,
    /// No.
    Reject,
    /// Yes, to something else.
    Edit,
    /// Nobody decided in time.
    Timeout,
}

/// What was decided, on what, and by whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    /// What came of it.
    pub decision: Verdict,
    /// True for `Approve`, and for `Edit`, which approves what it makes.
    pub approved: bool,
    /// What was approved: as it was asked, or as it was edited.
    pub content: Json,
    /// Who said what.
    pub votes: Vec<Vote>,
}

/// The first of several waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct First<T> {
    /// Which, by its place.
    pub index: usize,
    /// Which, by its name.
    pub name: String,
    /// What it came to.
    pub value: T,
}

impl Context {
    pub(crate) fn new(execution: Arc<Execution>, client: &Client, middleware: Stack) -> Context {
        let task = &execution.task;
        let traceparent: Arc<str> = task.traceparent.clone().unwrap_or_else(|| trace_of(&task.run_id)).into();
        Context { client: client.traced(traceparent.clone()), traceparent, execution, middleware }
    }

    pub(crate) fn middleware(&self) -> &Stack {
        &self.middleware
    }

    /// The task, as it was handed out.
    pub fn task(&self) -> &Task {
        &self.execution.task
    }

    /// The run that it belongs to.
    pub fn run_id(&self) -> &str {
        &self.task().run_id
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.task().attempt
    }

    /// The run's `state` when the task was handed out.
    pub fn state(&self) -> &Json {
        &self.task().state
    }

    /// What the step says about how to work.
    pub fn config(&self) -> &Json {
        &self.task().config
    }

    /// What `checkpoint` or `pause` left before, or null.
    pub fn last_checkpoint(&self) -> &Json {
        &self.task().checkpoint
    }

    /// Whether the handler is re-executed: an earlier execution has recorded something.
    pub fn replaying(&self) -> bool {
        !self.task().journal.is_empty()
    }

    /// A client of the worker's server, within the trace of this task.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The trace that the run was started in, or one of its own: the same for every task of a run, for calls to others.
    pub fn traceparent(&self) -> &str {
        &self.traceparent
    }

    /// Returns when nothing that is done for the task counts any more: its run was cancelled, the lease lost, or the handler
    /// left. The handler itself is dropped then; this is for what it has set going elsewhere.
    pub async fn cancelled(&self) {
        // An execution that is gone is over, too.
        let _ = self.execution.over().wait_for(|over| *over).await;
    }

    /// Does something and records its result: another execution of the task gets the result without doing it again. It is
    /// done *at least once* until the result is recorded, and never after: a worker may die in between. Pass
    /// [`Context::idempotency_key`] on to services that take one.
    pub async fn run<T, F, Fut>(&self, name: impl Into<String>, work: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce() -> Fut + Send,
        Fut: Future<Output = Result<T>> + Send,
    {
        self.run_with(name, RunOptions::new(), work).await
    }

    /// Runs a durable call with attempts and a time of its own. Between two attempts the handler is suspended, and holds no worker.
    pub async fn run_with<T, F, Fut>(
        &self,
        name: impl Into<String>,
        options: RunOptions,
        work: F,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce() -> Fut + Send,
        Fut: Future<Output = Result<T>> + Send,
    {
        self.execution.run_once(self, &name.into(), &options, work).await
    }

    /// Does several things, durable calls and waits among them, while it has room under a limit. The room is asked for before,
    /// kept while the body waits, and given back when the body is done or has failed.
    pub async fn with_limit<T>(
        &self,
        limit: Limit,
        name: impl Into<String>,
        body: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.execution.with_room(&limit, &name.into(), body).await
    }

    /// What other services may know a call of this handler by: the same at every attempt, every replay and every worker.
    pub fn idempotency_key(&self, name: &str) -> String {
        self.execution.idempotency_key(name)
    }

    /// Whether a planned change of this handler's code is in effect: true for runs that had not come this far when it was
    /// deployed, false for those that had, at every replay. Both ways stay in the code until the old runs have ended.
    pub fn patched(&self, id: &str) -> bool {
        self.execution.patched(id)
    }

    /// Sleeps. The worker is free meanwhile.
    pub fn sleep(&self, name: impl Into<String>, duration: impl Into<Length>) -> Wait<()> {
        let name = name.into();
        let spec = TaskWaitSleep::new(&name).duration(duration);
        self.wait(name, spec, nothing)
    }

    /// Sleeps until an instant.
    pub fn sleep_until(&self, name: impl Into<String>, at: Timestamp) -> Wait<()> {
        let name = name.into();
        let spec = TaskWaitUntil::new(&name, at);
        self.wait(name, spec, nothing)
    }

    /// Waits for an event to everyone. Its data, or nothing when the time is over.
    pub fn wait_for_event<T>(
        &self,
        name: impl Into<String>,
        event_id: impl Into<String>,
    ) -> Wait<Option<T>, ForEvent>
    where
        T: DeserializeOwned + 'static,
    {
        let name = name.into();
        let spec = TaskWaitEvent::new(&name, event_id);
        self.wait(name, spec, given)
    }

    /// Waits for a signal to this run. Its payload, or nothing when the time is over.
    pub fn wait_for_signal<T>(
        &self,
        name: impl Into<String>,
        signal_type: impl Into<String>,
    ) -> Wait<Option<T>, Unlimited>
    where
        T: DeserializeOwned + 'static,
    {
        let name = name.into();
        let spec = TaskWaitSignal::new(&name, signal_type);
        self.wait(name, spec, given)
    }

    /// A waitpoint with a URL, to be given away before it is waited for. The same name gives the same one.
    pub fn create_waitpoint(&self, name: impl Into<String>) -> NewWaitpoint<'_> {
        let asked = CreateWaitpoint::new(&self.task().lease_token, name);
        NewWaitpoint { context: self, asked }
    }

    /// Waits for a call on the URL of a waitpoint. The call, or nothing when the time is over.
    pub fn wait_for_waitpoint<T>(&self, waitpoint: &Waitpoint) -> Wait<Option<ResumeCall<T>>, Unlimited>
    where
        T: DeserializeOwned + 'static,
    {
        self.wait(waitpoint.name.clone(), TaskWaitWebhook::new(&waitpoint.name), given)
    }

    /// Asks people.
    pub fn approve(&self, name: impl Into<String>) -> Wait<Approval, ForApproval> {
        let name = name.into();
        let spec = TaskWaitApproval::new(&name);
        self.wait(name, spec, decided)
    }

    /// Lets go for a while. The step stays RUNNING, and no attempt is used up. A loop may use one name: each turn of it pauses.
    pub fn pause(&self, name: impl Into<String>, duration: impl Into<Length>) -> Wait<(), ForPause> {
        let name = self.execution.pause_name(name.into());
        let pause = TaskReportPause::new(&self.task().lease_token, &name).duration(duration);
        Wait::begin(&self.execution, name, Spec::Pause(pause), nothing)
    }

    /// Sends an event to everyone, once.
    pub async fn notify(
        &self,
        name: impl Into<String>,
        event_id: &str,
        data: impl Serialize,
    ) -> Result<EventSent> {
        let name = name.into();
        let data = serde_json::to_value(data).map_err(|error| TaskError::not_json(&name, &error))?;
        let client = self.client.keyed(self.idempotency_key(&name));
        let event = SendEvent::new(event_id).event_data(data).lease_token(&self.task().lease_token);
        self.run(name, || async { Ok(client.events().send(&event).await?) }).await
    }

    /// Leaves a value for the next execution, should there be one: see [`Context::last_checkpoint`].
    pub async fn checkpoint(&self, value: impl Serialize) -> Result<()> {
        let value = serde_json::to_value(value).map_err(|error| TaskError::not_json("checkpoint", &error))?;
        let report = TaskReportHeartbeat::new(&self.task().lease_token).checkpoint(value);
        self.execution.record(report).await
    }

    /// Merged into the run's `state` when the task completes.
    pub fn set_state(&self, key: impl Into<String>, value: impl Into<Json>) {
        self.execution.update_state(Object::from_iter([(key.into(), value.into())]));
    }

    fn wait<T, K>(
        &self,
        name: String,
        spec: impl Into<TaskWait>,
        read: impl FnOnce(&Opened) -> Result<T> + Send + 'static,
    ) -> Wait<T, K> {
        Wait::begin(&self.execution, name, Spec::Wait(spec.into()), read)
    }
}

/// A waitpoint that is made when it is awaited.
#[derive(Debug, Clone)]
#[must_use = "it is made when it is awaited"]
pub struct NewWaitpoint<'a> {
    context: &'a Context,
    asked: CreateWaitpoint,
}

impl<'a> NewWaitpoint<'a> {
    /// How long the wait may take; no limit if absent.
    pub fn timeout(mut self, timeout: impl Into<Length>) -> NewWaitpoint<'a> {
        self.asked = self.asked.timeout(timeout);
        self
    }

    /// Lets a plain GET resume it. Link scanners open every link.
    pub fn allow_get(mut self) -> NewWaitpoint<'a> {
        self.asked = self.asked.allow_get(true);
        self
    }

    async fn make(self) -> Result<Waitpoint> {
        let NewWaitpoint { context, asked } = self;
        let name = asked.name.clone();
        let known = context.execution.ask(&name, Call::Waitpoint)?;
        let spec = Spec::Wait(TaskWaitWebhook::new(&name).into());
        context.execution.check_same(&name, known.as_ref(), &spec)?;
        let recorded = known.as_ref().and_then(|entry| entry.wait.as_ref());
        if let Some(wait) = recorded.filter(|_| context.execution.is_rehearsal()) {
            return Ok(Waitpoint { name, id: wait.waitpoint_id.clone(), resume_url: String::new() });
        }
        let make = async {
            let made = context.client.waitpoints().create(&asked).await?;
            let resume_url = made.resume_url.unwrap_or_default();
            Ok(Waitpoint { name: name.clone(), id: made.id, resume_url })
        };
        if known.is_some() { make.await } else { context.execution.act(&name, make).await }
    }
}

impl<'a> IntoFuture for NewWaitpoint<'a> {
    type Output = Result<Waitpoint>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Waitpoint>> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

fn decided(opened: &Opened) -> Result<Approval> {
    #[derive(Deserialize)]
    struct Payload {
        decision: Option<Verdict>,
        content: Option<Json>,
        #[serde(default)]
        votes: Vec<Vote>,
    }
    let asked = || match opened.spec() {
        Spec::Wait(TaskWait::Approval(wait)) => wait.content.unwrap_or_default(),
        Spec::Wait(_) | Spec::Pause(_) => Json::Null,
    };
    let Some(payload) = given::<Option<Payload>>(opened)? else {
        return Ok(Approval {
            decision: Verdict::Timeout,
            approved: false,
            content: asked(),
            votes: Vec::new(),
        });
    };
    // What is absent never means yes.
    let Some(Payload { decision: Some(decision), content, votes }) = payload else {
        let name = &opened.name;
        let recorded = format!("`{name}` without a decision");
        return Err(TaskError::code_changed(recorded, format!("`{name}` as an approval")));
    };
    let approved = matches!(decision, Verdict::Approve | Verdict::Edit);
    Ok(Approval { decision, approved, content: content.unwrap_or_else(asked), votes })
}

/// A run that was started outside of any trace is one of its own, whose id is the run's.
fn trace_of(run_id: &str) -> String {
    let digits = run_id.trim_start_matches("run_").chars();
    let number = digits.fold(0u128, |sum, digit| {
        sum.wrapping_mul(32).wrapping_add(DIGITS.find(digit).unwrap_or_default() as u128)
    });
    format!("00-{number:032x}-{}-01", random_hex::<8>())
}
