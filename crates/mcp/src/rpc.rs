//! JSON-RPC as the protocol uses it: one message a request. An error has the protocol's number, and in its data the problem
//! that the server's API answered with, whose `code` is stable.

use axum::http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use crate::api::Problem;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;
/// What the protocol has no number for: nobody may do this, or not now.
const REFUSED: i64 = -32000;

/// What a client sent.
#[derive(Debug)]
pub(crate) enum Message {
    Request {
        id: Value,
        method: String,
        params: Map<String, Value>,
    },
    /// Nothing that a client may tell is needed here.
    Notification,
    /// To a request that the server sent on a stream, which earlier versions of the protocol have.
    Response {
        id: Value,
        result: Option<Value>,
    },
}

impl Message {
    pub(crate) fn read(bytes: &[u8]) -> Result<Message, Error> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| Error::new(PARSE_ERROR, format!("this is not JSON: {error}")).bad())?;
        let invalid = |message: &str| Error::new(INVALID_REQUEST, message).bad();
        let Value::Object(mut fields) = value else {
            return Err(invalid("a message is one JSON object"));
        };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid("`jsonrpc` must be \"2.0\""));
        }
        let id = fields.remove("id").filter(|id| !id.is_null());
        if id.as_ref().is_some_and(|id| !id.is_string() && !id.is_number()) {
            return Err(invalid("the `id` of a message is text or a number"));
        }
        let method = match fields.remove("method") {
            Some(Value::String(method)) => Some(method),
            None => None,
            Some(_) => return Err(invalid("`method` must be text")),
        };
        let params = match fields.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(invalid("`params` must be an object")),
        };
        match (method, id) {
            (Some(method), Some(id)) => Ok(Message::Request { id, method, params }),
            (Some(_), None) => Ok(Message::Notification),
            (None, Some(id)) => Ok(Message::Response { id, result: fields.remove("result") }),
            (None, None) => Err(invalid("a message has a `method`, or the `id` of what it answers")),
        }
    }
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    /// Of the HTTP answer, if nothing was sent yet.
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<HeaderValue>,
    /// What a key would need.
    pub(crate) needs_key: bool,
}

impl Error {
    fn new(code: i64, message: impl Into<String>) -> Error {
        let (message, status) = (message.into(), StatusCode::OK);
        Error { code, message, data: None, status, retry_after: None, needs_key: false }
    }

    fn bad(mut self) -> Error {
        self.status = StatusCode::BAD_REQUEST;
        self
    }

    fn with(mut self, data: Value) -> Error {
        self.data = Some(data);
        self
    }

    /// What was sent cannot be taken as it is.
    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::new(INVALID_PARAMS, message)
    }

    /// The metadata of the request is not as the protocol wants it.
    pub(crate) fn malformed(message: impl Into<String>) -> Error {
        Error::new(INVALID_PARAMS, message).bad()
    }

    pub(crate) fn unknown_method(method: &str) -> Error {
        let error = Error::new(METHOD_NOT_FOUND, format!("there is no method `{method}`"));
        Error { status: StatusCode::NOT_FOUND, ..error }
    }

    pub(crate) fn unknown_resource(uri: &str) -> Error {
        Error::new(INVALID_PARAMS, format!("there is no resource `{uri}`")).with(json!({ "uri": uri }))
    }

    pub(crate) fn header_mismatch(message: impl Into<String>) -> Error {
        Error::new(HEADER_MISMATCH, message).bad()
    }

    /// The client did not say that it can do what the request needs.
    pub(crate) fn missing_capability(capabilities: Value) -> Error {
        Error::new(MISSING_CAPABILITY, "the client does not have a capability that this needs")
            .bad()
            .with(json!({ "requiredCapabilities": capabilities }))
    }

    pub(crate) fn unsupported_version(requested: &str, supported: &[&str]) -> Error {
        Error::new(UNSUPPORTED_VERSION, format!("this server does not speak version `{requested}`"))
            .bad()
            .with(json!({ "supported": supported, "requested": requested }))
    }

    pub(crate) fn busy(message: impl Into<String>) -> Error {
        Error { status: StatusCode::SERVICE_UNAVAILABLE, ..Error::new(REFUSED, message) }
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Error {
        Error { status: StatusCode::PAYLOAD_TOO_LARGE, ..Error::new(INVALID_REQUEST, message) }
    }

    /// What is wrong with one request of a session, not with the session.
    pub(crate) fn within_session(mut self) -> Error {
        if self.status == StatusCode::NOT_FOUND {
            self.status = StatusCode::OK;
        }
        self
    }

    /// As it stands in a message or in a failed task.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            shown["data"] = data.clone();
        }
        shown
    }

    /// Something of the workflow itself is at fault, not what it does.
    pub(crate) fn internal(message: impl Into<String>, data: Value) -> Error {
        Error::new(INTERNAL_ERROR, message).with(data)
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Error {
        let status = problem.status;
        let code = match status.as_u16() {
            400 | 404 | 413 | 422 => INVALID_PARAMS,
            500 => INTERNAL_ERROR,
            _ => REFUSED,
        };
        let told = [401, 403, 429, 503].contains(&status.as_u16());
        Error {
            code,
            message: problem.detail().to_owned(),
            status: if told { status } else { StatusCode::OK },
            retry_after: problem.retry_after,
            needs_key: status == StatusCode::UNAUTHORIZED,
            data: Some(problem.body),
        }
    }
}

/// The answer to a request.
pub(crate) fn answer(id: &Value, outcome: &Result<Value, Error>) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.shown() }),
    }
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(text: &str) -> i64 {
        Message::read(text.as_bytes()).unwrap_err().code
    }

    #[test]
    fn what_is_not_a_message_is_told_so() {
        assert_eq!(code_of("{"), PARSE_ERROR);
        for text in ["[]", "1", r#"{"id":1,"method":"ping"}"#, r#"{"jsonrpc":"2.0"}"#] {
            assert_eq!(code_of(text), INVALID_REQUEST, "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":[],"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#,
        ] {
            assert_eq!(code_of(text), INVALID_REQUEST, "{text}");
        }
    }

    #[test]
    fn a_message_is_a_request_a_notification_or_a_response() {
        let read = |text: &str| Message::read(text.as_bytes()).unwrap();
        assert!(matches!(read(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#), Message::Request { .. }));
        assert!(matches!(read(r#"{"jsonrpc":"2.0","method":"a"}"#), Message::Notification));
        assert!(matches!(read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Message::Response { .. }));
    }
}
