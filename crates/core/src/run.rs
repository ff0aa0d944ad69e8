//! A run: its definition, and a snapshot of what has happened to it. Only [`apply`](crate::apply) changes the
//! snapshot, so a run is always what replaying its history gives.
//!
//! The snapshot is sparse: steps that have not begun take no room, and the counters that say whether something
//! runs, waits or is left are kept up to date, so that no decision walks the whole run.

mod pin;
mod step;
mod weight;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capacity::Room;
use crate::definition::{Action, Definition, Executor, Step};
use crate::history::{DefinitionRef, Failure, Parent, Scheduled, StartedOn};
use crate::id::{EventUid, RunId, StepAddress, WaitpointId, WorkspaceId};
use crate::json::Json;
use crate::shared_map::SharedMap;
use crate::spent::Spent;
use crate::status::{RunStatus, StepStatus};
use crate::trace::Traceparent;
use crate::waitpoint::{Actor, ListensFor, OWN_WAIT, TakenEvent, Waitpoint};

pub use self::pin::Pin;
use self::step::is_none_of;
pub(crate) use self::step::{Awaiting, JournalEntry, Journalled};
pub use self::step::{MapState, StepState, TaskState};

/// A run in memory: its definition and its [`Snapshot`], which it dereferences to.
#[derive(Clone, Debug)]
pub struct Run {
    /// The version of the workflow that the run is of now.
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
    /// A run from its stored snapshot.
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

    /// The run at the root of the tree of children; this one, if it is nobody's child.
    pub fn root(&self) -> RunId {
        self.parent.map_or(self.id, |parent| parent.root())
    }

    /// The definition of the step at an address; for an item, of the step inside its map.
    pub fn defined(&self, at: StepAddress) -> &Step {
        defined(&self.definition, at)
    }

    /// The name of the step at an address; an item's ends in its index: `send[3]`.
    pub fn step_name(&self, at: StepAddress) -> String {
        let name = &self.definition.step(at.step).name;
        match at.item {
            None => name.to_string(),
            Some(item) => format!("{name}[{item}]"),
        }
    }

    /// The address of the step of this name, as [`Run::step_name`] writes it.
    pub fn find_step(&self, name: &str) -> Option<StepAddress> {
        if let Some(step) = self.definition.index_of(name) {
            return Some(StepAddress::step(step));
        }
        let (name, item) = name.strip_suffix(']')?.rsplit_once('[')?;
        let at = StepAddress::item(self.definition.index_of(name)?, item.parse().ok()?);
        let map = self.steps.get(&at.step)?.map.as_ref()?;
        (at.item? < map.len()).then_some(at)
    }

    /// The address of the step that started a child, wherever that step is since the run was moved.
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

    /// The status of the step at an address; PENDING if it has not begun.
    pub fn step_status(&self, at: StepAddress) -> StepStatus {
        let status = self.step(at).map_or(StepStatus::Pending, |step| step.status);
        if status == StepStatus::Pending && self.status == RunStatus::Cancelled {
            StepStatus::Cancelled
        } else {
            status
        }
    }

    /// The event that a step took: its number, and when it was received.
    pub fn event_of(&self, at: StepAddress) -> Option<TakenEvent> {
        self.waitpoint(*self.step(at)?.waits.get(OWN_WAIT)?)?.event
    }

    /// When a step that sleeps goes on, or went on: the end of its own sleep, or of the first of its open waits that
    /// time ends.
    pub fn wake_at(&self, at: StepAddress) -> Option<Timestamp> {
        let step = self.step(at)?;
        let of = |number: &u32| self.waitpoint(*number).filter(|wait| wait.kind.ends_by_time());
        let own = step.waits.get(OWN_WAIT).and_then(of);
        let open = || step.waits.values().filter_map(of).filter(|wait| wait.is_pending() && !wait.is_aside());
        own.map_or_else(|| open().filter_map(|wait| wait.resume_at).min(), |wait| wait.resume_at)
    }

    /// The tasks for handlers that are to be done and that no worker has taken.
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

    /// Whether new work is held back: a pause is asked for or in effect, or the run has no room under its limits.
    pub(crate) fn holds_work(&self) -> bool {
        self.pausing || self.lacks_room()
    }

    /// Whether the run may not go on before it gets room under its limits.
    pub fn lacks_room(&self) -> bool {
        !self.definition.limits.is_empty() && self.rooms_of(None).is_none_or(|held| !held.is_complete)
    }

    /// When the whole run must be over; `None` once the history has recorded that it passed.
    pub fn open_deadline(&self) -> Option<Timestamp> {
        self.deadline.filter(|_| !self.deadline_passed && !self.status.has_ended())
    }

