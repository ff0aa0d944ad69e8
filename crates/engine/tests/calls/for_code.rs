//! Calls that the engine makes for durable code.

use std::collections::BTreeMap;

use abide_core::command::{Command, WaitFor, WaitSpec};
use abide_core::definition::HttpCall;
use abide_core::definition::document::{Method, Retry};
use abide_core::history::WakeOn;
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_core::task::{JournalWhat, Task};
use abide_core::waitpoint::ListensFor;
use abide_engine::{Engine, TaskResult};
use abide_testkit::receiver::{Receiver, json};
use serde_json::{Value, json};

use crate::place::{Place, output};

fn call(url: String) -> HttpCall {
    HttpCall {
        url,
        method: Method::Post,
        headers: BTreeMap::from([("x-from".to_owned(), "{{ input.n }}".to_owned())]),
        body: Some(json!({ "n": "{{ secret.KEY }}" }).into()),
        fail_on: None,
        retry: Retry::attempts(3),
        timeout_ms: None,
    }
}

/// A place with a handler `desk` that asks for this call, and gives back what came of it.
async fn desk(place: &Place, call: HttpCall) -> RunId {
    let handler = move |task: Task| {
        let call = call.clone();
        async move {
            match task.journal.first().map(|item| item.what.clone()) {
                Some(JournalWhat::Wait { payload, .. }) => {
                    TaskResult::complete(payload.as_deref().cloned().unwrap_or_default())
                }
                Some(JournalWhat::Result(_)) | None => {
                    let waits = vec![WaitSpec::new("rate", WaitFor::Http(Box::new(call)))];
                    TaskResult::Suspend { entries: Vec::new(), waits, wake: WakeOn::All }
                }
            }
        }
    };
    place.engine.handler("desk", handler).await.unwrap();
    let steps = json!([{ "name": "desk", "type": "task", "handler": "desk" }]);
    place.deploy(json!({ "name": "refund", "steps": steps })).await;
    place.engine.start("refund", json!({})).await.unwrap()
}

async fn outcome(place: &Place, run: RunId) -> Value {
    output(&place.engine.clock().skip_waits(run).await.unwrap().expect("it ends by itself"))
}

#[tokio::test]
async fn a_503_is_followed_by_another_attempt_and_the_answer_goes_to_the_code() {
    let receiver = Receiver::start(|received| match received.number {
        1 => json("503 Busy", json!("later")),
        _ => json("200 OK", json!({ "rate": 3 })),
    })
    .await;
    let place = Place::on_loopback(Engine::options()).await;
    let run = desk(&place, call(receiver.url("/rates/{{ input.n }}"))).await;
    let ended = outcome(&place, run).await;
    assert_eq!(
        (&ended["status"], &ended["output"]["status"], &ended["output"]["body"]),
        (&json!("COMPLETED"), &json!(200), &json!({ "rate": 3 }))
    );
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].header("x-from").as_deref(), Some("{{ input.n }}"));
    assert_eq!(received[0].json(), json!({ "n": "{{ secret.KEY }}" }), "data is no template");
    assert_eq!(received[0].header("idempotency-key"), received[1].header("idempotency-key"));
}

#[tokio::test]
async fn an_address_that_is_not_allowed_fails_the_call_with_its_reason() {
    let place = Place::new(Engine::options()).await;
    let run = desk(&place, call("http://169.254.169.254/latest/meta-data".to_owned())).await;
    let ended = outcome(&place, run).await;
    assert_eq!(ended["status"], json!("FAILED"));
    assert_eq!(ended["error"]["code"], json!("HTTP_ADDRESS_REFUSED"), "{ended}");
    assert!(ended["error"]["message"].as_str().unwrap().contains("169.254.169.254"), "{ended}");
}

#[tokio::test]
async fn a_call_whose_run_is_cancelled_is_cancelled_with_it() {
    let receiver = Receiver::start(|_| json("503 Busy\r\nretry-after: 86400", json!("later"))).await;
    let place = Place::on_loopback(Engine::options()).await;
    let run = desk(&place, call(receiver.url("/"))).await;
    let child = loop {
        let waiting = place.engine.run(run).get().await.unwrap();
        let child = waiting.open_waitpoints().find_map(|wait| {
            if let ListensFor::Child { run_id } = wait.listens_for { Some(run_id) } else { None }
        });
        if let Some(child) = child
            && place.engine.run(child).get().await.is_ok_and(|child| child.status == RunStatus::Waiting)
        {
            break child;
        }
        tokio::task::yield_now().await;
    };
    place.engine.run(run).command(Command::Cancel { reason: None }).await.unwrap();
    place.engine.clock().settled().await.unwrap();
    assert_eq!(place.engine.run(child).get().await.unwrap().status, RunStatus::Cancelled);
    assert_eq!(receiver.received().len(), 1);
}
