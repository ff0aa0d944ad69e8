//! Tasks that are posted to a URL.

use std::sync::{Arc, Mutex};

use abide_core::command::{Command, LeaseLoss, LeaseLost, TaskCompleted};
use abide_core::id::{RunId, StepAddress};
use abide_engine::signing::Keys;
use abide_engine::{Engine, Options};
use abide_testkit::receiver::{Receiver, json};
use serde_json::{Value, json};

use crate::place::{Place, failure, output};

const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn keys() -> Keys {
    Keys::new([KEY]).unwrap()
}

fn options(receiver: &Receiver) -> Options {
    Engine::options().handler_url("charge", &receiver.url("/charge")).signing(keys())
}

fn charging(fields: Value) -> Value {
    let mut step =
        json!({"name": "charge", "type": "task", "handler": "charge", "retry": {"maxAttempts": 2}});
    step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"name": "charging", "steps": [step]})
}

#[tokio::test]
async fn a_task_is_posted_signed_and_its_answer_is_the_result() {
    let receiver =
        Receiver::start(|_| json("200 OK", json!({"output": {"ok": true}, "stateUpdates": {"paid": 7}})))
            .await;
    let place = Place::on_loopback(options(&receiver)).await;
    let (run, ended) =
        place.run(charging(json!({"input": {"amount": "{{ input.amount }}"}})), json!({"amount": 7})).await;
    assert_eq!(output(&ended), json!({"ok": true}));
    assert_eq!(*place.engine.run(run).get().await.unwrap().state["paid"], json!(7));
    let received = &receiver.received()[0];
    let task = received.json();
    assert_eq!(
        (&task["input"], &task["attempt"], &task["handler"]),
        (&json!({"amount": 7}), &json!(1), &json!("charge"))
    );
    assert_eq!(task["runId"], json!(run));
    assert_eq!(received.header("idempotency-key"), Some(run.task(StepAddress::step(0)).to_string()));
    let [id, at, signature] =
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| received.header(name).unwrap());
    keys().verify(&id, &at, &signature, received.body.as_bytes(), place.engine.now().as_second()).unwrap();
}

#[tokio::test]
async fn a_receiver_may_pause_its_task_and_gets_it_again_with_what_it_left() {
    let receiver = Receiver::start(|received| match received.number {
        1 => {
            json("200 OK", json!({"pause": {"name": "settle", "duration": "2d", "checkpoint": {"page": 3}}}))
        }
        _ => json("200 OK", json!({"output": "settled"})),
    })
    .await;
    let place = Place::on_loopback(options(&receiver)).await;
    let begun = place.engine.now();
    let (_, ended) = place.run(charging(json!({})), json!({})).await;
    assert_eq!(output(&ended), json!("settled"));
    assert_eq!(place.engine.now().as_second() - begun.as_second(), 2 * 24 * 3600);
    let second = &receiver.received()[1];
    assert_eq!((&second.json()["checkpoint"], &second.json()["attempt"]), (&json!({"page": 3}), &json!(1)));
    assert_ne!(second.header("webhook-id"), receiver.received()[0].header("webhook-id"));
}

#[tokio::test]
async fn failures_are_retried_like_any_tasks_and_what_cannot_help_is_not() {
    let receiver = Receiver::start(|received| match received.number {
        1 => json("503 Busy\r\nretry-after: 60", json!(null)),
        2 => json("200 OK", json!({"fail": {"message": "no money", "code": "NO_MONEY", "retryable": false}})),
        _ => json("422 No", json!("never")),
    })
    .await;
    let place = Place::on_loopback(options(&receiver)).await;
    let begun = place.engine.now();
    let (_, ended) = place.run(charging(json!({})), json!({})).await;
    assert_eq!(failure(&ended), ("NO_MONEY".to_owned(), "no money".to_owned()));
    assert!(place.engine.now().as_second() - begun.as_second() >= 60);
    let mut other = charging(json!({}));
    other["version"] = json!("2");
    let (_, ended) = place.run(other, json!({})).await;
    assert_eq!((failure(&ended).0.as_str(), receiver.received().len()), ("HANDLER_STATUS", 3));
}

#[tokio::test]
async fn an_answer_that_is_no_report_says_what_would_be_one() {
    let receiver = Receiver::start(|_| json("200 OK", json!({"result": 1}))).await;
    let place = Place::on_loopback(options(&receiver)).await;
    let (_, ended) = place.run(charging(json!({})), json!({})).await;
    let (code, message) = failure(&ended);
    assert!(code == "HANDLER_BAD_ANSWER" && message.contains("`{\"output\": …}`"), "{message}");
}