    /// The timers of the run, each with its instant.
    pub fn timers(&self) -> Vec<(Timestamp, Timer)> {
        if self.status.has_ended() {
            return Vec::new();
        }
        let waits = self
            .open
            .keys()
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
    /// The address of the task's step.
    pub at: StepAddress,
    /// The name of the handler that does the task.
    pub handler: Arc<str>,
    /// The only build that may take the task; `None`: any.
    pub pinned_to: Option<Arc<str>>,
    /// Since when the task waits for a worker.
    pub since: Timestamp,
}

/// The definition of the step at an address; for an item, of the step inside its map.
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

/// A timer of a run: what is to be looked at when its instant has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Timer {
    /// The end, or the deadline, of the waitpoint of this number. Before the timer of an EVENT wait fires, the engine
    /// offers the wait what is stored, so that an event that was received in time is not missed because it was
    /// delivered late.
    Waitpoint(u32),
    /// The end of the time that one attempt of a task may take.
    Attempt {
        /// The address of the task's step.
        at: StepAddress,
        /// The lease epoch under which the attempt is worked on.
        lease_epoch: u32,
    },
    /// The deadline of the whole run.
    Run,
}

/// The snapshot of a run: everything about it but its definition, as a store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The id of the run.
    pub id: RunId,
    /// The workspace that the run belongs to.
    #[serde(default, skip_serializing_if = "WorkspaceId::is_default")]
    pub workspace: WorkspaceId,
    /// The name and the version of the workflow that the run is of now.
    pub definition_ref: DefinitionRef,
    /// The number of the last record in the history: the version that a commit compares and sets.
    pub seq: u64,
    /// The status of the run.
    pub status: RunStatus,
    /// The input that the run began with.
    pub input: Json,
    /// The values that steps have set, by key.
    pub state: BTreeMap<String, Json>,
    pub(crate) state_bytes: usize,
    /// The size of the run's log, in bytes.
    #[serde(default)]
    pub(crate) log_bytes: usize,
    /// The output of a COMPLETED run.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub output: Option<Json>,
    /// Why a FAILED run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The run that calls the handler of `onFailure` or `onCancel`, if this one has ended in that way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handled_by: Option<RunId>,
    /// Labels that runs can be listed by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Arc<str>>,
    /// The run that started this one; `None`: nobody's child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The occurrence of a schedule that the run is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Scheduled>,
    /// The event that the run was started on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_on: Option<StartedOn>,
    /// Who asked for the run: a key, a parent, a schedule.
    pub created_by: Actor,
    /// On whose behalf the run is: a child's is that of its parent, a scheduled run's that of its schedule's maker.
    pub started_by: Actor,
    /// The W3C trace context of the request that started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Traceparent>,
    /// When the run was created.
    pub created_at: Timestamp,
    /// When the run was retried last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retried_at: Option<Timestamp>,
    /// When the run was moved last to a version that may wait for other events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) awaits_since: Option<Timestamp>,
    /// The versions that the run was moved from, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past_versions: Vec<PastVersion>,
    /// The greatest lease epoch before the last move: tasks that begin after it are handed out with greater ones.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub(crate) deliveries_before: u32,
    /// When the run became RUNNING; `None` while a delayed start is to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When the run ended; `None` while it has not, or since it was retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// When the whole run must have ended; `None`: the definition has no `timeoutMs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    #[serde(default)]
    pub(crate) deadline_passed: bool,

    /// The steps that something has happened to.
    pub(crate) steps: SharedMap<u16, StepState>,
    /// All waitpoints of the run, by number from 1.
    pub(crate) waitpoints: SharedMap<u32, Waitpoint>,
    /// The numbers of the pending waitpoints.
    pub(crate) open: SharedMap<u32, ()>,
    /// The inputs of the starts that a run has collected which has not begun, in order.
    #[serde(default, skip_serializing_if = "SharedMap::is_empty")]
    pub(crate) collected: SharedMap<u32, Json>,
    /// The numbers of the pending waitpoints that wait for a signal, by its type.
    pub(crate) listeners: SharedMap<Arc<str>, SharedMap<u32, ()>>,
    /// The signals that nothing has waited for yet, by their type and number.
    pub(crate) mailbox: SharedMap<Arc<str>, SharedMap<u64, Signal>>,
    pub(crate) signals_received: u64,
    pub(crate) signals_kept: usize,
    /// The size of the signals in the mailbox, in bytes.
    #[serde(default)]
    pub(crate) mailbox_bytes: usize,
    /// The events that waits of this run have taken, and where, in the order of steps.
    pub(crate) taken: SharedMap<EventUid, Vec<Taking>>,

    /// How many step runs are RUNNING. A map counts by its items.
    pub(crate) running: u32,
    /// How many step runs are WAITING. A map counts by its items.
    pub(crate) waiting: u32,
    /// How many steps are settled.
    pub(crate) settled: usize,
    /// Whether a pause is asked for, or in effect.
    pub pausing: bool,
    /// The addresses of work that is held back until the run is unpaused.
    pub(crate) held: BTreeSet<StepAddress>,
    /// The room under limits that the run and its steps hold, by whose it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rooms: Vec<HeldRooms>,
    /// The room under limits that durable calls of handlers hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) call_rooms: Vec<CallRooms>,
    /// Why the run will fail as soon as it may.
    pub(crate) failure: Option<Failure>,
    /// The step whose output is the run's, if the definition names none.
    pub(crate) last_output: Option<u16>,
    /// What the run's calls to models have used up.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
    /// The size of all payloads that were ever put into the run, in bytes.
    #[serde(default)]
    pub(crate) payload_bytes: usize,
    /// The size of the payloads that are large enough to be kept as text, in bytes.
    #[serde(default)]
    pub(crate) large_bytes: usize,
}

