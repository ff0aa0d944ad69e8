//! A message that is delivered and nothing more: what was published without a workflow, a callback, the occurrence of a
//! schedule. It is a run of its own; a retry is a wait of it.

mod callback;
mod perform;
mod relay;

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::command::{WaitFor, WaitSpec};
use abide_core::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use self::perform::{Ended, perform};
pub(crate) use self::relay::resumed_event;
use crate::log::Log;
use crate::message::{Body, Headers, Message, RETRIES};
use crate::routes::Problem;
use crate::sealed::Redaction;
use crate::started::{flow_tag, group_tag, label_tag, labels, queue_tag, schedule_tag, url_tag};
use crate::throttle::Throttle;
use crate::{Gateway, MESSAGE, delivery};

/// The wait that ends when the failure callback of a run is on its way.
pub(crate) const FAILURE_CALLBACK: &str = "failure callback";

/// The input of the run of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Plain {
    pub(crate) url: String,
    pub(crate) method: String,
    /// The headers that the message is delivered with.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Body,
    pub(crate) retries: u32,
    /// The headers that say how a delivery is tried again, and who is told what came of the message.
    #[serde(default)]
    pub(crate) control: Headers,
    /// The flow control key that the message is under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) flow: Option<String>,
    /// The queue that the message stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) queue: Option<String>,
    /// The URL group that the message was sent to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    /// The name that the URL group has for this URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    /// The schedule that the message comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) schedule: Option<String>,
    /// The instant before which the message is not delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) not_before: Option<i64>,
    /// Whether the message is published anew instead of being delivered: to a group, into a queue, or after a delay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) relays: bool,
}

impl Plain {
    /// A message that was published to a URL.
    pub(crate) fn of(message: &Message) -> Plain {
        let mut headers = message.headers.forwarded();
        let content_type = message.headers.get("content-type");
        headers.extend(content_type.map(|given| ("content-type".to_owned(), given.to_owned())));
        Plain {
            url: message.destination.clone(),
            method: delivery::method(&message.headers).to_string(),
            headers,
            body: message.body.clone(),
            retries: message.headers.retries().unwrap_or(RETRIES),
            control: control(&message.headers),
            ..Plain::default()
        }
    }

    pub(crate) fn tags(&self) -> Vec<Arc<str>> {
        let mut tags = vec![url_tag(&self.url)];
        tags.extend(self.queue.as_deref().map(queue_tag));
        tags.extend(self.group.as_deref().map(group_tag));
        tags.extend(self.schedule.as_deref().map(schedule_tag));
        tags.extend(self.flow.as_deref().map(flow_tag));
        let room = abide_core::limits::TAGS - tags.len();
        tags.extend(labels(&self.control).take(room).map(label_tag));
        tags.into_iter().map(Into::into).collect()
    }

    /// The message that the run of a message delivers; `None` if it is another run.
    pub(crate) fn of_run(run: &Run) -> Option<Plain> {
        let is_message = *run.definition_ref.name == *MESSAGE;
        is_message.then(|| serde_json::from_value(Value::clone(&run.input)).ok()).flatten()
    }

    /// The message, as clients are shown it.
    pub(crate) fn shown(&self, run: &Run) -> Value {
        let mut shown = self.described();
        shown["messageId"] = json!(message_id(&run.id.to_string()));
        shown["notBefore"] = json!(self.not_before.unwrap_or(run.created_at.as_millisecond()));
        shown["createdAt"] = json!(run.created_at.as_millisecond());
        shown
    }

    /// What is known of the message before it is published; what is sealed stays so.
    pub(crate) fn described(&self) -> Value {
        let header: BTreeMap<&str, [&str; 1]> =
            self.headers.iter().map(|(name, value)| (name.as_str(), [crate::sealed::shown(value)])).collect();
        let mut shown = json!({
            "url": self.url,
            "method": self.method,
            "header": header,
            "body": self.body.text(),
            "maxRetries": self.retries,
            "callerIP": "",
        });
        let known = [
            ("topicName", self.group.as_deref()),
            ("endpointName", self.endpoint.as_deref()),
            ("queueName", self.queue.as_deref()),
            ("scheduleId", self.schedule.as_deref()),
            ("flowControlKey", self.flow.as_deref()),
            ("callback", self.control.get("upstash-callback")),
            ("failureCallback", self.control.get("upstash-failure-callback")),
            ("retryDelayExpression", self.control.get("upstash-retry-delay")),
            ("label", self.control.get("upstash-label")),
        ];
        for (name, value) in known {
            if let Some(value) = value {
                shown[name] = json!(value);
            }
        }
        if let Ok(Some((_, Throttle { parallelism, rate, period_ms, .. }))) = Throttle::of(&self.control) {
            let period = rate.map(|_| period_ms / 1_000);
            for (name, figure) in [
                ("parallelism", parallelism.map(u64::from)),
                ("rate", rate.map(u64::from)),
                ("period", period),
            ] {
                if let Some(figure) = figure {
                    shown[name] = json!(figure);
                }
            }
        }
        shown
    }

