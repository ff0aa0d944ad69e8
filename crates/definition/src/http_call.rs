//! The workflow behind a call that the engine makes for durable code: one `http` step whose request is the run's input, as
//! it stands. Nothing in it is a template, so nothing that a payload says is read as one. It is never stored: its version
//! says how often the call is made and how long one attempt may take.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::compile::{self, MissingParts};
use super::document::{Http, Method, Retry, StatusPattern, Step, StepKind, Workflow};
use super::findings::Findings;
use super::{Action, Definition, Rejected};
use crate::json::Json;
use crate::limits;

/// The name of the workflow that makes one HTTP call.
pub const HTTP_CALL: &str = "$http";
/// The version of the derived workflow where nothing is said about attempts and time; what is said is appended.
const PLAIN: &str = "1";

/// A call that durable code asks the engine to make.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpCall {
    pub url: String,
    pub method: Method,
    pub headers: BTreeMap<String, String>,
    pub body: Option<Json>,
    /// Statuses that fail an attempt; 4xx and 5xx if absent.
    pub fail_on: Option<Vec<StatusPattern>>,
    pub retry: Retry,
    /// How long one attempt may take.
    pub timeout_ms: Option<u64>,
}

impl HttpCall {
    /// What the call is, as the input of its run.
    pub fn request(&self) -> Json {
        let mut request = Map::new();
        request.insert("url".to_owned(), json!(self.url));
        request.insert("method".to_owned(), json!(self.method));
        if !self.headers.is_empty() {
            request.insert("headers".to_owned(), json!(self.headers));
        }
        if let Some(body) = &self.body {
            request.insert("body".to_owned(), Value::clone(body));
        }
        let fail_on = self.fail_on.as_ref().map_or_else(|| json!(["4xx", "5xx"]), |given| json!(given));
        request.insert("failOn".to_owned(), fail_on);
        Json::new(Value::Object(request))
    }

    /// The version of its workflow.
    pub fn version(&self) -> String {
        let Retry { max_attempts, backoff_ms, backoff_multiplier, max_backoff_ms } = &self.retry;
        let mut version = PLAIN.to_owned();
        let mut say = |word: &str, value: Option<String>| {
            if let Some(value) = value {
                version = format!("{version};{word}={value}");
            }
        };
        say("attempts", max_attempts.map(|attempts| attempts.to_string()));
        say("backoffMs", backoff_ms.map(|ms| ms.to_string()));
        say("multiplier", backoff_multiplier.map(|multiplier| multiplier.to_string()));
        say("maxBackoffMs", max_backoff_ms.map(|ms| ms.to_string()));
        say("timeoutMs", self.timeout_ms.map(|ms| ms.to_string()));
        version
    }
}

/// What a version says; `None` if it is none.
fn policy(version: &str) -> Option<(Retry, Option<u64>)> {
    let (mut retry, mut timeout_ms) = (Retry::default(), None);
    for said in version.strip_prefix(PLAIN)?.split_terminator(';').skip(1) {
        let (word, value) = said.split_once('=')?;
        match word {
            "attempts" => {
                let attempts =
                    value.parse().ok().filter(|given| (1..=limits::RETRY_ATTEMPTS).contains(given));
                retry.max_attempts = Some(attempts?);
            }
            "backoffMs" => retry.backoff_ms = Some(value.parse().ok()?),
            "multiplier" => retry.backoff_multiplier = Some(value.parse().ok()?),
            "maxBackoffMs" => retry.max_backoff_ms = Some(value.parse().ok()?),
            "timeoutMs" => timeout_ms = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some((retry, timeout_ms))
}

impl Definition {
    /// The workflow of this name and version, if it is one that makes a call.
    pub(super) fn of_http_call(name: &str, version: Option<&str>) -> Option<Result<Definition, Rejected>> {
        let version = version.unwrap_or(PLAIN);
        let (retry, timeout_ms) = policy(version).filter(|_| name == HTTP_CALL)?;
        let http = Http { url: "{{ input.url }}".to_owned(), timeout_ms, ..Http::default() };
        let step = Step {
            name: "call".to_owned(),
            description: None,
            when: None,
            save_as: None,
            retry: Some(retry),
            after: None,
            next: None,
            kind: StepKind::Http(Box::new(http)),
        };
        let workflow = Workflow { steps: vec![step], ..Workflow::new(name).version(version) };
        let mut findings = Findings::within(crate::time::Millis(u64::MAX));
        let compiled = compile::compile(workflow, MissingParts::default(), &mut findings);
        let whole = compiled.map(|mut definition| {
            for step in &mut definition.steps {
                if let Action::Work(work) = &mut step.action {
                    // The request is the run's input, and not what a template makes of it.
                    work.input = None;
                }
            }
            definition
        });
        Some(whole.ok_or_else(|| findings.reject()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::RetryPolicy;
    use crate::time::Millis;

    #[test]
    fn what_a_call_may_take_is_in_the_version_of_its_workflow_and_read_from_it() {
        let retry = Retry {
            max_attempts: Some(7),
            backoff_ms: Some(200),
            backoff_multiplier: Some(1.5),
            max_backoff_ms: None,
        };
        let call = HttpCall {
            url: "https://example.com/{{ secret.X }}".to_owned(),
            method: Method::Post,
            headers: BTreeMap::new(),
            body: None,
            fail_on: None,
            retry,
            timeout_ms: Some(5_000),
        };
        let made = Definition::of_http_call(HTTP_CALL, Some(&call.version())).unwrap().unwrap();
        let step = made.step(0);
        let expected =
            RetryPolicy { max_attempts: 7, backoff: Millis(200), multiplier: 1.5, ..RetryPolicy::default() };
        assert_eq!(step.retry, expected);
        let Action::Work(work) = &step.action else { panic!("a call is work") };
        assert_eq!((work.timeout, work.input.is_none()), (Some(Millis(5_000)), true));
        assert_eq!(made.version(), call.version());
        assert_eq!(
            Definition::of_http_call(HTTP_CALL, None).unwrap().unwrap().step(0).retry,
            RetryPolicy::default()
        );
        assert!(Definition::of_http_call(HTTP_CALL, Some("2")).is_none());
        assert!(Definition::of_http_call(HTTP_CALL, Some("1;x=1")).is_none());
        assert!(Definition::of_http_call(HTTP_CALL, Some("1;attempts=1000")).is_none());
    }
}
