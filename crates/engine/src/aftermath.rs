//! What is left to do when a round has been committed, or when it could not be.

use std::sync::Arc;

use abide_core::command::{Command, Reply};
use abide_core::definition::Definition;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_store::StoredTimer;
use jiff::Timestamp;

use crate::alarm::Alarm;
use crate::backlog::Queued;
use crate::dispatcher::{Dispatcher, ReadyTask};
use crate::ear::Ear;
use crate::error::Error;
use crate::handed::Handed;
use crate::request::{Answer, Asker, Leased, Notified, Notify, Poll, Request, Start};
use crate::schedules::{Ordered, ScheduleOrder};

/// An answer that leaves after the commit.
pub(crate) enum Pending {
    Start(Answer<RunId>, Result<RunId, Error>),
    Command(Answer<Reply>, Result<Reply, Error>),
    Commands(Answer<Vec<Result<Reply, Error>>>, Vec<Result<Reply, Error>>),
    Notify(Answer<Notified>, Result<Notified, Error>),
    Schedule(Answer<Box<Ordered>>, Result<Box<Ordered>, Error>),
    Get(Answer<Box<Run>>, Result<Box<Run>, Error>),
    Poll(Answer<Handed>, Handed, Poll),
}

impl Pending {
    /// The answer is not given; it is asked for again.
    fn ask_again(self, asked: Asked) -> Option<Request> {
        match self {
            Pending::Start(answer, _) => {
                let Asked::Start(start, listener) = asked else { return None };
                Some(Request::Start { start, listener, answer })
            }
            Pending::Command(answer, _) => match asked {
                Asked::Command { workspace, run, command, asker, key, listener } => {
                    Some(Request::Command { workspace, run, command, asker, key, listener, answer })
                }
                Asked::Lend { task, workspace, worker, lease } => {
                    Some(Request::Lend { task, workspace, worker, lease, answer })
                }
                Asked::Start(..)
                | Asked::Commands { .. }
                | Asked::Notify(_)
                | Asked::Schedule { .. }
                | Asked::Get(_) => None,
            },
            Pending::Commands(answer, _) => {
                let Asked::Commands { workspace, commands, by } = asked else { return None };
                Some(Request::Commands { workspace, commands, by, answer })
            }
            Pending::Notify(answer, _) => {
                let Asked::Notify(notify) = asked else { return None };
                Some(Request::Notify { notify, answer })
            }
            Pending::Get(answer, _) => {
                let Asked::Get(run) = asked else { return None };
                Some(Request::Get { run, answer })
            }
            Pending::Schedule(answer, _) => {
                let Asked::Schedule { workspace, order, by, key, checked } = asked else { return None };
                Some(Request::Schedule { workspace, order, by, key, checked, answer })
            }
            // What it was given is to be taken back first.
            Pending::Poll(..) => None,
        }
    }
}

/// What was asked, kept where others write to the store, too: when they were first, it is decided again.
pub(crate) enum Asked {
    Start(Box<Start>, Option<Ear>),
    Command {
        workspace: Option<WorkspaceId>,
        run: RunId,
        command: Box<Command>,
        asker: Asker,
        key: Option<String>,
        listener: Option<Ear>,
    },
    Commands {
        workspace: WorkspaceId,
        commands: Vec<(RunId, Command)>,
        by: Actor,
    },
    Notify(Box<Notify>),
    Schedule {
        workspace: WorkspaceId,
        order: Box<ScheduleOrder>,
        by: Actor,
        key: Option<String>,
        checked: Option<Arc<Definition>>,
    },
    Get(RunId),
    Lend {
        task: ReadyTask,
        workspace: WorkspaceId,
        worker: &'static str,
        lease: Millis,
    },
}

impl Asked {
    pub(crate) fn of(request: &Request) -> Option<Asked> {
        match request {
            Request::Start { start, listener, .. } => Some(Asked::Start(start.clone(), listener.clone())),
            Request::Lend { task, workspace, worker, lease, .. } => {
                Some(Asked::Lend { task: *task, workspace: *workspace, worker, lease: *lease })
            }
            Request::Command { workspace, run, command, asker, key, listener, .. } => Some(Asked::Command {
                workspace: *workspace,
                run: *run,
                command: command.clone(),
                asker: asker.clone(),
                key: key.clone(),
                listener: listener.clone(),
            }),
            Request::Commands { workspace, commands, by, .. } => {
                Some(Asked::Commands { workspace: *workspace, commands: commands.clone(), by: by.clone() })
            }
            Request::Notify { notify, .. } => Some(Asked::Notify(notify.clone())),
            Request::Get { run, .. } => Some(Asked::Get(*run)),
            Request::Schedule { workspace, order, by, key, checked, .. } => Some(Asked::Schedule {
                checked: checked.clone(),
                workspace: *workspace,
                order: order.clone(),
                by: by.clone(),
                key: key.clone(),
            }),
            Request::Deploy { .. }
            | Request::WebhooksChanged { .. }
            | Request::Told { .. }
            | Request::Watch { .. }
            | Request::Register { .. }
            | Request::Poll { .. }
            | Request::GiveBack { .. }
            | Request::Stats { .. }
            | Request::Workers { .. }
            | Request::Write(_)
            | Request::Hold { .. }
            | Request::Release { .. }
            | Request::Nodes(_)
            | Request::News(_)
            | Request::Tick
            | Request::NextTimer { .. }
            | Request::Stop { .. } => None,
        }
    }
}

