use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use abide_server::Settings;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::host::{Host, until};

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const SIGNALLER: &str = "00-11111111111111111111111111111111-2222222222222222-01";

/// A collector: keeps the spans that it gets, and says no as often as it is told.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<(Vec<Value>, usize)>>);

impl Collector {
    async fn listen(refusals: usize) -> (Collector, SocketAddr) {
        let collector = Collector(Arc::new(Mutex::new((Vec::new(), refusals))));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let taking = collector.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let taking = taking.clone();
                let service = service_fn(move |request| taking.clone().take(request));
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        (collector, address)
    }

    async fn take(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        assert_eq!((request.method(), request.uri().path()), (&Method::POST, "/v1/traces"));
        assert_eq!(request.headers()["content-type"], "application/json");
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let mut kept = self.0.lock().unwrap();
        let mut response = Response::new(Full::new(Bytes::from_static(b"{}")));
        if kept.1 > 0 {
            kept.1 -= 1;
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return Ok(response);
        }
        let resource = &body["resourceSpans"][0]["resource"]["attributes"][0];
        assert_eq!(*resource, json!({ "key": "service.name", "value": { "stringValue": "abide" } }));
        kept.0.extend(body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().iter().cloned());
        Ok(response)
    }

    fn spans(&self) -> Vec<Value> {
        self.0.lock().unwrap().0.clone()
    }

    #[track_caller]
    fn span(&self, name: &str) -> Value {
        let spans = self.spans();
        let found: Vec<&Value> = spans.iter().filter(|span| span["name"] == name).collect();
        assert_eq!(found.len(), 1, "{name}: {spans:#?}");
        found[0].clone()
    }
}

async fn traced(address: SocketAddr) -> Host {
    Host::with(Settings { traces: Some(format!("http://{address}")), ..Settings::default() }).await
}

fn attribute(span: &Value, key: &str) -> Value {
    let attributes = span["attributes"].as_array().unwrap();
    attributes
        .iter()
        .find(|attribute| attribute["key"] == key)
        .map_or(Value::Null, |found| found["value"].clone())
}

async fn poll(host: &Host) -> Value {
    let body = json!({ "handlers": ["h"], "workerId": "w", "waitMs": 0 });
    host.post("/tasks/poll", body).await.json["tasks"][0].clone()
}

#[tokio::test]
async fn a_run_is_a_trace_from_the_call_that_started_it_to_the_work_of_its_tasks() {
    let (collector, address) = Collector::listen(1).await;
    let host = traced(address).await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [
        { "type": "external_event", "name": "ok", "signalType": "go" },
        { "type": "task", "name": "work", "handler": "h" },
    ] }))
    .await;
    let body = json!({ "name": "flow" });
    let started = host.send(Method::POST, "/workflow-runs", &[("traceparent", CALLER)], Some(body)).await;
    let run = started.json["id"].as_str().unwrap().to_owned();
    host.pass(5_000).await;
    let path = format!("/workflow-runs/{run}/resume");
    let signal = Some(json!({ "signalType": "go" }));
    assert_eq!(host.send(Method::POST, &path, &[("traceparent", SIGNALLER)], signal).await.status, 200);
    let task = poll(&host).await;
    host.pass(1_000).await;
    let done = json!({ "leaseToken": task["leaseToken"], "output": 1 });
    let done = host.post(&format!("/tasks/{}/complete", task["id"].as_str().unwrap()), done).await;
    assert_eq!(done.status, 200, "{}", done.text);
    let kept = host.run(&run).await["traceparent"].as_str().unwrap().to_owned();
    let metrics = host.raw(Method::GET, "/metrics", &[], "".into()).await.text;
    assert!(metrics.contains("abide_spans_dropped_total 0"), "{metrics}");
    host.stop().await;

    let request = collector.span("POST /api/v1/workflow-runs");
    assert_eq!(request["traceId"], CALLER[3..35]);
    assert_eq!(request["parentSpanId"], CALLER[36..52]);
    assert_eq!(attribute(&request, "http.response.status_code"), json!({ "intValue": "201" }));
    assert_eq!(kept, format!("00-{}-{}-01", &CALLER[3..35], request["spanId"].as_str().unwrap()));

    let whole = collector.span("flow");
    assert_eq!((&whole["traceId"], &whole["parentSpanId"]), (&request["traceId"], &request["spanId"]));
    assert_eq!(attribute(&whole, "abide.run.id"), json!({ "stringValue": run }));
    let nanos = |span: &Value, field: &str| span[field].as_str().unwrap().parse::<u64>().unwrap();
    let length = |span: &Value| nanos(span, "endTimeUnixNano") - nanos(span, "startTimeUnixNano");
    assert_eq!(length(&whole), 6_000_000_000);

    let step = collector.span("ok");
    assert_eq!(step["parentSpanId"], whole["spanId"]);
    let wait = collector.span("wait for signal go");
    assert_eq!((&wait["parentSpanId"], length(&wait)), (&step["spanId"], 5_000_000_000));
    assert_eq!(attribute(&wait, "abide.wait.status"), json!({ "stringValue": "COMPLETED" }));
    let signalled = collector.span("POST /api/v1/workflow-runs/{id}/resume");
    let link = json!([{ "traceId": SIGNALLER[3..35], "spanId": signalled["spanId"] }]);
    assert_eq!((&signalled["traceId"], &wait["links"]), (&json!(SIGNALLER[3..35]), &link));

    let attempt = collector.span("work by w");
    assert_eq!(
        (&attempt["parentSpanId"], length(&attempt)),
        (&collector.span("work")["spanId"], 1_000_000_000)
    );
    let given = format!("00-{}-{}-01", &CALLER[3..35], attempt["spanId"].as_str().unwrap());
    assert_eq!(task["traceparent"], given);
}

