//! What was left for later rounds: follow-ups that are in the store and not done yet. The oldest of each workspace are in
//! memory, and the workspaces take turns, so that one with many does not keep the others waiting.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::follow_up::FollowUp;
use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::refusal::Refusal;
use abide_store::{Read, StoredFollowUp};

use crate::error::Error;

/// Follow-ups of one workspace in memory; the store has the others.
const IN_MEMORY: usize = 2_000;

/// An event, by where it is and what it is called.
pub(crate) type EventKey = (WorkspaceId, Arc<str>);

/// A follow-up that can be taken up.
#[derive(Clone, Debug)]
pub(crate) struct Queued {
    pub(crate) stored: StoredFollowUp,
    /// What checking the input came to, with the definition it was checked against.
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
    /// Follow-ups that start a child whose input is being checked on another thread.
    checked: HashMap<u128, Queued>,
    /// All that are known here: in a queue, being checked, or in a round that is not committed.
    known: HashSet<u128>,
    deliveries: HashMap<EventKey, BTreeSet<u128>>,
    look_backs: HashMap<WaitpointId, u128>,
    starting: HashMap<RunId, u128>,
    /// Workspaces of which the store has more than is known here.
    more: BTreeSet<WorkspaceId>,
    /// The store was not looked at yet, or others may have done what was known here.
    is_in_doubt: bool,
    /// Who looks after what is left here.
    owner: u128,
}

impl Backlog {
    pub(crate) fn of(owner: u128) -> Backlog {
        Backlog { owner, is_in_doubt: true, ..Backlog::default() }
    }

    pub(crate) fn owner(&self) -> u128 {
        self.owner
    }

    /// Whether there is something to take up now.
    pub(crate) fn has_work(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Whether nothing is to be done, as far as is known here.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.more.is_empty() && !self.is_in_doubt
    }

    /// Finds what the store has and is not known here: all of it, or only what none of these owners looks after.
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

    /// Whether the store is to be looked at again: what is known here is taken up, and there was more.
    pub(crate) fn is_to_load(&self) -> bool {
        self.is_in_doubt || self.more.iter().any(|workspace| !self.queues.contains_key(workspace))
    }

    /// Whether the store has not been looked at yet, or others may have done what is known here.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.is_in_doubt
    }

    /// A follow-up that a round has left. It may have been found in the store before that round was known to be committed.
    pub(crate) fn add_new(&mut self, stored: StoredFollowUp) {
        if !self.known.contains(&stored.id) {
            self.add(stored);
        }
    }

    /// A follow-up that was committed.
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
            | FollowUp::TellSchedule { .. } => {}
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

    /// The next one, of whoever's turn it is.
    pub(crate) fn next(&mut self) -> Option<Queued> {
        let workspace = self.turns.pop_front()?;
        let queue = self.queues.get_mut(&workspace)?;
        let next = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&workspace);
        } else {
            self.turns.push_back(workspace);
        }
        next
    }

    /// Not now.
    pub(crate) fn put_back(&mut self, queued: impl IntoIterator<Item = Queued>) {
        queued.into_iter().for_each(|queued| self.enqueue(queued));
    }

    /// Others may have done these: the store is asked.
    pub(crate) fn recheck(&mut self, queued: impl IntoIterator<Item = Queued>) {
        self.is_in_doubt = true;
        for queued in queued {
            self.done(&queued.stored);
        }
    }

    /// A follow-up waits while its input is being checked.
    pub(crate) fn await_check(&mut self, queued: Queued) {
        self.checked.insert(queued.stored.id, queued);
    }

    pub(crate) fn was_checked(&mut self, id: u128, verdict: Verdict) {
        if let Some(queued) = self.checked.remove(&id) {
            self.enqueue(Queued { verdict: Some(verdict), ..queued });
        }
    }

    /// A follow-up is done, and that is committed.
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
            | FollowUp::TellSchedule { .. } => {}
        }
    }

    /// Whether an event of this id is still on its way to some who wait.
    pub(crate) fn is_delivering(&self, key: &EventKey) -> bool {
        self.deliveries.contains_key(key)
    }

    /// Whether this event is next: events of one id reach those who wait in the order they came.
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
