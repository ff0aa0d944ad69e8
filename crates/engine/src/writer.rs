//! The one thread that decides. It sleeps until a request comes, a timer is due, a lease ends or a commit is done.
//! What it decides gathers in the open round; as soon as a committer is free, the round is handed to it, and the
//! next one is opened. So the store syncs and the next decisions are made at the same time, and a lone request never
//! waits for company.
//!
//! ```text
//!   requests · timers · leases ──▶ open round ──▶ in flight (committers) ──▶ let out: answers, tasks, wake-ups
//! ```

mod code;
mod holding;
mod requests;
mod shared;
mod work;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, mpsc as threads};
use std::time::{Duration, Instant};

use abide_core::bounds::Bounds;
use abide_core::definition::Definition;
use abide_core::history::Change;
use abide_core::id::{RunId, WebhookId};
use abide_core::random::Random;
use abide_core::run::{Run, Timer};
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_store::{Culprit, Held, Owner, Page, Read, RunFilter, StoredTimer, Suspect};
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use crate::aftermath::Aftermath;
use crate::alarm::{Alarm, Portion};
use crate::backlog::{Backlog, Verdict};
use crate::checker::{Check, Then};
use crate::clock::Clock;
use crate::committer::{Done, Job};
use crate::dispatcher::{Dispatcher, IN_PROCESS, ReadyTask};
use crate::ear::Ear;
use crate::engine::{Ended, Said};
use crate::error::Error;
use crate::followers::Followers;
use crate::holds::Holds;
use crate::in_flight::{InFlight, RoundNumber};
use crate::limits::{Limits, OpenRuns};
use crate::long_waits::LongWaits;
use crate::memory::Memory;
use crate::request::{Answer, Request, Start, Stats};
use crate::round::budget::{FOLLOW_UPS_AT_ONCE, Pace};
use crate::round::{Committed, Errand, Round, RoundBatch, Waiting};
use crate::share::Share;
use crate::tasks_out::lease_of;
use crate::watch::Watch;
use crate::webhooks::{Outbox, Subscribed};

/// Requests in one round at most: more would only make each of them wait for the others.
const ROUND_REQUESTS: usize = 1_024;
/// Timers in one round at most, so that a million overdue ones do not keep a request waiting.
const ROUND_TIMERS: usize = 256;
/// Where a commit goes to a server, more are cheaper.
const SHARED_ROUND_TIMERS: usize = 512;
/// What handlers report in one round while timers are due: those come first, for nobody waits for the reports, and all
/// of them came later. Some are taken all the same, or timers that never end would keep them waiting for ever.
const REPORTS_BESIDE_TIMERS: usize = 64;
/// The wall clock may jump, and a suspended machine's timers do not notice: it is looked at this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// When the store cannot write, what nobody waits for is tried again after this time.
const TROUBLE: Duration = Duration::from_millis(250);
/// How often those are looked for who gave up waiting.
const SWEEP: Duration = Duration::from_secs(60);
const RECOVERY_PAGE: usize = 1_000;
/// Tasks of all nodes are counted up to here.
const COUNTED_TASKS: usize = 10_000;

pub(crate) struct Writer {
    store: Box<dyn Read>,
    jobs: threads::Sender<Job>,
    memory: Memory,
    alarm: Alarm,
    dispatcher: Dispatcher,
    clock: Arc<dyn Clock>,
    random: Random,
    open: OpenRound,
    in_flight: InFlight,
    /// Rounds that may be committed at once.
    committers: usize,
    /// The store could not write; until then only requests are tried.
    trouble_until: Option<Instant>,
    bounds: Bounds,
    /// When those are looked for who gave up waiting.
    next_sweep: Instant,
    watchers: HashMap<RunId, Vec<Answer<Ended>>>,
    /// With the version of the run from which on they listen.
    listeners: HashMap<RunId, Vec<(u64, Ear)>>,
    followers: Followers,
    subscribed: Subscribed,
    outbox: Outbox,
    waiting_for_idle: Vec<Answer<Option<Timestamp>>>,
    stop: Option<oneshot::Sender<()>>,
    stats: Stats,
    long_waits: LongWaits,
    /// Where others write to the store, too.
    share: Option<Share>,
    /// Who waits for the events of this pass.
    waiting: Waiting,
    /// What is to be decided again.
    again: VecDeque<Request>,
    /// Rounds in a row in which others were first.
    conflicts: u32,
    /// It only looks.
    paused: bool,
    /// What was left for later rounds.
    backlog: Backlog,
    limits: Limits,
    open_runs: OpenRuns,
    pace: Pace,
    /// Timers of waits that have not been offered yet what came in time.
    early: Vec<StoredTimer>,
    /// Who checks inputs that are more than a moment's work.
    checks: threads::Sender<Check>,
    holds: Holds,
    watch: Arc<Watch>,
    /// What earlier processes were at when they ended.
    suspects: Vec<Suspect>,
}

