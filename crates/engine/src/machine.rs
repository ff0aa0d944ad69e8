//! The machine: all decisions of an engine, as a state machine. It has no clock, no thread, no runtime, and writes nothing to
//! the store but who has taken which task. Time and randomness are handed in; what is to be done outside comes out as values.
//! The writer is the thread that drives it, committers write what comes out.
//!
//! ```text
//!   Request, Report ──▶ step(now, inputs, outputs) ──▶ outputs: Commit, Deploy, Check, Perform, Abort, Webhooks, Changed, …
//!                                                                 │         │       │
//!   outputs ◀── hear(now, done, outputs) ◀── Committed, Deployed, Checked       Report
//! ```
//!
//! - `Machine::new(Setup)` builds one, `recover(now, outputs)` is called once before the first step.
//! - `room(now)` says how many requests and reports the next step takes; the rest waits outside.
//! - `hear(now, done, outputs)` is told what came of an output. When a round is committed, the open round goes to the committer,
//!   with what waiting pollers take of it, so that the disk works while the machine does. A step follows, and what the committed
//!   round promised leaves at its beginning.
//! - `step(now, inputs, outputs)` takes what is asked, decides, and appends what is to be done. One call of it is a *pass*; a
//!   round may grow over several of them, while the rounds before it are committed.
//! - `wake(now)` says when it is to be called next if nothing happens, and why.
//! - `answer_settled(now)` is called after a step when nothing waits outside.
//! - When it `is_stopping` and `is_drained`, `end(now)` is the last call.
//!
//! Requests carry the sender of their reply. A reply is sent during the step that hears of the commit it depends on, never
//! before. Reads, and what the board of tasks does, are synchronous: the roles of the store that they need are handed in.
//! The same setup, seed and inputs give the same outputs.

mod checks;
mod claim;
mod code;
mod finish;
mod holding;
mod io;
mod nodes;
mod pass;
mod recovery;
mod requests;
mod setup;
mod work;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use abide_core::bounds::Bounds;
use abide_core::id::{RunId, WebhookId};
use abide_core::random::Random;
use abide_core::time::Millis;
use abide_store::{Held, Read, StoredTimer, Suspect};
use jiff::Timestamp;
use tokio::sync::oneshot;

use crate::alarm::Alarm;
use crate::backlog::Backlog;
use crate::cluster::Cluster;
use crate::engine::Ended;
use crate::error::Error;
use crate::followers::Followers;
use crate::holds::Holds;
use crate::in_flight::InFlight;
use crate::limits::{Limits, OpenRuns};
use crate::long_waits::LongWaits;
use crate::memory::Memory;
use crate::owed::Owed;
use crate::request::Stats;
use crate::round::budget::{FOLLOW_UPS_AT_ONCE, Pace};
use crate::round::{Decider, Starting, Waiting};
use crate::shares::Shares;
use crate::tasks::{MemoryBoard, StoredBoard, TaskBoard, Tasks};
use crate::watch::Watch;
use crate::webhooks::Subscribed;

pub use crate::checker::{Check, Then};
pub use crate::committer::Write;
pub use crate::deploy::Deploy;
pub use crate::in_flight::RoundNumber;
pub use crate::reply_listener::ReplyListener;
pub use crate::request::{Accept, Answer, Control, Decide, Poll, Query, Request, TaskRequest};
pub use crate::round::RoundBatch;
pub use crate::send_event::{SendEvent, Sender};
pub use crate::start::StartRun;
pub use crate::tasks::{Handed, TaskKey};
pub use io::{Done, Input, Now, Output, Perform, Wake, WakeReason};
use recovery::Recovery;
pub use setup::Setup;

/// Requests in one round at most: more would only make each of them wait for the others.
const ROUND_REQUESTS: usize = 1_024;
/// What handlers report in one round while timers are due: those come first, for nobody waits for the reports, and all
/// of them came later. Some are taken all the same, or timers that never end would keep them waiting for ever.
const REPORTS_BESIDE_TIMERS: usize = 64;
/// The wall clock may jump, and a suspended machine's timers do not notice: it is looked at this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// When the store cannot write, what nobody waits for is tried again after this time.
const TROUBLE: Duration = Duration::from_millis(250);
/// From so many conflicts on, each round is about one request: more change nothing.
const MOST_CONFLICTS: u32 = 10;
/// How often those are looked for who gave up waiting.
const SWEEP: Duration = Duration::from_secs(60);

/// How much the next step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Requests and reports together.
    pub requests: usize,
    /// Of these, reports of handlers in this process: fewer while timers are due.
    pub reports: usize,
}

