//! A span that is over, and the ids of those that are about runs.

use abide_core::id::{RunId, StepAddress};
use abide_core::trace::Traceparent;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) trace_id: u128,
    pub(crate) id: u64,
    pub(crate) parent: Option<u64>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) begun: Timestamp,
    pub(crate) ended: Timestamp,
    /// Texts, numbers and truth values.
    pub(crate) attributes: Vec<(&'static str, Value)>,
    /// Why it failed, if it did.
    pub(crate) failure: Option<String>,
    /// The span of another trace that ended it.
    pub(crate) link: Option<Traceparent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Internal,
    Server,
    Client,
}

/// A failed run that is retried is another span.
pub(super) fn run_id(run: RunId, retries: u32) -> u64 {
    id(run, &format!("run/{retries}"))
}

pub(super) fn step_id(run: RunId, at: StepAddress, visit: u32) -> u64 {
    id(run, &format!("step/{}/{visit}", place(at)))
}

pub(super) fn wait_id(run: RunId, number: u32) -> u64 {
    id(run, &format!("wait/{number}"))
}

/// The time that a worker has a task: whatever the worker does is within it.
pub(crate) fn attempt_id(run: RunId, at: StepAddress, lease_epoch: u32) -> u64 {
    id(run, &format!("attempt/{}/{lease_epoch}", place(at)))
}

/// A durable call that was made while a worker had the task.
pub(super) fn call_id(run: RunId, at: StepAddress, lease_epoch: u32, call: &str) -> u64 {
    id(run, &format!("call/{}/{lease_epoch}/{call}", place(at)))
}

fn place(at: StepAddress) -> String {
    at.item.map_or_else(|| at.step.to_string(), |item| format!("{}.{item}", at.step))
}

fn id(run: RunId, what: &str) -> u64 {
    let hash = Sha256::new().chain_update(run.0.to_be_bytes()).chain_update(what).finalize();
    let first = hash.first_chunk().expect("a hash has 32 bytes");
    u64::from_be_bytes(*first).max(1)
}
