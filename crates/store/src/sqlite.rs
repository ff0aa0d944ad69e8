//! A store in one SQLite file. One process writes to it, and one connection of that process; any number of
//! [`Reader`]s look at it at the same time.
//!
//! A commit is one transaction, synced once, that touches few pages: history is only ever appended, a run's row is
//! written when the run is created and when its status or deadline changes, and a waitpoint has one narrow row.
//!
//! ```text
//!   open.rs   whose file is it, one writer       commit.rs  batches             column.rs  how values are stored
//!   list.rs   what people look for               find.rs    what engines need   forget.rs  retention
//!   admin.rs  workspaces, keys, settings         backup.rs  copies              cost.rs    what models cost
//!   schedules.rs  what is started by the clock     webhooks.rs  what others are told  tally.rs  how many there are
//!   transfer.rs   its tables as rows of values, for moves          held.rs   what is held
//!   header.rs     whether pages have checksums      acknowledged.rs   what was acknowledged     lock.rs  one writer
//! ```

mod acknowledged;
mod admin;
mod audit;
mod backup;
mod check;
mod column;
mod commit;
mod cost;
mod error;
mod find;
mod follow_ups;
mod forget;
mod header;
mod held;
mod kept;
mod list;
mod lock;
mod migrations;
mod open;
mod private;
mod repair;
mod schedules;
mod tally;
mod transfer;
mod webhooks;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::cluster::NodeId;
use crate::code_wait::{self, CodeWait};
use crate::table::MOVE;
use crate::transfer::note;
use crate::{
    ApiKey, AttemptWrite, AuditEntry, AuditHash, AuditNote, Awaits, Batch, CostRow, Culprit,
    DefinitionSummary, Delivery, DeliveryFilter, Due, Error, EventPlace, Health, Held, KeyHash, KeyPlace,
    OfRun, OldEvent, OldKey, Owner, Page, Read, RunFilter, RunSummary, Store, StoredDefinition,
    StoredFollowUp, StoredRun, StoredTimer, Suspect, Waiter, WaitpointFilter, WaitpointSummary, Webhook,
    Workspace,
};

use acknowledged::{Acknowledged, Count};
use header::Header;
use lock::Lock;

#[cfg(feature = "postgres")]
pub(crate) use backup::write_beside;
pub use open::Opening;
#[cfg(feature = "postgres")]
pub(crate) use open::new_file;
pub use repair::{Repaired, repair};
#[cfg(feature = "postgres")]
pub(crate) use transfer::{insert, settle};
pub(crate) use transfer::{look, shown};

/// The writer of a file.
pub type Sqlite = Handle<Writing>;

/// Another connection to a file, that only reads. It never holds up the writer.
pub type Reader = Handle<Reading>;

/// A connection, and what it is for.
#[derive(Debug)]
pub struct Handle<Role> {
    connection: Connection,
    role: Role,
}

#[derive(Debug)]
pub struct Reading;

#[derive(Debug)]
pub struct Writing {
    path: PathBuf,
    /// There is none where there is no file. Dropped last: after it, others may write.
    file: Option<OurFile>,
}

#[derive(Debug)]
struct OurFile {
    acknowledged: Acknowledged,
    ended_well: bool,
    _lock: Lock,
}

impl Sqlite {
    /// Opens the file, or makes one where there is none. Refuses a file that another process has, that is not
    /// ours, that a newer program wrote, or that is part of a [move](crate::transfer); it is left as it was.
    ///
    /// Refuses one that ends before the last commit that was acknowledged, too: see [`Sqlite::open_with`].
    pub fn open(path: impl AsRef<Path>) -> Result<Sqlite, Error> {
        Sqlite::open_with(path, Opening::default())
    }

    pub fn open_with(path: impl AsRef<Path>, opening: Opening) -> Result<Sqlite, Error> {
        let path = open::resolve(path.as_ref());
        let shown = path.display().to_string();
        let store = Sqlite::of_file(path, opening)?;
        note::check(&shown, admin::setting(&store.connection, MOVE)?.as_deref())?;
        Ok(store)
    }

