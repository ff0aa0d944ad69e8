//! What happens to the room that a run and its steps hold under limits.

use std::sync::Arc;

use crate::apply::BadHistory;
use crate::definition::Holds;
use crate::history::Change;
use crate::id::StepAddress;
use crate::run::{CallRooms, HeldRooms, Run};
use crate::waitpoint::{Kind, ListensFor, Waitpoint};

/// What the name of a journal entry begins with that says how a durable call failed.
const FAILED: char = '!';

/// How much of the room that a run and its steps hold a change frees.
#[derive(Clone, Copy)]
enum Frees {
    Nothing,
    All,
    /// What the run holds for as long as it works.
    WorkOfRun,
    AllOf(StepAddress),
    WorkOf(StepAddress),
}

impl Run {
    pub(super) fn capacity_taken(
        &mut self,
        at: Option<StepAddress>,
        rooms: &[crate::capacity::Room],
        number: Option<u32>,
    ) {
        if let Some((at, number)) = at.zip(number) {
            return self.snapshot.call_rooms.push(CallRooms { at, number, rooms: rooms.to_vec() });
        }
        match self.snapshot.rooms.iter_mut().find(|held| held.at == at) {
            Some(held) => {
                held.rooms.extend_from_slice(rooms);
                held.is_complete = true;
            }
            None => self.snapshot.rooms.push(HeldRooms { at, rooms: rooms.to_vec(), is_complete: true }),
        }
        if at.is_none() && !self.pausing {
            self.snapshot.held.clear();
        }
    }

    pub(super) fn capacity_queued(&mut self, number: u32, line: u16, keeps: bool) -> Result<(), BadHistory> {
        let ListensFor::Capacity(request) = &mut self.waitpoint_mut(number)?.listens_for else {
            return Err(BadHistory::Unknown("a wait for room"));
        };
        if usize::from(line) >= request.asks.len() {
            return Err(BadHistory::Unknown("a limit that room is asked of"));
        }
        if keeps && let Some(ask) = request.asks.get_mut(usize::from(request.line)) {
            ask.kept = true;
        }
        request.line = line;
        request.moves = request.moves.saturating_add(1);
        Ok(())
    }

    /// The room that a change frees.
    pub(crate) fn freed_by(&self, change: &Change) -> Vec<HeldRooms> {
        if self.rooms.is_empty() {
            return Vec::new();
        }
        let (is_freed, only_work) = match self.frees(change) {
            Frees::Nothing => return Vec::new(),
            Frees::All => (None, false),
            Frees::WorkOfRun => (Some(None), true),
            Frees::AllOf(at) => (Some(Some(at)), false),
            Frees::WorkOf(at) => (Some(Some(at)), true),
        };
        let theirs = self.rooms.iter().filter(|held| is_freed.is_none_or(|at| held.at == at));
        let freed = theirs.map(|held| {
            let freed = held.rooms.iter().filter(|room| !only_work || room.holds == Holds::Work);
            HeldRooms { at: held.at, rooms: freed.copied().collect(), is_complete: !only_work }
        });
        // A run uses a rate once; a step each time it is handed out, so that it has to ask again.
        freed.filter(|freed| !freed.rooms.is_empty() || freed.is_complete || freed.at.is_some()).collect()
    }

    pub(super) fn free_rooms(&mut self, change: &Change) {
        if !self.call_rooms.is_empty() {
            self.free_calls(change);
        }
        for freed in self.freed_by(change) {
            let Some(held) = self.snapshot.rooms.iter_mut().find(|held| held.at == freed.at) else {
                continue;
            };
            held.rooms.retain(|room| !freed.rooms.contains(room));
            held.is_complete = false;
            // All of it, and not only what is held for work.
            if freed.is_complete {
                self.snapshot.rooms.retain(|held| held.at != freed.at);
            }
        }
    }

    /// The room of durable calls that a change frees.
    pub(crate) fn calls_freed_by(&self, change: &Change) -> impl Iterator<Item = &CallRooms> {
        self.call_rooms.iter().filter(|held| self.frees_call(held, change))
    }

