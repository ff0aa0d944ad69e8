//! The one thread that decides and commits. It sleeps until a request comes, a timer is due or a lease ends, and
//! then does a round with all that has gathered meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use abide_core::command::{Command, LeaseLoss, LeaseLost, Reply, TaskCompleted, TaskFailed, TaskStarted};
use abide_core::definition::document::Delivery;
use abide_core::history::Change;
use abide_core::id::{At, RunId};
use abide_core::json::Json;
use abide_core::random::Random;
use abide_core::refusal::Refusal;
use abide_core::run::{Run, Timer};
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_store::{Batch, NewDefinition, Page, RunFilter, Store, StoredTimer};
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::dispatcher::{Dispatcher, LEASE, ReadyTask};
use crate::engine::Ended;
use crate::error::Error;
use crate::memory::Memory;
use crate::request::{Answer, Leased, Notified, Notify, Poll, Request, Stats};
use crate::round::{Committed, Errand, Round};

/// Requests in one round at most: more would only make each of them wait for the others.
const ROUND_REQUESTS: usize = 1_024;
/// Timers in one round at most, so that a million overdue ones do not keep a request waiting.
const ROUND_TIMERS: usize = 512;
/// The wall clock may jump, and a suspended machine's timers do not notice: it is looked at this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
const RECOVERY_PAGE: usize = 1_000;

pub(crate) struct Writer {
    store: Box<dyn Store>,
    memory: Memory,
    alarm: Alarm,
    dispatcher: Dispatcher,
    clock: Arc<dyn Clock>,
    random: Random,
    watchers: HashMap<RunId, Vec<Answer<Ended>>>,
    waiting_for_idle: Vec<Answer<Option<Timestamp>>>,
    stats: Stats,
}

/// An answer that leaves after the commit.
enum Pending {
    Start(Answer<RunId>, Result<RunId, Error>),
    Command(Option<Answer<Reply>>, Result<Reply, Error>),
    Notify(Answer<Notified>, Result<Notified, Error>),
    Get(Answer<Box<Run>>, Result<Box<Run>, Error>),
    Watch(Answer<Ended>, Result<Ended, Error>),
    Poll(Answer<Vec<Leased>>, Vec<Leased>),
}

impl Writer {
    pub(crate) fn new(
        store: Box<dyn Store>,
        clock: Arc<dyn Clock>,
        seed: u64,
        dispatcher: Dispatcher,
    ) -> Writer {
        Writer {
            store,
            memory: Memory::default(),
            alarm: Alarm::default(),
            dispatcher,
            clock,
            random: Random::new(seed),
            watchers: HashMap::new(),
            waiting_for_idle: Vec::new(),
            stats: Stats::default(),
        }
    }

