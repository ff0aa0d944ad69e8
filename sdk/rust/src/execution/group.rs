//! Waits that are awaited together: all of them, or the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use super::lane::{Lane, is_giving_up};
use super::{Execution, Waiting, quoted};
use crate::failure::Result;
use crate::wait::Opened;
use crate::wire::Wake;

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub(crate) struct Group {
    execution: Arc<Execution>,
    waits: Vec<Arc<Opened>>,
    wake: Wake,
    /// The awaited group that is not over.
    awaited: Option<Awaited>,
}

#[derive(Debug)]
struct Awaited {
    id: u64,
    /// How many durable calls had failed when it was last looked at.
    failures: u64,
}

impl Group {
    pub(crate) fn new(execution: Arc<Execution>, waits: Vec<Arc<Opened>>, wake: Wake) -> Group {
        Group { execution, waits, wake, awaited: None }
    }

    /// In this execution, it is over already, or never will be.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(error) = self.waits.iter().find_map(|wait| wait.mismatch()) {
            return Poll::Ready(Err(self.execution.locked(|state| state.fatal.get_or_insert(error).clone())));
        }
        if self.is_over() {
            return Poll::Ready(Ok(()));
        }
        if Lane::is_lost() {
            return Poll::Pending;
        }
        let id = self.awaited.as_ref().map(|awaited| awaited.id);
        let awaited = self.execution.locked(|state| {
            state.goes_on()?;
            let waiting = state.groups.iter_mut().find(|waiting| Some(waiting.id) == id);
            let id = match waiting {
                Some(waiting) => {
                    waiting.waker.clone_from(cx.waker());
                    waiting.id
                }
                None => {
                    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
                    let (waits, waker) = (self.waits.clone(), cx.waker().clone());
                    state.groups.push(Waiting { id, waits, wake: self.wake, waker });
                    state.activity += 1;
                    id
                }
            };
            Ok(Awaited { id, failures: state.failures })
        });
        match awaited {
            Ok(awaited) => {
                if self.awaited.replace(awaited).is_none() {
                    self.execution.driver.wake();
                }
                Poll::Pending
            }
            Err(error) => {
                self.awaited = None;
                Poll::Ready(Err(error))
            }
        }
    }

    fn is_over(&self) -> bool {
        let all = self.waits.iter().all(|wait| wait.has_ended());
        all || (self.wake == Wake::Any && self.waits.iter().any(|wait| wait.has_happened()))
    }
}

/// A wait that is given up while the handler goes on. If another branch has failed, the next execution will see the same;
/// if not, something was chosen that no journal knows of, or that may come second the next time.
impl Drop for Group {
    fn drop(&mut self) {
        let Some(awaited) = self.awaited.take() else { return };
        self.execution.locked(|state| {
            state.groups.retain(|waiting| waiting.id != awaited.id);
            if !state.ended
                && !is_giving_up()
                && !std::thread::panicking()
                && state.failures == awaited.failures
            {
                let open = self.waits.iter().filter(|wait| !wait.has_ended());
                state.abandoned.get_or_insert_with(|| quoted(open.map(|wait| wait.name.as_str())));
            }
        });
    }
}
