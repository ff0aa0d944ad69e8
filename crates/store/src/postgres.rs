//! A store in a PostgreSQL database. Any number of processes write to it at the same time: a commit is a
//! compare-and-set on the runs it changes, and commits of different runs do not wait for each other.
//!
//! A commit is one transaction, most often of a single statement of many rows. If the connection is lost before the answer
//! comes, a row that is written with it tells how it ended.
//!
//! Everything is in the schema `abide` of the database.
//!
//! ```text
//!   open.rs   whose database is it               commit.rs  batches             column.rs  how values are stored
//!   list.rs   what people look for               find.rs    what engines need   forget.rs  retention
//!   admin.rs  workspaces, keys, settings         backup.rs  copies              link.rs    connections
//!   cost.rs   what models used up                schedules.rs, webhooks.rs
//!   looks.rs  events and waits that begin at the same time
//!   figures.rs  what measures itself asks a server
//!   tasks.rs  the tasks that are out   cluster.rs  who is there   notifications.rs  of what is committed
//!   tls.rs    connections that are encrypted
//!   transfer.rs  its tables as rows of values, for backups and moves
//! ```

mod admin;
mod audit;
mod backup;
mod cluster;
mod column;
mod commit;
mod cost;
mod error;
mod figures;
mod find;
mod follow_ups;
mod forget;
mod held;
mod kept;
mod link;
mod list;
mod looks;
mod migrations;
mod notifications;
mod open;
mod schedules;
mod tasks;
mod tls;
mod transfer;
mod waits;
mod webhooks;

use std::path::Path;

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::history::{DefinitionRef, Record};
use abide_core::id::{
    DefinitionId, DeliveryId, KeyId, OccurrenceId, RunId, ScheduleId, WaitpointId, WebhookId, WorkspaceId,
};
use abide_core::schedule::Schedule;
use abide_core::status::RunStatus;
use abide_core::waitpoint::{Kind, Waitpoint};
use jiff::Timestamp;
use jiff::civil::Date;

use crate::cluster::{Cluster, NodeId};
use crate::code_wait::{self, CodeWait};
use crate::table::MOVE;
use crate::tasks::Tasks;
use crate::transfer::note;
use crate::{
    ApiKey, AttemptWrite, AuditEntry, AuditHash, AuditNote, Awaits, Batch, CostRow, Culprit,
    DefinitionSummary, Delivery, DeliveryFilter, Due, Error, EventName, EventPlace, Health, Held, KeyHash,
    KeyPlace, Loaded, OfRun, OldEvent, OldKey, Owner, Page, Read, RunFilter, RunSummary, Store,
    StoredDefinition, StoredFollowUp, StoredRun, StoredTimer, Suspect, Waiter, WaitpointFilter,
    WaitpointSummary, Webhook, Workspace,
};
use link::Link;

pub use figures::Figures;
pub use link::Sent;
pub(crate) use transfer::look;

/// A writer of a database, one of any number.
///
/// If the connection is lost while a batch is committed, the store connects again and asks how the commit ended. Only
/// if the database stays away for half a minute does [`Store::commit`] fail without knowing; its error says so.
pub type Postgres = Handle<Writing>;

/// Another connection to a database, that only reads.
pub type Reader = Handle<Reading>;

/// A connection, and what it is for.
#[derive(Debug)]
pub struct Handle<Role> {
    link: Link,
    role: Role,
}

#[derive(Debug)]
pub struct Reading;

#[derive(Debug, Default)]
pub struct Writing {
    last: Option<commit::Mark>,
}

/// For what is lost in a crash of the server without harm: leases and heartbeats.
#[derive(Debug)]
pub struct Unsynced;

/// An address as it may be shown: without its password.
pub fn shown(address: &str) -> String {
    open::shown(address)
}

impl Postgres {
    /// Opens the database at an address like `postgresql://user:password@host:5432/database`, and makes our schema in
    /// it where there is none. Refuses a database in which another program has one of this name, that a newer program
    /// wrote, or that is part of a [move](crate::transfer); it is left as it was.
    pub fn open(address: &str) -> Result<Postgres, Error> {
        let mut link = open::open(address)?;
        note::check(&shown(address), admin::setting(&mut link, MOVE)?.as_deref())?;
        Ok(Handle { link, role: Writing::default() })
    }

    /// Counts the statements that are sent from here on, by readers and all others that come of this store, too.
    pub fn sent(&self) -> Sent {
        self.link.driver.statements()
    }

    /// What the server and the database say of themselves.
    pub fn figures(&mut self) -> Result<Figures, Error> {
        figures::figures(&mut self.link)
    }

