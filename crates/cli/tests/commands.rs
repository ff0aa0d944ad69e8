//! The commands that talk to a server, as they are called, against `abide serve` on a port of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "commands/approving.rs"]
mod approving;
#[path = "commands/backups.rs"]
mod backups;
#[path = "commands/codes.rs"]
mod codes;
#[path = "commands/damage.rs"]
mod damage;
#[path = "commands/durable.rs"]
mod durable;
#[path = "commands/following.rs"]
mod following;
#[path = "commands/host.rs"]
mod host;
#[path = "commands/https.rs"]
mod https;
#[path = "commands/local.rs"]
mod local;
#[path = "commands/moving.rs"]
mod moving;
#[path = "commands/naming.rs"]
mod naming;
#[path = "commands/running.rs"]
mod running;
#[path = "commands/scheduling.rs"]
mod scheduling;
#[path = "commands/steering.rs"]
mod steering;
#[path = "commands/working.rs"]
mod working;
