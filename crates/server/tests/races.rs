//! Races over HTTP, thousands of times each: whoever comes at the same time, there is exactly one outcome, every loser
//! is told which, and the history has it once.
//!
//! `ABIDE_RACES=100000 cargo nextest run -p abide-server --test races` runs them for longer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "races/arena.rs"]
mod arena;
#[path = "races/connection.rs"]
mod connection;
#[path = "races/history.rs"]
mod history;
#[path = "api/store.rs"]
mod store;

#[path = "races/approvals.rs"]
mod approvals;
#[path = "races/doors.rs"]
mod doors;
#[path = "races/early.rs"]
mod early;
#[path = "races/ending.rs"]
mod ending;
#[path = "races/links.rs"]
mod links;
#[path = "races/workers.rs"]
mod workers;
