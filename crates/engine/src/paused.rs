//! An engine that only reads: it decides nothing, calls nobody, and no timer fires. For a copy of a store, whose
//! original is at work.

use crate::error::Error;
use crate::request::{Control, Decide, Request, TaskRequest};

impl Request {
    /// The request as an engine that only reads takes it; one that would change something is answered with
    /// [`Error::Paused`].
    pub(crate) fn while_paused(self) -> Option<Request> {
        match self {
            Request::Decide(request) => request.refuse(Error::Paused),
            Request::Task(request) => request.refuse(Error::Paused),
            Request::Query(_) => return Some(self),
            Request::Control(request) => return request.while_paused().map(Request::Control),
        }
        None
    }
}

impl Decide {
    fn refuse(self, error: Error) {
        match self {
            Decide::Start { answer, .. } => drop(answer.send(Err(error))),
            Decide::StartMany { answer, .. } => drop(answer.send(Err(error))),
            Decide::Command { answer, .. } => drop(answer.send(Err(error))),
            Decide::Commands { answer, .. } => drop(answer.send(Err(error))),
            Decide::Schedule { answer, .. } => drop(answer.send(Err(error))),
            Decide::SetLimit { answer, .. } => drop(answer.send(Err(error))),
            Decide::SendEvent { answer, .. } => drop(answer.send(Err(error))),
        }
    }
}

impl TaskRequest {
    fn refuse(self, error: Error) {
        match self {
            TaskRequest::Poll { answer, .. } => drop(answer.send(Err(error))),
            TaskRequest::Accept { answer, .. } => drop(answer.send(Err(error))),
            TaskRequest::Release { .. } | TaskRequest::Register { .. } => {}
        }
    }
}

impl Control {
    fn while_paused(self) -> Option<Control> {
        match self {
            Control::Deploy { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Control::Hold { answer, .. } | Control::Unhold { answer, .. } => {
                drop(answer.send(Err(Error::Paused)));
            }
            Control::WebhooksChanged { answer } => drop(answer.send(Err(Error::Paused))),
            Control::Nodes(_) | Control::Notifications(_) => {}
            // Keys, sessions and what the server needs to answer; it has no effect outside the store.
            Control::Write(_) | Control::Tick | Control::Stop { .. } => return Some(self),
        }
        None
    }
}
