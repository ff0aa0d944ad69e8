//! The way of a task: from the commit that puts it out to whoever does it. Handlers and calls of this process are told to
//! [perform](crate::machine::Output::Perform) it; workers poll for it.
//!
//! ```text
//!   open round ──▶ offered to pollers that wait ──▶ claimed: put out and leased in one commit
//!       └──▶ commit ──▶ board ──▶ taken for here ──▶ next round ──▶ running (Perform, Abort)
//!                           └───▶ taken for pollers ──▶ claimed in the same pass: a lease, in the commit that notes it
//! ```
//!
//! The lease epoch is what fences a worker that lost its lease; nothing here is needed for that.

mod board;
mod code_waits;
#[cfg(test)]
mod conformance;
mod fair_queue;
mod handed;
mod memory;
mod out;
mod performers;
mod pollers;
mod polling;
mod running;
mod stored;
mod workers;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use abide_core::definition::Executor;
use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::queue::{NOTIFY, pinned_to, queue_of};
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_store::tasks::{FoundTask, StoredTask, TaskWrite, WantedTasks};
use jiff::Timestamp;
use tokio::sync::mpsc;

pub(crate) use board::{Lease, TaskBoard, WorkerKey};
use code_waits::CodeWaits;
pub use handed::Handed;
pub(crate) use memory::MemoryBoard;
pub use out::write_tasks_out;
pub(crate) use out::{WITH_TASKS_OUT, rows_of};
use performers::Performers;
use pollers::Pollers;
pub(crate) use pollers::Queue;
use running::Running;
pub(crate) use stored::StoredBoard;
use workers::WorkersSeen;

use crate::machine::{Now, Output, Perform};
use crate::request::{Poll, Request, Workers};
use crate::shares::Shares;

/// How long a worker has a task before it must report, if it does not say.
pub(crate) const LEASE: Millis = Millis(60_000);
/// Tasks of one name that a process takes for its own handlers at once.
const TAKEN_HERE: usize = 1_000;
/// Pollers that tasks of one name are taken for at once.
const TAKEN_FOR: usize = 1_000;

/// Names one handing-out of a task: its address and its lease epoch. Whether it is free, leased or over, the board and the run
/// know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskKey {
    /// The run that the task is a part of.
    pub run: RunId,
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch: the number that fences earlier holders.
    pub lease_epoch: u32,
}

impl TaskKey {
    fn found(self) -> FoundTask {
        let TaskKey { run, at, lease_epoch } = self;
        FoundTask { run, at, lease_epoch, workspace: WorkspaceId::default(), queue: "".into() }
    }
}

impl From<FoundTask> for TaskKey {
    fn from(found: FoundTask) -> TaskKey {
        TaskKey { run: found.run, at: found.at, lease_epoch: found.lease_epoch }
    }
}

/// Where tasks may be free that somebody here wants, as far as is known without asking the board.
#[derive(Default)]
struct Hints {
    anywhere: bool,
    here: bool,
    queues: BTreeSet<Queue>,
}

impl Hints {
    fn are_there(&self) -> bool {
        self.anywhere || self.here || !self.queues.is_empty()
    }
}

/// Tasks, from the commit that puts them out to whoever does them.
pub(crate) struct Tasks {
    board: Box<dyn TaskBoard>,
    performers: Performers,
    running: Running,
    pollers: Pollers,
    workers: WorkersSeen,
    code_waits: CodeWaits,
    hints: Hints,
    /// Taken from the board for pollers, in this pass.
    at_hand: BTreeMap<Queue, VecDeque<TaskKey>>,
    /// Tasks for handlers here, to be taken up in the next round.
    for_here: VecDeque<TaskKey>,
    /// Tasks for handlers here whose time is limited: it is noted when it begins, in the next round.
    timed: VecDeque<TaskKey>,
    /// What the writer does itself in the next round: `notify` steps, and tasks that cannot be rendered.
    own: VecDeque<TaskKey>,
    /// Taken in this pass, and their run could not be read.
    unread: Vec<TaskKey>,
    /// The way back of tasks whose poller has gone.
    back: mpsc::WeakSender<Request>,
}

