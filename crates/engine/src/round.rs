//! One round: everything that is decided together and committed in one transaction. What a decision asks of other
//! runs (a child to start, a parent to tell, an event to look back for) is decided in the same round while there is
//! [room](budget), and written down in it otherwise, so that nothing of it can be lost between two commits.
//!
//! While rounds are being committed, the next is decided on top of them. A run that it has in common with one of them is
//! copied; what the store does not say yet is looked up there.

pub(crate) mod budget;
mod events;
mod follow_up;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use abide_core::apply::BadHistory;
use abide_core::bounds::Bounds;
use abide_core::command::{self, Command, Context, Occurrence, Reply};
use abide_core::definition::Definition;
use abide_core::door::{Remembered, decide_once, digest, replay};
use abide_core::effect::{AfterCommit, RoundEffect};
use abide_core::follow_up::FollowUp;
use abide_core::history::Record;
use abide_core::id::{At, RunId, ScheduleId, WaitpointId, WebhookId, WorkspaceId};
use abide_core::json::Json;
use abide_core::random::Random;
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::{Actor, ListensFor};
use abide_store::tasks::TaskWrite;
use abide_store::{Batch, FollowUpWrite, Held, Owner, Read, RunWrite, StoredFollowUp, Waiter};
use jiff::Timestamp;

use crate::backlog::Backlog;
use crate::dispatcher::ReadyTask;
use crate::ear::Ear;
use crate::error::Error;
use crate::holds::{ENGINE, Holds, workspace_of};
use crate::in_flight::{InFlight, RoundNumber};
use crate::limits::{Limits, OpenRuns};
use crate::memory::Memory;
use crate::request::Start;
use crate::schedules::TouchedSchedule;
use crate::share;
use crate::watch::Watch;
use crate::webhooks::Subscribed;
use budget::Spent;
pub(crate) use follow_up::Taken;

/// Waiters are looked up in pages of this size.
const PAGE: usize = 256;
/// And those of many events at once, so many of each at first.
pub(crate) const FIRST_PAGE: usize = 100;

/// Who waits for an event, as far as that was looked up before.
pub(crate) type Waiting = HashMap<(WorkspaceId, Arc<str>), Vec<Waiter>>;

/// What a round came to, so far.
#[derive(Default)]
pub struct RoundBatch {
    touched: HashMap<RunId, Touched>,
    /// In the order they were touched, so that effects leave in order.
    order: Vec<RunId>,
    occurrences: Vec<Occurrence>,
    pub(crate) remembered: HashMap<String, Remembered>,
    /// Waits for events that began in this round, by what they wait for.
    listening: HashMap<(WorkspaceId, Arc<str>), Vec<WaitpointId>>,
    /// Waits that began and have not been offered yet what was there before them.
    look_backs: Vec<(RunId, u32)>,
    pub(crate) schedules: HashMap<ScheduleId, TouchedSchedule>,
    deliveries: Vec<abide_store::Delivery>,
    // Where the store says which tasks are out:
    /// How long whoever took a task in this round has it.
    pub(crate) leases: HashMap<(RunId, At), Millis>,
    /// Tasks of which a sign of life came.
    pub(crate) renewed: Vec<ReadyTask>,
    /// Tasks that were found and that nobody wants any more.
    pub(crate) out_of_date: Vec<ReadyTask>,
    tasks: Vec<TaskWrite>,
    /// The rounds of which this one took something up: they are committed first.
    on_top_of: Vec<RoundNumber>,
    pub(crate) spent: Spent,
    /// What is left for later rounds.
    left: Vec<StoredFollowUp>,
    /// What earlier rounds left, and of which a part is done, or all.
    changed: Vec<StoredFollowUp>,
    done: Vec<StoredFollowUp>,
    /// Descendants of a run that were started, and how many there were before.
    descendants: HashMap<RunId, u64>,
    descendants_before: HashMap<RunId, u64>,
    /// Runs that were started in a workspace, and how many were open before.
    started: HashMap<WorkspaceId, u64>,
    open_before: HashMap<WorkspaceId, u64>,
}

