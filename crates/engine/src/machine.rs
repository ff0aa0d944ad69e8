//! The writer as a state machine without I/O: all decisions of an engine, and nothing else. It has no clock, no thread, no
//! runtime and no writer of the store. Time and randomness are handed in; what is to be done outside comes out as values.
//!
//! ```text
//!   inputs ──▶ step(now, inputs, outputs) ──▶ outputs
//!     Request, Report                           Commit ──────────▶ Committed
//!     Committed, Deployed, Checked              Deploy, Check ───▶ Deployed, Checked
//!                                               Perform ─────────▶ Report
//!                                               Abort, Webhooks, Changed, …   (nothing comes back)
//! ```
//!
//! - `Machine::new(Setup)` builds one, `recover(now, outputs)` is called once before the first step.
//! - `room(now)` says how many requests and reports the next step takes; the rest waits outside.
//! - `step(now, inputs, outputs)` takes what happened, decides, and appends what is to be done. Answers to outputs
//!   (`Committed`, `Deployed`, `Checked`) come before requests in `inputs`, and there is always room for them.
//! - `wake(now)` says when it is to be called next if nothing happens, and why.
//! - `answer_settled(now)` is called after a step when nothing waits outside.
//!
//! Requests carry the sender of their reply. A reply is sent during the step that hears of the commit it depends on, never
//! before. Reads, and what the board of tasks does, are synchronous: the roles of the store that they need are handed in.
//! The same setup, seed and inputs give the same outputs.

mod io;

pub use crate::checker::{Check, Then};
pub use crate::committer::Write;
pub use crate::deploy::Deploy;
pub use crate::dispatcher::ReadyTask;
pub use crate::ear::Ear;
pub use crate::handed::Handed;
pub use crate::in_flight::RoundNumber;
pub use crate::request::{Answer, Notify, Poll, Request, Start};
pub use crate::round::RoundBatch;
pub use io::{Input, Now, Output, Perform, Wake, WakeReason};

/// How much the next step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Requests and reports together.
    pub requests: usize,
    /// Of these, reports of handlers in this process: fewer while timers are due.
    pub reports: usize,
}
