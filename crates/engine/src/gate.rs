//! The gate before the writer's queue. Of each workspace a number of requests is in the queue at a time, and a number
//! more waits before it; one that has more is refused as overloaded. So a workspace that asks too much waits for
//! itself, and another's request is never behind more than a round or two of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use abide_core::id::WorkspaceId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many requests of one workspace are in the writer's queue: two rounds of them.
const IN_QUEUE: usize = 2_048;
/// How many requests of one workspace wait before the queue.
const BEFORE_QUEUE: usize = 16_384;
/// However large its share is, a workspace has no more places in the queue than so many times as many.
const MOST_SHARES: u32 = 8;
/// How many workspaces are remembered before those with nothing under way are forgotten.
const MANY: usize = 1_024;

#[derive(Default)]
pub(crate) struct Gate {
    of: Mutex<HashMap<WorkspaceId, Arc<Line>>>,
    /// Workspaces that have more places in the queue, and how many times as many.
    shares: Mutex<BTreeMap<WorkspaceId, u32>>,
}

struct Line {
    places: Arc<Semaphore>,
    /// How many requests are in the queue or before it.
    asked: AtomicUsize,
}

/// The place of a request in its line, until it is answered.
pub(crate) struct Place {
    line: Arc<Line>,
    _in_queue: Option<OwnedSemaphorePermit>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.asked.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Gate {
    /// Waits for a place in the queue; `None` if too many of this workspace wait already.
    pub(crate) async fn enter(&self, workspace: WorkspaceId) -> Option<Place> {
        let line = self.line(workspace);
        let asked = line.asked.fetch_add(1, Ordering::Relaxed);
        let mut place = Place { line, _in_queue: None };
        if asked >= self.in_queue(workspace) + BEFORE_QUEUE {
            return None;
        }
        let places = Arc::clone(&place.line.places);
        place._in_queue = match Arc::clone(&places).try_acquire_owned() {
            Ok(in_queue) => Some(in_queue),
            // It is never closed.
            Err(_) => places.acquire_owned().await.ok(),
        };
        Some(place)
    }

    /// Gives workspaces so many times as many places in the queue. It counts for those who come from now on.
    pub(crate) fn share(&self, of: &BTreeMap<WorkspaceId, u32>) {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if *shares != *of {
            shares.clone_from(of);
            self.of.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    fn in_queue(&self, workspace: WorkspaceId) -> usize {
        let shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        IN_QUEUE * shares.get(&workspace).map_or(1, |share| (*share).clamp(1, MOST_SHARES) as usize)
    }

    fn line(&self, workspace: WorkspaceId) -> Arc<Line> {
        let places = self.in_queue(workspace);
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if of.len() >= MANY && !of.contains_key(&workspace) {
            of.retain(|_, line| Arc::strong_count(line) > 1);
        }
        let new = || Arc::new(Line { places: Arc::new(Semaphore::new(places)), asked: AtomicUsize::new(0) });
        Arc::clone(of.entry(workspace).or_insert_with(new))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll(entering: &mut Pin<Box<dyn Future<Output = Option<Place>> + '_>>) -> Poll<Option<Place>> {
        entering.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_workspace_waits_for_itself_and_one_that_asks_too_much_is_told() {
        let gate = Gate::default();
        let enter = |workspace| -> Pin<Box<dyn Future<Output = Option<Place>> + '_>> {
            Box::pin(gate.enter(WorkspaceId(workspace)))
        };
        let mut places = Vec::new();
        for _ in 0..IN_QUEUE {
            let Poll::Ready(Some(place)) = poll(&mut enter(1)) else { panic!("there is room") };
            places.push(place);
        }
        let mut waiting: Vec<_> = (0..BEFORE_QUEUE).map(|_| enter(1)).collect();
        assert!(waiting.iter_mut().all(|one| poll(one).is_pending()));
        assert!(matches!(poll(&mut enter(1)), Poll::Ready(None)), "too many");
        assert!(matches!(poll(&mut enter(2)), Poll::Ready(Some(_))), "another workspace");
        places.pop();
        assert!(matches!(poll(&mut waiting[0]), Poll::Ready(Some(_))));
        drop((waiting, places));
        assert_eq!(gate.line(WorkspaceId(1)).asked.load(Ordering::Relaxed), 0);
    }
}
