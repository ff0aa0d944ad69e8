//! Somebody who wants to hear what a run says next, once. Clones are the same ear: what was asked may be decided more
//! than once until it is committed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::engine::Said;

#[derive(Clone, Debug)]
pub struct Ear(Arc<Mutex<Option<oneshot::Sender<Said>>>>);

impl Ear {
    pub fn new(sender: oneshot::Sender<Said>) -> Ear {
        Ear(Arc::new(Mutex::new(Some(sender))))
    }

    pub(crate) fn tell(&self, said: Said) {
        if let Some(sender) = self.sender().take() {
            // It may have given up.
            let _ = sender.send(said);
        }
    }

    /// It has heard something, or does not listen any more.
    pub(crate) fn has_gone(&self) -> bool {
        self.sender().as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    fn sender(&self) -> MutexGuard<'_, Option<oneshot::Sender<Said>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