impl Tasks {
    pub(crate) fn new(
        board: Box<dyn TaskBoard>,
        urls: BTreeSet<Arc<str>>,
        back: mpsc::WeakSender<Request>,
    ) -> Tasks {
        Tasks {
            board,
            performers: Performers::new(urls),
            running: Running::default(),
            pollers: Pollers::default(),
            workers: WorkersSeen::default(),
            code_waits: CodeWaits::default(),
            hints: Hints { anywhere: true, ..Hints::default() },
            at_hand: BTreeMap::new(),
            for_here: VecDeque::new(),
            timed: VecDeque::new(),
            own: VecDeque::new(),
            unread: Vec::new(),
            back,
        }
    }

    pub(crate) fn board(&mut self) -> &mut dyn TaskBoard {
        &mut *self.board
    }

    pub(crate) fn is_in_commit(&self) -> bool {
        self.board.is_in_commit()
    }

    pub(crate) fn hold(&self) -> Millis {
        self.board.hold()
    }

    pub(crate) fn next_late(&self) -> Option<Timestamp> {
        self.board.next_late()
    }

    /// Tasks of this name are performed here from now on.
    pub(crate) fn register(&mut self, name: Arc<str>) {
        self.performers.register(name);
        self.hints.here = true;
    }

    /// Whether a task is done in this process, by a handler or by the engine itself. One that is pinned is a worker's of its
    /// build, and nobody's here.
    pub(crate) fn works_at(&self, run: &Run, at: StepAddress) -> bool {
        let work = run.defined(at).action.work();
        work.is_some_and(|work| {
            work.executor == Executor::Notify
                || (pinned_to(run, at).is_none() && self.performers.can_do(work))
        })
    }

    // From a commit

    /// A round with these writes is committed. `holder` says which worker got a task in it.
    pub(crate) fn put(
        &mut self,
        writes: Vec<TaskWrite>,
        holder: &dyn Fn(RunId, StepAddress) -> Option<WorkerKey>,
    ) {
        self.board.put(writes, holder);
    }

    /// A task that is out is put on a board that begins empty, unless it is there.
    pub(crate) fn restore(&mut self, task: StoredTask, worker: Option<WorkerKey>) {
        self.board.restore(task, worker);
        self.hints.anywhere = true;
    }

    /// Gives back the tasks of a run that nobody has begun and nobody performs here.
    pub(crate) fn release_idle(&mut self, run: &Run, now: Timestamp) {
        let out = run.step_runs().filter_map(|(at, step)| {
            let task = step.task.as_deref().filter(|task| task.out && task.worker.is_none())?;
            Some(TaskKey { run: run.id, at, lease_epoch: task.lease_epoch })
        });
        let idle: Vec<TaskKey> = out.filter(|task| !self.running.has(*task)).collect();
        self.release(&idle, now);
    }

    /// A task that was just put out: for a handler here, or for whoever takes it.
    pub(crate) fn dispatch(&mut self, run: &Run, task: TaskKey, now: Now, outputs: &mut Vec<Output>) {
        if self.works_at(run, task.at) {
            return self.perform(run, task, now, outputs);
        }
        let state = run.step(task.at).and_then(|step| step.task.as_deref());
        let is_free =
            state.is_some_and(|state| state.lease_epoch == task.lease_epoch && state.worker.is_none());
        if let Some(work) = run.defined(task.at).action.work().filter(|_| is_free) {
            self.may_be_free((run.workspace, queue_of(run, task.at, work)));
        }
    }

    /// A task of this name may be on the board.
    pub(crate) fn may_be_free(&mut self, queue: Queue) {
        self.hints.here |= self.performers.has(&queue.1);
        if self.pollers.wait_for(&queue) {
            self.hints.queues.insert(queue);
        }
    }

    /// Tasks of any name may be on the board.
    pub(crate) fn may_be_free_anywhere(&mut self) {
        self.hints.anywhere = true;
    }

