//! What is asked of the machine, one request at a time.

use std::sync::Arc;

use abide_core::board::IN_PROCESS;
use abide_core::command::{Command, LeaseLoss, LeaseLost, Reply, TaskStarted, check_worker};
use abide_core::id::{DefinitionId, Owner, RunId, StepAddress, WorkspaceId};
use abide_core::refusal::Refusal;
use abide_core::waitpoint::Actor;
use abide_store::tasks::TaskCounts;

use super::claim::claim;
use super::{Check, Machine, Output, Then};
use crate::deploy::Deploy;
use crate::engine::Ended;
use crate::error::Error;
use crate::owed::Owed;
use crate::reply::PendingReply;
use crate::reply_listener::ReplyListener;
use crate::request::{Accept, Answer, Control, Decide, Query, Request, Stats, TaskRequest};
use crate::round::Decider;
use crate::tasks::{Lease, TaskKey, Tasks};

/// Tasks of all nodes are counted up to here.
const COUNTED_TASKS: usize = 10_000;

impl Machine {
    pub(super) fn take(&mut self, request: Request) {
        if !self.is_apart(&request) {
            self.look_back();
        }
        match request {
            Request::Decide(request) => self.take_decision(request),
            Request::Task(request) => self.on_tasks(request),
            Request::Query(request) => self.query(request),
            Request::Control(request) => self.control(request),
        }
    }

    /// Whether a request has nothing to do with waits that began in this pass: they look back later, all together.
    fn is_apart(&self, request: &Request) -> bool {
        match request {
            Request::Decide(Decide::Command { run, .. }) => !self.open.batch.has_run(*run),
            Request::Decide(Decide::Start { .. } | Decide::StartMany { .. }) => true,
            Request::Decide(
                Decide::Commands { .. }
                | Decide::Schedule { .. }
                | Decide::SetLimit { .. }
                | Decide::SendEvent { .. },
            ) => false,
            Request::Task(_) => false,
            Request::Query(
                Query::Stats { .. }
                | Query::Workers { .. }
                | Query::TaskQueues { .. }
                | Query::WebhooksSettled { .. },
            ) => true,
            Request::Query(Query::Get { .. } | Query::Watch { .. } | Query::Settled { .. }) => false,
            Request::Control(Control::Hold { .. } | Control::Unhold { .. } | Control::Stop { .. }) => false,
            Request::Control(_) => true,
        }
    }

    /// Decides something about runs; it is answered when that is committed.
    fn take_decision(&mut self, request: Decide) {
        let retry = self.cluster.retry(&request);
        let (mut round, tasks, pending) = self.round();
        match request {
            Decide::Start { start, listener, answer } => {
                if let Some(definition) = round.start_to_check(&start) {
                    let (workspace, input) = (start.workspace, start.input.clone());
                    let then = Then::Request(Box::new(Decide::Start { start, listener, answer }.into()));
                    return self.check(Check { workspace, definition, input, then });
                }
                round.traceparent = start.traceparent;
                let started = round.start(*start, listener);
                pending.reply(PendingReply::Start(answer, started), retry);
            }
            Decide::StartMany { workspace, starts, checking: _, answer } => {
                if let Some((checking, definition, input)) = round.starts_to_check(&starts) {
                    let request = Decide::StartMany { workspace, starts, checking, answer };
                    let then = Then::Request(Box::new(request.into()));
                    return self.check(Check { workspace, definition, input, then });
                }
                let started = starts.into_iter().map(|start| {
                    let start = start?;
                    round.renew_allowance();
                    round.traceparent = start.traceparent;
                    round.start(start, None)
                });
                let started = started.collect();
                pending.reply(PendingReply::StartMany(answer, started), retry);
            }
            Decide::Command { workspace, run, command, asker, key, listener, answer } => {
                round.traceparent = asker.traceparent;
                let asked = RunCommand { workspace, run, command: *command, by: asker.by, key, listener };
                let decided = decide_command(&mut round, tasks, pending, asked);
                pending.reply(PendingReply::Command(answer, decided), retry);
            }
            Decide::Commands { workspace, commands, by, answer } => {
                let decided = commands.into_iter().map(|(run, command)| {
                    round.renew_allowance();
                    let (workspace, by) = (Some(workspace), by.clone());
                    let asked = RunCommand { workspace, run, command, by, key: None, listener: None };
                    decide_command(&mut round, tasks, pending, asked)
                });
                let decided = decided.collect();
                pending.reply(PendingReply::Commands(answer, decided), retry);
            }
            Decide::Schedule { workspace, order, by, key, checked, answer } => {
                if let Some((definition, input)) = round.plan_to_check(workspace, &order, checked.as_ref()) {
                    let request = Decide::Schedule { workspace, order, by, key, checked, answer };
                    let then = Then::Request(Box::new(request.into()));
                    return self.check(Check { workspace, definition, input, then });
                }
                let done = round.order(workspace, *order, (by, key.as_deref()), checked.as_ref());
                pending.reply(PendingReply::Schedule(answer, done.map(Box::new)), retry);
            }
            Decide::SetLimit { workspace, order, by, answer } => {
                let done = round.set_limit(workspace, &order, by);
                pending.reply(PendingReply::SetLimit(answer, done.map(Box::new)), retry);
            }
            Decide::SendEvent { send, answer } => {
                pending.reply(PendingReply::SendEvent(answer, round.send_event(&send)), retry);
            }
        }
    }

