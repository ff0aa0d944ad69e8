//! A signal to this run. It always goes through the mailbox, so that it makes no difference whether the wait or
//! the signal comes first (R5a).

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::flow;
use crate::history::Change;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::turn::Turn;

/// A signal is sent to the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendSignal {
    /// The type by which a wait asks for the signal.
    pub signal_type: Arc<str>,
    /// The data of the signal; becomes the payload of the wait that takes it.
    pub payload: Json,
}

impl SendSignal {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let SendSignal { signal_type, payload } = self;
        turn.refuse_ended()?;
        if !(1..=limits::NAME_CHARS).contains(&signal_type.chars().count()) {
            let message = format!("must have 1 to {} characters", limits::NAME_CHARS);
            return Err(Refusal::Malformed { pointer: "/signalType", message });
        }
        within("the payload's size in bytes", payload.bytes(), limits::PAYLOAD_BYTES)?;
        // What a wait takes at once is not kept: noise of one type must not shut out what the run waits for.
        if flow::next_listener(turn, &signal_type, turn.now).is_none() {
            within("the number of signals kept for the run", turn.run.signals_kept + 1, limits::MAILBOX)?;
            let bytes = turn.run.mailbox_bytes + payload.bytes();
            within("the size in bytes of the signals kept for the run", bytes, limits::MAILBOX_BYTES)?;
        }
        let id = turn.run.signals_received + 1;
        turn.emit(Change::SignalReceived { id, signal_type: Arc::clone(&signal_type), payload })?;
        let taken_by = flow::deliver_mail(turn, &signal_type)?;
        Ok(Reply::Signalled { taken_by: taken_by.map(|number| turn.run.waitpoint_id(number)) })
    }
}
