//! Where runs are kept. A [`Store`] takes batches and answers reads; it does not know why a row changes, and it
//! decides nothing.
//!
//! The truth about a run is its history, kept in chunks of one commit each. Everything else is there to find runs:
//! a summary row for each run, a row for each waitpoint. A run is loaded by replaying its chunks.
//!
//! ```text
//!   engine ── Batch ──▶ commit: history chunks · run rows · waitpoint rows · events · keys    one synced transaction
//!          ◀── reads ── load · due timers · waiters of an event · lists
//! ```
//!
//! Names, events and lists are looked up within a workspace. Timers are everybody's.

pub mod audit;
mod chunk;
pub mod cluster;
mod code;
mod code_wait;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod error;
mod follow_up;
mod held;
mod kept;
mod key;
mod list;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;
mod table;
pub mod tasks;
pub mod transfer;
mod waits;
mod webhook;

use std::collections::BTreeSet;
use std::path::Path;

use abide_core::command::Occurrence;
use abide_core::definition::AwaitedEvent;
use abide_core::door::Remembered;
use abide_core::history::{Change, DefinitionRef, Record};
use abide_core::id::{
    DefinitionId, DeliveryId, KeyId, OccurrenceId, RunId, ScheduleId, WaitpointId, WebhookId, WorkspaceId,
};
use abide_core::run::{Run, Timer};
use abide_core::schedule::Schedule;
use abide_core::spent::Spent;
use abide_core::status::RunStatus;
use abide_core::waitpoint::{EventFilter, Kind, Waitpoint};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

use cluster::{Cluster, NodeId};
use tasks::{TaskWrite, Tasks};

pub use audit::{AuditEntry, AuditHash, AuditNote};
pub use code_wait::CodeWait;
pub use error::Error;
pub use follow_up::{FollowUpWrite, StoredFollowUp};
pub use held::{Culprit, Held, Owner, Suspect};
pub use kept::{Awaits, EventPlace, KeyPlace, OfRun, OldEvent, OldKey, RunOfKey};
pub use key::{ApiKey, KeyHash, Scope};
pub use list::{DefinitionSummary, Due, Page, RunFilter, RunSummary, WaitpointFilter, WaitpointSummary};
pub use table::{COPY_OF, STORE_ID};
pub use webhook::{
    Attempt, AttemptWrite, Delivery, DeliveryFilter, DeliveryStatus, Disabled, Health, Secret, Webhook,
};

/// The reading half. Each call sees what was committed last, and a state between two commits.
pub trait Read: Send {
    /// The history of a run, from its first record; `None` if there is no such run.
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error>;

    /// A run as lists show it.
    fn run(&mut self, run: RunId) -> Result<Option<RunSummary>, Error>;

    /// What follows record `after` in the history of a run: at most `limit` records, and none after those whose payloads
    /// have `bytes` together. What lies before it is not read.
    fn records_after(
        &mut self,
        run: RunId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Record>, Error>;

    /// The histories of those runs that have another version than the one that is known, where there is one.
    /// One that is damaged keeps none of the others back.
    fn load_changed(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Loaded)>, Error> {
        let mut changed = Vec::new();
        for (run, version) in known {
            match self.load(*run) {
                Ok(stored) => {
                    let stored = stored.filter(|stored| stored.history.len() as u64 != *version);
                    changed.extend(stored.map(|stored| (*run, Ok(stored))));
                }
                Err(error) if error.is_damage() => changed.push((*run, Err(error))),
                Err(error) => return Err(error),
            }
        }
        Ok(changed)
    }

    /// How many records there are of each of these runs, where there are any.
    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
        let mut versions = Vec::new();
        for run in runs {
            versions.extend(self.load(*run)?.map(|stored| (*run, stored.history.len() as u64)));
        }
        Ok(versions)
    }

