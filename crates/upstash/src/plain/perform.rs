//! The task of a message's run: one attempt to deliver it, and what follows from the answer.

use std::sync::Arc;

use abide_calls::http::{Error, Response};
use abide_core::command::{Command, TaskRecorded, WaitFor, WaitSpec};
use abide_core::history::{Failure, JournalResult, WakeOn};
use abide_core::retry::RetryPolicy;
use abide_core::run::Run;
use abide_core::task::{JournalItem, JournalWhat, Task};
use abide_core::time::Millis;
use abide_engine::TaskResult;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Plain, callback, message_id, relay};
use crate::Gateway;
use crate::delivery::{self, Outgoing};
use crate::log::STEP;

/// How much of an answer is kept in the run of a message.
const KEPT_BYTES: usize = 16 * 1024;

/// What came of a message, as its journal holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ended {
    /// The last answer, or why there was none.
    pub(crate) answer: Value,
    /// Why the message was given up; `None`: it was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
}

impl Ended {
    fn name(visit: u32) -> String {
        format!("!ended {visit}")
    }

    /// What came of the message that a run delivers, if it was given up or somebody was told of it.
    pub(crate) fn of_run(run: &Run) -> Option<Ended> {
        let visit = run.step(STEP).map_or(1, |step| step.visit);
        Ended::among(&run.journal(STEP), visit)
    }

    fn among(journal: &[JournalItem], visit: u32) -> Option<Ended> {
        let name = Ended::name(visit);
        let found = journal.iter().find(|item| *item.name == *name)?;
        match &found.what {
            JournalWhat::Result(result) => serde_json::from_value(Value::clone(result)).ok(),
            JournalWhat::Wait { .. } => None,
        }
    }

    fn result(self) -> TaskResult {
        match self.failure {
            Some(failure) => not_retryable(&failure.code, failure.message),
            None => TaskResult::complete(self.answer),
        }
    }
}

/// The name of the wait before a retry. A message that is taken out of the dead letter queue counts anew.
pub(super) fn retry_name(visit: u32, number: u32) -> String {
    match visit {
        1 => format!("retry {number}"),
        visit => format!("retry {visit}.{number}"),
    }
}

pub(super) fn has_waited(task: &Task, name: &str) -> bool {
    task.journal.iter().any(|item| *item.name == *name)
}

/// Performs the task of a message's run.
pub(crate) async fn perform(gateway: Arc<Gateway>, task: Task) -> TaskResult {
    let Ok(plain) = serde_json::from_value::<Plain>(Value::clone(&task.input)) else {
        return not_retryable("UPSTASH_MESSAGE", "the input is not a message".to_owned());
    };
    if let Some(ended) = Ended::among(&task.journal, task.visit) {
        return ended.result();
    }
    if plain.relays {
        return relay::relay(&gateway, &plain, &task).await;
    }
    match relay::held_back(&gateway, &plain, &task).await {
        Ok(None) => {}
        Ok(Some(wait)) => return suspended(vec![wait]),
        Err(problem) => return TaskResult::fail(problem.to_string()),
    }
    let retried = (1..).take_while(|number| has_waited(&task, &retry_name(task.visit, *number))).count();
    let retried = u32::try_from(retried).unwrap_or(u32::MAX);
    let answer = gateway.send(outgoing(&gateway, &plain, &task, retried)).await;
    judge(&gateway, &plain, &task, retried, answer).await
}

pub(super) fn suspended(waits: Vec<WaitSpec>) -> TaskResult {
    TaskResult::Suspend { entries: Vec::new(), waits, wake: WakeOn::All }
}

fn outgoing(gateway: &Gateway, plain: &Plain, task: &Task, retried: u32) -> Outgoing {
    let id = message_id(&task.run_id.to_string());
    let mut headers = plain.headers.clone();
    let mut put = |name: &str, value: String| drop(headers.insert(name.to_owned(), value));
    put("upstash-message-id", id.clone());
    put("upstash-retried", retried.to_string());
    if let Some(schedule) = &plain.schedule {
        put("upstash-schedule-id", schedule.clone());
    }
    let method = plain.method.parse().unwrap_or(axum::http::Method::POST);
    let longest = std::time::Duration::from_secs(15 * 60);
    let timeout = plain.control.timeout().map_or(longest, |given| std::time::Duration::from_millis(given.0));
    Outgoing {
        url: plain.url.clone(),
        headers,
        body: if delivery::takes_body(&method) {
            gateway.sealer.open_body(&plain.body).bytes()
        } else {
            Vec::new()
        },
        method,
        message_id: id,
        timeout: timeout.min(longest),
        answer_bytes: delivery::CALLED_BYTES,
        redirects: 0,
        place: crate::origin::Place::Begun,
    }
}

