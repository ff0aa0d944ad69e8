//! Requests to the writer, and where it answers them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use abide_core::capacity::LimitSettings;
use abide_core::command::{Command, Reply};
use abide_core::definition::Definition;
use abide_core::event_start::EventStart;
use abide_core::id::{EventUid, RunId, StepAddress, WaitpointId, WorkspaceId};
use abide_core::queue::queues_for;
use abide_core::run::Run;
use abide_core::task::Task;
use abide_core::time::Millis;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::Actor;
use abide_store::cluster::{ClusterNotification, NodeId};
use abide_store::tasks::TaskQueue;
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
use crate::round::LimitOrder;
use crate::schedules::{Ordered, ScheduleOrder};
use crate::send_event::SendEvent;
use crate::start::{StartRun, Started};
use crate::tasks::{Handed, Queue, TaskKey};

/// Where the writer sends the answer to a request.
pub type Answer<T> = oneshot::Sender<Result<T, Error>>;

/// A request to the writer.
pub enum Request {
    /// Decide something about runs.
    Decide(Decide),
    /// A worker, or a handler of this process, asks for or about tasks.
    Task(TaskRequest),
    /// Read something, and change nothing.
    Query(Query),
    /// Administration, or the process around the writer, asks for something.
    Control(Control),
}

/// A request to decide something about runs. It is answered when the decision is committed.
pub enum Decide {
    /// Start a run.
    Start {
        /// The run to start.
        start: Box<StartRun>,
        /// The caller that wants the run's first reply.
        listener: Option<ReplyListener>,
        /// Where the id of the run goes.
        answer: Answer<Started>,
    },
    /// Start many runs in one round, each by itself.
    StartMany {
        /// The workspace of the runs.
        workspace: WorkspaceId,
        /// The runs to start; in the place of one whose input does not fit its schema stands why not.
        starts: Vec<Result<StartRun, Error>>,
        /// The index of the run whose input is being checked beside the writer.
        checking: usize,
        /// Where the answers go, in the order of the runs.
        answer: Answer<Vec<Result<Started, Error>>>,
    },
    /// Decide a command about a run.
    Command {
        /// The workspace that the run must be in; `None`: any.
        workspace: Option<WorkspaceId>,
        /// The run.
        run: RunId,
        /// The command to decide.
        command: Box<Command>,
        /// On whose behalf the command is.
        asker: Asker,
        /// The idempotency key; `None`: none was given.
        key: Option<String>,
        /// The caller that wants the run's next reply.
        listener: Option<ReplyListener>,
        /// Where the reply goes.
        answer: Answer<Reply>,
    },
    /// Decide many commands in one round, each by itself.
    Commands {
        /// The workspace that the runs must be in.
        workspace: WorkspaceId,
        /// The commands, each with its run.
        commands: Vec<(RunId, Command)>,
        /// On whose behalf the commands are.
        by: Actor,
        /// Where the replies go, in the order of the commands.
        answer: Answer<Vec<Result<Reply, Error>>>,
    },
    /// Make a schedule, or change one.
    Schedule {
        /// The workspace of the schedule.
        workspace: WorkspaceId,
        /// What to do to the schedule.
        order: Box<ScheduleOrder>,
        /// On whose behalf it is done.
        by: Actor,
        /// The idempotency key; `None`: none was given.
        key: Option<String>,
        /// The definition that the plan's input was checked against, beside the writer.
        checked: Option<Arc<Definition>>,
        /// Where the schedule goes, as it is then.
        answer: Answer<Box<Ordered>>,
    },
    /// Set something for a limit at run time.
    SetLimit {
        /// The workspace of the limit.
        workspace: WorkspaceId,
        /// What to set, for which limit.
        order: Box<LimitOrder>,
        /// On whose behalf it is set.
        by: Actor,
        /// Where it goes what is set then.
        answer: Answer<Box<LimitSettings>>,
    },
    /// Send an event to everyone who waits for it, or will.
    SendEvent {
        /// The event.
        send: Box<SendEvent>,
        /// Where it goes who took the event.
        answer: Answer<EventSent>,
    },
}