struct Touched {
    run: Box<Run>,
    based_on: u64,
    records: Vec<Record>,
    errands: Vec<Errand>,
}

/// What is to be done for a run once its round is committed.
#[derive(Debug)]
pub(crate) enum Errand {
    Dispatch {
        at: At,
        delivery: u32,
    },
    /// The same, of one that was out before.
    HandOver {
        at: At,
        delivery: u32,
    },
    Recall {
        at: At,
        delivery: u32,
    },
    /// A worker with other code may come for it.
    WantCode {
        at: At,
    },
    /// Somebody wants to hear what the run says from here on.
    Listen(Ear),
    Respond(Json),
    /// Somebody asks again for what the run said before.
    Repeat(Ear, Json),
}

impl Errand {
    fn place(&self) -> Option<At> {
        match self {
            Errand::Dispatch { at, .. } | Errand::Recall { at, .. } => Some(*at),
            Errand::HandOver { .. }
            | Errand::WantCode { .. }
            | Errand::Listen(_)
            | Errand::Respond(_)
            | Errand::Repeat(..) => None,
        }
    }
}

/// A run as a committed round left it.
pub(crate) struct Committed {
    pub(crate) run: Box<Run>,
    pub(crate) records: Vec<Record>,
    pub(crate) errands: Vec<Errand>,
}

impl RoundBatch {
    pub(crate) fn touches(&self, run: RunId) -> bool {
        self.touched.contains_key(&run)
    }

    /// How many runs it is about.
    pub(crate) fn runs(&self) -> usize {
        self.order.len()
    }

    /// Whether this one is to be committed first.
    pub(crate) fn is_on_top_of(&self, round: RoundNumber) -> bool {
        self.on_top_of.contains(&round)
    }

    /// Whether any is.
    pub(crate) fn is_on_top(&self) -> bool {
        !self.on_top_of.is_empty()
    }

    pub(crate) fn put_on_top_of(&mut self, round: RoundNumber) {
        if !self.is_on_top_of(round) {
            self.on_top_of.push(round);
        }
    }

    /// This one is committed.
    pub(crate) fn was_committed(&mut self, round: RoundNumber) {
        self.on_top_of.retain(|before| *before != round);
    }

    /// Whether waits began that have not looked back yet.
    pub(crate) fn is_to_look_back(&self) -> bool {
        !self.look_backs.is_empty()
    }

    pub(crate) fn has_changes(&self) -> bool {
        let changed = self.touched.values().any(|touched| !touched.records.is_empty());
        let scheduled = self.schedules.values().any(TouchedSchedule::has_changes);
        changed
            || scheduled
            || !self.occurrences.is_empty()
            || !self.remembered.is_empty()
            || !self.renewed.is_empty()
            || !self.out_of_date.is_empty()
            || !(self.left.is_empty() && self.changed.is_empty() && self.done.is_empty())
    }

    /// What is to be done later, now that this round is committed; and what is done.
    pub(crate) fn settle_follow_ups(&mut self, backlog: &mut Backlog) {
        self.done.drain(..).for_each(|done| backlog.done(&done));
        self.changed.drain(..).chain(self.left.drain(..)).for_each(|left| backlog.add(left));
    }