/// The writer's decisions, without any I/O of its own.
pub struct Machine {
    store: Box<dyn Read>,
    memory: Memory,
    alarm: Alarm,
    tasks: Tasks,
    cluster: Cluster,
    recovery: Recovery,
    /// The time of this step.
    now: Now,
    /// What this step asks for.
    outputs: Vec<Output>,
    /// What this step was asked.
    requests: VecDeque<Request>,
    time_passes: bool,
    random: Random,
    open: OpenRound,
    in_flight: InFlight,
    /// A round that is committed, and of which nothing has left yet.
    committed: Option<(RoundBatch, Owed)>,
    committers: usize,
    /// The store could not be reached; until then only requests are tried.
    trouble_until: Option<Duration>,
    bounds: Bounds,
    /// When those are looked for who gave up waiting.
    next_sweep: Duration,
    watchers: BTreeMap<RunId, Vec<Answer<Ended>>>,
    /// With the version of the run from which on they listen.
    listeners: BTreeMap<RunId, Vec<(u64, ReplyListener)>>,
    followers: Followers,
    subscribed: Subscribed,
    waiting_for_idle: Vec<Answer<Option<Timestamp>>>,
    stop: Option<oneshot::Sender<()>>,
    stats: Stats,
    long_waits: LongWaits,
    /// Who waits for the events of this pass.
    waiting: Waiting,
    starting: Starting,
    /// What is to be decided again.
    again: VecDeque<Request>,
    /// One more with each round in which others were first, one less with each that was committed.
    conflicts: u32,
    paused: bool,
    /// What was left for later rounds.
    backlog: Backlog,
    limits: Limits,
    open_runs: OpenRuns,
    shares: Shares,
    pace: Pace,
    /// Timers of waits that have not been offered yet what came in time.
    early: Vec<StoredTimer>,
    holds: Holds,
    watch: Arc<Watch>,
    suspects: Vec<Suspect>,
}

#[derive(Default)]
struct OpenRound {
    batch: RoundBatch,
    pending: Owed,
    requests: usize,
    /// Of these, what handlers report.
    reports: usize,
    /// What is left of earlier rounds waits for one that is being committed, or for another.
    is_stalled: bool,
    /// What was found to be damaged on the way.
    damaged: Vec<Held>,
}

impl Machine {
    /// One that knows nothing yet; see [`recover`](Machine::recover).
    pub fn new(setup: Setup) -> Machine {
        let (cluster, board): (Cluster, Box<dyn TaskBoard>) = match setup.node {
            Some((node, tasks)) => (Cluster::of(node), Box::new(StoredBoard(tasks))),
            None => (Cluster::alone(), Box::new(MemoryBoard::default())),
        };
        Machine {
            store: setup.store,
            memory: cluster.memory(),
            alarm: cluster.alarm(),
            recovery: Recovery::of(&*board),
            tasks: Tasks::new(board, setup.urls, setup.back),
            backlog: Backlog::of(cluster.owner()),
            cluster,
            now: Now { wall: Timestamp::MIN, latest: Timestamp::MIN, elapsed: Duration::ZERO },
            outputs: Vec::new(),
            requests: VecDeque::new(),
            time_passes: setup.time_passes,
            random: Random::new(setup.seed),
            open: OpenRound::default(),
            in_flight: InFlight::default(),
            committed: None,
            committers: setup.committers,
            trouble_until: None,
            bounds: setup.bounds,
            next_sweep: SWEEP,
            watchers: BTreeMap::new(),
            listeners: BTreeMap::new(),
            followers: setup.followers,
            subscribed: Subscribed::default(),
            waiting_for_idle: Vec::new(),
            stop: None,
            stats: Stats::default(),
            long_waits: LongWaits::default(),
            waiting: Waiting::new(),
            starting: Starting::new(),
            again: VecDeque::new(),
            conflicts: 0,
            paused: setup.paused,
            limits: setup.limits,
            open_runs: setup.open_runs,
            shares: setup.shares,
            pace: Pace::default(),
            early: Vec::new(),
            holds: setup.holds,
            watch: setup.watch,
            suspects: setup.suspects,
        }
    }

    /// Takes up what was under way when the last process ended: what is due soon, and what is held. Tasks that were out are
    /// put on the board by and by, in the steps that follow.
    pub fn recover(&mut self, now: Now, outputs: &mut Vec<Output>) -> Result<(), Error> {
        self.now = now;
        std::mem::swap(&mut self.outputs, outputs);
        let recovered = self.recover_holds().and_then(|()| {
            if self.paused {
                return Ok(());
            }
            self.look_up_webhooks()?;
            Ok(self.alarm.load(&mut *self.store, now.wall, self.cluster.shard())?)
        });
        std::mem::swap(&mut self.outputs, outputs);
        recovered
    }

