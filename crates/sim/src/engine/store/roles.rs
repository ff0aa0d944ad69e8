//! The roles of a store, as the engine asks for them.

use abide_core::command::Event;
use abide_core::event_start::RefusedStart;
use abide_core::history::Record;
use abide_core::id::{DefinitionId, EventUid, KeyId, RunId, ScheduleId, WaitpointId, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::run::Snapshot;
use abide_core::schedule::Schedule;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Kind as WaitKind;
use abide_store::cluster::{Cluster, ClusterNotification, Heartbeat, NodeId};
use abide_store::roles::*;
use abide_store::tasks::{FoundTask, LateTasks, Shares, TaskCounts, TaskQueue, Tasks, WantedTasks};
use abide_store::{
    ApiKey, Batch, CodeWait, Culprit, DefinitionSummary, Due, Error, EventStarter, Held, KeyHash, Owner,
    Page, Read, RunFilter, RunSummary, Store, StoredDefinition, StoredFollowUp, StoredRun, StoredTimer,
    Suspect, Update, Waiter, WaitpointFilter, WaitpointSummary, Workspace,
};
use jiff::Timestamp;

use super::super::defect::Defect;
use super::not_simulated::not_simulated;
use super::{Kind, SimStore};

impl Histories for SimStore {
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        Ok(self.read()?.load(run))
    }

    fn records_after(
        &mut self,
        run: RunId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Record>, Error> {
        Ok(self.read()?.records_after(run, after, limit, bytes))
    }

    fn updates(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Update)>, Error> {
        let state = self.read()?;
        let is_stale = |version: u64| version > 0 && state.defect == Some(Defect::StaleAfterConflict);
        let known = known.iter().filter(|(_, version)| !is_stale(*version));
        Ok(known.filter_map(|(run, version)| Some((*run, Ok(state.update(*run, *version)?)))).collect())
    }

    fn snapshot(&mut self, run: RunId) -> Result<Option<Snapshot>, Error> {
        Ok(self.read()?.runs.get(&run).and_then(|row| row.snapshot.clone()))
    }

    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
        let state = self.read()?;
        Ok(runs.iter().filter_map(|run| Some((*run, state.runs.get(run)?.run.seq))).collect())
    }
}

impl Lists for SimStore {
    fn run(&mut self, run: RunId) -> Result<Option<RunSummary>, Error> {
        Ok(self.read()?.runs.get(&run).map(|row| row.summary()))
    }

    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        Ok(self.read()?.list_runs(filter, page))
    }

    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        Ok(self.read()?.list_waitpoints(filter, page))
    }

    fn task_queues(&mut self, _: usize) -> Result<Option<Vec<TaskQueue>>, Error> {
        not_simulated()
    }

    fn stored_bytes(&mut self, _: WorkspaceId) -> Result<u64, Error> {
        not_simulated()
    }

    fn counts(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<(RunStatus, u64)>, Error> {
        Ok(self.read()?.counts(workspace))
    }

    fn oldest_waiting(&mut self, workspace: WorkspaceId, limit: usize) -> Result<Vec<RunId>, Error> {
        let state = self.read()?;
        let waiting = state.runs.values().map(|row| &row.run).filter(|run| run.workspace == workspace);
        Ok(waiting.filter(|run| run.status == RunStatus::Waiting).map(|run| run.id).take(limit).collect())
    }

    fn open_waits(
        &mut self,
        workspace: WorkspaceId,
        kind: WaitKind,
        due: Due,
        limit: usize,
    ) -> Result<usize, Error> {
        Ok(self.read()?.count_open_waits(workspace, kind, due, limit))
    }
}

impl Definitions for SimStore {
    fn definition(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<StoredDefinition>, Error> {
        Ok(self.read()?.definition(workspace, name, version))
    }

    fn definition_by_id(&mut self, id: DefinitionId) -> Result<Option<StoredDefinition>, Error> {
        Ok(self.read()?.definitions.iter().find(|stored| stored.id == id).cloned())
    }

    fn definitions(
        &mut self,
        _: WorkspaceId,
        _: Option<&str>,
        _: &Page<DefinitionId>,
    ) -> Result<Vec<DefinitionSummary>, Error> {
        not_simulated()
    }
}

impl Timers for SimStore {
    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        let node = self.node;
        Ok(self.read()?.timers(node, after, until, limit))
    }
}

