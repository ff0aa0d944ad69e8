//! One round of the writer: everything that is decided together and committed in one transaction. What a decision
//! asks of other runs (a child to start, a parent to tell, an event to look back for) is decided in the same round,
//! so that nothing of it can be lost between two commits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use abide_core::command::{
    self, ChildFinished, ChildOutcome, Command, Context, DeliverEvent, Occurrence, Reply,
};
use abide_core::definition::document::Delivery;
use abide_core::door::{Remembered, decide_once, digest, replay};
use abide_core::effect::{ChildStart, Effect};
use abide_core::history::{Failure, Record};
use abide_core::id::{At, OccurrenceId, RunId, WaitpointId, WorkspaceId};
use abide_core::random::Random;
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::waitpoint::{Actor, ListensFor};
use abide_store::{Batch, RunWrite, Store};
use jiff::Timestamp;

use crate::dispatcher::ReadyTask;
use crate::error::Error;
use crate::memory::Memory;
use crate::request::{Notified, Notify, Start};

/// Waiters are looked up in pages of this size.
const PAGE: usize = 1_000;

pub(crate) struct Round<'w> {
    pub(crate) store: &'w mut dyn Store,
    pub(crate) memory: &'w mut Memory,
    pub(crate) random: &'w mut Random,
    pub(crate) now: Timestamp,
    touched: HashMap<RunId, Touched>,
    /// In the order they were touched, so that effects leave in order.
    order: Vec<RunId>,
    occurrences: Vec<Occurrence>,
    remembered: HashMap<String, Remembered>,
    follow_ups: VecDeque<(RunId, Command)>,
}

struct Touched {
    run: Run,
    based_on: u64,
    records: Vec<Record>,
    /// Tasks to hand out or to take back, after the commit.
    errands: Vec<Errand>,
}

/// What is to be done for a run once its round is committed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Errand {
    Dispatch { at: At, delivery: u32 },
    Recall { at: At, delivery: u32 },
}

/// A run as a committed round left it.
pub(crate) struct Committed {
    pub(crate) run: Run,
    pub(crate) records: Vec<Record>,
    pub(crate) errands: Vec<Errand>,
}