    /// Another connection, for another thread.
    pub fn reader(&self) -> Reader {
        Handle { link: self.link.reading(), role: Reading }
    }
}

impl Reader {
    /// Opens a database to look at it, while others work on it. Refuses what [`Postgres::open`] refuses, except one that
    /// was moved, and a database without a store.
    pub fn open(address: &str) -> Result<Reader, Error> {
        let nothing = || {
            let why = "there is no store in it".to_owned();
            Error::Unusable { path: shown(address), why, what_to_do: "check the address" }
        };
        let mut reader = look(address)?.ok_or_else(nothing)?;
        note::check_whole(&shown(address), reader.setting(MOVE)?.as_deref())?;
        Ok(reader)
    }
}

impl<Role: Send> Read for Handle<Role> {
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        find::load(&mut self.link, run)
    }

    fn run(&mut self, run: RunId) -> Result<Option<RunSummary>, Error> {
        list::run(&mut self.link, run)
    }

    fn records_after(
        &mut self,
        run: RunId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Record>, Error> {
        find::records_after(&mut self.link, run, after, limit, bytes)
    }

    fn load_changed(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Loaded)>, Error> {
        find::load_changed(&mut self.link, known)
    }

    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
        find::versions(&mut self.link, runs)
    }

    fn definition(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<StoredDefinition>, Error> {
        find::definition(&mut self.link, workspace, name, version)
    }

    fn definition_by_id(&mut self, id: DefinitionId) -> Result<Option<StoredDefinition>, Error> {
        find::definition_by_id(&mut self.link, id)
    }

    fn definitions(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<DefinitionId>,
    ) -> Result<Vec<DefinitionSummary>, Error> {
        list::definitions(&mut self.link, workspace, name, page)
    }

    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        find::timers(&mut self.link, after, until, limit)
    }

    fn waiters(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        find::waiters(&mut self.link, workspace, event_id, after, limit)
    }

    fn code_waits(
        &mut self,
        workspace: WorkspaceId,
        handler: &str,
        build: &str,
        after: Option<&CodeWait>,
        limit: usize,
    ) -> Result<Vec<CodeWait>, Error> {
        let ranges = code_wait::ranges(handler, build, after);
        find::code_waits(&mut self.link, workspace, &ranges, limit)
    }

    fn occurrences(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, OccurrenceId)>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, Error> {
        find::occurrences(&mut self.link, workspace, event_id, since, after, limit)
    }

    fn waiters_of(&mut self, events: &[EventName<'_>], limit: usize) -> Result<Vec<Vec<Waiter>>, Error> {
        find::waiters_of(&mut self.link, events, limit)
    }

    fn occurrences_of(
        &mut self,
        events: &[(EventName<'_>, Timestamp)],
        limit: usize,
    ) -> Result<Vec<Vec<Occurrence>>, Error> {
        find::occurrences_of(&mut self.link, events, limit)
    }

    fn events(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        page: &Page<(Timestamp, OccurrenceId)>,
    ) -> Result<Vec<Occurrence>, Error> {
        list::events(&mut self.link, workspace, event_id, page)
    }

    fn awaits(&mut self, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error> {
        kept::awaits(&mut self.link, workspace)
    }

    fn oldest_open(
        &mut self,
        workspace: WorkspaceId,
        definition: Option<&DefinitionRef>,
    ) -> Result<Option<RunId>, Error> {
        kept::oldest_open(&mut self.link, workspace, definition)
    }

    fn old_events(
        &mut self,
        event: (WorkspaceId, Option<&str>),
        before: Timestamp,
        after: Option<EventPlace>,
        limit: usize,
    ) -> Result<Vec<OldEvent>, Error> {
        kept::old_events(&mut self.link, event, before, after, limit)
    }

    fn old_keys(
        &mut self,
        before: Timestamp,
        after: Option<&KeyPlace>,
        limit: usize,
    ) -> Result<Vec<OldKey>, Error> {
        kept::old_keys(&mut self.link, before, after, limit)
    }

    fn ended_runs(
        &mut self,
        before: Timestamp,
        after: (Timestamp, RunId),
        limit: usize,
    ) -> Result<Vec<(Timestamp, RunId)>, Error> {
        kept::ended_runs(&mut self.link, before, after, limit)
    }

    fn owners(&mut self, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error> {
        kept::owners(&mut self.link, runs, what)
    }

    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error> {
        find::remembered(&mut self.link, key)
    }

    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        list::runs(&mut self.link, filter, page)
    }

    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        list::waitpoints(&mut self.link, filter, page)
    }

    fn stored_bytes(&mut self, workspace: WorkspaceId) -> Result<u64, Error> {
        list::stored_bytes(&mut self.link, workspace)
    }

    fn counts(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<(RunStatus, u64)>, Error> {
        list::counts(&mut self.link, workspace)
    }

    fn oldest_waiting(&mut self, workspace: WorkspaceId, limit: usize) -> Result<Vec<RunId>, Error> {
        list::oldest_waiting(&mut self.link, workspace, limit)
    }

    fn open_waits(
        &mut self,
        workspace: WorkspaceId,
        kind: Kind,
        due: Due,
        limit: usize,
    ) -> Result<usize, Error> {
        list::open_waits(&mut self.link, workspace, kind, due, limit)
    }

    fn costs(&mut self, workspace: WorkspaceId, from: Date, until: Date) -> Result<Vec<CostRow>, Error> {
        cost::costs(&mut self.link, workspace, from, until)
    }

    fn follow_ups(&mut self, not_of: &[u128], limit: usize) -> Result<Vec<StoredFollowUp>, Error> {
        follow_ups::follow_ups(&mut self.link, not_of, limit)
    }

    fn descendants(&mut self, root: RunId) -> Result<u64, Error> {
        follow_ups::descendants(&mut self.link, root)
    }

    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, Error> {
        schedules::schedule(&mut self.link, id)
    }

    fn schedule_by_name(&mut self, workspace: WorkspaceId, name: &str) -> Result<Option<Schedule>, Error> {
        schedules::schedule_by_name(&mut self.link, workspace, name)
    }

    fn schedules(&mut self, workspace: WorkspaceId, page: &Page<String>) -> Result<Vec<Schedule>, Error> {
        schedules::schedules(&mut self.link, workspace, page)
    }

    fn webhooks(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<Webhook>, Error> {
        webhooks::webhooks(&mut self.link, workspace)
    }

    fn webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, Error> {
        webhooks::webhook(&mut self.link, id)
    }

    fn deliveries(
        &mut self,
        filter: &DeliveryFilter,
        page: &Page<DeliveryId>,
    ) -> Result<Vec<Delivery>, Error> {
        webhooks::deliveries(&mut self.link, filter, page)
    }

    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Error> {
        webhooks::delivery(&mut self.link, id)
    }

    fn due_deliveries(
        &mut self,
        webhook: WebhookId,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error> {
        webhooks::due_deliveries(&mut self.link, webhook, until, limit)
    }

    fn workspaces(&mut self) -> Result<Vec<Workspace>, Error> {
        admin::workspaces(&mut self.link)
    }

    fn key_by_hash(&mut self, hash: &KeyHash) -> Result<Option<ApiKey>, Error> {
        admin::key_by_hash(&mut self.link, hash)
    }

    fn keys(&mut self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, Error> {
        admin::keys(&mut self.link, workspace)
    }

    fn setting(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        admin::setting(&mut self.link, name)
    }

    fn audit(&mut self, workspace: Option<WorkspaceId>, page: &Page<u64>) -> Result<Vec<AuditEntry>, Error> {
        audit::list(&mut self.link, workspace, page)
    }

    fn audit_chain(&mut self, after: u64, limit: usize) -> Result<Vec<(u64, String, AuditHash)>, Error> {
        audit::chain(&mut self.link, after, limit)
    }

    fn link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error> {
        admin::link_generation(&mut self.link, waitpoint)
    }

    fn held(&mut self, owner: Owner) -> Result<Option<Held>, Error> {
        held::held(&mut self.link, owner)
    }

    fn all_held(&mut self, page: &Page<Owner>) -> Result<Vec<Held>, Error> {
        held::all(&mut self.link, page)
    }

    fn check_pages(&mut self) -> Result<Vec<String>, Error> {
        let sql = "SELECT current_setting('data_checksums')";
        let row = self.link.ask(async |session| session.one(sql, &[]).await)?;
        let is_on = row.try_get::<_, &str>(0)? == "on";
        let advice = "the database keeps no checksums of its pages (data_checksums is off): damage below it may go \
                      unnoticed; turn them on with pg_checksums";
        Ok(if is_on { Vec::new() } else { vec![advice.to_owned()] })
    }

    fn backup(&mut self, to: &Path) -> Result<(), Error> {
        backup::backup(&mut self.link, to)
    }
}

impl Store for Postgres {
    fn reader(&self) -> Result<Box<dyn Read>, Error> {
        Ok(Box::new(Postgres::reader(self)))
    }

    fn another(&self) -> Result<Option<Box<dyn Store>>, Error> {
        let mut link = self.link.writing();
        link.connect()?;
        Ok(Some(Box::new(Handle { link, role: Writing::default() })))
    }

    fn tasks(&self) -> Result<Option<Box<dyn Tasks>>, Error> {
        Ok(Some(Box::new(Handle { link: self.link.unsynced(), role: Unsynced })))
    }

    fn cluster(&self) -> Result<Option<Box<dyn Cluster>>, Error> {
        Ok(Some(Box::new(Handle { link: self.link.unsynced(), role: Unsynced })))
    }

    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        commit::commit(&mut self.link, &mut self.role.last, batch)
    }

    fn culprits(&mut self, batch: &Batch<'_>) -> Result<Vec<Culprit>, Error> {
        commit::culprits(&mut self.link, &mut self.role.last, batch)
    }

    fn rewrite_waits(
        &mut self,
        owner: Owner,
        workspace: WorkspaceId,
        waits: &[&Waitpoint],
    ) -> Result<(), Error> {
        waits::rewrite(&mut self.link, owner, workspace, waits)
    }

    fn hold(&mut self, held: &Held) -> Result<bool, Error> {
        held::hold(&mut self.link, held)
    }

    fn let_go(&mut self, owner: Owner) -> Result<bool, Error> {
        held::let_go(&mut self.link, owner)
    }

    fn note_suspect(&mut self, node: Option<NodeId>, owner: Option<Owner>) -> Result<(), Error> {
        held::note_suspect(&mut self.link, node, owner)
    }

    fn take_suspects(&mut self, alive: &[NodeId]) -> Result<Vec<Suspect>, Error> {
        held::take_suspects(&mut self.link, alive)
    }

    fn forgive(&mut self, owner: Owner) -> Result<(), Error> {
        held::forgive(&mut self.link, owner)
    }

    fn fold(&mut self) -> Result<(), Error> {
        forget::fold(&mut self.link)
    }

    fn forget_events(&mut self, events: &[OldEvent]) -> Result<usize, Error> {
        forget::events(&mut self.link, events)
    }

    fn forget_of(&mut self, runs: &[RunId], what: OfRun, limit: usize) -> Result<usize, Error> {
        forget::of(&mut self.link, runs, what, limit)
    }

    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        forget::runs(&mut self.link, before, limit)
    }

    fn forget_keys(&mut self, keys: &[String]) -> Result<usize, Error> {
        forget::keys(&mut self.link, keys)
    }

    fn forget_deliveries(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        forget::deliveries(&mut self.link, before, limit)
    }

    fn put_webhook(&mut self, webhook: &Webhook) -> Result<(), Error> {
        webhooks::put_webhook(&mut self.link, webhook)
    }

    fn put_health(&mut self, id: WebhookId, health: &Health, now: Timestamp) -> Result<bool, Error> {
        webhooks::put_health(&mut self.link, id, health, now)
    }

    fn remove_webhook(&mut self, id: WebhookId) -> Result<bool, Error> {
        webhooks::remove_webhook(&mut self.link, id)
    }

    fn put_attempts(&mut self, attempts: &[AttemptWrite]) -> Result<(), Error> {
        webhooks::put_attempts(&mut self.link, attempts)
    }

    fn replay(
        &mut self,
        webhook: WebhookId,
        one: Option<DeliveryId>,
        now: Timestamp,
    ) -> Result<usize, Error> {
        webhooks::replay(&mut self.link, webhook, one, now)
    }

    fn append_audit(&mut self, note: &AuditNote) -> Result<(), Error> {
        audit::append(&mut self.link, note)
    }

    fn add_workspace(&mut self, name: &str, now: Timestamp) -> Result<WorkspaceId, Error> {
        admin::add_workspace(&mut self.link, name, now)
    }

    fn add_key(&mut self, key: &ApiKey) -> Result<(), Error> {
        admin::add_key(&mut self.link, key)
    }

    fn revoke_key(&mut self, id: KeyId, now: Timestamp) -> Result<bool, Error> {
        admin::revoke_key(&mut self.link, id, now)
    }

    fn touch_key(&mut self, id: KeyId, now: Timestamp) -> Result<(), Error> {
        admin::touch_key(&mut self.link, id, now)
    }

    fn put_setting(&mut self, name: &str, value: &[u8]) -> Result<(), Error> {
        admin::put_setting(&mut self.link, name, value)
    }

    fn change_setting(&mut self, name: &str, was: Option<&[u8]>, value: &[u8]) -> Result<bool, Error> {
        admin::change_setting(&mut self.link, name, was, value)
    }

    fn bump_link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error> {
        admin::bump_link_generation(&mut self.link, waitpoint)
    }
}

#[cfg(test)]
pub(crate) mod tests;
