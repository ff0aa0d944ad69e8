use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;
use serde_json::json;

use crate::host::Host;

fn nap() -> serde_json::Value {
    json!([{ "type": "wait", "name": "nap", "durationMs": 1000 }])
}

#[tokio::test]
async fn a_history_is_a_list_with_names_beside_the_numbers() {
    let host = Host::start().await;
    let run = host.run_of(nap()).await;
    host.pass(1_000).await;
    let reply = host.get(&format!("/workflow-runs/{run}/events?limit=500")).await;
    let records = reply.json["data"].as_array().unwrap();
    let types: Vec<&str> = records.iter().map(|record| record["type"].as_str().unwrap()).collect();
    assert_eq!(types.first(), Some(&"WORKFLOW_CREATED"));
    assert_eq!(types.last(), Some(&"WORKFLOW_COMPLETED"));
    let completed = records.iter().find(|record| record["type"] == "STEP_COMPLETED").unwrap();
    assert_eq!((&completed["stepName"], &completed["resumedFromWait"]), (&json!("nap"), &json!(true)));
    assert_eq!((&completed["waitpoint"], &completed["by"]), (&json!(1), &json!("timer")));
    assert!(completed["waitpointId"].as_str().unwrap().ends_with("_1"));
    let seqs: Vec<u64> = records.iter().map(|record| record["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    let after = host.get(&format!("/workflow-runs/{run}/events?after=2&limit=1")).await;
    assert_eq!(after.json["data"][0]["seq"], 3);
    let cursor = after.json["nextCursor"].as_str().unwrap();
    let next = host.get(&format!("/workflow-runs/{run}/events?limit=1&cursor={cursor}")).await;
    assert_eq!(next.json["data"][0]["seq"], 4);
}

/// The next thing a stream says.
async fn next(body: &mut Incoming, heard: &mut String) -> Option<(u64, String)> {
    loop {
        if let Some((event, rest)) = heard.split_once("\n\n") {
            let field = |name: &str| {
                event.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).map(str::to_owned)
            };
            let said = field("id").map(|id| (id.parse().unwrap(), field("event").unwrap()));
            *heard = rest.to_owned();
            if said.is_some() {
                return said;
            }
            continue;
        }
        let frame = body.frame().await?.unwrap();
        heard.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
}

#[tokio::test]
async fn a_stream_tells_what_happened_and_what_happens_and_ends_with_the_run() {
    let host = Host::start().await;
    let run = host.run_of(nap()).await;
    let path = format!("/api/v1/workflow-runs/{run}/events");
    let response = host.open(Method::GET, &path, &[("accept", "text/event-stream")], "".into()).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let (mut body, mut heard) = (response.into_body(), String::new());
    let mut seen = Vec::new();
    while seen.last().is_none_or(|(_, name): &(u64, String)| name != "WORKFLOW_PAUSED") {
        seen.push(next(&mut body, &mut heard).await.unwrap());
    }
    host.pass(1_000).await;
    while let Some(event) = next(&mut body, &mut heard).await {
        seen.push(event);
    }
    assert_eq!(seen.last().unwrap().1, "WORKFLOW_COMPLETED");
    let numbers: Vec<u64> = seen.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());

    let headers = [("accept", "text/event-stream"), ("last-event-id", "3")];
    let response = host.open(Method::GET, &path, &headers, "".into()).await;
    let resumed = next(&mut response.into_body(), &mut String::new()).await.unwrap();
    assert_eq!(resumed.0, 4);
    let last = numbers.len().to_string();
    let headers = [("accept", "text/event-stream"), ("last-event-id", last.as_str())];
    assert_eq!(host.raw(Method::GET, &path, &headers, "".into()).await.status, 204);
    let unknown = "/api/v1/workflow-runs/run_00000000000000000000000000/events";
    host.raw(Method::GET, unknown, &headers[..1], "".into()).await.is_problem(404, "UNKNOWN_RUN");
}

#[tokio::test]
async fn the_feed_tells_of_every_run_that_changes() {
    let host = Host::start().await;
    let response = host.open(Method::GET, "/api/v1/feed", &[], "".into()).await;
    let run = host.run_of(nap()).await;
    let (mut body, mut heard) = (response.into_body(), String::new());
    while !heard.contains("\n\n") {
        heard
            .push_str(std::str::from_utf8(body.frame().await.unwrap().unwrap().data_ref().unwrap()).unwrap());
    }
    assert!(
        heard.starts_with("event: run\ndata: ") && heard.contains(&run) && heard.contains("WAITING"),
        "{heard}"
    );
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let host = Host::start().await;
    let run = host.run_of(nap()).await;
    let path = format!("/api/v1/workflow-runs/{run}/events");
    let response = host.open(Method::GET, &path, &[("accept", "text/event-stream")], "".into()).await;
    let (mut body, mut heard) = (response.into_body(), String::new());
    next(&mut body, &mut heard).await.unwrap();
    let ((), ()) = tokio::join!(host.stop(), async { while next(&mut body, &mut heard).await.is_some() {} });
}

/// A run of a handler that has recorded something, sleeps, and is resumed.
async fn slept(host: &Host) -> String {
    let run = host.run_of(json!([{ "type": "task", "name": "desk", "handler": "h" }])).await;
    let poll = json!({ "handlers": ["h"], "workerId": "w", "waitMs": 0 });
    let task = host.post("/tasks/poll", poll).await.json["tasks"][0].clone();
    let suspend = json!({
        "leaseToken": task["leaseToken"],
        "entries": [{ "name": "order", "result": 7 }],
        "waits": [{ "type": "sleep", "name": "cooling-off", "duration": "1h" }],
    });
    let path = format!("/tasks/{}/suspend", task["id"].as_str().unwrap());
    assert_eq!(host.post(&path, suspend).await.status, 200);
    run
}

#[tokio::test]
async fn each_record_says_in_a_sentence_what_it_is_about_wherever_one_begins_to_read() {
    let host = Host::start().await;
    let run = slept(&host).await;
    host.pass(3_600_000).await;
    let path = format!("/workflow-runs/{run}/events");
    let all = host.get(&format!("{path}?limit=500")).await.json["data"].clone();
    let texts: Vec<&str> =
        all.as_array().unwrap().iter().map(|record| record["text"].as_str().unwrap()).collect();
    for wanted in [
        "`desk › order` is recorded",
        "`desk › cooling-off` sleeps until 2026-11-15T13:00:00Z",
        "the sleep of `desk › cooling-off` is over",
    ] {
        assert!(texts.contains(&wanted), "{wanted}: {texts:#?}");
    }
    for after in 0..texts.len() {
        let rest = host.get(&format!("{path}?after={after}&limit=500")).await.json["data"].clone();
        let told: Vec<&str> =
            rest.as_array().unwrap().iter().map(|record| record["text"].as_str().unwrap()).collect();
        assert_eq!(told, texts[after..]);
    }
    let stream = [("accept", "text/event-stream"), ("last-event-id", "7")];
    let response = host.open(Method::GET, &format!("/api/v1{path}"), &stream, "".into()).await;
    let mut body = response.into_body();
    let mut heard = String::new();
    while !heard.contains("\n\n") {
        let frame = body.frame().await.unwrap().unwrap();
        heard.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    let data = heard.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(data).unwrap()["text"], texts[7]);
}

#[tokio::test]
async fn a_wait_of_durable_code_is_named_by_its_call_wherever_it_is_shown() {
    let host = Host::start().await;
    let run = slept(&host).await;
    let shown = host.run(&run).await;
    assert_eq!(shown["waitingFor"][0]["call"], "cooling-off");
    assert!(shown["waitingFor"][0]["sentence"].as_str().unwrap().starts_with("`desk › cooling-off` waits"));
    let journal = &shown["steps"][0]["journal"];
    assert_eq!((&journal[0]["name"], &journal[0]["kind"]), (&json!("order"), &json!("RUN")));
    assert_eq!((&journal[1]["name"], &journal[1]["status"]), (&json!("cooling-off"), &json!("PENDING")));
    let wait = host.get(&format!("/waitpoints?runId={run}")).await.json["data"][0].clone();
    assert_eq!((&wait["stepName"], &wait["call"]), (&json!("desk"), &json!("cooling-off")));
    assert_eq!(host.get("/overview").await.json["oldest"][0]["call"], "cooling-off");
}

#[tokio::test]
async fn a_step_that_has_recovered_does_not_show_the_error_of_an_earlier_attempt_as_its_own() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([{ "type": "task", "name": "desk", "handler": "h", "retry": { "maxAttempts": 3 } }]))
        .await;
    let poll = json!({ "handlers": ["h"], "workerId": "w", "waitMs": 0 });
    let task = host.post("/tasks/poll", poll.clone()).await.json["tasks"][0].clone();
    let path = |verb: &str| format!("/tasks/{}/{verb}", task["id"].as_str().unwrap());
    let failed = json!({ "leaseToken": task["leaseToken"], "message": "busy", "retryAfterMs": 5000 });
    assert_eq!(host.post(&path("fail"), failed).await.status, 200);
    assert_eq!(host.run(&run).await["steps"][0]["error"]["message"], "busy");
    host.pass(5_000).await;
    let again = host.post("/tasks/poll", poll).await.json["tasks"][0].clone();
    let waits = json!([{ "type": "sleep", "name": "nap", "duration": "1h" }]);
    let suspend = json!({ "leaseToken": again["leaseToken"], "waits": waits });
    assert_eq!(host.post(&path("suspend"), suspend).await.status, 200);
    let step = host.run(&run).await["steps"][0].clone();
    assert_eq!((&step["error"], &step["previousError"]["message"]), (&json!(null), &json!("busy")));
}
