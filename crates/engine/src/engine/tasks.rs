//! The tasks of a workspace, as workers poll for them.

use super::WorkspaceHandle;
use crate::error::Error;
use crate::request::{Leased, Poll, TaskRequest};
use crate::tasks::Handed;

/// The tasks of a workspace. Made by [`WorkspaceHandle::tasks`].
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'e>(pub(super) WorkspaceHandle<'e>);

impl Tasks<'_> {
    /// Leases tasks to a worker; waits until there are some, or the call is dropped.
    pub async fn poll(self, poll: Poll) -> Result<Vec<Leased>, Error> {
        self.take(poll.waits(true)).await
    }

    /// Leases tasks that are ready now to a worker; returns none if none is.
    pub async fn claim(self, poll: Poll) -> Result<Vec<Leased>, Error> {
        self.take(poll).await
    }

    async fn take(self, poll: Poll) -> Result<Vec<Leased>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let poll = poll.in_workspace(id);
        engine.ask(|answer| TaskRequest::Poll { poll, answer }).await.map(Handed::take)
    }
}
