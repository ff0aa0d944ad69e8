//! Scenarios of work: starting it, failing at it, cancelling it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Json, TaskError, step, wire, workflow};
use serde_json::json;
use tokio::sync::Notify;

use super::{code_of, failure, one};

pub(super) async fn start_and_wait(server: &TestServer) -> Result<Json, Error> {
    let add = |_, input: Json| async move { Ok(input["a"].as_i64().unwrap() + input["b"].as_i64().unwrap()) };
    one(server, add).await?;
    let output = server.client.start_and_wait("one", json!({"a": 2, "b": 3})).await?;
    let keyed = server.client.keyed("order-7");
    let first = keyed.start("one", json!({"a": 1, "b": 1})).await?;
    let again = keyed.start("one", json!({"a": 1, "b": 1})).await?;
    let other = keyed.start("one", json!({"a": 1, "b": 2})).await;
    Ok(json!({"output": output, "sameRun": first.id() == again.id(), "otherInput": code_of(other)}))
}

pub(super) async fn retries(server: &TestServer) -> Result<Json, Error> {
    let stubborn = |ctx: Context, _| async move {
        if ctx.attempt() < 3 { Err(TaskError::new("not yet")) } else { Ok(json!({"attempt": ctx.attempt()})) }
    };
    one(server, stubborn).await?;
    let run = server.client.start("one", Json::Null).await?;
    let output = server.skip_waits(&run).await?.output;
    let history = server.history(&run).await?;
    let retrying = history.iter().filter(|record| record.kind == "STEP_RETRYING").count();
    Ok(json!({"output": output, "retrying": retrying}))
}

pub(super) async fn not_retryable(server: &TestServer) -> Result<Json, Error> {
    let decline = |_, _| async { Err::<(), _>(TaskError::not_retryable("no money").code("CARD_DECLINED")) };
    one(server, decline).await?;
    let run = server.client.start("one", Json::Null).await?;
    let (failure, attempts) = failure(server, &run).await?;
    Ok(json!({"code": failure.code, "message": failure.message, "attempts": attempts}))
}

pub(super) async fn retry_after(server: &TestServer) -> Result<Json, Error> {
    let later = |ctx: Context, _| async move {
        if ctx.attempt() == 1 {
            Err(TaskError::retry_after("come back later", "1h"))
        } else {
            Ok(ctx.attempt())
        }
    };
    one(server, later).await?;
    let before = server.now().await?;
    let run = server.client.start("one", Json::Null).await?;
    let output = server.skip_waits(&run).await?.output;
    let waited = server.now().await?.as_millisecond() - before.as_millisecond();
    Ok(json!({"output": output, "waitedMs": waited}))
}

