//! Who gets an event, and in which order: the longest waiting first, as far as they take it; all of them, or the first
//! that does. The candidates and the room that is left for comparing are handed in; a run decides for itself whether it
//! takes what it is given ([`DeliverEvent`](crate::command::DeliverEvent)).

use jiff::Timestamp;

use crate::command::Event;
use crate::id::{WaitpointId, WorkspaceId};
use crate::run::Run;
use crate::waitpoint::EventFilter;

/// A wait for an event, as far as it takes to offer it one.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiter {
    /// The waitpoint's id.
    pub waitpoint: WaitpointId,
    /// The workspace of the run that waits.
    pub workspace: WorkspaceId,
    /// When the wait began; the earliest is offered an event first.
    pub created_at: Timestamp,
    /// The events that the wait takes.
    pub filter: EventFilter,
    /// The wait's deadline; `None`: it has none.
    pub resume_at: Option<Timestamp>,
}

/// The position of a wait in the line of those who wait for the same event: when it began, and its id.
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

/// The budget of a round for comparing events with waits.
pub trait Room {
    /// Whether the budget is used up: no more waits are offered events.
    fn is_out(&self) -> bool;

    /// Takes the bytes that comparing an event with one wait has looked at from the budget.
    fn compared(&mut self, bytes: usize);

    /// Takes one wait that was given an event from the budget.
    fn given(&mut self);
}

/// The result of comparing an event with waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// The waits whose filter accepts the event, in the order they were offered it.
    pub takers: Vec<WaitpointId>,
    /// The last wait that the event was compared with.
    pub up_to: Option<Position>,
    /// How many waits the event was compared with.
    pub compared: usize,
    /// Whether there was room to compare the event with all of the waits, or with as many as it takes to find one.
    pub is_all: bool,
}

/// Compares an event with waits, in the order given, as far as there is room; with `one`, up to the first that accepts it.
pub fn offer(event: &Event, waiters: &[Waiter], one: bool, room: &mut impl Room) -> Offered {
    let mut offered = Offered { takers: Vec::new(), up_to: None, compared: 0, is_all: true };
    for waiter in waiters {
        if room.is_out() {
            offered.is_all = false;
            break;
        }
        offered.up_to = Some(waiter.position());
        offered.compared += 1;
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
            if one {
                break;
            }
        }
    }
    offered
}

/// Gives an event to waits in their order: to each of them or, with `one`, to the first that takes it. `take` says
/// whether a wait did; those that did are added to `took`, also when one of them could not be asked.
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
