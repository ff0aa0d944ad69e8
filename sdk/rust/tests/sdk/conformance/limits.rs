//! Scenarios of limits in durable code.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Json, Limit, Retry, RunOptions, TaskError};
use serde_json::json;

use super::{failure, one};

#[derive(Default)]
struct Gate {
    in_hand: AtomicUsize,
    most: AtomicUsize,
}

pub(super) async fn room_for_a_durable_call(server: &TestServer) -> Result<Json, Error> {
    let gate = Arc::new(Gate::default());
    let seen = Arc::clone(&gate);
    one(server, move |ctx: Context, _: Json| {
        let gate = Arc::clone(&seen);
        async move {
            let backed_off = ctx.task().journal.iter().any(|entry| entry.name == "call#retry-1");
            let options = RunOptions::new().retry(Retry::attempts(2)).limit(Limit::concurrency("partner", 1));
            let call = || async move {
                let in_hand = gate.in_hand.fetch_add(1, Ordering::SeqCst) + 1;
                gate.most.fetch_max(in_hand, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(5)).await;
                gate.in_hand.fetch_sub(1, Ordering::SeqCst);
                if backed_off { Ok(2) } else { Err(TaskError::new("not yet")) }
            };
            ctx.run_with("call", options, call).await
        }
    })
    .await?;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(server.client.start("one", Json::Null).await?);
    }
    let mut outputs = Vec::new();
    for run in &runs {
        outputs.push(server.skip_waits(run).await?.output);
    }
    let history = server.history(&runs[0]).await?;
    let asked = history.iter().any(|record| json!(record)["type"] == "CAPACITY_TAKEN");
    Ok(json!({ "most": gate.most.load(Ordering::SeqCst), "outputs": outputs, "asked": asked }))
}

pub(super) async fn room_for_several_durable_calls(server: &TestServer) -> Result<Json, Error> {
    one(server, |ctx: Context, input: Json| async move {
        let limit = Limit::concurrency("desk", 1);
        let limit = if input["brief"] == true { limit.timeout(Duration::from_secs(600)) } else { limit };
        let body = async {
            ctx.sleep("nap", "1h").await?;
            let n = input["n"].clone();
            ctx.run("n", || async move { Ok(n) }).await
        };
        ctx.with_limit(limit, "body", body).await
    })
    .await?;
    let (mut waits, mut runs) = (Vec::new(), Vec::new());
    for input in [json!({ "n": 1 }), json!({ "n": 2 }), json!({ "n": 3, "brief": true })] {
        let run = server.client.start("one", input).await?;
        waits.push(json!(server.settle(&run).await?.waiting_for[0].kind));
        runs.push(run);
    }
    server.advance("11m").await?;
    let (late, _) = failure(server, &runs[2]).await?;
    let mut outputs = Vec::new();
    for run in &runs[..2] {
        outputs.push(server.skip_waits(run).await?.output);
    }
    Ok(json!({ "waits": waits, "late": late.code, "outputs": outputs }))
}
