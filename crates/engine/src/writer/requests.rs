//! What is asked of the writer, one request at a time.

use std::sync::Arc;

use abide_core::command::{Command, LeaseLoss, LeaseLost, Reply, TaskStarted};
use abide_core::id::{At, DefinitionId, RunId, ScheduleId, WorkspaceId};
use abide_core::refusal::Refusal;
use abide_core::waitpoint::Actor;
use abide_store::tasks::TaskCounts;
use jiff::Timestamp;

use super::work::claim;
use super::{COUNTED_TASKS, Writer};
use crate::aftermath::{self, Aftermath, Pending};
use crate::checker::{Check, Then};
use crate::committer::Job;
use crate::deploy::Deploy;
use crate::dispatcher::{Dispatcher, IN_PROCESS, ReadyTask};
use crate::ear::Ear;
use crate::engine::Ended;
use crate::error::Error;
use crate::request::{Request, Stats};
use crate::round::Round;
use crate::share::Share;

impl Writer {
    pub(super) fn take(&mut self, request: Request, now: Timestamp) {
        if !self.is_apart(&request) {
            self.look_back(now);
        }
        let again = self.share.as_ref().and_then(|_| aftermath::Asked::of(&request));
        let (mut round, dispatcher, aftermath) = self.round(now);
        match request {
            Request::Start { start, listener, answer } => {
                if let Some(definition) = round.start_to_check(&start) {
                    let (workspace, input) = (start.workspace, start.input.clone());
                    let then = Then::Request(Box::new(Request::Start { start, listener, answer }));
                    return self.check(Check { workspace, definition, input, then });
                }
                round.traceparent = start.traceparent;
                aftermath.answer(Pending::Start(answer, round.start(*start, listener)), again);
            }
            Request::Command { workspace, run, command, asker, key, listener, answer } => {
                round.traceparent = asker.traceparent;
                let asked = Asked { workspace, run, command: *command, by: asker.by, key, listener };
                let decided = decide(&mut round, dispatcher, aftermath, asked);
                aftermath.answer(Pending::Command(answer, decided), again);
            }
            Request::Commands { workspace, commands, by, answer } => {
                let decided = commands.into_iter().map(|(run, command)| {
                    let (workspace, by) = (Some(workspace), by.clone());
                    let asked = Asked { workspace, run, command, by, key: None, listener: None };
                    decide(&mut round, dispatcher, aftermath, asked)
                });
                let decided = decided.collect();
                aftermath.answer(Pending::Commands(answer, decided), again);
            }
            Request::Schedule { workspace, order, by, key, checked, answer } => {
                if let Some((definition, input)) = round.plan_to_check(workspace, &order, checked.as_ref()) {
                    let request = Request::Schedule { workspace, order, by, key, checked, answer };
                    let then = Then::Request(Box::new(request));
                    return self.check(Check { workspace, definition, input, then });
                }
                let done = round.order(workspace, *order, (by, key.as_deref()), checked.as_ref());
                aftermath.answer(Pending::Schedule(answer, done.map(Box::new)), again);
            }
            Request::Notify { notify, answer } => {
                aftermath.answer(Pending::Notify(answer, round.notify(&notify)), again);
            }
            Request::Get { run, answer } => match round.committed(run, |run| Box::new(run.clone())) {
                Some(found) => drop(answer.send(found)),
                None => {
                    let found = round.run(run).map(|run| Box::new(run.clone()));
                    aftermath.answer(Pending::Get(answer, found), again);
                }
            },
            Request::Watch { run, answer } => match round.committed(run, Ended::of) {
                Some(Ok(Some(ended))) => drop(answer.send(Ok(ended))),
                Some(Err(error)) => drop(answer.send(Err(error))),
                // It may end in a round that is not committed yet; that is when it is heard of.
                Some(Ok(None)) | None => self.watchers.entry(run).or_default().push(answer),
            },
            Request::Poll { poll, answer } => {
                dispatcher.saw(&poll, now);
                claim(&mut round, dispatcher, poll, answer, aftermath);
            }
            Request::Lend { task, workspace, worker, lease, answer } => {
                let ReadyTask { run, at, delivery } = task;
                let worker: Arc<str> = worker.into();
                let (holder, from) = (Arc::clone(&worker), Some(IN_PROCESS.into()));
                let command =
                    Command::TaskStarted(TaskStarted { at, delivery, worker: holder, build: None, from });
                let decided = round.decide(run, command, Actor::new("dispatcher"), None);
                if decided.is_ok() {
                    dispatcher.lend(task, now, lease, (workspace, worker));
                    if dispatcher.is_shared() {
                        round.decided.leases.insert((run, at), lease);
                    }
                }
                aftermath.answer(Pending::Command(answer, decided), again);
            }
            Request::GiveBack { tasks } => {
                for task in tasks {
                    let ReadyTask { run, at, delivery } = task;
                    let lost = LeaseLost { at, delivery, loss: LeaseLoss::Released };
                    // Refused when it is not wanted any more.
                    drop(round.decide(run, Command::LeaseLost(lost), Actor::new("dispatcher"), None));
                    aftermath.reported.push(task);
                    aftermath.given_back.push(task);
                }
            }
            Request::Register { name, handler } => {
                let tasks = dispatcher.register(name, handler);
                dispatcher.hand_over(tasks);
                self.share.iter_mut().for_each(Share::look_now);
            }
            Request::Deploy { workspace, definition, answer } => {
                let id = DefinitionId::new(now, self.random.draw_u128());
                self.ask(Job::Deploy { deploy: Deploy { workspace, definition, id, now }, answer });
            }
            Request::Stats { answer } => {
                let runs_in_memory = round.memory.len();
                let here = TaskCounts { taken: dispatcher.tasks_out(), free: dispatcher.tasks_ready() };
                let tasks = match &mut self.share {
                    Some(share) => share.tasks.count(COUNTED_TASKS).map_err(Error::from),
                    None => Ok(here),
                };
                let stats = tasks.map(|TaskCounts { taken: tasks_out, free: tasks_ready }| Stats {
                    runs_in_memory,
                    tasks_out,
                    tasks_ready,
                    ..self.stats.clone()
                });
                drop(answer.send(stats));
            }
            Request::Workers { answer } => drop(answer.send(Ok(dispatcher.workers(now)))),
            Request::Write(write) => self.ask(Job::Write(write)),
            Request::Hold { held, answer } => self.hold_asked(*held, answer),
            Request::Release { owner, answer } => match self.release(owner, now) {
                Ok(_) => self.ask(Job::Write(Box::new(move |store| {
                    drop(answer.send(store.let_go(owner).map_err(Error::from)));
                }))),
                Err(error) => drop(answer.send(Err(error))),
            },
            Request::WebhooksChanged { answer } => {
                let looked_up = self.look_up_webhooks();
                drop(answer.send(looked_up));
            }
            Request::Told { answer } => self.outbox.settle(answer),
            Request::Nodes(nodes) => self.divide(&nodes),
            Request::News(news) => self.heard(news),
            Request::NextTimer { answer } => {
                self.waiting_for_idle.push(answer);
                self.share.iter_mut().for_each(Share::look_now);
            }
            Request::Tick => self.share.iter_mut().for_each(Share::look_now),
            Request::Stop { answer } => self.stop = Some(answer),
        }
    }