    fn on_tasks(&mut self, request: TaskRequest) {
        let now = self.now;
        let (mut round, tasks, pending) = self.round();
        match request {
            TaskRequest::Poll { poll, answer } => {
                if let Err(refusal) = check_worker(&poll.worker, Some(&poll.build)) {
                    return drop(answer.send(Err(refusal.into())));
                }
                tasks.saw(&poll, now.wall);
                claim(&mut round, tasks, poll, answer, pending, now);
            }
            TaskRequest::Accept { accept, answer } => {
                let Accept { task, workspace, worker, lease: length } = accept;
                let TaskKey { run, at, lease_epoch } = task;
                let worker: Arc<str> = worker.into();
                let (holder, from) = (Arc::clone(&worker), Some(IN_PROCESS.into()));
                let command =
                    Command::TaskStarted(TaskStarted { at, lease_epoch, worker: holder, build: None, from });
                let decided = round.decide(run, command, Actor::new("dispatcher"), None);
                if decided.is_ok() {
                    round.batch.leases.insert((run, at), Lease { length, worker: (workspace, worker) });
                    pending.accepted.push(task);
                }
                pending.reply(PendingReply::Accept(answer, decided, accept), None);
            }
            TaskRequest::Release { tasks } => {
                for task in tasks {
                    let TaskKey { run, at, lease_epoch } = task;
                    let lost = LeaseLost { at, lease_epoch, loss: LeaseLoss::Released };
                    // Refused when it is not wanted any more.
                    drop(round.decide(run, Command::LeaseLost(lost), Actor::new("dispatcher"), None));
                    pending.reported.push(task);
                    pending.released.push(task);
                }
            }
            TaskRequest::Register { name, handler } => {
                tasks.register(Arc::clone(&name));
                self.outputs.push(Output::Register { name, handler });
            }
        }
    }

    fn query(&mut self, request: Query) {
        let (mut round, tasks, pending) = self.round();
        match request {
            Query::Get { run, answer } => match round.read_settled(run, |run| Box::new(run.clone())) {
                Some(found) => drop(answer.send(found)),
                None => {
                    let found = round.run(run).map(|run| Box::new(run.clone()));
                    pending.reply(PendingReply::Get(answer, found, run), None);
                }
            },
            Query::Watch { run, answer } => match round.read_settled(run, Ended::of) {
                Some(Ok(Some(ended))) => drop(answer.send(Ok(ended))),
                Some(Err(error)) => drop(answer.send(Err(error))),
                // It may end in a round that is not committed yet; that is when it is heard of.
                Some(Ok(None)) | None => self.watchers.entry(run).or_default().push(answer),
            },
            Query::Stats { answer } => self.answer_stats(answer),
            Query::Workers { answer } => {
                let workers = tasks.workers(round.now);
                drop(answer.send(Ok(workers)));
            }
            Query::TaskQueues { answer } => drop(answer.send(Ok(tasks.board().queues()))),
            Query::Settled { answer } => {
                self.waiting_for_idle.push(answer);
                self.look_now();
            }
            Query::WebhooksSettled { answer } => self.outputs.push(Output::SettleWebhooks(answer)),
        }
    }

    fn answer_stats(&mut self, answer: Answer<Stats>) {
        let counts = self.tasks.board().count(COUNTED_TASKS).map_err(Error::from);
        let stats = counts.map(|TaskCounts { taken: tasks_out, free: tasks_ready }| Stats {
            runs_in_memory: self.memory.len(),
            tasks_out,
            tasks_ready,
            ..self.stats.clone()
        });
        drop(answer.send(stats));
    }