    pub fn batch(&self) -> Batch<'_> {
        let runs = self.order.iter().map(|id| &self.touched[id]);
        let runs = runs.filter(|touched| !touched.records.is_empty()).map(|touched| RunWrite {
            based_on: touched.based_on,
            run: &touched.run,
            records: &touched.records,
        });
        Batch {
            runs: runs.collect(),
            occurrences: self.occurrences.iter().collect(),
            remembered: self.remembered.values().collect(),
            definitions: Vec::new(),
            schedules: self.schedules.values().filter_map(TouchedSchedule::write).collect(),
            deliveries: self.deliveries.iter().collect(),
            tasks: self.tasks.iter().collect(),
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

    /// Those who are to be told something.
    pub(crate) fn addressed(&self) -> BTreeSet<WebhookId> {
        self.deliveries.iter().map(|delivery| delivery.webhook).collect()
    }

    /// Writes down which tasks are out. Once, when nothing more is decided in this round.
    pub(crate) fn note_tasks(&mut self, now: Timestamp, works_here: impl Fn(&Run, At) -> bool) {
        let RoundBatch { touched, order, leases, renewed, out_of_date, tasks, .. } = self;
        tasks.extend(out_of_date.iter().map(|task| {
            let ReadyTask { run, at, delivery } = *task;
            TaskWrite::Remove { run, at, delivery }
        }));
        for Touched { run, records, errands, .. } in order.iter().filter_map(|id| touched.get(id)) {
            let changed = records.iter().filter_map(|record| record.change.task_place());
            let asked = errands.iter().filter_map(Errand::place);
            let places: BTreeSet<At> = changed.chain(asked.filter(|_| !records.is_empty())).collect();
            let lease = |at: At| leases.get(&(run.id, at)).copied();
            tasks.extend(
                places.into_iter().filter_map(|at| share::task_row(run, at, now, lease(at), &works_here)),
            );
        }
        tasks.extend(renewed.iter().map(|task| {
            let ReadyTask { run, at, delivery } = *task;
            TaskWrite::Renew { run, at, delivery, now }
        }));
    }

    /// Takes out the runs that nothing was decided about, with what is to be done for them.
    pub(crate) fn take_unchanged(&mut self) -> Vec<(Box<Run>, Vec<Errand>)> {
        self.schedules.retain(|_, touched| touched.has_changes());
        let unchanged = |touched: &Touched| touched.records.is_empty();
        let unchanged: Vec<RunId> =
            self.order.iter().copied().filter(|id| self.touched.get(id).is_some_and(unchanged)).collect();
        if !unchanged.is_empty() {
            let gone: HashSet<RunId> = unchanged.iter().copied().collect();
            self.order.retain(|id| !gone.contains(id));
        }
        let taken = unchanged.iter().filter_map(|id| self.touched.remove(id));
        taken.map(|touched| (touched.run, touched.errands)).collect()
    }

    pub(crate) fn into_committed(self) -> impl Iterator<Item = Committed> {
        let RoundBatch { mut touched, order, .. } = self;
        order.into_iter().filter_map(move |id| touched.remove(&id)).map(|touched| {
            let Touched { run, records, errands, based_on: _ } = touched;
            Committed { run, records, errands }
        })
    }

    /// Offers every task of this round. One that is taken is not dispatched again after the commit.
    pub(crate) fn hand_out(&mut self, mut take: impl FnMut(&Run, At, u32) -> bool) {
        for id in &self.order {
            let Some(Touched { run, errands, .. }) = self.touched.get_mut(id) else { continue };
            errands.retain(|errand| match errand {
                Errand::Dispatch { at, delivery } | Errand::HandOver { at, delivery } => {
                    !take(run, *at, *delivery)
                }
                Errand::Recall { .. }
                | Errand::WantCode { .. }
                | Errand::Listen(_)
                | Errand::Respond(_)
                | Errand::Repeat(..) => true,
            });
        }
    }

    fn insert(&mut self, touched: Touched) {
        let id = touched.run.id;
        self.spent.record(&touched.records);
        if touched.based_on == 0 {
            *self.started.entry(touched.run.workspace).or_default() += 1;
        }
        self.note_listeners(&touched.run, &touched.records);
        self.touched.insert(id, touched);
        self.order.push(id);
    }

    fn note_listeners(&mut self, run: &Run, records: &[Record]) {
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

/// Decides: the round so far, and all it takes to go on with it.
pub(crate) struct Round<'w> {
    pub(crate) store: &'w mut dyn Read,
    pub(crate) memory: &'w mut Memory,
    pub(crate) random: &'w mut Random,
    pub(crate) now: Timestamp,
    /// An instant that is not before now by any clock that others go by.
    pub(crate) latest: Timestamp,
    pub(crate) decided: &'w mut RoundBatch,
    pub(crate) waiting: &'w Waiting,
    /// What is being committed.
    pub(crate) before: &'w InFlight,
    pub(crate) backlog: &'w Backlog,
    pub(crate) limits: &'w Limits,
    pub(crate) open_runs: &'w OpenRuns,
    /// What is to be done for other runs.
    pub(crate) todo: VecDeque<(WorkspaceId, FollowUp)>,
    /// How much of that may still be done in this round, for what is decided now.
    pub(crate) allowance: usize,
    /// Of the request that is decided.
    pub(crate) traceparent: Option<Traceparent>,
    pub(crate) bounds: Bounds,
    pub(crate) holds: &'w Holds,
    pub(crate) watch: &'w Watch,
    /// What was found to be damaged and is held from here on; the store is to be told.
    pub(crate) damaged: &'w mut Vec<Held>,
}

impl<'w> Round<'w> {
    fn context(&mut self, by: Actor) -> Context {
        let (now, random) = (self.now, self.random.draw());
        Context { now, random, by, traceparent: self.traceparent, bounds: self.bounds }
    }

    /// Looks at a run of which nothing is left to be committed; `None` if there is.
    pub(crate) fn committed<T>(
        &mut self,
        id: RunId,
        look: impl FnOnce(&Run) -> T,
    ) -> Option<Result<T, Error>> {
        if self.decided.touches(id) || self.before.touches(id) {
            return None;
        }
        Some(match self.memory.take(self.store, id) {
            Ok(Some(run)) => {
                let seen = look(&run);
                self.memory.put(run);
                Ok(seen)
            }
            Ok(None) => Err(Error::UnknownRun(id)),
            Err(error) => {
                self.note_damage(id, &error);
                Err(error)
            }
        })
    }

    /// What does not mend itself is held: whatever was damaged, or else what this was met for.
    pub(crate) fn note_damage(&mut self, met_for: RunId, error: &Error) {
        if error.passes() {
            return;
        }
        let owner = if let Error::Store(error) = error
            && let abide_store::Error::Damaged { owner, .. } = &**error
        {
            *owner
        } else {
            met_for
        };
        let owner = Owner(owner);
        let workspace = workspace_of(self.store, owner);
        let held = Held { owner, workspace, at: self.now, by: ENGINE.to_owned(), reason: error.to_string() };
        // Whoever is told of the damage finds it held.
        if self.holds.add(held.clone()) {
            self.damaged.push(held);
        }
    }

    pub(crate) fn look_back_for(&mut self, run: RunId, number: u32) {
        self.decided.look_backs.push((run, number));
    }

    /// The run as it is in this round.
    pub(crate) fn run(&mut self, id: RunId) -> Result<&Run, Error> {
        Ok(&self.touch(id)?.run)
    }

    /// A run of another workspace is unknown.
    pub(crate) fn check_workspace(&mut self, id: RunId, asked: Option<WorkspaceId>) -> Result<(), Error> {
        match asked {
            Some(asked) if self.run(id)?.workspace != asked => Err(Error::UnknownRun(id)),
            Some(_) | None => Ok(()),
        }
    }

    fn touch(&mut self, id: RunId) -> Result<&mut Touched, Error> {
        self.watch.at(id);
        if !self.decided.touches(id) {
            self.holds.check(id)?;
            let run = match self.before.find(|before| before.touched.get(&id)) {
                Some((round, touched)) => {
                    self.decided.put_on_top_of(round);
                    touched.run.clone()
                }
                None => match self.memory.take(self.store, id) {
                    Ok(run) => run.ok_or(Error::UnknownRun(id))?,
                    Err(error) => {
                        self.note_damage(id, &error);
                        return Err(error);
                    }
                },
            };
            self.decided.insert(Touched { based_on: run.seq, run, records: Vec::new(), errands: Vec::new() });
        }
        Ok(self.decided.touched.get_mut(&id).expect("it was just put there"))
    }

    /// What the input of a run is to be checked against, if that is more than a moment's work.
    pub(crate) fn start_to_check(&mut self, start: &Start) -> Option<Arc<Definition>> {
        let version = start.version.as_deref();
        let definition = self.memory.definition(self.store, start.workspace, &start.name, version).ok()?;
        let is_checked = start.checked.as_ref().is_some_and(|checked| Arc::ptr_eq(checked, &definition));
        if is_checked || definition.is_quick_to_check(&start.input) {
            return None;
        }
        let key = start.key.as_ref().map(|key| format!("{}/start/{key}", start.workspace));
        let is_answered = key.is_some_and(|key| self.recall_key(&key).is_ok_and(|earlier| earlier.is_some()));
        (!is_answered).then_some(definition)
    }

    pub(crate) fn start(&mut self, start: Start, listener: Option<Ear>) -> Result<RunId, Error> {
        let key = start.key.as_ref().map(|key| format!("{}/start/{key}", start.workspace));
        let input = start.asked.as_ref().unwrap_or(&start.input);
        let asked = (&start.name, &start.version, input, start.run_at, &start.tags);
        let digest = digest(&asked);
        if let Some(key) = &key
            && let Some(earlier) = self.recall_key(key)?
            && let Some(Reply::Started(run)) = replay(key, digest, Some(&earlier))?
        {
            self.listen_again(run, earlier.at, listener);
            return Ok(run);
        }
        let workspace = start.workspace;
        let version = start.version.as_deref();
        if Definition::is_own(&start.name) {
            // It is a part of another run, and nobody's to start.
            return Err(Error::UnknownDefinition { name: start.name, version: start.version });
        }
        let definition = self.memory.definition(self.store, workspace, &start.name, version)?;
        if !start.checked.as_ref().is_some_and(|checked| Arc::ptr_eq(checked, &definition)) {
            definition.check_input(&start.input)?;
        }
        self.check_open_runs(workspace)?;
        let id = self.memory.fresh_id(self.now, self.random.draw_u128());
        let new = command::NewRun {
            workspace,
            run_at: start.run_at,
            tags: start.tags,
            ..command::NewRun::new(id, definition, start.input)
        };
        self.start_run(new, start.by, listener)?;
        if let Some(key) = key {
            self.decided.remembered.insert(
                key.clone(),
                Remembered { key, digest, reply: Reply::Started(id), run: Some(id), at: self.now },
            );
        }
        Ok(id)
    }

    pub(crate) fn start_run(
        &mut self,
        new: command::NewRun,
        by: Actor,
        listener: Option<Ear>,
    ) -> Result<(), Error> {
        let id = new.id;
        let context = self.context(by);
        let (run, outcome) = command::start(new, &context)?;
        let errands = listener.map(Errand::Listen).into_iter().collect();
        let run = Box::new(run);
        self.decided.insert(Touched { run, based_on: 0, records: outcome.records, errands });
        self.perform(id, outcome.in_round, outcome.after_commit);
        self.follow_up();
        Ok(())
    }

    fn listen(&mut self, run: RunId, listener: Option<Ear>) {
        // If there is no such run, the listener is dropped, which it notices.
        if let Some(listener) = listener
            && let Ok(touched) = self.touch(run)
        {
            touched.errands.push(Errand::Listen(listener));
        }
    }

    /// What the run has said since it was asked the first time is said again.
    fn listen_again(&mut self, run: RunId, since: Timestamp, listener: Option<Ear>) {
        if let Some(listener) = listener
            && let Ok(touched) = self.touch(run)
        {
            let said = touched.run.said_since(since).cloned();
            touched.errands.push(match said {
                Some(said) => Errand::Repeat(listener, said),
                None => Errand::Listen(listener),
            });
        }
    }

    fn resolved_at(&mut self, waitpoint: WaitpointId) -> Option<Timestamp> {
        self.run(waitpoint.run).ok()?.waitpoint(waitpoint.number)?.resolved_at
    }

    pub(crate) fn recall_key(&mut self, key: &str) -> Result<Option<Remembered>, Error> {
        if let Some(remembered) = self.decided.remembered.get(key) {
            return Ok(Some(remembered.clone()));
        }
        match self.before.find(|before| before.remembered.get(key)) {
            Some((round, remembered)) => {
                self.decided.put_on_top_of(round);
                Ok(Some(remembered.clone()))
            }
            None => Ok(self.store.remembered(key)?),
        }
    }

    /// Decides one command, and everything that follows from it for other runs.
    pub(crate) fn decide(
        &mut self,
        id: RunId,
        command: Command,
        by: Actor,
        key: Option<&str>,
    ) -> Result<Reply, Error> {
        self.decide_heard(id, command, by, key, None)
    }

    /// The same, for somebody who wants to hear what the run says next.
    pub(crate) fn decide_heard(
        &mut self,
        id: RunId,
        command: Command,
        by: Actor,
        key: Option<&str>,
        listener: Option<Ear>,
    ) -> Result<Reply, Error> {
        let context = self.context(by);
        // Who votes is a part of the vote.
        let voter = matches!(command, Command::Vote(_)).then(|| format!("{}/", context.by));
        let key = key.map(|key| format!("{id}/{}{key}", voter.unwrap_or_default()));
        let earlier = key.as_ref().map(|key| self.recall_key(key)).transpose()?.flatten();
        let touched = self.touch(id)?;
        if matches!(command, Command::Move(_)) && !touched.records.is_empty() {
            // What else this round does for the run names places of the version it had.
            return Err(Error::Busy(id));
        }
        let decided = match &key {
            None => command::decide(&mut touched.run, command, &context).map(|outcome| (outcome, None)),
            Some(key) => decide_once(&mut touched.run, command, &context, key, earlier.as_ref()),
        };
        let (outcome, remembered) = match decided {
            Ok(decided) => decided,
            Err(refusal) => return Err(self.refused(id, refusal)),
        };
        self.decided.remembered.extend(remembered.map(|remembered| (remembered.key.clone(), remembered)));
        // What the run has said to the first call, it has said to the same call again.
        let repeated = match &outcome.reply {
            Reply::Repeated(waitpoint) => self.resolved_at(*waitpoint),
            Reply::Done
            | Reply::Started(_)
            | Reply::Unchanged
            | Reply::Signalled { .. }
            | Reply::Waitpoint(_)
            | Reply::Leased { .. }
            | Reply::Notified { .. }
            | Reply::Voted { .. } => None,
        };
        match repeated.or(earlier.map(|earlier| earlier.at)) {
            Some(since) => self.listen_again(id, since, listener),
            None => self.listen(id, listener),
        }
        self.record(id, outcome.records);
        self.perform(id, outcome.in_round, outcome.after_commit);
        self.follow_up();
        Ok(outcome.reply)
    }

    fn record(&mut self, id: RunId, records: Vec<Record>) {
        if let Some(mut touched) = self.decided.touched.remove(&id) {
            self.decided.note_listeners(&touched.run, &records);
            self.decided.spent.record(&records);
            touched.records.extend(records);
            self.decided.touched.insert(id, touched);
        }
    }

    /// After an illegal move, a defect of ours, the run in memory is in no defined state: it is made anew from what
    /// was decided before.
    fn refused(&mut self, id: RunId, refusal: Refusal) -> Error {
        if let Refusal::Illegal(illegal) = &refusal {
            tracing::error!(run = %id, %illegal, "a decision was not legal; the run is left as it was");
            if let Err(error) = self.make_anew(id) {
                tracing::error!(run = %id, %error, "the run could not be made anew");
            }
        }
        Error::Refused(refusal)
    }

    fn make_anew(&mut self, id: RunId) -> Result<(), Error> {
        let Some(touched) = self.decided.touched.get_mut(&id) else { return Ok(()) };
        let workspace = touched.run.workspace;
        let (_, moved_to) = self.memory.versions(self.store, workspace, &touched.records)?;
        let definition = Arc::clone(&touched.run.definition);
        let unreadable = |error| Error::unreadable(id, &error);
        let before = self.before.find(|before| before.touched.get(&id));
        *touched.run = match (before, touched.based_on) {
            (_, 0) => Run::replay_with(definition, &moved_to, &touched.records).map_err(unreadable)?,
            (Some((_, before)), _) => {
                apply_all(Run::clone(&before.run), &moved_to, &touched.records).map_err(unreadable)?
            }
            (None, _) => {
                let stored = self.store.load(id)?.ok_or(Error::UnknownRun(id))?;
                let (first, before) = self.memory.versions(self.store, workspace, &stored.history)?;
                let run = Run::replay_with(first.unwrap_or(definition), &before, &stored.history);
                apply_all(run.map_err(unreadable)?, &moved_to, &touched.records).map_err(unreadable)?
            }
        };
        Ok(())
    }

    /// Takes up what a decision asks for in this round, and notes what leaves after its commit.
    fn perform(&mut self, id: RunId, in_round: Vec<RoundEffect>, after_commit: Vec<AfterCommit>) {
        let workspace =
            self.decided.touched.get(&id).map_or_else(WorkspaceId::default, |it| it.run.workspace);
        for effect in after_commit {
            self.errand(
                id,
                match effect {
                    AfterCommit::Dispatch { at, delivery } => Errand::Dispatch { at, delivery },
                    AfterCommit::Recall { at, delivery } => Errand::Recall { at, delivery },
                    AfterCommit::WantCode { at } => Errand::WantCode { at },
                    AfterCommit::Respond { response } => Errand::Respond(response),
                },
            );
        }
        for effect in in_round {
            match effect {
                RoundEffect::LookBack { number } => self.decided.look_backs.push((id, number)),
                RoundEffect::StartChild(child) => {
                    self.todo.push_back((workspace, FollowUp::StartChild(child)))
                }
                RoundEffect::CancelChild { run_id } => {
                    self.todo.push_back((workspace, FollowUp::Cancel { run: run_id, reason: None }));
                }
                RoundEffect::TellParent { waitpoint, outcome } => {
                    let outcome = Some(outcome);
                    self.todo.push_back((workspace, FollowUp::TellParent { waitpoint, child: id, outcome }));
                }
                RoundEffect::TellSchedule { schedule } => {
                    self.todo.push_back((workspace, FollowUp::TellSchedule { schedule, run: id }));
                }
            }
        }
    }

    /// Hands a task that is out already to somebody else, after the commit.
    pub(crate) fn hand_over(&mut self, task: ReadyTask) {
        let ReadyTask { run, at, delivery } = task;
        if self.touch(run).is_ok() {
            self.errand(run, Errand::HandOver { at, delivery });
        }
    }

    /// Goes on with what is to be done for a run, as it is now.
    pub(crate) fn resume_errands(&mut self, run: RunId, errands: Vec<Errand>) {
        if let Ok(touched) = self.touch(run) {
            touched.errands.extend(errands);
        }
    }

    fn errand(&mut self, id: RunId, errand: Errand) {
        if let Some(touched) = self.decided.touched.get_mut(&id) {
            touched.errands.push(errand);
        }
    }
}

fn apply_all(mut run: Run, moved_to: &[Arc<Definition>], records: &[Record]) -> Result<Run, BadHistory> {
    records.iter().try_for_each(|record| run.apply_with(moved_to, record))?;
    Ok(run)
}