    /// How much the next step takes. What is more waits outside.
    pub fn room(&self, now: Now) -> Room {
        let requests = self.round_requests().saturating_sub(self.open.requests);
        let is_due = self.alarm.next().is_some_and(|next| next <= now.wall);
        let beside = REPORTS_BESIDE_TIMERS.saturating_sub(self.open.reports);
        Room { requests, reports: if is_due { requests.min(beside) } else { requests } }
    }

    /// Hears what came of an output. A step is to follow.
    pub fn hear(&mut self, now: Now, done: Done, outputs: &mut Vec<Output>) {
        self.now = now;
        std::mem::swap(&mut self.outputs, outputs);
        self.let_out_committed();
        match done {
            Done::Committed { round, result, culprits, took } => {
                self.commit_ended(round, result, &culprits, took);
            }
            Done::Deployed { workspace, definition, result, answer } => {
                self.memory.forget_newest(workspace, definition.name());
                drop(answer.send(result));
            }
            Done::Checked { definition, result, then } => self.was_checked(definition, result, then),
        }
        std::mem::swap(&mut self.outputs, outputs);
    }

    /// Takes what is asked, decides what there is to decide, and hands the round out to be committed if a committer is free.
    pub fn step(&mut self, now: Now, inputs: &mut VecDeque<Input>, outputs: &mut Vec<Output>) {
        self.now = now;
        std::mem::swap(&mut self.outputs, outputs);
        self.let_out_committed();
        for input in inputs.drain(..) {
            match input {
                Input::Request(request) => self.requests.push_back(request),
                Input::Report(request) => {
                    self.open.reports += 1;
                    self.requests.push_back(request);
                }
            }
        }
        self.begin_pass();
        self.open.pending.begun.get_or_insert(self.now.elapsed);
        self.stats.requests += self.requests.len() as u64;
        self.open.requests += self.requests.len();
        while let Some(request) = self.requests.pop_front() {
            let request = if self.paused { request.while_paused() } else { Some(request) };
            if let Some(request) = request {
                self.take(request);
            }
        }
        self.look_back();
        if !self.paused && self.stop.is_none() && !self.is_in_trouble() {
            self.trouble_until = None;
            self.recover_tasks();
            self.take_up_work();
            self.look_back();
            self.sweep();
        }
        self.hold_damaged();
        if self.may_seal() {
            self.seal();
        }
        if self.tasks.release_unclaimed(self.now.wall) {
            self.in_trouble();
        }
        std::mem::swap(&mut self.outputs, outputs);
    }

    /// Whether the machine was asked to stop: it takes no more input but the answers to its outputs.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether nothing is being committed, and nothing is to be decided again.
    pub fn is_drained(&self) -> bool {
        self.in_flight.is_empty() && self.committed.is_none() && self.again.is_empty()
    }

    /// The end: what is worked on here is anybody's from now on. Gives whoever asked it to stop, to be told when all is closed.
    pub fn end(mut self, now: Now) -> Option<oneshot::Sender<()>> {
        self.tasks.release_all(now);
        self.stop.take()
    }

    /// When the machine is to be called next if nothing happens before, and why.
    pub fn wake(&self, now: Now) -> Wake {
        let wake = |after: Duration, reason| Wake { after: after.min(LONGEST_SLEEP), reason };
        if let Some(until) = self.trouble_until.filter(|until| *until > now.elapsed) {
            return wake((until - now.elapsed).max(Duration::from_millis(1)), WakeReason::Trouble);
        }
        let later = match self.cluster.until_look(now.elapsed).filter(|_| self.stop.is_none()) {
            Some(until) if until < LONGEST_SLEEP => wake(until, WakeReason::Look),
            Some(_) | None => wake(LONGEST_SLEEP, WakeReason::Clock),
        };
        // With a full round at hand there is nothing to do but to wait for the commit.
        if self.open.pending.due.len() >= self.round_timers() {
            return later;
        }
        if self.could_go_on() {
            return wake(Duration::ZERO, WakeReason::Work);
        }
        if self.stop.is_some() {
            return later;
        }
        match [self.alarm.next(), self.tasks.next_late()].into_iter().flatten().min() {
            Some(at) if at <= now.wall => wake(Duration::ZERO, WakeReason::Due),
            Some(at) if self.time_passes => {
                let after = Duration::from_millis(Millis::between(now.wall, at).0);
                if after < later.after { wake(after, WakeReason::Due) } else { later }
            }
            Some(_) | None => later,
        }
    }