    /// Whether a request has nothing to do with waits that began in this pass: they look back later, all together.
    fn is_apart(&self, request: &Request) -> bool {
        match request {
            Request::Command { run, .. } => !self.open.decided.touches(*run),
            Request::Start { .. }
            | Request::Register { .. }
            | Request::Deploy { .. }
            | Request::Stats { .. }
            | Request::Workers { .. }
            | Request::Write(_)
            | Request::WebhooksChanged { .. }
            | Request::Told { .. }
            | Request::Nodes(_)
            | Request::News(_)
            | Request::Tick => true,
            Request::Commands { .. }
            | Request::Schedule { .. }
            | Request::Notify { .. }
            | Request::Get { .. }
            | Request::Watch { .. }
            | Request::Poll { .. }
            | Request::Lend { .. }
            | Request::GiveBack { .. }
            | Request::Hold { .. }
            | Request::Release { .. }
            | Request::NextTimer { .. }
            | Request::Stop { .. } => false,
        }
    }
}

/// What somebody asks of a run.
struct Asked {
    workspace: Option<WorkspaceId>,
    run: RunId,
    command: Command,
    by: Actor,
    key: Option<String>,
    listener: Option<Ear>,
}

fn decide(
    round: &mut Round<'_>,
    dispatcher: &mut Dispatcher,
    aftermath: &mut Aftermath,
    asked: Asked,
) -> Result<Reply, Error> {
    let Asked { workspace, run, command, by, key, listener } = asked;
    if ScheduleId::of(run).is_some() {
        return round.steer_schedule(workspace, run, &command, by, key.as_deref());
    }
    round.check_workspace(run, workspace)?;
    let report = delivery(&command);
    let beat = heartbeat(&command).map(|(at, delivery)| ReadyTask { run, at, delivery });
    let decided = round.decide_heard(run, command, by, key.as_deref(), listener);
    if let Some((at, delivery)) = report.filter(|_| is_final(&decided)) {
        aftermath.reported.push(ReadyTask { run, at, delivery });
    }
    if let Some(task) = beat.filter(|_| decided.is_ok()) {
        dispatcher.renew(task, round.now);
        if dispatcher.is_shared() {
            round.decided.renewed.push(task);
        }
    }
    decided
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
        | Command::TaskLogged(_)
        | Command::LeaseLost(_)
        | Command::CodeArrived(_)
        | Command::CreateWaitpoint(_)
        | Command::TimerFired(_)
        | Command::SendSignal(_)
        | Command::DeliverEvent(_)
        | Command::ResumeWaitpoint(_)
        | Command::Vote(_)
        | Command::ChildFinished(_)
        | Command::Steer(_)
        | Command::PinTasks(_)
        | Command::Move(_)
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
pub(super) fn is_final(decided: &Result<Reply, Error>) -> bool {
    match decided {
        Ok(_)
        | Err(Error::Refused(
            Refusal::StaleDelivery { .. } | Refusal::RunEnded(_) | Refusal::WrongStep { .. },
        )) => true,
        Err(_) => false,
    }
}
