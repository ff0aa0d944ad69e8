//! `POST /v2/wait/{eventId}`: a step waits for an event, or for a call on its webhook.

use abide_core::command::WaitSpec;
use serde_json::{Value, json};

use super::{Answer, GuestRequest, Problem, ok};
use crate::log::{Request, RequestKind, Step, message_ids};
use crate::message::Headers;
use crate::record::Recording;
use crate::{Gateway, duration, event};

pub(super) async fn wait(gateway: &Gateway, asked: &GuestRequest, event_id: &str) -> Answer {
    let body: Value =
        serde_json::from_slice(&asked.body).map_err(|_| Problem::bad("a wait has a JSON body"))?;
    let step = serde_json::from_value::<Step>(body["step"].clone());
    let step = step.map_err(|_| Problem::bad("a wait has a `step`"))?;
    let number = step.plans().unwrap_or(step.step_id);
    if number == 0 {
        return Err(Problem::bad("the step of a wait has a `stepId`"));
    }
    let timeout = match body["timeout"].as_str() {
        Some(text) => Some(duration::parse(text).ok_or_else(|| {
            Problem::bad(format!("`{text}` is not a length of time such as `20s` or `7d`"))
        })?),
        None => None,
    };
    let given = Headers::of_request(&asked.headers);
    let of_body = Headers::of_object(&body["timeoutHeaders"]);
    let id = given.run_id().or_else(|| of_body.run_id());
    let id = id.ok_or_else(|| Problem::bad("a wait has the header `Upstash-Workflow-RunId`"))?;
    let now = gateway.engine.now();
    let ids = gateway.record(id, |run, log| {
        let mut recording = Recording::default();
        recording.message_ids.push(message_ids(run)(&format!("w{number}")));
        if log.requests.contains_key(&number) || log.result(number).is_some() {
            return Ok(recording);
        }
        let name = format!("{}: wait", step.result_name());
        let request = Request {
            step: body["step"].clone(),
            wait: Some(name.clone()),
            asked: json!({ "waitEventId": event_id, "timeout": body["timeout"] }),
            headers: gateway.message_headers(log, &body["timeoutHeaders"])?,
        };
        recording
            .entry(RequestKind::Wait.entry_name(number), serde_json::to_value(request).expect("it is JSON"));
        recording.waits.push(WaitSpec::new(name, event::wait(event_id, timeout, now)));
        recording.suspends = log.may_suspend_with(&step);
        Ok(recording)
    });
    ok(json!({ "messageId": ids.await?.into_iter().next() }))
}
