//! How things look from outside. Each type here is a body of an answer; its schema is in `/openapi.json`.

pub(crate) mod call;
pub(crate) mod definition;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod step;
pub(crate) mod task;
pub(crate) mod waitpoint;
pub(crate) mod words;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// A JSON answer.
#[derive(Debug)]
pub(crate) struct Answer<T>(pub(crate) StatusCode, pub(crate) T);

impl<T> Answer<T> {
    pub(crate) fn ok(body: T) -> Answer<T> {
        Answer(StatusCode::OK, body)
    }
}

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.1).expect("an answer is JSON");
        let json = HeaderValue::from_static("application/json");
        (self.0, [(header::CONTENT_TYPE, json)], body).into_response()
    }
}

/// A part of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}List")]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
    /// Give it as `cursor` to get what follows; null at the end.
    pub(crate) next_cursor: Option<String>,
}