async fn judge(
    gateway: &Gateway,
    plain: &Plain,
    task: &Task,
    retried: u32,
    answer: Result<Response, Error>,
) -> TaskResult {
    let (failure, after, is_final) = match &answer {
        Ok(response) if response.status.is_success() => {
            return end(gateway, plain, task, retried, &answer, None).await;
        }
        Ok(response) => {
            let text: String = String::from_utf8_lossy(&response.body).chars().take(500).collect();
            let message = format!("{} answered {}: {text}", plain.url, response.status.as_u16());
            let is_final = response.headers.contains_key("upstash-nonretryable-error");
            (
                Failure::new("UPSTASH_DELIVERY", message),
                delivery::retry_after(response, gateway.engine.now()),
                is_final,
            )
        }
        Err(error) => (Failure::new(error.code(), error.to_string()), None, !error.is_passing()),
    };
    if is_final || retried >= plain.retries {
        return end(gateway, plain, task, retried, &answer, Some(failure)).await;
    }
    let wait = WaitFor::Retry {
        call: "delivery".into(),
        attempt: retried + 1,
        policy: RetryPolicy { max_attempts: plain.retries + 1, ..RetryPolicy::default() },
        retry_after: Some(after.unwrap_or_else(|| delivery::delay(&plain.control, retried))),
        error: failure,
    };
    suspended(vec![WaitSpec::new(retry_name(task.visit, retried + 1), wait)])
}

/// Ends the run of a message. What came of it is written down together with who is told.
async fn end(
    gateway: &Gateway,
    plain: &Plain,
    task: &Task,
    retried: u32,
    answer: &Result<Response, Error>,
    failure: Option<Failure>,
) -> TaskResult {
    let told = Value::clone(&delivery::told(answer, retried, plain.retries, true));
    let waits = match callback::callbacks(gateway, plain, task, &told, failure.is_some()).await {
        Ok(waits) => waits,
        Err(problem) => return TaskResult::fail(problem.to_string()),
    };
    let ended = Ended { answer: kept(answer), failure };
    if ended.failure.is_none() && waits.is_empty() {
        return ended.result();
    }
    let result = serde_json::to_value(&ended).expect("it is JSON").into();
    let entries = vec![JournalResult { name: Ended::name(task.visit).into(), result }];
    let record = |waits: Vec<WaitSpec>| {
        let entries = entries.clone();
        let recorded = TaskRecorded { at: STEP, lease_epoch: task.lease_epoch, entries, waits };
        gateway.workspace().run(task.run_id).command(Command::TaskRecorded(recorded))
    };
    let recorded = match record(waits).await {
        // What is told is too large to be kept: the message ends without it.
        Err(abide_engine::Error::Refused(refusal)) if refusal.code() == "LIMIT_EXCEEDED" => {
            record(Vec::new()).await
        }
        done => done,
    };
    match recorded {
        Ok(_) => ended.result(),
        Err(error) => TaskResult::fail(error.to_string()),
    }
}

fn kept(answer: &Result<Response, Error>) -> Value {
    match answer {
        Ok(response) => {
            let body = &response.body[..response.body.len().min(KEPT_BYTES)];
            let header = delivery::listed(&response.headers);
            json!({ "status": response.status.as_u16(), "header": header, "body": String::from_utf8_lossy(body) })
        }
        Err(error) => json!({ "status": 0, "header": {}, "body": error.to_string() }),
    }
}

fn not_retryable(code: &str, message: String) -> TaskResult {
    TaskResult::Fail { message, code: Some(code.into()), retryable: false, retry_after: None, detail: None }
}

/// How long is slept before a message that its schedule delays.
pub(super) fn delay(plain: &Plain) -> Option<Millis> {
    plain.control.get("upstash-delay").and_then(crate::duration::parse).filter(|delay| delay.0 > 0)
}
