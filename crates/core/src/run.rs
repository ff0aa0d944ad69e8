//! A run: its definition, and a snapshot of what has happened to it. Only [`apply`](crate::apply) changes the
//! snapshot, so a run is always what replaying its history gives.
//!
//! The snapshot is sparse: steps that have not begun take no room, and the counters that say whether something
//! runs, waits or is left are kept up to date, so that no decision walks the whole run.

mod pin;
mod step;
mod weight;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::definition::{Action, Definition, Executor, Step};
use crate::history::{DefinitionRef, Failure, Parent, Scheduled};
use crate::id::{EventUid, RunId, StepAddress, WaitpointId, WorkspaceId};
use crate::json::Json;
use crate::spent::Spent;
use crate::status::{RunStatus, StepStatus};
use crate::trace::Traceparent;
use crate::waitpoint::{Actor, ListensFor, OWN_WAIT, TakenEvent, Waitpoint};

pub use self::pin::Pin;
use self::step::is_none_of;
pub(crate) use self::step::{Awaiting, JournalEntry, Journalled};
pub use self::step::{MapState, StepState, TaskState};

/// A run in memory. Reads like its [`Snapshot`].
#[derive(Clone, Debug)]
pub struct Run {
    pub definition: Arc<Definition>,
    pub(crate) snapshot: Snapshot,
}

impl Deref for Run {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.snapshot
    }
}

impl Run {
    /// A run as it was stored.
    pub fn restore(definition: Arc<Definition>, snapshot: Snapshot) -> Run {
        Run { definition, snapshot }
    }

    /// Everything about the run but its definition.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The id of the waitpoint of this number.
    pub fn waitpoint_id(&self, number: u32) -> WaitpointId {
        self.id.waitpoint(number)
    }

    /// The run that this one began with: nobody's child.
    pub fn root(&self) -> RunId {
        self.parent.map_or(self.id, |parent| parent.root())
    }

    /// The step as defined; an item's is the step inside its map.
    pub fn defined(&self, at: StepAddress) -> &Step {
        defined(&self.definition, at)
    }

    /// The step's name; an item's ends in its index: `send[3]`.
    pub fn step_name(&self, at: StepAddress) -> String {
        let name = &self.definition.step(at.step).name;
        match at.item {
            None => name.to_string(),
            Some(item) => format!("{name}[{item}]"),
        }
    }

    /// The reverse of [`Run::step_name`].
    pub fn find_step(&self, name: &str) -> Option<StepAddress> {
        if let Some(step) = self.definition.index_of(name) {
            return Some(StepAddress::step(step));
        }
        let (name, item) = name.strip_suffix(']')?.rsplit_once('[')?;
        let at = StepAddress::item(self.definition.index_of(name)?, item.parse().ok()?);
        let map = self.steps.get(&at.step)?.map.as_ref()?;
        (at.item? < map.len()).then_some(at)
    }

    /// Where a child was started, wherever that step is since the run was moved.
    pub(crate) fn place_of_child(&self, child: RunId) -> Option<StepAddress> {
        let id = child.to_string();
        let is_it = |(at, state): &(StepAddress, &StepState)| {
            let waits = state.waits.values().filter_map(|number| self.waitpoint(*number));
            let is_awaited = |wait: &Waitpoint| matches!(wait.listens_for, ListensFor::Child { run_id } if run_id == child);
            let is_told = || state.output.as_ref().and_then(|it| it.get("runId")).is_some_and(|it| *it == id);
            matches!(self.defined(*at).action, Action::Child { .. })
                && (waits.into_iter().any(is_awaited) || is_told())
        };
        self.step_runs().find(is_it).map(|(at, _)| at)
    }

    /// How far a step is, begun or not.
    pub fn step_status(&self, at: StepAddress) -> StepStatus {
        let status = self.step(at).map_or(StepStatus::Pending, |step| step.status);
        if status == StepStatus::Pending && self.status == RunStatus::Cancelled {
            StepStatus::Cancelled
        } else {
            status
        }
    }

    /// The event that a step took: which one, and when it was received.
    pub fn event_of(&self, at: StepAddress) -> Option<TakenEvent> {
        self.waitpoint(*self.step(at)?.waits.get(OWN_WAIT)?)?.event
    }

