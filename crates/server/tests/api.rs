//! The HTTP API, over HTTP: a server on a port of its own, an in-memory store, a clock that the test sets.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "api/host.rs"]
mod host;
#[path = "api/receiver.rs"]
mod receiver;

#[path = "api/approvals.rs"]
mod approvals;
#[path = "api/audit.rs"]
mod audit;
#[path = "api/auth.rs"]
mod auth;
#[path = "api/batch.rs"]
mod batch;
#[path = "api/borders.rs"]
mod borders;
#[path = "api/builds.rs"]
mod builds;
#[path = "api/bulk.rs"]
mod bulk;
#[path = "api/calls.rs"]
mod calls;
#[path = "api/clock.rs"]
mod clock;
#[path = "api/dashboard.rs"]
mod dashboard;
#[path = "api/definitions.rs"]
mod definitions;
#[path = "api/documents.rs"]
mod documents;
#[path = "api/event_starts.rs"]
mod event_starts;
#[path = "api/events.rs"]
mod events;
#[path = "api/health.rs"]
mod health;
#[path = "api/held.rs"]
mod held;
#[path = "api/history.rs"]
mod history;
#[path = "api/hooks.rs"]
mod hooks;
#[path = "api/hostile.rs"]
mod hostile;
#[path = "api/keys.rs"]
mod keys;
#[path = "api/limits.rs"]
mod limits;
#[path = "api/links.rs"]
mod links;
#[path = "api/metrics.rs"]
mod metrics;
#[path = "api/moves.rs"]
mod moves;
#[path = "api/overview.rs"]
mod overview;
#[path = "api/pages.rs"]
mod pages;
#[path = "api/quotas.rs"]
mod quotas;
#[path = "api/races.rs"]
mod races;
#[path = "api/resume.rs"]
mod resume;
#[path = "api/rights.rs"]
mod rights;
#[path = "api/runs.rs"]
mod runs;
#[path = "api/schedules.rs"]
mod schedules;
#[path = "api/sealed.rs"]
mod sealed;
#[path = "api/seeds.rs"]
mod seeds;
#[path = "api/sending.rs"]
mod sending;
#[path = "api/sends.rs"]
mod sends;
#[path = "api/session.rs"]
mod session;
#[path = "api/several.rs"]
mod several;
#[path = "api/store.rs"]
mod store;
#[path = "api/strangers.rs"]
mod strangers;
#[path = "api/surface.rs"]
mod surface;
#[path = "api/tasks.rs"]
mod tasks;
#[path = "api/traces.rs"]
mod traces;
#[path = "api/triggers.rs"]
mod triggers;
#[path = "api/waitpoints.rs"]
mod waitpoints;
#[path = "api/walks.rs"]
mod walks;
#[path = "api/webhooks.rs"]
mod webhooks;