#[derive(Default)]
struct OpenRound {
    decided: RoundBatch,
    aftermath: Aftermath,
    requests: usize,
    /// Of these, what handlers report.
    reports: usize,
    /// What is left of earlier rounds waits for one that is being committed, or for another.
    is_stalled: bool,
    /// What was found to be damaged on the way.
    damaged: Vec<Held>,
}

impl Writer {
    pub(crate) fn new(
        store: Box<dyn Read>,
        (jobs, checks): (threads::Sender<Job>, threads::Sender<Check>),
        clock: Arc<dyn Clock>,
        seed: u64,
        dispatcher: Dispatcher,
        (followers, outbox): (Followers, Outbox),
        (bounds, limits, open_runs): (Bounds, Limits, OpenRuns),
    ) -> Writer {
        Writer {
            store,
            jobs,
            memory: Memory::default(),
            alarm: Alarm::default(),
            dispatcher,
            clock,
            random: Random::new(seed),
            open: OpenRound::default(),
            in_flight: InFlight::default(),
            committers: 1,
            trouble_until: None,
            bounds,
            next_sweep: Instant::now() + SWEEP,
            watchers: HashMap::new(),
            listeners: HashMap::new(),
            followers,
            subscribed: Subscribed::default(),
            outbox,
            waiting_for_idle: Vec::new(),
            stop: None,
            stats: Stats::default(),
            long_waits: LongWaits::default(),
            share: None,
            waiting: Waiting::new(),
            again: VecDeque::new(),
            conflicts: 0,
            paused: false,
            backlog: Backlog::of(0),
            limits,
            open_runs,
            pace: Pace::default(),
            early: Vec::new(),
            checks,
            holds: Holds::default(),
            watch: Arc::default(),
            suspects: Vec::new(),
        }
    }

    /// One that only looks.
    pub(crate) fn paused(self, paused: bool) -> Writer {
        Writer { paused, ..self }
    }

    /// Seen from outside, with what earlier processes were at when they ended.
    pub(crate) fn watched(self, holds: Holds, watch: Arc<Watch>, suspects: Vec<Suspect>) -> Writer {
        Writer { holds, watch, suspects, ..self }
    }

    /// As one of several on the store.
    pub(crate) fn sharing(self, share: Share) -> Writer {
        let backlog = Backlog::of(share.node().0);
        Writer { memory: Memory::shared(), alarm: Alarm::shared(), share: Some(share), backlog, ..self }
    }

    pub(crate) fn with_committers(self, committers: usize) -> Writer {
        Writer { committers, ..self }
    }

    /// Whether the open round may be committed now. Beside others that are being committed, it waits until it is as large
    /// as they are: a commit costs as much as many runs.
    fn may_seal(&self) -> bool {
        let open = &self.open.decided;
        let is_worth_it =
            || self.in_flight.len() < self.committers && open.runs() >= self.in_flight.largest();
        self.in_flight.is_empty() || (!open.is_on_top() && is_worth_it())
    }

    fn portion(&self) -> Portion {
        self.share.as_ref().map_or(Portion::ALL, |share| share.portion)
    }

    /// Requests in one round at most. The more often others were first, the fewer, so that some get through.
    fn round_requests(&self) -> usize {
        (ROUND_REQUESTS >> self.conflicts.min(10)).max(1)
    }

    /// The same of timers.
    fn round_timers(&self) -> usize {
        let most = if self.share.is_some() { SHARED_ROUND_TIMERS } else { ROUND_TIMERS };
        (most >> self.conflicts.min(10)).max(1)
    }

