//! One attempt of a delivery: a signed call, and its result.

use std::time::{Duration, Instant};

use abide_calls::http::{Bounds, Client, Error, Request, Streaming};
use abide_calls::signing::{self, Keys};
use abide_calls::vault::{Vault, WEBHOOK_SECRET};
use abide_core::id::DeliveryId;
use abide_store::{Attempt, Delivery, Webhook};
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use jiff::Timestamp;

/// How long a receiver may take to answer.
const WHOLE: Duration = Duration::from_secs(15);
/// How much of an answer is read, in bytes.
const ANSWER_BYTES: usize = 64 * 1024;
const EXCERPT_BYTES: usize = 1_024;

/// The result of an attempt.
pub(super) struct Called {
    pub(super) delivery: Delivery,
    pub(super) attempt: Attempt,
    pub(super) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Received,
    NotReceived,
    /// The receiver answered 410: the webhook is to be disabled.
    Gone,
}

pub(super) async fn call(
    client: Client,
    vault: Vault,
    webhook: Webhook,
    (delivery, body): (Delivery, String),
    at: Timestamp,
) -> Called {
    let begun = Instant::now();
    let answered = match request(&vault, &webhook, delivery.id, body, at) {
        Ok(request) => answer(&client, request).await.map_err(|error| error.to_string()),
        Err(why) => Err(why),
    };
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (status, response, error) = match answered {
        Ok((status, excerpt)) => (Some(status), Some(excerpt).filter(|text| !text.is_empty()), None),
        Err(why) => (None, None, Some(why)),
    };
    let verdict = match status {
        Some(status) if status.is_success() => Verdict::Received,
        Some(StatusCode::GONE) => Verdict::Gone,
        Some(_) | None => Verdict::NotReceived,
    };
    let status = status.map(|status| status.as_u16());
    Called { delivery, attempt: Attempt { at, took_ms, status, response, error }, verdict }
}

fn request(
    vault: &Vault,
    webhook: &Webhook,
    id: DeliveryId,
    body: String,
    at: Timestamp,
) -> Result<Request, String> {
    let secrets = webhook.secrets.iter().filter(|secret| secret.until.is_none_or(|until| at < until));
    let opened: Result<Vec<String>, _> =
        secrets.map(|secret| vault.open(WEBHOOK_SECRET, &secret.key)).collect();
    let opened = opened.map_err(|error| format!("the webhook's secret: {error}"))?;
    let keys = Keys::new(opened.iter().map(String::as_str)).map_err(|error| error.to_string())?;
    let (id, timestamp_s) = (id.to_string(), at.as_second());
    let signature = keys.sign(&id, timestamp_s, body.as_bytes());
    let mut request = Request::new(Method::POST, &webhook.url);
    request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in
        [(signing::ID, id), (signing::TIMESTAMP, timestamp_s.to_string()), (signing::SIGNATURE, signature)]
    {
        let value = HeaderValue::try_from(value).map_err(|error| error.to_string())?;
        request.headers.insert(name, value);
    }
    request.body = Bytes::from(body);
    // A redirect would take what was signed for one receiver to another.
    request.bounds = Bounds { whole: WHOLE, response_bytes: ANSWER_BYTES, redirects: 0 };
    Ok(request)
}

/// The status, and the beginning of the body. A body that breaks off does not undo the status.
async fn answer(client: &Client, request: Request) -> Result<(StatusCode, String), Error> {
    let mut answer: Streaming = client.open(request).await?;
    let mut body = Vec::new();
    while body.len() < EXCERPT_BYTES
        && let Ok(Some(chunk)) = answer.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(EXCERPT_BYTES);
    let excerpt = String::from_utf8_lossy(&body).replace(char::is_control, " ");
    Ok((answer.status, excerpt.trim_end_matches('\u{FFFD}').trim().to_owned()))
}
