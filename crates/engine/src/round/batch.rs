//! What a round comes to: the runs it changed, all else that is written with them in one transaction, and, of each run, what
//! leaves when it is committed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use abide_core::board::{TaskWrite, task_row};
use abide_core::command::Event;
use abide_core::effect::AfterCommit;
use abide_core::history::Record;
use abide_core::id::{LimitId, RunId, ScheduleId, StepAddress, WaitpointId, WebhookId, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::json::Json;
use abide_core::random::Random;
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::waitpoint::ListensFor;
use abide_store::{Batch, FollowUpWrite, RunWrite, StoredFollowUp};
use jiff::Timestamp;

use super::budget::Spent;
use super::event_starts::RefusedWrite;
use super::{LimitDelta, Lines, SettingsDelta};
use crate::backlog::Backlog;
use crate::by_run::ByRun;
use crate::error::Error;
use crate::in_flight::RoundNumber;
use crate::reply_listener::ReplyListener;
use crate::schedules::ScheduleDelta;
use crate::tasks::{Lease, TaskKey};
use crate::webhooks::Subscribed;

/// What a round came to, so far: what is committed together.
#[derive(Default)]
pub struct RoundBatch {
    pub(super) deltas: ByRun<RunId, RunDelta>,
    /// In the order in which they came into the round, so that effects leave in order.
    pub(super) order: Vec<RunId>,
    pub(super) events: Vec<Event>,
    pub(crate) idempotency: BTreeMap<String, IdempotencyRecord>,
    /// Runs that were started with unique tags. Only a store that is shared keeps more of it than the tags.
    pub(crate) unique_tags: BTreeMap<String, IdempotencyRecord>,
    /// Waits for events that began in this round, by what they wait for.
    pub(super) listening: Listening,
    /// Waits that began and have not been offered yet what was there before them.
    pub(super) look_backs: Vec<(RunId, u32)>,
    pub(crate) schedules: BTreeMap<ScheduleId, ScheduleDelta>,
    pub(crate) limits: BTreeMap<LimitId, LimitDelta>,
    pub(super) lines: Lines,
    /// Waits for room that have begun and have not asked for it yet.
    pub(super) unasked: BTreeSet<(RunId, u32)>,
    pub(crate) limit_settings: BTreeMap<LimitId, SettingsDelta>,
    /// Why nothing of this round may be committed.
    pub(crate) poisoned: Option<Error>,
    /// Starts on events that were refused.
    refused_starts: Vec<RefusedWrite>,
    pub(super) deliveries: Vec<abide_store::Delivery>,
    /// Who took a task in this round, and for how long.
    pub(crate) leases: ByRun<(RunId, StepAddress), Lease>,
    /// Tasks of which a sign of life came.
    pub(crate) renewed: Vec<TaskKey>,
    /// Tasks that were found and that nobody wants any more.
    pub(crate) out_of_date: Vec<TaskKey>,
    /// How the board is to have the tasks of this round.
    pub(crate) tasks: Vec<TaskWrite>,
    /// Whether that is a part of the commit.
    pub(crate) commits_tasks: bool,
    /// Runs as rounds in flight left them, and with which version, where several nodes share the store. Another node may move one on after such a round is
    /// committed and before that is heard of; what is decided about it without a change is not compared in the commit.
    pub(super) relied_on: BTreeMap<RunId, u64>,
    /// The rounds of which this one took something up: they are committed first.
    pub(super) depends_on: Vec<RoundNumber>,
    pub(crate) spent: Spent,
    /// What is left for later rounds.
    pub(super) left: Vec<StoredFollowUp>,
    /// What earlier rounds left, and of which a part is done, or all.
    pub(super) changed: Vec<StoredFollowUp>,
    pub(super) done: Vec<StoredFollowUp>,
    /// Descendants of a run that were started, and how many there were before.
    pub(super) descendants: BTreeMap<RunId, u64>,
    pub(super) descendants_before: HashMap<RunId, u64>,
    /// Runs that were started in a workspace, and how many were open before.
    pub(super) started: HashMap<WorkspaceId, u64>,
    pub(super) open_before: HashMap<WorkspaceId, u64>,
}

/// Waits for events, by what they wait for.
type Listening = HashMap<(WorkspaceId, Arc<str>), Vec<WaitpointId>>;

/// A run in a round: as it is now, and what was added to it.
pub(crate) struct RunDelta {
    pub(super) run: Box<Run>,
    pub(super) based_on: u64,
    pub(super) records: Vec<Record>,
    pub(super) actions: Vec<AfterCommitAction>,
}

/// An after-commit action: what is to be done for a run once its round is durable.
#[derive(Debug)]
pub(crate) enum AfterCommitAction {
    /// What the core asks for.
    Core(AfterCommit),
    /// A task that was out before is performed here.
    Perform { at: StepAddress, lease_epoch: u32 },
    /// Somebody wants to hear what the run says from here on.
    Listen(ReplyListener),
    /// Somebody asks again for what the run said before.
    Repeat(ReplyListener, Json),
}

impl AfterCommitAction {
    /// The address of the task that is put out or recalled.
    fn task_place(&self) -> Option<StepAddress> {
        match self {
            AfterCommitAction::Core(AfterCommit::Dispatch { at, .. } | AfterCommit::Recall { at, .. }) => {
                Some(*at)
            }
            AfterCommitAction::Core(AfterCommit::WantCode { .. } | AfterCommit::Respond { .. })
            | AfterCommitAction::Perform { .. }
            | AfterCommitAction::Listen(_)
            | AfterCommitAction::Repeat(..) => None,
        }
    }
}

/// A run as a committed round left it.
pub(crate) struct Committed {
    pub(crate) run: Box<Run>,
    pub(crate) records: Vec<Record>,
    pub(crate) actions: Vec<AfterCommitAction>,
}

impl RoundBatch {
    pub(crate) fn has_run(&self, run: RunId) -> bool {
        self.deltas.contains_key(&run)
    }

    /// A run that something was decided about. One that was only looked at is no news to other rounds: another node may
    /// have moved it on since.
    pub(crate) fn changed(&self, run: RunId) -> Option<&RunDelta> {
        self.deltas.get(&run).filter(|delta| !delta.records.is_empty())
    }

    /// Takes out a run that nothing was decided about.
    pub(super) fn take_out(&mut self, run: RunId) -> Option<RunDelta> {
        self.order.retain(|id| *id != run);
        self.deltas.remove(&run)
    }

    /// How many runs it is about.
    pub(crate) fn runs(&self) -> usize {
        self.order.len()
    }

    /// Whether that round is to be committed before this one.
    pub(crate) fn is_dependent_on(&self, round: RoundNumber) -> bool {
        self.depends_on.contains(&round)
    }

    /// Whether any other round is to be committed before this one.
    pub(crate) fn is_dependent(&self) -> bool {
        !self.depends_on.is_empty()
    }

    pub(crate) fn depend_on(&mut self, round: RoundNumber) {
        if !self.is_dependent_on(round) {
            self.depends_on.push(round);
        }
    }

    /// That round is committed.
    pub(crate) fn was_committed(&mut self, round: RoundNumber) {
        self.depends_on.retain(|before| *before != round);
    }

    /// The runs that it took from rounds before it and did not change, with their versions.
    pub(crate) fn relied_on(&self) -> impl Iterator<Item = (RunId, u64)> {
        let unchanged = self.relied_on.iter().filter(|(run, _)| self.changed(**run).is_none());
        unchanged.map(|(run, version)| (*run, *version))
    }

    /// Whether waits began that have not looked back yet.
    pub(crate) fn is_to_look_back(&self) -> bool {
        !self.look_backs.is_empty()
    }

    /// Notes a start on an event that was refused: of each workflow and event id the last one.
    pub(super) fn note_refused_start(&mut self, refused: RefusedWrite) {
        self.refused_starts.retain(|earlier| !earlier.is_of_same(&refused));
        self.refused_starts.push(refused);
    }

    /// Whether the board is to have tasks otherwise.
    pub(crate) fn has_task_writes(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Whether there is something to commit, beside what the board is to have.
    pub(crate) fn has_changes(&self) -> bool {
        let changed = self.deltas.values().any(|delta| !delta.records.is_empty());
        let scheduled = self.schedules.values().any(ScheduleDelta::has_changes);
        let limited = self.limits.values().any(LimitDelta::has_changes);
        changed
            || scheduled
            || limited
            || !self.limit_settings.is_empty()
            || !self.events.is_empty()
            || !self.refused_starts.is_empty()
            || !self.idempotency.is_empty()
            || !(self.left.is_empty() && self.changed.is_empty() && self.done.is_empty())
    }

    /// What is to be done later, now that this round is committed; and what is done.
    pub(crate) fn settle_follow_ups(&mut self, backlog: &mut Backlog) {
        self.done.drain(..).for_each(|done| backlog.done(&done));
        self.changed.drain(..).for_each(|changed| backlog.add(changed));
        self.left.drain(..).for_each(|left| backlog.add_new(left));
    }

    /// What is written in one transaction.
    pub fn batch(&self) -> Batch<'_> {
        let runs = self.order.iter().map(|id| &self.deltas[id]);
        let runs = runs.filter(|delta| !delta.records.is_empty()).map(|delta| RunWrite {
            based_on: delta.based_on,
            run: &delta.run,
            records: &delta.records,
        });
        Batch {
            runs: runs.collect(),
            events: self.events.iter().collect(),
            idempotency: self
                .idempotency
                .values()
                .chain(self.unique_tags.values().filter(|_| self.commits_tasks))
                .collect(),
            definitions: Vec::new(),
            event_starts: self.refused_starts.iter().map(RefusedWrite::write).collect(),
            schedules: self.schedules.values().filter_map(ScheduleDelta::write).collect(),
            limits: self.limits.values().filter_map(LimitDelta::write).collect(),
            limit_settings: self.limit_settings.values().filter_map(SettingsDelta::write).collect(),
            deliveries: self.deliveries.iter().collect(),
            tasks: self.tasks.iter().filter(|_| self.commits_tasks).collect(),
            follow_ups: self
                .done
                .iter()
                .map(FollowUpWrite::Remove)
                .chain(self.changed.iter().map(FollowUpWrite::Change))
                .chain(self.left.iter().map(FollowUpWrite::Put))
                .collect(),
            descendants: self.descendants.iter().map(|(root, more)| (*root, *more)).collect(),
        }
    }

    /// Writes down what webhooks are to be told of this round. Once, when nothing more is decided in it.
    pub(crate) fn address(&mut self, subscribed: &Subscribed, random: &mut Random) {
        for delta in self.order.iter().map(|id| &self.deltas[id]) {
            self.deliveries.extend(subscribed.address(&delta.run, &delta.records, random));
        }
    }

    /// The webhooks to which this round has messages.
    pub(crate) fn addressed(&self) -> BTreeSet<WebhookId> {
        self.deliveries.iter().map(|delivery| delivery.webhook).collect()
    }

    /// Writes down which tasks are out. Once, when nothing more is decided in this round.
    pub(crate) fn note_tasks(
        &mut self,
        now: Timestamp,
        hold: Millis,
        works_here: impl Fn(&Run, StepAddress) -> bool,
    ) {
        let RoundBatch { deltas, order, leases, renewed, out_of_date, tasks, .. } = self;
        tasks.extend(out_of_date.iter().map(|task| {
            let TaskKey { run, at, lease_epoch } = *task;
            TaskWrite::Remove { run, at, lease_epoch }
        }));
        for RunDelta { run, records, actions, .. } in order.iter().filter_map(|id| deltas.get(id)) {
            let changed = records.iter().filter_map(|record| record.change.task_place());
            let asked = actions.iter().filter_map(AfterCommitAction::task_place);
            let places: BTreeSet<StepAddress> =
                changed.chain(asked.filter(|_| !records.is_empty())).collect();
            tasks.extend(places.into_iter().filter_map(|at| {
                let lease = leases.get(&(run.id, at)).map(|lease| lease.length);
                task_row(run, at, now, lease, hold, &works_here)
            }));
        }
        tasks.extend(renewed.iter().map(|task| {
            let TaskKey { run, at, lease_epoch } = *task;
            TaskWrite::Renew { run, at, lease_epoch, now }
        }));
    }

    /// Takes out the runs that nothing was decided about, with what is to be done for them.
    pub(crate) fn take_unchanged(&mut self) -> Vec<(Box<Run>, Vec<AfterCommitAction>)> {
        self.schedules.retain(|_, delta| delta.has_changes());
        self.limits.retain(|_, delta| delta.has_changes());
        let unchanged = |delta: &RunDelta| delta.records.is_empty();
        let unchanged: Vec<RunId> =
            self.order.iter().copied().filter(|id| self.deltas.get(id).is_some_and(unchanged)).collect();
        if !unchanged.is_empty() {
            let gone: HashSet<RunId> = unchanged.iter().copied().collect();
            self.order.retain(|id| !gone.contains(id));
        }
        let taken = unchanged.iter().filter_map(|id| self.deltas.remove(id));
        taken.map(|delta| (delta.run, delta.actions)).collect()
    }

    pub(crate) fn into_committed(self) -> impl Iterator<Item = Committed> {
        let RoundBatch { mut deltas, order, .. } = self;
        order.into_iter().filter_map(move |id| deltas.remove(&id)).map(|delta| {
            let RunDelta { run, records, actions, based_on: _ } = delta;
            Committed { run, records, actions }
        })
    }

    /// Offers every task that is put out in this round.
    pub(crate) fn offer_tasks(&self, mut offer: impl FnMut(&Run, TaskKey)) {
        for RunDelta { run, actions, .. } in self.order.iter().filter_map(|id| self.deltas.get(id)) {
            for action in actions {
                if let AfterCommitAction::Core(AfterCommit::Dispatch { at, lease_epoch }) = action {
                    offer(run, TaskKey { run: run.id, at: *at, lease_epoch: *lease_epoch });
                }
            }
        }
    }

    pub(super) fn insert(&mut self, delta: RunDelta) {
        let id = delta.run.id;
        self.spent.record(&delta.records);
        if delta.based_on == 0 {
            *self.started.entry(delta.run.workspace).or_default() += 1;
        }
        note_listeners(&mut self.listening, &delta.run, &delta.records);
        self.deltas.insert(id, delta);
        self.order.push(id);
    }
}

/// Notes which waits for events begin with these records.
pub(super) fn note_listeners(listening: &mut Listening, run: &Run, records: &[Record]) {
    for number in records.iter().flat_map(|record| record.change.waitpoints()) {
        if let Some(wait) = run.waitpoint(number).filter(|wait| wait.is_pending())
            && let ListensFor::Event(filter) = &wait.listens_for
        {
            let event = (run.workspace, Arc::clone(&filter.event_id));
            listening.entry(event).or_default().push(run.id.waitpoint(number));
        }
    }
}
