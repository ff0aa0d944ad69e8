//! What a round comes to: the runs it changed, with what leaves when it is committed, and all else that is written with them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use abide_core::board::{TaskWrite, task_row};
use abide_core::command::Event;
use abide_core::history::Record;
use abide_core::id::{RunId, ScheduleId, StepAddress, WaitpointId, WebhookId, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::json::Json;
use abide_core::random::Random;
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::waitpoint::ListensFor;
use abide_store::{Batch, FollowUpWrite, RunWrite, StoredFollowUp};
use jiff::Timestamp;

use super::budget::Spent;
use crate::backlog::Backlog;
use crate::in_flight::RoundNumber;
use crate::reply_listener::ReplyListener;
use crate::schedules::ScheduleDelta;
use crate::tasks::{Lease, ReadyTask};
use crate::webhooks::Subscribed;

/// What a round came to, so far: what is committed together.
#[derive(Default)]
pub struct RoundBatch {
    pub(super) touched: HashMap<RunId, RunDelta>,
    /// In the order they were touched, so that effects leave in order.
    pub(super) order: Vec<RunId>,
    pub(super) events: Vec<Event>,
    pub(crate) idempotency: BTreeMap<String, IdempotencyRecord>,
    /// Waits for events that began in this round, by what they wait for.
    pub(super) listening: HashMap<(WorkspaceId, Arc<str>), Vec<WaitpointId>>,
    /// Waits that began and have not been offered yet what was there before them.
    pub(super) look_backs: Vec<(RunId, u32)>,
    pub(crate) schedules: BTreeMap<ScheduleId, ScheduleDelta>,
    pub(super) deliveries: Vec<abide_store::Delivery>,
    /// Who took a task in this round, and for how long.
    pub(crate) leases: HashMap<(RunId, StepAddress), Lease>,
    /// Tasks of which a sign of life came.
    pub(crate) renewed: Vec<ReadyTask>,
    /// Tasks that were found and that nobody wants any more.
    pub(crate) out_of_date: Vec<ReadyTask>,
    /// How the board is to have the tasks of this round.
    pub(crate) tasks: Vec<TaskWrite>,
    /// Whether that is a part of the commit.
    pub(crate) commits_tasks: bool,
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

/// A run in a round: as it is now, and what was added to it.
pub(crate) struct RunDelta {
    pub(super) run: Box<Run>,
    pub(super) based_on: u64,
    pub(super) records: Vec<Record>,
    pub(super) actions: Vec<Action>,
}

/// An after-commit action: what is to be done for a run once its round is durable.
#[derive(Debug)]
pub(crate) enum Action {
    /// A task was put out.
    Dispatch { at: StepAddress, lease_epoch: u32 },
    /// A task that was out before is performed here.
    Perform { at: StepAddress, lease_epoch: u32 },
    /// A task is not wanted any more.
    Recall { at: StepAddress, lease_epoch: u32 },
    /// A worker with other code may come for it.
    WantCode { at: StepAddress },
    /// Somebody wants to hear what the run says from here on.
    Listen(ReplyListener),
    /// The run says something to those who listen.
    Respond(Json),
    /// Somebody asks again for what the run said before.
    Repeat(ReplyListener, Json),
}

impl Action {
    fn place(&self) -> Option<StepAddress> {
        match self {
            Action::Dispatch { at, .. } | Action::Recall { at, .. } => Some(*at),
            Action::Perform { .. }
            | Action::WantCode { .. }
            | Action::Listen(_)
            | Action::Respond(_)
            | Action::Repeat(..) => None,
        }
    }
}

/// A run as a committed round left it.
pub(crate) struct Committed {
    pub(crate) run: Box<Run>,
    pub(crate) records: Vec<Record>,
    pub(crate) actions: Vec<Action>,
}

impl RoundBatch {
    pub(crate) fn touches(&self, run: RunId) -> bool {
        self.touched.contains_key(&run)
    }

    /// A run that something was decided about. One that was only looked at is no news to other rounds: another node may
    /// have moved it on since.
    pub(crate) fn changed(&self, run: RunId) -> Option<&RunDelta> {
        self.touched.get(&run).filter(|delta| !delta.records.is_empty())
    }

    /// How many runs it is about.
    pub(crate) fn runs(&self) -> usize {
        self.order.len()
    }

    /// Whether that round is to be committed before this one.
    pub(crate) fn is_on_top_of(&self, round: RoundNumber) -> bool {
        self.depends_on.contains(&round)
    }

    /// Whether any other round is to be committed before this one.
    pub(crate) fn is_on_top(&self) -> bool {
        !self.depends_on.is_empty()
    }

    pub(crate) fn put_on_top_of(&mut self, round: RoundNumber) {
        if !self.is_on_top_of(round) {
            self.depends_on.push(round);
        }
    }

    /// That round is committed.
    pub(crate) fn was_committed(&mut self, round: RoundNumber) {
        self.depends_on.retain(|before| *before != round);
    }

    /// Whether waits began that have not looked back yet.
    pub(crate) fn is_to_look_back(&self) -> bool {
        !self.look_backs.is_empty()
    }

    /// Whether the board is to have tasks otherwise.
    pub(crate) fn has_task_writes(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Whether there is something to commit, beside what the board is to have.
    pub(crate) fn has_changes(&self) -> bool {
        let changed = self.touched.values().any(|touched| !touched.records.is_empty());
        let scheduled = self.schedules.values().any(ScheduleDelta::has_changes);
        changed
            || scheduled
            || !self.events.is_empty()
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
        let runs = self.order.iter().map(|id| &self.touched[id]);
        let runs = runs.filter(|touched| !touched.records.is_empty()).map(|touched| RunWrite {
            based_on: touched.based_on,
            run: &touched.run,
            records: &touched.records,
        });
        Batch {
            runs: runs.collect(),
            events: self.events.iter().collect(),
            idempotency: self.idempotency.values().collect(),
            definitions: Vec::new(),
            schedules: self.schedules.values().filter_map(ScheduleDelta::write).collect(),
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
        for touched in self.order.iter().map(|id| &self.touched[id]) {
            self.deliveries.extend(subscribed.address(&touched.run, &touched.records, random));
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
        let RoundBatch { touched, order, leases, renewed, out_of_date, tasks, .. } = self;
        tasks.extend(out_of_date.iter().map(|task| {
            let ReadyTask { run, at, lease_epoch } = *task;
            TaskWrite::Remove { run, at, lease_epoch }
        }));
        for RunDelta { run, records, actions, .. } in order.iter().filter_map(|id| touched.get(id)) {
            let changed = records.iter().filter_map(|record| record.change.task_place());
            let asked = actions.iter().filter_map(Action::place);
            let places: BTreeSet<StepAddress> =
                changed.chain(asked.filter(|_| !records.is_empty())).collect();
            tasks.extend(places.into_iter().filter_map(|at| {
                let lease = leases.get(&(run.id, at)).map(|lease| lease.length);
                task_row(run, at, now, lease, hold, &works_here)
            }));
        }
        tasks.extend(renewed.iter().map(|task| {
            let ReadyTask { run, at, lease_epoch } = *task;
            TaskWrite::Renew { run, at, lease_epoch, now }
        }));
    }

    /// Takes out the runs that nothing was decided about, with what is to be done for them.
    pub(crate) fn take_unchanged(&mut self) -> Vec<(Box<Run>, Vec<Action>)> {
        self.schedules.retain(|_, touched| touched.has_changes());
        let unchanged = |touched: &RunDelta| touched.records.is_empty();
        let unchanged: Vec<RunId> =
            self.order.iter().copied().filter(|id| self.touched.get(id).is_some_and(unchanged)).collect();
        if !unchanged.is_empty() {
            let gone: HashSet<RunId> = unchanged.iter().copied().collect();
            self.order.retain(|id| !gone.contains(id));
        }
        let taken = unchanged.iter().filter_map(|id| self.touched.remove(id));
        taken.map(|touched| (touched.run, touched.actions)).collect()
    }

    pub(crate) fn into_committed(self) -> impl Iterator<Item = Committed> {
        let RoundBatch { mut touched, order, .. } = self;
        order.into_iter().filter_map(move |id| touched.remove(&id)).map(|touched| {
            let RunDelta { run, records, actions, based_on: _ } = touched;
            Committed { run, records, actions }
        })
    }

    /// Offers every task that is put out in this round.
    pub(crate) fn hand_out(&self, mut offer: impl FnMut(&Run, ReadyTask)) {
        for RunDelta { run, actions, .. } in self.order.iter().filter_map(|id| self.touched.get(id)) {
            for action in actions {
                if let Action::Dispatch { at, lease_epoch } = action {
                    offer(run, ReadyTask { run: run.id, at: *at, lease_epoch: *lease_epoch });
                }
            }
        }
    }

    pub(super) fn insert(&mut self, touched: RunDelta) {
        let id = touched.run.id;
        self.spent.record(&touched.records);
        if touched.based_on == 0 {
            *self.started.entry(touched.run.workspace).or_default() += 1;
        }
        self.note_listeners(&touched.run, &touched.records);
        self.touched.insert(id, touched);
        self.order.push(id);
    }

    pub(super) fn note_listeners(&mut self, run: &Run, records: &[Record]) {
        for number in records.iter().flat_map(|record| record.change.waitpoints()) {
            if let Some(wait) = run.waitpoint(number).filter(|wait| wait.is_pending())
                && let ListensFor::Event(filter) = &wait.listens_for
            {
                let event = (run.workspace, Arc::clone(&filter.event_id));
                self.listening.entry(event).or_default().push(run.id.waitpoint(number));
            }
        }
    }
}