pub(super) async fn cancel(server: &TestServer) -> Result<Json, Error> {
    /// Tells when it is dropped: that is how a handler is told.
    struct Told(Arc<Notify>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (working, told) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (working.clone(), told.clone());
    let work = move |_: Context, _: Json| {
        let (working, told) = signals.clone();
        async move {
            let _told = Told(told);
            working.notify_one();
            std::future::pending::<()>().await;
            Ok("too late")
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    working.notified().await;
    run.cancel("changed my mind").await?;
    told.notified().await;
    Ok(json!({"status": run.get().await?.status, "told": true}))
}

pub(super) async fn unicode_and_large_payloads(server: &TestServer) -> Result<Json, Error> {
    let name = "größe-名前-🍵";
    let echo = move |ctx: Context, input: Json| async move {
        let text: Json = ctx.run(name, || async { Ok(input.clone()) }).await?;
        ctx.sleep("nap", "1h").await?;
        if input["tooLarge"] == true { Ok(json!("x".repeat(1_100_000))) } else { Ok(text) }
    };
    one(server, echo).await?;
    let text = format!("{}🍵名\u{1}\u{2028}", "é".repeat(60_000));
    let input = json!({"text": text, "name": name, "more": "x".repeat(839_996)});
    let output = server.run_through("one", input.clone()).await?;
    let characters: usize =
        ["text", "more"].map(|key| output[key].as_str().unwrap().chars().count()).iter().sum();
    let large = server.client.start("one", json!({"tooLarge": true})).await?;
    let (too_large, _) = failure(server, &large).await?;
    let same = output == input;
    Ok(json!({"same": same, "characters": characters, "name": output["name"], "tooLarge": too_large.code}))
}

pub(super) async fn one_trace(server: &TestServer) -> Result<Json, Error> {
    let traces = Arc::new(Mutex::new(Vec::new()));
    let child = Arc::new(Mutex::new(String::new()));
    let (seen, started) = (traces.clone(), child.clone());
    let work = move |ctx: Context, input: Json| {
        let (seen, started) = (seen.clone(), started.clone());
        async move {
            seen.lock().unwrap().push(trace_id(ctx.traceparent()));
            if input["parent"] == true {
                let start = || async { Ok(ctx.client().start("one", json!({})).await?.id().to_owned()) };
                let id: String = ctx.run("start", start).await?;
                *started.lock().unwrap() = id;
                ctx.sleep("nap", "1h").await?;
            }
            Ok(())
        }
    };
    one(server, work).await?;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let traced = server.client.traced(format!("00-{trace}-00f067aa0ba902b7-01"));
    let parent = traced.start("one", json!({"parent": true})).await?;
    server.skip_waits(&parent).await?;
    let child = child.lock().unwrap().clone();
    let traceparent = server.settle(&child).await?.traceparent.unwrap();
    let handler = { *traces.lock().unwrap() == vec![trace.to_owned(); 3] };
    server.client.start_and_wait("one", json!({})).await?;
    let last = traces.lock().unwrap().last().unwrap().clone();
    let own = last != trace && last.len() == 32 && last.chars().all(|digit| digit.is_ascii_hexdigit());
    Ok(json!({"handler": handler, "child": trace_id(&traceparent) == trace, "own": own}))
}

fn trace_id(traceparent: &str) -> String {
    traceparent.split('-').nth(1).unwrap_or_default().to_owned()
}

pub(super) async fn start_many(server: &TestServer) -> Result<Json, Error> {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let many = workflow("many").input_schema(schema).step(step::sleep("nap", Duration::from_secs(3_600)));
    server.client.deploy(&many).await?;
    let client = server.client.keyed("night");
    let inputs = || [json!({"n": 1}), json!({"n": "two"}), json!({"n": 3})];
    let first = client.start_many("many", inputs()).await?;
    let again = client.start_many("many", inputs()).await?;
    let outcomes =
        |started: &wire::StartedRuns| started.results.iter().map(|it| json!(it.outcome)).collect::<Vec<_>>();
    let ids = |started: &wire::StartedRuns| {
        started.results.iter().filter_map(|it| it.id.clone()).collect::<Vec<_>>()
    };
    let mut inputs = Vec::new();
    for id in ids(&first) {
        inputs.push(client.runs().find(&id).await?.input);
    }
    let code = first.results[1].problem.as_ref().map(|problem| problem.code.clone());
    let same_runs = ids(&first) == ids(&again);
    Ok(json!({
        "outcomes": outcomes(&first), "code": code, "again": outcomes(&again), "sameRuns": same_runs, "inputs": inputs,
    }))
}

pub(super) async fn refusals_have_codes(server: &TestServer) -> Result<Json, Error> {
    one(server, |_, _| async { Ok(()) }).await?;
    let run = server.client.start("one", Json::Null).await?;
    run.result().await?;
    let unknown = server.client.runs().find("run_01m7h3qy00f49t7jpe51y1013k").await;
    let wrong = json!({"name": "wrong", "steps": [{"type": "task", "name": "a", "handlr": "h"}]});
    let refused = server.client.deploy(&wrong).await.unwrap_err();
    let found = refused.problem().unwrap().problems.iter().find(|problem| problem.nearest.is_some());
    let pointer = found.map(|problem| problem.pointer.clone());
    let late = run.signal("late", ()).await;
    Ok(json!({"codes": [code_of(unknown), refused.code(), code_of(late)], "pointer": pointer}))
}

pub(super) async fn a_graph_in_code(server: &TestServer) -> Result<Json, Error> {
    let add = |_, input: Json| async move { Ok(input["a"].as_i64().unwrap() + input["b"].as_i64().unwrap()) };
    server.worker().handler("add", add).start();
    let sides = json!({"a": "{{ steps.left.output }}", "b": "{{ steps.right.output }}"});
    let graph = workflow("graph")
        .step(step::task("left", "add").input(json!({"a": 1, "b": 2})))
        .step(step::task("right", "add").input(json!({"a": 2, "b": 2})))
        .step(step::task("join", "add").after(["left", "right"]).input(sides));
    let checked = server.client.definitions().check(&graph).await?;
    server.client.deploy(&graph).await?;
    let output = server.client.start_and_wait(&graph, Json::Null).await?;
    Ok(json!({"valid": checked.valid, "output": output}))
}