    /// Whether there is something to do that needs no input.
    fn could_go_on(&self) -> bool {
        let may_work = !self.paused && self.stop.is_none();
        let backlog = may_work
            && (self.backlog.is_to_load() || self.backlog.has_work())
            && !self.open.is_stalled
            && self.open.batch.spent.has_room_for_backlog(self.pace);
        let again = !self.again.is_empty() && self.open.requests < self.round_requests();
        (may_work && (self.tasks.has_work() || !self.recovery.is_done())) || again || backlog
    }

    fn is_in_trouble(&self) -> bool {
        self.trouble_until.is_some_and(|until| until > self.now.elapsed)
    }

    fn in_trouble(&mut self) {
        self.trouble_until = Some(self.now.elapsed + TROUBLE);
    }

    /// Requests in one round at most. The more often others were first, the fewer, so that some get through.
    fn round_requests(&self) -> usize {
        (ROUND_REQUESTS >> self.conflicts).max(1)
    }

    /// Timers in one round at most; fewer, too, the more often others were first.
    fn round_timers(&self) -> usize {
        (self.cluster.round_timers() >> self.conflicts).max(1)
    }

    fn round(&mut self) -> (Decider<'_>, &mut Tasks, &mut Owed) {
        let round = Decider {
            store: &mut *self.store,
            memory: &mut self.memory,
            random: &mut self.random,
            now: self.now.wall,
            latest: self.now.latest,
            batch: &mut self.open.batch,
            waiting: &self.waiting,
            starting: &self.starting,
            in_flight: &self.in_flight,
            backlog: &self.backlog,
            limits: &self.limits,
            open_runs: &self.open_runs,
            todo: VecDeque::new(),
            allowance: FOLLOW_UPS_AT_ONCE,
            traceparent: None,
            bounds: self.bounds,
            holds: &self.holds,
            watch: &self.watch,
            damaged: &mut self.open.damaged,
        };
        (round, &mut self.tasks, &mut self.open.pending)
    }

    fn look_back(&mut self) {
        if self.open.batch.is_to_look_back() {
            self.round().0.look_back();
        }
    }

    /// Drops those who gave up while their run sleeps on.
    fn sweep(&mut self) {
        if self.next_sweep <= self.now.elapsed {
            self.next_sweep = self.now.elapsed + SWEEP;
            keep_waiting(&mut self.watchers, oneshot::Sender::is_closed);
            keep_waiting(&mut self.listeners, |(_, listener)| listener.has_gone());
            self.tasks.tidy();
        }
    }

    /// Of several nodes, one tells a webhook what there is to tell; it looks now and then.
    fn tell(&mut self, mut webhooks: BTreeSet<WebhookId>) {
        let shard = self.cluster.shard();
        webhooks.retain(|webhook| shard.has(RunId(webhook.0)));
        if !webhooks.is_empty() {
            self.outputs.push(Output::Webhooks(webhooks));
        }
    }

    fn look_up_webhooks(&mut self) -> Result<(), Error> {
        let webhooks = self.store.webhooks(None)?;
        self.subscribed = Subscribed::new(&webhooks);
        self.tell(webhooks.into_iter().map(|webhook| webhook.id).collect());
        Ok(())
    }

    /// Answers those who wait until all that can be done now is done, if it is. For whoever drives the machine to call when
    /// nothing waits outside.
    pub fn answer_settled(&mut self, now: Now) {
        if self.waiting_for_idle.is_empty() {
            return;
        }
        let is_busy = !self.in_flight.is_empty()
            || self.open.batch.has_changes()
            || !(self.paused || (self.backlog.is_empty() && self.recovery.is_done()));
        let due = self.alarm.next().is_some_and(|next| next <= now.wall);
        let has_work = !self.paused && !self.tasks.is_idle();
        if is_busy || due || has_work {
            return;
        }
        let next = self.alarm.next_of_all(&mut *self.store).map_err(Error::from);
        for answer in self.waiting_for_idle.drain(..) {
            drop(answer.send(next.clone()));
        }
    }
}

fn keep_waiting<T>(waiting: &mut BTreeMap<RunId, Vec<T>>, gave_up: impl Fn(&T) -> bool) {
    waiting.retain(|_, waiting| {
        waiting.retain(|one| !gave_up(one));
        !waiting.is_empty()
    });
}
