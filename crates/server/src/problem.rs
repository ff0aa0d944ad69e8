//! What is answered instead of what was asked for: RFC 9457, with a stable code, the place of the trouble, and the
//! current state where that is the trouble.

mod code;
mod of_engine;

use std::borrow::Cow;
use std::time::Duration;

use abide_core::problem::Problem as Finding;
use abide_core::waitpoint::Actor;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub use code::Code;
pub(crate) use of_engine::{stopping, stuck};

/// An answer that says no.
#[derive(Clone, Debug)]
pub struct Problem {
    pub code: Code,
    pub detail: String,
    more: Box<More>,
}

#[derive(Clone, Debug, Default)]
struct More {
    pointer: Option<Cow<'static, str>>,
    findings: Vec<Finding>,
    warnings: Vec<Finding>,
    current: Option<Value>,
    outcome: Option<Value>,
    retry_after: Option<Duration>,
}

/// The body of an answer that says no (`application/problem+json`).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemBody {
    /// Where the code is explained.
    r#type: String,
    title: &'static str,
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// Stable; what a program may rely on.
    code: &'static str,
    /// What was wrong, where, and what would be right.
    detail: String,
    /// The place in the body, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<Cow<'static, str>>,
    /// Everything that was wrong with the body or the query, each with its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<FindingBody>")]
    problems: Vec<Finding>,
    /// What is doubtful about a definition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<FindingBody>")]
    warnings: Vec<Finding>,
    /// The state that stands against the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<Value>,
    /// What a waitpoint that is resolved already came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Value>,
}

/// One thing that is wrong, at one place.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub(crate) struct FindingBody {
    /// A JSON pointer; `/limit` for the query parameter `limit`.
    pointer: String,
    code: String,
    message: String,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    /// The nearest valid name.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Problem {
        Problem { code, detail: detail.into(), more: Box::default() }
    }

    /// Something is wrong with one field or parameter.
    pub(crate) fn malformed(pointer: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Problem {
        Problem::new(Code::Malformed, detail).at(pointer)
    }

    /// The first of what was found is the detail; all of it is listed.
    pub(crate) fn found(code: Code, findings: Vec<Finding>) -> Problem {
        let mut problem = Problem::new(code, "");
        if let Some(first) = findings.first() {
            problem.detail = first.to_string();
            problem.more.pointer = Some(first.pointer.clone().into());
        }
        problem.more.findings = findings;
        problem
    }

    /// What is wrong, one line for each place; the detail if there is but one.
    pub(crate) fn lines(&self) -> Vec<String> {
        match &self.more.findings[..] {
            [] => vec![self.detail.clone()],
            findings => findings.iter().map(ToString::to_string).collect(),
        }
    }

    pub(crate) fn at(mut self, pointer: impl Into<Cow<'static, str>>) -> Problem {
        self.more.pointer = Some(pointer.into());
        self
    }

    pub(crate) fn warnings(mut self, warnings: Vec<Finding>) -> Problem {
        self.more.warnings = warnings;
        self
    }

    pub(crate) fn current(mut self, current: Value) -> Problem {
        self.more.current = Some(current);
        self
    }

    pub(crate) fn outcome_mut(&mut self) -> Option<&mut Value> {
        self.more.outcome.as_mut()
    }

    pub(crate) fn outcome(mut self, outcome: Value) -> Problem {
        self.more.outcome = Some(outcome);
        self
    }

    /// As somebody is told who has a link and no more: that the wait is over, since when, and by whom only if it was
    /// themselves. What another caller sent is not theirs to read.
    pub(crate) fn for_link_holder(mut self, holder: &Actor) -> Problem {
        if let Some(Value::Object(outcome)) = &mut self.more.outcome {
            outcome.remove("payload");
            if outcome.get("resolvedBy").and_then(Value::as_str) != Some(&*holder.0) {
                outcome.remove("resolvedBy");
            }
            let word = |name: &str| outcome.get(name).and_then(Value::as_str).unwrap_or_default();
            self.detail = format!("the waitpoint is {} since {}", word("status"), word("resolvedAt"));
        }
        self
    }

    pub(crate) fn retry_after(mut self, delay: Duration) -> Problem {
        self.more.retry_after = Some(delay);
        self
    }

    pub fn status(&self) -> StatusCode {
        self.code.status()
    }

    pub(crate) fn into_body(self) -> ProblemBody {
        let status = self.code.status();
        let More { pointer, findings, warnings, current, outcome, retry_after: _ } = *self.more;
        ProblemBody {
            r#type: format!("/docs#{}", self.code.name()),
            title: status.canonical_reason().unwrap_or("Problem"),
            status: status.as_u16(),
            code: self.code.name(),
            detail: self.detail,
            pointer,
            problems: findings,
            warnings,
            current,
            outcome,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (code, status, retry_after) = (self.code, self.code.status(), self.more.retry_after);
        let body = serde_json::to_vec(&self.into_body()).expect("a problem is JSON");
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(delay) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(whole_seconds(delay)));
        }
        if code == Code::ReadOnly {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST, PUT, PATCH, DELETE"));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// `Retry-After` knows no parts of a second.
fn whole_seconds(delay: Duration) -> u64 {
    delay.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX).max(1)
}
