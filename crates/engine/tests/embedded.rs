//! The engine as a host program uses it: a real file, real handlers, and time that a test sets.

#![allow(clippy::unwrap_used, reason = "a host that cannot be set up is a failed test")]

#[path = "embedded/approvals.rs"]
mod approvals;
#[path = "embedded/budgets.rs"]
mod budgets;
#[path = "embedded/call_limits.rs"]
mod call_limits;
#[path = "embedded/debounce.rs"]
mod debounce;
#[path = "embedded/durability.rs"]
mod durability;
#[path = "embedded/event_starts.rs"]
mod event_starts;
#[path = "embedded/events.rs"]
mod events;
#[path = "embedded/following.rs"]
mod following;
#[path = "embedded/guards.rs"]
mod guards;
#[path = "embedded/held.rs"]
mod held;
#[path = "embedded/herd.rs"]
mod herd;
#[path = "embedded/hooks.rs"]
mod hooks;
#[path = "embedded/host.rs"]
mod host;
#[path = "embedded/keeping.rs"]
mod keeping;
#[path = "embedded/limits.rs"]
mod limits;
#[path = "embedded/maps.rs"]
mod maps;
#[path = "embedded/moves.rs"]
mod moves;
#[path = "embedded/overload.rs"]
mod overload;
#[path = "embedded/running.rs"]
mod running;
#[path = "embedded/several.rs"]
mod several;
#[path = "embedded/storm.rs"]
mod storm;
#[path = "embedded/ten_cases.rs"]
mod ten_cases;
#[path = "embedded/time.rs"]
mod time;
#[path = "embedded/trouble.rs"]
mod trouble;
#[path = "embedded/turns.rs"]
mod turns;
#[path = "embedded/waiting.rs"]
mod waiting;
#[path = "embedded/watched.rs"]
mod watched;
#[path = "embedded/workers.rs"]
mod workers;
