//! When a worker's code was last looked for among the tasks that wait for other code. In a store where nothing waits for
//! it, that is asked once a second for each build, however often its workers poll.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::pollers::Queue;

/// How long it is taken for granted that nothing waits for a build, unless something begins to.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Handlers of which it is remembered that nothing waits; with more, all are looked at again.
const REMEMBERED: usize = 10_000;

#[derive(Default)]
pub(crate) struct CodeWaits {
    /// By handler, the builds that nothing waits for, and since when by the clock that never goes back.
    none_for: HashMap<Queue, HashMap<Arc<str>, Duration>>,
}

impl CodeWaits {
    pub(crate) fn may_be_there(&self, queue: &Queue, build: &str, now: Duration) -> bool {
        let looked_at = self.none_for.get(queue).and_then(|builds| builds.get(build));
        looked_at.is_none_or(|at| now.saturating_sub(*at) >= LOOK_AGAIN)
    }

    pub(crate) fn found_none(&mut self, queue: Queue, build: Arc<str>, now: Duration) {
        if self.none_for.len() >= REMEMBERED {
            self.none_for.clear();
        }
        let builds = self.none_for.entry(queue).or_default();
        builds.retain(|_, at| now.saturating_sub(*at) < LOOK_AGAIN);
        builds.insert(build, now);
    }

    /// Something waits for other code of this handler.
    pub(crate) fn look_again(&mut self, queue: &Queue) {
        self.none_for.remove(queue);
    }
}
