//! Pending replies: answers that leave when the round they were decided in is committed. On a conflict the request is
//! decided again, and its caller does not notice.

use std::sync::Arc;

use abide_core::capacity::LimitSettings;
use abide_core::command::{Command, Reply};
use abide_core::definition::Definition;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::waitpoint::Actor;

use crate::error::Error;
use crate::reply_listener::ReplyListener;
use crate::request::{Accept, Answer, Asker, Decide, EventSent, Leased, Poll, Query, Request, TaskRequest};
use crate::round::LimitOrder;
use crate::schedules::{Ordered, ScheduleOrder};
use crate::send_event::SendEvent;
use crate::start::{StartRun, Started};
use crate::tasks::{Handed, TaskKey};

/// A reply to a request, and the caller it goes to.
pub(crate) enum PendingReply {
    Start(Answer<Started>, Result<Started, Error>),
    StartMany(Answer<Vec<Result<Started, Error>>>, Vec<Result<Started, Error>>),
    Command(Answer<Reply>, Result<Reply, Error>),
    Commands(Answer<Vec<Result<Reply, Error>>>, Vec<Result<Reply, Error>>),
    SendEvent(Answer<EventSent>, Result<EventSent, Error>),
    Schedule(Answer<Box<Ordered>>, Result<Box<Ordered>, Error>),
    SetLimit(Answer<Box<LimitSettings>>, Result<Box<LimitSettings>, Error>),
    Get(Answer<Box<Run>>, Result<Box<Run>, Error>, RunId),
    Accept(Answer<Reply>, Result<Reply, Error>, Accept),
    Poll(Answer<Handed>, Handed, Poll),
}

impl PendingReply {
    /// Sends the reply of a round that is committed.
    pub(crate) fn send(self) {
        match self {
            PendingReply::Start(answer, result) => drop(answer.send(result)),
            PendingReply::Command(answer, result) | PendingReply::Accept(answer, result, _) => {
                drop(answer.send(result));
            }
            PendingReply::StartMany(answer, results) => drop(answer.send(Ok(results))),
            PendingReply::Commands(answer, results) => drop(answer.send(Ok(results))),
            PendingReply::SendEvent(answer, result) => drop(answer.send(result)),
            PendingReply::Schedule(answer, result) => drop(answer.send(result)),
            PendingReply::SetLimit(answer, result) => drop(answer.send(result)),
            PendingReply::Get(answer, result, _) => drop(answer.send(result)),
            PendingReply::Poll(answer, handed, _) => drop(answer.send(Ok(handed))),
        }
    }

    /// Answers the caller with the error of a round that could not be committed. Returns the tasks that a poller
    /// would have got.
    pub(crate) fn fail(self, error: &Error) -> Vec<TaskKey> {
        fn told<T>(result: Result<T, Error>, error: &Error) -> Result<T, Error> {
            result.and_then(|_| Err(error.clone()))
        }
        match self {
            PendingReply::Start(answer, result) => drop(answer.send(told(result, error))),
            PendingReply::Command(answer, result) | PendingReply::Accept(answer, result, _) => {
                drop(answer.send(told(result, error)));
            }
            PendingReply::StartMany(answer, results) => {
                let results = results.into_iter().map(|result| told(result, error));
                drop(answer.send(Ok(results.collect())));
            }
            PendingReply::Commands(answer, results) => {
                let results = results.into_iter().map(|result| told(result, error));
                drop(answer.send(Ok(results.collect())));
            }
            PendingReply::SendEvent(answer, result) => drop(answer.send(told(result, error))),
            PendingReply::Schedule(answer, result) => drop(answer.send(told(result, error))),
            PendingReply::SetLimit(answer, result) => drop(answer.send(told(result, error))),
            PendingReply::Get(answer, result, _) => drop(answer.send(told(result, error))),
            PendingReply::Poll(answer, handed, _) => {
                drop(answer.send(Err(error.clone())));
                return handed.take().iter().map(Leased::ready).collect();
            }
        }
        Vec::new()
    }