#[derive(Default)]
pub(crate) struct Aftermath {
    pending: Vec<(Pending, Option<Asked>)>,
    /// Deliveries of which nothing more is to be expected.
    pub(crate) reported: Vec<ReadyTask>,
    /// The instants of timers that had an effect.
    pub(crate) fired: Vec<Timestamp>,
    // What was taken for this round, to be put back if it fails.
    pub(crate) due: Vec<StoredTimer>,
    pub(crate) expired: Vec<ReadyTask>,
    pub(crate) timed: Vec<ReadyTask>,
    pub(crate) own: Vec<ReadyTask>,
    pub(crate) handed_over: Vec<ReadyTask>,
    pub(crate) given_back: Vec<ReadyTask>,
    /// What earlier rounds left.
    pub(crate) follow_ups: Vec<Queued>,
}

impl Aftermath {
    pub(crate) fn answer(&mut self, pending: Pending, asked: Option<Asked>) {
        self.pending.push((pending, asked));
    }

    pub(crate) fn answers(&self) -> u64 {
        self.pending.len() as u64
    }

    pub(crate) fn answer_all(self) {
        for (pending, _) in self.pending {
            match pending {
                Pending::Start(answer, result) => drop(answer.send(result)),
                Pending::Command(answer, result) => drop(answer.send(result)),
                Pending::Commands(answer, results) => drop(answer.send(Ok(results))),
                Pending::Notify(answer, result) => drop(answer.send(result)),
                Pending::Schedule(answer, result) => drop(answer.send(result)),
                Pending::Get(answer, result) => drop(answer.send(result)),
                Pending::Poll(answer, handed, _) => drop(answer.send(Ok(handed))),
            }
        }
    }

    /// Nothing was done, because others were first: what was taken is there again, and so is what was asked.
    pub(crate) fn ask_again(
        self,
        alarm: &mut Alarm,
        dispatcher: &mut Dispatcher,
        now: Timestamp,
    ) -> Vec<Request> {
        let Aftermath {
            pending,
            reported: _,
            fired: _,
            due,
            expired,
            timed,
            own,
            handed_over,
            given_back,
            follow_ups: _,
        } = self;
        alarm.put_back(due);
        dispatcher.put_back(expired, timed, own, now);
        dispatcher.hand_over(handed_over);
        let given_back = (!given_back.is_empty()).then_some(Request::GiveBack { tasks: given_back });
        let again = pending.into_iter().filter_map(|(pending, asked)| match pending {
            Pending::Poll(answer, handed, poll) => {
                dispatcher.take_back(handed.take().iter().map(Leased::ready).collect());
                Some(Request::Poll { poll, answer })
            }
            Pending::Start(..)
            | Pending::Command(..)
            | Pending::Commands(..)
            | Pending::Notify(..)
            | Pending::Schedule(..)
            | Pending::Get(..) => pending.ask_again(asked?),
        });
        again.chain(given_back).collect()
    }

    /// Nothing was done: those who would have heard yes hear why, and what was taken is there again.
    pub(crate) fn put_back(
        self,
        error: &Error,
        alarm: &mut Alarm,
        dispatcher: &mut Dispatcher,
        now: Timestamp,
    ) {
        fn told<T>(result: Result<T, Error>, error: &Error) -> Result<T, Error> {
            result.and_then(|_| Err(error.clone()))
        }
        let Aftermath {
            pending,
            reported: _,
            fired: _,
            due,
            expired,
            timed,
            own,
            handed_over,
            given_back: _,
            follow_ups: _,
        } = self;
        alarm.put_back(due);
        dispatcher.put_back(expired, timed, own, now);
        dispatcher.hand_over(handed_over);
        for (pending, _) in pending {
            match pending {
                Pending::Start(answer, result) => drop(answer.send(told(result, error))),
                Pending::Command(answer, result) => drop(answer.send(told(result, error))),
                Pending::Commands(answer, results) => {
                    let results = results.into_iter().map(|result| told(result, error));
                    drop(answer.send(Ok(results.collect())));
                }
                Pending::Notify(answer, result) => drop(answer.send(told(result, error))),
                Pending::Schedule(answer, result) => drop(answer.send(told(result, error))),
                Pending::Get(answer, result) => drop(answer.send(told(result, error))),
                Pending::Poll(answer, handed, _) => {
                    dispatcher.take_back(handed.take().iter().map(Leased::ready).collect());
                    drop(answer.send(Err(error.clone())));
                }
            }
        }
    }
}
