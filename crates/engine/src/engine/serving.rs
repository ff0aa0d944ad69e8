//! What a server around the engine tells it: the limits of each workspace, and where it is reached from outside.

use std::collections::HashMap;

use abide_core::id::{RunId, StepAddress, WorkspaceId};

use super::Engine;
use crate::executor::Reach;
use crate::webhooks::LinkMaker;

impl Engine {
    /// Limits the calls of one kind that a workspace has under way: `any` for all, other numbers for those in `of`.
    pub fn limit_calls(&self, any: Option<usize>, of: HashMap<WorkspaceId, usize>) {
        self.executors.limit_calls(any, &of);
    }

    /// Limits the open runs of a workspace: `any` for all, other numbers for those in `of`.
    pub fn limit_open_runs(&self, any: Option<u64>, of: HashMap<WorkspaceId, u64>) {
        self.open_runs.set(any, of);
    }

    /// Sets where, and with which lease tokens, the receivers of tasks can report later.
    pub fn reports_at(
        &self,
        tasks_url: String,
        lease_token: impl Fn(WorkspaceId, RunId, StepAddress, u32) -> String + Send + Sync + 'static,
    ) {
        self.executors.set_reach(Reach { tasks_url, lease_token: Box::new(lease_token) });
    }

    /// Sets how links are made for webhook messages about approvals.
    pub fn links_by(&self, maker: LinkMaker) {
        self.linking.set(maker);
    }
}
