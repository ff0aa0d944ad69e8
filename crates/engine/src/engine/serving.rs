//! What a server around the engine tells it: how much each workspace may have, and where it is reached from outside.

use std::collections::HashMap;

use abide_core::id::{RunId, StepAddress, WorkspaceId};

use super::Engine;
use crate::executor::Reach;
use crate::webhooks::LinkMaker;

impl Engine {
    /// How many calls of one kind a workspace has under way at most, and those workspaces for which it is another number.
    pub fn limit_calls(&self, any: Option<usize>, of: HashMap<WorkspaceId, usize>) {
        self.executors.limit_calls(any, &of);
    }

    /// How many runs that have not ended a workspace may have, and those workspaces for which it is another number.
    pub fn limit_open_runs(&self, any: Option<u64>, of: HashMap<WorkspaceId, u64>) {
        self.open_runs.set(any, of);
    }

    /// Says where, and with which lease tokens, the receivers of tasks can report later.
    pub fn reports_at(
        &self,
        tasks_url: String,
        lease_token: impl Fn(WorkspaceId, RunId, StepAddress, u32) -> String + Send + Sync + 'static,
    ) {
        self.executors.set_reach(Reach { tasks_url, lease_token: Box::new(lease_token) });
    }

    /// Says how links are made that go along when webhooks are told of an approval.
    pub fn links_by(&self, maker: LinkMaker) {
        self.linking.set(maker);
    }
}
