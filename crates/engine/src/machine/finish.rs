//! The end of a round: it is handed out to be committed, and when that is known, what it promised leaves, or what was taken for
//! it is put back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use abide_core::effect::AfterCommit;
use abide_core::history::Change;
use abide_core::id::{RunId, StepAddress};
use abide_core::run::{Run, Timer};
use abide_core::time::Millis;
use abide_store::{Culprit, StoredTimer};

use super::{MOST_CONFLICTS, Machine, OpenRound, Output, RoundBatch, RoundNumber};
use crate::engine::{Ended, RunReply};
use crate::error::Error;
use crate::followers::Changed;
use crate::owed::Owed;
use crate::round::{AfterCommitAction, Committed};
use crate::tasks::TaskKey;

impl Machine {
    /// Whether the open round may be committed now. Beside others that are being committed, it waits until it is as large
    /// as they are: a commit costs as much as many runs.
    pub(super) fn may_seal(&self) -> bool {
        let open = &self.open.batch;
        let is_worth_it =
            || self.in_flight.len() < self.committers && open.runs() >= self.in_flight.largest();
        self.in_flight.is_empty() || (!open.is_dependent() && is_worth_it())
    }

    /// Hands the open round out to be committed. A round that changed nothing is done already.
    pub(super) fn seal(&mut self) {
        self.offer_before_commit();
        // What a poller was not given after all may have led on to a wait, or be damaged.
        self.look_back();
        self.hold_damaged();
        let (tasks, now) = (&self.tasks, self.now.wall);
        self.open.batch.note_tasks(now, tasks.hold(), |run, at| tasks.works_at(run, at));
        self.compare_relied_on();
        let OpenRound { mut batch, pending, is_stalled, .. } = std::mem::take(&mut self.open);
        if let Some(error) = batch.poisoned.take() {
            let is_conflict = self.cluster.is_conflict(&error);
            return if is_conflict { self.met_conflict([pending]) } else { self.fail(pending, &error) };
        }
        let has_changes = batch.has_changes() || (self.tasks.is_in_commit() && batch.has_task_writes());
        self.stats.rounds += u64::from(has_changes || pending.replies() > 0);
        if has_changes {
            batch.commits_tasks = self.tasks.is_in_commit();
            if !self.subscribed.is_empty() {
                batch.address(&self.subscribed, &mut self.random);
            }
            let (round, batch) = self.in_flight.begin(batch, pending);
            self.outputs.push(Output::Commit { round, batch });
        } else {
            let early = std::mem::take(&mut self.early);
            self.finish(batch, pending);
            // Nothing was committed that the backlog or a timer could have waited for.
            self.open.is_stalled = is_stalled;
            if self.in_flight.is_empty() {
                self.alarm.put_back(early);
            } else {
                self.early = early;
            }
        }
    }

    /// Whether runs that were taken from rounds before this one, and not changed, are as they were: a refusal is not compared in
    /// the commit.
    fn compare_relied_on(&mut self) {
        let relied_on: BTreeMap<RunId, u64> = self.open.batch.relied_on().collect();
        if relied_on.is_empty() || self.open.batch.poisoned.is_some() {
            return;
        }
        let runs: Vec<RunId> = relied_on.keys().copied().collect();
        let overtaken = |(run, version): &(RunId, u64)| relied_on.get(run) != Some(version);
        self.open.batch.poisoned = match self.store.versions(&runs) {
            Ok(versions) => {
                versions.into_iter().find(overtaken).map(|(run, _)| abide_store::Error::Conflict(run).into())
            }
            Err(error) => Some(error.into()),
        };
    }

