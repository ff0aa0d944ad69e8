//! One decision under way: the run being changed, what has been recorded so far, and the work still to look at.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use crate::bounds::Bounds;
use crate::command::{Context, Outcome, Reply};
use crate::definition::Definition;
use crate::effect::{AfterCommit, CapacityEffect, RoundEffect};
use crate::flow;
use crate::history::{Change, JournalResult, Record};
use crate::id::{RunId, StepAddress};
use crate::limits;
use crate::random::Random;
use crate::refusal::{Refusal, within};
use crate::run::{Journalled, Run, TaskState};
use crate::shared_map::SharedMap;
use crate::status::{RunStatus, StepStatus};
use crate::trace::Traceparent;
use crate::waitpoint::{Actor, CLOCK, Waitpoint};

pub(crate) struct Turn<'a> {
    pub(crate) run: &'a mut Run,
    pub(crate) now: Timestamp,
    pub(crate) by: Actor,
    traceparent: Option<Traceparent>,
    pub(crate) bounds: Bounds,
    pub(crate) random: Random,
    records: Vec<Record>,
    in_round: Vec<RoundEffect>,
    after_commit: Vec<AfterCommit>,
    /// The size of the payloads of the records so far, in bytes.
    bytes: usize,
    /// The cost of the expressions evaluated so far, in bytes that were looked at or made.
    work: usize,
    /// The size of what templates gave that may be rendered again when it is needed, in bytes.
    pub(crate) rendered: usize,
    /// The step addresses to begin, in order. A queue, not recursion: a thousand steps may follow each other at once.
    pub(crate) agenda: VecDeque<StepAddress>,
    /// The numbers of sleeps whose instant had already come when they began.
    pub(crate) overdue: Vec<u32>,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(run: &'a mut Run, context: &Context) -> Turn<'a> {
        Turn {
            run,
            now: context.now,
            by: context.by.clone(),
            traceparent: context.traceparent,
            bounds: context.bounds,
            random: Random::new(context.random),
            records: Vec::new(),
            in_round: Vec::new(),
            after_commit: Vec::new(),
            bytes: 0,
            work: 0,
            rendered: 0,
            agenda: VecDeque::new(),
            overdue: Vec::new(),
        }
    }

    /// Records a change and applies it.
    pub(crate) fn emit(&mut self, change: Change) -> Result<(), Refusal> {
        self.emit_with(change, &[])
    }

    /// Records a move, or any change, and applies it.
    pub(crate) fn emit_with(&mut self, change: Change, moved_to: &[Arc<Definition>]) -> Result<(), Refusal> {
        let (by, traceparent) = (self.by.clone(), self.traceparent);
        let record = Record { seq: self.run.seq + 1, at: self.now, by, traceparent, change };
        // Whatever ends work gives back the room that it had.
        for (at, rooms) in flow::freed_by(self.run, &record.change) {
            self.in_round.push(RoundEffect::Capacity(CapacityEffect::Release { at, rooms }));
        }
        self.run.apply_with(moved_to, &record)?;
        self.bytes = self.bytes.saturating_add(record.change.payload_bytes());
        self.records.push(record);
        Ok(())
    }

    /// Adds the cost of an evaluation.
    pub(crate) fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_add(work);
    }

    /// The budget of the decision: of records, payloads and expressions, what is used and what is allowed.
    pub(crate) fn spent(&self) -> [(&'static str, usize, usize); 3] {
        [
            ("records", self.records.len(), limits::DECISION_RECORDS),
            ("bytes of records", self.bytes, limits::DECISION_BYTES),
            ("bytes read by expressions", self.work, limits::DECISION_WORK),
        ]
    }

    /// Records the creation of a run: the first record of a history is not applied to a run, it makes one.
    pub(crate) fn note_creation(&mut self, record: Record) {
        self.records.push(record);
    }

    /// Does something in the name of the clock, where time causes it in the middle of somebody's command.
    pub(crate) fn by_the_clock<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let asker = std::mem::replace(&mut self.by, Actor::new(CLOCK));
        let done = act(self);
        self.by = asker;
        done
    }

    /// Asks for something that is decided in the same round.
    pub(crate) fn in_round(&mut self, effect: RoundEffect) {
        self.in_round.push(effect);
    }

    /// Asks for something that leaves when the records are durable.
    pub(crate) fn after_commit(&mut self, effect: AfterCommit) {
        self.after_commit.push(effect);
    }

    /// Takes back the dispatch of a task that somebody has already.
    pub(crate) fn withdraw_dispatch(&mut self, place: StepAddress) {
        self.after_commit
            .retain(|effect| !matches!(effect, AfterCommit::Dispatch { at, .. } if *at == place));
    }

    pub(crate) fn finish(mut self, reply: Reply) -> Result<Outcome, Refusal> {
        // A command that changed nothing leaves nothing to settle.
        if !self.records.is_empty() {
            flow::settle(&mut self)?;
        }
        self.forget_what_was_stopped();
        let Turn { records, in_round, after_commit, .. } = self;
        Ok(Outcome { records, in_round, after_commit, reply })
    }

    /// Takes out effects for what began and was stopped in the same decision.
    fn forget_what_was_stopped(&mut self) {
        let run = &self.run;
        let is_out = |at: StepAddress, lease_epoch: u32| {
            let task = run.step(at).and_then(|step| step.task.as_ref());
            task.is_some_and(|task| task.out && task.lease_epoch == lease_epoch)
        };
        let stopped: BTreeSet<(StepAddress, u32)> = self
            .after_commit
            .iter()
            .filter_map(|effect| match effect {
                AfterCommit::Dispatch { at, lease_epoch } => Some((*at, *lease_epoch)),
                AfterCommit::Recall { .. } | AfterCommit::WantCode { .. } | AfterCommit::Respond { .. } => {
                    None
                }
            })
            .filter(|(at, lease_epoch)| !is_out(*at, *lease_epoch))
            .collect();
        self.after_commit.retain(|effect| match effect {
            AfterCommit::Dispatch { at, lease_epoch } | AfterCommit::Recall { at, lease_epoch } => {
                !stopped.contains(&(*at, *lease_epoch))
            }
            AfterCommit::Respond { .. } | AfterCommit::WantCode { .. } => true,
        });
        let is_open = |number: u32| run.open.contains_key(&number);
        let stopped: BTreeSet<RunId> = self
            .in_round
            .iter()
            .filter_map(|effect| match effect {
                RoundEffect::StartChild(child) => Some((child.run_id, child.parent.waitpoint?)),
                RoundEffect::LookBack { .. }
                | RoundEffect::CancelChild { .. }
                | RoundEffect::TellParent { .. }
                | RoundEffect::TellSchedule { .. }
                | RoundEffect::Capacity(_) => None,
            })
            .filter(|(_, waitpoint)| !is_open(waitpoint.number))
            .map(|(child, _)| child)
            .collect();
        // A wait for room that began and ended here never stood in line.
        let unasked: BTreeSet<u32> = self
            .in_round
            .iter()
            .filter_map(|effect| match effect {
                RoundEffect::Capacity(CapacityEffect::Ask { number }) if !is_open(*number) => Some(*number),
                RoundEffect::Capacity(_)
                | RoundEffect::LookBack { .. }
                | RoundEffect::StartChild(_)
                | RoundEffect::CancelChild { .. }
                | RoundEffect::TellParent { .. }
                | RoundEffect::TellSchedule { .. } => None,
            })
            .collect();
        self.in_round.retain(|effect| match effect {
            RoundEffect::Capacity(CapacityEffect::Ask { number } | CapacityEffect::Leave { number }) => {
                !unasked.contains(number)
            }
            RoundEffect::Capacity(CapacityEffect::Seize { .. } | CapacityEffect::Release { .. }) => true,
            RoundEffect::StartChild(child) => !stopped.contains(&child.run_id),
            RoundEffect::CancelChild { run_id } => !stopped.contains(run_id),
            RoundEffect::LookBack { number } => is_open(*number),
            RoundEffect::TellParent { .. } | RoundEffect::TellSchedule { .. } => true,
        });
    }

    pub(crate) fn refuse_ended(&self) -> Result<(), Refusal> {
        if self.run.status.has_ended() { Err(Refusal::RunEnded(self.run.status)) } else { Ok(()) }
    }

    /// Makes a WAITING run RUNNING, because something in it begins or ends.
    pub(crate) fn wake_run(&mut self) -> Result<(), Refusal> {
        if self.run.status == RunStatus::Waiting { self.emit(Change::WorkflowResumed) } else { Ok(()) }
    }
}