impl Events for SimStore {
    fn waiters(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        let node = self.node;
        Ok(self.read()?.waiters(node, (workspace, event_id), after, limit))
    }

    fn events_since(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, EventUid)>,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        let node = self.node;
        Ok(self.read()?.events(node, (workspace, event_id), since, after, limit))
    }

    fn events(
        &mut self,
        _: WorkspaceId,
        _: Option<&str>,
        _: &Page<(Timestamp, EventUid)>,
    ) -> Result<Vec<Event>, Error> {
        not_simulated()
    }
}

impl EventStarts for SimStore {
    fn event_starts(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        after: Option<(&str, &str)>,
        limit: usize,
    ) -> Result<Vec<EventStarter>, Error> {
        let state = self.read()?;
        let all = state.event_starts.iter().filter(|((of, event, workflow), _)| {
            *of == workspace
                && event_id.is_none_or(|event_id| event_id == event)
                && after.is_none_or(|after| (event.as_str(), workflow.as_str()) > after)
        });
        let starter = |((_, event_id, workflow), refused): (&(_, String, String), &Option<RefusedStart>)| {
            EventStarter { event_id: event_id.clone(), workflow: workflow.clone(), refused: refused.clone() }
        };
        Ok(all.take(limit).map(starter).collect())
    }
}

impl CodeWaits for SimStore {
    fn code_waits(
        &mut self,
        workspace: WorkspaceId,
        handler: &str,
        build: &str,
        after: Option<&CodeWait>,
        limit: usize,
    ) -> Result<Vec<CodeWait>, Error> {
        Ok(self.read()?.code_waits(workspace, (handler, build), after, limit))
    }
}

impl Idempotency for SimStore {
    fn idempotency_record(&mut self, key: &str) -> Result<Option<IdempotencyRecord>, Error> {
        Ok(self.read()?.idempotency.get(key).cloned())
    }
}

impl Admin for SimStore {
    fn workspaces(&mut self) -> Result<Vec<Workspace>, Error> {
        Ok(self.read()?.workspaces())
    }

    fn key_by_hash(&mut self, _: &KeyHash) -> Result<Option<ApiKey>, Error> {
        not_simulated()
    }

    fn keys(&mut self, _: WorkspaceId) -> Result<Vec<ApiKey>, Error> {
        not_simulated()
    }

    fn setting(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.read()?.settings.get(name).cloned())
    }
}

impl FollowUps for SimStore {
    fn follow_ups(&mut self, not_of: &[u128], limit: usize) -> Result<Vec<StoredFollowUp>, Error> {
        Ok(self.read()?.follow_ups(not_of, limit))
    }

    fn descendants(&mut self, root: RunId) -> Result<u64, Error> {
        Ok(self.read()?.descendants.get(&root).copied().unwrap_or(0))
    }
}

impl Schedules for SimStore {
    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, Error> {
        Ok(self.read()?.schedules.get(&id).cloned())
    }

    fn schedule_by_name(&mut self, workspace: WorkspaceId, name: &str) -> Result<Option<Schedule>, Error> {
        let state = self.read()?;
        let is_it = |stored: &&Schedule| stored.workspace == workspace && stored.plan.name == name;
        Ok(state.schedules.values().find(is_it).cloned())
    }

    fn schedules(&mut self, workspace: WorkspaceId, page: &Page<String>) -> Result<Vec<Schedule>, Error> {
        let state = self.read()?;
        let here = state.schedules.values().filter(|stored| stored.workspace == workspace);
        let after = |stored: &&Schedule| page.after.as_ref().is_none_or(|after| stored.plan.name > *after);
        let mut found: Vec<Schedule> = here.filter(after).cloned().collect();
        found.sort_by(|one, other| one.plan.name.cmp(&other.plan.name));
        found.truncate(page.limit);
        Ok(found)
    }
}

impl Holds for SimStore {
    fn held(&mut self, owner: Owner) -> Result<Option<Held>, Error> {
        Ok(self.read()?.held.get(&owner).cloned())
    }

    fn all_held(&mut self, page: &Page<Owner>) -> Result<Vec<Held>, Error> {
        let state = self.read()?;
        let all = state.held.values().filter(|held| page.after.is_none_or(|after| held.owner > after));
        Ok(all.take(page.limit).cloned().collect())
    }
}

