//! What the engine calls, as it is seen over HTTP: costs, words as they come, receivers that report later.

use abide_engine::signing::Keys;
use abide_engine::{CallSettings, Model, Price, Provider};
use abide_server::Settings;
use abide_standin::{Reply as Answer, Script, StandIn, Usage};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::host::{Host, until};
use crate::store::fresh_store;

async fn host(calls: CallSettings) -> Host {
    Host::calling(fresh_store(), Settings::default(), calls).await
}

fn models(standin: &StandIn) -> CallSettings {
    let mut calls = CallSettings::default();
    calls.provider("p", Provider::compatible(standin.url(), None));
    let price = Some(Price { input: 1_000_000, cached_input: None, output: 2_000_000 });
    calls.model("m", Model { provider: "p".to_owned(), name: None, price });
    calls
}

fn ask() -> Value {
    json!({"type": "llm", "name": "ask", "model": "m", "messages": [{"role": "user", "content": "Why?"}]})
}

#[tokio::test]
async fn a_run_and_a_workspace_say_what_they_spent() {
    let usage = Usage { input: 100, cached_input: 0, output: 10 };
    let costing = |text: &str| Answer { usage: Some(usage), ..Answer::text(text) };
    let standin = StandIn::of(Script::of([costing("Because."), costing("Again.")])).await.unwrap();
    let host = host(models(&standin)).await;
    let run = host.run_of(json!([ask()])).await;
    until(async || host.run(&run).await["status"] == "COMPLETED").await;
    let cost = host.get(&format!("/workflow-runs/{run}/cost")).await.json;
    let spent = json!({
        "calls": 1, "inputTokens": 100, "cachedInputTokens": 0, "outputTokens": 10, "costMicros": 120,
        "unpricedCalls": 0,
    });
    assert_eq!((&cost["total"], &cost["runId"]), (&spent, &json!(run)));
    assert_eq!(cost["byStep"][0]["stepName"], "ask");
    assert_eq!(cost["byStep"][0]["model"], "m");
    let again = host.start_run("flow", json!({})).await;
    until(async || host.run(&again).await["status"] == "COMPLETED").await;
    let summary = host.get("/cost/summary?from=2026-11-01&until=2026-11-15").await.json;
    assert_eq!((&summary["total"]["costMicros"], &summary["total"]["calls"]), (&json!(240), &json!(2)));
    let day = &summary["data"][0];
    assert_eq!(
        (&day["day"], &day["definition"], &day["model"]),
        (&json!("2026-11-15"), &json!("flow"), &json!("m"))
    );
    assert_eq!(host.get("/cost/summary?until=2026-11-14").await.json["data"], json!([]));
    assert_eq!(host.get("/cost/summary?model=other").await.json["data"], json!([]));
    host.get("/cost/summary?from=2020-01-01").await.is_problem(422, "MALFORMED");
    host.get("/cost/summary?from=yesterday").await.is_problem(422, "MALFORMED");
    host.get("/workflow-runs/run_0000000000000000000000000/cost").await;
}

