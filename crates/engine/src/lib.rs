//! abide as a library: durable workflows in your own process, with nothing to install.
//!
//! ```text
//!   Engine (handles, any thread) ── requests ──▶ writer (one thread)
//!                                                  round: load · decide · commit (one sync) · effects
//!       handlers (tokio tasks) ◀── tasks ──────────┤ ── wake-ups ──▶ alarm clock (near timers)
//!       pollers, watchers      ◀── replies ────────┘
//! ```
//!
//! Everything that arrives while a commit syncs rides in the next round; a lone request never waits for company.
//! Nothing leaves the process before the commit that it depends on.

mod alarm;
mod clock;
mod dispatcher;
mod engine;
mod error;
mod handler;
mod histogram;
mod memory;
mod request;
mod round;
mod writer;

pub use clock::{Clock, SettableClock, SystemClock};
pub use engine::{Ended, Engine, NewRun, Notification, Options};
pub use error::Error;
pub use handler::{Handler, TaskResult};
pub use histogram::Histogram;
pub use request::{Leased, Notified, Stats};
