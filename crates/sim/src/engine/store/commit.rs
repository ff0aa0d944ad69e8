//! Commits: what is compared before anything is written, and then all of it.

use std::sync::Arc;

use abide_core::history::Change;
use abide_core::id::RunId;
use abide_core::waitpoint::{EventFilter, ListensFor};
use abide_store::cluster::NodeId;
use abide_store::tasks::TaskWrite;
use abide_store::{Batch, Error, FollowUpWrite, RunWrite, ScheduleWrite, StoredDefinition};

use super::super::defect::Defect;
use super::snapshots::SnapshotLog;
use super::{EventRow, Kind, RunRow, SimStore, State, timers_of, timers_of_schedule};

/// A run is kept as a whole after so many records, beside its history.
const SNAPSHOT_EVERY: u64 = 12;

impl SimStore {
    /// What this node has seen of events so far: a commit that begins now is compared with it.
    pub(crate) fn snapshots(&self) -> SnapshotLog {
        self.state().snapshots.get(&self.node).cloned().unwrap_or_default()
    }

    pub(super) fn write(&self, batch: &Batch<'_>) -> Result<(), Error> {
        let snapshots = self.snapshots();
        self.write_seen(batch, &snapshots)
    }

    /// Writes a batch that was sent off when the node had seen this.
    pub(crate) fn write_seen(&self, batch: &Batch<'_>, seen: &SnapshotLog) -> Result<(), Error> {
        let mut state = self.state();
        let checked = state.check(batch, seen);
        let number = checked.is_ok().then(|| state.apply(batch, self.kind, self.node));
        if !batch.runs.is_empty() || !batch.events.is_empty() {
            state.snapshots.entry(self.node).or_default().rotate(number);
        }
        checked
    }
}

impl State {
    fn check(&self, batch: &Batch<'_>, seen: &SnapshotLog) -> Result<(), Error> {
        self.check_workspaces(batch)?;
        for new in &batch.definitions {
            let same = |known: &&StoredDefinition| {
                known.id == new.id
                    || (known.workspace == new.workspace
                        && known.name == new.name
                        && known.version == new.version)
            };
            if let Some(known) = self.definitions.iter().find(same) {
                let (name, version) = (new.name.to_owned(), new.version.to_owned());
                return Err(Error::DefinitionExists { id: known.id, name, version });
            }
        }
        for write in written(batch) {
            let version = self.runs.get(&write.run.id).map_or(0, |row| row.run.seq);
            if version != write.based_on && self.defect != Some(Defect::AcceptedConflict) {
                return Err(Error::Conflict(write.run.id));
            }
        }
        for used in &batch.idempotency {
            if self.idempotency.contains_key(&used.key) {
                return Err(Error::KeyUsed(used.key.clone()));
            }
        }
        batch.schedules.iter().try_for_each(|write| self.check_schedule(write))?;
        batch.limit_settings.iter().try_for_each(|write| self.check_settings(write))?;
        batch.limits.iter().try_for_each(|write| self.check_limit(write, batch))?;
        batch.follow_ups.iter().try_for_each(|write| self.check_follow_up(write))?;
        self.check_events(batch, seen)
    }

    fn check_workspaces(&self, batch: &Batch<'_>) -> Result<(), Error> {
        let runs = batch.runs.iter().filter(|write| write.based_on == 0).map(|write| write.run.workspace);
        let events = batch.events.iter().map(|event| event.workspace);
        let definitions = batch.definitions.iter().map(|definition| definition.workspace);
        let schedules = batch.schedules.iter().map(|write| write.schedule.workspace);
        let known = u64::try_from(self.workspaces.len()).unwrap_or(u64::MAX);
        let mut all = runs.chain(events).chain(definitions).chain(schedules);
        match all.find(|workspace| u64::from(workspace.0) > known) {
            Some(unknown) => Err(Error::UnknownWorkspace(unknown)),
            None => Ok(()),
        }
    }

    fn check_schedule(&self, write: &ScheduleWrite<'_>) -> Result<(), Error> {
        let ScheduleWrite { based_on, schedule, removed } = *write;
        let owner = schedule.id.owner().id();
        if self.schedules.get(&schedule.id).map_or(0, |stored| stored.seq) != based_on {
            return Err(Error::Conflict(owner));
        }
        let is_twin = |stored: &abide_core::schedule::Schedule| {
            stored.id != schedule.id
                && stored.workspace == schedule.workspace
                && stored.plan.name == schedule.plan.name
        };
        // Two nodes may give two schedules the same name at the same time.
        if !removed && self.schedules.values().any(is_twin) { Err(Error::Conflict(owner)) } else { Ok(()) }
    }