/// The lease tokens of a server, as plain as can be.
fn reachable(place: &Place) {
    place.engine.reports_at("http://abide.example.com/api/v1/tasks".to_owned(), |_, run, at, lease_epoch| {
        format!("{run} {} {lease_epoch}", at.step)
    });
}

#[tokio::test]
async fn the_lease_token_of_a_receiver_that_echoes_its_request_is_not_written_down() {
    for status in ["200 OK", "400 Bad Request"] {
        let receiver = Receiver::start(move |received| json(status, received.json())).await;
        let place = Place::on_loopback(options(&receiver)).await;
        reachable(&place);
        let (run, ended) = place.run(charging(json!({"retry": {"maxAttempts": 1}})), json!({})).await;
        let token = receiver.received()[0].json()["leaseToken"].as_str().unwrap().to_owned();
        let (_, message) = failure(&ended);
        assert!(!message.contains(&token), "{message}");
        assert!(!place.told(run).await.contains(&token));
    }
}

#[tokio::test]
async fn a_receiver_that_answers_202_reports_later_and_is_missed_when_it_does_not() {
    let tokens = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&tokens);
    let receiver = Receiver::start(move |received| {
        kept.lock().unwrap().push(received.json()["leaseToken"].as_str().unwrap().to_owned());
        json("202 Accepted", json!({"leaseMs": 60_000}))
    })
    .await;
    let place = Place::on_loopback(options(&receiver)).await;
    reachable(&place);
    place.deploy(charging(json!({}))).await;
    let run = place.engine.start("charging", json!({})).await.unwrap();
    let held = |count: usize| {
        let engine = place.engine.clone();
        async move {
            loop {
                let current = engine.run(run).get().await.unwrap();
                let (_, step) = current.step_runs().next().unwrap();
                let task = step.task.as_ref().unwrap();
                if task.worker.as_deref() == Some("url") && task.lease_epoch as usize == count {
                    return;
                }
                tokio::task::yield_now().await;
            }
        }
    };
    held(1).await;
    assert_eq!(place.engine.stats().await.unwrap().tasks_out, 1);
    // Its lease ends without a report: the task is posted again, and the old token is worth nothing.
    let lost = LeaseLost { at: StepAddress::step(0), lease_epoch: 1, loss: LeaseLoss::Expired };
    place.engine.run(run).command(Command::LeaseLost(lost)).await.unwrap();
    held(2).await;
    let reports = tokens.lock().unwrap().clone();
    assert_eq!(reports.len(), 2);
    for (token, accepted) in reports.iter().zip([false, true]) {
        let mut parts = token.split(' ');
        let run: RunId = parts.next().unwrap().parse().unwrap();
        let lease_epoch = parts.nth(1).unwrap().parse().unwrap();
        let report = TaskCompleted {
            at: StepAddress::step(0),
            lease_epoch,
            output: json!(token).into(),
            state_updates: None,
        };
        let reported = place.engine.run(run).command(Command::TaskCompleted(report)).await;
        assert_eq!(reported.is_ok(), accepted, "{reported:?}");
    }
    assert_eq!(output(&place.engine.run(run).wait().await.unwrap()), json!(reports[1]));
    let first = &receiver.received()[0].json();
    assert_eq!(
        first["reportUrl"],
        json!(format!("http://abide.example.com/api/v1/tasks/{}", run.task(StepAddress::step(0))))
    );
}

#[tokio::test]
async fn a_private_url_is_refused_unless_it_is_allowed() {
    let receiver = Receiver::start(|_| json("200 OK", json!({}))).await;
    let place = Place::new(options(&receiver)).await;
    let (_, ended) = place.run(charging(json!({})), json!({})).await;
    assert_eq!(failure(&ended).0, "HTTP_ADDRESS_REFUSED");
    assert_eq!(receiver.received().len(), 0);
}

#[tokio::test]
async fn a_tool_may_be_behind_a_url() {
    let receiver =
        Receiver::start(|received| json("200 OK", json!({"output": {"charged": received.json()["input"]}})))
            .await;
    let script = abide_standin::Script::of([
        abide_standin::Reply::tool("charge", json!({"amount": 3})),
        abide_standin::Reply::text("Charged."),
    ]);
    let standin = abide_standin::StandIn::of(script).await.unwrap();
    let models = crate::llm::options(&standin, abide_engine::Protocol::Anthropic);
    let place = Place::on_loopback(models.handler_url("charge", &receiver.url("/")).signing(keys())).await;
    let (_, ended) = place.run(crate::llm::ask(json!({"tools": [{"name": "charge"}]})), json!({})).await;
    assert_eq!(output(&ended), json!("Charged."));
    assert!(standin.calls()[1].request.to_string().contains("charged"));
}
