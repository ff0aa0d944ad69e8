//! `POST /v2/batch` and `POST /v2/publish/…`: starts, steps, calls and plain messages.

use abide_core::command::{WaitFor, WaitSpec};
use abide_core::run::Run;
use serde_json::{Value, json};

use super::{Answer, GuestRequest, Problem, ok};
use crate::Gateway;
use crate::delivery::CallRequest;
use crate::log::{Log, Request, RequestKind, Step, Stored, entry_key, message_ids, shown_name};
use crate::message::{Body, Headers, Message, Purpose, is_url};
use crate::record::Recording;
use crate::sealed::Redaction;
use crate::start::Begun;
use crate::throttle::Throttle;

/// How many messages a batch may have.
const MESSAGES: usize = 1_000;

pub(super) async fn batch(gateway: &Gateway, asked: &GuestRequest) -> Answer {
    let body: Value =
        serde_json::from_slice(&asked.body).map_err(|_| Problem::bad("a batch is a JSON array"))?;
    let items = match body {
        Value::Array(items) => items,
        one @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            vec![one]
        }
    };
    if items.len() > MESSAGES {
        return Err(Problem::bad(format!("a batch has at most {MESSAGES} messages (MESSAGES)")));
    }
    let messages = items.iter().map(message).collect::<Result<Vec<_>, _>>()?;
    submit(gateway, messages).await.map(Value::Array).and_then(ok)
}

/// A message, and the queue that it is for.
type Addressed = (Message, Option<String>);

fn message(item: &Value) -> Result<Addressed, Problem> {
    let destination =
        item["destination"].as_str().ok_or_else(|| Problem::bad("a message has a `destination`"))?;
    let body = match &item["body"] {
        Value::Null => Body::None,
        Value::String(text) => Body::of(text.as_bytes()),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Body::Text(other.to_string())
        }
    };
    let headers = Headers::of_object(&item["headers"]);
    let queue = item["queue"].as_str().filter(|queue| !queue.is_empty()).map(str::to_owned);
    Ok((Message { destination: destination.to_owned(), headers, body }, queue))
}

pub(super) async fn enqueue(gateway: &Gateway, message: Message, queue: &str) -> Answer {
    if queue.is_empty() {
        return Err(Problem::bad("a queue has a name"));
    }
    ok(gateway.publish(message, Some(queue)).await?)
}

pub(super) async fn publish(gateway: &Gateway, message: Message) -> Answer {
    if message.headers.is("upstash-workflow-invoke", "true") {
        return ok(json!({ "messageId": gateway.invoke(&message).await? }));
    }
    let answers = submit(gateway, vec![(message, None)]).await?;
    ok(answers.into_iter().next().unwrap_or_default())
}

/// Refuses what cannot be done, before anything is.
fn check(gateway: &Gateway, message: &Message) -> Result<(), Problem> {
    Throttle::of(&message.headers)?;
    match message.purpose() {
        Purpose::Start | Purpose::Call => gateway.check(&message.destination),
        Purpose::Plain if is_url(&message.destination) => gateway.check(&message.destination),
        Purpose::Plain => Ok(()),
        Purpose::Step => run_of(message).map(drop),
    }
}

/// Does what messages ask for: those that belong to one run, one after the other, are one commit.
async fn submit(gateway: &Gateway, messages: Vec<Addressed>) -> Result<Vec<Value>, Problem> {
    messages.iter().try_for_each(|(message, _)| check(gateway, message))?;
    let mut answers = Vec::new();
    let mut messages = messages.into_iter().peekable();
    while let Some((message, queue)) = messages.next() {
        match message.purpose() {
            Purpose::Start => {
                let is_plain = message.is_plain_start();
                let mut together = vec![gateway.sealer.seal_message(message)?];
                while let Some((next, _)) = messages.next_if(|(next, _)| is_plain && next.is_plain_start()) {
                    together.push(gateway.sealer.seal_message(next)?);
                }
                let begun = gateway.start_all(together).await?;
                answers.extend(begun.iter().map(Begun::answer));
            }
            Purpose::Plain => answers.push(gateway.publish(message, queue.as_deref()).await?),
            Purpose::Step | Purpose::Call => {
                let id = run_of(&message)?;
                let mut together = vec![message];
                while let Some((next, _)) = messages.next_if(|(next, _)| {
                    matches!(next.purpose(), Purpose::Step | Purpose::Call)
                        && run_of(next).is_ok_and(|other| other == id)
                }) {
                    together.push(next);
                }
                let sealed = together.into_iter().map(|message| gateway.sealer.seal_message(message));
                let together = sealed.collect::<Result<Vec<_>, _>>()?;
                let ids = gateway.record(&id, |run, log| recording(gateway, run, log, &together)).await?;
                answers.extend(ids.into_iter().map(|id| json!({ "messageId": id })));
            }
        }
    }
    Ok(answers)
}