    /// Gives up the reply of a round that met a conflict; returns the request to decide again, and the tasks that a
    /// poller would have got.
    pub(crate) fn ask_again(self, retry: Option<Retry>) -> (Option<Request>, Vec<TaskKey>) {
        let again = match (self, retry) {
            (PendingReply::Start(answer, _), Some(Retry::Start(start, listener))) => {
                Decide::Start { start, listener, answer }.into()
            }
            (PendingReply::StartMany(answer, _), Some(Retry::StartMany { workspace, starts })) => {
                Decide::StartMany { workspace, starts, checking: 0, answer }.into()
            }
            (
                PendingReply::Command(answer, _),
                Some(Retry::Command { workspace, run, command, asker, key, listener }),
            ) => Decide::Command { workspace, run, command, asker, key, listener, answer }.into(),
            (PendingReply::Commands(answer, _), Some(Retry::Commands { workspace, commands, by })) => {
                Decide::Commands { workspace, commands, by, answer }.into()
            }
            (PendingReply::SendEvent(answer, _), Some(Retry::SendEvent(send))) => {
                Decide::SendEvent { send, answer }.into()
            }
            (
                PendingReply::Schedule(answer, _),
                Some(Retry::Schedule { workspace, order, by, key, checked }),
            ) => Decide::Schedule { workspace, order, by, key, checked, answer }.into(),
            (PendingReply::SetLimit(answer, _), Some(Retry::SetLimit { workspace, order, by })) => {
                Decide::SetLimit { workspace, order, by, answer }.into()
            }
            (PendingReply::Get(answer, _, run), _) => Query::Get { run, answer }.into(),
            (PendingReply::Accept(answer, _, accept), _) => TaskRequest::Accept { accept, answer }.into(),
            (PendingReply::Poll(answer, handed, poll), _) => {
                let tasks = handed.take().iter().map(Leased::ready).collect();
                return (Some(TaskRequest::Poll { poll, answer }.into()), tasks);
            }
            (
                PendingReply::Start(..)
                | PendingReply::StartMany(..)
                | PendingReply::Command(..)
                | PendingReply::Commands(..)
                | PendingReply::SendEvent(..)
                | PendingReply::Schedule(..)
                | PendingReply::SetLimit(..),
                _,
            ) => return (None, Vec::new()),
        };
        (Some(again), Vec::new())
    }
}

/// What is kept of a request so that it can be decided again.
pub(crate) enum Retry {
    Start(Box<StartRun>, Option<ReplyListener>),
    StartMany {
        workspace: WorkspaceId,
        starts: Vec<Result<StartRun, Error>>,
    },
    Command {
        workspace: Option<WorkspaceId>,
        run: RunId,
        command: Box<Command>,
        asker: Asker,
        key: Option<String>,
        listener: Option<ReplyListener>,
    },
    Commands {
        workspace: WorkspaceId,
        commands: Vec<(RunId, Command)>,
        by: Actor,
    },
    SendEvent(Box<SendEvent>),
    Schedule {
        workspace: WorkspaceId,
        order: Box<ScheduleOrder>,
        by: Actor,
        key: Option<String>,
        checked: Option<Arc<Definition>>,
    },
    SetLimit {
        workspace: WorkspaceId,
        order: Box<LimitOrder>,
        by: Actor,
    },
}

impl Retry {
    pub(crate) fn of(request: &Decide) -> Retry {
        match request {
            Decide::Start { start, listener, .. } => Retry::Start(start.clone(), listener.clone()),
            Decide::StartMany { workspace, starts, .. } => {
                Retry::StartMany { workspace: *workspace, starts: starts.clone() }
            }
            Decide::Command { workspace, run, command, asker, key, listener, .. } => Retry::Command {
                workspace: *workspace,
                run: *run,
                command: command.clone(),
                asker: asker.clone(),
                key: key.clone(),
                listener: listener.clone(),
            },
            Decide::Commands { workspace, commands, by, .. } => {
                Retry::Commands { workspace: *workspace, commands: commands.clone(), by: by.clone() }
            }
            Decide::SendEvent { send, .. } => Retry::SendEvent(send.clone()),
            Decide::Schedule { workspace, order, by, key, checked, .. } => Retry::Schedule {
                workspace: *workspace,
                order: order.clone(),
                by: by.clone(),
                key: key.clone(),
                checked: checked.clone(),
            },
            Decide::SetLimit { workspace, order, by, .. } => {
                Retry::SetLimit { workspace: *workspace, order: order.clone(), by: by.clone() }
            }
        }
    }
}
