//! Every limit of the core, by name. What is hit says so with the name and both figures (R16).

use crate::time::Millis;

/// One payload: an input, an output, a signal, an event, a checkpoint, a journal entry.
pub const PAYLOAD_BYTES: usize = 1024 * 1024;
/// All of a run's `state` together.
pub const STATE_BYTES: usize = 4 * 1024 * 1024;
/// A definition's document.
pub const DEFINITION_BYTES: usize = 4 * 1024 * 1024;
/// Nesting of objects and arrays in anything that is read.
pub const NESTING: usize = 100;

pub const WORKFLOW_NAME_CHARS: usize = 200;
pub const VERSION_CHARS: usize = 50;
pub const DESCRIPTION_CHARS: usize = 1000;
pub const STEP_NAME_CHARS: usize = 100;
/// A handler, a signal type, an event id, a journal entry's name, a tag.
pub const NAME_CHARS: usize = 200;
pub const STEPS: usize = 1000;
pub const TAGS: usize = 20;

/// An expression's source. Evaluation is linear in it, and the parser recurses at most `EXPRESSION_DEPTH` deep.
pub const EXPRESSION_BYTES: usize = 4 * 1024;
pub const EXPRESSION_DEPTH: usize = 64;

pub const WAIT: Millis = Millis::from_days(365);
/// Longer waits are allowed, with a warning: people often mean hours when they write this much.
pub const WAIT_WITHOUT_WARNING: Millis = Millis::from_days(30);

pub const RETRY_ATTEMPTS: u32 = 20;
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
pub const BACKOFF_MS: u64 = 100;
pub const BACKOFF_MULTIPLIER: f64 = 10.0;

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
pub const MAP_ITEMS: usize = 10_000;
pub const MAP_CONCURRENCY: u32 = 10_000;
pub const APPROVERS: usize = 100;
/// The log of a run; what its handlers write after that is left out.
pub const LOG_BYTES: usize = 256 * 1024;
/// What is kept of one line of a log.
pub const LOG_LINE_BYTES: usize = 8 * 1024;
/// Lines of a log in one report.
pub const LOG_LINES: usize = 1_000;
/// The schema that edited content must satisfy.
pub const CONTENT_SCHEMA_BYTES: usize = 64 * 1024;
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
pub const NOTICE_VALUE_BYTES: usize = 64 * 1024;
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
pub const DECISION_BYTES: usize = 16 * 1024 * 1024;
pub const DECISION_WORK: usize = 256 * 1024 * 1024;
/// What a step asks of others is recorded up to this size; a larger one is rendered when it is handed out, if it can be.
pub const RENDERED_RECORDED: usize = 16 * 1024;
/// Once a decision has rendered so much, what can be rendered later is.
pub const RENDERED_AT_ONCE: usize = 2 * 1024 * 1024;

/// Subschemas of a JSON Schema.
pub const SCHEMA_NODES: usize = 50_000;
/// Subschemas that apply each other to the same value, one after the other.
pub const SCHEMA_DEPTH: usize = 32;
/// Subschemas that are applied to one value: each counts once for each way that leads to it.
pub const SCHEMA_WAYS: u64 = 20_000;
/// Patterns of a JSON Schema, and their length together.
pub const SCHEMA_PATTERNS: usize = 64;
pub const SCHEMA_PATTERN_BYTES: usize = 64 * 1024;
/// Checking a value against a JSON Schema: subschemas that are applied to parts of it.
pub const SCHEMA_WORK: u64 = 5_000_000;
/// Up to here all errors are told, above only the first.
pub const SCHEMA_WORK_EXPLAINED: u64 = 200_000;
/// Up to here a value is checked where a decision is made; above, somewhere else.
pub const SCHEMA_WORK_QUICK: u64 = 1_000;