    /// Takes up what was under way when the last process ended.
    pub(crate) fn recover(&mut self) -> Result<(), Error> {
        let filter = RunFilter { statuses: vec![RunStatus::Running], ..RunFilter::default() };
        let mut page = Page { after: None, limit: RECOVERY_PAGE };
        loop {
            let runs = self.store.runs(&filter, &page)?;
            for summary in &runs {
                if let Some(run) = self.memory.take(&mut *self.store, summary.id)? {
                    self.take_up(&run);
                    self.memory.put(run);
                }
            }
            page.after = runs.last().map(|run| run.id);
            if runs.len() < RECOVERY_PAGE {
                return Ok(self.alarm.load(&mut *self.store, self.clock.now())?);
            }
        }
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
            if task.worker.is_some() {
                // The worker may still be at it, and has not noticed anything.
                let task = ReadyTask { run: run.id, at, delivery: task.delivery };
                self.dispatcher.lease(task, self.clock.now(), LEASE);
            } else {
                self.dispatcher.dispatch(run, at, task.delivery);
            }
        }
    }

    pub(crate) async fn live(mut self, mut queue: mpsc::Receiver<Request>) {
        let mut requests = Vec::with_capacity(ROUND_REQUESTS);
        loop {
            let sleep = self.time_to_sleep();
            let received = if sleep.is_zero() {
                while requests.len() < ROUND_REQUESTS
                    && let Ok(request) = queue.try_recv()
                {
                    requests.push(request);
                }
                None
            } else {
                tokio::time::timeout(sleep, queue.recv_many(&mut requests, ROUND_REQUESTS)).await.ok()
            };
            if received == Some(0) {
                break;
            }
            let stop = self.round(&mut requests);
            if queue.is_empty() {
                self.answer_idle();
            }
            if let Some(stopped) = stop {
                queue.close();
                self.dispatcher.stop();
                drop(self.store);
                // Whoever asked may have gone.
                let _ = stopped.send(());
                return;
            }
        }
    }

    fn time_to_sleep(&self) -> Duration {
        if self.dispatcher.has_work() {
            return Duration::ZERO;
        }
        let now = self.clock.now();
        let next = [self.alarm.next(), self.dispatcher.next_expiry()].into_iter().flatten().min();
        match next {
            Some(at) if at <= now => Duration::ZERO,
            Some(at) if self.clock.runs() => {
                Duration::from_millis(Millis::between(now, at).0).min(LONGEST_SLEEP)
            }
            Some(_) | None => LONGEST_SLEEP,
        }
    }

    /// Decides, commits, and lets out what depends on the commit. Gives back the stop it was asked for.
    fn round(&mut self, requests: &mut Vec<Request>) -> Option<oneshot::Sender<()>> {
        let now = self.clock.now();
        self.stats.rounds += 1;
        self.stats.requests += requests.len() as u64;
        if let Err(error) = self.alarm.load(&mut *self.store, now) {
            tracing::error!(%error, "timers could not be loaded");
        }
        let mut stop = None;
        let mut pending = Vec::new();
        let mut reported = Vec::new();
        let due = self.alarm.take_due(now, ROUND_TIMERS);
        let mut round = Round::new(&mut *self.store, &mut self.memory, &mut self.random, now);
        for request in requests.drain(..) {
            match request {
                Request::Start { start, answer } => pending.push(Pending::Start(answer, round.start(*start))),
                Request::Command { run, command, by, key, answer } => {
                    let report = delivery(&command);
                    let beat = heartbeat(&command).map(|(at, delivery)| ReadyTask { run, at, delivery });
                    let decided = round.decide(run, *command, by, key.as_deref());
                    if let Some((at, delivery)) = report.filter(|_| is_final(&decided)) {
                        reported.push((run, at, delivery));
                    }
                    if let Some(task) = beat.filter(|_| decided.is_ok()) {
                        self.dispatcher.renew(task, now);
                    }
                    pending.push(Pending::Command(answer, decided));
                }
                Request::Notify { notify, answer } => {
                    pending.push(Pending::Notify(answer, round.notify(&notify)))
                }
                Request::Get { run, answer } => {
                    let found = round.run(run).map(|run| Box::new(run.clone()));
                    pending.push(Pending::Get(answer, found));
                }
                Request::Watch { run, answer } => match round.run(run).map(Ended::of) {
                    Ok(None) => self.watchers.entry(run).or_default().push(answer),
                    Ok(Some(ended)) => pending.push(Pending::Watch(answer, Ok(ended))),
                    Err(error) => pending.push(Pending::Watch(answer, Err(error))),
                },
                Request::Poll { poll, answer } => {
                    claim(&mut round, &mut self.dispatcher, poll, answer, &mut pending)
                }
                Request::Register { name, handler } => {
                    for task in self.dispatcher.register(name, handler) {
                        round.hand_over(task);
                    }
                }
                Request::Deploy { workflow, answer } => {
                    let deployed = deploy(&mut *round.store, *workflow, now);
                    if let Ok(name) = &deployed {
                        round.memory.forget_newest(name);
                    }
                    drop(answer.send(deployed.map(|_| ())));
                }
                Request::Stats { answer } => {
                    let (runs_in_memory, tasks_out) = (round.memory.len(), self.dispatcher.tasks_out());
                    drop(answer.send(Ok(Stats { runs_in_memory, tasks_out, ..self.stats.clone() })));
                }
                Request::NextTimer { answer } => self.waiting_for_idle.push(answer),
                Request::Tick => {}
                Request::Stop { answer } => stop = Some(answer),
            }
        }
        while let Some((poll, answer)) = self.dispatcher.next_woken() {
            claim(&mut round, &mut self.dispatcher, poll, answer, &mut pending);
        }
        while let Some(task) = self.dispatcher.next_own() {
            notify_for(&mut round, task);
        }
        for lost in self.dispatcher.expired(now) {
            let ReadyTask { run, at, delivery } = lost;
            let command = Command::LeaseLost(LeaseLost { at, delivery, loss: LeaseLoss::Expired });
            drop(round.decide(run, command, Actor::new("dispatcher"), None));
        }
        let fired = fire(&mut round, &due);
        let writes = round.has_changes();
        let begun = Instant::now();
        match round.commit() {
            Ok(committed) => {
                if writes {
                    self.stats.commits += 1;
                    self.stats.commit_us.add(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
                    self.stats.batch.add(pending.len() as u64);
                }
                for at in fired {
                    self.stats.lateness_ms.add(Millis::between(at, now).0);
                }
                for (run, at, delivery) in reported {
                    self.dispatcher.settle(run, at, delivery);
                }
                answer_all(pending, None);
                committed.into_iter().for_each(|committed| self.let_out(committed));
            }
            Err(error) => {
                tracing::error!(%error, "a round could not be committed; nothing of it was done");
                self.alarm.put_back(due);
                answer_all(pending, Some(&error));
            }
        }
        stop
    }

    /// What a committed run asks of the world.
    fn let_out(&mut self, committed: Committed) {
        let Committed { run, records, errands } = committed;
        for record in &records {
            self.stats.records += 1;
            self.set_timers(&run, &record.change);
        }
        for errand in errands {
            match errand {
                Errand::Dispatch { at, delivery } => self.dispatcher.dispatch(&run, at, delivery),
                Errand::Recall { at, delivery } => self.dispatcher.recall(&run, at, delivery),
            }
        }
        if let Some(ended) = Ended::of(&run) {
            for watcher in self.watchers.remove(&run.id).into_iter().flatten() {
                drop(watcher.send(Ok(ended.clone())));
            }
        }
        self.memory.put(run);
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
        if let Change::TaskStarted { at, delivery, worker: _, deadline: Some(deadline) } = change {
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
        let now = self.clock.now();
        if self.waiting_for_idle.is_empty()
            || !self.dispatcher.is_idle()
            || self.alarm.next().is_some_and(|at| at <= now)
        {
            return;
        }
        let next = match self.alarm.next() {
            Some(next) => Ok(Some(next)),
            None => {
                self.store.timers(None, Timestamp::MAX, 1).map(|timers| timers.first().map(|timer| timer.at))
            }
        };
        let next = next.map_err(|error| error.to_string());
        for answer in self.waiting_for_idle.drain(..) {
            drop(answer.send(next.clone().map_err(Error::Store)));
        }
    }
}

/// Fires what is due, and gives the instants of those that had an effect.
fn fire(round: &mut Round<'_>, due: &[StoredTimer]) -> Vec<Timestamp> {
    let mut fired = Vec::new();
    for timer in due {
        let decided = round.decide(timer.run, Command::TimerFired(timer.timer), Actor::new("timer"), None);
        match decided {
            Ok(_) => fired.push(timer.at),
            // Resolved, moved or ended meanwhile.
            Err(Error::Refused(_)) => {}
            Err(error) => tracing::error!(run = %timer.run, %error, "a timer could not be fired"),
        }
    }
    fired
}

/// Gives a poller what is ready, or lets it wait.
fn claim(
    round: &mut Round<'_>,
    dispatcher: &mut Dispatcher,
    poll: Poll,
    answer: Answer<Vec<Leased>>,
    pending: &mut Vec<Pending>,
) {
    let mut leased = Vec::new();
    for ready in dispatcher.take(&poll) {
        let ReadyTask { run, at, delivery } = ready;
        let command = Command::TaskStarted(TaskStarted { at, delivery, worker: Arc::clone(&poll.worker) });
        // Refused when it is not wanted any more.
        if round.decide(run, command, Actor::new("worker"), None).is_err() {
            continue;
        }
        if let Ok(Some(task)) = round.run(run).map(|run| run.task(at)) {
            let asked = Millis::try_from(poll.lease).unwrap_or(LEASE);
            let leased_until = dispatcher.lease(ready, round.now, task.heartbeat.unwrap_or(asked));
            leased.push(Leased { task, at, leased_until });
        }
    }
    if leased.is_empty() {
        dispatcher.park(poll, answer);
    } else {
        pending.push(Pending::Poll(answer, leased));
    }
}

/// A `notify` step: the event and the step's completion are one decision.
fn notify_for(round: &mut Round<'_>, task: ReadyTask) {
    let ReadyTask { run, at, delivery } = task;
    let Ok(Some(asked)) = round.run(run).map(|run| run.task(at)) else { return };
    let text = |key: &str| asked.input.get(key).and_then(|value| value.as_str().map(str::to_owned));
    let only = text("runId").map(|id| id.parse::<RunId>());
    let notified = match only {
        Some(Err(error)) => {
            Err(Error::Refused(Refusal::Malformed { pointer: "/runId", message: error.to_string() }))
        }
        Some(Ok(_)) | None => round.notify(&Notify {
            event_id: text("eventId").unwrap_or_default().into(),
            data: asked.input.get("data").cloned().unwrap_or_default().into(),
            only: only.and_then(Result::ok),
            delivery: if text("delivery").as_deref() == Some("one") { Delivery::One } else { Delivery::All },
            key: None,
            dry_run: false,
        }),
    };
    let command = match notified {
        Ok(notified) => {
            let output =
                Json::from(serde_json::json!({ "id": notified.id, "waiters": notified.waiters.len() }));
            Command::TaskCompleted(TaskCompleted { at, delivery, output, state_updates: None })
        }
        Err(error) => {
            let (message, code) = (error.to_string(), Some("NOTIFY_FAILED".into()));
            Command::TaskFailed(TaskFailed {
                at,
                delivery,
                message,
                code,
                retryable: false,
                retry_after: None,
            })
        }
    };
    drop(round.decide(run, command, Actor::new("engine"), None));
}

fn deploy(
    store: &mut dyn Store,
    workflow: abide_core::definition::document::Workflow,
    now: Timestamp,
) -> Result<String, Error> {
    let definition = workflow.check()?.definition;
    let (name, version) = (definition.name(), definition.version());
    let document =
        serde_json::to_string(&definition.document).map_err(|error| Error::Store(error.to_string()))?;
    match store.definition(name, Some(version))? {
        Some(known) if known.document == document => return Ok(name.to_owned()),
        Some(_) => {
            return Err(Error::DefinitionExists { name: name.to_owned(), version: version.to_owned() });
        }
        None => {}
    }
    let new = NewDefinition { name, version, document: &document, created_at: now };
    store.commit(&Batch { definitions: vec![new], ..Batch::default() })?;
    Ok(name.to_owned())
}

/// Answers everyone; if the commit failed, those who would have heard yes hear that.
fn answer_all(pending: Vec<Pending>, failed: Option<&Error>) {
    fn told<T>(result: Result<T, Error>, failed: Option<&Error>) -> Result<T, Error> {
        match failed {
            Some(error) => result.and(Err(Error::Store(error.to_string()))),
            None => result,
        }
    }
    for answer in pending {
        match answer {
            Pending::Start(answer, result) => drop(answer.send(told(result, failed))),
            Pending::Command(Some(answer), result) => drop(answer.send(told(result, failed))),
            Pending::Command(None, _) => {}
            Pending::Notify(answer, result) => drop(answer.send(told(result, failed))),
            Pending::Get(answer, result) => drop(answer.send(told(result, failed))),
            Pending::Watch(answer, result) => drop(answer.send(told(result, failed))),
            Pending::Poll(answer, leased) => drop(answer.send(told(Ok(leased), failed))),
        }
    }
}

/// The delivery that a worker's last report is about.
fn delivery(command: &Command) -> Option<(At, u32)> {
    match command {
        Command::TaskCompleted(report) => Some((report.at, report.delivery)),
        Command::TaskFailed(report) => Some((report.at, report.delivery)),
        Command::TaskPaused(report) => Some((report.at, report.delivery)),
        Command::TaskSuspended(report) => Some((report.at, report.delivery)),
        Command::TaskStarted(_)
        | Command::TaskHeartbeat(_)
        | Command::LeaseLost(_)
        | Command::CreateWaitpoint(_)
        | Command::TimerFired(_)
        | Command::SendSignal(_)
        | Command::DeliverEvent(_)
        | Command::ResumeWaitpoint(_)
        | Command::Vote(_)
        | Command::ChildFinished(_)
        | Command::Steer(_)
        | Command::Pause
        | Command::Unpause
        | Command::Cancel { .. }
        | Command::Retry => None,
    }
}

fn heartbeat(command: &Command) -> Option<(At, u32)> {
    if let Command::TaskHeartbeat(beat) = command { Some((beat.at, beat.delivery)) } else { None }
}

/// Whether nothing more is to be expected of the delivery: it was taken, or it is stale.
fn is_final(decided: &Result<Reply, Error>) -> bool {
    match decided {
        Ok(_)
        | Err(Error::Refused(
            Refusal::StaleDelivery { .. } | Refusal::RunEnded(_) | Refusal::WrongStep { .. },
        )) => true,
        Err(_) => false,
    }
}
