//! The language of workflows, in one binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod builder;
mod bytes;
mod compile;
mod examples;
mod fuzz;
mod hostile_expressions;
mod problems;
mod reading;
mod schema;
#[path = "work/time.rs"]
mod time;
