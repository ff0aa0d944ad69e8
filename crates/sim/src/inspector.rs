//! The rules, written a second time and independently of the code that must keep them. Looks at every commit.

mod code;
mod events;
pub(crate) mod groups;
mod hooks;
mod law;
pub(crate) mod lease;
mod moved;
mod shape;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_core::command::Event;
use abide_core::definition::Definition;
use abide_core::history::{Change, DefinitionRef, Record, WakeOn};
use abide_core::id::{EventUid, RunId, StepAddress};
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::{RunStatus, StepStatus};
use abide_core::waitpoint::{Kind, ListensFor, Waitpoint};
use jiff::Timestamp;

use crate::store::{Store, Write};
use crate::world::Check;
use shape::{check_counts, check_effects, check_order, check_tasks, place};

/// What the rules need to know of a store.
pub(crate) trait Ledger {
    /// All versions that runs may have been moved to.
    fn versions(&self) -> &[Arc<Definition>];

    fn events(&self) -> impl Iterator<Item = &Event>;

    /// The tasks of a run that are out, with the lease epoch of each; `None` if the store does not keep them.
    fn tasks_of(&self, run: RunId) -> Option<BTreeSet<(StepAddress, u32)>>;
}

#[derive(Default)]
pub(crate) struct Inspector {
    watched: BTreeMap<RunId, Watched>,
    hooks: hooks::Hooks,
    hash: Hash,
    seen: BTreeMap<String, u64>,
}

/// What is known of a run from its records alone.
#[derive(Default)]
struct Watched {
    /// The run that replaying the stored history gives.
    replayed: Option<Run>,
    waits: BTreeMap<u32, WatchedWait>,
    received: BTreeMap<Arc<str>, Vec<(u64, Timestamp)>>,
    taken: BTreeMap<Arc<str>, Vec<u64>>,
    /// Which waits took an event, and with which record.
    events_taken: BTreeMap<EventUid, Vec<(StepAddress, u64)>>,
    /// Failed attempts of the present visit, and of those the ones since a handler last recorded something new.
    failed_attempts: BTreeMap<StepAddress, (u32, u32)>,
    /// Builds whose code does not fit what a handler has recorded.
    unfit: BTreeMap<StepAddress, Vec<Arc<str>>>,
    /// The only build that may have a task, where there is one; `None` where an operator has lifted that.
    pinned: BTreeMap<StepAddress, Option<Arc<str>>>,
    /// What handlers have recorded, and never lose.
    recorded: BTreeMap<StepAddress, BTreeMap<Arc<str>, Json>>,
    awaited: BTreeMap<StepAddress, (Vec<u32>, WakeOn)>,
    /// Calls to models, by the entry that holds what came of them.
    paid: BTreeSet<(StepAddress, Arc<str>)>,
    asked: BTreeMap<u32, ApprovalTerms>,
    pausing: bool,
    ended: bool,
}

/// Who may decide on a request, as far as it is known from the records.
struct ApprovalTerms {
    approvers: BTreeSet<Arc<str>>,
    allow_self_approval: bool,
}

struct WatchedWait {
    at: Option<StepAddress>,
    /// The record that opened it.
    opened: u64,
    kind: Kind,
    resume_at: Option<Timestamp>,
    resolved: bool,
    ended: Option<groups::Ended>,
}

impl Inspector {
    pub(crate) fn hash(&self) -> u64 {
        self.hash.0
    }

    /// How often each kind of record came.
    pub(crate) fn seen(&self) -> &BTreeMap<String, u64> {
        &self.seen
    }

    /// Whether a wait of the run is for this event.
    pub(crate) fn is_for(&self, run: &Run, number: u32, event: &Event) -> bool {
        self.watched.get(&run.id).is_some_and(|watched| watched.is_for(run, number, event))
    }

    pub(crate) fn committed(&mut self, store: &Store, write: &Write) -> Check {
        self.look_at(store, &write.run, &write.outcome.records)?;
        self.hooks.committed(write)?;
        check_effects(&write.run, &write.outcome.after_commit)
    }