#[tokio::test]
async fn what_ends_is_sent_once_while_the_run_goes_on_and_a_child_is_within_its_parent() {
    let (collector, address) = Collector::listen(0).await;
    let host = traced(address).await;
    host.deploy(json!({ "name": "child", "version": "1", "steps": [
        { "type": "external_event", "name": "listen", "signalType": "go" },
    ] }))
    .await;
    let run = host
        .run_of(json!([
            { "type": "wait", "name": "nap", "durationMs": 1_000 },
            { "type": "workflow", "name": "ask", "definition": "child", "retry": { "maxAttempts": 1 } },
        ]))
        .await;
    host.pass(1_000).await;
    until(async || collector.spans().iter().any(|span| span["name"] == "nap")).await;
    assert!(collector.spans().iter().all(|span| span["name"] != "flow" && span["name"] != "ask"));
    let child =
        host.get("/workflow-runs?definition=child").await.json["data"][0]["id"].as_str().unwrap().to_owned();
    let cancelled = host.post(&format!("/workflow-runs/{child}/cancel"), json!({})).await;
    assert_eq!(cancelled.status, 200);
    assert_eq!(host.run(&run).await["status"], "FAILED");
    host.stop().await;

    let (parent, step, child_span) = (collector.span("flow"), collector.span("ask"), collector.span("child"));
    collector.span("nap");
    let waited = collector.span(&format!("wait for {child}"));
    assert_eq!((&waited["parentSpanId"], &step["parentSpanId"]), (&step["spanId"], &parent["spanId"]));
    assert_eq!(
        (&child_span["parentSpanId"], &child_span["traceId"]),
        (&waited["spanId"], &parent["traceId"])
    );
    assert_eq!(parent["status"]["code"], 2);
}

#[tokio::test]
async fn without_a_collector_a_trace_is_kept_and_passed_on_as_it_came() {
    let host = Host::start().await;
    host.deploy(
        json!({ "name": "flow", "version": "1", "steps": [{ "type": "task", "name": "t", "handler": "h" }] }),
    )
    .await;
    for (given, kept) in [(CALLER, json!(CALLER)), ("00-nonsense", Value::Null), ("", Value::Null)] {
        let body = json!({ "name": "flow" });
        let started = host.send(Method::POST, "/workflow-runs", &[("traceparent", given)], Some(body)).await;
        assert_eq!(started.status, 201, "{}", started.text);
        let task = poll(&host).await;
        assert_eq!((&task["runId"], &task["traceparent"]), (&started.json["id"], &kept));
    }
    let trigger =
        host.raw(Method::POST, "/api/v1/triggers/flow", &[("traceparent", CALLER)], "".into()).await;
    let run = host.run(trigger.json["id"].as_str().unwrap()).await;
    assert_eq!(
        (&run["traceparent"], &run["input"]["headers"]["traceparent"]),
        (&json!(CALLER), &Value::Null)
    );
}

