//! The backlog: follow-ups that are in the store and not done yet. The oldest of each workspace are in memory, and
//! the workspaces take turns, so that one with many does not keep the others waiting.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::follow_up::FollowUp;
use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::refusal::Refusal;
use abide_store::{Read, StoredFollowUp};

use crate::error::Error;
use crate::shares::Shares;

/// How many follow-ups of one workspace are in memory; the store has the others.
const IN_MEMORY: usize = 2_000;

/// An event id in its workspace.
pub(crate) type EventKey = (WorkspaceId, Arc<str>);

/// A follow-up that can be done now.
#[derive(Clone, Debug)]
pub(crate) struct Queued {
    pub(crate) stored: StoredFollowUp,
    /// The result of checking the input, with the definition it was checked against.
    pub(crate) verdict: Option<Verdict>,
}

#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) definition: Arc<Definition>,
    pub(crate) result: Result<(), Refusal>,
}

#[derive(Default)]
pub(crate) struct Backlog {
    queues: BTreeMap<WorkspaceId, VecDeque<Queued>>,
    turns: VecDeque<WorkspaceId>,
    /// How many follow-ups in a row the workspace has had whose turn it is.
    in_a_row: u32,
    /// Follow-ups that start a run whose input is being checked on another thread.
    being_checked: BTreeMap<(WorkspaceId, u128), Queued>,
    /// The ids of all follow-ups that are known here: in a queue, being checked, or in a round that is not committed.
    known: HashSet<u128>,
    deliveries: HashMap<EventKey, BTreeSet<u128>>,
    look_backs: HashMap<WaitpointId, u128>,
    starting: HashMap<RunId, u128>,
    /// Workspaces of which the store has more than is known here.
    more: BTreeSet<WorkspaceId>,
    /// Whether the store was not read yet, or other nodes may have done what was known here.
    is_in_doubt: bool,
    /// The number of the node that leaves follow-ups here.
    owner: u128,
}

impl Backlog {
    pub(crate) fn of(owner: u128) -> Backlog {
        Backlog { owner, is_in_doubt: true, ..Backlog::default() }
    }

    pub(crate) fn owner(&self) -> u128 {
        self.owner
    }

    /// Whether there is a follow-up to do now.
    pub(crate) fn has_work(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Whether nothing is to be done, as far as is known here.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.more.is_empty() && !self.is_in_doubt
    }

    /// Loads what the store has and is not known here: all of it, or only what belongs to none of these nodes.
    pub(crate) fn load(&mut self, store: &mut dyn Read, not_of: &[u128]) -> Result<(), Error> {
        let found = store.follow_ups(not_of, IN_MEMORY)?;
        let mut of_each: HashMap<WorkspaceId, usize> = HashMap::new();
        for stored in &found {
            *of_each.entry(stored.workspace).or_default() += 1;
        }
        self.more.clear();
        for stored in found {
            if !self.known.contains(&stored.id) {
                self.add(stored);
            }
        }
        let full = of_each.into_iter().filter(|(_, count)| *count >= IN_MEMORY);
        self.more.extend(full.map(|(workspace, _)| workspace));
        self.is_in_doubt = false;
        Ok(())
    }

    /// Whether the store is to be read again: what is known here is under way, and there was more.
    pub(crate) fn is_to_load(&self) -> bool {
        let is_taken_up = |workspace: &WorkspaceId| {
            let mut checks = self.being_checked.range((*workspace, 0)..=(*workspace, u128::MAX));
            !self.queues.contains_key(workspace) && checks.next().is_none()
        };
        self.is_in_doubt || self.more.iter().any(is_taken_up)
    }