    fn of_file(path: PathBuf, opening: Opening) -> Result<Sqlite, Error> {
        let lock = Lock::take(&path)?;
        let last = acknowledged::last(&path);
        if !opening.accept_loss
            && let Some(last) = last.filter(|last| last.number > 0 && Header::of(&path) == Header::New)
        {
            return Err(Error::Lost { path: path.display().to_string(), missing: last.number });
        }
        let ended_well = open::ended_well(&path);
        let connection = open::writer(&path)?;
        open::check_acknowledged(&connection, &path, last, opening)?;
        let noted = Acknowledged::open(&path, Count::of(&connection)?);
        let acknowledged = noted.map_err(|error| open::denied(&path, &error))?;
        let file = Some(OurFile { acknowledged, ended_well, _lock: lock });
        Ok(Handle { connection, role: Writing { path, file } })
    }

    /// One transaction. What it changes has a number, which is noted beside the store before anybody hears of it.
    fn change<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before = transaction.total_changes();
        let done = work(&transaction)?;
        if transaction.total_changes() == before {
            transaction.commit()?;
            return Ok(done);
        }
        let count = acknowledged::next(&transaction)?;
        transaction.commit()?;
        if let Some(file) = &self.role.file {
            file.acknowledged.note(count);
        }
        Ok(done)
    }

    /// A store that is gone when its last connection is.
    pub fn open_in_memory() -> Result<Sqlite, Error> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let name = format!("file:/abide-{}?vfs=memdb", OPENED.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(name);
        Ok(Handle { connection: open::writer(&path)?, role: Writing { path, file: None } })
    }

    /// Another connection, for another thread.
    pub fn reader(&self) -> Result<Reader, Error> {
        Ok(Handle { connection: open::reader(&self.role.path)?, role: Reading })
    }
}

impl Reader {
    /// Opens a file to look at it, while this or another process writes to it. Refuses what [`Sqlite::open`]
    /// refuses, except one that was moved, and a file that is not there.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, Error> {
        let path = open::resolve(path.as_ref());
        let connection = open::beside(&path)?;
        note::check_whole(&path.display().to_string(), admin::setting(&connection, MOVE)?.as_deref())?;
        Ok(Handle { connection, role: Reading })
    }
}