    fn check_follow_up(&self, write: &FollowUpWrite<'_>) -> Result<(), Error> {
        let (row, based_on) = match write {
            FollowUpWrite::Put(row) => (row, None),
            FollowUpWrite::Change(row) => (row, Some(row.version - 1)),
            FollowUpWrite::Remove(row) => (row, Some(row.version)),
        };
        let stored = self.follow_ups.get(&(row.workspace, row.id)).map(|stored| stored.version);
        if stored == based_on { Ok(()) } else { Err(Error::Conflict(RunId(row.id))) }
    }

    /// No event and no wait for it, decided side by side, miss each other.
    fn check_events(&self, batch: &Batch<'_>, log: &SnapshotLog) -> Result<(), Error> {
        for event in &batch.events {
            let Some(seen) = log.first(&(event.workspace, Arc::clone(&event.event_id))) else { continue };
            let rows = self.runs.values().filter(|row| row.run.workspace == event.workspace);
            for row in rows.filter(|row| event.run.is_none_or(|only| only == row.run.id)) {
                let resolved = |number: u32| {
                    let write = written(batch).find(|write| write.run.id == row.run.id);
                    write.is_some_and(|write| {
                        write.run.waitpoint(number).is_none_or(|wait| !wait.is_pending())
                    })
                };
                for wait in row.run.open_waitpoints().filter(|wait| !resolved(wait.number)) {
                    let began_in = row.began_in.get(&wait.number).copied().unwrap_or(0);
                    if let Some(filter) = event_filter(&wait.listens_for)
                        && began_in > seen
                        && !log.is_own(began_in)
                        && filter.event_id == event.event_id
                        && event.received_at >= filter.since
                        && filter.accepts(&event.data)
                    {
                        return Err(Error::Conflict(row.run.id));
                    }
                }
            }
        }
        for write in written(batch) {
            let waits = write.waitpoints().into_iter().filter_map(|number| {
                let wait = write.run.waitpoint(number).filter(|wait| wait.is_pending())?;
                Some((number, event_filter(&wait.listens_for)?))
            });
            for (number, filter) in waits {
                let key = (write.run.workspace, Arc::clone(&filter.event_id));
                let Some(seen) = log.first(&key) else { continue };
                let is_unseen = |row: &&EventRow| row.stored_in > seen && !log.is_own(row.stored_in);
                if self.events.iter().filter(is_unseen).any(|row| write.run.takes(number, &row.event)) {
                    return Err(Error::Conflict(write.run.id));
                }
            }
        }
        Ok(())
    }

    /// Writes what was checked, and gives the number of the commit.
    fn apply(&mut self, batch: &Batch<'_>, kind: Kind, node: NodeId) -> u64 {
        self.commits += 1;
        let number = self.commits;
        for new in &batch.definitions {
            self.definitions.push(StoredDefinition {
                id: new.id,
                workspace: new.workspace,
                name: new.name.to_owned(),
                version: new.version.to_owned(),
                document: new.document.to_owned(),
                created_at: new.created_at,
            });
        }
        for write in &batch.event_starts {
            let key = (write.workspace, write.event_id.to_owned(), write.workflow.to_owned());
            let refused = self.event_starts.entry(key).or_default();
            *refused = write.refused.cloned().or(refused.take());
        }
        for write in written(batch) {
            self.write_run(write, number, node);
        }
        let events = batch.events.iter().map(|event| EventRow { event: (*event).clone(), stored_in: number });
        self.events.extend(events);
        for record in batch.idempotency.iter().filter(|_| self.defect != Some(Defect::ForgottenKeys)) {
            self.idempotency.insert(record.key.clone(), (*record).clone());
        }
        for write in &batch.schedules {
            self.write_schedule(write);
        }
        for write in &batch.limit_settings {
            self.write_settings(write);
        }
        for write in &batch.limits {
            self.write_limit(write);
        }
        for write in &batch.follow_ups {
            match write {
                FollowUpWrite::Put(row) | FollowUpWrite::Change(row) => {
                    self.follow_ups.insert((row.workspace, row.id), (*row).clone());
                }
                FollowUpWrite::Remove(row) => {
                    self.follow_ups.remove(&(row.workspace, row.id));
                }
            }
        }
        for (root, more) in &batch.descendants {
            *self.descendants.entry(*root).or_default() += more;
        }
        match kind {
            Kind::OneWriter => {}
            Kind::Cluster => {
                let defect = self.defect;
                let is_kept = |write: &&&TaskWrite| !is_lost_on_purpose(defect, batch, write);
                let writes: Vec<&TaskWrite> = batch.tasks.iter().filter(is_kept).copied().collect();
                self.write_tasks(&writes);
            }
        }
        number
    }

