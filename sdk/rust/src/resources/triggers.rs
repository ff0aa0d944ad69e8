use serde::Serialize;

use crate::client::Client;
use crate::problem::Error;
use crate::transport::at;
use crate::wire::{self, Json};

/// Runs that are started by a call.
#[derive(Debug, Clone, Copy)]
pub struct Triggers<'a>(pub(crate) &'a Client);

impl Triggers<'_> {
    /// Starts a run with a call, as a webhook of somebody else would.
    pub async fn call(&self, workflow: &str, body: impl Serialize) -> Result<wire::StartedRun, Error> {
        let request = self.0.post(at(&["triggers", workflow])).body(&body)?;
        self.0.transport().json(self.0.with_key(request)).await
    }

    /// Starts a run by its trigger, and returns the run's first reply.
    pub async fn call_sync(&self, workflow: &str, body: impl Serialize) -> Result<Json, Error> {
        let request = self.0.post(at(&["triggers", workflow, "sync"])).body(&body)?;
        self.0.transport().json(self.0.with_key(request)).await
    }
}