    fn control(&mut self, request: Control) {
        match request {
            Control::Deploy { workspace, definition, answer } => {
                let now = self.now.wall;
                let id = DefinitionId::new(now, self.random.draw_u128());
                let deploy = Deploy { workspace, definition, id, now };
                self.outputs.push(Output::Deploy { deploy, answer });
            }
            Control::Write(write) => self.outputs.push(Output::Write(write)),
            Control::Hold { held, answer } => self.hold_asked(*held, answer),
            Control::Unhold { owner, answer } => match self.unhold(owner) {
                Ok(_) => self.outputs.push(Output::Unhold { owner, answer }),
                Err(error) => drop(answer.send(Err(error))),
            },
            Control::WebhooksChanged { answer } => {
                let looked_up = self.look_up_webhooks();
                drop(answer.send(looked_up));
            }
            Control::Nodes(nodes) => self.divide(&nodes),
            Control::Notifications(notifications) => self.notified(notifications),
            Control::Tick => self.look_now(),
            Control::Stop { answer } => self.stop = Some(answer),
        }
    }
}

/// What somebody asks of a run.
struct RunCommand {
    workspace: Option<WorkspaceId>,
    run: RunId,
    command: Command,
    by: Actor,
    key: Option<String>,
    listener: Option<ReplyListener>,
}

/// Decides what somebody asks of a run or a schedule, and notes what a report or a heartbeat means for its task.
fn decide_command(
    round: &mut Decider<'_>,
    tasks: &mut Tasks,
    pending: &mut Owed,
    asked: RunCommand,
) -> Result<Reply, Error> {
    let RunCommand { workspace, run, command, by, key, listener } = asked;
    if Owner::of(run).schedule().is_some() {
        return round.steer_schedule(workspace, run, &command, by, key.as_deref());
    }
    round.check_workspace(run, workspace)?;
    let report = reported(&command).map(|(at, lease_epoch)| TaskKey { run, at, lease_epoch });
    let beat = heartbeat(&command).map(|(at, lease_epoch)| TaskKey { run, at, lease_epoch });
    let decided = round.decide_with_listener(run, command, by, key.as_deref(), listener);
    pending.reported.extend(report.filter(|_| is_final(&decided)));
    if let Some(task) = beat.filter(|_| decided.is_ok()) {
        tasks.heard_of(task, round.now);
        round.batch.renewed.push(task);
    }
    decided
}

/// The execution that a worker's last report is about.
fn reported(command: &Command) -> Option<(StepAddress, u32)> {
    match command {
        Command::TaskCompleted(report) => Some((report.at, report.lease_epoch)),
        Command::TaskFailed(report) => Some((report.at, report.lease_epoch)),
        Command::TaskPaused(report) => Some((report.at, report.lease_epoch)),
        Command::TaskSuspended(report) => Some((report.at, report.lease_epoch)),
        Command::TaskStarted(_)
        | Command::TaskHeartbeat(_)
        | Command::TaskRecorded(_)
        | Command::TaskLogged(_)
        | Command::TaskNotified(_)
        | Command::LeaseLost(_)
        | Command::CodeArrived(_)
        | Command::CreateWaitpoint(_)
        | Command::TimerFired(_)
        | Command::SendSignal(_)
        | Command::DeliverEvent(_)
        | Command::ResumeWaitpoint(_)
        | Command::Vote(_)
        | Command::ChildFinished(_)
        | Command::Capacity(_)
        | Command::Debounce(_)
        | Command::Steer(_)
        | Command::PinTasks(_)
        | Command::Move(_)
        | Command::Pause
        | Command::Unpause
        | Command::Cancel { .. }
        | Command::Retry => None,
    }
}

fn heartbeat(command: &Command) -> Option<(StepAddress, u32)> {
    if let Command::TaskHeartbeat(beat) = command { Some((beat.at, beat.lease_epoch)) } else { None }
}

/// Whether no further report is expected under the lease epoch: the report was taken, or it is stale.
pub(super) fn is_final(decided: &Result<Reply, Error>) -> bool {
    match decided {
        Ok(_)
        | Err(Error::Refused(
            Refusal::StaleLease { .. } | Refusal::RunEnded(_) | Refusal::WrongStep { .. },
        )) => true,
        Err(_) => false,
    }
}
