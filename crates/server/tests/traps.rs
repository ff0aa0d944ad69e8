//! What went wrong elsewhere, and must not go wrong at the HTTP surface. Each test is named after what must not happen.
//! The decisions behind it have their own tests in the core.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "it is the host of other tests, too")]
#[path = "api/host.rs"]
mod host;
#[path = "traps/scene.rs"]
mod scene;
#[path = "api/store.rs"]
mod store;

#[path = "traps/approvals.rs"]
mod approvals;
#[path = "traps/doors.rs"]
mod doors;
#[path = "traps/links.rs"]
mod links;
#[path = "traps/running.rs"]
mod running;
#[path = "traps/secrets.rs"]
mod secrets;
#[path = "traps/signals_and_events.rs"]
mod signals_and_events;
#[path = "traps/sync_callers.rs"]
mod sync_callers;
