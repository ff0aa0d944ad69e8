//! Calls to others, in one binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod http;
mod models;
mod tool_loop;
