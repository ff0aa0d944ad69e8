//! Durable workflows in your own process, with nothing to install.
//!
//! ```
//! use abide::{Engine, TaskResult, ToSpan, Workflow, json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("orders.db");
//! let engine = Engine::open(&file).await?;
//! engine.handler("ship", async |task| TaskResult::complete(json!({ "shipped": task.state["amount"] }))).await?;
//! let order = Workflow::new("order")
//!     .sleep("cool-down", 1.millisecond())
//!     .signal("paid", "payment.received")
//!     .timeout(3.days())
//!     .task("ship-goods", "ship");
//! engine.deploy(order).await?;
//!
//! let run = engine.start("order", json!({ "order": 7 })).await?;
//! engine.run(run).signal("payment.received", json!({ "amount": 99.0 })).await?;
//! let ended = engine.run(run).wait().await?;
//! assert_eq!(ended.output, Some(json!({ "shipped": 99.0 }).into()));
//! engine.shut_down().await?;
//! # Ok(())
//! # }
//! ```
//!
//! A run that sleeps or waits is a row in the file, and goes on after any crash where it was. A workflow is a document:
//! [`Workflow`] writes it in Rust, and [`Definition::from_text`] reads it from YAML or JSON.
//!
//! | feature | |
//! |---|---|
//! | `postgres` | `abide::postgres`: a store that several processes share. Off by default |

pub use abide_core::run::Run;
pub use abide_core::status::{RunStatus, StepStatus};
pub use abide_core::task::Task;
pub use abide_core::{command, id, waitpoint};
pub use abide_definition::Definition;
pub use abide_definition::document::{self, Workflow};
pub use abide_definition::time::Millis;
pub use abide_engine::*;
/// The store that one process keeps in a file.
pub use abide_store::sqlite::Sqlite;
/// A store of a kind of your own, or of one of those here.
pub use abide_store::{Read, Store};
/// Lengths of time: `30.seconds()`, `3.days()`.
pub use jiff::{Timestamp, ToSpan};
/// JSON as handlers are given it and give it.
pub use serde_json::{Value, json};

/// The store that several processes share: `Engine::open_with(Box::new(Postgres::open(address)?), Options::default())`.
#[cfg(feature = "postgres")]
pub mod postgres {
    pub use abide_store::postgres::Postgres;
}

/// The README's programs for an engine in your own process compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
