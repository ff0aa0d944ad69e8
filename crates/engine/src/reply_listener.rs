//! A reply listener: a caller that wants the next reply of a run, once. Clones are the same listener: a request may
//! be decided more than once until it is committed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::engine::RunReply;

/// A caller that wants the next reply of a run, once. Clones share the one answer.
#[derive(Clone, Debug)]
pub struct ReplyListener(Arc<Mutex<Option<oneshot::Sender<RunReply>>>>);

impl ReplyListener {
    /// A listener that hands the reply to this sender.
    pub fn new(sender: oneshot::Sender<RunReply>) -> ReplyListener {
        ReplyListener(Arc::new(Mutex::new(Some(sender))))
    }

    pub(crate) fn tell(&self, said: RunReply) {
        if let Some(sender) = self.sender().take() {
            // It may have given up.
            let _ = sender.send(said);
        }
    }

    /// Whether the listener has had its reply, or has given up.
    pub(crate) fn has_gone(&self) -> bool {
        self.sender().as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    fn sender(&self) -> MutexGuard<'_, Option<oneshot::Sender<RunReply>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
