//! What a server around the engine tells it: the limits of each workspace, and where it is reached from outside.

use std::collections::{BTreeMap, HashMap};

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

    /// Sets how many turns in a row workspaces have where several wait for the same thing, from 1 to
    /// [`LARGEST_SHARE`](crate::LARGEST_SHARE); those that are not named have one.
    pub fn set_shares(&self, of: BTreeMap<WorkspaceId, u32>) {
        let turns: HashMap<WorkspaceId, usize> =
            of.iter().map(|(workspace, share)| (*workspace, *share as usize)).collect();
        self.executors.share_calls(&turns);
        self.readers.share(&turns);
        self.gate.share(&of);
        self.shares.set(of);
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