#[tokio::test]
async fn a_definition_is_posted_with_a_warning_of_what_the_server_does_not_have() {
    let host = Host::start().await;
    let call = json!({"type": "http", "name": "call", "url": "https://example.com", "headers": {"a": "{{ secret.NOPE }}"}});
    let reply = host.post("/workflow-definitions", json!({"name": "flow", "steps": [ask(), call]})).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let warnings: Vec<(&str, &str)> = reply.json["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| (warning["pointer"].as_str().unwrap(), warning["code"].as_str().unwrap()))
        .collect();
    assert_eq!(warnings, [("/steps/0/model", "UNKNOWN_VALUE"), ("/steps/1/headers/a", "UNKNOWN_VALUE")]);
}

/// The next event of a stream.
async fn event(body: &mut Incoming, heard: &mut String) -> String {
    loop {
        if let Some((event, rest)) = heard.split_once("\n\n") {
            let event = event.to_owned();
            *heard = rest.to_owned();
            return event;
        }
        let frame = body.frame().await.unwrap().unwrap();
        heard.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
}

#[tokio::test]
async fn the_words_of_a_model_come_through_the_stream_of_the_run() {
    let standin = StandIn::of(Script::of([Answer::text("It was the best of times.")])).await.unwrap();
    let host = host(models(&standin)).await;
    let run = host.run_of(json!([{"type": "external_event", "name": "go", "signalType": "go"}, ask()])).await;
    let path = format!("/api/v1/workflow-runs/{run}/events");
    let mut body =
        host.open(Method::GET, &path, &[("accept", "text/event-stream")], "".into()).await.into_body();
    let mut heard = String::new();
    while !event(&mut body, &mut heard).await.contains("WORKFLOW_PAUSED") {}
    host.post(&format!("/workflow-runs/{run}/resume"), json!({"signalType": "go", "payload": {}})).await;
    let mut said = String::new();
    loop {
        let event = event(&mut body, &mut heard).await;
        if let Some(data) = event.strip_prefix("event: token\ndata: ") {
            let token: Value = serde_json::from_str(data).unwrap();
            assert_eq!((&token["stepName"], &token["entry"]), (&json!("ask"), &json!("call 1")));
            said.push_str(token["text"].as_str().unwrap());
        }
        if event.contains("WORKFLOW_COMPLETED") {
            break;
        }
    }
    assert_eq!(said, "It was the best of times.");
}

/// Says 202 to every task, and hands it over.
async fn receiver() -> (String, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/tasks", listener.local_addr().unwrap());
    let (sender, tasks) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let sender = sender.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let sender = sender.clone();
                async move {
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    sender.send(serde_json::from_slice::<Value>(&body).unwrap()).unwrap();
                    Response::builder().status(202).body(Full::new(Bytes::new()))
                }
            });
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    (url, tasks)
}

#[tokio::test]
async fn a_receiver_that_said_202_reports_with_the_token_it_was_given() {
    let (url, mut tasks) = receiver().await;
    let mut calls = CallSettings::default();
    calls.allow(["127.0.0.1".parse().unwrap()]);
    calls.handler("charge", &url);
    calls.signing = Some(Keys::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]).unwrap());
    let host = host(calls).await;
    let run = host
        .run_of(json!([{"type": "task", "name": "charge", "handler": "charge", "input": {"amount": 7}}]))
        .await;
    let task = tasks.recv().await.unwrap();
    assert_eq!((&task["input"], &task["runId"]), (&json!({"amount": 7}), &json!(run)));
    let report = json!({"leaseToken": task["leaseToken"], "output": {"receipt": 1}});
    let path = task["reportUrl"].as_str().unwrap();
    let path = path.strip_prefix(&format!("http://{}", host.address)).unwrap();
    let reply = host.post(&format!("{path}/complete"), report.clone()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(host.run(&run).await["output"], json!({"receipt": 1}));
    host.post(&format!("{path}/complete"), report).await.is_problem(409, "RUN_ENDED");
}

#[tokio::test]
async fn the_run_of_a_tool_is_shown_like_any_other_and_cannot_be_started() {
    let standin = StandIn::of(Script::of([Answer::tool("look", json!({}))])).await.unwrap();
    let host = host(models(&standin)).await;
    let mut asking = ask();
    asking["tools"] = json!([{"name": "look"}]);
    host.run_of(json!([asking])).await;
    let polled = host.post("/tasks/poll", json!({"handlers": ["look"], "workerId": "w"})).await.json;
    let tool = polled["tasks"][0]["runId"].as_str().unwrap();
    assert_eq!(host.run(tool).await["definition"]["name"], "$tool/look");
    assert_eq!(host.get(&format!("/workflow-runs/{tool}/events")).await.status, 200);
    host.post("/workflow-runs", json!({"name": "$tool/look"})).await.is_problem(404, "UNKNOWN_DEFINITION");
    let own = json!({"name": "$mine", "steps": [ask()]});
    host.post("/workflow-definitions", own).await.is_problem(422, "INVALID_DEFINITION");
}
