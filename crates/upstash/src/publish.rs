//! Messages that are no part of a run: published to a URL or a URL group, now or later, once under a deduplication id.

use abide_core::id::RunId;
use abide_core::refusal::Refusal;
use abide_engine::stored::{Page, RunFilter};
use abide_engine::{Error, StartRun, StartedHow};
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::message::{Body, Message, is_url};
use crate::plain::{Plain, message_id};
use crate::registry::Queue;
use crate::routes::Problem;
use crate::{Gateway, MESSAGE};

/// How many messages of a queue are delivered at a time, unless somebody says.
const PARALLELISM: u32 = 1;

impl Gateway {
    /// Publishes a message that is no part of a run: to its URL, or to each endpoint of its group.
    pub(crate) async fn publish(&self, message: Message, queue: Option<&str>) -> Result<Value, Problem> {
        let now = self.engine.now();
        let key = deduplication_key(&message);
        let run_at = message.headers.due(now);
        let plain = Plain {
            not_before: run_at.map(Timestamp::as_millisecond),
            ..self.plain(self.sealer.seal_message(message)?, queue)?
        };
        if let Some(queue) = queue {
            self.make_queue(queue).await?;
        }
        let mut starts = Vec::new();
        let messages = self.addressed(&plain).await?;
        for message in &messages {
            self.check(&message.url)?;
            let version = self.version(MESSAGE, self.throttle_of(message).await?).await?;
            let tag = key.as_ref().map(|key| once_tag(key, &message.url));
            let mut tags = message.tags();
            tags.extend(tag.iter().map(|tag| tag.as_str().into()));
            let start = StartRun::new(MESSAGE)
                .version(version)
                .input(serde_json::to_value(message).expect("a message is JSON"))
                .tags(tags)
                .run_at(run_at)
                .idempotency_key(tag.clone());
            starts.push(match tag {
                Some(tag) => start.compared_by(json!(tag)),
                None => start,
            });
        }
        let mut answers = Vec::new();
        for (message, started) in messages.iter().zip(self.workspace().start_many(starts).await) {
            let (run, is_old) = match (started, &key) {
                (Ok(started), _) => (started.run, matches!(started.how, StartedHow::Repeated { .. })),
                // It was published before, for another instant, say: it is the id that counts.
                (Err(Error::Refused(Refusal::KeyReused(_))), Some(key)) => {
                    (self.published(&once_tag(key, &message.url)).await?, true)
                }
                (Err(error), _) => return Err(error.into()),
            };
            let mut answer = json!({ "messageId": message_id(&run.to_string()), "url": message.url });
            if let Some(endpoint) = &message.endpoint {
                answer["endpointName"] = json!(endpoint);
            }
            if is_old {
                answer["deduplicated"] = json!(true);
            }
            answers.push(answer);
        }
        Ok(match plain.group {
            Some(_) => Value::Array(answers),
            None => answers.into_iter().next().unwrap_or_default(),
        })
    }

    /// The run of a message that was published under a deduplication id.
    async fn published(&self, tag: &str) -> Result<RunId, Problem> {
        let filter = RunFilter { tag: Some(tag.to_owned()), ..RunFilter::default() };
        let found = self.workspace().runs().ids(filter, Page { after: None, limit: 1 }).await?;
        let again =
            || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the message was just published; try again");
        found.first().copied().ok_or_else(again)
    }

    /// A message as its run will have it.
    pub(crate) fn plain(&self, message: Message, queue: Option<&str>) -> Result<Plain, Problem> {
        for header in ["upstash-callback", "upstash-failure-callback"] {
            if let Some(url) = message.headers.get(header).filter(|url| !url.is_empty()) {
                self.check(url)?;
            }
        }
        let flow = crate::throttle::Throttle::of(&message.headers)?.map(|(key, _)| key);
        let queue = queue.map(str::to_owned);
        let group = (!is_url(&message.destination)).then(|| message.destination.clone());
        Ok(Plain { flow, queue, group, ..Plain::of(&message) })
    }

    /// The queue of a name.
    pub(crate) async fn queue(&self, name: &str) -> Result<Queue, Problem> {
        let now = self.engine.now().as_millisecond();
        let usual = Queue { created_at: now, updated_at: now, parallelism: PARALLELISM, paused_at: None };
        Ok(self.registered_as::<Queue>(name).await?.unwrap_or(usual))
    }

    /// Makes a queue, if there is none of that name.
    pub(crate) async fn make_queue(&self, name: &str) -> Result<(), Problem> {
        let queue = self.queue(name).await?;
        let make = |all: &mut std::collections::BTreeMap<String, Queue>| {
            all.entry(name.to_owned()).or_insert_with(|| queue.clone());
            Ok(())
        };
        self.change_registered(make).await
    }
}

/// The tag of a message that is published once, which is its idempotency key, too.
fn once_tag(key: &str, url: &str) -> String {
    format!("once:{}", digest(&[key.as_bytes(), url.as_bytes()]))
}

/// By what a message is known to have been published before.
fn deduplication_key(message: &Message) -> Option<String> {
    let headers = &message.headers;
    if let Some(id) = headers.get("upstash-deduplication-id").filter(|id| !id.is_empty()) {
        return Some(format!("id/{id}"));
    }
    if !headers.is("upstash-content-based-deduplication", "true") {
        return None;
    }
    let forwarded: String =
        headers.forwarded().iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let body = match &message.body {
        Body::None => Vec::new(),
        body @ (Body::Text(_) | Body::Base64(_) | Body::Sealed(_)) => body.bytes(),
    };
    Some(format!("content/{}", digest(&[message.destination.as_bytes(), forwarded.as_bytes(), &body])))
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_be_bytes());
        hasher.update(part);
    }
    URL_SAFE_NO_PAD.encode(hasher.finalize())
}