    /// When a step that sleeps goes on, or went on: the instant of its own sleep, or of the first of its open waits that time
    /// ends.
    pub fn wake_at(&self, at: StepAddress) -> Option<Timestamp> {
        let step = self.step(at)?;
        let of = |number: &u32| self.waitpoint(*number).filter(|wait| wait.kind.ends_by_time());
        let own = step.waits.get(OWN_WAIT).and_then(of);
        let open = || step.waits.values().filter_map(of).filter(|wait| wait.is_pending() && !wait.is_aside());
        own.map_or_else(|| open().filter_map(|wait| wait.resume_at).min(), |wait| wait.resume_at)
    }

    /// Tasks for handlers that are to be done and that no worker has taken.
    pub fn unclaimed_tasks(&self) -> impl Iterator<Item = UnclaimedTask> {
        self.step_runs().filter_map(|(at, step)| {
            let task = step.task.as_deref().filter(|task| task.out && task.taken_at.is_none())?;
            let work = self.defined(at).action.work().filter(|work| work.executor == Executor::Handler)?;
            Some(UnclaimedTask {
                at,
                handler: Arc::clone(&work.handler),
                pinned_to: task.pinned_to().cloned(),
                since: step.started_at.unwrap_or(self.created_at),
            })
        })
    }

    /// When the whole run must be over, unless that has been noted already.
    pub fn open_deadline(&self) -> Option<Timestamp> {
        self.deadline.filter(|_| !self.deadline_passed && !self.status.has_ended())
    }

    /// The timers that must go off for this run, whatever else happens.
    pub fn timers(&self) -> Vec<(Timestamp, Timer)> {
        if self.status.has_ended() {
            return Vec::new();
        }
        let waits = self
            .open
            .iter()
            .filter_map(|number| Some((self.waitpoint(*number)?.resume_at?, Timer::Waitpoint(*number))));
        let attempts = self.step_runs().filter_map(|(at, step)| {
            let task = step.task.as_ref()?;
            Some((task.deadline?, Timer::Attempt { at, lease_epoch: task.lease_epoch }))
        });
        let run = self.open_deadline().map(|at| (at, Timer::Run));
        waits.chain(attempts).chain(run).collect()
    }
}

/// A task for a handler that no worker has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnclaimedTask {
    pub at: StepAddress,
    pub handler: Arc<str>,
    /// The only build that may take it.
    pub pinned_to: Option<Arc<str>>,
    pub since: Timestamp,
}

/// The step a place belongs to; an item's is the step inside its map.
pub(crate) fn defined(definition: &Definition, at: StepAddress) -> &Step {
    let step = definition.step(at.step);
    if let Action::Map(map) = &step.action
        && at.item.is_some()
    {
        &map.step
    } else {
        step
    }
}

/// Something that must be looked at when its instant has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Timer {
    /// Before the timer of an EVENT wait fires, the engine offers the wait what is stored, so that an event that was
    /// received in time is not missed because it was delivered late.
    Waitpoint(u32),
    /// The time one attempt of a task may work.
    Attempt { at: StepAddress, lease_epoch: u32 },
    /// The time the whole run may take.
    Run,
}