    /// Takes up what was under way when the last process ended.
    pub(crate) fn recover(&mut self) -> Result<(), Error> {
        self.recover_holds()?;
        if self.paused {
            return Ok(());
        }
        self.look_up_webhooks()?;
        if self.share.is_some() {
            // The store says what is under way, and somebody may be at it.
            let portion = self.portion();
            return Ok(self.alarm.load(&mut *self.store, self.clock.now(), portion)?);
        }
        let filter = RunFilter { statuses: vec![RunStatus::Running], ..RunFilter::default() };
        let mut page = Page { after: None, limit: RECOVERY_PAGE };
        loop {
            let runs = self.store.run_ids(&filter, &page)?;
            for id in runs.iter().copied() {
                if self.holds.check(id).is_err() {
                    continue;
                }
                match self.memory.take(&mut *self.store, id) {
                    Ok(Some(run)) => {
                        self.take_up(&run);
                        self.memory.put(run);
                    }
                    Ok(None) => {}
                    Err(error) if error.passes() => return Err(error),
                    Err(error) => self.hold(Owner(id), error.to_string()),
                }
            }
            page.after = runs.last().copied();
            if runs.len() < RECOVERY_PAGE {
                return Ok(self.alarm.load(&mut *self.store, self.clock.now(), Portion::ALL)?);
            }
        }
    }

    /// Of several nodes, one tells a webhook what there is to tell; it looks now and then.
    fn look_at(&self, mut webhooks: BTreeSet<WebhookId>) {
        let portion = self.portion();
        webhooks.retain(|webhook| portion.has(RunId(webhook.0)));
        self.outbox.look_at(webhooks);
    }

    fn look_up_webhooks(&mut self) -> Result<(), Error> {
        let webhooks = self.store.webhooks(None)?;
        self.subscribed = Subscribed::new(&webhooks);
        self.look_at(webhooks.into_iter().map(|webhook| webhook.id).collect());
        Ok(())
    }

    fn take_up(&mut self, run: &Run) {
        for (at, timer) in
            run.timers().into_iter().filter(|(_, timer)| matches!(timer, Timer::Attempt { .. }))
        {
            self.alarm.set(StoredTimer { at, run: run.id, timer });
        }
        let out =
            run.places().filter_map(|(at, step)| Some((at, step.task.as_deref().filter(|task| task.out)?)));
        for (at, task) in out {
            if let Some(worker) = task.worker.as_ref().filter(|worker| &***worker != IN_PROCESS) {
                // The worker may still be at it, and has not noticed anything.
                let ready = ReadyTask { run: run.id, at, delivery: task.delivery };
                let length = lease_of(run, at, worker);
                let worker = (run.workspace, Arc::clone(worker));
                self.dispatcher.lease(ready, self.clock.now(), length, worker);
            } else {
                self.dispatcher.dispatch(run, at, task.delivery);
            }
        }
    }

    pub(crate) async fn live(
        mut self,
        mut queue: mpsc::Receiver<Request>,
        mut reports: mpsc::Receiver<Request>,
        mut done: mpsc::UnboundedReceiver<Done>,
    ) {
        let mut requests = VecDeque::with_capacity(ROUND_REQUESTS);
        let mut closed = false;
        while !(closed && self.in_flight.is_empty() && self.again.is_empty()) {
            let sleep = self.time_to_sleep();
            let room = self.round_requests().saturating_sub(self.open.requests);
            if !sleep.is_zero() {
                tokio::select! {
                    biased;
                    Some(did) = done.recv() => self.done(did),
                    request = queue.recv(), if room > 0 && !closed => match request {
                        Some(request) => requests.push_back(request),
                        None => closed = true,
                    },
                    Some(report) = reports.recv(), if self.room_for_reports() > 0 && !closed => {
                        self.open.reports += 1;
                        requests.push_back(report);
                    }
                    () = tokio::time::sleep(sleep) => {}
                }
            }
            while let Ok(did) = done.try_recv() {
                self.done(did);
            }
            while !closed
                && requests.len() < room
                && let Ok(request) = queue.try_recv()
            {
                requests.push_back(request);
            }
            let mut beside = self.room_for_reports();
            while !closed
                && requests.len() < room
                && beside > 0
                && let Ok(report) = reports.try_recv()
            {
                beside -= 1;
                self.open.reports += 1;
                requests.push_back(report);
            }
            self.go_on(&mut requests);
            if queue.is_empty() && reports.is_empty() {
                self.answer_idle();
            }
            closed |= self.stop.is_some();
        }
        drop(queue);
        self.let_go();
        self.dispatcher.stop();
        let Writer { stop, jobs, store, .. } = self;
        // The committer's connection closes last: only one that may write folds the log back.
        drop((store, jobs));
        // Whoever asked may have gone.
        let _ = stop.map(|stopped| stopped.send(()));
    }