    /// What was committed of one run.
    pub(crate) fn look_at(&mut self, store: &impl Ledger, run: &Run, records: &[Record]) -> Check {
        let watched = self.watched.entry(run.id).or_default();
        for record in records {
            let stored =
                serde_json::to_string(record).map_err(|error| format!("unwritable record: {error}"))?;
            self.hash.add(stored.as_bytes());
            *self.seen.entry(record.change.name().to_owned()).or_default() += 1;
            let read: Record = serde_json::from_str(&stored)
                .map_err(|error| format!("unreadable record {stored}: {error}"))?;
            watched.look_at(run, &read, store)?;
        }
        if watched.replayed.as_ref().map(Run::snapshot) != Some(run.snapshot()) {
            return Err(format!("{}: replaying the history does not give the snapshot", run.id));
        }
        watched.check_waits(run)?;
        watched.check_groups(run)?;
        check_counts(run)?;
        check_tasks(store, run)
    }

    /// When all is over, nothing may be left.
    pub(crate) fn check_ended(&self, store: &Store) -> Check {
        self.hooks.check_ended(store)?;
        if let Some(((run, at), _)) = store.tasks.first_key_value() {
            return Err(format!("{run}: the task at {at:?} outlives its run"));
        }
        for stored in store.runs.values() {
            if stored.run.open_waitpoints().next().is_some() {
                return Err(format!("{}: a wait outlives its run", stored.run.id));
            }
            let Some(Change::WorkflowCreated(creation)) = stored.history.first().map(|first| &first.change)
            else {
                return Err(format!("{}: its history does not begin with its creation", stored.run.id));
            };
            let DefinitionRef { name, version } = &creation.definition;
            let first = store.definition(name, Some(version));
            let replayed = Run::replay_with(first, &store.versions, &stored.history)
                .map_err(|error| format!("{}: the history cannot be replayed: {error}", stored.run.id))?;
            if replayed.snapshot() != stored.run.snapshot() {
                return Err(format!(
                    "{}: replaying the whole history does not give the snapshot",
                    stored.run.id
                ));
            }
        }
        Ok(())
    }
}

impl Watched {
    fn look_at(&mut self, run: &Run, record: &Record, store: &impl Ledger) -> Check {
        let before = self.replayed.take();
        let after = match before.clone() {
            None => Run::replay(Arc::clone(&run.definition), [record]),
            Some(mut replayed) => replayed.apply_with(store.versions(), record).map(|()| replayed),
        };
        let after = after.map_err(|error| format!("{}: {:?}: {error}", run.id, record.change))?;
        let status_before = before.as_ref().map_or(RunStatus::Pending, |run| run.status);
        law::run_move(status_before, after.status)?;
        if let Some(at) = place(&record.change) {
            let status = before.as_ref().map_or(StepStatus::Pending, |run| run.step_status(at));
            law::step_move(status, after.step_status(at))?;
        }
        if self.ended && status_before != RunStatus::Failed {
            return Err(format!("R17: {} after the run ended: {:?}", run.id, record.change));
        }
        lease::check_epoch(before.as_ref(), record)?;
        self.ended = after.status.has_ended();
        if let (Change::WorkflowMoved { steps, .. }, Some(before)) = (&record.change, &before) {
            self.moves(before, &after, steps)?;
        }
        self.look_at_change(&after, record, store)?;
        self.replayed = Some(after);
        Ok(())
    }