impl Snapshot {
    /// The fingerprint of the code that writes snapshots. A snapshot of other code is not read: replaying the history
    /// before it might give another state now.
    pub const FORMAT: &'static str = env!("ABIDE_CORE_FINGERPRINT");

    /// The waitpoint of this number.
    pub fn waitpoint(&self, number: u32) -> Option<&Waitpoint> {
        self.waitpoints.get(&number)
    }

    /// All waitpoints that the run has ever had, oldest first.
    pub fn waitpoints(&self) -> impl ExactSizeIterator<Item = &Waitpoint> + DoubleEndedIterator + Clone {
        self.waitpoints.values()
    }

    /// The pending waitpoints, oldest first.
    pub fn open_waitpoints(&self) -> impl Iterator<Item = &Waitpoint> {
        self.open.keys().filter_map(|number| self.waitpoint(*number))
    }

    /// The state of the step run at an address, if anything has happened there.
    pub fn step(&self, at: StepAddress) -> Option<&StepState> {
        let step = self.steps.get(&at.step)?;
        match at.item {
            None => Some(step),
            Some(item) => step.map.as_ref()?.items.get(&item),
        }
    }

    /// The states of all step runs, steps and items of maps, with their addresses.
    pub fn step_runs(&self) -> impl Iterator<Item = (StepAddress, &StepState)> {
        self.steps.iter().flat_map(|(index, step)| {
            let items = step.map.iter().flat_map(|map| &map.items);
            std::iter::once((StepAddress::step(*index), step))
                .chain(items.map(|(item, state)| (StepAddress::item(*index, *item), state)))
        })
    }

    /// The item that a step run of a map works on.
    pub fn item(&self, at: StepAddress) -> Option<&Value> {
        let map = self.steps.get(&at.step)?.map.as_ref()?;
        map.list.get(usize::try_from(at.item?).ok()?)
    }

    /// The version that the record of this number is of: step addresses in it are that version's.
    pub fn version_at(&self, seq: u64) -> &DefinitionRef {
        let past = self.past_versions.iter().find(|past| seq <= past.until);
        past.map_or(&self.definition_ref, |past| &past.definition)
    }

    /// The signals in the mailbox, which came before anything waited for them.
    pub fn mailbox(&self) -> impl Iterator<Item = &Signal> {
        self.mailbox.values().flat_map(SharedMap::values)
    }

    /// The room under limits that the run itself (`None`) or one of its steps holds.
    pub fn rooms_of(&self, at: Option<StepAddress>) -> Option<&HeldRooms> {
        self.rooms.iter().find(|held| held.at == at)
    }

    /// All room under limits that the run and its steps hold.
    pub fn held_rooms(&self) -> &[HeldRooms] {
        &self.rooms
    }

    /// The room under limits that durable calls of handlers hold.
    pub fn call_rooms(&self) -> &[CallRooms] {
        &self.call_rooms
    }
}

/// Room under limits that a run or one of its steps holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldRooms {
    /// The address of the step whose attempt holds it; `None`: the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<StepAddress>,
    /// The room.
    pub rooms: Vec<Room>,
    /// Whether that is all that is needed to go on: room that is held for work only is given back while nothing is at work.
    pub is_complete: bool,
}

/// Room under limits that a durable call of a handler holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRooms {
    /// The address of the handler's step.
    pub at: StepAddress,
    /// The number of the waitpoint on which the call waited for it.
    pub number: u32,
    /// The room.
    pub rooms: Vec<Room>,
}

/// A version that a run was moved from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastVersion {
    /// The number of the record of the move: those before it are of this version.
    pub until: u64,
    /// The version.
    pub definition: DefinitionRef,
}

/// The step run that took an event first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Taking {
    pub(crate) at: StepAddress,
    /// How many waitpoints the run had then: those with greater numbers began later.
    pub(crate) waits: u32,
}

/// A signal in the mailbox of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signal {
    /// The number of the signal in its run, from 1.
    pub id: u64,
    /// The type by which a wait asks for the signal.
    pub signal_type: Arc<str>,
    /// The data of the signal.
    pub payload: Json,
    /// When the signal was received.
    pub received_at: Timestamp,
    /// Who sent the signal.
    pub by: Actor,
}
