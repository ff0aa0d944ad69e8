//! Which tasks this process performs itself: by a handler that was registered, or by a call of the engine's own.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_core::definition::{Executor, Work};
use abide_core::queue::NOTIFY;

/// What the handlers of steps that are calls of the engine's own are named.
const HTTP: &str = "http";
const LLM: &str = "llm";

/// The names of tasks that this process performs itself.
#[derive(Debug)]
pub(super) struct Performers {
    handlers: BTreeSet<Arc<str>>,
    /// Handlers that are called at a URL.
    urls: BTreeSet<Arc<str>>,
}

impl Performers {
    pub(super) fn new(urls: BTreeSet<Arc<str>>) -> Performers {
        Performers { handlers: BTreeSet::new(), urls }
    }

    /// Tasks of this name are performed here from now on.
    pub(super) fn register(&mut self, name: Arc<str>) {
        self.handlers.insert(name);
    }

    /// Whether this process does this work. A handler of the name of a call (`http`, `llm`) stands in for it.
    pub(super) fn can_do(&self, work: &Work) -> bool {
        match work.executor {
            Executor::Http | Executor::Llm => true,
            Executor::Handler => self.handlers.contains(&work.handler) || self.urls.contains(&work.handler),
            Executor::Notify => false,
        }
    }

    /// The names of tasks that are performed here.
    pub(super) fn names(&self) -> impl Iterator<Item = Arc<str>> {
        let calls = [HTTP, LLM].into_iter().map(Arc::from);
        self.handlers.iter().cloned().chain(calls).chain(self.urls.iter().cloned())
    }

    /// Whether tasks that wait under this name are performed here.
    pub(super) fn has(&self, queue: &str) -> bool {
        [HTTP, LLM, NOTIFY].contains(&queue) || self.handlers.contains(queue) || self.urls.contains(queue)
    }
}
