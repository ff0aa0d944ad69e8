//! What durable code in a task waits for.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::capacity::Policy;
use abide_core::command::{CallLimit, WaitFor, WaitSpec};
use abide_core::definition::document::{self, Method, StatusPattern};
use abide_core::definition::{HttpCall, LimitScope, Rate, is_own};
use abide_core::history::Failure;
use abide_core::limits::CALL_ATTEMPTS;
use abide_core::retry::RetryPolicy;
use abide_core::time::Millis;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::report::needed_length;
use crate::edits;
use crate::problem::Problem;
use crate::request::{Name, instant, length};
use crate::shape::words;

/// A wait, by its type.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
#[schemars(rename = "TaskWait")]
pub(super) enum WaitBody {
    Sleep(Sleep),
    Until(Until),
    Signal(Signal),
    Event(Event),
    /// A waitpoint with a resume URL, created before or now.
    Webhook(Webhook),
    /// A waitpoint of this name that was made with `POST /waitpoints`, whatever ends it.
    Waitpoint(Waitpoint),
    /// The back-off of a durable call that failed and is made again.
    Retry(Box<Retry>),
    /// Room under a limit, for the durable call that is made then. It is given back with the record of the call's result.
    Capacity(Capacity),
    Approval(Approval),
    /// A run of another workflow, started with the wait. Its outcome ends it: `{"status": "COMPLETED", "output": …}`,
    /// `{"status": "FAILED", "error": …}` or `{"status": "CANCELLED"}`; if the wait is cancelled, so is the run.
    Child(Child),
    /// A call that the engine makes; no worker is held meanwhile. It is a run of its own, and its outcome ends the wait as
    /// that of a `child` does: the output is `{status, headers, body}`.
    Http(Box<Http>),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Sleep {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    duration_ms: Option<u64>,
    /// `durationMs` as text: `2d 4h`.
    duration: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Until {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    /// A past instant is over at once.
    #[serde(deserialize_with = "instant")]
    at: Timestamp,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Signal {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    signal_type: Name,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Event {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    event_id: Name,
    /// An expression that the event must satisfy.
    #[serde(rename = "match")]
    matching: Option<String>,
    /// What fields of the event must be, by their paths: `{"order.id": 7}`.
    #[serde(default, rename = "where")]
    fields: BTreeMap<String, Value>,
    /// How far back to look for events; to the run's creation if absent.
    lookback_ms: Option<u64>,
    lookback: Option<String>,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Webhook {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    #[serde(default)]
    allow_get: bool,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Waitpoint {
    name: Name,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Retry {
    /// Of the wait: each attempt of the call has one.
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    /// The durable call's name.
    call: Name,
    /// The attempt that failed, from 1.
    #[schemars(range(min = 1))]
    attempt: u32,
    /// All that the call may have.
    #[schemars(range(min = 2, max = CALL_ATTEMPTS))]
    max_attempts: u32,
    /// The initial back-off, drawn between zero and this (full jitter); 1000 if absent.
    backoff_ms: Option<u64>,
    /// What it is multiplied with after each attempt; 2 if absent.
    #[schemars(range(min = 1.0, max = 10.0))]
    backoff_multiplier: Option<f64>,
    /// The longest back-off; 300000 if absent.
    max_backoff_ms: Option<u64>,
    /// Try again after this time, instead of the back-off.
    retry_after_ms: Option<u64>,
    /// `retryAfterMs` as text: `2d 4h`.
    retry_after: Option<String>,
    /// Why the attempt failed.
    message: String,
    /// Your own; `TASK_FAILED` if absent.
    code: Option<Name>,
}

impl Retry {
    fn wait(self) -> Result<WaitFor, Problem> {
        let retry_after = length("retryAfter", self.retry_after_ms, self.retry_after.as_deref())?;
        let usual = RetryPolicy::default();
        let policy = RetryPolicy {
            max_attempts: self.max_attempts,
            backoff: self.backoff_ms.map_or(usual.backoff, Millis),
            multiplier: self.backoff_multiplier.unwrap_or(usual.multiplier),
            max_backoff: self.max_backoff_ms.map_or(usual.max_backoff, Millis),
        };
        let code = self.code.map_or_else(|| "TASK_FAILED".into(), Arc::<str>::from);
        let error = Failure { code, message: self.message, step: None, detail: None };
        Ok(WaitFor::Retry { call: self.call.into(), attempt: self.attempt, policy, retry_after, error })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Capacity {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    /// The durable call's name.
    call: Name,
    limit: CallLimitBody,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

/// A limit that a durable call asks for room under: `concurrency`, `rate` with `per`, or both.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "CallLimit")]
struct CallLimitBody {
    /// What the limit is called. With `scope: workspace`, all that name it share it.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// Each key has room of its own; all share one if absent.
    key: Option<String>,
    /// `workflow` if absent.
    scope: Option<LimitScope>,
    /// How many may have room at the same time.
    #[schemars(range(min = 1, max = 100_000))]
    concurrency: Option<u32>,
    /// How many may begin in the time of `per`.
    #[schemars(range(min = 1, max = 1_000_000))]
    rate: Option<u32>,
    #[schemars(range(min = 1))]
    per_ms: Option<u64>,
    /// `perMs` as text: `1m`.
    per: Option<String>,
    /// How many may begin at once after a quiet time; 1 if absent.
    #[schemars(range(min = 1, max = 1_000_000))]
    burst: Option<u32>,
}

impl Capacity {
    fn wait(self) -> Result<WaitFor, Problem> {
        let timeout = length("timeout", self.timeout_ms, self.timeout.as_deref())?;
        let CallLimitBody { name, key, scope, concurrency, rate, per_ms, per, burst } = self.limit;
        let per = length("per", per_ms, per.as_deref())?;
        let rate = match (rate, per) {
            (Some(count), Some(per)) => Some(Rate { count, per, burst: burst.unwrap_or(1) }),
            (None, None) if burst.is_none() => None,
            _ => {
                let message = "`rate` and `per` belong together, and `burst` to them";
                return Err(Problem::malformed("/waits/limit/rate", message));
            }
        };
        let limit = CallLimit {
            name: name.into(),
            key: key.unwrap_or_default().into(),
            scope: scope.unwrap_or_default(),
            policy: Policy { concurrency, rate },
        };
        Ok(WaitFor::Capacity { call: self.call.into(), limit, timeout })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Approval {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    prompt: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    content: Value,
    /// A JSON Schema that edited content must satisfy.
    content_schema: Option<Value>,
    /// Anyone with the scope `approve` if absent.
    #[serde(default)]
    approvers: Vec<String>,
    /// Approvals that are needed; 1 if absent.
    quorum: Option<u32>,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

impl Approval {
    fn wait(self) -> Result<WaitFor, Problem> {
        let timeout = length("timeout", self.timeout_ms, self.timeout.as_deref())?;
        self.content_schema.as_ref().map_or(Ok(()), edits::check_schema)?;
        let approvers = self.approvers.into_iter().map(Arc::from).collect();
        Ok(WaitFor::Approval {
            prompt: self.prompt,
            content: self.content.into(),
            content_schema: self.content_schema.map(Into::into),
            approvers,
            quorum: self.quorum.unwrap_or(1),
            timeout,
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Child {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    /// The name of the workflow.
    workflow: Name,
    /// The newest if absent.
    version: Option<Name>,
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    input: Value,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
    /// The wait is over when the run is started, with `{"status": "STARTED", "runId": …}`; the run goes on by itself.
    #[serde(default)]
    detached: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Http {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    /// Taken as it stands: nothing in a call is a template.
    #[schemars(length(min = 1, max = 8192))]
    url: String,
    /// `GET` if absent.
    method: Option<Method>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// JSON, or text when it is a string; no body if absent.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    body: Option<Value>,
    /// How long one attempt may take.
    timeout_ms: Option<u64>,
    /// `timeoutMs` as text: `30s`.
    timeout: Option<String>,
    /// Statuses that fail an attempt, such as `4xx`, `5xx` or `404`; both classes if absent.
    fail_on: Option<Vec<StatusPattern>>,
    /// How often the call is made; that of an `http` step if absent.
    retry: Option<CallRetry>,
}

/// How often a call that the engine makes is tried, and after what time.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallRetry {
    /// All attempts together; 3 if absent.
    #[schemars(range(min = 1, max = 20))]
    max_attempts: Option<u32>,
    /// The longest time before the second attempt; 1000 if absent.
    backoff_ms: Option<u64>,
    /// By how much that grows from attempt to attempt; 2 if absent.
    #[schemars(range(min = 1.0, max = 10.0))]
    backoff_multiplier: Option<f64>,
    /// The longest back-off in milliseconds; 300000 if absent.
    max_backoff_ms: Option<u64>,
}

/// A body that is null is a body.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Http {
    fn wait(self) -> Result<WaitFor, Problem> {
        let timeout = length("timeout", self.timeout_ms, self.timeout.as_deref())?;
        let CallRetry { max_attempts, backoff_ms, backoff_multiplier, max_backoff_ms } =
            self.retry.unwrap_or_default();
        Ok(WaitFor::Http(Box::new(HttpCall {
            url: self.url,
            method: self.method.unwrap_or(Method::Get),
            headers: self.headers,
            body: self.body.map(Into::into),
            fail_on: self.fail_on,
            retry: document::Retry { max_attempts, backoff_ms, backoff_multiplier, max_backoff_ms },
            timeout_ms: timeout.map(|timeout| timeout.0),
        })))
    }
}

impl WaitBody {
    pub(super) fn spec(self) -> Result<WaitSpec, Problem> {
        let (name, asked, wait) = match self {
            WaitBody::Sleep(wait) => {
                let duration = needed_length("duration", wait.duration_ms, wait.duration.as_deref())?;
                (wait.name, wait.asked, WaitFor::Sleep { duration })
            }
            WaitBody::Until(Until { name, asked, at }) => (name, asked, WaitFor::Instant { at }),
            WaitBody::Signal(wait) => {
                let timeout = length("timeout", wait.timeout_ms, wait.timeout.as_deref())?;
                (wait.name, wait.asked, WaitFor::Signal { signal_type: wait.signal_type.into(), timeout })
            }
            WaitBody::Event(wait) => {
                let timeout = length("timeout", wait.timeout_ms, wait.timeout.as_deref())?;
                let lookback = length("lookback", wait.lookback_ms, wait.lookback.as_deref())?;
                let (event_id, matching) = (wait.event_id.into(), wait.matching);
                let fields = wait.fields.into_iter().map(|(path, value)| (path, value.into())).collect();
                (wait.name, wait.asked, WaitFor::Event { event_id, matching, fields, lookback, timeout })
            }
            WaitBody::Webhook(wait) => {
                let timeout = length("timeout", wait.timeout_ms, wait.timeout.as_deref())?;
                (wait.name, wait.asked, WaitFor::Call { allow_get: wait.allow_get, timeout })
            }
            WaitBody::Waitpoint(Waitpoint { name }) => (name, None, WaitFor::Created),
            WaitBody::Retry(wait) => (wait.name.clone(), wait.asked.clone(), wait.wait()?),
            WaitBody::Capacity(wait) => (wait.name.clone(), wait.asked.clone(), wait.wait()?),
            WaitBody::Http(wait) => (wait.name.clone(), wait.asked.clone(), wait.wait()?),
            WaitBody::Approval(wait) => {
                let (name, asked) = (wait.name.clone(), wait.asked.clone());
                (name, asked, wait.wait()?)
            }
            WaitBody::Child(wait) => {
                let workflow: Arc<str> = wait.workflow.into();
                if is_own(&workflow) {
                    let message = "names of workflows that begin with `$` are the engine's";
                    return Err(Problem::malformed("/waits/workflow", message));
                }
                let timeout = length("timeout", wait.timeout_ms, wait.timeout.as_deref())?;
                let (definition, version) = (workflow, wait.version.map(Into::into));
                let (input, detached) = (wait.input.into(), wait.detached);
                let tags = Vec::new();
                let child = WaitFor::Child { definition, version, input, timeout, detached, tags };
                (wait.name, wait.asked, child)
            }
        };
        Ok(WaitSpec { name: name.into(), wait, asked: asked.map(Into::into) })
    }
}
