//! One round: everything that is decided together and committed in one transaction. What a decision asks of other
//! runs (a child to start, a parent to tell, an event to look back for) is decided in the same round while there is
//! [room](budget), and written down in it otherwise, so that nothing of it can be lost between two commits.
//!
//! While rounds are being committed, the next is decided on top of them. A run that it has in common with one of them is
//! copied, which costs the same however long it is: copies share what neither has changed. What the store does not say yet is
//! looked up in the rounds in flight.

mod batch;
pub(crate) mod budget;
mod debounce;
mod event_starts;
mod events;
mod follow_up;
mod limit_settings;
mod limits;
mod lines;
mod starts;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use abide_core::apply::BadHistory;
use abide_core::bounds::Bounds;
use abide_core::command::{self, Command, Context, Reply};
use abide_core::definition::Definition;
use abide_core::effect::{AfterCommit, RoundEffect};
use abide_core::follow_up::FollowUp;
use abide_core::history::Record;
use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::idempotency::{IdempotencyRecord, decide_with_key};
use abide_core::random::Random;
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::Actor;
use abide_store::{EventStarter, Held, Owner, Read, Waiter};
use jiff::Timestamp;

use crate::backlog::Backlog;
use crate::error::Error;
use crate::holds::{ENGINE, Holds, workspace_of};
use crate::in_flight::InFlight;
use crate::limits::{Limits, OpenRuns};
use crate::memory::Memory;
use crate::reply_listener::ReplyListener;
use crate::tasks::TaskKey;
use crate::watch::Watch;
pub use batch::RoundBatch;
pub(crate) use batch::{AfterCommitAction, Committed};
use batch::{RunDelta, note_listeners};
pub(crate) use follow_up::Taken;
pub use limit_settings::LimitOrder;
pub(crate) use limit_settings::{KnownSettings, SettingsDelta};
pub(crate) use limits::LimitDelta;
pub(crate) use lines::Lines;

/// Waiters are looked up in pages of this size.
const PAGE: usize = 256;
/// How many waiters of each event are loaded when many events are looked up at once.
pub(crate) const FIRST_PAGE: usize = 100;

/// Who waits for an event, as far as that was looked up before.
pub(crate) type Waiting = HashMap<(WorkspaceId, Arc<str>), Vec<Waiter>>;

/// Which workflows an event may start, as far as that was looked up before.
pub(crate) type Starting = HashMap<(WorkspaceId, Arc<str>), Vec<EventStarter>>;

/// Decides in the open round: the round so far, and all that a decision needs beside it. A view of the machine that lasts as
/// long as one request is decided; the round itself is the machine's.
pub(crate) struct Decider<'w> {
    pub(crate) store: &'w mut dyn Read,
    pub(crate) memory: &'w mut Memory,
    pub(crate) random: &'w mut Random,
    pub(crate) now: Timestamp,
    /// An instant that is not before now by any clock that others go by.
    pub(crate) latest: Timestamp,
    pub(crate) batch: &'w mut RoundBatch,
    pub(crate) waiting: &'w Waiting,
    pub(crate) starting: &'w Starting,
    /// What is being committed.
    pub(crate) in_flight: &'w InFlight,
    pub(crate) backlog: &'w Backlog,
    pub(crate) limits: &'w Limits,
    pub(crate) open_runs: &'w OpenRuns,
    /// What is to be done for other runs.
    pub(crate) todo: VecDeque<(WorkspaceId, FollowUp)>,
    /// How much of that may still be done in this round, for what is decided now.
    pub(crate) allowance: usize,
    /// The W3C trace context of the request that is decided.
    pub(crate) traceparent: Option<Traceparent>,
    pub(crate) bounds: Bounds,
    pub(crate) holds: &'w Holds,
    pub(crate) watch: &'w Watch,
    /// What was found to be damaged and is held from here on; the store is to be told.
    pub(crate) damaged: &'w mut Vec<Held>,
}

impl<'w> Decider<'w> {
    fn context(&mut self, by: Actor) -> Context {
        let (now, random) = (self.now, self.random.draw());
        Context { now, random, by, traceparent: self.traceparent, bounds: self.bounds }
    }