    /// Whether the store has not been read yet, or other nodes may have done what is known here.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.is_in_doubt
    }

    /// Adds a follow-up that a round has left. It may have been found in the store before that round was known to be
    /// committed.
    pub(crate) fn add_new(&mut self, stored: StoredFollowUp) {
        if !self.known.contains(&stored.id) {
            self.add(stored);
        }
    }

    /// Adds a follow-up that was committed.
    pub(crate) fn add(&mut self, stored: StoredFollowUp) {
        let is_full = self.queues.get(&stored.workspace).is_some_and(|queue| queue.len() >= IN_MEMORY);
        let is_new = !self.known.contains(&stored.id);
        // Where the store has older ones, they come first.
        if is_new && (is_full || self.more.contains(&stored.workspace)) {
            self.more.insert(stored.workspace);
            return;
        }
        self.known.insert(stored.id);
        match &stored.what {
            FollowUp::Deliver { event_id, .. } => {
                let key = (stored.workspace, Arc::clone(event_id));
                self.deliveries.entry(key).or_default().insert(stored.id);
            }
            FollowUp::LookBack { waitpoint, .. } => drop(self.look_backs.insert(*waitpoint, stored.id)),
            FollowUp::StartScheduled { run, .. } => drop(self.starting.insert(*run, stored.id)),
            FollowUp::StartChild(_)
            | FollowUp::Cancel { .. }
            | FollowUp::TellParent { .. }
            | FollowUp::TellSchedule { .. }
            | FollowUp::StartRuns { .. }
            | FollowUp::ApplySettings { .. }
            | FollowUp::Grant { .. } => {}
        }
        self.enqueue(Queued { stored, verdict: None });
    }

    fn enqueue(&mut self, queued: Queued) {
        let workspace = queued.stored.workspace;
        let queue = self.queues.entry(workspace).or_default();
        if queue.is_empty() {
            self.turns.push_back(workspace);
        }
        // A part of it may be done, and it is still the oldest.
        let place = queue.partition_point(|other| other.stored.id < queued.stored.id);
        queue.insert(place, queued);
    }

    /// The next follow-up, of the workspace whose turn it is.
    pub(crate) fn next(&mut self, shares: &Shares) -> Option<Queued> {
        let workspace = self.turns.pop_front()?;
        let queue = self.queues.get_mut(&workspace)?;
        let next = queue.pop_front();
        self.in_a_row += 1;
        let has_more = !queue.is_empty();
        if !has_more {
            self.queues.remove(&workspace);
        }
        if has_more && self.in_a_row < shares.of(workspace) {
            self.turns.push_front(workspace);
            return next;
        }
        self.in_a_row = 0;
        if has_more {
            self.turns.push_back(workspace);
        }
        next
    }

    /// Puts back follow-ups that cannot be done now.
    pub(crate) fn put_back(&mut self, queued: impl IntoIterator<Item = Queued>) {
        queued.into_iter().for_each(|queued| self.enqueue(queued));
    }

    /// Has these follow-ups looked up in the store, since other nodes may have done them.
    pub(crate) fn recheck(&mut self, queued: impl IntoIterator<Item = Queued>) {
        self.is_in_doubt = true;
        for queued in queued {
            self.done(&queued.stored);
        }
    }

    /// Sets a follow-up aside while its input is being checked.
    pub(crate) fn await_check(&mut self, queued: Queued) {
        self.being_checked.insert((queued.stored.workspace, queued.stored.id), queued);
    }

    pub(crate) fn was_checked(&mut self, workspace: WorkspaceId, id: u128, verdict: Verdict) {
        if let Some(queued) = self.being_checked.remove(&(workspace, id)) {
            self.enqueue(Queued { verdict: Some(verdict), ..queued });
        }
    }

    /// Forgets a follow-up that is done, in a commit.
    pub(crate) fn done(&mut self, stored: &StoredFollowUp) {
        self.known.remove(&stored.id);
        match &stored.what {
            FollowUp::Deliver { event_id, .. } => {
                let key = (stored.workspace, Arc::clone(event_id));
                if let Some(ids) = self.deliveries.get_mut(&key) {
                    ids.remove(&stored.id);
                    if ids.is_empty() {
                        self.deliveries.remove(&key);
                    }
                }
            }
            FollowUp::LookBack { waitpoint, .. } => drop(self.look_backs.remove(waitpoint)),
            FollowUp::StartScheduled { run, .. } => drop(self.starting.remove(run)),
            FollowUp::StartChild(_)
            | FollowUp::Cancel { .. }
            | FollowUp::TellParent { .. }
            | FollowUp::TellSchedule { .. }
            | FollowUp::StartRuns { .. }
            | FollowUp::ApplySettings { .. }
            | FollowUp::Grant { .. } => {}
        }
    }

    /// Whether an event of this id is still to be offered to some waits.
    pub(crate) fn is_delivering(&self, key: &EventKey) -> bool {
        self.deliveries.contains_key(key)
    }

    /// Whether this event is next: events of one id reach their waits in the order they came.
    pub(crate) fn is_first(&self, key: &EventKey, id: u128) -> bool {
        self.deliveries.get(key).and_then(BTreeSet::first).is_none_or(|first| *first == id)
    }

    pub(crate) fn is_looking_back(&self, waitpoint: WaitpointId) -> bool {
        self.look_backs.contains_key(&waitpoint)
    }

    pub(crate) fn has_waits(&self) -> bool {
        !(self.deliveries.is_empty() && self.look_backs.is_empty())
    }

    pub(crate) fn is_starting(&self, run: RunId) -> bool {
        self.starting.contains_key(&run)
    }
}
