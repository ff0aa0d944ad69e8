//! What the row of a wait says besides its state: what is looked for to find it, and what decides whether it is meant.

use std::borrow::Cow;

use abide_core::waitpoint::{ListensFor, Waitpoint};

use crate::{code_waits, limits};

/// The signal type or event id that a wait is found by; of a wait for room, the first limit that is asked for it; of a wait for other code, its handler and the build that did not fit.
pub(crate) fn listens(wait: &Waitpoint) -> Option<Cow<'_, str>> {
    match &wait.listens_for {
        ListensFor::Signal { signal_type } => Some(Cow::Borrowed(signal_type)),
        ListensFor::Event(filter) => Some(Cow::Borrowed(&filter.event_id)),
        ListensFor::Code(mismatch) => Some(Cow::Owned(code_waits::listens(mismatch))),
        ListensFor::Capacity(request) => request.asks.first().map(|ask| Cow::Borrowed(&*ask.name)),
        ListensFor::Time
        | ListensFor::Call { .. }
        | ListensFor::Approval(_)
        | ListensFor::Child { .. }
        | ListensFor::Starts(_)
        | ListensFor::Attempt(_) => None,
    }
}

/// What decides whether a wait that was found is meant. Only an open wait is ever matched with an event, or with a
/// build, or stands in line.
pub(crate) fn filter(wait: &Waitpoint) -> Option<String> {
    match &wait.listens_for {
        ListensFor::Event(filter) if wait.is_pending() => {
            Some(serde_json::to_string(filter).expect("a filter is JSON"))
        }
        ListensFor::Code(mismatch) if wait.is_pending() => {
            Some(serde_json::to_string(&mismatch.builds).expect("builds are JSON"))
        }
        ListensFor::Capacity(request) if wait.is_pending() => limits::place(request),
        ListensFor::Event(_)
        | ListensFor::Capacity(_)
        | ListensFor::Code(_)
        | ListensFor::Time
        | ListensFor::Signal { .. }
        | ListensFor::Call { .. }
        | ListensFor::Approval(_)
        | ListensFor::Child { .. }
        | ListensFor::Starts(_)
        | ListensFor::Attempt(_) => None,
    }
}
