//! What the engine looks for: a run, a definition, what is due, what is left to be done.

use abide_core::history::Record;
use abide_core::id::{RunId, WorkspaceId};
use abide_store::{RunSummary, StoredDefinition, StoredFollowUp, StoredRun, StoredTimer};
use jiff::Timestamp;

use super::{RunRow, State};

impl State {
    pub(super) fn load(&self, run: RunId) -> Option<StoredRun> {
        self.runs.get(&run).map(|row| StoredRun {
            workspace: row.run.workspace,
            definition: row.run.definition_ref.clone(),
            history: row.history.clone(),
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

    pub(super) fn timers(
        &self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Vec<StoredTimer> {
        let due = self.timers.iter().filter(|timer| after.is_none_or(|after| *timer > after));
        due.take_while(|timer| timer.at <= until).take(limit).copied().collect()
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
