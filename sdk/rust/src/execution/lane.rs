//! The branch of an `any` that the code is in: what it has come to, and whether it has lost already.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

tokio::task_local! {
    static CURRENT: Arc<Lane>;
}

thread_local! {
    /// Whether what is dropped here lost an `any` that says so in the journal.
    static GIVING_UP: Cell<bool> = const { Cell::new(false) };
}

#[derive(Debug, Default)]
pub(super) struct Lane {
    outer: Option<Arc<Lane>>,
    /// The durable calls that it came to.
    reached: Mutex<Vec<String>>,
    /// An earlier execution decided that it lost, and cancelled these waits of it. It is replayed up to there.
    lost: Option<Vec<String>>,
}

impl Lane {
    /// A branch of the code that calls. `lost` names the waits that were cancelled when it lost.
    pub(super) fn new(lost: Option<Vec<String>>) -> Arc<Lane> {
        Arc::new(Lane { outer: Lane::current(), reached: Mutex::default(), lost })
    }

    fn current() -> Option<Arc<Lane>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Does something in this branch.
    pub(super) fn within<T>(self: &Arc<Lane>, work: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self.clone(), work)
    }

    /// The code came to a durable call.
    pub(super) fn reach(name: &str) {
        let mut lane = Lane::current();
        while let Some(inner) = lane {
            inner.reached.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
            lane = inner.outer.clone();
        }
    }

    pub(super) fn reached(&self) -> Vec<String> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the code is in a branch that has lost: it does nothing new.
    pub(super) fn is_lost() -> bool {
        Lane::any(|lane| lane.lost.is_some())
    }

    /// Whether the code is in a branch that lost while it waited for this.
    pub(super) fn gave_up(name: &str) -> bool {
        Lane::any(|lane| lane.lost.iter().flatten().any(|wait| wait == name))
    }

    fn any(is_so: impl Fn(&Lane) -> bool) -> bool {
        std::iter::successors(Lane::current(), |lane| lane.outer.clone()).any(|lane| is_so(&lane))
    }
}

/// Drops what lost: its waits are given up for something that the journal knows of.
pub(super) fn give_up<T>(losers: T) {
    GIVING_UP.set(true);
    drop(losers);
    GIVING_UP.set(false);
}

pub(super) fn is_giving_up() -> bool {
    GIVING_UP.get()
}
