//! The commands that talk to a server, as they are called, against `abide serve` on a port of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod approving;
mod backups;
mod codes;
mod damage;
mod durable;
mod following;
pub(crate) mod host;
mod https;
mod local;
mod moving;
mod naming;
mod running;
mod scheduling;
mod steering;
mod working;
