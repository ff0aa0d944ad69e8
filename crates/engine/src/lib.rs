//! abide as a library: durable workflows in your own process, with nothing to install.
//!
//! ```text
//!   Engine (handles, any thread) ── requests ──▶ writer (one thread): decides rounds ── a round ──▶ committers (a
//!       handlers (tokio tasks) ◀── tasks ──────────┤  ◀── alarm clock (near timers)          thread each): one sync
//!       pollers, watchers      ◀── replies ────────┘  ◀────────────────────────── committed ──────────┘
//!       readers (a few connections) ◀── lists, histories
//!       webhooks' sender (a tokio task) ◀── who is to be told something
//! ```
//!
//! Everything that arrives while a commit syncs rides in the next round; a lone request never waits for company.
//! Nothing leaves the process before the commit that it depends on.

#![allow(missing_debug_implementations, reason = "requests carry the senders of their replies")]
#![warn(missing_docs)]

mod alarm;
mod backlog;
mod by_run;
mod checker;
mod checkup;
mod clock;
mod cluster;
mod committer;
pub mod counts;
mod deploy;
mod doctor;
mod engine;
mod error;
mod executor;
mod fair;
mod followers;
mod gate;
mod handler;
mod heartbeat;
mod histogram;
mod holds;
mod identity;
mod in_flight;
mod known;
mod limits;
mod long_waits;
#[doc(hidden)]
pub mod machine;
mod memory;
mod moves;
mod notify_step;
mod owed;
mod paused;
mod readers;
mod reply;
mod reply_listener;
mod request;
mod retention;
mod round;
mod runner;
mod schedules;
mod sealed;
mod send_event;
mod shares;
mod start;
pub mod stored;
mod tasks;
mod timing;
mod watch;
mod webhooks;
mod writer;

pub use abide_calls::http::{Policy, Rule};
pub use abide_calls::models::{Model, Price, Protocol, Provider, Settings as ModelSettings};
pub use abide_calls::secrets::{self, Error as SecretsError, Secret, Secrets};
pub use abide_calls::signing;
pub use abide_calls::vault;
pub use clock::{Clock, SettableClock, SystemClock};
pub use deploy::{Deployed, Developed, Versions};
pub use doctor::{Examined, Finding, Mended, Tell, examine, mend};
pub use engine::{
    Admin, ApiKeys, ClockHandle, ClockStatus, Definitions, Ended, Engine, EventPage, Events, Figures,
    HoldsHandle, LimitsHandle, Listener, Options, Overdue, Queue, RunHandle, RunReply, Runs, Schedules,
    StartedOnEvent, Tasks, WaitCounts, Waitpoints, Webhooks, WorkspaceHandle,
};
pub use error::Error;
pub use executor::{
    CALLS_AT_ONCE, CALLS_TO_HOST, CallSettings, LONGEST_CALL, Token, TokenFollower, UrlHandler, models_of,
};
pub use followers::{Changed, Follower};
pub use handler::{Handler, TaskResult};
pub use histogram::Histogram;
pub use known::{KnownDefinition, Recorded};
pub use limits::Limits;
pub use readers::Pool;
pub use request::{Asker, EventSent, Leased, Poll, Stats, Worker, Workers};
pub use retention::Retention;
pub use round::LimitOrder;
pub use schedules::{Ordered, ScheduleOrder};
pub use send_event::{SendEvent, Sender};
pub use shares::LARGEST_SHARE;
pub use start::{StartRun, Started, StartedHow};
pub use tasks::write_tasks_out;
pub use timing::Timing;
pub use webhooks::{LONG_FAILURE, LinkGeneration, LinkMaker, TRIES};

/// The name of the secret that calls are signed with.
pub const SIGNING_KEY: &str = "SIGNING_KEY";