impl WriteHolds for SimStore {
    fn hold(&mut self, held: &Held) -> Result<bool, Error> {
        let mut state = self.state();
        let is_new = !state.held.contains_key(&held.owner);
        state.held.entry(held.owner).or_insert_with(|| held.clone());
        Ok(is_new)
    }

    fn release(&mut self, owner: Owner) -> Result<bool, Error> {
        Ok(self.state().held.remove(&owner).is_some())
    }

    fn note_suspect(&mut self, _: Option<NodeId>, _: Option<Owner>) -> Result<(), Error> {
        Ok(())
    }

    fn take_suspects(&mut self, _: &[NodeId]) -> Result<Vec<Suspect>, Error> {
        Ok(Vec::new())
    }

    fn forgive(&mut self, _: Owner) -> Result<(), Error> {
        Ok(())
    }
}

impl WriteAdmin for SimStore {
    fn add_workspace(&mut self, name: &str, now: Timestamp) -> Result<WorkspaceId, Error> {
        let mut state = self.state();
        let known = state.workspaces();
        if known.iter().any(|known| known.name == name) {
            return Err(Error::WorkspaceExists(name.to_owned()));
        }
        let id = WorkspaceId(u32::try_from(known.len()).unwrap_or(u32::MAX));
        state.workspaces.push(Workspace { id, name: name.to_owned(), created_at: now });
        Ok(id)
    }

    fn add_key(&mut self, _: &ApiKey) -> Result<(), Error> {
        not_simulated()
    }

    fn revoke_key(&mut self, _: KeyId, _: Timestamp) -> Result<bool, Error> {
        not_simulated()
    }

    fn touch_key(&mut self, _: KeyId, _: Timestamp) -> Result<(), Error> {
        not_simulated()
    }

    fn put_setting(&mut self, name: &str, value: &[u8]) -> Result<(), Error> {
        self.state().settings.insert(name.to_owned(), value.to_vec());
        Ok(())
    }
}

impl Store for SimStore {
    fn reader(&self) -> Result<Box<dyn Read>, Error> {
        Ok(Box::new(self.clone()))
    }

    fn tasks(&self) -> Result<Option<Box<dyn Tasks>>, Error> {
        Ok(match self.kind {
            Kind::OneWriter => None,
            Kind::Cluster => Some(Box::new(self.clone())),
        })
    }

    fn cluster(&self) -> Result<Option<Box<dyn Cluster>>, Error> {
        Ok(match self.kind {
            Kind::OneWriter => None,
            Kind::Cluster => Some(Box::new(self.clone())),
        })
    }

    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        self.write(batch)
    }

    fn culprits(&mut self, _: &Batch<'_>) -> Result<Vec<Culprit>, Error> {
        Ok(Vec::new())
    }
}

impl Tasks for SimStore {
    fn take_by_shares(
        &mut self,
        wanted: &[WantedTasks],
        _: &Shares,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error> {
        // There is one workspace in a world.
        Ok(self.read()?.take_tasks(wanted, now, until))
    }

    fn late(&mut self, now: Timestamp, until: Timestamp, limit: usize) -> Result<LateTasks, Error> {
        Ok(self.read()?.late_tasks(now, until, limit))
    }

    fn renew(&mut self, tasks: &[FoundTask], until: Timestamp) -> Result<(), Error> {
        self.read()?.renew_tasks(tasks, until);
        Ok(())
    }

    fn release(&mut self, tasks: &[FoundTask], now: Timestamp) -> Result<(), Error> {
        self.read()?.release_tasks(tasks, now);
        Ok(())
    }

    fn count(&mut self, most: usize) -> Result<TaskCounts, Error> {
        Ok(self.read()?.count_tasks(most))
    }
}

impl Cluster for SimStore {
    fn heartbeat(&mut self, node: NodeId) -> Result<Heartbeat, Error> {
        Ok(self.read()?.heartbeat(node))
    }

    fn leave(&mut self, node: NodeId) -> Result<(), Error> {
        self.state().nodes.remove(&node);
        Ok(())
    }

    /// The world says what a node hears, and when.
    fn listen(&mut self, _: Box<dyn Fn(Vec<ClusterNotification>) + Send + Sync>) -> Result<(), Error> {
        Ok(())
    }
}