    fn look_at_change(&mut self, run: &Run, record: &Record, store: &impl Ledger) -> Check {
        match &record.change {
            Change::StepStarted { at, request: _ } => {
                self.failed_attempts.insert(*at, (0, 0));
                self.unfit.remove(at);
                self.begins_work(run, record)?;
                check_order(run, *at)
            }
            Change::StepResumed { at } => {
                // A child's end is taken note of even while the run is paused.
                if *record.by.0 != *"engine" {
                    self.begins_work(run, record)?;
                }
                self.resumes(run, *at)
            }
            Change::StepRetrying { at, attempt, error: _, opens } => {
                let (failed, since_progress) = self.failed_attempts.entry(*at).or_default();
                (*failed, *since_progress) = (*failed + 1, *since_progress + 1);
                if *since_progress >= run.defined(*at).retry.max_attempts || failed != attempt {
                    return Err(format!("R12: {}: another attempt after attempt {attempt}", run.id));
                }
                self.awaited.insert(*at, (vec![opens.number], WakeOn::All));
                self.opens(run, opens)
            }
            Change::StepWaiting { at, opens, awaits, wake } => {
                self.awaited.insert(*at, (awaits.clone(), *wake));
                opens.iter().try_for_each(|wait| self.opens(run, wait))
            }
            Change::TaskPaused { at, opens } => {
                self.awaited.insert(*at, (vec![opens.number], WakeOn::All));
                self.opens(run, opens)
            }
            Change::WaitCreated { opens } => self.opens(run, opens),
            Change::WaitRescheduled { number, resume_at }
            | Change::StartCollected { number, resume_at, .. } => {
                self.wait(run, *number)?.resume_at = Some(*resume_at);
                Ok(())
            }
            Change::WaitResolved { number, status, payload, signal } => {
                self.resolves_code(run, *number, *status, payload.as_ref())?;
                let wait = self.wait(run, *number)?;
                wait.ended = Some(groups::Ended::new(record, wait.kind, *status, payload.as_ref()));
                self.resolves(run, record, *number, *status, *signal, store)
            }
            Change::SignalReceived { id, signal_type, payload: _ } => {
                self.received.entry(Arc::clone(signal_type)).or_default().push((*id, record.at));
                Ok(())
            }
            Change::EventMatched { number, event, received_at } => {
                let stored = store.events().find(|stored| stored.id == *event);
                if stored.map(|stored| stored.received_at) != Some(*received_at) {
                    return Err(format!("R5b: {}: {event} was not received at {received_at}", run.id));
                }
                if self.came_before(run, *number, *event) {
                    let wait = run.waitpoint_id(*number);
                    return Err(format!("R5b: {wait} took {event} again, after a wait before it"));
                }
                let wait = self.wait(run, *number)?;
                match (wait.at, wait.kind) {
                    (Some(at), _) => self.events_taken.entry(*event).or_default().push((at, record.seq)),
                    // It ends the run, and is still there for the steps.
                    (None, Kind::Event) => {}
                    (None, _) => return Err(format!("{}: an event for a delayed start", run.id)),
                }
                Ok(())
            }
            Change::LlmCallCompleted { at, call } => {
                if !self.paid.insert((*at, Arc::clone(&call.entry))) {
                    return Err(format!("{}: `{}` at {at:?} was paid twice", run.id, call.entry));
                }
                Ok(())
            }
            Change::StepCompleted { .. } => self.completes(run, record),
            Change::ApprovalReminded { number } => self.still_asks(run, *number),
            Change::ApprovalEscalated { number, approvers } => {
                self.still_asks(run, *number)?;
                if let Some(asked) = self.asked.get_mut(number) {
                    asked.approvers.extend(approvers.clone());
                }
                Ok(())
            }
            Change::ApprovalDecided { number, .. } => self.votes(run, record, *number),
            Change::WorkflowPauseRequested => {
                self.pausing = true;
                Ok(())
            }
            Change::WorkflowUnpaused
            | Change::WorkflowCompleted { .. }
            | Change::WorkflowFailed { .. }
            | Change::WorkflowCancelled { .. } => {
                self.pausing = false;
                Ok(())
            }
            Change::WorkflowCreated(_)
            | Change::WorkflowStarted { .. }
            | Change::WorkflowPaused { .. }
            | Change::WorkflowResumed
            | Change::WorkflowPausedByOperator
            | Change::WorkflowDeadlinePassed
            | Change::WorkflowRetried { .. }
            | Change::WorkflowMoved { .. }
            | Change::StepHeldBack { .. }
            | Change::StepFailed { .. }
            | Change::StepSkipped { .. }
            | Change::StepCancelled { .. }
            | Change::MapStarted { .. }
            | Change::TaskRedelivered { .. }
            | Change::CheckpointSaved { .. }
            | Change::TaskLogged { .. }
            | Change::EventSent { .. }
            | Change::CapacityTaken { .. }
            | Change::CapacityQueued { .. }
            | Change::ApprovalRequested { .. } => Ok(()),
            Change::TaskStarted { at, build, .. } => self.takes(run, *at, build.as_deref()),
            Change::TaskPinned { at, build } => self.pins(*at, build),
            Change::TaskUnpinned { at } => self.unpins(*at),
            Change::JournalRecorded { at, entries } => self.records(run, *at, entries),
        }
    }

