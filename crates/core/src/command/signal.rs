//! A signal to this run. It always goes through the mailbox, so that it makes no difference whether the wait or
//! the signal comes first (R5a).

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::definition::{Action, RESERVED_KEYS};
use crate::flow;
use crate::history::Change;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::turn::Turn;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendSignal {
    pub signal_type: Arc<str>,
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
        if flow::next_listener(turn, &signal_type).is_none() {
            within("the number of signals kept for the run", turn.run.signals_kept + 1, limits::MAILBOX)?;
        }
        refuse_reserved(turn, &signal_type, &payload)?;
        let id = turn.run.signals_received + 1;
        turn.emit(Change::SignalReceived { id, signal_type: Arc::clone(&signal_type), payload })?;
        let taken_by = flow::deliver_mail(turn, &signal_type)?;
        Ok(Reply::Signalled { taken_by: taken_by.map(|number| turn.run.waitpoint_id(number)) })
    }
}

/// A payload that a step would merge into `state` must not hold reserved keys.
pub(super) fn refuse_reserved(turn: &Turn<'_>, signal_type: &str, payload: &Json) -> Result<(), Refusal> {
    let mut keys = payload.as_object().into_iter().flatten().map(|(key, _)| key);
    // The steps are looked at only if there is such a key: a signal must not cost a walk over the definition.
    let Some(key) = keys.find(|key| RESERVED_KEYS.contains(&key.as_str())) else { return Ok(()) };
    let merges = turn.run.definition.steps.iter().any(|step| match &step.action {
        Action::Signal { signal_type: awaited, .. } => **awaited == *signal_type && step.save_as.is_none(),
        Action::Work(_)
        | Action::Wait(_)
        | Action::Condition { .. }
        | Action::Event { .. }
        | Action::Webhook { .. }
        | Action::Approval(_)
        | Action::Respond { .. }
        | Action::Child { .. }
        | Action::Map(_) => false,
    });
    if merges { Err(Refusal::ReservedKey { key: key.clone() }) } else { Ok(()) }
}