    fn room_for_reports(&self) -> usize {
        let room = self.round_requests().saturating_sub(self.open.requests);
        let is_due = self.alarm.next().is_some_and(|next| next <= self.clock.now());
        let beside = REPORTS_BESIDE_TIMERS.saturating_sub(self.open.reports);
        if is_due { room.min(beside) } else { room }
    }

    fn time_to_sleep(&self) -> Duration {
        let now = self.clock.now();
        let until_calm = self.trouble_until.map(|at| at.saturating_duration_since(Instant::now()));
        let longest = LONGEST_SLEEP;
        if let Some(until_calm) = until_calm.filter(|wait| !wait.is_zero()) {
            return until_calm.min(longest).max(Duration::from_millis(1));
        }
        let longest = self.until_look().map_or(longest, |until_look| until_look.min(longest));
        // With a full round at hand there is nothing to do but to wait for the commit.
        if self.open.aftermath.due.len() >= self.round_timers() {
            return longest;
        }
        let is_in_time = self.open.requests < self.round_requests();
        let goes_on = self.backlog.is_to_load() || self.backlog.has_work();
        let goes_on = goes_on
            && !self.paused
            && !self.open.is_stalled
            && self.open.decided.spent.has_room_for_backlog(self.pace);
        if self.dispatcher.has_work() || (!self.again.is_empty() && is_in_time) || goes_on {
            return Duration::ZERO;
        }
        match [self.alarm.next(), self.dispatcher.next_expiry()].into_iter().flatten().min() {
            Some(at) if at <= now => Duration::ZERO,
            Some(at) if self.clock.runs() => Duration::from_millis(Millis::between(now, at).0).min(longest),
            Some(_) | None => longest,
        }
    }

    /// Decides what there is to decide, and hands the round to the committer if that is free.
    fn go_on(&mut self, requests: &mut VecDeque<Request>) {
        let now = self.clock.now();
        self.watch.pass_begins();
        self.begin_pass(requests, now);
        self.stats.requests += requests.len() as u64;
        self.open.requests += requests.len();
        while let Some(request) = requests.pop_front() {
            let request = if self.paused { request.while_paused() } else { Some(request) };
            if let Some(request) = request {
                self.take(request, now);
            }
        }
        self.look_back(now);
        if !self.paused
            && self.stop.is_none()
            && self.trouble_until.is_none_or(|until| until <= Instant::now())
        {
            self.trouble_until = None;
            self.take_up_work(now);
            self.look_back(now);
            self.sweep();
        }
        self.hold_damaged();
        if self.may_seal() {
            self.seal();
        }
        self.watch.pass_ends();
    }

