//! What holds for stores and what is special about each, in one binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod killed;
mod migrations;
mod postgres;
mod private;
mod refusals;
mod sqlite;
