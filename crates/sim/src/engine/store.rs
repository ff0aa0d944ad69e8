//! A store in memory, of one world: what survives the death of a node, and everything that real stores promise about it.
//! A commit is all or nothing, compares versions, and refuses an event and a wait for it that would miss each other.
//!
//! ```text
//!   machine ── reads ──▶ SimStore (of one node) ──▶ State (of all)
//!   world   ── commits, when they arrive ─────────▶
//! ```
//!
//! What people look at beside runs (keys, webhooks, audit) is not simulated and answers that it is not.

mod board;
mod commit;
mod events;
mod find;
mod limits;
mod lists;
mod not_simulated;
mod roles;
pub(crate) mod snapshots;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_core::capacity::{Limit, LimitSettings};
use abide_core::command::Event;
use abide_core::event_start::RefusedStart;
use abide_core::history::Record;
use abide_core::id::{LimitId, RunId, ScheduleId, StepAddress, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::run::{Run, Snapshot, Timer};
use abide_core::schedule::Schedule;
use abide_store::cluster::NodeId;
use abide_store::tasks::StoredTask;
use abide_store::{Error, Held, Owner, StoredDefinition, StoredFollowUp, StoredTimer, Workspace};
use jiff::Timestamp;

use super::defect::Defect;
use snapshots::SnapshotLog;

/// The store as one node holds it. Clones and the handles of other nodes share what is in it.
#[derive(Clone, Debug)]
pub struct SimStore {
    state: Arc<Mutex<State>>,
    node: NodeId,
    kind: Kind,
}

/// How many processes may write to a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// One, which has the tasks that are out in its memory.
    #[default]
    OneWriter,
    /// Any number: the store keeps the tasks that are out, and who is there.
    Cluster,
}

impl SimStore {
    pub fn new(kind: Kind) -> SimStore {
        let state = State { kind, ..State::default() };
        SimStore { state: Arc::new(Mutex::new(state)), node: NodeId(0), kind }
    }

    /// The same store, as another node holds it.
    pub fn of(&self, node: NodeId) -> SimStore {
        SimStore { state: Arc::clone(&self.state), node, kind: self.kind }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is there, for a node that asks: sometimes it cannot be reached.
    fn read(&self) -> Result<MutexGuard<'_, State>, Error> {
        let mut state = self.state();
        if let Some(left) = state.failing_reads.get_mut(&self.node) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                state.failing_reads.remove(&self.node);
            }
            return Err(Error::Unavailable("the simulated store does not answer".to_owned()));
        }
        Ok(state)
    }
}

/// All that is committed.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) kind: Kind,
    pub(crate) runs: BTreeMap<RunId, RunRow>,
    timers: BTreeSet<StoredTimer>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) idempotency: BTreeMap<String, IdempotencyRecord>,
    pub(crate) definitions: Vec<StoredDefinition>,
    /// Which workflows events may start, and the last start of each that was refused.
    pub(crate) event_starts: BTreeMap<(WorkspaceId, String, String), Option<RefusedStart>>,
    pub(crate) schedules: BTreeMap<ScheduleId, Schedule>,
    pub(crate) limits: BTreeMap<LimitId, Limit>,
    pub(crate) limit_settings: BTreeMap<LimitId, LimitSettings>,
    /// Whether somebody has set anything for a limit.
    pub(crate) ever_set: bool,
    /// Limits for which something was ordered that is not answered yet: it may be set and taken back in one commit.
    pub(crate) ordered: Vec<LimitId>,
    pub(crate) follow_ups: BTreeMap<(WorkspaceId, u128), StoredFollowUp>,
    descendants: BTreeMap<RunId, u64>,
    /// The task board of a cluster.
    pub(crate) tasks: BTreeMap<(RunId, StepAddress), StoredTask>,
    /// When each node was last heard of.
    pub(crate) nodes: BTreeMap<NodeId, Timestamp>,
    /// By the store's own clock, which is everybody's.
    pub(crate) now: Timestamp,
    workspaces: Vec<Workspace>,
    held: BTreeMap<Owner, Held>,
    settings: BTreeMap<String, Vec<u8>>,
    /// Commits so far: the number of a commit says what could be seen before it.
    pub(crate) commits: u64,
    snapshots: BTreeMap<NodeId, SnapshotLog>,
    /// How many reads of a node fail from here on.
    pub(crate) failing_reads: BTreeMap<NodeId, u32>,
    /// Nodes whose process has ended.
    pub(crate) dead: BTreeSet<NodeId>,
    /// What is broken on purpose.
    pub(crate) defect: Option<Defect>,
}

#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    pub(crate) run: Run,
    pub(crate) history: Vec<Record>,
    /// The commit that opened each wait.
    began_in: BTreeMap<u32, u64>,
    written_by: NodeId,
    /// The run as it was a while ago, for those who load it.
    snapshot: Option<Snapshot>,
}

#[derive(Clone, Debug)]
pub(crate) struct EventRow {
    pub(crate) event: Event,
    stored_in: u64,
}

impl State {
    /// Timers of a run or a schedule, made anew.
    fn set_timers(
        &mut self,
        owner: RunId,
        was: Vec<StoredTimer>,
        is: impl Iterator<Item = (Timestamp, Timer)>,
    ) {
        for timer in was {
            self.timers.remove(&timer);
        }
        let stored = is.filter(|(_, timer)| !matches!(timer, Timer::Attempt { .. }));
        self.timers.extend(stored.map(|(at, timer)| StoredTimer { at, run: owner, timer }));
    }

    fn workspaces(&self) -> Vec<Workspace> {
        let default = Workspace {
            id: WorkspaceId::DEFAULT,
            name: "default".to_owned(),
            created_at: Timestamp::UNIX_EPOCH,
        };
        [default].into_iter().chain(self.workspaces.iter().cloned()).collect()
    }
}

/// The timers that the store keeps of a run; the time of an attempt is known only while its run is in memory.
fn timers_of(run: &Run) -> Vec<StoredTimer> {
    let timers = run.timers().into_iter().filter(|(_, timer)| !matches!(timer, Timer::Attempt { .. }));
    timers.map(|(at, timer)| StoredTimer { at, run: run.id, timer }).collect()
}

fn timers_of_schedule(schedule: &Schedule) -> Vec<(Timestamp, Timer)> {
    let pending = schedule.pending().and_then(|wait| Some((wait.resume_at?, Timer::Waitpoint(wait.number))));
    pending.into_iter().collect()
}