    fn round(&mut self, now: Timestamp) -> (Round<'_>, &mut Dispatcher, &mut Aftermath) {
        let round = Round {
            store: &mut *self.store,
            memory: &mut self.memory,
            random: &mut self.random,
            now,
            latest: self.clock.latest(),
            decided: &mut self.open.decided,
            waiting: &self.waiting,
            before: &self.in_flight,
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
        (round, &mut self.dispatcher, &mut self.open.aftermath)
    }

    fn look_back(&mut self, now: Timestamp) {
        if self.open.decided.is_to_look_back() {
            self.round(now).0.look_back();
        }
    }

    /// Drops those who gave up while their run sleeps on.
    fn sweep(&mut self) {
        if self.next_sweep <= Instant::now() {
            self.next_sweep = Instant::now() + SWEEP;
            keep_waiting(&mut self.watchers, oneshot::Sender::is_closed);
            keep_waiting(&mut self.listeners, |(_, ear)| ear.has_gone());
            self.dispatcher.tidy();
        }
    }

    fn ask(&self, job: Job) {
        // It works as long as this thread does, unless it panicked; then the answers are dropped, which is heard.
        let _ = self.jobs.send(job);
    }

    /// Hands the open round to the committer. A round that changed nothing is done already.
    fn seal(&mut self) {
        self.hand_out();
        if self.share.is_some() {
            let dispatcher = &self.dispatcher;
            self.open.decided.note_tasks(self.clock.now(), |run, at| dispatcher.works_at(run, at));
        }
        let OpenRound { mut decided, aftermath, .. } = std::mem::take(&mut self.open);
        if decided.has_changes() {
            if !self.subscribed.is_empty() {
                decided.address(&self.subscribed, &mut self.random);
            }
            let (round, decided) = self.in_flight.begin(decided, aftermath);
            self.ask(Job::Commit(round, decided));
        } else {
            self.finish(decided, aftermath);
        }
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Committed { round, result, culprits, took } => {
                self.committed(round, result, &culprits, took);
            }
            Done::Deployed { workspace, definition, result, answer } => {
                self.memory.forget_newest(workspace, definition.name());
                drop(answer.send(result));
            }
            Done::Checked { definition, result, then } => self.was_checked(definition, result, then),
        }
    }

    /// Has an input checked where nobody waits for it.
    fn check(&self, check: Check) {
        // It works as long as this thread does; if it panicked, the answer is dropped, which is heard.
        let _ = self.checks.send(check);
    }

    /// Whoever waited for it goes on.
    fn was_checked(&mut self, definition: Arc<Definition>, result: Result<(), Error>, then: Then) {
        let request = match then {
            Then::FollowUp(id) => {
                let result = match result {
                    Err(Error::Refused(refusal)) => Err(refusal),
                    Ok(()) | Err(_) => Ok(()),
                };
                return self.backlog.was_checked(id, Verdict { definition, result });
            }
            Then::Request(request) => *request,
        };
        match (request, result) {
            (Request::Start { start, listener, answer }, Ok(())) => {
                let start = Box::new(Start { checked: Some(definition), ..*start });
                self.again.push_back(Request::Start { start, listener, answer });
            }
            (Request::Start { answer, .. }, Err(error)) => drop(answer.send(Err(error))),
            (Request::Schedule { workspace, order, by, key, checked: _, answer }, Ok(())) => {
                let checked = Some(definition);
                self.again.push_back(Request::Schedule { workspace, order, by, key, checked, answer });
            }
            (Request::Schedule { answer, .. }, Err(error)) => drop(answer.send(Err(error))),
            // Nothing else has an input.
            (other, _) => self.again.push_back(other),
        }
    }

    fn committed(
        &mut self,
        round: RoundNumber,
        result: Result<(), Error>,
        culprits: &[Culprit],
        took: Duration,
    ) {
        let Some((decided, aftermath)) = self.in_flight.end(round) else { return };
        match (result, Arc::into_inner(decided)) {
            (Ok(()), Some(decided)) => {
                self.conflicts = self.conflicts.saturating_sub(1);
                self.stats.commits += 1;
                self.pace = self.pace.after(took);
                self.stats.commit_us.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
                self.stats.batch.add(aftermath.answers());
                self.open.decided.was_committed(round);
                // The store goes on while the effects of this round leave.
                self.seal_changes();
                self.finish(decided, aftermath);
            }
            (Ok(()), None) => unreachable!("the committer lets go of a round before it says so"),
            (Err(error), _) if self.share.is_some() && error.is_conflict() => {
                self.decide_again(round, aftermath)
            }
            (Err(error), _) if culprits.is_empty() => self.fail(aftermath, &error),
            (Err(_), _) => {
                for Culprit { owner, why } in culprits {
                    self.hold(*owner, why.clone());
                }
                // The others of the round are told to come again, and what nobody waits for is tried again at once.
                let why = "something damaged was to be written with it, and is held from here on; try again";
                self.fail(aftermath, &abide_store::Error::Unavailable(why.to_owned()).into());
                self.trouble_until = None;
            }
        }
    }

    fn seal_changes(&mut self) {
        if self.open.decided.has_changes() && self.may_seal() {
            self.seal();
        }
    }