    /// Reads a run as it is committed; `None` if something of it is still to be committed.
    pub(crate) fn read_settled<T>(
        &mut self,
        id: RunId,
        look: impl FnOnce(&Run) -> T,
    ) -> Option<Result<T, Error>> {
        if self.batch.has_run(id) || self.in_flight.changes(id) {
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
        let owner = Owner::of(owner);
        let workspace = workspace_of(self.store, owner);
        let held = Held { owner, workspace, at: self.now, by: ENGINE.to_owned(), reason: error.to_string() };
        // Whoever is told of the damage finds it held.
        if self.holds.add(held.clone()) {
            self.damaged.push(held);
        }
    }

    pub(crate) fn look_back_for(&mut self, run: RunId, number: u32) {
        self.batch.look_backs.push((run, number));
    }

    /// The run as it is in this round.
    pub(crate) fn run(&mut self, id: RunId) -> Result<&Run, Error> {
        Ok(&self.delta(id)?.run)
    }

    /// A run of another workspace is unknown.
    pub(crate) fn check_workspace(&mut self, id: RunId, asked: Option<WorkspaceId>) -> Result<(), Error> {
        match asked {
            Some(asked) if self.run(id)?.workspace != asked => Err(Error::UnknownRun(id)),
            Some(_) | None => Ok(()),
        }
    }

    /// A run in this round: as a round in flight left it, or else as memory or the store has it.
    fn delta(&mut self, id: RunId) -> Result<&mut RunDelta, Error> {
        self.watch.at(id);
        if !self.batch.has_run(id) {
            self.holds.check(id)?;
            let run = match self.in_flight.find(|before| before.changed(id)) {
                Some((round, delta)) => {
                    self.batch.depend_on(round);
                    if self.memory.is_shared() {
                        self.batch.relied_on.insert(id, delta.run.seq);
                    }
                    delta.run.clone()
                }
                None => match self.memory.take(self.store, id) {
                    Ok(run) => run.ok_or(Error::UnknownRun(id))?,
                    Err(error) => {
                        self.note_damage(id, &error);
                        return Err(error);
                    }
                },
            };
            self.batch.insert(RunDelta { based_on: run.seq, run, records: Vec::new(), actions: Vec::new() });
        }
        Ok(self.batch.deltas.get_mut(&id).expect("it was just put there"))
    }

    fn listen(&mut self, run: RunId, listener: Option<ReplyListener>) {
        // If there is no such run, the listener is dropped, which it notices.
        if let Some(listener) = listener
            && let Ok(delta) = self.delta(run)
        {
            delta.actions.push(AfterCommitAction::Listen(listener));
        }
    }

    /// What the run has said since it was asked the first time is said again.
    fn listen_again(&mut self, run: RunId, since: Timestamp, listener: Option<ReplyListener>) {
        if let Some(listener) = listener
            && let Ok(delta) = self.delta(run)
        {
            let said = delta.run.reply_since(since).cloned();
            delta.actions.push(match said {
                Some(said) => AfterCommitAction::Repeat(listener, said),
                None => AfterCommitAction::Listen(listener),
            });
        }
    }

    fn resolved_at(&mut self, waitpoint: WaitpointId) -> Option<Timestamp> {
        self.run(waitpoint.run).ok()?.waitpoint(waitpoint.number)?.resolved_at
    }

    pub(crate) fn idempotency_record(&mut self, key: &str) -> Result<Option<IdempotencyRecord>, Error> {
        if let Some(idempotency) = self.batch.idempotency.get(key) {
            return Ok(Some(idempotency.clone()));
        }
        match self.in_flight.find(|before| before.idempotency.get(key)) {
            Some((round, idempotency)) => {
                self.batch.depend_on(round);
                Ok(Some(idempotency.clone()))
            }
            None => Ok(self.store.idempotency_record(key)?),
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
        self.decide_with_listener(id, command, by, key, None)
    }

    /// Decides a command, with a listener for the run's next reply.
    pub(crate) fn decide_with_listener(
        &mut self,
        id: RunId,
        command: Command,
        by: Actor,
        key: Option<&str>,
        listener: Option<ReplyListener>,
    ) -> Result<Reply, Error> {
        let context = self.context(by);
        // Who votes is a part of the vote.
        let voter = matches!(command, Command::Vote(_)).then(|| format!("{}/", context.by));
        let key = key.map(|key| format!("{id}/{}{key}", voter.unwrap_or_default()));
        let earlier = key.as_ref().map(|key| self.idempotency_record(key)).transpose()?.flatten();
        let delta = self.delta(id)?;
        if matches!(command, Command::Move(_)) && !delta.records.is_empty() {
            // What else this round does for the run names places of the version it had.
            return Err(Error::Busy(id));
        }
        let decided = match &key {
            None => command::decide(&mut delta.run, command, &context).map(|outcome| (outcome, None)),
            Some(key) => decide_with_key(&mut delta.run, command, &context, key, earlier.as_ref()),
        };
        let (outcome, idempotency) = match decided {
            Ok(decided) => decided,
            Err(refusal) => return Err(self.refused(id, refusal)),
        };
        self.batch.idempotency.extend(idempotency.map(|idempotency| (idempotency.key.clone(), idempotency)));
        // What the run has said to the first call, it has said to the same call again.
        let repeated = match &outcome.reply {
            Reply::Repeated(waitpoint) => self.resolved_at(*waitpoint),
            Reply::Done
            | Reply::Started(_)
            | Reply::Collected(_)
            | Reply::Unchanged
            | Reply::Signalled { .. }
            | Reply::Waitpoint(_)
            | Reply::Leased { .. }
            | Reply::EventSent { .. }
            | Reply::Voted { .. } => None,
        };
        match repeated.or(earlier.map(|earlier| earlier.at)) {
            Some(since) => self.listen_again(id, since, listener),
            None => self.listen(id, listener),
        }
        self.record(id, outcome.records);
        self.take_up_effects(id, outcome.in_round, outcome.after_commit);
        self.follow_up();
        Ok(outcome.reply)
    }

    fn record(&mut self, id: RunId, records: Vec<Record>) {
        let RoundBatch { deltas, listening, spent, .. } = &mut *self.batch;
        if let Some(delta) = deltas.get_mut(&id) {
            note_listeners(listening, &delta.run, &records);
            spent.record(&records);
            delta.records.extend(records);
        }
    }

    /// After an illegal move, a defect of ours, the run in memory is in no defined state: it is made anew from what
    /// was decided before.
    fn refused(&mut self, id: RunId, refusal: Refusal) -> Error {
        if let Refusal::Illegal(illegal) = &refusal {
            tracing::error!(run = %id, error = %illegal, "a decision was not legal; the run is left as it was");
            if let Err(error) = self.make_anew(id) {
                tracing::error!(run = %id, %error, "the run could not be made anew");
            }
        }
        Error::Refused(refusal)
    }

    fn make_anew(&mut self, id: RunId) -> Result<(), Error> {
        let Some(delta) = self.batch.deltas.get_mut(&id) else { return Ok(()) };
        let workspace = delta.run.workspace;
        let (_, moved_to) = self.memory.versions(self.store, workspace, &delta.records)?;
        let definition = Arc::clone(&delta.run.definition);
        let unreadable = |error| Error::unreadable(id, &error);
        let before = self.in_flight.find(|before| before.changed(id));
        *delta.run = match (before, delta.based_on) {
            (_, 0) => Run::replay_with(definition, &moved_to, &delta.records).map_err(unreadable)?,
            (Some((_, before)), _) => {
                apply_all(Run::clone(&before.run), &moved_to, &delta.records).map_err(unreadable)?
            }
            (None, _) => {
                let stored = self.store.load(id)?.ok_or(Error::UnknownRun(id))?;
                let (first, before) = self.memory.versions(self.store, workspace, &stored.history)?;
                let run = Run::replay_with(first.unwrap_or(definition), &before, &stored.history);
                apply_all(run.map_err(unreadable)?, &moved_to, &delta.records).map_err(unreadable)?
            }
        };
        Ok(())
    }

    /// Takes up what a decision asks for in this round, and notes what leaves after its commit.
    fn take_up_effects(&mut self, id: RunId, in_round: Vec<RoundEffect>, after_commit: Vec<AfterCommit>) {
        let workspace = self.batch.deltas.get(&id).map_or_else(WorkspaceId::default, |it| it.run.workspace);
        if let Some(delta) = self.batch.deltas.get_mut(&id) {
            delta.actions.extend(after_commit.into_iter().map(AfterCommitAction::Core));
        }
        // Room for one wait may end another of the same decision before that one has asked.
        self.batch.unasked.extend(in_round.iter().filter_map(|effect| Some((id, effect.asks_for_room()?))));
        for effect in in_round {
            match effect {
                RoundEffect::LookBack { number } => self.batch.look_backs.push((id, number)),
                RoundEffect::StartChild(child) => {
                    self.todo.push_back((workspace, FollowUp::StartChild(child)));
                }
                RoundEffect::CancelChild { run_id } => {
                    self.todo.push_back((workspace, FollowUp::Cancel { run: run_id, reason: None }));
                }
                RoundEffect::TellParent { waitpoint, outcome } => {
                    let outcome = Some(outcome);
                    self.todo.push_back((workspace, FollowUp::TellParent { waitpoint, child: id, outcome }));
                }
                RoundEffect::Capacity(effect) => self.capacity(id, &effect),
                RoundEffect::TellSchedule { schedule } => {
                    self.todo.push_back((workspace, FollowUp::TellSchedule { schedule, run: id }));
                }
            }
        }
    }

    /// Has a task that is out performed in this process, after the commit.
    pub(crate) fn perform_after_commit(&mut self, task: TaskKey) -> Result<(), Error> {
        let TaskKey { run, at, lease_epoch } = task;
        self.delta(run)?.actions.push(AfterCommitAction::Perform { at, lease_epoch });
        Ok(())
    }

    /// Goes on with what is to be done for a run, as it is now.
    pub(crate) fn resume_actions(&mut self, run: RunId, actions: Vec<AfterCommitAction>) {
        if let Ok(delta) = self.delta(run) {
            delta.actions.extend(actions);
        }
    }
}

fn apply_all(mut run: Run, moved_to: &[Arc<Definition>], records: &[Record]) -> Result<Run, BadHistory> {
    records.iter().try_for_each(|record| run.apply_with(moved_to, record))?;
    Ok(run)
}
