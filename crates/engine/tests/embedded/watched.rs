//! A store that a test looks into: what was committed and in which order. It can be held in the middle of a commit,
//! and told to fail.

#![allow(dead_code, reason = "more than one suite uses it, each some of it")]

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use abide_core::capacity::{Limit, LimitSettings};
use abide_core::command::Event;
use abide_core::history::{DefinitionRef, Record};
use abide_core::id::{
    DefinitionId, DeliveryId, EventUid, KeyId, LimitId, RunId, ScheduleId, WaitpointId, WebhookId,
    WorkspaceId,
};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::run::Snapshot;
use abide_core::schedule::Schedule;
use abide_core::status::RunStatus;
use abide_core::waitpoint::{Kind, Waitpoint};
use abide_store::cluster::{Cluster, NodeId};
use abide_store::roles::*;
use abide_store::tasks::{TaskQueue, Tasks};
use abide_store::{
    ApiKey, AttemptWrite, AuditEntry, AuditHash, AuditNote, Awaits, Batch, CodeWait, CostRow, Culprit,
    DefinitionSummary, Delivery, DeliveryFilter, Due, Error, EventPlace, EventStarter, Health, Held, InLine,
    KeyHash, KeyPlace, LimitFigures, LimitPlace, OfRun, OldEvent, OldKey, Owner, Page, PressurePlace, Read,
    RunFilter, RunSummary, Store, StoredDefinition, StoredFollowUp, StoredRun, StoredTimer, Suspect, Update,
    Waiter, WaitpointFilter, WaitpointSummary, Webhook, Workspace,
};
use jiff::Timestamp;
use jiff::civil::Date;

/// The test's end of it. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Watch(Arc<(Mutex<Seen>, Condvar)>);

#[derive(Default)]
struct Seen {
    commits: Vec<Vec<RunId>>,
    timer_reads: usize,
    disk_is_full: bool,
    failing_loads: usize,
    /// Runs that cannot be read.
    unreadable: Vec<RunId>,
    /// Runs whose snapshots cannot be read.
    unreadable_snapshots: Vec<RunId>,
    /// Runs that no batch with them can be written of.
    unwritable: Vec<RunId>,
    held: bool,
    at_gate: usize,
    has_several_writers: bool,
    permits: usize,
    looked_at: usize,
    forgetting: Vec<Duration>,
}

impl Watch {
    pub(crate) fn store(&self, inner: Box<dyn Store>) -> Box<dyn Store> {
        Box::new(Watched { inner, watch: self.clone() })
    }

    /// The same, with as many writers as the store has.
    pub(crate) fn store_with_writers(&self, inner: Box<dyn Store>) -> Box<dyn Store> {
        self.change(|seen| seen.has_several_writers = true);
        self.store(inner)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.0.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen());
        self.0.1.notify_all();
    }

    /// The runs of each commit since the last time this was asked, in their order.
    pub(crate) fn commits(&self) -> Vec<Vec<RunId>> {
        std::mem::take(&mut self.seen().commits)
    }

    /// From here on these runs cannot be read.
    pub(crate) fn damage(&self, runs: &[RunId]) {
        self.seen().unreadable = runs.to_vec();
    }

    /// From here on the snapshots of these runs cannot be read.
    pub(crate) fn damage_snapshots(&self, runs: &[RunId]) {
        self.seen().unreadable_snapshots = runs.to_vec();
    }

    pub(crate) fn reader(&self, inner: Box<dyn Read>) -> Box<dyn Read> {
        Box::new(Watched { inner, watch: self.clone() })
    }

    /// From here on nothing can be written of these runs.
    pub(crate) fn damage_writes(&self, runs: &[RunId]) {
        self.seen().unwritable = runs.to_vec();
    }

    fn check(&self, batch: &Batch<'_>) -> Result<(), Error> {
        let unwritable = &self.seen().unwritable;
        match batch.runs.iter().any(|write| unwritable.contains(&write.run.id)) {
            true => Err(Error::Corrupt("something of it cannot be written".to_owned())),
            false => Ok(()),
        }
    }

    pub(crate) fn timer_reads(&self) -> usize {
        self.seen().timer_reads
    }

    /// Events, keys and ended runs that retention has looked at since the last time this was asked, and how long the writer
    /// was at each removal.
    pub(crate) fn swept(&self) -> (usize, Vec<Duration>) {
        let mut seen = self.seen();
        (std::mem::take(&mut seen.looked_at), std::mem::take(&mut seen.forgetting))
    }

    /// From here on no commit goes through by itself.
    pub(crate) fn hold(&self) {
        self.change(|seen| seen.held = true);
    }

    /// Waits until a commit is held, after the last one that was let through.
    pub(crate) fn wait_for_commit(&self) {
        self.wait_for_commits(1);
    }

    /// The same of several.
    pub(crate) fn wait_for_commits(&self, count: usize) {
        let waits = |seen: &mut Seen| seen.at_gate < count || seen.permits > 0;
        drop(self.0.1.wait_while(self.seen(), waits).unwrap());
    }

    pub(crate) fn let_one_through(&self) {
        self.change(|seen| seen.permits += 1);
    }

    pub(crate) fn let_all_through(&self) {
        self.change(|seen| seen.held = false);
    }

    /// The next runs that are loaded cannot be read.
    pub(crate) fn fail_loads(&self, count: usize) {
        self.change(|seen| seen.failing_loads = count);
    }

    /// Whether nothing can be written, until it is said otherwise.
    pub(crate) fn fill_disk(&self, is_full: bool) {
        self.change(|seen| seen.disk_is_full = is_full);
    }

    fn load(&self) -> Result<(), Error> {
        let mut seen = self.seen();
        if seen.failing_loads == 0 {
            return Ok(());
        }
        seen.failing_loads -= 1;
        Err(Error::Unavailable("it was told to fail".to_owned()))
    }

    fn write(&self) -> Result<(), Error> {
        if self.seen().disk_is_full {
            return Err(Error::Unavailable("the disk is full".to_owned()));
        }
        Ok(())
    }

    fn pass_gate(&self) {
        let mut seen = self.seen();
        seen.at_gate += 1;
        self.0.1.notify_all();
        seen = self.0.1.wait_while(seen, |seen| seen.held && seen.permits == 0).unwrap();
        seen.permits = seen.permits.saturating_sub(1);
        seen.at_gate -= 1;
    }
}