    /// The document of a definition: of this version, or the one that came last.
    fn definition(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<StoredDefinition>, Error>;

    fn definition_by_id(&mut self, id: DefinitionId) -> Result<Option<StoredDefinition>, Error>;

    /// Definitions, of this name or of all, the one that came last first. The cursor is one of them.
    fn definitions(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<DefinitionId>,
    ) -> Result<Vec<DefinitionSummary>, Error>;

    /// Timers of all workspaces due up to and including `until`, in due order, beginning after `after`, at most
    /// `limit`.
    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error>;

    /// Open waits for an event id, oldest first, beginning after `after`, at most `limit`.
    fn waiters(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error>;

    /// Open waits for other code of a handler than this build has, in no particular order, beginning after `after`, at most
    /// `limit`. Some of them may have tried this build before.
    fn code_waits(
        &mut self,
        workspace: WorkspaceId,
        handler: &str,
        build: &str,
        after: Option<&CodeWait>,
        limit: usize,
    ) -> Result<Vec<CodeWait>, Error>;

    /// Occurrences of an event id received at or after `since`, in the order they were received, beginning after
    /// `after`, at most `limit`.
    fn occurrences(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, OccurrenceId)>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, Error>;

    /// [`Read::waiters`] of several event ids, each from the first on.
    fn waiters_of(&mut self, events: &[EventName<'_>], limit: usize) -> Result<Vec<Vec<Waiter>>, Error> {
        events.iter().map(|event| self.waiters(event.workspace, event.event_id, None, limit)).collect()
    }

    /// [`Read::occurrences`] of several event ids, each from its instant on.
    fn occurrences_of(
        &mut self,
        events: &[(EventName<'_>, Timestamp)],
        limit: usize,
    ) -> Result<Vec<Vec<Occurrence>>, Error> {
        let look = |(event, since): &(EventName<'_>, Timestamp)| {
            self.occurrences(event.workspace, event.event_id, *since, None, limit)
        };
        events.iter().map(look).collect()
    }

    /// Occurrences, of this event id or of all, the one received last first.
    fn events(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        page: &Page<(Timestamp, OccurrenceId)>,
    ) -> Result<Vec<Occurrence>, Error>;

    /// Which events the runs of each definition of a workspace may come to wait for. One that was stored without a word
    /// about it may wait for any.
    fn awaits(&mut self, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error>;

    /// The run that was started first, of those that have not ended: of this definition, or of all in the workspace.
    fn oldest_open(
        &mut self,
        workspace: WorkspaceId,
        definition: Option<&DefinitionRef>,
    ) -> Result<Option<RunId>, Error>;

    /// Events received before the instant, of this event id or of all, in the order they were received, beginning after
    /// `after`, at most `limit`.
    fn old_events(
        &mut self,
        event: (WorkspaceId, Option<&str>),
        before: Timestamp,
        after: Option<EventPlace>,
        limit: usize,
    ) -> Result<Vec<OldEvent>, Error>;

    /// Idempotency keys written before the instant, in that order, beginning after `after`, at most `limit`.
    fn old_keys(
        &mut self,
        before: Timestamp,
        after: Option<&KeyPlace>,
        limit: usize,
    ) -> Result<Vec<OldKey>, Error>;

    /// Runs that ended before the instant, in that order, beginning after `after`, at most `limit`.
    fn ended_runs(
        &mut self,
        before: Timestamp,
        after: (Timestamp, RunId),
        limit: usize,
    ) -> Result<Vec<(Timestamp, RunId)>, Error>;

    /// Those of these runs to which something of the kind belongs.
    fn owners(&mut self, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error>;

    /// What was remembered under an idempotency key.
    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error>;

    /// Runs, newest first.
    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error>;

    /// The ids of runs, newest first. Nothing of their histories is read.
    fn run_ids(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunId>, Error> {
        Ok(self.runs(filter, page)?.into_iter().map(|run| run.id).collect())
    }

    /// Where a run belongs, as its row says.
    fn workspace_of(&mut self, run: RunId) -> Result<Option<WorkspaceId>, Error> {
        Ok(self.run(run)?.map(|run| run.workspace))
    }

    /// Waitpoints in due order (those without an instant last).
    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error>;

    /// The bytes that the histories and events of a workspace take.
    fn stored_bytes(&mut self, workspace: WorkspaceId) -> Result<u64, Error>;

    /// How many runs there are of each status, in a workspace or in all.
    fn counts(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<(RunStatus, u64)>, Error>;

    /// Runs that are WAITING, the oldest first.
    fn oldest_waiting(&mut self, workspace: WorkspaceId, limit: usize) -> Result<Vec<RunId>, Error>;

    /// How many waits of a kind are open and due then. Counts up to `limit`, for there may be millions.
    fn open_waits(
        &mut self,
        workspace: WorkspaceId,
        kind: Kind,
        due: Due,
        limit: usize,
    ) -> Result<usize, Error>;

    /// What calls to models used up in a workspace, on these days of UTC, both included: by day, workflow and model.
    fn costs(&mut self, workspace: WorkspaceId, from: Date, until: Date) -> Result<Vec<CostRow>, Error>;

    /// All of them, by number. The default one is there from the beginning.
    fn workspaces(&mut self) -> Result<Vec<Workspace>, Error>;

    fn key_by_hash(&mut self, hash: &KeyHash) -> Result<Option<ApiKey>, Error>;

    /// The keys of a workspace, oldest first, with those that were revoked.
    fn keys(&mut self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, Error>;

    fn setting(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error>;

    /// How often the links to a waitpoint were revoked: those of an earlier generation are void.
    fn link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error>;

    /// What is to be done, up to `limit` in each workspace, oldest first. With owners: only what none of these looks after.
    fn follow_ups(&mut self, not_of: &[u128], limit: usize) -> Result<Vec<StoredFollowUp>, Error>;

    /// How many runs began with this one: its children, their children, and so on.
    fn descendants(&mut self, root: RunId) -> Result<u64, Error>;

    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, Error>;

    fn schedule_by_name(&mut self, workspace: WorkspaceId, name: &str) -> Result<Option<Schedule>, Error>;

    /// The schedules of a workspace, by name.
    fn schedules(&mut self, workspace: WorkspaceId, page: &Page<String>) -> Result<Vec<Schedule>, Error>;

    /// The webhooks of a workspace or of all, oldest first.
    fn webhooks(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<Webhook>, Error>;

    fn webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, Error>;

    /// What a webhook was told, or is to be told, the newest first.
    fn deliveries(
        &mut self,
        filter: &DeliveryFilter,
        page: &Page<DeliveryId>,
    ) -> Result<Vec<Delivery>, Error>;

    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Error>;

    /// What a webhook is to be told up to and including `until`, in the order it is due, at most `limit`.
    fn due_deliveries(
        &mut self,
        webhook: WebhookId,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error>;

    /// Control actions in a workspace or in all, the last one first. The cursor is a number.
    fn audit(&mut self, workspace: Option<WorkspaceId>, page: &Page<u64>) -> Result<Vec<AuditEntry>, Error>;

    /// The entries of the audit log after `after`, in order, at most `limit`: number, text as it was written, hash.
    fn audit_chain(&mut self, after: u64, limit: usize) -> Result<Vec<(u64, String, AuditHash)>, Error>;

    /// Whether a run or a schedule is held, and why.
    fn held(&mut self, owner: Owner) -> Result<Option<Held>, Error>;

    /// All that is held, in the order of ids, beginning after one.
    fn all_held(&mut self, page: &Page<Owner>) -> Result<Vec<Held>, Error>;

    /// Reads every page there is, where a store can, and says what is wrong with those that are damaged.
    fn check_pages(&mut self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    /// Writes a copy of all there is, as of one instant between two commits, to a file that does not exist yet.
    /// Others read and write meanwhile. When it returns `Ok`, the copy is synced to disk.
    fn backup(&mut self, to: &Path) -> Result<(), Error>;
}

/// A place where runs are kept. One writer has it; concurrent readers open their own.
///
/// Whatever it has answered `Ok` to is synced to disk and survives a crash of the machine.
pub trait Store: Read {
    /// Another connection, for another thread.
    fn reader(&self) -> Result<Box<dyn Read>, Error>;

    /// Another writer, for another thread. Both commit at the same time, for one that decides and knows what it has asked
    /// of either. `None` where a store has one writer.
    fn another(&self) -> Result<Option<Box<dyn Store>>, Error> {
        Ok(None)
    }

    /// The task board, for another thread, where any number of nodes work on the store. `None` where a store has one
    /// writer, who keeps its tasks itself.
    fn tasks(&self) -> Result<Option<Box<dyn Tasks>>, Error> {
        Ok(None)
    }

    /// What nodes know of each other, for another thread, where any number of them work on the store. `None` where a
    /// store has one writer.
    fn cluster(&self) -> Result<Option<Box<dyn Cluster>>, Error> {
        Ok(None)
    }

    /// Writes all of the batch or nothing. When it returns `Err`, nothing of it is there. When the process dies in
    /// its middle, the next one finds all of it or nothing.
    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error>;

    /// Of a batch that was refused because of damage: what of it cannot be written, looked at one by one. Nothing is
    /// written.
    fn culprits(&mut self, batch: &Batch<'_>) -> Result<Vec<Culprit>, Error>;

    /// Whether whoever had the store before closed it. One that others keep whole (a database) always was.
    fn ended_well(&self) -> bool {
        true
    }

    /// Makes the rows of all waits of a run or a schedule anew, as its history has them.
    fn rewrite_waits(
        &mut self,
        owner: Owner,
        workspace: WorkspaceId,
        waits: &[&Waitpoint],
    ) -> Result<(), Error>;

    /// Nothing is decided about it until it is let go. The first reason stands. Says whether it was not held before.
    fn hold(&mut self, held: &Held) -> Result<bool, Error>;

    /// Says whether it was held.
    fn let_go(&mut self, owner: Owner) -> Result<bool, Error>;

    /// Notes what takes long to decide, so that whoever comes after this process knows what it was at; `None`: it is done.
    /// Of several processes, each has its own note.
    fn note_suspect(&mut self, node: Option<NodeId>, owner: Option<Owner>) -> Result<(), Error>;

    /// What was noted by processes that are gone (all but those that are alive), each counted as one more death in its
    /// middle. What was noted before stays, until it is forgiven.
    fn take_suspects(&mut self, alive: &[NodeId]) -> Result<Vec<Suspect>, Error>;

    /// Its deaths do not count any more.
    fn forgive(&mut self, owner: Owner) -> Result<(), Error>;

    /// Adds up what is noted in parts, so that it stays quick to read.
    fn fold(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Removes these events, and says how many of them were there.
    fn forget_events(&mut self, events: &[OldEvent]) -> Result<usize, Error>;

    /// Removes up to `limit` of what belongs to these runs and is not in their history, and says how many. What belongs
    /// to a run that is open is left alone.
    fn forget_of(&mut self, runs: &[RunId], what: OfRun, limit: usize) -> Result<usize, Error>;

    /// Removes up to `limit` runs that ended before the instant, with all that belongs to them, and says how many. Their
    /// idempotency keys stay: from the end of the run on they are as old as any other.
    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error>;

    /// Removes these idempotency keys, except those of a run that is open, and says how many.
    fn forget_keys(&mut self, keys: &[String]) -> Result<usize, Error>;

    /// Removes up to `limit` deliveries created before the instant that are not pending, and says how many.
    fn forget_deliveries(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error>;

    /// Makes a workspace. No two have the same name.
    fn add_workspace(&mut self, name: &str, now: Timestamp) -> Result<WorkspaceId, Error>;

    fn add_key(&mut self, key: &ApiKey) -> Result<(), Error>;

    /// Says whether there is such a key. The first revocation stands.
    fn revoke_key(&mut self, id: KeyId, now: Timestamp) -> Result<bool, Error>;

    /// Notes that a key was used. Every call is synced: not for every request.
    fn touch_key(&mut self, id: KeyId, now: Timestamp) -> Result<(), Error>;

    fn put_setting(&mut self, name: &str, value: &[u8]) -> Result<(), Error>;

    /// Puts a setting if it still is what it was; `None`: if there is none yet. Says whether it did.
    fn change_setting(&mut self, name: &str, was: Option<&[u8]>, value: &[u8]) -> Result<bool, Error> {
        // Whoever writes here is the only one.
        let is_as_it_was = self.setting(name)?.as_deref() == was;
        if is_as_it_was {
            self.put_setting(name, value)?;
        }
        Ok(is_as_it_was)
    }

    /// Appends to the audit log. Entries are never changed or removed.
    fn append_audit(&mut self, note: &AuditNote) -> Result<(), Error>;

    /// Makes a webhook, or replaces all of it but its health.
    fn put_webhook(&mut self, webhook: &Webhook) -> Result<(), Error>;

    /// Notes whether a webhook is reached. What is pending is held as long as it is disabled, and due at `now` when
    /// it no longer is. Says whether there is such a webhook.
    fn put_health(&mut self, id: WebhookId, health: &Health, now: Timestamp) -> Result<bool, Error>;

    /// Removes a webhook and all its deliveries. Says whether there was one.
    fn remove_webhook(&mut self, id: WebhookId) -> Result<bool, Error>;

    /// Writes what came of attempts, all or nothing. One that is based on another number of attempts than there are
    /// is left out, and so is one whose delivery is gone.
    fn put_attempts(&mut self, attempts: &[AttemptWrite]) -> Result<(), Error>;

    /// Makes a delivery that is not pending, or all failed ones of a webhook, due again at `now`, as if it had never
    /// been tried. Says how many.
    fn replay(&mut self, webhook: WebhookId, one: Option<DeliveryId>, now: Timestamp)
    -> Result<usize, Error>;

    /// Revokes all links to a waitpoint there are, and says which generation is valid from here on; 0 if there is no
    /// such waitpoint.
    fn bump_link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error>;
}

/// What is written together.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    pub runs: Vec<RunWrite<'a>>,
    pub occurrences: Vec<&'a Occurrence>,
    pub remembered: Vec<&'a Remembered>,
    pub definitions: Vec<NewDefinition<'a>>,
    pub schedules: Vec<ScheduleWrite<'a>>,
    /// What webhooks are to be told of all this. One for a webhook that is gone is left out.
    pub deliveries: Vec<&'a Delivery>,
    /// Which tasks are out. Only a store that is shared keeps them.
    pub tasks: Vec<&'a TaskWrite>,
    /// What is left to be done, and what was.
    pub follow_ups: Vec<FollowUpWrite<'a>>,
    /// How many descendants of a run were started.
    pub descendants: Vec<(RunId, u64)>,
}

/// A run that was decided on, after all decisions of the batch.
#[derive(Debug)]
pub struct RunWrite<'a> {
    /// The version the first decision was made on; 0 for a new run.
    pub based_on: u64,
    pub run: &'a Run,
    /// In order, from `based_on + 1` to the run's version.
    pub records: &'a [Record],
}

impl<'a> Batch<'a> {
    /// Each run and each schedule of it alone, with what is told of it.
    pub(crate) fn one_by_one(&self) -> impl Iterator<Item = (Owner, Batch<'a>)> {
        let told = |run: RunId| self.deliveries.iter().copied().filter(move |delivery| delivery.run == run);
        let runs = self.runs.iter().map(move |write| {
            let RunWrite { based_on, run, records } = *write;
            let deliveries = told(run.id).collect();
            let runs = vec![RunWrite { based_on, run, records }];
            (Owner(run.id), Batch { runs, deliveries, ..Batch::default() })
        });
        let schedules = self.schedules.iter().map(|write| {
            let ScheduleWrite { based_on, schedule, removed } = *write;
            let schedules = vec![ScheduleWrite { based_on, schedule, removed }];
            (Owner(schedule.id.owner()), Batch { schedules, ..Batch::default() })
        });
        runs.chain(schedules)
    }
}

impl RunWrite<'_> {
    /// The waitpoints that have no row yet.
    #[cfg(feature = "postgres")]
    pub(crate) fn opens(&self) -> BTreeSet<u32> {
        self.records.iter().flat_map(|record| record.change.opens()).map(|wait| wait.number).collect()
    }

    /// The run has another version of its workflow than before.
    pub(crate) fn is_moved(&self) -> bool {
        self.records.iter().any(|record| matches!(record.change, Change::WorkflowMoved { .. }))
    }

    /// The waitpoints whose row is made or changes.
    pub fn waitpoints(&self) -> BTreeSet<u32> {
        self.records.iter().flat_map(|record| record.change.waitpoints()).collect()
    }
}

/// A schedule that was decided on, after all decisions of the batch. Its waits are written with it.
#[derive(Debug)]
pub struct ScheduleWrite<'a> {
    /// The version the first decision was made on; 0 for a new schedule.
    pub based_on: u64,
    pub schedule: &'a Schedule,
    /// It is gone, and its waits with it.
    pub removed: bool,
}

/// A version of a workflow. It is written once and never changes.
#[derive(Clone, Copy, Debug)]
pub struct NewDefinition<'a> {
    pub id: DefinitionId,
    pub workspace: WorkspaceId,
    pub name: &'a str,
    pub version: &'a str,
    /// As JSON.
    pub document: &'a str,
    /// Which events its runs may come to wait for.
    pub awaits: &'a [AwaitedEvent],
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDefinition {
    pub id: DefinitionId,
    pub workspace: WorkspaceId,
    pub name: String,
    pub version: String,
    pub document: String,
    pub created_at: Timestamp,
}

/// What loading one of several runs came to.
pub type Loaded = Result<StoredRun, Error>;

#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    pub workspace: WorkspaceId,
    pub definition: DefinitionRef,
    pub history: Vec<Record>,
}

/// A timer that must go off. Ordered by its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredTimer {
    pub at: Timestamp,
    pub run: RunId,
    /// [`Timer::Waitpoint`] or [`Timer::Run`]; the time of an attempt is known only while its run is in memory.
    pub timer: Timer,
}

/// What the runs of one workflow used up on one day, with one model. Written with the calls, and kept when their runs
/// are forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostRow {
    pub day: Date,
    pub definition: String,
    pub model: String,
    pub spent: Spent,
}

/// What events are looked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventName<'a> {
    pub workspace: WorkspaceId,
    pub event_id: &'a str,
}

/// Somebody who waits for an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiter {
    pub waitpoint: WaitpointId,
    pub workspace: WorkspaceId,
    pub created_at: Timestamp,
    pub filter: EventFilter,
    /// Its deadline.
    pub resume_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    pub id: WorkspaceId,
    pub name: String,
    pub created_at: Timestamp,
}