    /// Has a task performed here, now or when there is room; or gives it back where nobody here does it.
    pub(crate) fn perform(&mut self, run: &Run, ready: TaskKey, now: Now, outputs: &mut Vec<Output>) {
        let Some(work) = run.defined(ready.at).action.work() else { return };
        if work.executor == Executor::Notify {
            return self.own.push_back(ready);
        }
        if !self.works_at(run, ready.at) {
            return self.release(&[ready], now.wall);
        }
        if !self.running.has_room_for(ready) {
            return;
        }
        match run.task(ready.at) {
            Some(Ok(task)) if task.lease_epoch != ready.lease_epoch => {}
            Some(Ok(task)) if task.timeout.is_some() && task.deadline.is_none() => {
                self.timed.push_back(ready);
            }
            Some(Ok(task)) => {
                let before = self.running.insert(ready, now.elapsed, task.bytes());
                outputs.extend(before.map(Output::Abort));
                let (workspace, run_budget_micros) = (run.workspace, run.definition.document.budget_micros);
                outputs.push(Output::Perform(Box::new(Perform {
                    ready,
                    workspace,
                    run_budget_micros,
                    task,
                })));
                self.make_room();
            }
            // What it asks for cannot be rendered.
            Some(Err(_)) => self.own.push_back(ready),
            None => {}
        }
    }

    /// A report came, or the task is not wanted any more. Says since when it was performed here, if it was.
    pub(crate) fn settle(&mut self, task: TaskKey, outputs: &mut Vec<Output>) -> Option<Duration> {
        let since = self.running.remove(task)?;
        outputs.push(Output::Abort(task));
        self.make_room();
        Some(since)
    }

    /// A task stays with whoever was called, who reports later.
    pub(crate) fn accepted(&mut self, task: TaskKey, outputs: &mut Vec<Output>) {
        if self.running.remove(task).is_some() {
            outputs.push(Output::Detach(task));
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        self.for_here.extend(self.running.with_room());
    }

    // For the next round

    pub(crate) fn next_for_here(&mut self) -> Option<TaskKey> {
        self.for_here.pop_front()
    }

    pub(crate) fn next_timed(&mut self) -> Option<TaskKey> {
        self.timed.pop_front()
    }

    pub(crate) fn next_own(&mut self) -> Option<TaskKey> {
        self.own.pop_front()
    }

    /// What was taken for a round that was not committed is tried again.
    pub(crate) fn put_back(
        &mut self,
        for_here: impl IntoIterator<Item = TaskKey>,
        timed: impl IntoIterator<Item = TaskKey>,
        own: impl IntoIterator<Item = TaskKey>,
    ) {
        self.for_here.extend(for_here);
        self.timed.extend(timed);
        self.own.extend(own);
    }

    /// The runs that are needed in the next round.
    pub(crate) fn needed(&self) -> impl Iterator<Item = RunId> {
        let at_hand = self.at_hand.values().flatten().take(TAKEN_HERE);
        [&self.own, &self.for_here, &self.timed].into_iter().flatten().chain(at_hand).map(|task| task.run)
    }

    // From the board

    /// Whether tasks may be free that somebody here wants.
    pub(crate) fn has_hints(&self) -> bool {
        self.hints.are_there()
    }

    /// Takes what is free: for these polls, and where a hint says so, or everywhere, for those who wait and for here.
    pub(crate) fn find<'p>(
        &mut self,
        polls: impl Iterator<Item = &'p Poll>,
        everywhere: bool,
        shares: &Shares,
        now: Timestamp,
    ) -> Result<(), abide_store::Error> {
        let everywhere = everywhere || self.hints.anywhere;
        let wanted = self.wanted(polls, everywhere);
        self.hints = Hints::default();
        if wanted.is_empty() {
            return Ok(());
        }
        match self.board.take(&wanted, &shares.own(), now, self.board.hold().after(now)) {
            Ok(found) => found.into_iter().for_each(|task| self.adopt(task)),
            Err(error) => {
                self.hints.anywhere = true;
                return Err(error);
            }
        }
        Ok(())
    }

