//! What the writer is asked, and where it answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use abide_core::command::{Command, Reply};
use abide_core::definition::Definition;
use abide_core::id::{EventUid, RunId, StepAddress, WaitpointId, WorkspaceId};
use abide_core::queue::queues_for;
use abide_core::run::Run;
use abide_core::task::Task;
use abide_core::time::Millis;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::Actor;
use abide_store::cluster::{ClusterNotification, NodeId};
use abide_store::{Held, Owner};
use jiff::Timestamp;
use tokio::sync::oneshot;

use crate::committer::Write;
use crate::counts::Counts;
use crate::deploy::Deployed;
use crate::engine::Ended;
use crate::error::Error;
use crate::handler::Handler;
use crate::histogram::Histogram;
use crate::reply_listener::ReplyListener;
use crate::schedules::{Ordered, ScheduleOrder};
use crate::send_event::SendEvent;
use crate::start::StartRun;
use crate::tasks::{Handed, Queue, ReadyTask};

/// Where a request is answered.
pub type Answer<T> = oneshot::Sender<Result<T, Error>>;

/// What the writer is asked.
pub enum Request {
    Decide(Decide),
    Task(TaskRequest),
    Query(Query),
    Control(Control),
}

/// Something is to be decided about runs. It is answered when the decision is committed.
pub enum Decide {
    /// Start a run.
    Start { start: Box<StartRun>, listener: Option<ReplyListener>, answer: Answer<RunId> },
    /// Decide a command about a run.
    Command {
        /// The workspace that the run must be in.
        workspace: Option<WorkspaceId>,
        run: RunId,
        command: Box<Command>,
        asker: Asker,
        key: Option<String>,
        listener: Option<ReplyListener>,
        answer: Answer<Reply>,
    },
    /// Decide many commands in one round, each by itself.
    Commands {
        workspace: WorkspaceId,
        commands: Vec<(RunId, Command)>,
        by: Actor,
        answer: Answer<Vec<Result<Reply, Error>>>,
    },
    /// Make a schedule, or change one.
    Schedule {
        workspace: WorkspaceId,
        order: Box<ScheduleOrder>,
        by: Actor,
        key: Option<String>,
        /// The definition that the plan's input was checked against, beside the writer.
        checked: Option<Arc<Definition>>,
        answer: Answer<Box<Ordered>>,
    },
    /// Send an event to everyone who waits for it, or will.
    SendEvent { notify: Box<SendEvent>, answer: Answer<EventSent> },
}

/// What workers, and handlers in this process, ask for.
pub enum TaskRequest {
    /// A worker asks for tasks.
    Poll { poll: Poll, answer: Answer<Handed> },
    /// Whoever was called by the engine keeps the task, and reports later.
    Accept { accept: Accept, answer: Answer<Reply> },
    /// Tasks that a poller was given after it had gone are free again.
    Release { tasks: Vec<ReadyTask> },
    /// From here on tasks of this name are performed in this process.
    Register { name: Arc<str>, handler: Handler },
}

/// A task that stays with whoever was called.
#[derive(Clone, Copy, Debug)]
pub struct Accept {
    pub task: ReadyTask,
    pub workspace: WorkspaceId,
    /// The name under which the history knows whoever was called.
    pub worker: &'static str,
    pub lease: Millis,
}

/// What is asked without changing anything.
pub enum Query {
    /// The run as it is now.
    Get {
        run: RunId,
        answer: Answer<Box<Run>>,
    },
    /// How a run ends, when it does.
    Watch {
        run: RunId,
        answer: Answer<Ended>,
    },
    Stats {
        answer: Answer<Stats>,
    },
    Workers {
        answer: Answer<Workers>,
    },
    /// When the next timer is due, once nothing else is to be done.
    Settled {
        answer: Answer<Option<Timestamp>>,
    },
    /// When the next webhook is to be told something, once none is to be told something now.
    WebhooksSettled {
        answer: Answer<Option<Timestamp>>,
    },
}

/// What administration and the process around the writer ask for.
pub enum Control {
    /// Store a definition.
    Deploy { workspace: WorkspaceId, definition: Arc<Definition>, answer: Answer<Deployed> },
    /// Write something that is not a run's. It answers for itself.
    Write(Write),
    /// A run or a schedule is to stand still.
    Hold { held: Box<Held>, answer: Answer<bool> },
    /// A run or a schedule that stands still is to go on.
    Unhold { owner: Owner, answer: Answer<bool> },
    /// Webhooks were added, changed or removed.
    WebhooksChanged { answer: Answer<()> },
    /// Which nodes there are on the store.
    Nodes(Vec<NodeId>),
    /// What other nodes committed.
    Notifications(Vec<ClusterNotification>),
    /// The clock was set.
    Tick,
    /// Finish what was asked, and stop.
    Stop { answer: oneshot::Sender<()> },
}

impl From<Decide> for Request {
    fn from(request: Decide) -> Request {
        Request::Decide(request)
    }
}

impl From<TaskRequest> for Request {
    fn from(request: TaskRequest) -> Request {
        Request::Task(request)
    }
}

impl From<Query> for Request {
    fn from(request: Query) -> Request {
        Request::Query(request)
    }
}

impl From<Control> for Request {
    fn from(request: Control) -> Request {
        Request::Control(request)
    }
}

/// On whose behalf something is asked, and within which trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    pub by: Actor,
    pub traceparent: Option<Traceparent>,
}

impl From<Actor> for Asker {
    fn from(by: Actor) -> Asker {
        Asker { by, traceparent: None }
    }
}

