//! Who does the work: handlers registered in process, and workers that poll. Tasks wait here until someone takes
//! them, fairly between definitions; pollers wait here until there is a task, and cost nothing meanwhile. Leases are
//! kept here too; the delivery number of the core is what fences a worker that lost one.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll as Polled;
use std::time::Duration;

use abide_core::command::{Command, TaskCompleted, TaskFailed, TaskPaused, TaskSuspended};
use abide_core::definition::{Action, Executor};
use abide_core::id::{At, RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::task::Task;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::error::Error;
use crate::handed::Handed;
use crate::handler::{Handler, TaskResult};
use crate::request::{Answer, Leased, Poll, Request, Worker};

/// The worker whose name stands in the history when a handler here begins.
pub(crate) const IN_PROCESS: &str = "in process";
/// How long a worker has a task before it must report, if it does not say.
pub(crate) const LEASE: Millis = Millis(60_000);
/// A lease that could not be ended is looked at again after this time.
const TRY_AGAIN: Millis = Millis(250);
/// How often a handler tries to report while the store cannot write.
const REPORT_AGAIN: Duration = Duration::from_millis(100);
/// A worker that has not asked for this long, and has no task, is not shown any more.
const WORKER_SEEN: Millis = Millis(15 * 60 * 1_000);
/// Workers that are remembered at most.
const WORKERS: usize = 10_000;

pub(crate) struct Dispatcher {
    runtime: Handle,
    /// Back into the writer's queue, for what handlers report.
    reports: mpsc::WeakSender<Request>,
    handlers: HashMap<Arc<str>, Handler>,
    running: HashMap<(RunId, At), (u32, AbortHandle)>,
    ready: HashMap<Queue, ReadyTasks>,
    /// Tasks that are out and are to be handed out again, in the next round.
    handed_over: VecDeque<ReadyTask>,
    /// Tasks for handlers here whose time is limited: it is noted when it begins, in the next round.
    timed: VecDeque<ReadyTask>,
    /// Calls that the engine makes itself, in the next round.
    own: VecDeque<ReadyTask>,
    parked: HashMap<u64, (Poll, Answer<Handed>)>,
    parked_for: HashMap<Queue, VecDeque<u64>>,
    last_poller: u64,
    /// Pollers that may find something now.
    woken: BTreeSet<u64>,
    /// How many more tasks those may take, at most: a poller that asks for more than one handler counts for each.
    room: HashMap<Queue, usize>,
    leases: BTreeSet<(Timestamp, RunId, At)>,
    leased: HashMap<(RunId, At), Lease>,
    workers: HashMap<(WorkspaceId, Arc<str>), Worker>,
}

/// Tasks of one handler's name in one workspace.
type Queue = (WorkspaceId, Arc<str>);

#[derive(Clone, Debug)]
struct Lease {
    delivery: u32,
    until: Timestamp,
    length: Millis,
    worker: (WorkspaceId, Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReadyTask {
    pub(crate) run: RunId,
    pub(crate) at: At,
    pub(crate) delivery: u32,
}

/// Tasks of one handler, taken from each definition in turn.
#[derive(Default)]
struct ReadyTasks {
    by_definition: HashMap<Arc<str>, VecDeque<ReadyTask>>,
    turns: VecDeque<Arc<str>>,
    gone: HashSet<ReadyTask>,
}

impl ReadyTasks {
    fn push(&mut self, definition: &Arc<str>, task: ReadyTask) {
        let tasks = self.by_definition.entry(Arc::clone(definition)).or_default();
        if tasks.is_empty() {
            self.turns.push_back(Arc::clone(definition));
        }
        tasks.push_back(task);
    }

    fn pop(&mut self) -> Option<ReadyTask> {
        loop {
            let definition = self.turns.pop_front()?;
            let tasks = self.by_definition.get_mut(&definition)?;
            let task = tasks.pop_front();
            if tasks.is_empty() {
                self.by_definition.remove(&definition);
            } else {
                self.turns.push_back(definition);
            }
            match task {
                Some(task) if self.gone.remove(&task) => {}
                Some(task) => return Some(task),
                None => {}
            }
        }
    }

    fn len(&self) -> usize {
        self.by_definition.values().map(VecDeque::len).sum::<usize>().saturating_sub(self.gone.len())
    }
}

impl Dispatcher {
    pub(crate) fn new(runtime: Handle, reports: mpsc::WeakSender<Request>) -> Dispatcher {
        Dispatcher {
            runtime,
            reports,
            handlers: HashMap::new(),
            running: HashMap::new(),
            ready: HashMap::new(),
            handed_over: VecDeque::new(),
            timed: VecDeque::new(),
            own: VecDeque::new(),
            parked: HashMap::new(),
            parked_for: HashMap::new(),
            last_poller: 0,
            woken: BTreeSet::new(),
            room: HashMap::new(),
            leases: BTreeSet::new(),
            leased: HashMap::new(),
            workers: HashMap::new(),
        }
    }

    /// Registers a handler and says which tasks it can take up at once.
    pub(crate) fn register(&mut self, name: Arc<str>, handler: Handler) -> Vec<ReadyTask> {
        let waiting: Vec<Queue> =
            self.ready.keys().filter(|(_, handler)| *handler == name).cloned().collect();
        self.handlers.insert(name, handler);
        let mut waiting: Vec<_> = waiting.iter().filter_map(|queue| self.ready.remove(queue)).collect();
        waiting.iter_mut().flat_map(|tasks| std::iter::from_fn(|| tasks.pop())).collect()
    }

    /// These are out, and somebody else is to have them.
    pub(crate) fn hand_over(&mut self, tasks: impl IntoIterator<Item = ReadyTask>) {
        self.handed_over.extend(tasks);
    }

    pub(crate) fn next_handed_over(&mut self) -> Option<ReadyTask> {
        self.handed_over.pop_front()
    }

    /// What could not be done with these was not committed; it is tried again.
    pub(crate) fn put_back(
        &mut self,
        expired: Vec<ReadyTask>,
        timed: Vec<ReadyTask>,
        own: Vec<ReadyTask>,
        now: Timestamp,
    ) {
        self.timed.extend(timed);
        self.own.extend(own);
        for task in expired {
            self.lease(task, now, TRY_AGAIN, (WorkspaceId::default(), "".into()));
        }
    }

    /// Leases that were not committed.
    pub(crate) fn take_back(&mut self, tasks: Vec<ReadyTask>) {
        for task in &tasks {
            self.settle(task.run, task.at, task.delivery);
        }
        self.hand_over(tasks);
    }

    /// A committed task: to a handler here, or to the pollers.
    pub(crate) fn dispatch(&mut self, run: &Run, at: At, delivery: u32) {
        let Action::Work(work) = &run.defined(at).action else { return };
        let ready = ReadyTask { run: run.id, at, delivery };
        if work.executor == Executor::Notify {
            self.own.push_back(ready);
        } else if let Some(handler) = self.handlers.get(&work.handler) {
            match run.task(at).filter(|task| task.delivery == delivery) {
                Some(task) if task.timeout.is_some() && task.deadline.is_none() => {
                    self.timed.push_back(ready);
                }
                Some(task) => self.spawn(handler.clone(), ready, task),
                None => {}
            }
        } else {
            let queue = (run.workspace, Arc::clone(&work.handler));
            self.call(&queue);
            self.ready.entry(queue).or_default().push(&run.definition_ref.name, ready);
        }
    }

    pub(crate) fn has_pollers(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Takes a task that is not committed yet, if a poller waits for it. It must be claimed in the same round.
    pub(crate) fn offer(&mut self, run: &Run, at: At, delivery: u32) -> bool {
        let Action::Work(work) = &run.defined(at).action else { return false };
        if work.executor == Executor::Notify || self.handlers.contains_key(&work.handler) {
            return false;
        }
        let queue = (run.workspace, Arc::clone(&work.handler));
        let is_waited_for = self.call(&queue);
        if is_waited_for {
            let ready = ReadyTask { run: run.id, at, delivery };
            self.ready.entry(queue).or_default().push(&run.definition_ref.name, ready);
        }
        is_waited_for
    }

    fn spawn(&mut self, handler: Handler, ready: ReadyTask, task: Task) {
        let ReadyTask { run, at, delivery } = ready;
        let Some(reports) = self.reports.upgrade() else { return };
        let work = self.runtime.spawn(async move {
            let mut work = handler.call(task);
            // A panic is a failure of the task, not of the engine.
            let result = poll_fn(|context| {
                catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)))
                    .unwrap_or_else(|_| Polled::Ready(TaskResult::fail("the handler panicked")))
            });
            let command = report(at, delivery, result.await);
            // What was done is not thrown away because it cannot be written down at the moment.
            while let Err(Error::Store(_)) = tell(&reports, run, command.clone()).await {
                tokio::time::sleep(REPORT_AGAIN).await;
            }
        });
        self.running.insert((run, at), (delivery, work.abort_handle()));
    }

    /// A report came, or the task is not wanted any more.
    pub(crate) fn settle(&mut self, run: RunId, at: At, delivery: u32) {
        if self.running.get(&(run, at)).is_some_and(|(running, _)| *running == delivery)
            && let Some((_, work)) = self.running.remove(&(run, at))
        {
            work.abort();
        }
        if self.leased.get(&(run, at)).is_some_and(|lease| lease.delivery == delivery)
            && let Some(lease) = self.leased.remove(&(run, at))
        {
            self.leases.remove(&(lease.until, run, at));
        }
    }

    /// The task is not wanted any more, wherever it is.
    pub(crate) fn recall(&mut self, run: &Run, at: At, delivery: u32) {
        self.settle(run.id, at, delivery);
        if let Action::Work(work) = &run.defined(at).action
            && let Some(tasks) = self.ready.get_mut(&(run.workspace, Arc::clone(&work.handler)))
        {
            tasks.gone.insert(ReadyTask { run: run.id, at, delivery });
        }
    }

    pub(crate) fn next_timed(&mut self) -> Option<ReadyTask> {
        self.timed.pop_front()
    }

    pub(crate) fn next_own(&mut self) -> Option<ReadyTask> {
        self.own.pop_front()
    }

    // Pollers

    /// The next task for a poller, if there is one.
    pub(crate) fn take(&mut self, poll: &Poll) -> Option<ReadyTask> {
        poll.handlers.iter().find_map(|handler| {
            self.ready.get_mut(&(poll.workspace, Arc::clone(handler))).and_then(ReadyTasks::pop)
        })
    }

    /// Sees to it that a poller comes for one more task: one that is awake and has room, or the one that has waited
    /// longest. `false` if nobody waits.
    fn call(&mut self, queue: &Queue) -> bool {
        let has_room = |room: &HashMap<Queue, usize>| room.get(queue).is_some_and(|room| *room > 0);
        if !has_room(&self.room) && !self.wake(queue) {
            return false;
        }
        if let Some(room) = self.room.get_mut(queue) {
            *room = room.saturating_sub(1);
        }
        true
    }

    fn wake(&mut self, queue: &Queue) -> bool {
        let Some(pollers) = self.parked_for.get_mut(queue) else { return false };
        while let Some(id) = pollers.pop_front() {
            // It may have gone, or have been woken for another of its handlers.
            let Some((poll, _)) = self.parked.get(&id).filter(|_| !self.woken.contains(&id)) else {
                continue;
            };
            for handler in &poll.handlers {
                let room = self.room.entry((poll.workspace, Arc::clone(handler))).or_default();
                *room = room.saturating_add(poll.most);
            }
            self.woken.insert(id);
            return true;
        }
        false
    }

    /// Tasks for a poller, which come back if it has gone.
    pub(crate) fn handed(&self, tasks: Vec<Leased>) -> Handed {
        Handed::new(tasks, self.reports.clone())
    }

    pub(crate) fn park(&mut self, poll: Poll, answer: Answer<Handed>) {
        self.last_poller += 1;
        let id = self.last_poller;
        for handler in &poll.handlers {
            let pollers = self.parked_for.entry((poll.workspace, Arc::clone(handler))).or_default();
            // Pollers that gave up are let go when their turn would have come.
            while pollers
                .front()
                .is_some_and(|id| self.parked.get(id).is_none_or(|(_, answer)| answer.is_closed()))
            {
                if let Some(gone) = pollers.pop_front() {
                    self.parked.remove(&gone);
                }
            }
            pollers.push_back(id);
        }
        self.parked.insert(id, (poll, answer));
    }

    /// A poller that may find something now, if it still asks.
    pub(crate) fn next_woken(&mut self) -> Option<(Poll, Answer<Handed>)> {
        loop {
            let id = self.woken.pop_first()?;
            if self.woken.is_empty() {
                self.room.clear();
            }
            match self.parked.remove(&id) {
                Some((poll, answer)) if !answer.is_closed() => return Some((poll, answer)),
                Some((poll, _)) => self.wake_another(&poll),
                None => {}
            }
        }
    }

    /// What a poller has left, or could not take because it has gone, is for the next in line.
    pub(crate) fn wake_another(&mut self, poll: &Poll) {
        for handler in &poll.handlers {
            let queue = (poll.workspace, Arc::clone(handler));
            if self.ready.get(&queue).is_some_and(|tasks| tasks.len() > 0) {
                self.wake(&queue);
            }
        }
    }

    // Leases

    /// A worker has the task for this long, unless it reports before.
    pub(crate) fn lease(
        &mut self,
        task: ReadyTask,
        now: Timestamp,
        length: Millis,
        worker: (WorkspaceId, Arc<str>),
    ) -> Timestamp {
        let ReadyTask { run, at, delivery } = task;
        let until = length.after(now);
        if let Some(old) = self.leased.insert((run, at), Lease { delivery, until, length, worker }) {
            self.leases.remove(&(old.until, run, at));
        }
        self.leases.insert((until, run, at));
        until
    }

    /// The worker is still at it.
    pub(crate) fn renew(&mut self, task: ReadyTask, now: Timestamp) {
        let lease = self.leased.get(&(task.run, task.at)).cloned();
        if let Some(lease) = lease.filter(|lease| lease.delivery == task.delivery) {
            if let Some(worker) = self.workers.get_mut(&lease.worker) {
                worker.seen_at = now;
            }
            self.lease(task, now, lease.length, lease.worker);
        }
    }

    pub(crate) fn expired(&mut self, now: Timestamp) -> Vec<ReadyTask> {
        let mut expired = Vec::new();
        while let Some((until, run, at)) = self.leases.first().copied().filter(|(until, _, _)| *until <= now)
        {
            self.leases.remove(&(until, run, at));
            if let Some(lease) = self.leased.remove(&(run, at)) {
                expired.push(ReadyTask { run, at, delivery: lease.delivery });
            }
        }
        expired
    }

    pub(crate) fn next_expiry(&self) -> Option<Timestamp> {
        self.leases.first().map(|(until, _, _)| *until)
    }

    // Workers

    pub(crate) fn saw(&mut self, poll: &Poll, now: Timestamp) {
        let key = (poll.workspace, Arc::clone(&poll.worker));
        if self.workers.len() >= WORKERS && !self.workers.contains_key(&key) {
            let oldest = WORKER_SEEN.before(now);
            self.workers.retain(|_, worker| worker.seen_at > oldest);
        }
        if self.workers.len() < WORKERS || self.workers.contains_key(&key) {
            let (workspace, name) = key.clone();
            let worker = Worker { workspace, name, handlers: poll.handlers.clone(), seen_at: now, tasks: 0 };
            self.workers.insert(key, worker);
        }
    }

    /// Those seen lately, or at work, by name.
    pub(crate) fn workers(&self, now: Timestamp) -> Vec<Worker> {
        let mut tasks: HashMap<&(WorkspaceId, Arc<str>), usize> = HashMap::new();
        for lease in self.leased.values() {
            *tasks.entry(&lease.worker).or_default() += 1;
        }
        let oldest = WORKER_SEEN.before(now);
        let workers = self.workers.iter().map(|(key, worker)| {
            let tasks = tasks.get(key).copied().unwrap_or_default();
            Worker { tasks, ..worker.clone() }
        });
        let mut workers: Vec<_> =
            workers.filter(|worker| worker.seen_at > oldest || worker.tasks > 0).collect();
        workers.sort_by(|a, b| (a.workspace, &a.name).cmp(&(b.workspace, &b.name)));
        workers
    }

    /// Something is to be done in the next round.
    pub(crate) fn has_work(&self) -> bool {
        let waiting = [&self.own, &self.handed_over, &self.timed].iter().any(|tasks| !tasks.is_empty());
        waiting || !self.woken.is_empty()
    }

    pub(crate) fn tasks_out(&self) -> usize {
        self.running.len() + self.leased.len()
    }

    /// Tasks that nobody has taken yet.
    pub(crate) fn tasks_ready(&self) -> usize {
        self.ready.values().map(ReadyTasks::len).sum()
    }

    /// No handler here is at work.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty() && !self.has_work()
    }

    pub(crate) fn stop(&mut self) {
        for (_, work) in self.running.values() {
            work.abort();
        }
    }
}