struct Watched<S> {
    inner: S,
    watch: Watch,
}

/// Roles that a watched store passes on as they are.
macro_rules! pass_on {
    ($($role:ident { $($name:ident($($argument:ident: $type:ty),*) -> $found:ty;)* })*) => {
        $(impl<S: Read + ?Sized> $role for Watched<Box<S>> {
            $(fn $name(&mut self, $($argument: $type),*) -> Result<$found, Error> {
                self.inner.$name($($argument),*)
            })*
        })*
    };
}

pass_on! {
    Definitions {
        definition(workspace: WorkspaceId, name: &str, version: Option<&str>) -> Option<StoredDefinition>;
        definition_by_id(id: DefinitionId) -> Option<StoredDefinition>;
        definitions(
            workspace: WorkspaceId, name: Option<&str>, page: &Page<DefinitionId>
        ) -> Vec<DefinitionSummary>;
    }
    Events {
        waiters(
            workspace: WorkspaceId, event: &str, after: Option<(Timestamp, WaitpointId)>, limit: usize
        ) -> Vec<Waiter>;
        events_since(
            workspace: WorkspaceId, event: &str, since: Timestamp, after: Option<(Timestamp, EventUid)>,
            limit: usize
        ) -> Vec<Event>;
        events(
            workspace: WorkspaceId, event: Option<&str>, page: &Page<(Timestamp, EventUid)>
        ) -> Vec<Event>;
    }
    EventStarts {
        event_starts(
            workspace: WorkspaceId, event: Option<&str>, after: Option<(&str, &str)>, limit: usize
        ) -> Vec<EventStarter>;
    }
    CodeWaits {
        code_waits(
            workspace: WorkspaceId, handler: &str, build: &str, after: Option<&CodeWait>, limit: usize
        ) -> Vec<CodeWait>;
    }
    Idempotency {
        idempotency_record(key: &str) -> Option<IdempotencyRecord>;
    }
    FollowUps {
        follow_ups(not_of: &[u128], limit: usize) -> Vec<StoredFollowUp>;
        descendants(root: RunId) -> u64;
    }
    Schedules {
        schedule(id: ScheduleId) -> Option<Schedule>;
        schedule_by_name(workspace: WorkspaceId, name: &str) -> Option<Schedule>;
        schedules(workspace: WorkspaceId, page: &Page<String>) -> Vec<Schedule>;
    }
    Limits {
        limit(id: LimitId) -> Option<Limit>;
        limits(workspace: WorkspaceId, name: Option<&str>, page: &Page<LimitPlace>) -> Vec<Limit>;
        limits_by_pressure(
            workspace: WorkspaceId, name: Option<&str>, page: &Page<PressurePlace>
        ) -> Vec<Limit>;
        limit_figures(limit: usize) -> Vec<LimitFigures>;
        limit_settings(id: LimitId) -> Option<LimitSettings>;
        all_limit_settings(workspace: WorkspaceId, name: Option<&str>, limit: usize) -> Vec<LimitSettings>;
        line(id: LimitId, after: Option<&InLine>, limit: usize) -> Vec<InLine>;
    }
    Lists {
        run(run: RunId) -> Option<RunSummary>;
        runs(filter: &RunFilter, page: &Page<RunId>) -> Vec<RunSummary>;
        waitpoints(
            filter: &WaitpointFilter, page: &Page<(Option<Timestamp>, WaitpointId)>
        ) -> Vec<WaitpointSummary>;
        counts(workspace: Option<WorkspaceId>) -> Vec<(RunStatus, u64)>;
        oldest_waiting(workspace: WorkspaceId, limit: usize) -> Vec<RunId>;
        open_waits(workspace: WorkspaceId, kind: Kind, due: Due, limit: usize) -> usize;
        task_queues(limit: usize) -> Option<Vec<TaskQueue>>;
        stored_bytes(workspace: WorkspaceId) -> u64;
    }
    Costs {
        costs(workspace: WorkspaceId, from: Date, until: Date) -> Vec<CostRow>;
    }
    Webhooks {
        webhooks(workspace: Option<WorkspaceId>) -> Vec<Webhook>;
        webhook(id: WebhookId) -> Option<Webhook>;
        deliveries(filter: &DeliveryFilter, page: &Page<DeliveryId>) -> Vec<Delivery>;
        delivery(id: DeliveryId) -> Option<Delivery>;
        due_deliveries(webhook: WebhookId, until: Timestamp, limit: usize) -> Vec<Delivery>;
    }
    Links {
        link_generation(waitpoint: WaitpointId) -> u32;
    }
    Admin {
        workspaces() -> Vec<Workspace>;
        key_by_hash(hash: &KeyHash) -> Option<ApiKey>;
        keys(workspace: WorkspaceId) -> Vec<ApiKey>;
        setting(name: &str) -> Option<Vec<u8>>;
    }
    Audit {
        audit(workspace: Option<WorkspaceId>, page: &Page<u64>) -> Vec<AuditEntry>;
        audit_chain(after: u64, limit: usize) -> Vec<(u64, String, AuditHash)>;
    }
    Holds {
        held(owner: Owner) -> Option<Held>;
        all_held(page: &Page<Owner>) -> Vec<Held>;
    }
    Maintenance {
        backup(to: &Path) -> ();
    }
}

