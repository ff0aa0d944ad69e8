//! Plain data that the store keeps and lists: filters, pages, summaries, rows. The store itself is not here: whoever wants
//! something of it asks the [`Engine`](crate::Engine).

pub use abide_store::audit::Verified;
pub use abide_store::{
    ApiKey, Attempt, AuditEntry, AuditHash, AuditNote, CostRow, DefinitionSummary, Delivery, DeliveryFilter,
    DeliveryStatus, Disabled, Due, Health, Held, InLine, KeyHash, LimitFigures, LimitPlace, Owner, Page,
    PressurePlace, RunFilter, RunSummary, Scope, Secret, StoredDefinition, StoredRun, Waiter,
    WaitpointFilter, WaitpointSummary, Webhook, Workspace,
};
