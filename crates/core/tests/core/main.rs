//! Everything about the core that can be said by its commands and records, in one binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod documentation;
mod flat_cost;
mod flows;
mod rules;
#[path = "scenario/scenario.rs"]
mod scenario;
mod shared_map;
mod states;
mod traps;