impl<S: Read + ?Sized> Histories for Watched<Box<S>> {
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        self.watch.load()?;
        if self.watch.seen().unreadable.contains(&run) {
            return Err(Error::Damaged { owner: run, what: "it was told to be damaged".to_owned() });
        }
        self.inner.load(run)
    }

    fn updates(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Update)>, Error> {
        self.watch.load()?;
        let mut updates = self.inner.updates(known)?;
        let seen = self.watch.seen();
        for (run, update) in updates.iter_mut().filter(|(run, _)| seen.unreadable.contains(run)) {
            *update = Err(Error::Damaged { owner: *run, what: "it was told to be damaged".to_owned() });
        }
        Ok(updates)
    }

    fn snapshot(&mut self, run: RunId) -> Result<Option<Snapshot>, Error> {
        if self.watch.seen().unreadable_snapshots.contains(&run) {
            return Err(Error::Damaged { owner: run, what: "it was told to be damaged".to_owned() });
        }
        self.inner.snapshot(run)
    }

    fn records_after(
        &mut self,
        run: RunId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Record>, Error> {
        self.inner.records_after(run, after, limit, bytes)
    }

    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
        self.inner.versions(runs)
    }
}

impl<S: Read + ?Sized> Timers for Watched<Box<S>> {
    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        self.watch.seen().timer_reads += 1;
        self.inner.timers(after, until, limit)
    }
}

