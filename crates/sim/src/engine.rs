//! Whole engines on one simulated store, in virtual time: the state machine of each node, its clock, its committers and
//! its handlers, and everybody who asks something of it. All chance comes from one seed.
//!
//! ```text
//!   clients · workers · operators ── requests ──▶ node: machine ── commits ──▶ store (refused, slow, answer lost)
//!            ▲                                      │  ▲  dies, freezes, restarts        │ every commit
//!            └────────────── replies ───────────────┘  └── reads (some fail)             ▼
//!                     │ every reply                                            inspector: the rules, a second time
//!                     ▼
//!                 what was acknowledged is in the store
//! ```
//!
//! When enough has happened, all faults stop and the world must come to rest: every run ends.

mod agenda;
mod answers;
mod calls;
mod clients;
mod commits;
mod debounce;
mod defect;
mod event_starts;
mod faults;
mod heal;
mod limits;
mod node;
mod rules;
pub mod store;
mod turns;
mod workers;
mod world;

pub use defect::Defect;
pub use world::{Setting, simulate};
