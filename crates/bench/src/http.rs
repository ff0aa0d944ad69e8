//! Workloads over HTTP, against the real server in a process of its own. The client, the server and the worker share
//! the machine, as they would on a small one; so the client and the worker do as little as they can.
//!
//! ```text
//!   client: so many connections ── one request per start or event ──▶ server ◀── polls, reports ── worker
//! ```

mod connection;
mod events;
mod herd;
mod metrics;
mod server;
mod three_steps;
mod worker;

pub(super) use events::measure as events;
pub(super) use herd::measure as herd;
pub(super) use three_steps::measure as three_steps;
pub(super) use worker::Worker;