    fn frees_call(&self, held: &CallRooms, change: &Change) -> bool {
        let call = || self.waitpoint(held.number)?.call();
        if let Change::JournalRecorded { at, entries } = change {
            let is_end = |name: &str, call: &str| name.strip_prefix(FAILED).unwrap_or(name) == call;
            return *at == held.at
                && call().is_some_and(|call| entries.iter().any(|entry| is_end(&entry.name, call)));
        }
        if let Change::StepWaiting { at, opens, .. } = change {
            // It is made again later, and asks again.
            let mut retried = opens.iter().filter_map(Waitpoint::next_attempt);
            return *at == held.at && retried.any(|next| Some(&next.call) == call());
        }
        match self.frees(change) {
            Frees::All => true,
            Frees::AllOf(at) => at == held.at,
            Frees::WorkOf(at) => at == held.at && matches!(change, Change::StepRetrying { .. }),
            Frees::Nothing | Frees::WorkOfRun => false,
        }
    }

    /// Takes the room of durable calls back. What the handler waited for is no longer in its journal: if it comes to the call
    /// again, it asks again.
    fn free_calls(&mut self, change: &Change) {
        let freed: Vec<(StepAddress, u32)> =
            self.calls_freed_by(change).map(|held| (held.at, held.number)).collect();
        for (at, number) in freed {
            let name = self.waitpoint(number).map(|wait| Arc::clone(&wait.name));
            if let (Some(name), Ok(step)) = (name, self.step_mut(at)) {
                step.waits.remove(&name);
                step.task.iter_mut().for_each(|task| task.forget(&name));
            }
            self.snapshot.call_rooms.retain(|held| held.number != number);
        }
    }

    fn frees(&self, change: &Change) -> Frees {
        match change {
            Change::WorkflowCompleted { .. }
            | Change::WorkflowFailed { .. }
            | Change::WorkflowCancelled { .. } => Frees::All,
            Change::WorkflowPaused { .. } if !self.keeps_its_room() => Frees::WorkOfRun,
            Change::StepCompleted { at, .. }
            | Change::StepFailed { at, .. }
            | Change::StepCancelled { at } => Frees::AllOf(*at),
            Change::StepWaiting { at, opens, .. } if opens.iter().all(|wait| wait.kind != Kind::Code) => {
                Frees::WorkOf(*at)
            }
            Change::StepRetrying { at, .. } | Change::TaskPaused { at, .. } => Frees::WorkOf(*at),
            Change::WorkflowCreated(_)
            | Change::WorkflowStarted { .. }
            | Change::WorkflowPaused { .. }
            | Change::WorkflowResumed
            | Change::WorkflowPauseRequested
            | Change::WorkflowPausedByOperator
            | Change::WorkflowUnpaused
            | Change::WorkflowDeadlinePassed
            | Change::WorkflowRetried { .. }
            | Change::WorkflowMoved { .. }
            | Change::StepStarted { .. }
            | Change::StepWaiting { .. }
            | Change::StepResumed { .. }
            | Change::StepHeldBack { .. }
            | Change::StepSkipped { .. }
            | Change::MapStarted { .. }
            | Change::TaskStarted { .. }
            | Change::TaskPinned { .. }
            | Change::TaskUnpinned { .. }
            | Change::TaskRedelivered { .. }
            | Change::JournalRecorded { .. }
            | Change::CheckpointSaved { .. }
            | Change::TaskLogged { .. }
            | Change::EventSent { .. }
            | Change::LlmCallCompleted { .. }
            | Change::WaitCreated { .. }
            | Change::WaitResolved { .. }
            | Change::CapacityTaken { .. }
            | Change::CapacityQueued { .. }
            | Change::StartCollected { .. }
            | Change::WaitRescheduled { .. }
            | Change::SignalReceived { .. }
            | Change::EventMatched { .. }
            | Change::ApprovalRequested { .. }
            | Change::ApprovalReminded { .. }
            | Change::ApprovalEscalated { .. }
            | Change::ApprovalDecided { .. } => Frees::Nothing,
        }
    }

    /// Whether the run keeps its room although nothing in it is at work. Who holds room under the limit of a step, or waits
    /// for it, gives back none of its own: everybody takes the run's before the step's, and nobody waits for each other.
    /// And code that comes is taken up at once.
    fn keeps_its_room(&self) -> bool {
        !self.call_rooms.is_empty()
            || self.rooms.iter().any(|held| held.at.is_some() && !held.rooms.is_empty())
            || self
                .open_waitpoints()
                .any(|wait| wait.kind == Kind::Code || (wait.kind == Kind::Capacity && wait.at.is_some()))
    }
}
