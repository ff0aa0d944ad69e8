//! What a durable wait asks for, in words. It is stored with the wait, and a recorded wait answers only code that asks
//! the same: an ended sleep is never read as an approval, nor one event as another. How long a wait may take is no part
//! of it: a sleep that was made longer, or computed from the clock, is still that sleep.

use sha2::{Digest, Sha256};

use crate::failure::TaskError;
use crate::wait::Spec;
use crate::wire::{JournalWait, Json, TaskWait, WaitpointKind};

/// The server takes so many characters.
const CHARS: usize = 200;

pub(crate) fn asked_of(spec: &Spec) -> String {
    let words = in_words(spec);
    if words.chars().count() <= CHARS {
        return words;
    }
    let beginning: String = words.chars().take(CHARS - 20).collect();
    format!("{beginning}… {}", digest(&words))
}

fn in_words(spec: &Spec) -> String {
    match spec {
        Spec::Wait(TaskWait::Event(wait)) => {
            let fields = wait.fields.as_ref().map(|fields| Json::from_iter(fields.clone()).to_string());
            let conditions: Vec<String> = wait.matching.iter().cloned().chain(fields).collect();
            match &conditions[..] {
                [] => format!("event {}", wait.event_id),
                conditions => format!("event {} where {}", wait.event_id, conditions.join(" and ")),
            }
        }
        Spec::Wait(TaskWait::Child(wait)) => {
            let verb = if wait.detached == Some(true) { "start" } else { "run" };
            let version = wait.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
            let input = wait.input.clone().unwrap_or_default().to_string();
            format!("{verb} of {}{version} with {}", wait.workflow, digest(&input))
        }
        Spec::Wait(TaskWait::Http(wait)) => {
            let method = serde_json::to_value(wait.method).unwrap_or_default();
            let body = wait.body.clone().unwrap_or_default().to_string();
            format!("http {} {} with {}", method.as_str().unwrap_or("GET"), wait.url, digest(&body))
        }
        Spec::Wait(TaskWait::Capacity(wait)) => {
            let key = wait.limit.key.as_ref().map(|key| format!(" {key}")).unwrap_or_default();
            format!("room under {}{key}", wait.limit.name)
        }
        Spec::Wait(TaskWait::Signal(wait)) => format!("signal {}", wait.signal_type),
        Spec::Wait(TaskWait::Approval(wait)) => {
            let approvers = wait.approvers.as_deref().unwrap_or_default();
            let by =
                if approvers.is_empty() { String::new() } else { format!(" by {}", approvers.join(", ")) };
            let quorum = wait.quorum.filter(|quorum| *quorum > 1);
            let quorum = quorum.map(|quorum| format!(" with {quorum} votes")).unwrap_or_default();
            let content = wait.content.clone().unwrap_or_default().to_string();
            format!("approval of {}{by}{quorum}", digest(&content))
        }
        Spec::Wait(TaskWait::Waitpoint(wait)) => format!("waitpoint {}", wait.name),
        Spec::Wait(TaskWait::Sleep(_) | TaskWait::Until(_) | TaskWait::Webhook(_) | TaskWait::Retry(_))
        | Spec::Pause(_) => of_kind(kind(spec)).to_owned(),
    }
}

/// What stands against a recorded wait being the answer to what the code asks for now; nothing if it is.
pub(crate) fn mismatch(name: &str, recorded: &JournalWait, spec: &Spec) -> Option<TaskError> {
    let asked = asked_of(spec);
    let is_same = match &recorded.asked {
        Some(recorded) => *recorded == asked,
        None => recorded.kind == kind(spec),
    };
    let was = recorded.asked.as_deref().unwrap_or_else(|| of_kind(recorded.kind));
    (!is_same).then(|| TaskError::code_changed(format!("`{name}` as {was}"), format!("`{name}` as {asked}")))
}

fn kind(spec: &Spec) -> WaitpointKind {
    match spec {
        Spec::Wait(TaskWait::Sleep(_) | TaskWait::Until(_)) => WaitpointKind::Delay,
        Spec::Wait(TaskWait::Event(_)) => WaitpointKind::Event,
        Spec::Wait(TaskWait::Signal(_)) => WaitpointKind::Signal,
        Spec::Wait(TaskWait::Webhook(_) | TaskWait::Waitpoint(_)) => WaitpointKind::Webhook,
        Spec::Wait(TaskWait::Approval(_)) => WaitpointKind::Approval,
        Spec::Wait(TaskWait::Child(_) | TaskWait::Http(_)) => WaitpointKind::Child,
        Spec::Wait(TaskWait::Retry(_)) => WaitpointKind::Retry,
        Spec::Wait(TaskWait::Capacity(_)) => WaitpointKind::Capacity,
        Spec::Pause(_) => WaitpointKind::Pause,
    }
}

fn of_kind(kind: WaitpointKind) -> &'static str {
    match kind {
        WaitpointKind::Delay => "a sleep",
        WaitpointKind::Event => "an event",
        WaitpointKind::Signal => "a signal",
        WaitpointKind::Webhook => "a call",
        WaitpointKind::Approval => "an approval",
        WaitpointKind::Pause => "a pause",
        WaitpointKind::Child => "a run",
        WaitpointKind::Retry => "a back-off",
        WaitpointKind::Schedule => "an occurrence",
        WaitpointKind::Code => "other code",
        WaitpointKind::Capacity => "room",
    }
}

pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
