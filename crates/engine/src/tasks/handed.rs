//! Tasks on their way to a poller. If it has gone before they arrive, they are released at once: nobody waits for the
//! end of a lease that no worker knows of.

use std::mem;

use tokio::sync::mpsc;

use super::TaskKey;
use crate::request::{Leased, Request, TaskRequest};

/// Tasks that were leased to a poller; released when dropped before they were taken.
pub struct Handed {
    tasks: Vec<Leased>,
    back: mpsc::WeakSender<Request>,
}

impl Handed {
    pub(crate) fn new(tasks: Vec<Leased>, back: mpsc::WeakSender<Request>) -> Handed {
        Handed { tasks, back }
    }

    /// Takes the tasks: they have arrived, or are dealt with otherwise.
    pub fn take(mut self) -> Vec<Leased> {
        mem::take(&mut self.tasks)
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        let tasks: Vec<TaskKey> = mem::take(&mut self.tasks).iter().map(Leased::ready).collect();
        if !tasks.is_empty()
            && let Some(queue) = self.back.upgrade()
        {
            // When there is no room, the lease ends by itself.
            drop(queue.try_send(TaskRequest::Release { tasks }.into()));
        }
    }
}
