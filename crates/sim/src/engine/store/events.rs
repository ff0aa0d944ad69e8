//! Events and those who wait for them. Whoever looks is noted to have seen what is committed so far.

use std::sync::Arc;

use abide_core::command::Event;
use abide_core::id::{EventUid, WaitpointId, WorkspaceId};
use abide_core::waitpoint::Waitpoint;
use abide_store::cluster::NodeId;
use abide_store::{CodeWait, Waiter};
use jiff::Timestamp;

use super::State;
use super::commit::event_filter;

impl State {
    fn note_look(&mut self, node: NodeId, workspace: WorkspaceId, event_id: &str) {
        let commits = self.commits;
        self.snapshots.entry(node).or_default().note((workspace, Arc::from(event_id)), commits);
    }

    fn open_waits(&self, workspace: WorkspaceId) -> impl Iterator<Item = (WaitpointId, &Waitpoint)> {
        let rows = self.runs.values().filter(move |row| row.run.workspace == workspace);
        rows.flat_map(|row| row.run.open_waitpoints().map(|wait| (row.run.waitpoint_id(wait.number), wait)))
    }

    pub(super) fn waiters(
        &mut self,
        node: NodeId,
        (workspace, event_id): (WorkspaceId, &str),
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Vec<Waiter> {
        self.note_look(node, workspace, event_id);
        let waits = self.open_waits(workspace);
        let mut found: Vec<Waiter> = waits
            .filter(|(id, wait)| after.is_none_or(|after| (wait.created_at, *id) > after))
            .filter_map(|(waitpoint, wait)| {
                let filter =
                    event_filter(&wait.listens_for).filter(|filter| *filter.event_id == *event_id)?;
                let (created_at, resume_at) = (wait.created_at, wait.resume_at);
                Some(Waiter { waitpoint, workspace, created_at, filter: filter.clone(), resume_at })
            })
            .collect();
        found.sort_by_key(|waiter| (waiter.created_at, waiter.waitpoint));
        found.truncate(limit);
        found
    }

    pub(super) fn events(
        &mut self,
        node: NodeId,
        (workspace, event_id): (WorkspaceId, &str),
        since: Timestamp,
        after: Option<(Timestamp, EventUid)>,
        limit: usize,
    ) -> Vec<Event> {
        self.note_look(node, workspace, event_id);
        let is_wanted = |event: &&Event| {
            event.workspace == workspace
                && *event.event_id == *event_id
                && event.received_at >= since
                && after.is_none_or(|after| (event.received_at, event.id) > after)
        };
        let mut found: Vec<Event> =
            self.events.iter().map(|row| &row.event).filter(is_wanted).cloned().collect();
        found.sort_by_key(|event| (event.received_at, event.id));
        found.truncate(limit);
        found
    }

    /// Waits for other code of a handler than this build has, by the build that did not fit last.
    pub(super) fn code_waits(
        &self,
        workspace: WorkspaceId,
        (handler, build): (&str, &str),
        after: Option<&CodeWait>,
        limit: usize,
    ) -> Vec<CodeWait> {
        let place = |wait: &CodeWait| (wait.builds.last().cloned().unwrap_or_default(), wait.waitpoint);
        let after = after.map(place);
        let mut found: Vec<CodeWait> = self
            .open_waits(workspace)
            .filter_map(|(id, wait)| Some((id, wait.code_mismatch()?)))
            .filter(|(_, mismatch)| {
                let last = mismatch.builds.last().map_or("", |last| last);
                *mismatch.handler == *handler && mismatch.pinned_to.is_none() && last != build
            })
            .map(|(id, mismatch)| CodeWait::new(id, mismatch))
            .filter(|wait| after.as_ref().is_none_or(|after| place(wait) > *after))
            .collect();
        found.sort_by_key(place);
        found.truncate(limit);
        found
    }
}