    /// The outcome of a round's commit is known.
    pub(super) fn commit_ended(
        &mut self,
        round: RoundNumber,
        result: Result<(), Error>,
        culprits: &[Culprit],
        took: Duration,
    ) {
        let Some((batch, pending)) = self.in_flight.end(round) else { return };
        match (result, Arc::into_inner(batch)) {
            (Ok(()), Some(batch)) => {
                self.conflicts = self.conflicts.saturating_sub(1);
                self.stats.commits += 1;
                self.pace = self.pace.after(took);
                self.stats.commit_us.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
                if let Some(begun) = pending.begun {
                    let took = self.now.elapsed.saturating_sub(begun);
                    self.stats.round_us.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
                }
                self.stats.batch.add(pending.replies());
                self.open.batch.was_committed(round);
                // The committer goes on while the effects of this round leave.
                if self.open.batch.has_changes() && self.may_seal() {
                    self.seal();
                }
                self.committed = Some((batch, pending));
            }
            (Ok(()), None) => unreachable!("the committer lets go of a round before it says so"),
            (Err(error), _) if self.cluster.is_conflict(&error) => self.decide_again(round, pending),
            (Err(error), _) if culprits.is_empty() => self.fail(pending, &error),
            (Err(_), _) => {
                for Culprit { owner, why } in culprits {
                    self.hold(*owner, why.clone());
                }
                // The others of the round are told to come again, and what nobody waits for is tried again at once.
                let why = "something damaged was to be written with it, and is held from here on; try again";
                self.fail(pending, &abide_store::Error::Unavailable(why.to_owned()).into());
                self.trouble_until = None;
            }
        }
    }

    /// Lets out what the last committed round asks of the world, if that has not left yet.
    pub(super) fn let_out_committed(&mut self) {
        if let Some((batch, pending)) = self.committed.take() {
            self.finish(batch, pending);
        }
    }

    /// Lets out what a committed round asks of the world.
    fn finish(&mut self, mut batch: RoundBatch, mut pending: Owed) {
        for at in &pending.fired {
            self.stats.lateness_ms.add(Millis::between(*at, self.now.wall).0);
        }
        let (writes, leases) = (std::mem::take(&mut batch.tasks), &batch.leases);
        self.tasks.put(writes, &|run, at| leases.get(&(run, at)).map(|lease| lease.worker.clone()));
        let mut worked: BTreeMap<RunId, BTreeMap<StepAddress, Duration>> = BTreeMap::new();
        for task in pending.reported.drain(..) {
            if let Some(since) = self.tasks.settle(task, &mut self.outputs) {
                let took = self.now.elapsed.saturating_sub(since);
                worked.entry(task.run).or_default().insert(task.at, took);
            }
        }
        for task in pending.accepted.drain(..) {
            self.tasks.accepted(task, &mut self.outputs);
        }
        pending.send_replies();
        batch.settle_follow_ups(&mut self.backlog);
        self.open.is_stalled = false;
        self.alarm.put_back(self.early.drain(..));
        self.tell(batch.addressed());
        for delta in batch.schedules.values() {
            delta.set_timers(&mut self.alarm);
        }
        if !batch.limit_settings.is_empty() {
            self.memory.settings.forget();
        }
        for touched in batch.limits.values() {
            touched.set_timer(&mut self.alarm);
        }
        for committed in batch.into_committed() {
            let worked = worked.remove(&committed.run.id).unwrap_or_default();
            self.publish(committed, &worked);
        }
    }

    /// Nothing of a round was done, and nothing of what may have been decided on top of it is.
    fn fail(&mut self, pending: Owed, error: &Error) {
        tracing::error!(%error, "a round could not be committed; nothing of it was done");
        self.memory.settings.forget();
        let open = std::mem::take(&mut self.open);
        for mut failed in [pending, open.pending] {
            // It may be written all the same, with what it left for later rounds: the store says so.
            self.backlog.recheck(std::mem::take(&mut failed.follow_ups));
            failed.put_back(error, &mut self.alarm, &mut self.tasks, self.now.wall);
        }
        self.in_trouble();
    }

    /// Decides a round again that met a conflict, and the open one if it depends on it.
    fn decide_again(&mut self, round: RoundNumber, pending: Owed) {
        let is_dependent = self.open.batch.is_dependent_on(round);
        let open = is_dependent.then(|| std::mem::take(&mut self.open).pending);
        self.met_conflict([pending].into_iter().chain(open));
    }

