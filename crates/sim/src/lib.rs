//! A seeded, single-threaded world that tries to break the decisions of `abide-core`.
//!
//! ```text
//!   chance ──▶ world: workers · senders · people · operators · clock · crashes
//!                │ commands                          ▲ replies (some are lost)
//!                ▼                                   │
//!              node: load, decide, commit ──▶ store (runs, tasks, outbox, events, keys)
//!                                                │ every commit
//!                                                ▼
//!                                            inspector: the rules, written a second time
//! ```
//!
//! [`engine`] drives whole engines instead: several of them, on one simulated store.
//!
//! The store here is a model of what a real one promises: a commit is all or nothing, and compares the run's
//! version. What is not committed is lost with a crash. Real stores have tests of their own.

mod actors;
mod choices;
mod defect;
mod definitions;
pub mod engine;
mod groups;
mod inspector;
mod quiesce;
mod store;
mod versions;
mod world;

pub use defect::DecisionDefect;
pub use world::{Report, Violation, simulate, simulate_broken};
