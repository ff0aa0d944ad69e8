//! Where runs are kept. A [`Store`] takes batches and answers reads; it does not know why a row changes, and it
//! decides nothing.
//!
//! The truth about a run is its history, kept in chunks of one commit each. Everything else is there to find runs:
//! a summary row for each run, a row for each waitpoint. A run is loaded by replaying its chunks; of a long one there is a
//! snapshot to begin from.
//!
//! ```text
//!   engine ── Batch ──▶ commit: history chunks · run rows · waitpoint rows · events · keys    one synced transaction
//!          ◀── reads ── load · due timers · waiters of an event · lists
//! ```
//!
//! Names, events and lists are looked up within a workspace. Timers are everybody's.

pub mod admin;
pub mod audit;
mod chunk;
pub mod cluster;
mod code;
mod code_waits;
mod commit;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod costs;
mod definitions;
mod error;
mod event_starts;
mod events;
mod follow_ups;
mod histories;
mod holds;
mod idempotency;
mod limits;
mod links;
mod lists;
mod maintenance;
#[cfg(feature = "postgres")]
pub mod postgres;
mod retention;
mod row;
mod schedules;
mod snapshots;
pub mod sqlite;
mod table;
pub mod tasks;
mod timers;
pub mod transfer;
mod waits;
mod webhooks;

use cluster::Cluster;
use roles::*;
use tasks::Tasks;

pub use admin::{ApiKey, KeyHash, Scope, Workspace};
pub use audit::{AuditEntry, AuditHash, AuditNote};
pub use code_waits::CodeWait;
pub use commit::{Batch, RunWrite};
pub use costs::CostRow;
pub use definitions::{DefinitionSummary, NewDefinition, StoredDefinition};
pub use error::Error;
pub use event_starts::{EventStartWrite, EventStarter};
pub use events::{EventName, Waiter};
pub use follow_ups::{FollowUpWrite, StoredFollowUp};
pub use histories::{RunUpdate, StoredRun, Update};
pub use holds::{Culprit, Held, Owner, Suspect};
pub use limits::{InLine, LimitFigures, LimitPlace, LimitWrite, PressurePlace, SettingsWrite};
pub use lists::{Due, Page, RunFilter, RunSummary, WaitpointFilter, WaitpointSummary};
pub use retention::{Awaits, EventPlace, KeyPlace, OfRun, OldEvent, OldKey, RunOfKey};
pub use schedules::ScheduleWrite;
pub use table::{COPY_OF, STORE_ID};
pub use timers::{LIMIT_TIMER, StoredTimer};
pub use webhooks::{
    Attempt, AttemptWrite, Delivery, DeliveryFilter, DeliveryStatus, Disabled, Health, Secret, Webhook,
};

/// The roles of a store, each a small trait. Whoever has a store as [`Read`] or [`Store`] calls them as they are; whoever
/// has one by its own type imports them, all at once: `use abide_store::roles::*`.
pub mod roles {
    pub use crate::admin::{Admin, WriteAdmin};
    pub use crate::audit::{Audit, WriteAudit};
    pub use crate::code_waits::CodeWaits;
    pub use crate::costs::Costs;
    pub use crate::definitions::Definitions;
    pub use crate::event_starts::EventStarts;
    pub use crate::events::Events;
    pub use crate::follow_ups::FollowUps;
    pub use crate::histories::Histories;
    pub use crate::holds::{Holds, WriteHolds};
    pub use crate::idempotency::Idempotency;
    pub use crate::limits::Limits;
    pub use crate::links::{Links, WriteLinks};
    pub use crate::lists::Lists;
    pub use crate::maintenance::{Maintenance, WriteMaintenance};
    pub use crate::retention::{Retention, WriteRetention};
    pub use crate::schedules::Schedules;
    pub use crate::timers::Timers;
    pub use crate::webhooks::{Webhooks, WriteWebhooks};
}

/// Makes a trait of several: whoever has all of them has it.
macro_rules! all_of {
    ($(#[$doc:meta])* $name:ident: $($role:ident)*) => {
        $(#[$doc])*
        pub trait $name: $($role +)* {}

        impl<S: $($role +)* ?Sized> $name for S {}
    };
}

all_of! {
    /// All roles that only read. Each call sees what was committed last, and a state between two commits.
    Read: Histories Definitions Timers Events EventStarts CodeWaits Idempotency FollowUps Schedules Limits Lists Costs Webhooks Links
        Admin Audit Retention Holds Maintenance
}

/// A place where runs are kept. One writer has it; concurrent readers open their own.
///
/// Whatever it has answered `Ok` to is synced to disk and survives a crash of the machine.
pub trait Store:
    Read + WriteWebhooks + WriteLinks + WriteAdmin + WriteAudit + WriteRetention + WriteHolds + WriteMaintenance
{
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
}
