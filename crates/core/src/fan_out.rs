//! Who gets an event, and in which order: the longest waiting first, as far as they take it; all of them, or the first
//! that does. The candidates and the room that is left for comparing are handed in; a run decides for itself whether it
//! takes what it is given ([`DeliverEvent`](crate::command::DeliverEvent)).

use jiff::Timestamp;

use crate::command::Event;
use crate::id::{WaitpointId, WorkspaceId};
use crate::run::Run;
use crate::waitpoint::EventFilter;

/// A wait for an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiter {
    /// The wait.
    pub waitpoint: WaitpointId,
    /// The workspace of its run.
    pub workspace: WorkspaceId,
    /// Since when it waits.
    pub created_at: Timestamp,
    /// The events that it takes.
    pub filter: EventFilter,
    /// Until when it waits.
    pub resume_at: Option<Timestamp>,
}

/// A place in the line of those who wait for an event.
pub type Position = (Timestamp, WaitpointId);

impl Waiter {
    /// The wait of this number, if it is open and waits for this event.
    pub fn of(run: &Run, number: u32, event_id: &str) -> Option<Waiter> {
        let wait = run.waitpoint(number).filter(|wait| wait.is_pending())?;
        let filter = wait.listens_for.event()?;
        (*filter.event_id == *event_id).then(|| Waiter {
            waitpoint: run.id.waitpoint(number),
            workspace: run.workspace,
            created_at: wait.created_at,
            filter: filter.clone(),
            resume_at: wait.resume_at,
        })
    }

    /// The waits of one run for an event that stand after the given number, in the order in which they are offered it.
    pub fn of_run<'r>(run: &'r Run, event_id: &'r str, after: u32) -> impl Iterator<Item = Waiter> + 'r {
        let numbers = run.open_waitpoints().map(|wait| wait.number).filter(move |number| *number > after);
        numbers.filter_map(move |number| Waiter::of(run, number, event_id))
    }

    /// Where the wait stands in the line of those who wait for the same event.
    pub fn position(&self) -> Position {
        (self.created_at, self.waitpoint)
    }
}

/// Puts waits in the order in which they are offered an event: the longest waiting first, each once.
pub fn line_up(mut waiters: Vec<Waiter>) -> Vec<Waiter> {
    waiters.sort_by_key(Waiter::position);
    waiters.dedup_by_key(|waiter| waiter.waitpoint);
    waiters
}

/// The room that is left for comparing events with waits.
pub trait Room {
    /// Whether no more waits are given events.
    fn is_out(&self) -> bool;

    /// An event was compared with a wait: so many bytes were looked at.
    fn compared(&mut self, bytes: usize);

    /// A wait is given an event.
    fn given(&mut self);
}

/// What an event came to with the waits that it was offered to.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// The waits whose filter accepts the event, in the order they were offered it.
    pub takers: Vec<WaitpointId>,
    /// The last wait that the event was compared with.
    pub up_to: Option<Position>,
    /// Whether there was room to compare it with all of them.
    pub is_all: bool,
}

/// Compares an event with waits, in the order given, as far as there is room.
pub fn offer(event: &Event, waiters: &[Waiter], room: &mut impl Room) -> Offered {
    let mut offered = Offered { takers: Vec::new(), up_to: None, is_all: true };
    for waiter in waiters {
        if room.is_out() {
            offered.is_all = false;
            break;
        }
        offered.up_to = Some(waiter.position());
        if event.received_at < waiter.filter.since {
            continue;
        }
        let (takes, bytes) = waiter.filter.accepts_at(&event.data);
        room.compared(bytes);
        if takes {
            // Whoever takes it compares it once more.
            room.compared(bytes);
            room.given();
            offered.takers.push(waiter.waitpoint);
        }
    }
    offered
}

/// Gives an event to these in their order: to each of them or, with `one`, to the first that takes it. `take` says whether
/// one did; those that did are added to `took`, also when one of them could not be asked.
pub fn give<E>(
    takers: &[WaitpointId],
    one: bool,
    took: &mut Vec<WaitpointId>,
    mut take: impl FnMut(WaitpointId) -> Result<bool, E>,
) -> Result<(), E> {
    for taker in takers.iter().copied() {
        if take(taker)? {
            took.push(taker);
            if one {
                break;
            }
        }
    }
    Ok(())
}
