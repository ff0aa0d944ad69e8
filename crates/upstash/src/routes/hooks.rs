//! `ANY /v2/workflows/hooks/{user}/{run}/{event}`: calls on the webhooks of runs. The URL is the secret.

use abide_engine::SendEvent;
use axum::http::{StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::{Answer, GuestRequest, Problem, ok};
use crate::{Gateway, delivery, event};

pub(super) async fn hook(
    gateway: &Gateway,
    asked: &GuestRequest,
    user: &str,
    run: &str,
    event_id: &str,
) -> Answer {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, "there is no such webhook");
    if gateway.known_keys().0.user() != user {
        return Err(unknown());
    }
    let found = gateway.find(run).await?.ok_or_else(unknown)?;
    if gateway.workspace().run(found).get().await?.status.has_ended() {
        return Err(unknown());
    }
    let call = described(gateway, asked).to_string();
    let sent = SendEvent::new(event_id).data(event::to_run(call.as_bytes())).only_to(found);
    gateway.workspace().events().send(sent).await?;
    ok(json!({}))
}

/// The call, as the SDK makes a request of it again.
fn described(gateway: &Gateway, asked: &GuestRequest) -> Value {
    let public = &gateway.settings.public_url;
    let (proto, host) = public.split_once("://").unwrap_or(("http", public));
    let named = asked.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let about_connection =
        ["connection", "transfer-encoding", "content-length", "host", "keep-alive", "upgrade", "te"];
    // What a call is authorized by is nobody's to read in an event.
    let credentials = ["authorization", "cookie", "proxy-authorization"];
    let mut headers = asked.headers.clone();
    for name in about_connection.into_iter().chain(credentials) {
        headers.remove(name);
    }
    let query = if asked.query.is_empty() { String::new() } else { format!("?{}", asked.query) };
    let mut call = Map::new();
    let mut put = |name: &str, value: Value| drop(call.insert(name.to_owned(), value));
    put("method", json!(asked.method.as_str()));
    put("header", delivery::listed(&headers));
    put("body", json!(STANDARD.encode(&asked.body)));
    put("proto", json!(proto));
    put("host", json!(named.unwrap_or_else(|| host.split('/').next().unwrap_or(host))));
    put("url", json!(format!("/v2/{}{query}", asked.path)));
    Value::Object(call)
}