#[tokio::test]
async fn every_door_keeps_the_trace_of_who_comes_in() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "external_event", "name": "signalled", "signalType": "go" },
            { "type": "wait_for_event", "name": "heard", "eventId": "e", "timeoutMs": 60_000 },
            { "type": "webhook", "name": "called" },
        ]))
        .await;
    let with = [("traceparent", SIGNALLER)];
    let send = async |path: &str, body: Value| {
        let sent = host.send(Method::POST, path, &with, Some(body)).await;
        assert_eq!(sent.status, 200, "{}", sent.text);
    };
    send(&format!("/workflow-runs/{run}/resume"), json!({ "signalType": "go" })).await;
    send("/events", json!({ "eventId": "e" })).await;
    let url = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    assert_eq!(host.raw(Method::POST, &url, &with, "1".into()).await.status, 200);
    let history = host.get(&format!("/workflow-runs/{run}/events?limit=500")).await;
    let records = history.json["data"].as_array().unwrap().clone();
    let resolved: Vec<&Value> = records.iter().filter(|record| record["type"] == "WAIT_RESOLVED").collect();
    assert_eq!(resolved.len(), 3);
    assert!(resolved.iter().all(|record| record["traceparent"] == SIGNALLER), "{resolved:#?}");
    assert!(records[0]["traceparent"].is_null());
}

#[tokio::test]
async fn a_caller_that_does_not_sample_is_not_traced_and_a_collector_that_is_gone_hinders_nobody() {
    let (collector, address) = Collector::listen(0).await;
    let host = traced(address).await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [{ "type": "wait", "name": "nap", "durationMs": 1 }] }))
        .await;
    let quiet = CALLER.replace("-01", "-00");
    let body = json!({ "name": "flow" });
    host.send(Method::POST, "/workflow-runs", &[("traceparent", &quiet)], Some(body)).await;
    host.pass(1_000).await;
    host.stop().await;
    assert!(
        collector.spans().iter().all(|span| span["traceId"] != CALLER[3..35]),
        "{:#?}",
        collector.spans()
    );

    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let host = traced(nobody).await;
    let run = host.run_of(json!([{ "type": "wait", "name": "nap", "durationMs": 1 }])).await;
    host.pass(1_000).await;
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn each_durable_call_is_a_span_by_its_name() {
    let (collector, address) = Collector::listen(0).await;
    let host = traced(address).await;
    host.run_of(json!([{ "type": "task", "name": "desk", "handler": "h" }])).await;
    let task = poll(&host).await;
    let report = async |task: &Value, verb: &str, mut body: Value| {
        body["leaseToken"] = task["leaseToken"].clone();
        let done = host.post(&format!("/tasks/{}/{verb}", task["id"].as_str().unwrap()), body).await;
        assert_eq!(done.status, 200, "{}", done.text);
    };
    host.pass(2_000).await;
    report(&task, "checkpoint", json!({ "entries": [{ "name": "order", "result": 7 }] })).await;
    host.pass(1_000).await;
    let charge = json!({ "type": "retry", "name": "charge#retry-1", "call": "charge", "attempt": 1, "maxAttempts": 3,
        "message": "fetch failed", "retryAfterMs": 5_000 });
    report(&task, "suspend", json!({ "waits": [charge] })).await;
    host.pass(5_000).await;
    let task = poll(&host).await;
    let nap = json!([{ "type": "sleep", "name": "cooling-off", "duration": "1h" }]);
    report(&task, "suspend", json!({ "waits": nap })).await;
    host.pass(3_600_000).await;
    report(&poll(&host).await, "complete", json!({ "output": 1 })).await;
    host.stop().await;

    let nanos = |span: &Value, field: &str| span[field].as_str().unwrap().parse::<u64>().unwrap();
    let length =
        |span: &Value| (nanos(span, "endTimeUnixNano") - nanos(span, "startTimeUnixNano")) / 1_000_000;
    let step = collector.span("desk");
    let attempts: Vec<Value> =
        collector.spans().into_iter().filter(|span| span["name"] == "desk by w").collect();
    let order = collector.span("desk › order");
    assert_eq!((&order["parentSpanId"], length(&order)), (&attempts[0]["spanId"], 2_000));
    assert_eq!(attribute(&order, "abide.call"), json!({ "stringValue": "order" }));
    let charges: Vec<Value> =
        collector.spans().into_iter().filter(|span| span["name"] == "desk › charge").collect();
    let (tried, waited) = (&charges[0], &charges[1]);
    assert_eq!((&tried["parentSpanId"], length(tried)), (&attempts[0]["spanId"], 1_000));
    assert_eq!(tried["status"], json!({ "code": 2, "message": "fetch failed" }));
    assert_eq!((&waited["parentSpanId"], length(waited)), (&step["spanId"], 5_000));
    let nap = collector.span("desk › cooling-off");
    assert_eq!((&nap["parentSpanId"], length(&nap)), (&step["spanId"], 3_600_000));
    assert_eq!(attribute(&nap, "abide.call.kind"), json!({ "stringValue": "DELAY" }));
}
