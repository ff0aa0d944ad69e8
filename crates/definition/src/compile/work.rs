//! Work that is done outside the core: a handler's task, and the requests of calls that the engine makes. In a
//! request only what the format calls a template is one; all else is taken as it stands.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::Compiler;
use super::text::OPENING;
use crate::document::{Http, Method, Notify, Task};
use crate::expression::Template;
use crate::findings::quoted;
use crate::problem::{Code, Problem, pointer};
use crate::time::Millis;
use crate::{Action, Executor, Limit, OnCodeChange, Work};

/// The fields of a request.
#[derive(Default)]
pub(super) struct Request {
    fields: Vec<(String, Template)>,
}

impl Request {
    pub(super) fn field(mut self, name: &str, template: Template) -> Request {
        self.fields.push((name.to_owned(), template));
        self
    }

    pub(super) fn constant(self, name: &str, value: &impl Serialize) -> Request {
        self.field(name, Template::constant(plain_json(value)))
    }

    pub(super) fn constant_if_given(self, name: &str, value: Option<&impl Serialize>) -> Request {
        match value {
            Some(value) => self.constant(name, value),
            None => self,
        }
    }

    pub(super) fn call(self, executor: Executor, handler: &str, timeout: Option<Millis>) -> Action {
        Action::Work(Work {
            executor,
            handler: Arc::from(handler),
            config: None,
            input: Some(Template::object(self.fields)),
            timeout,
            heartbeat: None,
            on_code_change: OnCodeChange::Wait,
            pin_to_build: false,
            limits: Vec::new(),
        })
    }
}

/// A call of the engine under limits.
pub(super) fn limited(action: Action, limits: Vec<Limit>) -> Action {
    if let Action::Work(work) = action { Action::Work(Work { limits, ..work }) } else { action }
}

pub(super) fn plain_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("the parts of a document are JSON")
}

impl Compiler<'_> {
    pub(super) fn task(&mut self, task: &Task) -> Action {
        self.plain("handler", &task.handler);
        Action::Work(Work {
            executor: Executor::Handler,
            handler: Arc::from(task.handler.as_str()),
            config: task.config.as_ref().and_then(|config| self.template("config", config)),
            input: task.input.as_ref().and_then(|input| self.template("input", input)),
            timeout: self.timeout(task.timeout_ms, task.timeout.as_deref()),
            heartbeat: self.length("heartbeatMs", task.heartbeat_ms, "heartbeat", task.heartbeat.as_deref()),
            on_code_change: task.on_code_change.or(self.document.on_code_change).unwrap_or_default(),
            pin_to_build: task.pin_to_build.or(self.document.pin_to_build).unwrap_or_default(),
            limits: self.step_limits(task.limits.as_deref()),
        })
    }

    pub(super) fn http(&mut self, http: &Http) -> Option<Action> {
        self.scheme(&http.url);
        self.place.sees_secrets = true;
        let url = self.text_template("url", &http.url);
        let headers = match &http.headers {
            Some(headers) => self.headers("headers", headers).map(Some),
            None => Some(None),
        };
        let body = match &http.body {
            Some(body) => self.template("body", body).map(Some),
            None => Some(None),
        };
        self.place.sees_secrets = false;
        let timeout = self.timeout(http.timeout_ms, http.timeout.as_deref());
        let fail_on = http.fail_on.as_ref().map_or_else(|| json!(["4xx", "5xx"]), plain_json);
        let mut request = Request::default()
            .field("url", url?)
            .constant("method", &http.method.unwrap_or(Method::Get))
            .constant("failOn", &fail_on);
        if let Some(headers) = headers? {
            request = request.field("headers", headers);
        }
        if let Some(body) = body? {
            request = request.field("body", body);
        }
        if http.sign {
            request = request.constant("sign", &true);
        }
        let limits = self.step_limits(http.limits.as_deref());
        Some(limited(request.call(Executor::Http, "http", timeout), limits))
    }

    fn scheme(&mut self, url: &str) {
        let has_scheme = ["http://", "https://", OPENING]
            .iter()
            .any(|start| url.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)));
        if !has_scheme {
            let at = self.place.field("url");
            self.findings.problem(|| {
                Problem::new(at, Code::OutOfRange, format!("{} is not a whole URL", quoted(url)))
                    .expected("a URL that begins with `https://` or `http://`")
            });
        }
    }

    pub(super) fn headers(&mut self, field: &str, headers: &BTreeMap<String, String>) -> Option<Template> {
        for name in headers.keys().filter(|name| !is_header_name(name)) {
            let at = pointer(&self.place.field(field), name);
            self.findings.problem(|| {
                Problem::new(at, Code::OutOfRange, format!("{} is not the name of a header", quoted(name)))
                    .expected("letters, digits and `-`, such as `content-type`")
            });
        }
        self.template(field, &plain_json(headers))
    }

    pub(super) fn notify(&mut self, notify: &Notify) -> Option<Action> {
        let event_id = self.text_template("eventId", &notify.event_id);
        let data = self.template("data", notify.data.as_ref().unwrap_or(&Value::Null));
        let run_id = self.template("runId", &notify.run_id.clone().map_or(Value::Null, Value::String));
        let request = Request::default()
            .field("eventId", event_id?)
            .field("data", data?)
            .field("runId", run_id?)
            .constant("delivery", &notify.delivery.unwrap_or_default());
        Some(request.call(Executor::Notify, "notify", None))
    }
}

/// A token of RFC 9110.
pub fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
