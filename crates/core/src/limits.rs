//! Every limit of the core, by name, those of the definition language among them. A refusal says the name of the
//! limit and both figures (R16).

use crate::time::Millis;

pub use abide_definition::limits::*;

/// The size of a run's whole `state`, in bytes.
pub const STATE_BYTES: usize = 4 * 1024 * 1024;

/// What a level of priority counts, as time that a wait for room is ahead of others.
pub const HEAD_START: Millis = Millis(60_000);
/// How often a wait for room under several limits goes from one line to another before it keeps what it gets.
pub const MOVES_BETWEEN_LINES: u16 = 8;
/// For how many single keys of a limit something may be set at run time.
pub const LIMIT_KEYS_SET: usize = 100;
/// For how many limits of a workspace something may be set at run time.
pub const LIMITS_SET: usize = 1_000;
/// How long a rate remembers what was used after that has no effect any more: so far a clock may go back.
pub const RATE_KEPT: Millis = Millis(5 * 60 * 1_000);

/// How many tags a run may have.
pub const TAGS: usize = 20;

/// How many attempts a durable call of a handler may have, each after a wait of its own.
pub const CALL_ATTEMPTS: u32 = 1_000;
/// The characters of an error that the back-off of a durable call shows; the rest is cut off.
pub const ATTEMPT_ERROR_CHARS: usize = 2_000;
/// The characters of each side of a mismatch that a wait for other code shows.
pub const MISMATCH_CHARS: usize = 2_000;
/// The length of a build id that a worker announces.
pub const BUILD_CHARS: usize = 200;
/// How many builds are remembered as not fitting one journal; the oldest is tried again after that.
pub const UNFIT_BUILDS: usize = 100;

/// How many leases one attempt may lose before it counts as failed: a task that kills its worker must not be handed
/// out for ever, and a worker that was merely restarted must not cost an attempt.
pub const LOST_LEASES: u32 = 3;

/// How many signals the mailbox of a run keeps that arrived before anything waited for them.
pub const MAILBOX: usize = 1000;
/// The size of all signals in the mailbox of a run, in bytes.
pub const MAILBOX_BYTES: usize = 16 * 1024 * 1024;
/// How many waitpoints a run may ever have.
pub const WAITPOINTS: usize = 100_000;
/// How often a run may be moved to another version of its workflow.
pub const MOVES: usize = 100;
/// How many journal entries one task may have.
pub const JOURNAL_ENTRIES: usize = 10_000;
/// The size of the log of a run, in bytes; what its handlers write after that is left out.
pub const LOG_BYTES: usize = 256 * 1024;
/// The size up to which one line of a log is kept, in bytes.
pub const LOG_LINE_BYTES: usize = 8 * 1024;
/// How many lines of a log one report may have.
pub const LOG_LINES: usize = 1_000;
/// The size up to which the stack of a failure is kept, in bytes; longer ones are cut in their middle.
pub const FAILURE_STACK_BYTES: usize = 16 * 1024;
/// The size up to which the message of a failure's cause is kept, in bytes.
pub const FAILURE_CAUSE_BYTES: usize = 2 * 1024;
/// How many causes of a failure are kept, the nearest first.
pub const FAILURE_CAUSES: usize = 8;
/// The size, in bytes, up to which the input and the state of a run that has ended are handed to `onFailure` or
/// `onCancel`; what is larger is left out, and named.
pub const HOOK_VALUE_BYTES: usize = 256 * 1024;
/// The characters of a failure's message that are handed to `onFailure`.
pub const HOOK_MESSAGE_CHARS: usize = 20_000;
/// The length of the URL of a call that the engine makes for durable code, in bytes.
pub const HTTP_URL_BYTES: usize = 8 * 1024;
/// How many headers a call that the engine makes for durable code may have.
pub const HTTP_HEADERS: usize = 100;
/// How many statuses a call that the engine makes for durable code may name as failures.
pub const HTTP_FAIL_ON: usize = 100;
/// The length of the sentence that says what a record is about; what would be longer is cut.
pub const SENTENCE_CHARS: usize = 500;
/// How deep runs may start runs that start runs …
pub const CHILD_DEPTH: u32 = 32;
/// The size up to which an output or a content goes along with a webhook message, in bytes; a larger one is left out,
/// and the message says so.
pub const WEBHOOK_VALUE_BYTES: usize = 64 * 1024;
/// The shortest interval of a schedule by `every`.
pub const SCHEDULE_EVERY: Millis = Millis(1_000);
/// How late an occurrence may be before it counts as missed.
pub const SCHEDULE_LATE: Millis = Millis(60_000);
/// How many missed occurrences a schedule makes up for at a time.
pub const SCHEDULE_CATCH_UP: usize = 100;
/// How many occurrences of a schedule may wait for the run before them.
pub const SCHEDULE_QUEUE: usize = 100;
/// How many waits of a schedule are remembered, the pending one included.
pub const SCHEDULE_WAITS: usize = 20;

/// How many records one decision may make.
pub const DECISION_RECORDS: usize = 50_000;
/// The size of all payloads in the records of one decision, in bytes.
pub const DECISION_BYTES: usize = 16 * 1024 * 1024;
/// How much the expressions of one decision may look at, in bytes.
pub const DECISION_WORK: usize = 256 * 1024 * 1024;
/// The size up to which a step's request to its executor is recorded, in bytes; a larger one is rendered when the
/// task is handed out, if it can be.
pub const RENDERED_RECORDED: usize = 16 * 1024;
/// How much one decision renders, in bytes, before it leaves the rest for later where it can.
pub const RENDERED_AT_ONCE: usize = 2 * 1024 * 1024;