impl<'w> Round<'w> {
    pub(crate) fn new(
        store: &'w mut dyn Store,
        memory: &'w mut Memory,
        random: &'w mut Random,
        now: Timestamp,
    ) -> Round<'w> {
        Round {
            store,
            memory,
            random,
            now,
            touched: HashMap::new(),
            order: Vec::new(),
            occurrences: Vec::new(),
            remembered: HashMap::new(),
            follow_ups: VecDeque::new(),
        }
    }

    fn context(&mut self, by: Actor) -> Context {
        Context { now: self.now, random: self.random.draw(), by }
    }

    /// The run as it is in this round.
    pub(crate) fn run(&mut self, id: RunId) -> Result<&Run, Error> {
        Ok(&self.touch(id)?.run)
    }

    fn touch(&mut self, id: RunId) -> Result<&mut Touched, Error> {
        if !self.touched.contains_key(&id) {
            let run = self.memory.take(self.store, id)?.ok_or(Error::UnknownRun(id))?;
            let touched = Touched { based_on: run.seq, run, records: Vec::new(), errands: Vec::new() };
            self.touched.insert(id, touched);
            self.order.push(id);
        }
        Ok(self.touched.get_mut(&id).expect("it was just put there"))
    }

    pub(crate) fn start(&mut self, start: Start) -> Result<RunId, Error> {
        let key = start.key.as_ref().map(|key| format!("start/{key}"));
        let asked = (&start.name, &start.version, &start.input, start.run_at, &start.tags);
        let digest = digest(&asked);
        if let Some(key) = &key
            && let Some(Reply::Started(run)) = replay(key, digest, self.recall_key(key)?.as_ref())?
        {
            return Ok(run);
        }
        let definition = self.memory.definition(self.store, &start.name, start.version.as_deref())?;
        let id = self.memory.fresh_id(self.now, self.random.draw_u128());
        let new = command::NewRun {
            run_at: start.run_at,
            tags: start.tags,
            ..command::NewRun::new(id, definition, start.input)
        };
        self.start_run(new, start.by)?;
        if let Some(key) = key {
            let remembered = Remembered { key: key.clone(), digest, reply: Reply::Started(id), at: self.now };
            self.remembered.insert(key, remembered);
        }
        Ok(id)
    }

    fn start_run(&mut self, new: command::NewRun, by: Actor) -> Result<(), Error> {
        let id = new.id;
        let context = self.context(by);
        let (run, outcome) = command::start(new, &context)?;
        self.touched.insert(id, Touched { run, based_on: 0, records: outcome.records, errands: Vec::new() });
        self.order.push(id);
        self.perform(id, outcome.effects);
        self.follow_up();
        Ok(())
    }

    fn recall_key(&mut self, key: &str) -> Result<Option<Remembered>, Error> {
        match self.remembered.get(key) {
            Some(remembered) => Ok(Some(remembered.clone())),
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
        let context = self.context(by);
        let key = key.map(|key| format!("{id}/{key}"));
        let earlier = key.as_ref().map(|key| self.recall_key(key)).transpose()?.flatten();
        let touched = self.touch(id)?;
        let decided = match &key {
            None => command::decide(&mut touched.run, command, &context).map(|outcome| (outcome, None)),
            Some(key) => decide_once(&mut touched.run, command, &context, key, earlier.as_ref()),
        };
        let (outcome, remembered) = decided.inspect_err(|refusal| self.note_defect(id, refusal))?;
        let touched = self.touch(id)?;
        touched.records.extend(outcome.records);
        self.remembered.extend(remembered.map(|remembered| (remembered.key.clone(), remembered)));
        self.perform(id, outcome.effects);
        self.follow_up();
        Ok(outcome.reply)
    }

    /// After an illegal move the run in memory is in no defined state: it is loaded again.
    fn note_defect(&mut self, id: RunId, refusal: &Refusal) {
        if let Refusal::Illegal(illegal) = refusal {
            tracing::error!(run = %id, %illegal, "a decision was not legal; the run is left as it was");
            self.touched.remove(&id);
            self.order.retain(|touched| *touched != id);
        }
    }

    fn perform(&mut self, id: RunId, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Dispatch { at, delivery } => self.errand(id, Errand::Dispatch { at, delivery }),
                Effect::Recall { at, delivery } => self.errand(id, Errand::Recall { at, delivery }),
                Effect::LookBack { number } => self.look_back(id, number),
                Effect::StartChild(child) => self.start_child(*child),
                Effect::CancelChild { run_id } => {
                    self.follow_ups.push_back((run_id, Command::Cancel { reason: None }));
                }
                Effect::TellParent { waitpoint, outcome } => self.tell_parent(waitpoint, outcome),
                // Nobody listens for it in process.
                Effect::Respond { .. } => {}
            }
        }
    }

    /// Hands a task that is out already to somebody else, after the commit.
    pub(crate) fn hand_over(&mut self, task: ReadyTask) {
        let ReadyTask { run, at, delivery } = task;
        if self.touch(run).is_ok() {
            self.errand(run, Errand::Dispatch { at, delivery });
        }
    }

    fn errand(&mut self, id: RunId, errand: Errand) {
        if let Some(touched) = self.touched.get_mut(&id) {
            touched.errands.push(errand);
        }
    }

    /// Commands that follow from others. Those that are refused came too late, and nobody waits for their answer.
    fn follow_up(&mut self) {
        while let Some((run, command)) = self.follow_ups.pop_front() {
            let context = self.context(Actor::new("engine"));
            let Ok(touched) = self.touch(run) else { continue };
            match command::decide(&mut touched.run, command, &context) {
                Ok(outcome) => {
                    touched.records.extend(outcome.records);
                    self.perform(run, outcome.effects);
                }
                Err(refusal) => self.note_defect(run, &refusal),
            }
        }
    }

    fn tell_parent(&mut self, waitpoint: WaitpointId, outcome: ChildOutcome) {
        let command = Command::ChildFinished(ChildFinished { number: waitpoint.number, outcome });
        self.follow_ups.push_back((waitpoint.run, command));
    }

    fn start_child(&mut self, child: ChildStart) {
        let ChildStart { run_id, workspace, definition, version, input, parent } = child;
        let started =
            self.memory.definition(self.store, &definition, version.as_deref()).and_then(|definition| {
                let new = command::NewRun {
                    workspace,
                    parent: Some(parent),
                    ..command::NewRun::new(run_id, definition, input)
                };
                let context = self.context(Actor::new("parent"));
                Ok(command::start(new, &context)?)
            });
        match started {
            Ok((run, outcome)) => {
                let touched = Touched { run, based_on: 0, records: outcome.records, errands: Vec::new() };
                self.touched.insert(run_id, touched);
                self.order.push(run_id);
                self.perform(run_id, outcome.effects);
            }
            Err(error) => {
                if let Some(waitpoint) = parent.waitpoint {
                    let error = Failure::new("CHILD_NOT_STARTED", error.to_string());
                    self.tell_parent(waitpoint, ChildOutcome::Failed { error });
                }
            }
        }
    }

    /// Offers a wait the events that were there before it, oldest first.
    fn look_back(&mut self, id: RunId, number: u32) {
        let Some(ListensFor::Event(filter)) = self
            .touched
            .get(&id)
            .and_then(|touched| touched.run.waitpoint(number))
            .map(|wait| wait.listens_for.clone())
        else {
            return;
        };
        let workspace = self.touched[&id].run.workspace;
        let mut after = None;
        loop {
            let stored = match self.store.occurrences(workspace, &filter.event_id, filter.since, after, PAGE)
            {
                Ok(stored) => stored,
                Err(error) => {
                    tracing::error!(%error, "events could not be looked up");
                    return;
                }
            };
            let last = stored.len() < PAGE;
            after = stored.last().map(|occurrence| (occurrence.received_at, occurrence.id));
            let now_too = if last { self.occurrences.clone() } else { Vec::new() };
            let fresh = now_too.into_iter().filter(|occurrence| occurrence.event_id == filter.event_id);
            let run = &self.touched[&id].run;
            let found = stored.into_iter().chain(fresh).find(|occurrence| run.takes(&filter, occurrence));
            match found {
                Some(occurrence) => {
                    let command = Command::DeliverEvent(DeliverEvent { number, occurrence });
                    self.follow_ups.push_back((id, command));
                    return;
                }
                None if last => return,
                None => {}
            }
        }
    }

    /// Stores an event and hands it to everyone who waits for it.
    pub(crate) fn notify(&mut self, notify: &Notify) -> Result<Notified, Error> {
        let key = notify.key.as_ref().map(|key| format!("event/{key}"));
        let asked = digest(&(&notify.event_id, &notify.data, notify.only, notify.delivery));
        if let Some(key) = &key
            && let Some(reply) = replay(key, asked, self.recall_key(key)?.as_ref())?
        {
            return Ok(notified_before(reply));
        }
        let id = OccurrenceId::new(self.now, self.random.draw_u128());
        let (event_id, data) = (Arc::clone(&notify.event_id), notify.data.clone());
        let workspace = WorkspaceId::DEFAULT;
        let occurrence = Occurrence { id, workspace, event_id, data, received_at: self.now };
        occurrence.check()?;
        let waiters = self.waiters(&occurrence, notify)?;
        if notify.dry_run {
            return Ok(Notified { id: None, waiters });
        }
        self.occurrences.push(occurrence.clone());
        let mut woken = Vec::new();
        for waitpoint in waiters {
            let command = DeliverEvent { number: waitpoint.number, occurrence: occurrence.clone() };
            let delivered =
                self.decide(waitpoint.run, Command::DeliverEvent(command), Actor::new("event"), None);
            if delivered.is_ok() {
                woken.push(waitpoint);
                if notify.delivery == Delivery::One {
                    break;
                }
            }
        }
        if let Some(key) = key {
            let reply = Reply::Notified { occurrence: id, waiters: woken.clone() };
            let remembered = Remembered { key: key.clone(), digest: asked, reply, at: self.now };
            self.remembered.insert(key, remembered);
        }
        Ok(Notified { id: Some(id), waiters: woken })
    }

    /// Who would take this event, the longest waiting first.
    fn waiters(&mut self, occurrence: &Occurrence, notify: &Notify) -> Result<Vec<WaitpointId>, Error> {
        let wanted = |run: RunId| notify.only.is_none_or(|only| only == run);
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let page = self.store.waiters(occurrence.workspace, &occurrence.event_id, after, PAGE)?;
            after = page.last().map(|waiter| (waiter.created_at, waiter.waitpoint));
            let last = page.len() < PAGE;
            let takes = page.into_iter().filter(|waiter| {
                wanted(waiter.waitpoint.run)
                    && occurrence.received_at >= waiter.filter.since
                    && waiter.filter.accepts(&occurrence.data)
            });
            found.extend(takes.map(|waiter| waiter.waitpoint));
            if last {
                break;
            }
        }
        // Waits that began in this round are not in the store yet; those that ended in it still are.
        let known: std::collections::HashSet<WaitpointId> = found.iter().copied().collect();
        for id in self.order.iter().copied().filter(|id| wanted(*id)) {
            let run = &self.touched[&id].run;
            let open = run.open_waitpoints().filter(|wait| match &wait.listens_for {
                ListensFor::Event(filter) => run.takes(filter, occurrence),
                ListensFor::Time
                | ListensFor::Signal { .. }
                | ListensFor::Call { .. }
                | ListensFor::Approval(_)
                | ListensFor::Child { .. } => false,
            });
            found.extend(open.map(|wait| id.waitpoint(wait.number)).filter(|wait| !known.contains(wait)));
        }
        Ok(found)
    }

    /// Commits the round, if it changed anything. If that fails, the runs are loaded anew when they are needed.
    pub(crate) fn commit(self) -> Result<Vec<Committed>, Error> {
        if self.has_changes() {
            let runs =
                self.order.iter().map(|id| &self.touched[id]).filter(|touched| !touched.records.is_empty());
            let runs = runs.map(|touched| RunWrite {
                based_on: touched.based_on,
                run: &touched.run,
                records: &touched.records,
            });
            let batch = Batch {
                runs: runs.collect(),
                occurrences: self.occurrences.iter().collect(),
                remembered: self.remembered.values().collect(),
                definitions: Vec::new(),
            };
            self.store.commit(&batch)?;
        }
        let mut touched = self.touched;
        let committed = self.order.into_iter().filter_map(|id| touched.remove(&id));
        Ok(committed
            .map(|Touched { run, records, errands, .. }| Committed { run, records, errands })
            .collect())
    }

    pub(crate) fn has_changes(&self) -> bool {
        let changed = self.touched.values().any(|touched| !touched.records.is_empty());
        changed || !self.occurrences.is_empty() || !self.remembered.is_empty()
    }
}

fn notified_before(reply: Reply) -> Notified {
    match reply {
        Reply::Notified { occurrence, waiters } => Notified { id: Some(occurrence), waiters },
        Reply::Done
        | Reply::Started(_)
        | Reply::Unchanged
        | Reply::Signalled { .. }
        | Reply::Waitpoint(_)
        | Reply::Leased { .. }
        | Reply::Voted { .. } => Notified { id: None, waiters: Vec::new() },
    }
}
