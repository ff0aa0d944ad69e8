//! Calls that the engine makes: the handler is suspended meanwhile, and no worker is held.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Context;
use super::children::{Outcome, not_completed, outcome};
use crate::call::Retry;
use crate::failure::TaskError;
use crate::length::Length;
use crate::wait::{ForHttp, Spec, Wait};
use crate::wire::{Failure, Json, Method, TaskWait, TaskWaitHttp};

/// What a call over HTTP came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HttpResponse<T = Json> {
    /// The response's status.
    pub status: u16,
    /// The response's headers, with names in lower case.
    #[serde(default)]
    pub headers: BTreeMap<String, Json>,
    /// What is in it: JSON, or text where it is none.
    pub body: T,
}

impl Context {
    /// Lets the engine make a call over HTTP, and waits for what it comes to: `GET`, unless the wait is told otherwise before
    /// it is awaited. A call that fails, after all its attempts, is a failure with the code of its last one.
    pub fn http<T>(&self, name: impl Into<String>, url: impl Into<String>) -> Wait<HttpResponse<T>, ForHttp>
    where
        T: DeserializeOwned + 'static,
    {
        let name = name.into();
        let spec = TaskWaitHttp::new(&name, url);
        self.wait(name, spec, |opened| match outcome(opened)? {
            Outcome::Completed { output } => {
                let what = format!("the answer to `{}`", opened.name);
                serde_json::from_value(output).map_err(|error| TaskError::unexpected(&what, &error))
            }
            Outcome::Failed { error: Failure { code, message, .. } } => {
                let message = format!("the call of `{}` failed: {message}", opened.name);
                Err(TaskError::of_call(&opened.name, message).code(code))
            }
            other @ (Outcome::Started { .. } | Outcome::Cancelled) => Err(not_completed(&opened.name, other)),
        })
    }
}

impl<T> Wait<T, ForHttp> {
    fn call(self, change: impl FnOnce(&mut TaskWaitHttp)) -> Self {
        self.tell(|spec| {
            if let Spec::Wait(TaskWait::Http(call)) = spec {
                change(call);
            }
        })
    }

    /// `GET` if absent.
    pub fn method(self, method: Method) -> Self {
        self.call(|call| call.method = Some(method))
    }

    /// A header of the request.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.call(|call| {
            call.headers.get_or_insert_default().insert(name.into(), value.into());
        })
    }

    /// JSON, or text when it is a string; no body if absent.
    pub fn body(self, body: impl Into<Json>) -> Self {
        self.call(|call| call.body = Some(body.into()))
    }

    /// How long one attempt may take.
    pub fn timeout(self, timeout: impl Into<Length>) -> Self {
        self.call(|call| (call.timeout_ms, call.timeout) = timeout.into().parts())
    }

    /// Statuses that fail an attempt, such as `"4xx"`, `"5xx"` or `404`; both classes if absent.
    pub fn fail_on(self, statuses: impl IntoIterator<Item = impl Into<Json>>) -> Self {
        self.call(|call| call.fail_on = Some(statuses.into_iter().map(Into::into).collect()))
    }

    /// The attempts of the call; three if absent.
    pub fn retry(self, retry: Retry) -> Self {
        self.call(|call| call.retry = Some(retry.into()))
    }
}
