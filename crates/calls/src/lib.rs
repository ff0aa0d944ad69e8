//! What leaves the process: HTTP under an address policy, models and their tools, secrets, signatures.
//!
//! A library of the engine that knows nothing of runs and stores. What decides (`tool_loop`, `guardrails`, `signing`,
//! the policy) is pure; what talks (`http`, `models`) holds no state but its connections, so that a crash loses nothing
//! but a call in flight.

pub mod guardrails;
pub mod http;
pub mod models;
pub mod secrets;
pub mod signing;
pub mod tool_loop;
pub mod vault;
