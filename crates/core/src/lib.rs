//! What abide decides. Given a run, a command and the time, this crate says what happens: no clock, no threads,
//! no I/O, no SQL. The same inputs give the same records, on any machine, for ever.
//!
//! ```text
//!   abide_definition::Definition   what a workflow's document means, checked when it is read
//!          │
//!   command::start(..) ──▶ run::Run ◀──apply── history::Record      a run is what its history gives
//!          │                  │
//!   command::decide(run, command, context) ──▶ Outcome or refusal::Refusal
//! ```
//!
//! Every pause is a [`waitpoint::Waitpoint`]; [`waiting_for::waiting_for`] says what each open one waits for.

#![warn(missing_docs)]

pub mod apply;
pub mod board;
pub mod bounds;
pub mod capacity;
pub mod command;
pub mod debounce;
pub mod durable_calls;
pub mod effect;
pub mod event_start;
pub mod fan_out;
mod flow;
pub mod follow_up;
pub mod history;
pub mod id;
pub mod idempotency;
pub mod limits;
pub mod moving;
pub mod queue;
pub mod random;
pub mod refusal;
mod replies;
pub mod run;
pub mod schedule;
mod scope;
pub mod shared_map;
pub mod spent;
pub mod status;
pub mod task;
pub mod trace;
mod turn;
pub mod waiting_for;
pub mod waitpoint;
pub mod webhook_message;

pub use abide_definition as definition;
pub use abide_definition::{builder, cron, expression, json, problem, retry, time};
