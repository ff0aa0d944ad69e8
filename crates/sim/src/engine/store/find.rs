//! What the engine looks for: a run, a definition, what is due, what is left to be done.

use abide_core::history::Record;
use abide_core::id::{RunId, WorkspaceId};
use abide_store::cluster::NodeId;
use abide_store::{RunSummary, RunUpdate, StoredDefinition, StoredFollowUp, StoredRun, StoredTimer};
use jiff::Timestamp;

use super::super::defect::Defect;
use super::{RunRow, State};

impl State {
    pub(super) fn load(&self, run: RunId) -> Option<StoredRun> {
        self.runs.get(&run).map(|row| StoredRun {
            workspace: row.run.workspace,
            definition: row.run.definition_ref.clone(),
            history: row.history.clone(),
        })
    }

    /// What brings a run up to date from a version of it; `None` if it is.
    pub(super) fn update(&self, run: RunId, version: u64) -> Option<RunUpdate> {
        let row = self.runs.get(&run).filter(|row| row.run.seq != version)?;
        let after =
            |version: u64| row.history.iter().filter(|record| record.seq > version).cloned().collect();
        Some(match &row.snapshot {
            _ if version > 0 && version < row.run.seq => RunUpdate::Records(after(version)),
            Some(snapshot) => {
                RunUpdate::Snapshot { records: after(snapshot.seq), snapshot: Box::new(snapshot.clone()) }
            }
            None => RunUpdate::Whole(self.load(run)?),
        })
    }

    pub(super) fn records_after(&self, run: RunId, after: u64, limit: usize, bytes: usize) -> Vec<Record> {
        let Some(row) = self.runs.get(&run) else { return Vec::new() };
        let mut seen = 0;
        let later = row.history.iter().filter(|record| record.seq > after).take(limit);
        let has_room = |record: &&Record| {
            let has_room = seen < bytes;
            seen += record.change.payload_bytes();
            has_room
        };
        later.take_while(has_room).cloned().collect()
    }

    pub(super) fn definition(
        &self,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Option<StoredDefinition> {
        let is_it = |stored: &&StoredDefinition| {
            stored.workspace == workspace
                && stored.name == name
                && version.is_none_or(|version| stored.version == version)
        };
        self.definitions.iter().rev().find(is_it).cloned()
    }

    /// Whether a defect is planted by which nobody but its dead node finds this timer.
    fn is_forgotten(&self, node: NodeId, timer: &StoredTimer) -> bool {
        let writer = self.runs.get(&timer.run).map(|row| row.written_by);
        self.defect == Some(Defect::ForgottenTimers)
            && writer.is_some_and(|writer| writer != node && self.dead.contains(&writer))
    }

    pub(super) fn timers(
        &self,
        node: NodeId,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Vec<StoredTimer> {
        let due = self.timers.iter().filter(|timer| after.is_none_or(|after| *timer > after));
        let due = due.take_while(|timer| timer.at <= until).filter(|timer| !self.is_forgotten(node, timer));
        due.take(limit).copied().collect()
    }

    /// The first timer after an instant, for the world.
    pub(crate) fn timers_after(&self, now: Timestamp) -> Option<Timestamp> {
        self.timers.iter().map(|timer| timer.at).find(|at| *at > now)
    }

    /// The timer that is due first.
    pub(crate) fn first_timer(&self) -> Option<StoredTimer> {
        self.timers.first().copied()
    }

    /// The oldest of each workspace, without those that one of these owners looks after.
    pub(super) fn follow_ups(&self, not_of: &[u128], limit: usize) -> Vec<StoredFollowUp> {
        let mut found = Vec::new();
        let (mut workspace, mut count) = (None, 0);
        for row in self.follow_ups.values() {
            if workspace.replace(row.workspace) != Some(row.workspace) {
                count = 0;
            }
            count += 1;
            if count <= limit && !not_of.contains(&row.owner) {
                found.push(row.clone());
            }
        }
        found
    }
}

impl RunRow {
    pub(super) fn summary(&self) -> RunSummary {
        RunSummary {
            id: self.run.id,
            workspace: self.run.workspace,
            definition: self.run.definition_ref.clone(),
            status: self.run.status,
            tags: self.run.tags.clone(),
            created_at: self.run.created_at,
            updated_at: self.history.last().map_or(self.run.created_at, |record| record.at),
            version: self.run.seq,
        }
    }
}