    /// Nobody is reminded of what is decided.
    fn still_asks(&self, run: &Run, number: u32) -> Check {
        match self.waits.get(&number) {
            Some(wait) if wait.kind == Kind::Approval && !wait.resolved => Ok(()),
            Some(_) | None => Err(format!("{}: a reminder of {number}, which does not ask any more", run.id)),
        }
    }

    fn votes(&self, run: &Run, record: &Record, number: u32) -> Check {
        self.still_asks(run, number)?;
        self.may_decide(run, record, number)
    }

    /// Whoever votes, and whoever ends an approval before its time.
    fn may_decide(&self, run: &Run, record: &Record, number: u32) -> Check {
        let asked = self.asked.get(&number).ok_or_else(|| format!("{}: nobody asked {number}", run.id))?;
        if !asked.approvers.is_empty() && !asked.approvers.contains(&record.by.0) {
            return Err(format!("{}: {} is no approver of {number}", run.id, record.by));
        }
        if !asked.allow_self_approval && record.by == run.started_by {
            return Err(format!("{}: {} approved their own run", run.id, record.by));
        }
        Ok(())
    }

    fn begins_work(&self, run: &Run, record: &Record) -> Check {
        if self.pausing {
            return Err(format!("R18: {} begins work while it is paused: {:?}", run.id, record.change));
        }
        Ok(())
    }

    /// A step goes on when its waits are over, and leaves no loser open.
    fn resumes(&self, run: &Run, at: StepAddress) -> Check {
        let Some((awaits, wake)) = self.awaited.get(&at) else {
            return Err(format!("{}: {at:?} is resumed and did not wait", run.id));
        };
        let open =
            awaits.iter().filter(|number| self.waits.get(number).is_some_and(|wait| !wait.resolved)).count();
        let over = match wake {
            WakeOn::All | WakeOn::Any => open == 0,
            WakeOn::Each => open < awaits.len(),
            // Such a step has no handler to go on with.
            WakeOn::Group => false,
        };
        if over {
            Ok(())
        } else {
            Err(format!("{}: {at:?} goes on ({wake:?}) with {open} waits open", run.id))
        }
    }

    fn opens(&mut self, run: &Run, wait: &Waitpoint) -> Check {
        self.opens_code(run, wait);
        if let ListensFor::Approval(request) = &wait.listens_for {
            let approvers = request.approvers.iter().cloned().collect();
            let asked = ApprovalTerms { approvers, allow_self_approval: request.allow_self_approval };
            self.asked.insert(wait.number, asked);
        }
        let watched = WatchedWait {
            at: wait.at,
            opened: run.seq,
            kind: wait.kind,
            resume_at: wait.resume_at,
            resolved: false,
            ended: None,
        };
        match self.waits.insert(wait.number, watched) {
            None => Ok(()),
            Some(_) => Err(format!("{} has waitpoint {} twice", run.id, wait.number)),
        }
    }

    fn wait(&mut self, run: &Run, number: u32) -> Check<&mut WatchedWait> {
        self.waits.get_mut(&number).ok_or_else(|| format!("{} has no waitpoint {number}", run.id))
    }

    fn check_waits(&self, run: &Run) -> Check {
        let received: usize = self.received.values().map(Vec::len).sum();
        let taken: usize = self.taken.values().map(Vec::len).sum();
        if run.mailbox().count() != received - taken {
            return Err(format!(
                "R5a: {}: {received} signals came, {taken} were taken, the rest is gone",
                run.id
            ));
        }
        for (number, wait) in &self.waits {
            let is_open = run.waitpoint(*number).is_some_and(Waitpoint::is_pending);
            if is_open == wait.resolved {
                return Err(format!("{}: waitpoint {number} and its records disagree", run.id));
            }
            let owner = wait.at.map(|at| run.step_status(at));
            let over = match owner {
                Some(status) => status.is_settled() || status == StepStatus::Failed,
                // An event that would end the run is waited for as long as there is a run to end.
                None if wait.kind == Kind::Event => run.status.has_ended(),
                // A run waits for room whenever it has none.
                None => run.status != RunStatus::Pending && wait.kind != Kind::Capacity,
            };
            if is_open && (over || run.status.has_ended()) {
                return Err(format!(
                    "{}: waitpoint {number} outlives what it belongs to ({owner:?})",
                    run.id
                ));
            }
        }
        Ok(())
    }
}

/// FNV-1a over everything that was recorded.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xCBF2_9CE4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}
