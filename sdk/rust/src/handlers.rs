//! Handlers by name, as a worker has them and a replay check runs them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::execution::Running;
use crate::failure::{Result, TaskError};

pub(crate) type Handler = Arc<dyn Fn(Context) -> Running + Send + Sync>;

/// Handlers by name: for a worker, and for a [replay check](crate::testing::replay_check).
#[derive(Clone, Default)]
pub struct Handlers {
    by_name: HashMap<String, Handler>,
    /// A name that two handlers have.
    twice: Option<String>,
}

impl Handlers {
    /// None yet.
    pub fn new() -> Handlers {
        Handlers::default()
    }

    /// Adds a handler. Its input is read, and its output written, as JSON.
    pub fn handler<I, O, F, Fut>(mut self, name: impl Into<String>, handle: F) -> Handlers
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
        F: Fn(Context, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O>> + Send + 'static,
    {
        let name = name.into();
        let handle = Arc::new(handle);
        let known = name.clone();
        let handler: Handler = Arc::new(move |context: Context| {
            let (handle, name) = (handle.clone(), known.clone());
            Box::pin(async move {
                let input = serde_json::from_value(context.task().input.clone());
                let input = input.map_err(|error| TaskError::unexpected("the input", &error))?;
                let output = handle(context, input).await?;
                serde_json::to_value(output).map_err(|error| TaskError::not_json(&name, &error))
            })
        });
        self.insert(name, handler);
        self
    }

    fn insert(&mut self, name: String, handler: Handler) {
        if self.by_name.insert(name.clone(), handler).is_some() {
            self.twice = Some(name);
        }
    }

    pub(crate) fn extend(&mut self, more: &Handlers) {
        for (name, handler) in &more.by_name {
            self.insert(name.clone(), handler.clone());
        }
        self.twice = self.twice.take().or_else(|| more.twice.clone());
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Handler> {
        self.by_name.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.by_name.keys()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(crate) fn twice(&self) -> Option<&str> {
        self.twice.as_deref()
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
