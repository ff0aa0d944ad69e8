//! What the row of a wait says beside its instants and its status.

use abide_core::waitpoint::{ListensFor, Waitpoint};

/// The name of the signal or event that it waits for.
pub(crate) fn listens(wait: &Waitpoint) -> Option<&str> {
    match &wait.listens_for {
        ListensFor::Signal { signal_type } => Some(signal_type),
        ListensFor::Event(filter) => Some(&filter.event_id),
        ListensFor::Time | ListensFor::Call { .. } | ListensFor::Approval(_) | ListensFor::Child { .. } => {
            None
        }
    }
}

/// Only an open wait is ever matched with an event.
pub(crate) fn filter(wait: &Waitpoint) -> Option<String> {
    match &wait.listens_for {
        ListensFor::Event(filter) if wait.is_pending() => {
            Some(serde_json::to_string(filter).expect("a filter is JSON"))
        }
        ListensFor::Event(_)
        | ListensFor::Signal { .. }
        | ListensFor::Time
        | ListensFor::Call { .. }
        | ListensFor::Approval(_)
        | ListensFor::Child { .. } => None,
    }
}
