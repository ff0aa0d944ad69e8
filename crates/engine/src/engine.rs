//! The engine as its users hold it: a handle that any number of tasks share.

mod open;
mod options;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use abide_calls::vault::Vault;
use abide_core::command::{Command, Reply, SendSignal};
use abide_core::definition::Checked;
use abide_core::definition::document::{Delivery, Workflow};
use abide_core::history::Failure;
use abide_core::id::{At, RunId, WorkspaceId};
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::Actor;
use abide_store::{Held, Owner, Read, Store};
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::clock::{Clock, SettableClock};
use crate::deploy::{self, Deployed};
use crate::ear::Ear;
use crate::error::Error;
use crate::executor::{CallSettings, Executors, Reach, TokenFollower};
use crate::followers::{Changed, Follower, Followers};
use crate::gate::Gate;
use crate::handler::{Handler, TaskResult};
use crate::holds::Holds;
use crate::limits::OpenRuns;
use crate::readers::Readers;
use crate::request::{
    Answer, Asker, Control, Decide, Leased, Notified, Notify, Poll, Query, Request, Start, Stats,
    TaskRequest, Workers,
};
use crate::retention::Sweeper;
use crate::schedules::{Ordered, ScheduleOrder};
use crate::tasks::Handed;
use crate::watch::Watch;
use crate::webhooks::{LinkMaker, Linking};

pub use options::{Options, Queue};

/// How long an overloaded engine asks its callers to wait.
pub(crate) const RETRY_AFTER: Duration = Duration::from_millis(50);

/// A durable workflow engine in this process. Clones share it. Open it inside a tokio runtime.
#[derive(Clone)]
pub struct Engine {
    queue: mpsc::Sender<Request>,
    clock: Arc<dyn Clock>,
    settable: Option<SettableClock>,
    is_shared: bool,
    followers: Followers,
    readers: Arc<Readers>,
    executors: Arc<Executors>,
    vault: Vault,
    paused: bool,
    store_id: Arc<str>,
    sweeper: Arc<Sweeper>,
    open_runs: OpenRuns,
    max_wait: Millis,
    gate: Arc<Gate>,
    holds: Holds,
    linking: Linking,
    watch: Arc<Watch>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Engine")
    }
}

/// A run to start.
#[derive(Clone, Debug, Default)]
pub struct NewRun {
    pub workspace: WorkspaceId,
    pub workflow: String,
    /// The newest if absent.
    pub version: Option<String>,
    pub input: Value,
    pub run_at: Option<Timestamp>,
    pub tags: Vec<String>,
    /// The same key and the same request give the same run.
    pub idempotency_key: Option<String>,
    /// What makes two requests under a key the same; the whole input if absent.
    pub asked: Option<Value>,
    /// On whose behalf; the program itself, if absent.
    pub by: Option<Actor>,
    /// The trace that the run will be in.
    pub traceparent: Option<Traceparent>,
}

/// An event to everyone.
#[derive(Clone, Debug, Default)]
pub struct Notification {
    pub workspace: WorkspaceId,
    pub event_id: String,
    pub data: Value,
    /// Only this run.
    pub run: Option<RunId>,
    pub delivery: Delivery,
    pub idempotency_key: Option<String>,
    pub traceparent: Option<Traceparent>,
    /// Only say whom it would wake.
    pub dry_run: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub status: RunStatus,
    pub output: Option<Json>,
    pub error: Option<Failure>,
}

impl Ended {
    pub(crate) fn of(run: &Run) -> Option<Ended> {
        let ended = Ended { status: run.status, output: run.output.clone(), error: run.error.clone() };
        run.status.has_ended().then_some(ended)
    }
}

/// Where a settable clock stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub now: Timestamp,
    /// What time would bring next.
    pub next_timer: Option<Timestamp>,
    /// Tasks that workers have, or could take.
    pub tasks: usize,
}