async fn tell(reports: &mpsc::Sender<Request>, run: RunId, command: Command) -> Result<(), Error> {
    let (answer, answered) = oneshot::channel();
    let (command, asker) = (Box::new(command), Actor::new("handler").into());
    let request =
        Request::Command { workspace: None, run, command, asker, key: None, listener: None, answer };
    // When the engine has stopped, the task is handed out again by the next one.
    reports.send(request).await.map_err(|_| Error::Stopped)?;
    answered.await.map_err(|_| Error::Stopped)?.map(drop)
}

fn report(at: At, delivery: u32, result: TaskResult) -> Command {
    match result {
        TaskResult::Complete { output, state_updates } => {
            Command::TaskCompleted(TaskCompleted { at, delivery, output, state_updates })
        }
        TaskResult::Fail { message, code, retryable, retry_after } => {
            Command::TaskFailed(TaskFailed { at, delivery, message, code, retryable, retry_after })
        }
        TaskResult::Pause { name, duration, checkpoint } => {
            Command::TaskPaused(TaskPaused { at, delivery, name, duration, checkpoint })
        }
        TaskResult::Suspend { entries, waits, wake } => {
            Command::TaskSuspended(TaskSuspended { at, delivery, entries, waits, wake, checkpoint: None })
        }
    }
}