/// Everything about a run but its definition; what a store keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    pub id: RunId,
    #[serde(default, skip_serializing_if = "WorkspaceId::is_default")]
    pub workspace: WorkspaceId,
    pub definition_ref: DefinitionRef,
    /// Records in the history so far: the version that a commit compares and sets.
    pub seq: u64,
    pub status: RunStatus,
    pub input: Json,
    pub state: BTreeMap<String, Json>,
    pub(crate) state_bytes: usize,
    /// What its handlers have written to its log.
    #[serde(default)]
    pub(crate) log_bytes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub output: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The run that calls the handler of `onFailure` or `onCancel`, if this one has ended in that way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handled_by: Option<RunId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Scheduled>,
    pub created_by: Actor,
    /// On whose behalf: a child run's is that of its parent, a scheduled run's that of its schedule's maker.
    pub started_by: Actor,
    /// The trace of the request that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Traceparent>,
    pub created_at: Timestamp,
    /// When it was retried last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retried_at: Option<Timestamp>,
    /// When it was moved last to a version that may wait for other events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) awaits_since: Option<Timestamp>,
    /// The versions it was moved from, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past_versions: Vec<PastVersion>,
    /// Tasks that began after a move are handed out with greater numbers than all before it.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub(crate) deliveries_before: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    #[serde(default)]
    pub(crate) deadline_passed: bool,

    /// Steps that something has happened to.
    pub(crate) steps: BTreeMap<u16, StepState>,
    /// By number, from 1.
    pub(crate) waitpoints: Vec<Waitpoint>,
    /// The pending ones.
    pub(crate) open: BTreeSet<u32>,
    /// The pending ones that wait for a signal, by its type.
    pub(crate) listeners: BTreeMap<Arc<str>, BTreeSet<u32>>,
    pub(crate) mailbox: BTreeMap<Arc<str>, VecDeque<Signal>>,
    pub(crate) signals_received: u64,
    pub(crate) signals_kept: usize,
    /// Of the signals in the mailbox.
    #[serde(default)]
    pub(crate) mailbox_bytes: usize,
    /// Events that waits of this run have taken, and where, in the order of places.
    pub(crate) taken: BTreeMap<EventUid, Vec<Taking>>,

    /// How many places are RUNNING, and how many WAITING. A map counts by its items.
    pub(crate) running: u32,
    pub(crate) waiting: u32,
    /// How many steps are settled.
    pub(crate) settled: usize,
    /// A pause is asked for, or in effect.
    pub pausing: bool,
    /// Work kept for the unpause.
    pub(crate) held: BTreeSet<StepAddress>,
    /// Why the run will fail as soon as it may.
    pub(crate) failure: Option<Failure>,
    /// The step whose output is the run's, if the definition names none.
    pub(crate) last_output: Option<u16>,
    /// What its calls to models used up.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
    /// Of all payloads that were ever put into it, and of the large ones among them.
    #[serde(default)]
    pub(crate) payload_bytes: usize,
    #[serde(default)]
    pub(crate) large_bytes: usize,
}

impl Snapshot {
    /// Names the code that wrote a snapshot. One of other code is not read: replaying the history before it might give
    /// another state now.
    pub const FORMAT: &'static str = env!("ABIDE_CORE_FINGERPRINT");

    /// The waitpoint of this number.
    pub fn waitpoint(&self, number: u32) -> Option<&Waitpoint> {
        self.waitpoints.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// All waitpoints that the run has ever had, oldest first.
    pub fn waitpoints(&self) -> &[Waitpoint] {
        &self.waitpoints
    }

    /// The pending waitpoints, oldest first.
    pub fn open_waitpoints(&self) -> impl Iterator<Item = &Waitpoint> {
        self.open.iter().filter_map(|number| self.waitpoint(*number))
    }

    /// How far a place is, if anything has happened there.
    pub fn step(&self, at: StepAddress) -> Option<&StepState> {
        let step = self.steps.get(&at.step)?;
        match at.item {
            None => Some(step),
            Some(item) => step.map.as_ref()?.items.get(&item),
        }
    }

    /// Everywhere something has happened: steps, and items of maps.
    pub fn step_runs(&self) -> impl Iterator<Item = (StepAddress, &StepState)> {
        self.steps.iter().flat_map(|(index, step)| {
            let items = step.map.iter().flat_map(|map| &map.items);
            std::iter::once((StepAddress::step(*index), step))
                .chain(items.map(|(item, state)| (StepAddress::item(*index, *item), state)))
        })
    }

    /// The item a place of a map works on.
    pub fn item(&self, at: StepAddress) -> Option<&Value> {
        let map = self.steps.get(&at.step)?.map.as_ref()?;
        map.list.get(usize::try_from(at.item?).ok()?)
    }

    /// The version that the record of this number is of: places in it are that version's.
    pub fn version_at(&self, seq: u64) -> &DefinitionRef {
        let past = self.past_versions.iter().find(|past| seq <= past.until);
        past.map_or(&self.definition_ref, |past| &past.definition)
    }

    /// Signals that came before anything waited for them.
    pub fn mailbox(&self) -> impl Iterator<Item = &Signal> {
        self.mailbox.values().flatten()
    }

    /// New work is kept back: a pause is asked for or in effect.
    pub(crate) fn holds_work(&self) -> bool {
        self.pausing
    }
}

/// A version that a run was moved from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastVersion {
    /// The record of the move: those before it are of this version.
    pub until: u64,
    pub definition: DefinitionRef,
}

/// Where an event was taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Taking {
    pub(crate) at: StepAddress,
    /// How many waitpoints the run had then: those with greater numbers began after it.
    pub(crate) waits: u32,
}

/// A signal in the mailbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signal {
    /// Counted from 1 in its run.
    pub id: u64,
    pub signal_type: Arc<str>,
    pub payload: Json,
    pub received_at: Timestamp,
    pub by: Actor,
}