/// What a run says to somebody who listens.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A `respond` step, or the reply of a webhook step.
    Response(Json),
    /// It ended, and said nothing before.
    Ended(Ended),
}

/// Hears what a run says next.
#[derive(Debug)]
pub struct Listener(oneshot::Receiver<Said>);

impl Listener {
    pub async fn said(self) -> Result<Said, Error> {
        self.0.await.map_err(|_| Error::Stopped)
    }
}

impl Engine {
    /// Opens the store in a file, and takes up whatever was under way in it.
    pub async fn open(path: impl AsRef<Path>) -> Result<Engine, Error> {
        Engine::options().open(path).await
    }

    /// How to open one that does more than run handlers.
    ///
    /// ```no_run
    /// # async fn open() -> Result<(), Box<dyn std::error::Error>> {
    /// use abide_engine::{Engine, Provider};
    ///
    /// let local = Provider::compatible("http://127.0.0.1:11434/v1", None);
    /// let options = Engine::options().provider("local", local).secret("API_KEY", "from somewhere safe", &["api.example.com"])?;
    /// let engine = options.allow(["127.0.0.1:8080".parse()?]).open("app.db").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn options() -> Options {
        Options::default()
    }

    /// Has a run or a schedule stand still: nothing is decided about it until it is [released](Engine::release). When it
    /// returns, that is on disk. Says whether it was not held before.
    pub async fn hold(&self, owner: Owner, by: &str, reason: &str) -> Result<bool, Error> {
        let (by, reason) = (by.to_owned(), reason.to_owned());
        let held = Box::new(Held { owner, workspace: None, at: self.now(), by, reason });
        self.ask(|answer| Control::Hold { held, answer }).await
    }

    /// Lets it go on from where it is. Says whether it was held. One that is damaged stays held.
    pub async fn release(&self, owner: Owner) -> Result<bool, Error> {
        self.ask(|answer| Control::Unhold { owner, answer }).await
    }

    /// Whether a run or a schedule is held, and why.
    pub fn held(&self, owner: Owner) -> Option<Held> {
        self.holds.get(owner)
    }

    /// How many are.
    pub fn held_count(&self) -> usize {
        self.holds.count()
    }

    /// Why the engine cannot be relied on at the moment: no round ends, or none can be committed. Asks nobody who might be
    /// stuck.
    pub fn trouble(&self) -> Option<String> {
        self.watch.trouble()
    }

    async fn ask<T, R: Into<Request>>(&self, request: impl FnOnce(Answer<T>) -> R) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue.try_send(request(answer).into()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Overloaded { retry_after: RETRY_AFTER },
            mpsc::error::TrySendError::Closed(_) => Error::Stopped,
        })?;
        answered.await.map_err(|_| Error::Stopped)?
    }

    /// The id of the store, which no other has: not even a copy of it.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// Whether it only looks.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether time stands still until somebody moves it.
    pub fn has_test_clock(&self) -> bool {
        self.settable.is_some()
    }

    /// The master key, under which the store's own secrets are sealed.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Asks on behalf of a workspace, which has its share of the queue.
    async fn ask_in<T, R: Into<Request>>(
        &self,
        workspace: WorkspaceId,
        request: impl FnOnce(Answer<T>) -> R,
    ) -> Result<T, Error> {
        let overloaded = || Error::Overloaded { retry_after: RETRY_AFTER };
        let _place = self.gate.enter(workspace).await.ok_or_else(overloaded)?;
        self.ask(request).await
    }

    /// Stores a workflow under its name and version. Once there, it never changes.
    pub async fn deploy(&self, workflow: Workflow) -> Result<Deployed, Error> {
        self.deploy_checked(WorkspaceId::default(), workflow.check_within(self.max_wait)?).await
    }

    /// The longest that a wait may take here.
    pub fn max_wait(&self) -> Millis {
        self.max_wait
    }

    pub async fn deploy_checked(&self, workspace: WorkspaceId, checked: Checked) -> Result<Deployed, Error> {
        let definition = Arc::new(checked.definition);
        if !definition.started_at_once().is_empty() {
            let deployed = Arc::clone(&definition);
            self.read(move |store| Ok(deploy::check_cycle(store, workspace, &deployed))).await??;
        }
        self.ask_in(workspace, |answer| Control::Deploy { workspace, definition, answer }).await
    }

    /// Reads what was committed, beside the writer. Reads of any number are waiting their turn for a few
    /// connections.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.readers.read(None, read).await
    }

    /// Reads for a workspace: the reads of one wait for each other before they wait for those of others.
    pub async fn read_in<T: Send + 'static>(
        &self,
        workspace: WorkspaceId,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.readers.read(Some(workspace), read).await
    }

    /// Reads a row or two that somebody waits for before anything else can be done, such as a key. It never waits for
    /// longer reads.
    pub async fn look_up<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.readers.look_up(read).await
    }

    /// Writes what is not a run's: keys, workspaces, settings. When it returns, it is on disk.
    pub async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&mut dyn Store) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.ask(|answer| {
            Control::Write(Box::new(move |store| drop(answer.send(write(store).map_err(Error::from)))))
        })
        .await
    }

    /// Writes what concerns webhooks. When it returns, it is on disk, and from then on what happens is told
    /// accordingly.
    pub async fn write_webhooks<T: Send + 'static>(
        &self,
        write: impl FnOnce(&mut dyn Store) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let written = self.write(write).await?;
        self.ask(|answer| Control::WebhooksChanged { answer }).await?;
        Ok(written)
    }

    /// Whether a URL could be called, as far as that can be told without looking its host up.
    pub fn check_url(&self, url: &str) -> Result<(), abide_calls::http::Error> {
        self.executors.client().check(url)
    }

    /// Waits until no webhook is to be told anything now. Says when the next attempt is due.
    pub async fn told(&self) -> Result<Option<Timestamp>, Error> {
        self.ask(|answer| Query::WebhooksSettled { answer }).await
    }

    /// Follows the version of a run.
    pub fn follow(&self, run: RunId) -> Follower {
        self.followers.follow(run)
    }

    /// Follows the words that models say to a run. A call that begins while somebody follows is streamed.
    pub fn tokens(&self, run: RunId) -> TokenFollower {
        self.executors.tokens.follow(run)
    }

    /// How many calls of one kind a workspace has under way at most, and those for which it is another number.
    pub fn limit_calls(&self, any: Option<usize>, of: HashMap<WorkspaceId, usize>) {
        self.executors.limit_calls(any, &of);
    }

    /// How many runs that have not ended a workspace may have, and those for which it is another number.
    pub fn limit_open_runs(&self, any: Option<u64>, of: HashMap<WorkspaceId, u64>) {
        self.open_runs.set(any, of);
    }

    pub fn calls(&self) -> &CallSettings {
        self.executors.settings()
    }

    /// Says where, and with which lease tokens, the receivers of tasks can report later.
    pub fn reports_at(
        &self,
        tasks_url: String,
        lease_token: impl Fn(WorkspaceId, RunId, At, u32) -> String + Send + Sync + 'static,
    ) {
        self.executors.set_reach(Reach { tasks_url, lease_token: Box::new(lease_token) });
    }

    /// Says how links are made that go along when webhooks are told of an approval.
    pub fn links_by(&self, maker: LinkMaker) {
        self.linking.set(maker);
    }

    /// Follows every run.
    pub fn feed(&self) -> broadcast::Receiver<Changed> {
        self.followers.feed()
    }

    /// Registers the handler of a task's name.
    pub async fn handler<F, R>(&self, name: &str, function: F) -> Result<(), Error>
    where
        F: Fn(abide_core::task::Task) -> R + Send + Sync + 'static,
        R: Future<Output = TaskResult> + Send + 'static,
    {
        let request = TaskRequest::Register { name: name.into(), handler: Handler::new(function) };
        self.queue.send(request.into()).await.map_err(|_| Error::Stopped)
    }

    /// Starts a run of a workflow's newest version.
    pub async fn start(&self, workflow: &str, input: Value) -> Result<RunId, Error> {
        self.start_run(NewRun { workflow: workflow.to_owned(), input, ..NewRun::default() }).await
    }

    /// Starts a run. When it returns, the run is on disk.
    pub async fn start_run(&self, new: NewRun) -> Result<RunId, Error> {
        let start = Box::new(Start::from(new));
        self.ask_in(start.workspace, |answer| Decide::Start { start, listener: None, answer }).await
    }

    /// Starts a run, and hears what it says first.
    pub async fn start_and_listen(&self, new: NewRun) -> Result<(RunId, Listener), Error> {
        let (listener, heard) = oneshot::channel();
        let (start, listener) = (Box::new(Start::from(new)), Some(Ear::new(listener)));
        let run = self.ask_in(start.workspace, |answer| Decide::Start { start, listener, answer }).await?;
        Ok((run, Listener(heard)))
    }

    /// Asks something of a run.
    pub async fn command(&self, run: RunId, command: Command) -> Result<Reply, Error> {
        self.command_by(run, command, Actor::new("host"), None).await
    }

    /// Asks something of a run on somebody's behalf; with a key, at most once.
    pub async fn command_by(
        &self,
        run: RunId,
        command: Command,
        by: impl Into<Asker>,
        key: Option<String>,
    ) -> Result<Reply, Error> {
        self.commanded(None, run, command, by, key, None).await
    }

    /// The same, of a run in this workspace; one of another is unknown.
    pub async fn command_in(
        &self,
        workspace: WorkspaceId,
        run: RunId,
        command: Command,
        by: impl Into<Asker>,
        key: Option<String>,
    ) -> Result<Reply, Error> {
        self.commanded(Some(workspace), run, command, by, key, None).await
    }

    async fn commanded(
        &self,
        workspace: Option<WorkspaceId>,
        run: RunId,
        command: Command,
        by: impl Into<Asker>,
        key: Option<String>,
        listener: Option<Ear>,
    ) -> Result<Reply, Error> {
        let (command, asker) = (Box::new(command), by.into());
        let request = |answer| Decide::Command { workspace, run, command, asker, key, listener, answer };
        match workspace {
            Some(workspace) => self.ask_in(workspace, request).await,
            None => self.ask(request).await,
        }
    }

    /// Asks something of many runs in this workspace at once. One that is refused hinders no other; the answers are
    /// in the same order.
    pub async fn commands_in(
        &self,
        workspace: WorkspaceId,
        commands: Vec<(RunId, Command)>,
        by: Actor,
    ) -> Result<Vec<Result<Reply, Error>>, Error> {
        self.ask_in(workspace, |answer| Decide::Commands { workspace, commands, by, answer }).await
    }

    /// Asks something of a run, and hears what it says next.
    pub async fn command_and_listen(
        &self,
        run: RunId,
        command: Command,
        by: impl Into<Asker>,
        key: Option<String>,
    ) -> Result<(Reply, Listener), Error> {
        let (listener, heard) = oneshot::channel();
        let reply = self.commanded(None, run, command, by, key, Some(Ear::new(listener))).await?;
        Ok((reply, Listener(heard)))
    }

    /// The same, of a run in this workspace.
    pub async fn command_and_listen_in(
        &self,
        workspace: WorkspaceId,
        run: RunId,
        command: Command,
        by: impl Into<Asker>,
        key: Option<String>,
    ) -> Result<(Reply, Listener), Error> {
        let (listener, heard) = oneshot::channel();
        let reply = self.commanded(Some(workspace), run, command, by, key, Some(Ear::new(listener))).await?;
        Ok((reply, Listener(heard)))
    }

    /// Sends a signal to a run, whether it waits for it already or not.
    pub async fn signal(&self, run: RunId, signal_type: &str, payload: Value) -> Result<Reply, Error> {
        let signal = SendSignal { signal_type: signal_type.into(), payload: payload.into() };
        self.command(run, Command::SendSignal(signal)).await
    }

    /// Makes a schedule, or asks something of one.
    pub async fn schedule(
        &self,
        workspace: WorkspaceId,
        order: ScheduleOrder,
        by: Actor,
        key: Option<String>,
    ) -> Result<Ordered, Error> {
        let order = Box::new(order);
        let request = |answer| Decide::Schedule { workspace, order, by, key, checked: None, answer };
        let done = self.ask_in(workspace, request);
        done.await.map(|ordered| *ordered)
    }

    /// Sends an event to everyone who waits for it, or will.
    pub async fn notify(&self, notification: Notification) -> Result<Notified, Error> {
        let notify = Box::new(Notify {
            workspace: notification.workspace,
            event_id: notification.event_id.into(),
            data: notification.data.into(),
            only: notification.run,
            delivery: notification.delivery,
            key: notification.idempotency_key,
            traceparent: notification.traceparent,
            dry_run: notification.dry_run,
        });
        self.ask_in(notify.workspace, |answer| Decide::Notify { notify, answer }).await
    }

    /// The run as it is now.
    pub async fn get(&self, run: RunId) -> Result<Run, Error> {
        self.ask(|answer| Query::Get { run, answer }).await.map(|run| *run)
    }

    /// The run as it is now, if it is in this workspace.
    pub async fn get_in(&self, workspace: WorkspaceId, run: RunId) -> Result<Run, Error> {
        match self.get(run).await {
            Ok(found) if found.workspace == workspace => Ok(found),
            Ok(_) => Err(Error::UnknownRun(run)),
            Err(error) if error.passes() => Err(error),
            // What is wrong with a run is for its own workspace to know.
            Err(error) => match self.read(move |store| store.workspace_of(run)).await {
                Ok(Some(found)) if found == workspace => Err(error),
                Ok(_) | Err(_) => Err(Error::UnknownRun(run)),
            },
        }
    }

    /// Waits for a run to end.
    pub async fn wait(&self, run: RunId) -> Result<Ended, Error> {
        self.ask(|answer| Query::Watch { run, answer }).await
    }

    /// Asks for tasks of these handlers, as a worker; waits for them as long as it is not dropped.
    pub async fn poll(
        &self,
        worker: &str,
        handlers: &[&str],
        most: usize,
        lease: Duration,
    ) -> Result<Vec<Leased>, Error> {
        let handlers = handlers.iter().map(|name| Arc::from(*name)).collect();
        self.poll_in(WorkspaceId::default(), (worker, ""), handlers, most, lease).await
    }

    /// Asks for tasks in a workspace, as a worker that says which code it has: its build id, empty if it does not say.
    pub async fn poll_in(
        &self,
        workspace: WorkspaceId,
        (worker, build): (&str, &str),
        handlers: Vec<Arc<str>>,
        most: usize,
        lease: Duration,
    ) -> Result<Vec<Leased>, Error> {
        let poll = Poll { waits: true, ..Poll::new(workspace, (worker, build), handlers, most, lease) };
        self.ask(|answer| TaskRequest::Poll { poll, answer }).await.map(Handed::take)
    }

    /// The same, of what is ready now: it does not wait.
    pub async fn claim_in(
        &self,
        workspace: WorkspaceId,
        (worker, build): (&str, &str),
        handlers: Vec<Arc<str>>,
        most: usize,
        lease: Duration,
    ) -> Result<Vec<Leased>, Error> {
        let poll = Poll::new(workspace, (worker, build), handlers, most, lease);
        self.ask(|answer| TaskRequest::Poll { poll, answer }).await.map(Handed::take)
    }

    /// Workers that polled lately, and which handlers are known.
    pub async fn workers(&self) -> Result<Workers, Error> {
        self.ask(|answer| Query::Workers { answer }).await
    }

    pub async fn stats(&self) -> Result<Stats, Error> {
        self.ask(|answer| Query::Stats { answer }).await
    }

    /// Whether others may work on the same store.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Waits until all that can be done now is done: only time, a worker or somebody outside can bring more. Says
    /// when the next timer is due.
    pub async fn settled(&self) -> Result<Option<Timestamp>, Error> {
        self.ask(|answer| Query::Settled { answer }).await
    }

    /// With a settable clock: lets time pass until the run has ended or nothing is left that time could end. All
    /// that is due on the way happens in its order, without anyone waiting for it.
    pub async fn skip_waits(&self, run: RunId) -> Result<Option<Ended>, Error> {
        let Some(clock) = &self.settable else { return self.wait(run).await.map(Some) };
        loop {
            let next = self.settled().await?;
            if let Some(ended) = Ended::of(&self.get(run).await?) {
                return Ok(Some(ended));
            }
            let Some(next) = next else { return Ok(None) };
            clock.set(next.max(clock.now()));
            self.queue.send(Control::Tick.into()).await.map_err(|_| Error::Stopped)?;
        }
    }

    /// With a settable clock: moves it to an instant, or to the next timer if that is due before; without an instant,
    /// to the next timer. It never goes back. Says where it stands once all that can be done then is done; nothing if
    /// the clock is the machine's.
    pub async fn move_clock(&self, to: Option<Timestamp>) -> Result<Option<Standing>, Error> {
        let Some(clock) = &self.settable else { return Ok(None) };
        let next = self.settled().await?;
        let target = next.into_iter().chain(to).min().unwrap_or_else(|| clock.now());
        clock.set(target.max(clock.now()));
        self.queue.send(Control::Tick.into()).await.map_err(|_| Error::Stopped)?;
        self.standing().await
    }

    /// With a settable clock: where it stands.
    pub async fn standing(&self) -> Result<Option<Standing>, Error> {
        let Some(clock) = &self.settable else { return Ok(None) };
        self.settled().await?;
        let stats = self.stats().await?;
        let tasks = stats.tasks_ready + stats.tasks_out;
        // Asked for after the tasks: of one that was reported on in between, the timers are there.
        let next_timer = self.settled().await?;
        Ok(Some(Standing { now: clock.now(), next_timer, tasks }))
    }

    /// Forgets all that may be forgotten now. An engine does this by itself, a little at a time.
    pub async fn sweep(&self) -> Result<(), Error> {
        while self.sweeper.sweep().await? {}
        Ok(())
    }

    /// Finishes what is in the queue and closes the store. Handlers at work are stopped; their tasks are handed out
    /// again by the next engine.
    pub async fn shut_down(self) -> Result<(), Error> {
        // The last connection to close should be the one that can tidy up.
        self.readers.close().await;
        let (answer, stopped) = oneshot::channel();
        self.queue.send(Control::Stop { answer }.into()).await.map_err(|_| Error::Stopped)?;
        stopped.await.map_err(|_| Error::Stopped)?;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It has answered: what is left of it is its return.
            drop(thread.join());
        }
        Ok(())
    }
}

impl From<NewRun> for Start {
    fn from(new: NewRun) -> Start {
        Start {
            workspace: new.workspace,
            name: new.workflow,
            version: new.version,
            input: new.input.into(),
            run_at: new.run_at,
            tags: new.tags.into_iter().map(Into::into).collect(),
            key: new.idempotency_key,
            asked: new.asked.map(Json::from),
            by: new.by.unwrap_or_else(|| Actor::new("host")),
            traceparent: new.traceparent,
            checked: None,
        }
    }
}
