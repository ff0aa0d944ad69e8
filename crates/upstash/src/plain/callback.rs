//! Who is told what came of a message: its callback, and its failure callback.

use abide_core::command::WaitSpec;
use abide_core::task::Task;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::{Plain, control, message_id};
use crate::Gateway;
use crate::message::{Body, RETRIES};
use crate::routes::Problem;
use crate::sealed::Redaction;

/// Messages to those who want to know what came of a message, as waits that end when they are on their way. `told` is
/// the last answer; a callback hears of it in any case, a failure callback if the message was given up.
pub(super) async fn callbacks(
    gateway: &Gateway,
    plain: &Plain,
    task: &Task,
    told: &Value,
    has_failed: bool,
) -> Result<Vec<WaitSpec>, Problem> {
    let mut waits = Vec::new();
    let wanted = [("upstash-callback", true), ("upstash-failure-callback", has_failed)];
    for (header, _) in wanted.into_iter().filter(|(_, is_told)| *is_told) {
        let Some(url) = plain.control.get(header).filter(|url| !url.is_empty()) else { continue };
        let own = plain.control.under(&format!("{header}-"));
        let mut headers = own.forwarded();
        headers.insert("content-type".to_owned(), "application/json".to_owned());
        let body = Body::Text(body(gateway, plain, task, told, has_failed).to_string());
        let message = Plain {
            url: url.to_owned(),
            method: crate::delivery::method(&own).to_string(),
            headers,
            body: if Redaction::of(&plain.control).body { gateway.sealer.seal_body(&body)? } else { body },
            retries: own.retries().unwrap_or(RETRIES),
            control: {
                let mut control = control(&own);
                control
                    .0
                    .retain(|name, _| ["upstash-retry-delay", "upstash-timeout"].contains(&name.as_str()));
                control
            },
            ..Plain::default()
        };
        let name = match task.visit {
            1 => header.replace("upstash-", "").replace('-', " "),
            visit => format!("{} {visit}", header.replace("upstash-", "").replace('-', " ")),
        };
        waits.push(WaitSpec::new(name, message.detached(gateway).await?));
    }
    Ok(waits)
}

fn body(gateway: &Gateway, plain: &Plain, task: &Task, told: &Value, has_failed: bool) -> Value {
    let run = task.run_id.to_string();
    let mut body: Map<String, Value> = told.as_object().cloned().unwrap_or_default();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("sourceMessageId", json!(message_id(&run)));
    put("url", json!(plain.url));
    put("method", json!(plain.method));
    put("sourceHeader", Value::Object(shown_headers(plain)));
    put("sourceBody", json!(STANDARD.encode(gateway.sealer.open_body(&plain.body).bytes())));
    put("createdAt", json!(task.run_id.made_at().as_millisecond()));
    put("notBefore", json!(plain.not_before.unwrap_or(task.run_id.made_at().as_millisecond())));
    for (name, value) in
        [("topicName", &plain.group), ("endpointName", &plain.endpoint), ("scheduleId", &plain.schedule)]
    {
        if let Some(value) = value {
            put(name, json!(value));
        }
    }
    if has_failed {
        put("dlqId", json!(format!("dlq_{}", run.strip_prefix("run_").unwrap_or(&run))));
    }
    Value::Object(body)
}

fn shown_headers(plain: &Plain) -> Map<String, Value> {
    let shown =
        plain.headers.iter().map(|(name, value)| (name.clone(), json!([crate::sealed::shown(value)])));
    shown.collect()
}
