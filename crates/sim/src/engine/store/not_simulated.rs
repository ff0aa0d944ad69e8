//! Roles that engines need none of to decide: they answer that they are not simulated.

use std::path::Path;

use super::SimStore;
use abide_core::history::DefinitionRef;
use abide_core::id::{DeliveryId, RunId, WaitpointId, WebhookId, WorkspaceId};
use abide_core::waitpoint::Waitpoint;
use abide_store::roles::*;
use abide_store::{
    AttemptWrite, AuditEntry, AuditHash, AuditNote, Awaits, CostRow, Delivery, DeliveryFilter, Error,
    EventPlace, Health, KeyPlace, OfRun, OldEvent, OldKey, Owner, Page, Webhook,
};
use jiff::Timestamp;
use jiff::civil::Date;

pub(super) fn not_simulated<T>() -> Result<T, Error> {
    Err(Error::Unavailable("this part of a store is not simulated".to_owned()))
}

impl Retention for SimStore {
    fn awaits(&mut self, _: WorkspaceId) -> Result<Vec<Awaits>, Error> {
        not_simulated()
    }

    fn oldest_open(&mut self, _: WorkspaceId, _: Option<&DefinitionRef>) -> Result<Option<RunId>, Error> {
        not_simulated()
    }

    fn old_events(
        &mut self,
        _: (WorkspaceId, Option<&str>),
        _: Timestamp,
        _: Option<EventPlace>,
        _: usize,
    ) -> Result<Vec<OldEvent>, Error> {
        not_simulated()
    }

    fn old_keys(&mut self, _: Timestamp, _: Option<&KeyPlace>, _: usize) -> Result<Vec<OldKey>, Error> {
        not_simulated()
    }

    fn ended_runs(
        &mut self,
        _: Timestamp,
        _: (Timestamp, RunId),
        _: usize,
    ) -> Result<Vec<(Timestamp, RunId)>, Error> {
        not_simulated()
    }

    fn owners(&mut self, _: &[RunId], _: OfRun) -> Result<Vec<RunId>, Error> {
        not_simulated()
    }
}

impl Costs for SimStore {
    fn costs(&mut self, _: WorkspaceId, _: Date, _: Date) -> Result<Vec<CostRow>, Error> {
        not_simulated()
    }
}

impl Links for SimStore {
    fn link_generation(&mut self, _: WaitpointId) -> Result<u32, Error> {
        not_simulated()
    }
}

impl Webhooks for SimStore {
    fn webhooks(&mut self, _: Option<WorkspaceId>) -> Result<Vec<Webhook>, Error> {
        self.read().map(|_| Vec::new())
    }

    fn webhook(&mut self, _: WebhookId) -> Result<Option<Webhook>, Error> {
        not_simulated()
    }

    fn deliveries(&mut self, _: &DeliveryFilter, _: &Page<DeliveryId>) -> Result<Vec<Delivery>, Error> {
        not_simulated()
    }

    fn delivery(&mut self, _: DeliveryId) -> Result<Option<Delivery>, Error> {
        not_simulated()
    }

    fn due_deliveries(&mut self, _: WebhookId, _: Timestamp, _: usize) -> Result<Vec<Delivery>, Error> {
        not_simulated()
    }
}

impl Audit for SimStore {
    fn audit(&mut self, _: Option<WorkspaceId>, _: &Page<u64>) -> Result<Vec<AuditEntry>, Error> {
        not_simulated()
    }

    fn audit_chain(&mut self, _: u64, _: usize) -> Result<Vec<(u64, String, AuditHash)>, Error> {
        not_simulated()
    }
}

impl Maintenance for SimStore {
    fn backup(&mut self, _: &Path) -> Result<(), Error> {
        not_simulated()
    }
}

impl WriteMaintenance for SimStore {
    fn rewrite_waits(&mut self, _: Owner, _: WorkspaceId, _: &[&Waitpoint]) -> Result<(), Error> {
        not_simulated()
    }
}

impl WriteRetention for SimStore {
    fn forget_events(&mut self, _: &[OldEvent]) -> Result<usize, Error> {
        not_simulated()
    }

    fn forget_of(&mut self, _: &[RunId], _: OfRun, _: usize) -> Result<usize, Error> {
        not_simulated()
    }

    fn forget_runs(&mut self, _: Timestamp, _: usize) -> Result<usize, Error> {
        not_simulated()
    }

    fn forget_keys(&mut self, _: &[String]) -> Result<usize, Error> {
        not_simulated()
    }

    fn forget_deliveries(&mut self, _: Timestamp, _: usize) -> Result<usize, Error> {
        not_simulated()
    }
}

impl WriteAudit for SimStore {
    fn append_audit(&mut self, _: &AuditNote) -> Result<(), Error> {
        not_simulated()
    }
}

impl WriteWebhooks for SimStore {
    fn put_webhook(&mut self, _: &Webhook) -> Result<(), Error> {
        not_simulated()
    }

    fn put_health(&mut self, _: WebhookId, _: &Health, _: Timestamp) -> Result<bool, Error> {
        not_simulated()
    }

    fn remove_webhook(&mut self, _: WebhookId) -> Result<bool, Error> {
        not_simulated()
    }

    fn put_attempts(&mut self, _: &[AttemptWrite]) -> Result<(), Error> {
        not_simulated()
    }

    fn replay(&mut self, _: WebhookId, _: Option<DeliveryId>, _: Timestamp) -> Result<usize, Error> {
        not_simulated()
    }
}

impl WriteLinks for SimStore {
    fn bump_link_generation(&mut self, _: WaitpointId) -> Result<u32, Error> {
        not_simulated()
    }
}