/// A request of a worker, or of a handler in this process.
pub enum TaskRequest {
    /// A worker asks for tasks.
    Poll {
        /// What the worker asks for.
        poll: Poll,
        /// Where its tasks go.
        answer: Answer<Handed>,
    },
    /// The receiver that the engine called keeps the task, and reports later.
    Accept {
        /// The task, and who keeps it.
        accept: Accept,
        /// Where the reply of the core goes.
        answer: Answer<Reply>,
    },
    /// Release tasks that were leased to a poller after it had gone.
    Release {
        /// The tasks.
        tasks: Vec<TaskKey>,
    },
    /// From here on tasks of this name are performed in this process.
    Register {
        /// The name of the tasks.
        name: Arc<str>,
        /// The handler that performs them.
        handler: Handler,
    },
}

/// A task that stays with the receiver that was called.
#[derive(Clone, Copy, Debug)]
pub struct Accept {
    /// The task.
    pub task: TaskKey,
    /// The workspace of the task's run.
    pub workspace: WorkspaceId,
    /// The name of the receiver in the history.
    pub worker: &'static str,
    /// How long the receiver has the task before it must report.
    pub lease: Millis,
}

/// A request that changes nothing.
pub enum Query {
    /// The run as it is now.
    Get {
        /// The run.
        run: RunId,
        /// Where the run goes.
        answer: Answer<Box<Run>>,
    },
    /// How a run ends, answered when it does.
    Watch {
        /// The run.
        run: RunId,
        /// Where its end goes.
        answer: Answer<Ended>,
    },
    /// The engine's counters and histograms.
    Stats {
        /// Where they go.
        answer: Answer<Stats>,
    },
    /// The workers that polled lately, and the handlers that are known.
    Workers {
        /// Where they go.
        answer: Answer<Workers>,
    },
    /// How many tasks are ready and leased, by queue, where this process keeps them.
    TaskQueues {
        /// Where the counts go.
        answer: Answer<Vec<TaskQueue>>,
    },
    /// When the next timer is due, once nothing else is to be done.
    Settled {
        /// Where the instant goes; `None`: no timer is set.
        answer: Answer<Option<Timestamp>>,
    },
    /// The instant of the next webhook delivery, answered once none is due now.
    WebhooksSettled {
        /// Where the instant goes; `None`: no delivery is pending.
        answer: Answer<Option<Timestamp>>,
    },
}

/// A request of administration, or of the process around the writer.
pub enum Control {
    /// Store a definition.
    Deploy {
        /// The workspace to store the definition in.
        workspace: WorkspaceId,
        /// The definition, compiled and checked.
        definition: Arc<Definition>,
        /// Where its id goes.
        answer: Answer<Deployed>,
    },
    /// Write something that is not a run's. It sends its own answer.
    Write(Write),
    /// Hold a run or a schedule.
    Hold {
        /// The run or the schedule, and why it is held.
        held: Box<Held>,
        /// Where it goes whether it was not held before.
        answer: Answer<bool>,
    },
    /// Release a run or a schedule that is held.
    Unhold {
        /// The run or the schedule.
        owner: Owner,
        /// Where it goes whether it was held.
        answer: Answer<bool>,
    },
    /// Webhooks were added, changed or removed.
    WebhooksChanged {
        /// Where it goes that the writer knows the change.
        answer: Answer<()>,
    },
    /// The nodes that are alive on the store.
    Nodes(Vec<NodeId>),
    /// Notifications of what other nodes committed.
    Notifications(Vec<ClusterNotification>),
    /// The clock was set.
    Tick,
    /// Finish what was asked, and stop.
    Stop {
        /// Told when all is closed.
        answer: oneshot::Sender<()>,
    },
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
    /// Who asks, as authenticated.
    pub by: Actor,
    /// The W3C trace context of the request.
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
    /// The build of the worker's code; empty if the worker names none.
    pub(crate) build: Arc<str>,
    pub(crate) lease: Duration,
    /// Whether to wait until there is a task.
    pub(crate) waits: bool,
    /// The queues that the worker takes tasks from.
    pub(crate) queues: Vec<Arc<str>>,
}

impl Poll {
    /// A poll of a worker of this name for one task of these handlers, with a lease of this length.
    pub fn new<H: Into<Arc<str>>>(
        worker: impl Into<Arc<str>>,
        handlers: impl IntoIterator<Item = H>,
        lease: Duration,
    ) -> Poll {
        let handlers: Vec<Arc<str>> = handlers.into_iter().map(Into::into).collect();
        Poll {
            workspace: WorkspaceId::DEFAULT,
            queues: queues_for(&handlers, ""),
            handlers,
            most: 1,
            worker: worker.into(),
            build: "".into(),
            lease,
            waits: false,
        }
    }

