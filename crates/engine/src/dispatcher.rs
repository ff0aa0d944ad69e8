//! Who does the work: handlers registered in process, and workers that poll. Tasks wait here until someone takes
//! them, fairly between definitions; pollers wait here until there is a task, and cost nothing meanwhile. Leases are
//! kept here too; the delivery number of the core is what fences a worker that lost one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll as Polled;
use std::time::{Duration, Instant};

use abide_core::command::{Command, TaskCompleted, TaskFailed, TaskPaused, TaskSuspended};
use abide_core::definition::{Executor, Work};
use abide_core::history::Failure;
use abide_core::id::{At, RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::task::Task;
use abide_core::time::Millis;
use abide_core::waitpoint::Waitpoint;
use abide_store::tasks::{FoundTask, WantedTasks};
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::code_waits::CodeWaits;
use crate::error::Error;
use crate::executor::{Call, Delivery, Executors, Performed, tell};
use crate::handed::Handed;
use crate::handler::{Handler, TaskResult};
use crate::notify_step;
use crate::pollers::{Pollers, Queue};
use crate::queues::{NOTIFY, pinned_to, queue_of};
use crate::request::{Answer, Leased, Poll, Request, Worker, Workers};

/// The worker whose name stands in the history when a handler here begins.
pub(crate) const IN_PROCESS: &str = "in process";
/// How long a worker has a task before it must report, if it does not say.
pub(crate) const LEASE: Millis = Millis(60_000);
/// A lease that could not be ended is looked at again after this time.
const TRY_AGAIN: Millis = Millis(250);
/// A worker that has not asked for this long, and has no task, is not shown any more.
const WORKER_SEEN: Millis = Millis(15 * 60 * 1_000);
/// Tasks that a process takes for its own handlers at once.
const TAKEN_HERE: usize = 1_000;
/// Workers that are remembered at most, and how long all their names and those of their handlers may be.
const WORKERS: usize = 10_000;
const WORKERS_BYTES: usize = 16 * 1024 * 1024;
/// Builds of which it is remembered when they were last seen.
const BUILDS: usize = 1_000;

pub(crate) struct Dispatcher {
    runtime: Handle,
    /// Back into the writer's queue.
    queue: mpsc::WeakSender<Request>,
    /// The same, for what handlers report when they are done.
    reports: mpsc::Sender<Request>,
    handlers: HashMap<Arc<str>, Handler>,
    executors: Arc<Executors>,
    running: HashMap<(RunId, At), Running>,
    ready: HashMap<Queue, ReadyTasks>,
    /// Where the ready ones wait that are pinned to a build, which an operator may change meanwhile.
    pinned: HashMap<(RunId, At), Queue>,
    /// Tasks that are out and are to be handed out again, in the next round.
    handed_over: VecDeque<ReadyTask>,
    /// Tasks for handlers here whose time is limited: it is noted when it begins, in the next round.
    timed: VecDeque<ReadyTask>,
    /// Calls that the engine makes itself, in the next round.
    own: VecDeque<ReadyTask>,
    /// What those under way here take, and those that wait until they take less.
    running_bytes: usize,
    without_room: VecDeque<ReadyTask>,
    pollers: Pollers,
    code_waits: CodeWaits,
    leases: BTreeSet<(Timestamp, RunId, At)>,
    leased: HashMap<(RunId, At), Lease>,
    workers: HashMap<(WorkspaceId, Arc<str>), Worker>,
    workers_bytes: usize,
    /// When a worker of a build was last seen, also if it has another one since.
    builds: BTreeMap<(WorkspaceId, Arc<str>), Timestamp>,
    /// The store says which tasks are out and until when, to this process and to others.
    is_shared: bool,
}

/// What tasks that are done in this process may take together; with more, the next is rendered later.
const IN_PROCESS_BYTES: usize = 64 * 1024 * 1024;

/// A task that a handler here is at.
struct Running {
    delivery: u32,
    work: AbortHandle,
    since: Instant,
    /// What its payloads take.
    bytes: usize,
}

/// Who does a task in this process.
enum Performer {
    Handler(Handler),
    Call(Call),
}

#[derive(Clone, Debug)]
struct Lease {
    delivery: u32,
    until: Timestamp,
    length: Millis,
    worker: (WorkspaceId, Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
/// A task that is out, by its place and the number that fences an earlier holder.
pub struct ReadyTask {
    pub run: RunId,
    pub at: At,
    pub delivery: u32,
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
            let Some(definition) = self.turns.pop_front() else {
                // They were taken before they were gone.
                self.gone.clear();
                return None;
            };
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
    pub(crate) fn new(
        runtime: Handle,
        queue: mpsc::WeakSender<Request>,
        reports: mpsc::Sender<Request>,
        executors: Arc<Executors>,
        is_shared: bool,
    ) -> Dispatcher {
        Dispatcher {
            is_shared,
            runtime,
            queue,
            reports,
            handlers: HashMap::new(),
            executors,
            running: HashMap::new(),
            ready: HashMap::new(),
            pinned: HashMap::new(),
            handed_over: VecDeque::new(),
            timed: VecDeque::new(),
            own: VecDeque::new(),
            running_bytes: 0,
            without_room: VecDeque::new(),
            pollers: Pollers::default(),
            code_waits: CodeWaits::default(),
            leases: BTreeSet::new(),
            leased: HashMap::new(),
            workers: HashMap::new(),
            workers_bytes: 0,
            builds: BTreeMap::new(),
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
        if self.is_shared {
            // They are found again in the store.
            return;
        }
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

    /// A committed task: to a handler here, to an executor of the engine, or to the pollers.
    pub(crate) fn dispatch(&mut self, run: &Run, at: At, delivery: u32) {
        let Some(work) = run.defined(at).action.work() else { return };
        let ready = ReadyTask { run: run.id, at, delivery };
        if work.executor == Executor::Notify {
            self.own.push_back(ready);
        } else if let Some(performer) = self.performer_of(run, at, work) {
            if self.running_bytes >= IN_PROCESS_BYTES {
                // It is rendered when those that are under way have made room.
                self.without_room.push_back(ready);
                return;
            }
            match run.task(at) {
                Some(Ok(task)) if task.delivery != delivery => {}
                Some(Ok(task)) if task.timeout.is_some() && task.deadline.is_none() => {
                    self.timed.push_back(ready);
                }
                Some(Ok(task)) => self.perform(performer, ready, run, task),
                Some(Err(failure)) => self.fail(ready, failure),
                None => {}
            }
        } else {
            let queue = (run.workspace, queue_of(run, at, work));
            self.pollers.call(&queue);
            self.keep_ready(run, queue, ready);
        }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Whether a task is done in this process, by a handler or by the engine itself.
    pub(crate) fn works_at(&self, run: &Run, at: At) -> bool {
        let work = run.defined(at).action.work();
        work.is_some_and(|work| {
            work.executor == Executor::Notify || self.performer_of(run, at, work).is_some()
        })
    }

    /// Whether a poller waits for tasks of this name.
    pub(crate) fn is_waited_for(&self, queue: &Queue) -> bool {
        self.pollers.wait_for(queue)
    }

    /// Of what kinds tasks can be taken now, for those who poll and for the handlers here.
    pub(crate) fn wanted<'p>(&self, polls: impl Iterator<Item = &'p Poll>) -> Vec<WantedTasks> {
        let mut wanted: BTreeMap<(WorkspaceId, Arc<str>), usize> = BTreeMap::new();
        let mut want = |poll: &Poll| {
            for queue in poll.queues() {
                let room = wanted.entry(queue).or_default();
                *room = room.saturating_add(poll.most);
            }
        };
        self.pollers.polls().for_each(&mut want);
        polls.for_each(want);
        let here = self.handlers.keys().cloned().chain(self.executors.queues()).chain([NOTIFY.into()]);
        let here = here.map(|queue| WantedTasks { workspace: None, queue, limit: TAKEN_HERE });
        let polled = wanted.into_iter().map(|((workspace, queue), limit)| {
            let ready = self.ready.get(&(workspace, Arc::clone(&queue))).map_or(0, ReadyTasks::len);
            let limit = limit.saturating_sub(ready);
            WantedTasks { workspace: Some(workspace), queue, limit }
        });
        here.chain(polled.filter(|wanted| wanted.limit > 0)).collect()
    }

    /// Takes up what was found in the store: for a handler here, or for a poller.
    pub(crate) fn take_up(&mut self, found: FoundTask) {
        let FoundTask { run, at, delivery, workspace, queue } = found;
        let ready = ReadyTask { run, at, delivery };
        let is_ours = self.handlers.contains_key(&queue) || self.executors.queues().any(|ours| ours == queue);
        if &*queue == NOTIFY || is_ours {
            if self.running.get(&(run, at)).is_none_or(|running| running.delivery != delivery) {
                self.handed_over.push_back(ready);
            }
        } else {
            let queue = (workspace, queue);
            self.pollers.call(&queue);
            self.ready.entry(queue).or_default().push(&"".into(), ready);
        }
    }

    /// What handlers here have been at for this long.
    pub(crate) fn running_for(&self, length: Duration) -> impl Iterator<Item = ReadyTask> {
        let running = self.running.iter().filter(move |(_, running)| running.since.elapsed() >= length);
        running.map(|((run, at), running)| ReadyTask { run: *run, at: *at, delivery: running.delivery })
    }

    /// What handlers here are at, and what waits here for somebody.
    pub(crate) fn held(&self) -> impl Iterator<Item = ReadyTask> {
        let ready = self.ready.values().flat_map(|tasks| tasks.by_definition.values().flatten());
        let waiting = [&self.own, &self.handed_over, &self.timed, &self.without_room].into_iter().flatten();
        self.running_for(Duration::ZERO).chain(ready.chain(waiting).copied())
    }

    /// The runs that are needed in the next round.
    pub(crate) fn needed(&self) -> impl Iterator<Item = RunId> {
        let ready = self.ready.values().flat_map(|tasks| tasks.by_definition.values().flatten());
        let ready = ready.filter(|_| self.is_shared).take(TAKEN_HERE);
        [&self.own, &self.handed_over, &self.timed].into_iter().flatten().chain(ready).map(|task| task.run)
    }

    pub(crate) fn has_pollers(&self) -> bool {
        self.pollers.are_there()
    }

    /// Takes a task that is not committed yet, if a poller waits for it. It must be claimed in the same round.
    pub(crate) fn offer(&mut self, run: &Run, at: At, delivery: u32) -> bool {
        let Some(work) = run.defined(at).action.work() else { return false };
        if self.works_at(run, at) {
            return false;
        }
        let queue = (run.workspace, queue_of(run, at, work));
        let is_waited_for = self.pollers.call(&queue);
        if is_waited_for {
            let ready = ReadyTask { run: run.id, at, delivery };
            self.keep_ready(run, queue, ready);
        }
        is_waited_for
    }

    fn keep_ready(&mut self, run: &Run, queue: Queue, ready: ReadyTask) {
        if pinned_to(run, ready.at).is_some() {
            self.pinned.insert((ready.run, ready.at), queue.clone());
        }
        self.ready.entry(queue).or_default().push(&run.definition_ref.name, ready);
    }

    /// Who does a task here. One that is pinned is a worker's of its build, and nobody's here.
    fn performer_of(&self, run: &Run, at: At, work: &Work) -> Option<Performer> {
        if pinned_to(run, at).is_some() { None } else { self.performer(work) }
    }

    /// Who does this work here. A handler of the name of a call (`http`, `llm`) stands in for it.
    fn performer(&self, work: &Work) -> Option<Performer> {
        let handler = self.handlers.get(&work.handler).cloned().map(Performer::Handler);
        handler.or_else(|| self.executors.call(work).map(Performer::Call))
    }

    /// What it asks for cannot be rendered.
    fn fail(&mut self, ready: ReadyTask, failure: Failure) {
        let ReadyTask { run, at, delivery } = ready;
        let reports = self.reports.clone();
        self.runtime.spawn(async move {
            drop(tell(&reports, run, notify_step::not_rendered(at, delivery, failure)).await);
        });
    }

    fn perform(&mut self, performer: Performer, ready: ReadyTask, run: &Run, task: Task) {
        let ReadyTask { run: id, at, delivery } = ready;
        let bytes = task.bytes();
        let Some(queue) = self.queue.upgrade() else { return };
        let mut work: Performed = match performer {
            Performer::Handler(handler) => Box::pin(async move { Some(handler.call(task).await) }),
            Performer::Call(call) => {
                let run_budget_micros = run.definition.document.budget_micros;
                let (workspace, queue) = (run.workspace, queue.clone());
                let delivery = Delivery { ready, workspace, run_budget_micros, queue };
                self.executors.perform(call, delivery, task)
            }
        };
        let reports = self.reports.clone();
        let work = self.runtime.spawn(async move {
            // The engine lives as long as somebody may still ask it for something.
            let _queue = queue;
            // A panic is a failure of the task, not of the engine.
            let performed = poll_fn(|context| {
                catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)))
                    .unwrap_or_else(|_| Polled::Ready(Some(TaskResult::fail("the handler panicked"))))
            });
            let Some(result) = performed.await else { return };
            if let Err(Error::Refused(refusal)) = tell(&reports, id, report(at, delivery, result)).await {
                // Nobody is there to mend the report; if it came too late, so does this.
                let (code, message) = (refusal.code(), refusal.to_string());
                let failed = TaskResult::Fail {
                    message,
                    code: Some(code.into()),
                    retryable: false,
                    retry_after: None,
                    detail: None,
                };
                drop(tell(&reports, id, report(at, delivery, failed)).await);
            }
        });
        let work = work.abort_handle();
        self.running_bytes += bytes;
        let before = self.running.insert((id, at), Running { delivery, work, since: Instant::now(), bytes });
        self.make_room(before);
    }

    /// A task stays with whoever was called, who reports later.
    pub(crate) fn lend(
        &mut self,
        task: ReadyTask,
        now: Timestamp,
        length: Millis,
        worker: (WorkspaceId, Arc<str>),
    ) {
        if self.running.get(&(task.run, task.at)).is_some_and(|running| running.delivery == task.delivery) {
            let lent = self.running.remove(&(task.run, task.at));
            self.make_room(lent);
        }
        self.lease(task, now, length, worker);
    }

    /// A task is not under way any more: those that there was no room for come again.
    fn make_room(&mut self, ended: Option<Running>) {
        self.running_bytes -= ended.map_or(0, |ended| ended.bytes);
        if self.running_bytes < IN_PROCESS_BYTES {
            let come = self.without_room.len().min(TAKEN_HERE);
            self.handed_over.extend(self.without_room.drain(..come));
        }
    }

    /// A report came, or the task is not wanted any more.
    pub(crate) fn settle(&mut self, run: RunId, at: At, delivery: u32) {
        if self.running.get(&(run, at)).is_some_and(|running| running.delivery == delivery)
            && let Some(running) = self.running.remove(&(run, at))
        {
            running.work.abort();
            self.make_room(Some(running));
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
        let Some(work) = run.defined(at).action.work() else { return };
        let pinned = self.pinned.remove(&(run.id, at));
        let queue = pinned.unwrap_or_else(|| (run.workspace, queue_of(run, at, work)));
        if let Some(tasks) = self.ready.get_mut(&queue) {
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
        let task = poll.queues().find_map(|queue| {
            let task = self.ready.get_mut(&queue).map(ReadyTasks::pop)?;
            if task.is_none() {
                self.ready.remove(&queue);
            }
            task
        })?;
        self.pinned.remove(&(task.run, task.at));
        Some(task)
    }

    /// Tasks for a poller, which come back if it has gone.
    pub(crate) fn handed(&self, tasks: Vec<Leased>) -> Handed {
        Handed::new(tasks, self.queue.clone())
    }

    pub(crate) fn park(&mut self, poll: Poll, answer: Answer<Handed>) {
        self.pollers.park(poll, answer);
    }

    /// Forgets what nobody waits for any more.
    pub(crate) fn tidy(&mut self) {
        self.pollers.forget_gone();
        self.ready.retain(|_, tasks| !tasks.by_definition.is_empty());
    }

    /// A poller that may find something now, if it still asks.
    pub(crate) fn next_woken(&mut self) -> Option<(Poll, Answer<Handed>)> {
        loop {
            let (poll, answer) = self.pollers.next_woken()?;
            if !answer.is_closed() {
                return Some((poll, answer));
            }
            self.wake_another(&poll);
        }
    }

    /// What a poller has left, or could not take because it has gone, is for the next in line.
    pub(crate) fn wake_another(&mut self, poll: &Poll) {
        for queue in poll.queues() {
            if self.ready.get(&queue).is_some_and(|tasks| tasks.len() > 0) {
                self.pollers.wake(&queue);
            }
        }
    }

    // Other code

    /// A task waits for other code: whoever waits for work and has it may come.
    pub(crate) fn want_code(&mut self, run: &Run, at: At) {
        let open = run.open_waitpoints().filter(|wait| wait.at == Some(at));
        let Some(mismatch) = open.filter_map(Waitpoint::code_mismatch).last() else { return };
        let queue = (run.workspace, Arc::clone(&mismatch.handler));
        self.code_waits.look_again(&queue);
        self.pollers.wake_one(&queue, |poll| !mismatch.excludes(&poll.build));
    }

    /// Lets one poller of each build look whether something waits for its code that others have written.
    pub(crate) fn look_for_code(&mut self) {
        self.pollers.wake_one_of_each_build();
    }

    /// Whether tasks of this handler may wait for the code that the poller has.
    pub(crate) fn may_want_code(&self, poll: &Poll, handler: &Arc<str>) -> bool {
        self.code_waits.may_be_there(&(poll.workspace, Arc::clone(handler)), &poll.build)
    }

    pub(crate) fn want_no_code(&mut self, poll: &Poll, handler: &Arc<str>) {
        self.code_waits.found_none((poll.workspace, Arc::clone(handler)), Arc::clone(&poll.build));
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
        if self.is_shared {
            return until;
        }
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
        self.saw_build(poll, now);
        let key = (poll.workspace, Arc::clone(&poll.worker));
        let (workspace, name) = key.clone();
        let (build, handlers) = (Arc::clone(&poll.build), poll.handlers.clone());
        let worker = Worker { workspace, name, build, handlers, seen_at: now, tasks: 0 };
        let bytes = bytes_of(&worker);
        self.workers_bytes -= self.workers.remove(&key).as_ref().map_or(0, bytes_of);
        let fits = |own: &Dispatcher| {
            own.workers.len() < WORKERS && own.workers_bytes.saturating_add(bytes) <= WORKERS_BYTES
        };
        if !fits(self) {
            let oldest = WORKER_SEEN.before(now);
            self.workers.retain(|_, worker| worker.seen_at > oldest);
            self.workers_bytes = self.workers.values().map(bytes_of).sum();
        }
        if fits(self) {
            self.workers_bytes += bytes;
            self.workers.insert(key, worker);
        }
    }

    fn saw_build(&mut self, poll: &Poll, now: Timestamp) {
        let key = (poll.workspace, Arc::clone(&poll.build));
        if self.builds.len() >= BUILDS && !self.builds.contains_key(&key) {
            let oldest = self.builds.iter().min_by_key(|(_, seen)| **seen).map(|(key, _)| key.clone());
            oldest.map(|oldest| self.builds.remove(&oldest));
        }
        self.builds.insert(key, now);
    }

    pub(crate) fn workers(&self, now: Timestamp) -> Workers {
        let mut handlers = BTreeMap::new();
        for worker in self.workers.values() {
            let (workspace, seen_at) = (worker.workspace, worker.seen_at);
            for handler in &worker.handlers {
                let seen = handlers.entry((workspace, Arc::clone(handler))).or_insert(seen_at);
                *seen = seen_at.max(*seen);
            }
        }
        let here = self.handlers.keys().cloned().chain(self.executors.queues()).collect();
        Workers { seen: self.seen_lately(now), here, handlers, builds: self.builds.clone() }
    }

    /// Those seen lately, or at work, by name.
    fn seen_lately(&self, now: Timestamp) -> Vec<Worker> {
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
        waiting || self.pollers.are_woken()
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
        for Running { work, .. } in self.running.values() {
            work.abort();
        }
    }
}

/// Of a worker that is remembered.
fn bytes_of(worker: &Worker) -> usize {
    let handlers = worker.handlers.iter().map(|name| name.len() + size_of::<Arc<str>>());
    size_of::<Worker>() + 2 * worker.name.len() + worker.build.len() + handlers.sum::<usize>()
}

fn report(at: At, delivery: u32, result: TaskResult) -> Command {
    match result {
        TaskResult::Complete { output, state_updates } => {
            Command::TaskCompleted(TaskCompleted { at, delivery, output, state_updates })
        }
        TaskResult::Fail { message, code, retryable, retry_after, detail } => {
            let mismatch = None;
            Command::TaskFailed(TaskFailed {
                at,
                delivery,
                message,
                code,
                retryable,
                retry_after,
                detail,
                mismatch,
            })
        }
        TaskResult::Pause { name, duration, checkpoint } => {
            Command::TaskPaused(TaskPaused { at, delivery, name, duration, checkpoint })
        }
        TaskResult::Suspend { entries, waits, wake } => {
            let (checkpoint, cancels) = (None, Vec::new());
            Command::TaskSuspended(TaskSuspended { at, delivery, entries, waits, wake, checkpoint, cancels })
        }
    }
}