/// Checks that several commands share. None of them changes anything.
impl Turn<'_> {
    /// The task of a step address, if this is its present lease epoch and it is still wanted (R12).
    pub(crate) fn fence(&self, at: StepAddress, lease_epoch: u32) -> Result<&TaskState, Refusal> {
        self.refuse_ended()?;
        if usize::from(at.step) >= self.run.definition.steps.len() {
            return Err(Refusal::UnknownStep { name: format!("{at:?}"), nearest: None });
        }
        let step = || self.run.step_name(at);
        let status = self.run.step_status(at);
        let task = self.run.step(at).and_then(|step| step.task.as_deref());
        match task {
            Some(task) if task.out && task.lease_epoch == lease_epoch => Ok(task),
            Some(task) if task.lease_epoch != lease_epoch || status == StepStatus::Running => {
                Err(Refusal::StaleLease { step: step(), given: lease_epoch, current: task.lease_epoch })
            }
            Some(_) | None => Err(Refusal::WrongStep { step: step(), status, verb: "reported on" }),
        }
    }

    /// The waitpoint of this number, if it is still to be resolved (R2).
    pub(crate) fn pending(&self, number: u32) -> Result<&Waitpoint, Refusal> {
        let id = self.run.waitpoint_id(number);
        let waitpoint = self.run.waitpoint(number).ok_or(Refusal::UnknownWaitpoint(id))?;
        if waitpoint.is_pending() { Ok(waitpoint) } else { Err(Refusal::already_resolved(id, waitpoint)) }
    }

    /// The pending waitpoint of this number, if its time is not over, even where its timer has not fired yet (R4).
    pub(crate) fn open_to_others(&self, number: u32) -> Result<&Waitpoint, Refusal> {
        let waitpoint = self.pending(number)?;
        match self.run.closes_at(number) {
            Some(at) if self.now >= at => {
                Err(Refusal::Expired { waitpoint: self.run.waitpoint_id(number), at })
            }
            Some(_) | None => Ok(waitpoint),
        }
    }

    /// The entries that the journal does not have yet. The same entry again is no conflict, another result is.
    pub(crate) fn new_entries(
        &self,
        at: StepAddress,
        entries: Vec<JournalResult>,
    ) -> Result<Vec<JournalResult>, Refusal> {
        let journal = self.run.step(at).and_then(|step| step.task.as_ref()).map(|task| &task.journal);
        let known = journal.map_or(0, SharedMap::len);
        within("the number of journal entries", known + entries.len(), limits::JOURNAL_ENTRIES)?;
        let mut new: Vec<JournalResult> = Vec::new();
        for entry in entries {
            within("a journal entry's size in bytes", entry.result.bytes(), limits::PAYLOAD_BYTES)?;
            self.check_wait_name(&entry.name)?;
            let earlier = new.iter().find(|other| other.name == entry.name).map(|other| &other.result);
            let recorded = journal.and_then(|journal| journal.get(&entry.name)).map(|entry| &entry.what);
            let conflict = match recorded {
                Some(Journalled::Result(result)) if *result == entry.result => continue,
                Some(Journalled::Result(_) | Journalled::Wait(_)) => true,
                None => earlier.is_some_and(|earlier| *earlier != entry.result),
            };
            if conflict {
                return Err(Refusal::JournalConflict { name: entry.name.to_string() });
            }
            if earlier.is_none() {
                new.push(entry);
            }
        }
        Ok(new)
    }

    pub(crate) fn record_entries(
        &mut self,
        at: StepAddress,
        entries: Vec<JournalResult>,
    ) -> Result<(), Refusal> {
        if entries.is_empty() { Ok(()) } else { self.emit(Change::JournalRecorded { at, entries }) }
    }
}