    /// Sets how many tasks the worker takes at most.
    pub fn most(self, most: usize) -> Poll {
        Poll { most: most.max(1), ..self }
    }

    /// Sets the build of the worker's code.
    pub fn build(self, build: impl Into<Arc<str>>) -> Poll {
        let build = build.into();
        Poll { queues: queues_for(&self.handlers, &build), build, ..self }
    }

    /// Sets whether to wait until there is a task; [`Tasks::poll`](crate::Tasks::poll) does.
    pub fn waits(self, waits: bool) -> Poll {
        Poll { waits, ..self }
    }

    /// Sets the workspace; [`Tasks::poll`](crate::Tasks::poll) sets its own.
    pub fn in_workspace(self, workspace: WorkspaceId) -> Poll {
        Poll { workspace, ..self }
    }

    /// The queues that the worker takes tasks from, with their workspace.
    pub fn queues(&self) -> impl Iterator<Item = Queue> {
        self.queues.iter().map(|queue| (self.workspace, Arc::clone(queue)))
    }
}

/// A task that is leased to a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Leased {
    /// The task.
    pub task: Task,
    /// The address of the task's step.
    pub at: StepAddress,
    /// When the lease ends, unless a heartbeat extends it.
    pub leased_until: Timestamp,
}

impl Leased {
    pub(crate) fn ready(&self) -> TaskKey {
        TaskKey { run: self.task.run_id, at: self.at, lease_epoch: self.task.lease_epoch }
    }
}

/// A worker that has polled for tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    /// The workspace that the worker polls in.
    pub workspace: WorkspaceId,
    /// The name that the worker gives itself.
    pub name: Arc<str>,
    /// The build of the worker's code; empty if the worker names none.
    pub build: Arc<str>,
    /// The names of the handlers that the worker polls for.
    pub handlers: Vec<Arc<str>>,
    /// When the worker polled or sent a heartbeat last.
    pub seen_at: Timestamp,
    /// How many tasks the worker has now.
    pub tasks: usize,
}

/// The workers and handlers that this process knows of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workers {
    /// The workers that polled lately, or have tasks, by name.
    pub seen: Vec<Worker>,
    /// The names of the handlers of this process: its own, and those behind URLs.
    pub here: Vec<Arc<str>>,
    /// When a worker with a handler was last seen, also long ago.
    pub handlers: BTreeMap<(WorkspaceId, Arc<str>), Timestamp>,
    /// When a worker of a build was last seen, also long ago.
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

/// The result of sending an event: the waits that took it, or would take it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSent {
    /// The event's own number; `None` for a dry run.
    pub id: Option<EventUid>,
    /// The waits that took the event in this round.
    pub waiters: Vec<WaitpointId>,
    /// What the event started, was to start, or would start.
    pub starts: Vec<EventStart>,
    /// Whether the event is stored and still to be offered to other waits, or to start other runs: those are not in
    /// `waiters` and `starts`.
    pub delivering: bool,
}

impl EventSent {
    /// Whether the event is stored for waits that begin later.
    pub fn is_stored(&self) -> bool {
        self.id.is_some()
    }
}

/// Counters and histograms of an engine since it was opened.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Rounds that changed something or had a reply to give.
    pub rounds: u64,
    /// Commits that were made.
    pub commits: u64,
    /// Records that were committed.
    pub records: u64,
    /// Requests that the writer took.
    pub requests: u64,
    /// Rounds that were decided again because other nodes were first.
    pub conflicts: u64,
    /// How many requests a commit answered.
    pub batch: Histogram,
    /// How long commits took, in microseconds.
    pub commit_us: Histogram,
    /// From the beginning of a round that was committed to when that was known, in microseconds.
    pub round_us: Histogram,
    /// From a timer's instant to its firing, in milliseconds.
    pub lateness_ms: Histogram,
    /// Counts of what happened, by the names of workflows, handlers, calls and error codes.
    pub counts: Counts,
    /// How many runs are kept in memory.
    pub runs_in_memory: usize,
    /// How many tasks workers have.
    pub tasks_out: usize,
    /// How many tasks wait for a worker.
    pub tasks_ready: usize,
}
