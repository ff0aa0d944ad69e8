//! The ledger: money that calls under way may still spend, so that the steps of a run that call models at the same
//! time do not spend it twice. What was spent is in the run itself.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use abide_core::id::RunId;
use tokio::sync::{Mutex as Gate, MutexGuard, Notify};

#[derive(Default)]
pub(super) struct Ledger {
    /// Held while a run's money is read and reserved, or spent and released: in between nothing is counted twice and
    /// nothing is missed.
    gate: Gate<()>,
    /// The money that is reserved, in millionths, by run; only of runs that have a budget.
    reserved: Mutex<HashMap<RunId, u64>>,
    changed: Notify,
}

impl Ledger {
    pub(super) async fn open(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().await
    }

    pub(super) fn reserved(&self, run: RunId) -> u64 {
        self.with(|reserved| reserved.get(&run).copied().unwrap_or_default())
    }

    pub(super) fn reserve(&self, run: RunId, micros: u64) -> Reservation<'_> {
        self.with(|reserved| {
            let reserved = reserved.entry(run).or_default();
            *reserved = reserved.saturating_add(micros);
        });
        Reservation { ledger: self, run, micros }
    }

    /// Waits until some call has ended, with the gate open.
    pub(super) async fn changed(&self, open: MutexGuard<'_, ()>) {
        let changed = self.changed.notified();
        tokio::pin!(changed);
        // Listens before others may pass, so that no change falls in between.
        changed.as_mut().enable();
        drop(open);
        changed.await;
    }

    fn with<T>(&self, look: impl FnOnce(&mut HashMap<RunId, u64>) -> T) -> T {
        look(&mut self.reserved.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Money that is reserved for a call. Released when it is dropped, also when the call is given up.
pub(super) struct Reservation<'l> {
    ledger: &'l Ledger,
    run: RunId,
    micros: u64,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.ledger.with(|reserved| {
            if let Some(left) = reserved.get_mut(&self.run) {
                *left = left.saturating_sub(self.micros);
                if *left == 0 {
                    reserved.remove(&self.run);
                }
            }
        });
        self.ledger.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_given_back_however_a_call_ends() {
        let ledger = Ledger::default();
        let run = RunId(7);
        let one = ledger.reserve(run, 30);
        let other = ledger.reserve(run, 12);
        assert_eq!((ledger.reserved(run), ledger.reserved(RunId(8))), (42, 0));
        drop(one);
        assert_eq!(ledger.reserved(run), 12);
        drop(other);
        assert!(ledger.with(|reserved| reserved.is_empty()));
    }
}
