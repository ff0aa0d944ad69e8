//! Races over HTTP: whoever comes at the same time, there is one outcome, and every loser is told which.

use hyper::Method;
use serde_json::{Value, json};

use crate::host::{Host, Reply};

/// How often each race is run. `ABIDE_CASES` runs more.
fn cases() -> usize {
    std::env::var("ABIDE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(30)
}

async fn call(host: &Host, url: &str, body: String) -> Reply {
    host.raw(Method::POST, url, &[("content-type", "application/json")], body.into()).await
}

async fn resume_url(host: &Host, run: &str) -> String {
    host.waitpoint(run).await["resumeUrl"].as_str().unwrap().to_owned()
}

/// The status of the waitpoint's outcome, as a loser was told it.
fn told(reply: &Reply) -> Value {
    reply.json["outcome"]["status"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_calls_on_a_link() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [{ "type": "webhook", "name": "sign", "saveAs": "call" }] })).await;
    for _ in 0..cases() {
        let run = host.start_run("flow", json!({})).await;
        let url = resume_url(&host, &run).await;
        let (a, b) =
            tokio::join!(call(&host, &url, "\"a\"".to_owned()), call(&host, &url, "\"b\"".to_owned()));
        let (winner, loser, said) = if a.status == 200 { (&a, &b, "a") } else { (&b, &a, "b") };
        assert_eq!(winner.status, 200, "{}", winner.text);
        loser.is_problem(409, "ALREADY_RESOLVED");
        assert_eq!(host.run(&run).await["state"]["call"]["body"], said);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_against_the_deadline() {
    let host = Host::start().await;
    let step = json!({ "type": "webhook", "name": "sign", "timeoutMs": 1000, "onTimeout": "continue" });
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [step] })).await;
    let (mut resumed, mut late) = (0, 0);
    for case in 0..cases() {
        let run = host.start_run("flow", json!({})).await;
        let url = resume_url(&host, &run).await;
        let pass = async {
            for _ in 0..case % 7 {
                tokio::task::yield_now().await;
            }
            host.pass(1_000).await;
        };
        let (reply, ()) = tokio::join!(call(&host, &url, "1".to_owned()), pass);
        let ended = host.run(&run).await;
        assert_eq!(ended["status"], "COMPLETED");
        let wait = host.get(&format!("/waitpoints?runId={run}")).await.json["data"][0]["status"].clone();
        match reply.status {
            200 => {
                resumed += 1;
                assert_eq!((&wait, &ended["output"]["body"]), (&json!("COMPLETED"), &json!(1)));
            }
            _ => {
                late += 1;
                assert_eq!(reply.status, 410, "{}", reply.text);
                assert_eq!((&wait, &ended["output"]["timeout"]), (&json!("TIMED_OUT"), &json!(true)));
            }
        }
    }
    assert_eq!(resumed + late, cases());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_against_the_wait_for_it() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [
        { "type": "wait", "name": "nap", "durationMs": 10 },
        { "type": "external_event", "name": "ok", "signalType": "go", "saveAs": "answer" },
    ] }))
    .await;
    for case in 0..cases() {
        let run = host.start_run("flow", json!({})).await;
        let path = format!("/workflow-runs/{run}/resume");
        let signal = host.post(&path, json!({ "signalType": "go", "payload": case }));
        let (sent, ()) = tokio::join!(signal, host.pass(10));
        assert_eq!(sent.status, 200, "{}", sent.text);
        let ended = host.run(&run).await;
        assert_eq!((&ended["status"], &ended["state"]["answer"]), (&json!("COMPLETED"), &json!(case)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_against_the_wait_for_it() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [
        { "type": "wait", "name": "nap", "durationMs": 10 },
        { "type": "wait_for_event", "name": "ev", "eventId": "{{ input.event }}", "timeoutMs": 60_000 },
    ] }))
    .await;
    for case in 0..cases() {
        let event = format!("e{case}");
        let run = host.start_run("flow", json!({ "event": event })).await;
        let (sent, ()) =
            tokio::join!(host.post("/events", json!({ "eventId": event, "eventData": case })), host.pass(10));
        assert_eq!(sent.status, 200, "{}", sent.text);
        let ended = host.run(&run).await;
        assert_eq!((&ended["status"], &ended["output"]), (&json!("COMPLETED"), &json!(case)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_against_the_completion() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [{ "type": "webhook", "name": "sign" }] }))
        .await;
    for _ in 0..cases() {
        let run = host.start_run("flow", json!({})).await;
        let url = resume_url(&host, &run).await;
        let path = format!("/workflow-runs/{run}/cancel");
        let (called, cancelled) =
            tokio::join!(call(&host, &url, "1".to_owned()), host.post(&path, json!({})));
        let status = host.run(&run).await["status"].clone();
        if called.status == 200 {
            assert_eq!((&status, cancelled.status), (&json!("COMPLETED"), 409), "{}", cancelled.text);
            assert_eq!(cancelled.json["current"]["status"], "COMPLETED");
        } else {
            assert_eq!((&status, cancelled.status), (&json!("CANCELLED"), 200), "{}", called.text);
            assert_eq!((called.status, told(&called)), (410, json!("CANCELLED")));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_decisions_on_one_request() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [
        { "type": "external_event", "name": "draft", "signalType": "draft", "saveAs": "draft" },
        { "type": "approval", "name": "ok", "contentKey": "draft" },
    ] }))
    .await;
    for _ in 0..cases() {
        let run = host.start_run("flow", json!({})).await;
        host.post(&format!("/workflow-runs/{run}/resume"), json!({ "signalType": "draft", "payload": "x" }))
            .await;
        let id = host.waitpoint(&run).await["id"].as_str().unwrap().to_owned();
        let path = format!("/approval-requests/{id}/decide");
        let decide = |decision: &'static str| host.post(&path, json!({ "decision": decision }));
        let (yes, no) = tokio::join!(decide("approve"), decide("reject"));
        let (winner, loser) = if yes.status == 200 { (&yes, &no) } else { (&no, &yes) };
        assert_eq!(winner.status, 200, "{}", winner.text);
        assert_eq!(told(loser.is_problem(409, "ALREADY_RESOLVED")), "COMPLETED");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scanner_against_a_person() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [{ "type": "webhook", "name": "sign" }] }))
        .await;
    for _ in 0..cases() {
        let run = host.start_run("flow", json!({})).await;
        let url = resume_url(&host, &run).await;
        let page = url.replace("?token=", "/confirm?token=");
        let scan = |method: Method, url: String| {
            let host = &host;
            async move { host.raw(method, &url, &[("accept", "text/html")], "".into()).await.status }
        };
        let (head, get, opened, person) = tokio::join!(
            scan(Method::HEAD, url.clone()),
            scan(Method::GET, url.clone()),
            scan(Method::GET, page),
            call(&host, &url, "{\"by\": \"person\"}".to_owned()),
        );
        assert_eq!((head, get, opened, person.status), (200, 200, 200, 200), "{}", person.text);
        assert_eq!(host.run(&run).await["output"]["body"]["by"], "person");
    }
}