    /// Lets out what a committed round asks of the world.
    fn finish(&mut self, mut decided: RoundBatch, aftermath: Aftermath) {
        let now = self.clock.now();
        for at in &aftermath.fired {
            self.stats.lateness_ms.add(Millis::between(*at, now).0);
        }
        for task in &aftermath.reported {
            self.dispatcher.settle(task.run, task.at, task.delivery);
        }
        aftermath.answer_all();
        decided.settle_follow_ups(&mut self.backlog);
        self.open.is_stalled = false;
        self.alarm.put_back(self.early.drain(..));
        self.look_at(decided.addressed());
        for touched in decided.schedules.values() {
            touched.set_timers(&mut self.alarm);
        }
        decided.into_committed().for_each(|committed| self.let_out(committed));
    }

    /// Nothing of a round was done, and nothing of what may have been decided on top of it is.
    fn fail(&mut self, aftermath: Aftermath, error: &Error) {
        tracing::error!(%error, "a round could not be committed; nothing of it was done");
        let open = std::mem::take(&mut self.open);
        let now = self.clock.now();
        for mut failed in [aftermath, open.aftermath] {
            self.backlog.put_back(std::mem::take(&mut failed.follow_ups));
            failed.put_back(error, &mut self.alarm, &mut self.dispatcher, now);
        }
        self.trouble_until = Some(Instant::now() + TROUBLE);
    }

    fn let_out(&mut self, committed: Committed) {
        let Committed { run, records, errands } = committed;
        for record in &records {
            self.stats.records += 1;
            self.set_timers(&run, &record.change);
        }
        self.long_waits.look_at(&run, &records);
        for errand in errands {
            match errand {
                Errand::Dispatch { at, delivery } => self.dispatch(&run, at, delivery),
                Errand::HandOver { at, delivery } => self.dispatcher.dispatch(&run, at, delivery),
                Errand::Recall { at, delivery } => self.dispatcher.recall(&run, at, delivery),
                Errand::WantCode { at } => self.dispatcher.want_code(&run, at),
                Errand::Listen(listener) => {
                    self.listeners.entry(run.id).or_default().push((run.seq, listener));
                }
                Errand::Respond(response) => self.say(run.id, &Said::Response(response)),
                Errand::Repeat(listener, said) => listener.tell(Said::Response(said)),
            }
        }
        if let Some(ended) = Ended::of(&run) {
            for watcher in self.watchers.remove(&run.id).into_iter().flatten() {
                drop(watcher.send(Ok(ended.clone())));
            }
            self.say(run.id, &Said::Ended(ended));
        }
        if !records.is_empty() {
            self.followers.tell(&run, records.len());
        }
        if !self.in_flight.touches(run.id) && !self.open.decided.touches(run.id) {
            self.memory.put(run);
        }
    }

    fn say(&mut self, run: RunId, said: &Said) {
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
        if let Change::TaskStarted { at, delivery, worker: _, build: _, deadline: Some(deadline) } = change {
            let timer = Timer::Attempt { at: *at, delivery: *delivery };
            self.alarm.set(StoredTimer { at: *deadline, run: run.id, timer });
        }
        if let Change::WorkflowStarted { deadline: Some(at) }
        | Change::WorkflowRetried { deadline: Some(at) } = change
        {
            self.alarm.set(StoredTimer { at: *at, run: run.id, timer: Timer::Run });
        }
    }

    fn answer_idle(&mut self) {
        let is_busy = !self.in_flight.is_empty()
            || self.open.decided.has_changes()
            || !(self.paused || self.backlog.is_empty());
        let due = self.alarm.next().is_some_and(|next| next <= self.clock.now());
        if self.waiting_for_idle.is_empty() || is_busy || due || !self.dispatcher.is_idle() {
            return;
        }
        let next = self.alarm.next_of_all(&mut *self.store).map_err(Error::from);
        for answer in self.waiting_for_idle.drain(..) {
            drop(answer.send(next.clone()));
        }
    }
}

fn keep_waiting<T>(waiting: &mut HashMap<RunId, Vec<T>>, gave_up: impl Fn(&T) -> bool) {
    waiting.retain(|_, waiting| {
        waiting.retain(|one| !gave_up(one));
        !waiting.is_empty()
    });
}