/// A worker that asks for tasks, with [`Tasks::poll`](crate::Tasks::poll).
#[derive(Clone, Debug)]
pub struct Poll {
    pub(crate) workspace: WorkspaceId,
    pub(crate) handlers: Vec<Arc<str>>,
    pub(crate) most: usize,
    pub(crate) worker: Arc<str>,
    /// Which code the worker has; empty if it does not say.
    pub(crate) build: Arc<str>,
    pub(crate) lease: Duration,
    /// Wait until there is something.
    pub(crate) waits: bool,
    /// The names under which tasks for it wait.
    pub(crate) queues: Vec<Arc<str>>,
}

impl Poll {
    /// A worker of this name asks for one task of these handlers, to have it for so long.
    pub fn new<H: Into<Arc<str>>>(
        worker: impl Into<Arc<str>>,
        handlers: impl IntoIterator<Item = H>,
        lease: Duration,
    ) -> Poll {
        Poll {
            workspace: WorkspaceId::DEFAULT,
            handlers: handlers.into_iter().map(Into::into).collect(),
            most: 1,
            worker: worker.into(),
            build: "".into(),
            lease,
            waits: false,
            queues: Vec::new(),
        }
    }

    /// As many tasks as this, at most.
    pub fn most(self, most: usize) -> Poll {
        Poll { most: most.max(1), ..self }
    }

    /// Which code the worker has: its build id.
    pub fn build(self, build: impl Into<Arc<str>>) -> Poll {
        Poll { build: build.into(), ..self }
    }

    /// Whether to wait until there is something; [`Tasks::poll`](crate::Tasks::poll) does.
    pub fn waits(self, waits: bool) -> Poll {
        Poll { waits, ..self }
    }

    /// In which workspace; [`Tasks::poll`](crate::Tasks::poll) says its own.
    pub fn in_workspace(self, workspace: WorkspaceId) -> Poll {
        let queues = queues_for(&self.handlers, &self.build);
        Poll { workspace, queues, ..self }
    }

    /// The names under which tasks for it wait.
    pub fn queues(&self) -> impl Iterator<Item = Queue> {
        self.queues.iter().map(|queue| (self.workspace, Arc::clone(queue)))
    }
}

/// A task in a worker's hands.
#[derive(Clone, Debug, PartialEq)]
pub struct Leased {
    pub task: Task,
    pub at: StepAddress,
    pub leased_until: Timestamp,
}

impl Leased {
    pub(crate) fn ready(&self) -> ReadyTask {
        ReadyTask { run: self.task.run_id, at: self.at, lease_epoch: self.task.lease_epoch }
    }
}

/// A worker that has asked for tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    pub workspace: WorkspaceId,
    pub name: Arc<str>,
    /// Which code it has; empty if it does not say.
    pub build: Arc<str>,
    pub handlers: Vec<Arc<str>>,
    pub seen_at: Timestamp,
    /// Tasks it has now.
    pub tasks: usize,
}

/// Who does the work, as far as this process knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workers {
    /// Those that polled lately, or are at work, by name.
    pub seen: Vec<Worker>,
    /// Handlers of this process: its own, and those behind URLs.
    pub here: Vec<Arc<str>>,
    /// When a worker with a handler was last seen, also long ago.
    pub handlers: BTreeMap<(WorkspaceId, Arc<str>), Timestamp>,
    /// When a worker of a build was.
    pub builds: BTreeMap<(WorkspaceId, Arc<str>), Timestamp>,
}

impl Workers {
    /// Whether somebody does tasks of this handler.
    pub fn has(&self, workspace: WorkspaceId, handler: &str) -> bool {
        let polls = |worker: &Worker| {
            worker.workspace == workspace && worker.handlers.iter().any(|name| **name == *handler)
        };
        self.here.iter().any(|name| **name == *handler) || self.seen.iter().any(polls)
    }

    /// Whether a worker of this build polls for tasks of this handler.
    pub fn has_build(&self, workspace: WorkspaceId, handler: &str, build: &str) -> bool {
        self.seen.iter().any(|worker| {
            worker.workspace == workspace
                && *worker.build == *build
                && worker.handlers.iter().any(|name| **name == *handler)
        })
    }
}

/// Whom an event woke, or would wake.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSent {
    /// `None` for a dry run.
    pub id: Option<EventUid>,
    /// The waits that took the event in this round.
    pub waiters: Vec<WaitpointId>,
    /// The event is stored and on its way to others who wait for it, or may; they are not in `waiters`.
    pub delivering: bool,
}

impl EventSent {
    /// Whether the event is there for waits that begin later.
    pub fn is_stored(&self) -> bool {
        self.id.is_some()
    }
}

/// What the engine has seen since it was opened.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub rounds: u64,
    pub commits: u64,
    pub records: u64,
    pub requests: u64,
    /// Rounds that were decided again because other nodes were first.
    pub conflicts: u64,
    /// Requests per commit.
    pub batch: Histogram,
    /// Of commits, in microseconds.
    pub commit_us: Histogram,
    /// From a timer's instant to its firing, in milliseconds.
    pub lateness_ms: Histogram,
    /// What happened, by the names of workflows, handlers, calls and error codes.
    pub counts: Counts,
    /// Runs kept in memory.
    pub runs_in_memory: usize,
    /// Tasks that workers have.
    pub tasks_out: usize,
    /// Tasks that wait for a worker.
    pub tasks_ready: usize,
}
