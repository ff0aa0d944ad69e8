//! What clients are told about how to get in: protected resource metadata (RFC 9728), and the challenge that names it. Keys are
//! given out by whoever runs the server, so no authorization server is named.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::{Gateway, PATH};

pub(crate) async fn protected_resource(State(gateway): State<Arc<Gateway>>) -> Response {
    let url = &gateway.public_url;
    let about = json!({
        "resource": format!("{url}{PATH}"),
        "resource_name": "abide",
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read", "run", "approve"],
        "resource_documentation": format!("{url}/book/guides/mcp.html"),
    });
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], about.to_string()).into_response()
}

/// The value of `WWW-Authenticate`.
pub(crate) fn challenge(public_url: &str, error: Option<&str>) -> String {
    let error = error.map(|error| format!("error=\"{error}\", ")).unwrap_or_default();
    format!(
        "Bearer {error}resource_metadata=\"{public_url}/.well-known/oauth-protected-resource{PATH}\", scope=\"read run\""
    )
}
