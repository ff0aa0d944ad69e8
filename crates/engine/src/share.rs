//! Nodes on one store. Each of them is a whole engine; the store is all they have in common. This is what an engine keeps
//! of the others, and how often it looks for itself.
//!
//! ```text
//!   pulse (a thread) ── I am here ──▶ store ── who is there, what time it is ──▶ clock, portion of the timers
//!   writer ── tasks that are free, tasks that are late, timers nobody fired ──▶ store
//!   news of other nodes ──▶ writer: pollers, watchers and followers look at once, not only at the next look
//! ```
//!
//! Who looks after what is only a suggestion. Whatever two nodes take up at the same time, one commit is refused, and
//! decided again on what the other one wrote.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use abide_core::id::{At, RunId};
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_store::Store;
use abide_store::cluster::{Cluster, NodeId};
use abide_store::tasks::{StoredTask, TaskWrite, Tasks};
use jiff::Timestamp;

use crate::alarm::Portion;
use crate::clock::StoreClock;
use crate::dispatcher::IN_PROCESS;
use crate::error::Error;
use crate::queues::queue_of;
use crate::request::Request;

/// How often a node says that it is there.
const BEAT: Duration = Duration::from_millis(500);
/// How often a node looks for itself at what word may not have reached it of.
pub(crate) const LOOK: Duration = Duration::from_millis(500);
/// How long a task is a node's: from when it takes it, or from each time it says that a handler is still at it.
pub(crate) const HOLD: Millis = Millis(10_000);
/// How often it says so.
pub(crate) const KEEP: Duration = Duration::from_secs(3);
/// Of those that a handler has been at for so long: most are done before.
pub(crate) const KEEP_AFTER: Duration = Duration::from_millis(1_500);
/// The same for a task that was late: nobody is at it.
pub(crate) const LATE_HOLD: Millis = Millis(2_000);
/// Tasks that were late, taken at once.
pub(crate) const LATE_TASKS: usize = 256;
/// A timer that is ours is looked for in the store when it is late by this much: somebody else set it, and is gone.
pub(crate) const LATE: Millis = Millis(300);
/// A timer that is late by this much is anybody's.
pub(crate) const VERY_LATE: Millis = Millis(3_000);

/// What the writer keeps of it.
pub(crate) struct Share {
    pub(crate) tasks: Box<dyn Tasks>,
    node: NodeId,
    /// Those that are there.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) portion: Portion,
    pub(crate) next_look: Instant,
    pub(crate) next_keep: Instant,
    /// A task may be there for somebody here.
    pub(crate) task_may_be_free: bool,
    /// Runs that somebody here waits for and that have moved on elsewhere.
    pub(crate) moved: BTreeSet<RunId>,
    /// The versions last seen of runs that somebody here waits for.
    pub(crate) seen: HashMap<RunId, u64>,
}

impl Share {
    pub(crate) fn new(tasks: Box<dyn Tasks>, node: NodeId) -> Share {
        let now = Instant::now();
        Share {
            tasks,
            node,
            nodes: vec![node],
            portion: Portion::ALL,
            next_look: now,
            next_keep: now,
            task_may_be_free: true,
            moved: BTreeSet::new(),
            seen: HashMap::new(),
        }
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// Says whether other runs are to be looked after here from now on.
    pub(crate) fn divide(&mut self, nodes: &[NodeId]) -> bool {
        self.nodes = nodes.to_vec();
        let portion = match nodes.iter().position(|node| *node == self.node) {
            Some(rest) => Portion { rest, of: nodes.len() },
            // We were not heard of for a while: until then, we look at everything.
            None => Portion::ALL,
        };
        std::mem::replace(&mut self.portion, portion) != portion
    }

    /// What word may not have reached us of is looked at now.
    pub(crate) fn look_now(&mut self) {
        self.next_look = Instant::now();
        self.task_may_be_free = true;
    }
}

/// Says that the node is there, for as long as it is.
pub(crate) struct Pulse {
    pub(crate) node: NodeId,
    /// The nodes that were there when this one began.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) clock: Arc<StoreClock>,
    cluster: Box<dyn Cluster>,
}

/// Ends with the pulse.
pub(crate) struct Beating {
    _stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Beating {
    /// When it returns, the others know that this node is gone.
    pub(crate) fn stop(self) {
        let Beating { _stop, thread } = self;
        drop(_stop);
        // Nothing is left to be told if it panicked.
        drop(thread.join());
    }
}

impl Pulse {
    /// `None` if nobody else writes to the store.
    pub(crate) fn of(store: &dyn Store, node: NodeId) -> Result<Option<Pulse>, Error> {
        let Some(mut cluster) = store.cluster()? else { return Ok(None) };
        let asked = Instant::now();
        let beat = cluster.heartbeat(node)?;
        let clock = Arc::new(StoreClock::new(beat.now, asked));
        Ok(Some(Pulse { node, nodes: beat.nodes, clock, cluster }))
    }

    pub(crate) fn start(
        mut self,
        queue: tokio::sync::mpsc::WeakSender<Request>,
    ) -> Result<Beating, std::io::Error> {
        let (stop, stopped) = mpsc::channel();
        let beat = move || {
            let mut is_heard = true;
            loop {
                is_heard = self.beat(&queue, is_heard);
                match stopped.recv_timeout(BEAT) {
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
            // If it fails, the others notice after a while.
            let _ = self.cluster.leave(self.node);
        };
        let thread = std::thread::Builder::new().name("abide-pulse".to_owned()).spawn(beat)?;
        Ok(Beating { _stop: stop, thread })
    }

    fn beat(&mut self, queue: &tokio::sync::mpsc::WeakSender<Request>, was_heard: bool) -> bool {
        let asked = Instant::now();
        match self.cluster.heartbeat(self.node) {
            Ok(beat) => {
                self.clock.set(beat.now, asked);
                if let Some(queue) = queue.upgrade() {
                    // When there is no room, the next one will do.
                    drop(queue.try_send(Request::Nodes(beat.nodes)));
                }
                true
            }
            Err(error) => {
                if was_heard {
                    tracing::warn!(%error, "the store does not answer");
                }
                false
            }
        }
    }
}

/// How the row of a task is to be after a round; `None` if it stays as it is.
pub(crate) fn task_row(
    run: &Run,
    at: At,
    now: Timestamp,
    lease: Option<Millis>,
    works_here: impl Fn(&Run, At) -> bool,
) -> Option<TaskWrite> {
    let work = run.defined(at).action.work()?;
    let task = run.step(at).and_then(|step| step.task.as_deref())?;
    if !task.out {
        return Some(TaskWrite::Remove { run: run.id, at, delivery: task.delivery });
    }
    let queue = queue_of(run, at, work);
    let (is_taken, free_at, lease) = match (&task.worker, lease) {
        (Some(worker), _) if &**worker == IN_PROCESS => (true, HOLD.after(now), HOLD),
        (Some(_), Some(lease)) => (true, lease.after(now), lease),
        // It was given to somebody before.
        (Some(_), None) => return None,
        (None, _) if works_here(run, at) => (true, HOLD.after(now), HOLD),
        (None, _) => (false, now, HOLD),
    };
    Some(TaskWrite::Put(StoredTask {
        run: run.id,
        at,
        delivery: task.delivery,
        workspace: run.workspace,
        queue,
        definition: Arc::clone(&run.definition_ref.name),
        is_taken,
        has_begun: task.worker.is_some(),
        free_at: task.deadline.map_or(free_at, |deadline| free_at.min(deadline)),
        lease,
        deadline: task.deadline,
    }))
}