    fn wanted<'p>(&self, polls: impl Iterator<Item = &'p Poll>, everywhere: bool) -> Vec<WantedTasks> {
        let mut wanted: BTreeMap<Queue, usize> = BTreeMap::new();
        let mut want = |queue: Queue, most: usize| {
            let room = wanted.entry(queue).or_default();
            *room = room.saturating_add(most);
        };
        for poll in polls {
            poll.queues().for_each(|queue| want(queue, poll.most));
        }
        if everywhere {
            for poll in self.pollers.polls() {
                poll.queues().for_each(|queue| want(queue, poll.most));
            }
        } else {
            for queue in &self.hints.queues {
                for poll in self.pollers.polls_for(queue, TAKEN_FOR) {
                    want(queue.clone(), poll.most);
                }
            }
        }
        let here = self.performers.names().chain([NOTIFY.into()]);
        let here = here.filter(|_| everywhere || self.hints.here);
        let here = here.map(|queue| WantedTasks { workspace: None, queue, limit: TAKEN_HERE });
        let polled = wanted.into_iter().map(|((workspace, queue), limit)| WantedTasks {
            workspace: Some(workspace),
            queue,
            limit,
        });
        here.chain(polled).collect()
    }

    /// Takes up what the board gave: for a handler here, or for a poller.
    fn adopt(&mut self, found: FoundTask) {
        let (queue, is_ours) =
            ((found.workspace, Arc::clone(&found.queue)), self.performers.has(&found.queue));
        let ready = TaskKey::from(found);
        if !is_ours {
            self.pollers.call(&queue);
            self.at_hand.entry(queue).or_default().push_back(ready);
        } else if !self.running.has(ready) {
            self.for_here.push_back(ready);
        }
    }

    /// Gives back what nobody does here. Whoever waits for it finds it.
    pub(crate) fn release(&mut self, tasks: &[TaskKey], now: Timestamp) {
        if tasks.is_empty() {
            return;
        }
        let found: Vec<FoundTask> = tasks.iter().map(|task| task.found()).collect();
        match self.board.release(&found, now) {
            Ok(()) => self.hints.anywhere = true,
            Err(error) => tracing::warn!(%error, "tasks could not be given back; they are free in a while"),
        }
    }

    /// The run of a task that was taken cannot be read now.
    pub(crate) fn could_not_read(&mut self, task: TaskKey) {
        self.unread.push(task);
    }

    /// Gives back what was taken in this pass and could not be read, or that no poller has claimed. Says whether something
    /// could not be read.
    pub(crate) fn release_unclaimed(&mut self, now: Timestamp) -> bool {
        let unread = std::mem::take(&mut self.unread);
        if !self.at_hand.is_empty() {
            let (queues, unclaimed): (Vec<Queue>, Vec<_>) =
                std::mem::take(&mut self.at_hand).into_iter().unzip();
            let had_hint = self.hints.anywhere;
            self.release(&unclaimed.into_iter().flatten().collect::<Vec<TaskKey>>(), now);
            self.hints.anywhere = had_hint || self.pollers.are_woken();
            queues.into_iter().for_each(|queue| self.may_be_free(queue));
        }
        self.release(&unread, now);
        !unread.is_empty()
    }

    /// What is worked on here is anybody's from now on.
    pub(crate) fn release_all(&mut self, now: Now) {
        let waiting = [&self.own, &self.for_here, &self.timed].into_iter().flatten().copied();
        let at_hand = self.at_hand.values().flatten().copied();
        let running = self.running.lasting(Duration::ZERO, now.elapsed);
        let all: Vec<TaskKey> =
            running.chain(waiting).chain(at_hand).chain(self.running.waiting_for_room()).collect();
        self.release(&all, now.wall);
    }

    /// Prolongs the leases of what handlers here have been at for this long.
    pub(crate) fn renew_lasting(&mut self, length: Duration, now: Now) -> Result<(), abide_store::Error> {
        let lasting: Vec<FoundTask> = self.running.lasting(length, now.elapsed).map(TaskKey::found).collect();
        if lasting.is_empty() {
            return Ok(());
        }
        self.board.renew(&lasting, self.board.hold().after(now.wall))
    }

    // Workers

    pub(crate) fn saw(&mut self, poll: &Poll, now: Timestamp) {
        self.workers.saw(poll, now);
    }

    /// The worker that has a task gave a sign of life.
    pub(crate) fn heard_of(&mut self, task: TaskKey, now: Timestamp) {
        if let Some(worker) = self.board.holder(task.run, task.at) {
            self.workers.heard_of(worker, now);
        }
    }

    pub(crate) fn workers(&self, now: Timestamp) -> Workers {
        self.workers.all(&self.board.holders(), self.performers.names().collect(), now)
    }

    /// Something is to be done in the next round.
    pub(crate) fn has_work(&self) -> bool {
        let waiting = [&self.own, &self.for_here, &self.timed].iter().any(|tasks| !tasks.is_empty());
        waiting || self.pollers.are_woken() || self.hints.are_there()
    }

    /// No handler here is at work.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty() && !self.has_work()
    }
}