    fn write_run(&mut self, write: &RunWrite<'_>, number: u64, node: NodeId) {
        let id = write.run.id;
        let was = self.runs.get(&id).map(|row| timers_of(&row.run)).unwrap_or_default();
        let row = self.runs.entry(id).or_insert_with(|| RunRow {
            run: write.run.clone(),
            history: Vec::new(),
            began_in: Default::default(),
            written_by: node,
            snapshot: None,
        });
        row.run = write.run.clone();
        row.written_by = node;
        if write.run.seq / SNAPSHOT_EVERY != write.based_on / SNAPSHOT_EVERY {
            row.snapshot = Some(write.run.snapshot().clone());
        }
        row.history.extend(write.records.iter().cloned());
        for wait in write.waitpoints() {
            row.began_in.entry(wait).or_insert(number);
        }
        self.set_timers(id, was, write.run.timers().into_iter());
    }

    fn write_schedule(&mut self, write: &ScheduleWrite<'_>) {
        let ScheduleWrite { schedule, removed, based_on: _ } = *write;
        let owner = schedule.id.owner().id();
        let timer = |(at, timer)| abide_store::StoredTimer { at, run: owner, timer };
        let was = self.schedules.remove(&schedule.id);
        let was = was.iter().flat_map(timers_of_schedule).map(timer).collect();
        let is = if removed { Vec::new() } else { timers_of_schedule(schedule) };
        self.set_timers(owner, was, is.into_iter());
        if !removed {
            self.schedules.insert(schedule.id, schedule.clone());
        }
    }

    /// One that is put takes the place of an earlier one, whatever is removed in the same commit.
    fn write_tasks(&mut self, writes: &[&TaskWrite]) {
        for write in writes {
            if let TaskWrite::Remove { run, at, lease_epoch } = write
                && self.tasks.get(&(*run, *at)).is_some_and(|row| row.lease_epoch <= *lease_epoch)
            {
                self.tasks.remove(&(*run, *at));
            }
        }
        for write in writes {
            match write {
                TaskWrite::Put(task) => {
                    self.tasks.insert((task.run, task.at), task.clone());
                }
                TaskWrite::Remove { .. } | TaskWrite::Renew { .. } => {}
            }
        }
        for write in writes {
            if let TaskWrite::Renew { run, at, lease_epoch, now } = write
                && let Some(row) = self.tasks.get_mut(&(*run, *at))
                && row.lease_epoch == *lease_epoch
                && row.has_begun
            {
                let free_at = row.lease.after(*now);
                row.free_at = row.deadline.map_or(free_at, |deadline| free_at.min(deadline));
            }
        }
    }
}

/// Whether a defect is planted by which this is not written.
fn is_lost_on_purpose(defect: Option<Defect>, batch: &Batch<'_>, write: &TaskWrite) -> bool {
    let changes = |wanted: RunId| {
        let runs = written(batch).filter(move |write| write.run.id == wanted);
        runs.flat_map(|write| write.records).map(|record| &record.change)
    };
    match (defect, write) {
        (Some(Defect::LeakedLease), TaskWrite::Put(task)) => changes(task.run)
            .any(|change| matches!(change, Change::TaskRedelivered { at, .. } if *at == task.at)),
        (Some(Defect::Tombstone), TaskWrite::Remove { run, at, .. }) => {
            changes(*run).any(|change| matches!(change, Change::StepCancelled { at: gone } if gone == at))
        }
        (_, TaskWrite::Put(_) | TaskWrite::Remove { .. } | TaskWrite::Renew { .. }) => false,
    }
}

/// The runs of a batch about which something was decided.
fn written<'b, 'a>(batch: &'b Batch<'a>) -> impl Iterator<Item = &'b RunWrite<'a>> {
    batch.runs.iter().filter(|write| !write.records.is_empty())
}

pub(super) fn event_filter(listens_for: &ListensFor) -> Option<&EventFilter> {
    if let ListensFor::Event(filter) = listens_for { Some(filter) } else { None }
}
