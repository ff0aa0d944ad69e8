//! Every limit of the core, by name, those of the definition language among them. What is hit says so with the name and
//! both figures (R16).

use crate::time::Millis;

pub use abide_definition::limits::*;

/// All of a run's `state` together.
pub const STATE_BYTES: usize = 4 * 1024 * 1024;

/// Tags of one run.
pub const TAGS: usize = 20;

/// Attempts of one durable call of a handler, each after a wait of its own.
pub const CALL_ATTEMPTS: u32 = 1_000;
/// Of the error that the back-off of a durable call shows; the rest is cut off.
pub const ATTEMPT_ERROR_CHARS: usize = 2_000;
/// Each side of what a wait for other code says.
pub const MISMATCH_CHARS: usize = 2_000;
/// A build id that a worker announces.
pub const BUILD_CHARS: usize = 200;
/// Builds that are remembered as not fitting one journal; the oldest is tried again after that.
pub const UNFIT_BUILDS: usize = 100;

/// Leases lost by one attempt before that attempt counts as failed: a task that kills its worker must not be
/// handed out for ever, and a worker that was merely restarted must not cost an attempt.
pub const LOST_LEASES: u32 = 3;

/// Signals that arrived before anything waited for them, per run.
pub const MAILBOX: usize = 1000;
/// All of them together, per run.
pub const MAILBOX_BYTES: usize = 16 * 1024 * 1024;
/// Waitpoints a run may ever have.
pub const WAITPOINTS: usize = 100_000;
/// How often a run may be moved to another version of its workflow.
pub const MOVES: usize = 100;
/// Journal entries of one task.
pub const JOURNAL_ENTRIES: usize = 10_000;
/// The log of a run; what its handlers write after that is left out.
pub const LOG_BYTES: usize = 256 * 1024;
/// What is kept of one line of a log.
pub const LOG_LINE_BYTES: usize = 8 * 1024;
/// Lines of a log in one report.
pub const LOG_LINES: usize = 1_000;
/// What is kept of the stack of a failure; longer ones are cut in their middle.
pub const FAILURE_STACK_BYTES: usize = 16 * 1024;
/// What is kept of the message of a failure's cause.
pub const FAILURE_CAUSE_BYTES: usize = 2 * 1024;
/// Causes of a failure that are kept, the nearest first.
pub const FAILURE_CAUSES: usize = 8;
/// The input and the state of a run that has ended, each, as they are handed to `onFailure` or `onCancel`; what is larger
/// is left out, and named.
pub const HOOK_VALUE_BYTES: usize = 256 * 1024;
/// Of the message of the failure that is handed to `onFailure`.
pub const HOOK_MESSAGE_CHARS: usize = 20_000;
/// The URL of a call that the engine makes for durable code.
pub const HTTP_URL_BYTES: usize = 8 * 1024;
/// Headers of such a call.
pub const HTTP_HEADERS: usize = 100;
/// Statuses that fail such a call.
pub const HTTP_FAIL_ON: usize = 100;
/// The sentence that says what a record is about; what would be longer is cut.
pub const SENTENCE_CHARS: usize = 500;
/// Runs that start runs that start runs …
pub const CHILD_DEPTH: u32 = 32;
/// An output or a content that goes along with a notice; a larger one is left out, and the notice says so.
pub const WEBHOOK_VALUE_BYTES: usize = 64 * 1024;
/// How often a schedule by `every` may come.
pub const SCHEDULE_EVERY: Millis = Millis(1_000);
/// An occurrence that is later than this was missed.
pub const SCHEDULE_LATE: Millis = Millis(60_000);
/// Missed occurrences that a schedule makes up for at a time.
pub const SCHEDULE_CATCH_UP: usize = 100;
/// Occurrences that wait for the run before them.
pub const SCHEDULE_QUEUE: usize = 100;
/// Waits of a schedule that are remembered, the pending one included.
pub const SCHEDULE_WAITS: usize = 20;

/// Records of one decision, the payloads in them, and what its expressions look at.
pub const DECISION_RECORDS: usize = 50_000;
/// The payloads in the records of one decision.
pub const DECISION_BYTES: usize = 16 * 1024 * 1024;
/// What the expressions of one decision look at.
pub const DECISION_WORK: usize = 256 * 1024 * 1024;
/// What a step asks of others is recorded up to this size; a larger one is rendered when it is handed out, if it can be.
pub const RENDERED_RECORDED: usize = 16 * 1024;
/// Once a decision has rendered so much, what can be rendered later is.
pub const RENDERED_AT_ONCE: usize = 2 * 1024 * 1024;
