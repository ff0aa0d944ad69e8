//! What the tests of several crates need. A dev-dependency only: nothing that is shipped depends on it.
//!
//! Everything here panics where a test could not go on.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

pub mod http;
pub mod postgres;
pub mod receiver;
pub mod serve;