    /// A run of this message that its starter does not wait for.
    async fn detached(&self, gateway: &Gateway) -> Result<WaitFor, Problem> {
        let version = gateway.version(MESSAGE, gateway.throttle_of(self).await?).await?;
        Ok(WaitFor::Child {
            definition: MESSAGE.into(),
            version: Some(version.into()),
            input: serde_json::to_value(self).expect("a message is JSON").into(),
            timeout: None,
            detached: true,
            tags: self.tags(),
        })
    }
}

impl Gateway {
    /// The limits that a message is under: its queue's, and those of its own.
    pub(crate) async fn throttle_of(&self, plain: &Plain) -> Result<Throttle, Problem> {
        let own = Throttle::of(&plain.control)?.filter(|_| plain.flow.is_some() && !plain.relays);
        let mut throttle = own.map(|(_, throttle)| throttle).unwrap_or_default();
        if let Some(queue) = plain.queue.as_deref().filter(|_| !plain.relays) {
            throttle.queue = Some(self.queue(queue).await?.parallelism);
        }
        Ok(throttle)
    }
}

/// The headers that a message needs after it was accepted.
fn control(headers: &Headers) -> Headers {
    let wanted = [
        "upstash-retry-delay",
        "upstash-timeout",
        "upstash-callback",
        "upstash-failure-callback",
        "upstash-flow-control-",
        "upstash-label",
        "upstash-redact-fields",
        "upstash-retries",
    ];
    let is_wanted = |name: &String| wanted.iter().any(|prefix| name.starts_with(prefix));
    Headers(
        headers.0.iter().filter(|(name, _)| is_wanted(name)).map(|(n, v)| (n.clone(), v.clone())).collect(),
    )
}

/// The run that delivers the failure callback of a run, as a wait that ends when it is started.
pub(crate) async fn failure_callback(
    gateway: &Gateway,
    run: &Run,
    log: &Log,
    failure: &Value,
) -> Result<Option<WaitSpec>, Problem> {
    let Some(message) = failure_message(gateway, run, log, failure)? else { return Ok(None) };
    let name = match log.visit {
        1 => FAILURE_CALLBACK.to_owned(),
        visit => format!("{FAILURE_CALLBACK} {visit}"),
    };
    Ok(Some(WaitSpec::new(name, message.detached(gateway).await?)))
}

/// The failure callback of a run; `None` if nobody wants one.
pub(crate) fn failure_message(
    gateway: &Gateway,
    run: &Run,
    log: &Log,
    failure: &Value,
) -> Result<Option<Plain>, Problem> {
    let config = &log.started.headers;
    let given = config.get("upstash-failure-callback").map(str::to_owned);
    // An endpoint that started the run itself does not name itself; it answers if it has no failure function.
    let own = config.has_feature("WF_TriggerOnConfig").then(|| log.started.url.clone());
    let (url, own_control) = match (given, own) {
        (Some(url), _) => (url, config.under("upstash-failure-callback-")),
        (None, Some(url)) => (url, config.clone()),
        (None, None) => return Ok(None),
    };
    let mut headers = own_control.forwarded();
    headers.remove("upstash-workflow-sdk-version");
    let mut put = |name: &str, value: String| drop(headers.insert(name.to_owned(), value));
    put("upstash-workflow-is-failure", "true".to_owned());
    put("upstash-workflow-failure-callback", "true".to_owned());
    put("content-type", "application/json".to_owned());
    put("upstash-workflow-runid", log.started.workflow_run_id.clone());
    put("upstash-workflow-createdat", run.created_at.as_millisecond().to_string());
    let body = delivery::failure_body(run, log, failure, &crate::dlq_id(run));
    let body = Body::Text(body.to_string());
    let mut control = control(&own_control);
    // What is told of a failure is told to nobody else.
    control.0.retain(|name, _| ["upstash-retry-delay", "upstash-timeout"].contains(&name.as_str()));
    Ok(Some(Plain {
        url,
        method: "POST".to_owned(),
        headers,
        body: if Redaction::of(config).body { gateway.sealer.seal_body(&body)? } else { body },
        retries: own_control.retries().unwrap_or(RETRIES),
        control,
        ..Plain::default()
    }))
}

/// The id of the message that a run delivers.
pub(crate) fn message_id(run: &str) -> String {
    format!("msg_{}", run.strip_prefix("run_").unwrap_or(run))
}