fn run_of(message: &Message) -> Result<String, Problem> {
    let headers = &message.headers;
    let id = headers.run_id().or_else(|| headers.get("upstash-callback-workflow-runid"));
    id.map(str::to_owned).ok_or_else(|| Problem::bad("a step has the header `Upstash-Workflow-RunId`"))
}

fn recording(gateway: &Gateway, run: &Run, log: &Log, messages: &[Message]) -> Result<Recording, Problem> {
    let mut recording = Recording::default();
    let group = messages.iter().find_map(|message| Step::parse(&message.body.text())?.plans());
    for message in messages {
        match message.purpose() {
            Purpose::Call => call(gateway, run, log, message, &mut recording)?,
            Purpose::Step | Purpose::Start | Purpose::Plain => {
                step(gateway, run, log, (message, group), &mut recording)?;
            }
        }
    }
    recording.suspends &= messages.len() == 1;
    Ok(recording)
}

fn step(
    gateway: &Gateway,
    run: &Run,
    log: &Log,
    (message, group): (&Message, Option<u32>),
    recording: &mut Recording,
) -> Result<(), Problem> {
    let body = message.body.text();
    let step = Step::parse(&body).ok_or_else(|| Problem::bad("the body of a step is a JSON object"))?;
    let plans = step.plans();
    if step.step_id == 0 && plans.is_none() {
        return Err(Problem::bad("a step has a `stepId` from 1, or a `targetStep` that it plans"));
    }
    recording.message_ids.push(message_ids(run)(&entry_key(&step)));
    let known = match plans {
        Some(target) => log.plan(target),
        None => log.result(step.step_id),
    };
    let name = step.entry_name();
    if known.is_some() || recording.entries.iter().any(|entry| *entry.name == *name) {
        return Ok(());
    }
    let headers = gateway.differing(log, message.headers.clone())?;
    let stored = gateway.sealer.seal_result(log, Stored::new(body, headers, plans.and(group)))?;
    if let Some(at) = message.headers.due(gateway.engine.now()) {
        recording.waits.push(WaitSpec::new(Log::delay_name(&name), WaitFor::Instant { at }));
        recording.suspends = log.may_suspend_with(&step);
    }
    recording.entry(name, serde_json::to_value(stored).expect("an entry is JSON"));
    Ok(())
}

fn call(
    gateway: &Gateway,
    run: &Run,
    log: &Log,
    message: &Message,
    recording: &mut Recording,
) -> Result<(), Problem> {
    let about =
        |name: &str| message.headers.get(&format!("upstash-callback-forward-upstash-workflow-{name}"));
    let number: u32 = about("stepid").and_then(|id| id.parse().ok()).ok_or_else(|| {
        Problem::bad("a call names its step in `Upstash-Callback-Forward-Upstash-Workflow-StepId`")
    })?;
    recording.message_ids.push(message_ids(run)(&format!("c{number}")));
    if log.requests.contains_key(&number) || log.result(number).is_some() {
        return Ok(());
    }
    let step = json!({
        "stepId": number,
        "stepName": about("stepname").unwrap_or_default(),
        "stepType": "Call",
        "concurrent": about("concurrent").and_then(|count| count.parse::<u32>().ok()).unwrap_or(1),
    });
    let is_redacted = Redaction::of(&log.started.headers).body;
    let asked = CallRequest {
        url: message.destination.clone(),
        headers: message.headers.clone(),
        body: if is_redacted { gateway.sealer.seal_body(&message.body)? } else { message.body.clone() },
    };
    let asked = serde_json::to_value(asked).expect("a call is JSON");
    let mut request = Request { step, wait: None, asked, headers: Headers::default() };
    if let Some((key, throttle)) = Throttle::of(&message.headers)? {
        let name = format!("{}: room", shown_name(number, about("stepname").unwrap_or_default()));
        let wait = throttle.wait(key, RequestKind::call_name(number), log.started.flow.is_some());
        recording.waits.push(WaitSpec::new(name.clone(), wait));
        request.wait = Some(name);
    }
    recording.entry(RequestKind::Call.entry_name(number), serde_json::to_value(request).expect("it is JSON"));
    Ok(())
}
