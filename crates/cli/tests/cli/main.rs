//! The binary and its commands, as they are called, in one binary of tests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod chaos;
mod chaos_limits;
mod check;
mod commands;
mod dev;
mod disk;
mod formats;
mod idle;
mod kill;
mod kill_call;
mod kill_llm;
#[path = "real/ledger.rs"]
mod ledger;
mod mcp;
mod migrate;
mod poison;
mod schedules;
mod serve;
mod shell_worker;
#[path = "real/sleepers.rs"]
mod sleepers;
mod strangers;
#[path = "real/tally.rs"]
mod tally;
mod top;
#[path = "real/traffic.rs"]
mod traffic;
#[path = "real/verdict.rs"]
mod verdict;
mod walk;
mod webhooks;