    /// Puts back what was taken for rounds that met a conflict, and has their requests decided again.
    fn met_conflict(&mut self, undone: impl IntoIterator<Item = Owed>) {
        self.conflicts = (self.conflicts + 1).min(MOST_CONFLICTS);
        self.stats.conflicts += 1;
        // Somebody else may have set a limit.
        self.memory.settings.forget();
        for mut undone in undone {
            if !undone.follow_ups.is_empty() {
                self.backlog.recheck(std::mem::take(&mut undone.follow_ups));
            }
            self.again.extend(undone.ask_again(&mut self.alarm, &mut self.tasks, self.now.wall));
        }
    }

    /// What a commit did to a run leaves: tasks, replies, timers.
    fn publish(&mut self, committed: Committed, worked: &BTreeMap<StepAddress, Duration>) {
        let Committed { run, records, actions } = committed;
        for record in &records {
            self.stats.records += 1;
            self.stats.counts.add(&run, record, worked);
            self.set_timers(&run, &record.change);
        }
        self.long_waits.look_at(&run, &records);
        for action in actions {
            self.act(&run, action);
        }
        if let Some(ended) = Ended::of(&run) {
            self.tell_ended(run.id, &ended);
        }
        if !records.is_empty() {
            self.outputs.push(Output::Changed(Changed::of(&run, records.len())));
        }
        if !self.in_flight.has_run(run.id) && !self.open.batch.has_run(run.id) {
            self.memory.put(run);
        }
    }

    fn act(&mut self, run: &Run, action: AfterCommitAction) {
        let task = |at, lease_epoch| TaskKey { run: run.id, at, lease_epoch };
        match action {
            AfterCommitAction::Core(AfterCommit::Dispatch { at, lease_epoch }) => {
                self.tasks.dispatch(run, task(at, lease_epoch), self.now, &mut self.outputs);
            }
            AfterCommitAction::Core(AfterCommit::Recall { at, lease_epoch }) => {
                self.tasks.settle(task(at, lease_epoch), &mut self.outputs);
            }
            AfterCommitAction::Core(AfterCommit::WantCode { at }) => self.tasks.want_code(run, at),
            AfterCommitAction::Core(AfterCommit::Respond { response }) => {
                self.say(run.id, &RunReply::Response(response));
            }
            AfterCommitAction::Perform { at, lease_epoch } => {
                self.tasks.perform(run, task(at, lease_epoch), self.now, &mut self.outputs);
            }
            AfterCommitAction::Listen(listener) => {
                self.listeners.entry(run.id).or_default().push((run.seq, listener));
            }
            AfterCommitAction::Repeat(listener, said) => listener.tell(RunReply::Response(said)),
        }
    }

    /// Tells everyone who waits for the end of this run how it ended.
    pub(super) fn tell_ended(&mut self, run: RunId, ended: &Ended) {
        for watcher in self.watchers.remove(&run).into_iter().flatten() {
            drop(watcher.send(Ok(ended.clone())));
        }
        if self.listeners.contains_key(&run) {
            self.say(run, &RunReply::Ended(ended.clone()));
        }
    }

    fn say(&mut self, run: RunId, said: &RunReply) {
        for (_, listener) in self.listeners.remove(&run).into_iter().flatten() {
            listener.tell(said.clone());
        }
    }

    fn set_timers(&mut self, run: &Run, change: &Change) {
        for number in change.waitpoints() {
            let Some(wait) = run.waitpoint(number) else { continue };
            let Some(at) = wait.resume_at else { continue };
            let timer = StoredTimer { at, run: run.id, timer: Timer::Waitpoint(number) };
            if wait.is_pending() {
                self.alarm.set(timer);
            } else {
                self.alarm.clear(&timer);
            }
        }
        if let Change::TaskStarted { at, lease_epoch, worker: _, build: _, deadline: Some(deadline) } = change
        {
            let timer = Timer::Attempt { at: *at, lease_epoch: *lease_epoch };
            self.alarm.set(StoredTimer { at: *deadline, run: run.id, timer });
        }
        if let Change::WorkflowStarted { deadline: Some(at) }
        | Change::WorkflowRetried { deadline: Some(at) } = change
        {
            self.alarm.set(StoredTimer { at: *at, run: run.id, timer: Timer::Run });
        }
    }
}
