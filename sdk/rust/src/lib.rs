//! abide for Rust: a client, a worker, durable code in handlers, workflows written in code, and a server for tests.
//!
//! A handler may wait. At each wait it is suspended, and holds no worker, no thread and no memory. When the wait is over it is
//! re-executed from the top, on any worker, and finished calls answer with what was recorded.
//!
//! ```no_run
//! use abide_sdk::{Client, Context, Json, Result, Worker, Workflow};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Order {
//!     id: u64,
//! }
//!
//! async fn fulfil(ctx: Context, order: Order) -> Result<String> {
//!     let parcel: String = ctx.run("pack", || async { Ok(format!("parcel of order {}", order.id)) }).await?;
//!     ctx.sleep("cool-down", "30m").await?;
//!     let paid = ctx.wait_for_event::<Json>("payment", "order.paid").matching("event.order == input.id").timeout("7d");
//!     match paid.await? {
//!         Some(_) => ctx.run("ship", || async { Ok(format!("{parcel} was shipped")) }).await,
//!         None => Ok(format!("{parcel} was not paid")),
//!     }
//! }
//!
//! # async fn program() -> Result<(), abide_sdk::Error> {
//! let orders = Workflow::<Order, String>::new("orders").task("fulfil", "fulfil-order");
//! let client = Client::from_env()?; // ABIDE_SERVER, ABIDE_API_KEY
//! client.deploy(&orders).await?;
//! Worker::new(&client).handler("fulfil-order", fulfil).start();
//! println!("{}", client.start_and_wait(&orders, Order { id: 7 }).await?);
//! # Ok(())
//! # }
//! ```
//!
//! There is no engine in here: all it does is HTTP.
#![warn(missing_docs)]

mod asked;
mod branch;
mod build;
mod call;
mod check;
mod client;
mod context;
mod execution;
mod failure;
mod handlers;
mod length;
#[cfg(feature = "tracing-layer")]
pub mod log;
mod middleware;
mod origin;
mod pages;
mod problem;
mod raw;
mod reports;
mod resources;
mod setters;
pub mod step;
mod stream;
pub mod testing;
mod transport;
mod wait;
#[allow(missing_docs, clippy::large_enum_variant, reason = "written by sdk/generate")]
#[rustfmt::skip]
pub mod wire;
mod worker;
mod workflow;

pub use abide_sse::Event as ServerEvent;
pub use branch::{Branch, Part, Waits};
pub use call::{Limit, Retry, RunOptions};
pub use check::{InvalidWorkflow, WorkflowProblem};
pub use client::{Change, ChangedRun, Client, ClientBuilder, RunHandle, WorkflowRef};
pub use context::{
    Approval, Context, First, HttpResponse, NewApproval, NewWaitpoint, RequestedApproval, ResumeCall,
    Verdict, Waitpoint,
};
pub use failure::{Result, TaskError};
pub use handlers::Handlers;
pub use jiff::Timestamp;
pub use length::Length;
pub use middleware::{CallAttempt, Middleware, Next};
pub use origin::Origin;
pub use pages::{Page, Pages};
pub use problem::{Error, Problem, ProblemKind, RunNotCompleted};
pub use raw::{Answer, RawRequest};
pub use reqwest::Method;
pub use resources::{
    Admin, Approvals, CostQuery, Definitions, Events, Limits, Runs, Schedules, Tasks, TestClock, Triggers,
    Waitpoints, Webhooks,
};
pub use stream::{EventStream, Items};
pub use wait::{ForApproval, ForChild, ForEvent, ForHttp, ForPause, TimesOut, Unlimited, Wait};
pub use wire::{Json, LogLevel, code};
pub use worker::{Worker, Working};
pub use workflow::{Workflow, workflow};

/// The README's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
