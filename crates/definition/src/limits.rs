//! Every limit of the definition language, by name. What is hit says so with the name and both figures (R16).

use crate::time::Millis;

/// One payload: an input, an output, a signal, an event, a checkpoint, a journal entry.
pub const PAYLOAD_BYTES: usize = 1024 * 1024;
/// A definition's document.
pub const DEFINITION_BYTES: usize = 4 * 1024 * 1024;
/// Nesting of objects and arrays in anything that is read.
pub const NESTING: usize = 100;

/// The name of a workflow.
pub const WORKFLOW_NAME_CHARS: usize = 200;
/// The version of a workflow.
pub const VERSION_CHARS: usize = 50;
/// A description, a comment or a reason.
pub const DESCRIPTION_CHARS: usize = 1000;
/// The name of a step, and a key of `saveAs`.
pub const STEP_NAME_CHARS: usize = 100;
/// A handler, a signal type, an event id, a journal entry's name, a tag.
pub const NAME_CHARS: usize = 200;
/// Steps of one workflow.
pub const STEPS: usize = 1000;

/// An expression's source. Evaluation is linear in it, and the parser recurses at most `EXPRESSION_DEPTH` deep.
pub const EXPRESSION_BYTES: usize = 4 * 1024;
/// How deep an expression may be nested.
pub const EXPRESSION_DEPTH: usize = 64;

/// The longest wait.
pub const WAIT: Millis = Millis::from_days(365);
/// Longer waits are allowed, with a warning: people often mean hours when they write this much.
pub const WAIT_WITHOUT_WARNING: Millis = Millis::from_days(30);

/// Attempts of one step.
pub const RETRY_ATTEMPTS: u32 = 20;
/// The shortest back-off.
pub const BACKOFF_MS: u64 = 100;
/// How many times longer each back-off may be than the one before.
pub const BACKOFF_MULTIPLIER: f64 = 10.0;

/// Limits of one workflow, or of one step.
pub const LIMITS: usize = 8;
/// The key of a limit, as its template gives it.
pub const LIMIT_KEY_CHARS: usize = 200;
/// The length of the name of a limit, in characters.
pub const LIMIT_NAME_CHARS: usize = 100;
/// How many may have room under a limit at the same time.
pub const LIMIT_CONCURRENCY: u32 = 100_000;
/// How many may begin in a time, or at once, under a limit.
pub const LIMIT_RATE: u32 = 1_000_000;
/// Starts that one run collects: with more it begins at once, and the next opens another.
pub const DEBOUNCED_STARTS: u32 = 10_000;
/// The inputs of all starts that a run is started with by the last of them. Those that it gets all of are one payload.
pub const DEBOUNCED_BYTES: usize = 16 * 1024 * 1024;
/// The greatest `concurrency` of a limit whose runs `replace` each other.
pub const REPLACED_AT_MOST: u32 = 32;
/// The greatest priority.
pub const PRIORITY: u8 = 9;

/// Items of one map.
pub const MAP_ITEMS: usize = 10_000;
/// Items of one map that are under way at the same time.
pub const MAP_CONCURRENCY: u32 = 10_000;
/// Waits of one step that waits for several, those of groups inside too.
pub const GROUP_WAITS: usize = 100;
/// How deep groups of waits may be nested: a group, and groups inside.
pub const GROUP_DEPTH: usize = 2;
/// Approvers of one approval.
pub const APPROVERS: usize = 100;
/// The schema that edited content must satisfy.
pub const CONTENT_SCHEMA_BYTES: usize = 64 * 1024;

/// The name of a workflow that MCP clients see.
pub const MCP_NAME_CHARS: usize = 64;
/// What the caller of such a workflow may be asked before its run starts, and as many while it waits.
pub const MCP_ASKS: usize = 50;

/// The idempotency key that a `startOn` gives.
pub const START_KEY_CHARS: usize = 255;

/// Subschemas of a JSON Schema.
pub const SCHEMA_NODES: usize = 50_000;
/// Subschemas that apply each other to the same value, one after the other.
pub const SCHEMA_DEPTH: usize = 32;
/// Subschemas that are applied to one value: each counts once for each way that leads to it.
pub const SCHEMA_WAYS: u64 = 20_000;
/// Patterns of a JSON Schema, and their length together.
pub const SCHEMA_PATTERNS: usize = 64;
/// All patterns of a JSON Schema together.
pub const SCHEMA_PATTERN_BYTES: usize = 64 * 1024;
/// Checking a value against a JSON Schema: subschemas that are applied to parts of it.
pub const SCHEMA_WORK: u64 = 5_000_000;
/// Up to here all errors are told, above only the first.
pub const SCHEMA_WORK_EXPLAINED: u64 = 200_000;
/// Up to here a value is checked where a decision is made; above, somewhere else.
pub const SCHEMA_WORK_QUICK: u64 = 1_000;