impl<S: Read + ?Sized> Retention for Watched<Box<S>> {
    fn awaits(&mut self, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error> {
        self.inner.awaits(workspace)
    }

    fn oldest_open(
        &mut self,
        workspace: WorkspaceId,
        definition: Option<&DefinitionRef>,
    ) -> Result<Option<RunId>, Error> {
        self.inner.oldest_open(workspace, definition)
    }

    fn owners(&mut self, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error> {
        self.inner.owners(runs, what)
    }

    fn old_events(
        &mut self,
        event: (WorkspaceId, Option<&str>),
        before: Timestamp,
        after: Option<EventPlace>,
        limit: usize,
    ) -> Result<Vec<OldEvent>, Error> {
        let found = self.inner.old_events(event, before, after, limit)?;
        self.watch.seen().looked_at += found.len();
        Ok(found)
    }

    fn old_keys(
        &mut self,
        before: Timestamp,
        after: Option<&KeyPlace>,
        limit: usize,
    ) -> Result<Vec<OldKey>, Error> {
        let found = self.inner.old_keys(before, after, limit)?;
        self.watch.seen().looked_at += found.len();
        Ok(found)
    }

    fn ended_runs(
        &mut self,
        before: Timestamp,
        after: (Timestamp, RunId),
        limit: usize,
    ) -> Result<Vec<(Timestamp, RunId)>, Error> {
        let found = self.inner.ended_runs(before, after, limit)?;
        self.watch.seen().looked_at += found.len();
        Ok(found)
    }
}

impl Store for Watched<Box<dyn Store>> {
    fn reader(&self) -> Result<Box<dyn Read>, Error> {
        let inner = self.inner.reader()?;
        Ok(Box::new(Watched { inner, watch: self.watch.clone() }))
    }

    fn another(&self) -> Result<Option<Box<dyn Store>>, Error> {
        if !self.watch.seen().has_several_writers {
            return Ok(None);
        }
        let another = self.inner.another()?;
        Ok(another.map(|inner| Box::new(Watched { inner, watch: self.watch.clone() }) as Box<dyn Store>))
    }

    fn tasks(&self) -> Result<Option<Box<dyn Tasks>>, Error> {
        self.inner.tasks()
    }

    fn cluster(&self) -> Result<Option<Box<dyn Cluster>>, Error> {
        self.inner.cluster()
    }

    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        self.watch.pass_gate();
        self.watch.write()?;
        self.watch.check(batch)?;
        self.inner.commit(batch)?;
        self.watch.seen().commits.push(batch.runs.iter().map(|write| write.run.id).collect());
        Ok(())
    }

    fn culprits(&mut self, batch: &Batch<'_>) -> Result<Vec<Culprit>, Error> {
        let unwritable = self.watch.seen().unwritable.clone();
        let runs = batch.runs.iter().map(|write| write.run.id).filter(|run| unwritable.contains(run));
        Ok(runs
            .map(|run| Culprit { owner: Owner::Run(run), why: "it cannot be written".to_owned() })
            .collect())
    }
}

/// Roles that write, as long as the disk is not full.
macro_rules! write_through {
    ($($role:ident { $($name:ident($($argument:ident: $type:ty),*) -> $done:ty;)* })*) => {
        $(impl $role for Watched<Box<dyn Store>> {
            $(fn $name(&mut self, $($argument: $type),*) -> Result<$done, Error> {
                self.watch.write()?;
                let begun = Instant::now();
                let done = self.inner.$name($($argument),*);
                if stringify!($name).starts_with("forget") {
                    self.watch.seen().forgetting.push(begun.elapsed());
                }
                done
            })*
        })*
    };
}

write_through! {
    WriteAudit {
        append_audit(note: &AuditNote) -> ();
    }
    WriteMaintenance {
        rewrite_waits(owner: Owner, workspace: WorkspaceId, waits: &[&Waitpoint]) -> ();
        fold() -> ();
    }
    WriteHolds {
        hold(held: &Held) -> bool;
        release(owner: Owner) -> bool;
        note_suspect(node: Option<NodeId>, owner: Option<Owner>) -> ();
        take_suspects(alive: &[NodeId]) -> Vec<Suspect>;
        forgive(owner: Owner) -> ();
    }
    WriteRetention {
        forget_events(events: &[OldEvent]) -> usize;
        forget_of(runs: &[RunId], what: OfRun, limit: usize) -> usize;
        forget_runs(before: Timestamp, limit: usize) -> usize;
        forget_keys(keys: &[String]) -> usize;
        forget_deliveries(before: Timestamp, limit: usize) -> usize;
    }
    WriteAdmin {
        add_workspace(name: &str, now: Timestamp) -> WorkspaceId;
        add_key(key: &ApiKey) -> ();
        revoke_key(id: KeyId, now: Timestamp) -> bool;
        touch_key(id: KeyId, now: Timestamp) -> ();
        put_setting(name: &str, value: &[u8]) -> ();
    }
    WriteWebhooks {
        put_webhook(webhook: &Webhook) -> ();
        put_health(id: WebhookId, health: &Health, now: Timestamp) -> bool;
        remove_webhook(id: WebhookId) -> bool;
        put_attempts(attempts: &[AttemptWrite]) -> ();
        replay(webhook: WebhookId, one: Option<DeliveryId>, now: Timestamp) -> usize;
    }
    WriteLinks {
        bump_link_generation(waitpoint: WaitpointId) -> u32;
    }
}