impl<Role: Send> Read for Handle<Role> {
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        find::load(&self.connection, run)
    }

    fn run(&mut self, run: RunId) -> Result<Option<RunSummary>, Error> {
        list::run(&self.connection, run)
    }

    fn records_after(
        &mut self,
        run: RunId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Record>, Error> {
        find::records_after(&self.connection, run, after, limit, bytes)
    }

    fn definition(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<StoredDefinition>, Error> {
        find::definition(&self.connection, workspace, name, version)
    }

    fn definition_by_id(&mut self, id: DefinitionId) -> Result<Option<StoredDefinition>, Error> {
        find::definition_by_id(&self.connection, id)
    }

    fn definitions(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<DefinitionId>,
    ) -> Result<Vec<DefinitionSummary>, Error> {
        list::definitions(&self.connection, workspace, name, page)
    }

    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        find::timers(&self.connection, after, until, limit)
    }

    fn waiters(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        find::waiters(&self.connection, workspace, event_id, after, limit)
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
        find::code_waits(&self.connection, workspace, &ranges, limit)
    }

    fn occurrences(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, OccurrenceId)>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, Error> {
        find::occurrences(&self.connection, workspace, event_id, since, after, limit)
    }

    fn events(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        page: &Page<(Timestamp, OccurrenceId)>,
    ) -> Result<Vec<Occurrence>, Error> {
        list::events(&self.connection, workspace, event_id, page)
    }

    fn awaits(&mut self, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error> {
        kept::awaits(&self.connection, workspace)
    }

    fn oldest_open(
        &mut self,
        workspace: WorkspaceId,
        definition: Option<&DefinitionRef>,
    ) -> Result<Option<RunId>, Error> {
        kept::oldest_open(&self.connection, workspace, definition)
    }

    fn old_events(
        &mut self,
        event: (WorkspaceId, Option<&str>),
        before: Timestamp,
        after: Option<EventPlace>,
        limit: usize,
    ) -> Result<Vec<OldEvent>, Error> {
        kept::old_events(&self.connection, event, before, after, limit)
    }

    fn old_keys(
        &mut self,
        before: Timestamp,
        after: Option<&KeyPlace>,
        limit: usize,
    ) -> Result<Vec<OldKey>, Error> {
        kept::old_keys(&self.connection, before, after, limit)
    }

    fn ended_runs(
        &mut self,
        before: Timestamp,
        after: (Timestamp, RunId),
        limit: usize,
    ) -> Result<Vec<(Timestamp, RunId)>, Error> {
        kept::ended_runs(&self.connection, before, after, limit)
    }

    fn owners(&mut self, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error> {
        kept::owners(&self.connection, runs, what)
    }

    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error> {
        find::remembered(&self.connection, key)
    }

    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        list::runs(&self.connection, filter, page)
    }

    fn run_ids(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunId>, Error> {
        list::run_ids(&self.connection, filter, page)
    }

    fn workspace_of(&mut self, run: RunId) -> Result<Option<WorkspaceId>, Error> {
        list::workspace_of(&self.connection, run)
    }

    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        list::waitpoints(&self.connection, filter, page)
    }

    fn stored_bytes(&mut self, workspace: WorkspaceId) -> Result<u64, Error> {
        tally::bytes(&self.connection, workspace)
    }

    fn counts(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<(RunStatus, u64)>, Error> {
        list::counts(&self.connection, workspace)
    }

    fn oldest_waiting(&mut self, workspace: WorkspaceId, limit: usize) -> Result<Vec<RunId>, Error> {
        list::oldest_waiting(&self.connection, workspace, limit)
    }

    fn open_waits(
        &mut self,
        workspace: WorkspaceId,
        kind: Kind,
        due: Due,
        limit: usize,
    ) -> Result<usize, Error> {
        list::open_waits(&self.connection, workspace, kind, due, limit)
    }

    fn costs(&mut self, workspace: WorkspaceId, from: Date, until: Date) -> Result<Vec<CostRow>, Error> {
        cost::costs(&self.connection, workspace, from, until)
    }

    fn workspaces(&mut self) -> Result<Vec<Workspace>, Error> {
        admin::workspaces(&self.connection)
    }

    fn key_by_hash(&mut self, hash: &KeyHash) -> Result<Option<ApiKey>, Error> {
        admin::key_by_hash(&self.connection, hash)
    }

    fn keys(&mut self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, Error> {
        admin::keys(&self.connection, workspace)
    }

    fn setting(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        admin::setting(&self.connection, name)
    }

    fn audit(&mut self, workspace: Option<WorkspaceId>, page: &Page<u64>) -> Result<Vec<AuditEntry>, Error> {
        audit::list(&self.connection, workspace, page)
    }

    fn audit_chain(&mut self, after: u64, limit: usize) -> Result<Vec<(u64, String, AuditHash)>, Error> {
        audit::chain(&self.connection, after, limit)
    }

    fn link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error> {
        admin::link_generation(&self.connection, waitpoint)
    }

    fn follow_ups(&mut self, not_of: &[u128], limit: usize) -> Result<Vec<StoredFollowUp>, Error> {
        follow_ups::follow_ups(&self.connection, not_of, limit)
    }

    fn descendants(&mut self, root: RunId) -> Result<u64, Error> {
        follow_ups::descendants(&self.connection, root)
    }

    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, Error> {
        schedules::schedule(&self.connection, id)
    }

    fn schedule_by_name(&mut self, workspace: WorkspaceId, name: &str) -> Result<Option<Schedule>, Error> {
        schedules::schedule_by_name(&self.connection, workspace, name)
    }

    fn schedules(&mut self, workspace: WorkspaceId, page: &Page<String>) -> Result<Vec<Schedule>, Error> {
        schedules::schedules(&self.connection, workspace, page)
    }

    fn webhooks(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<Webhook>, Error> {
        webhooks::webhooks(&self.connection, workspace)
    }

    fn webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, Error> {
        webhooks::webhook(&self.connection, id)
    }

    fn deliveries(
        &mut self,
        filter: &DeliveryFilter,
        page: &Page<DeliveryId>,
    ) -> Result<Vec<Delivery>, Error> {
        webhooks::deliveries(&self.connection, filter, page)
    }

    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Error> {
        webhooks::delivery(&self.connection, id)
    }

    fn due_deliveries(
        &mut self,
        webhook: WebhookId,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error> {
        webhooks::due_deliveries(&self.connection, webhook, until, limit)
    }

    fn held(&mut self, owner: Owner) -> Result<Option<Held>, Error> {
        held::held(&self.connection, owner)
    }

    fn all_held(&mut self, page: &Page<Owner>) -> Result<Vec<Held>, Error> {
        held::all(&self.connection, page)
    }

    fn check_pages(&mut self) -> Result<Vec<String>, Error> {
        check::pages(&self.connection)
    }

    fn backup(&mut self, to: &Path) -> Result<(), Error> {
        backup::backup(&self.connection, to)
    }
}

impl Store for Sqlite {
    fn reader(&self) -> Result<Box<dyn Read>, Error> {
        Ok(Box::new(Sqlite::reader(self)?))
    }

    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        self.change(|transaction| commit::commit(transaction, batch))
    }

    fn culprits(&mut self, batch: &Batch<'_>) -> Result<Vec<Culprit>, Error> {
        commit::culprits(&mut self.connection, batch)
    }

    fn ended_well(&self) -> bool {
        self.role.file.as_ref().is_none_or(|file| file.ended_well)
    }

    fn rewrite_waits(
        &mut self,
        owner: Owner,
        workspace: WorkspaceId,
        waits: &[&Waitpoint],
    ) -> Result<(), Error> {
        self.change(|transaction| commit::rewrite_waits(transaction, owner, workspace, waits))
    }

    fn hold(&mut self, held: &Held) -> Result<bool, Error> {
        self.change(|transaction| held::hold(transaction, held))
    }

    fn let_go(&mut self, owner: Owner) -> Result<bool, Error> {
        self.change(|transaction| held::let_go(transaction, owner))
    }

    fn note_suspect(&mut self, node: Option<NodeId>, owner: Option<Owner>) -> Result<(), Error> {
        self.change(|transaction| held::note_suspect(transaction, node, owner))
    }

    fn take_suspects(&mut self, _: &[NodeId]) -> Result<Vec<Suspect>, Error> {
        self.change(held::take_suspects)
    }

    fn forgive(&mut self, owner: Owner) -> Result<(), Error> {
        self.change(|transaction| held::forgive(transaction, owner))
    }

    fn forget_events(&mut self, events: &[OldEvent]) -> Result<usize, Error> {
        self.change(|transaction| forget::events(transaction, events))
    }

    fn forget_of(&mut self, runs: &[RunId], what: OfRun, limit: usize) -> Result<usize, Error> {
        self.change(|transaction| forget::of(transaction, runs, what, limit))
    }

    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        self.change(|transaction| forget::runs(transaction, before, limit))
    }

    fn forget_keys(&mut self, keys: &[String]) -> Result<usize, Error> {
        self.change(|transaction| forget::keys(transaction, keys))
    }

    fn forget_deliveries(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        self.change(|transaction| forget::deliveries(transaction, before, limit))
    }

    fn append_audit(&mut self, note: &AuditNote) -> Result<(), Error> {
        self.change(|transaction| audit::append(transaction, note))
    }

    fn add_workspace(&mut self, name: &str, now: Timestamp) -> Result<WorkspaceId, Error> {
        self.change(|transaction| admin::add_workspace(transaction, name, now))
    }

    fn add_key(&mut self, key: &ApiKey) -> Result<(), Error> {
        self.change(|transaction| admin::add_key(transaction, key))
    }

    fn revoke_key(&mut self, id: KeyId, now: Timestamp) -> Result<bool, Error> {
        self.change(|transaction| admin::revoke_key(transaction, id, now))
    }

    fn touch_key(&mut self, id: KeyId, now: Timestamp) -> Result<(), Error> {
        self.change(|transaction| admin::touch_key(transaction, id, now))
    }

    fn put_setting(&mut self, name: &str, value: &[u8]) -> Result<(), Error> {
        self.change(|transaction| admin::put_setting(transaction, name, value))
    }

    fn put_webhook(&mut self, webhook: &Webhook) -> Result<(), Error> {
        self.change(|transaction| webhooks::put_webhook(transaction, webhook))
    }

    fn put_health(&mut self, id: WebhookId, health: &Health, now: Timestamp) -> Result<bool, Error> {
        self.change(|transaction| webhooks::put_health(transaction, id, health, now))
    }

    fn remove_webhook(&mut self, id: WebhookId) -> Result<bool, Error> {
        self.change(|transaction| webhooks::remove_webhook(transaction, id))
    }

    fn put_attempts(&mut self, attempts: &[AttemptWrite]) -> Result<(), Error> {
        self.change(|transaction| webhooks::put_attempts(transaction, attempts))
    }

    fn replay(
        &mut self,
        webhook: WebhookId,
        one: Option<DeliveryId>,
        now: Timestamp,
    ) -> Result<usize, Error> {
        self.change(|transaction| webhooks::replay(transaction, webhook, one, now))
    }

    fn bump_link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error> {
        self.change(|transaction| admin::bump_link_generation(transaction, waitpoint))
    }
}

#[cfg(test)]
mod tests;
