//! An engine that only looks: it decides nothing, calls nobody, and no timer goes off. For a copy of a store, whose
//! original is at work.

use crate::error::Error;
use crate::request::Request;

impl Request {
    /// What remains of a request in an engine that only looks: one that would change something is answered with
    /// [`Error::Paused`].
    pub(crate) fn while_paused(self) -> Option<Request> {
        match self {
            Request::Deploy { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Request::Start { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Request::Command { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Request::Commands { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Request::Schedule { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Request::Notify { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Request::Poll { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Request::Lend { answer, .. } => drop(answer.send(Err(Error::Paused))),
            Request::Hold { answer, .. } | Request::Release { answer, .. } => {
                drop(answer.send(Err(Error::Paused)));
            }
            Request::Register { .. }
            | Request::GiveBack { .. }
            | Request::Nodes(_)
            | Request::News(_)
            | Request::WebhooksChanged { .. } => {}
            Request::Get { .. }
            | Request::Watch { .. }
            | Request::Stats { .. }
            | Request::Workers { .. }
            // Keys, sessions and what the server needs to answer; it has no effect outside the store.
            | Request::Write(_)
            | Request::Told { .. }
            | Request::Tick
            | Request::NextTimer { .. }
            | Request::Stop { .. } => return Some(self),
        }
        None
    }
}
