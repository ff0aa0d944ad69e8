//! Debounce: starts of a workflow that come shortly after each other are one run. The first opens a run that does not begin
//! yet; each further one is recorded in its history and moves its beginning, never beyond an instant that the first one set.
//!
//! ```text
//!   start ──▶ is there a run that collects? ── no ──▶ a PENDING run with a wait; it has the only room under its key
//!                      │ yes: admission
//!                      ├── Collects ──▶ START_COLLECTED: the input is kept, the wait is moved
//!                      └── Begins, Gone ──▶ that one begins, and this start opens another
//! ```
//!
//! Which run collects is told by a limit of its own with room for one: two nodes never open two.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::capacity::{Ask, Policy, Room};
use crate::definition::{Debounce, Holds, WhenFull};
use crate::id::{LimitId, WorkspaceId};
use crate::json::Json;
use crate::limits;
use crate::run::Run;
use crate::time::Millis;
use crate::waitpoint::ListensFor;

/// The name of the limit under which a run collects. No definition may have one of this name.
pub const DEBOUNCE: &str = "$debounce";

/// What `{"inputs": […]}` takes beside the inputs and the commas between them, in bytes.
const AROUND_INPUTS: u64 = 13;

/// What a run that collects starts waits for: that no more come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Collecting {
    /// The limit with room for the one run that collects.
    pub limit: LimitId,
    /// What the starts have in common; empty where all of the workflow belong together.
    pub key: Arc<str>,
    /// The run begins when no start has come for so long.
    pub quiet: Millis,
    /// The run begins then at the latest.
    pub until: Timestamp,
    /// Whether the run gets the inputs of all starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collect: bool,
    /// The run begins at once when it has so many.
    pub most: u32,
    /// How many starts there are, the first one included.
    pub starts: u32,
    /// The size of their inputs, in bytes.
    pub bytes: u64,
}

impl Collecting {
    /// The wait of a run that its first start opens.
    pub(crate) fn new(
        limit: LimitId,
        key: Arc<str>,
        debounce: &Debounce,
        first: &Json,
        now: Timestamp,
    ) -> Collecting {
        Collecting {
            limit,
            key,
            quiet: debounce.quiet,
            until: debounce.at_most.after(now),
            collect: debounce.collect,
            most: debounce.size.unwrap_or(limits::DEBOUNCED_STARTS),
            starts: 1,
            bytes: AROUND_INPUTS + first.bytes() as u64,
        }
    }

    /// When the run begins if a start comes now and no other after it.
    pub(crate) fn begins_at(&self, now: Timestamp) -> Timestamp {
        self.quiet.after(now).min(self.until)
    }

    /// Takes note of one more start.
    pub(crate) fn add(&mut self, input: &Json) {
        self.starts += 1;
        self.bytes += 1 + input.bytes() as u64;
    }

    /// Whether the run has all that it may have.
    pub(crate) fn is_full(&self) -> bool {
        self.starts >= self.most
    }

    fn has_room_for(&self, input: &Json) -> bool {
        let most = if self.collect { limits::PAYLOAD_BYTES } else { limits::DEBOUNCED_BYTES };
        !self.is_full() && self.bytes + 1 + input.bytes() as u64 <= most as u64
    }

    /// The room that a run has while it collects.
    pub(crate) fn room(&self) -> Room {
        Room { limit: self.limit, holds: Holds::Run }
    }
}

/// What becomes of a start where a run is said to collect those of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The wait of this number takes it.
    Collects(u32),
    /// The run begins first, by ending the wait of this number: its time has come, it has no room for more, or it is of
    /// another version of the workflow.
    Begins(u32),
    /// The run does not collect any more.
    Gone,
}

/// What becomes of a start with this input, of this version of the workflow.
pub fn admission(run: &Run, version: &str, input: &Json, now: Timestamp) -> Admission {
    let mut open = run.open_waitpoints().filter_map(|wait| Some((wait, wait.listens_for.starts()?)));
    match open.next() {
        None => Admission::Gone,
        Some((wait, collecting))
            if wait.is_due(now)
                || &*run.definition_ref.version != version
                || !collecting.has_room_for(input) =>
        {
            Admission::Begins(wait.number)
        }
        Some((wait, _)) => Admission::Collects(wait.number),
    }
}

/// What the run that is to collect the starts of a key asks for.
pub fn ask(workspace: WorkspaceId, workflow: &str, key: &Arc<str>) -> Ask {
    Ask {
        limit: LimitId::of(workspace, Some(workflow), DEBOUNCE, key),
        workflow: Some(workflow.into()),
        name: DEBOUNCE.into(),
        key: Arc::clone(key),
        policy: Policy { concurrency: Some(1), rate: None },
        slot: true,
        token: false,
        holds: Holds::Run,
        when_full: WhenFull::Queue,
        kept: false,
    }
}

impl ListensFor {
    /// What is collected, of the wait of a run that collects starts.
    pub fn starts(&self) -> Option<&Collecting> {
        if let ListensFor::Starts(collecting) = self { Some(collecting) } else { None }
    }
}
