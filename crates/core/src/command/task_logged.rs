//! A handler writes to the log of its run. The log is bounded: what does not fit any more is left out, and the record
//! says so.

use serde::Serialize;

use crate::command::Reply;
use crate::history::{Change, LogLine, cut, redacted};
use crate::id::StepAddress;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::turn::Turn;

/// A worker reports lines that a handler has logged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskLogged {
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch of the report; an older one is refused.
    pub lease_epoch: u32,
    /// The lines, oldest first.
    pub lines: Vec<LogLine>,
}

impl TaskLogged {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskLogged { at, lease_epoch, lines } = self;
        turn.fence(at, lease_epoch)?;
        within("the number of lines", lines.len(), limits::LOG_LINES)?;
        let mut room = limits::LOG_BYTES.saturating_sub(turn.run.log_bytes);
        if lines.is_empty() || room == 0 {
            return Ok(Reply::Unchanged);
        }
        let count = lines.len();
        let short = |line: LogLine| LogLine {
            message: cut(&redacted(&line.message), limits::LOG_LINE_BYTES),
            ..line
        };
        let fits = |line: &LogLine| {
            let is_room = line.bytes() <= room;
            room = room.saturating_sub(line.bytes());
            is_room
        };
        let lines: Vec<LogLine> = lines.into_iter().map(short).take_while(fits).collect();
        let full = lines.len() < count;
        turn.emit(Change::TaskLogged { at, lines, full })?;
        Ok(Reply::Done)
    }
}
