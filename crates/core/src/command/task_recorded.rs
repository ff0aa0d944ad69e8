//! Durable calls are recorded for a handler while it goes on: results, and waits that it comes to later. Entries and
//! waits are one decision, so that a result never stands without the wait that belongs to it.

use serde::Serialize;

use crate::command::Reply;
use crate::command::task_suspended::WaitSpec;
use crate::flow;
use crate::history::{Change, JournalResult};
use crate::id::StepAddress;
use crate::refusal::Refusal;
use crate::turn::Turn;
use crate::waitpoint::Kind;

/// Results and waits to add to the journal of a handler that goes on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskRecorded {
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch of the report; an older one is refused.
    pub lease_epoch: u32,
    /// Results of durable calls to append to the journal.
    pub entries: Vec<JournalResult>,
    /// Waits to open; one that the journal has already goes on as it is.
    pub waits: Vec<WaitSpec>,
}

impl TaskRecorded {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskRecorded { at, lease_epoch, entries, waits } = self;
        turn.fence(at, lease_epoch)?;
        let entries = turn.new_entries(at, entries)?;
        let asked = turn.asked_waits(at, &entries, waits)?;
        let has_entries = !entries.is_empty();
        turn.record_entries(at, entries)?;
        let (_, opens) = asked.open(turn, at);
        if !has_entries && opens.is_empty() {
            return Ok(Reply::Unchanged);
        }
        for opens in opens {
            let (number, kind) = (opens.number, opens.kind);
            turn.emit(Change::WaitCreated { opens })?;
            if kind == Kind::Approval {
                turn.emit(Change::ApprovalRequested { number })?;
            }
            flow::look_for_early_ones(turn, number)?;
        }
        Ok(Reply::Done)
    }
}
