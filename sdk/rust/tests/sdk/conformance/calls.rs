//! Scenarios of durable calls with a policy of their own.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{ListensFor, WorkflowRetry};
use abide_sdk::{Context, Error, Json, Retry, RunOptions, TaskError, step, workflow};
use serde_json::json;

use super::{Count, failure, one};

/// The wait that a run is at.
async fn wait(server: &TestServer, run: &abide_sdk::RunHandle) -> Result<(Json, Json), Error> {
    let waiting = server.settle(run).await?;
    let wait = &waiting.waiting_for[0];
    let waitpoint = server.client.waitpoints().find(wait.waitpoint_id.as_deref().unwrap()).await?;
    let ListensFor::Attempt(next) = waitpoint.listens_for else { panic!("{:?}", waitpoint.listens_for) };
    let shown = json!({
        "kind": wait.kind, "call": next.call, "attempt": next.attempt, "maxAttempts": next.max_attempts,
        "code": next.error.code,
    });
    Ok((json!(waiting.status), shown))
}

pub(super) async fn a_call_with_its_own_attempts(server: &TestServer) -> Result<Json, Error> {
    let charged = Count::default();
    let keys = Arc::new(Mutex::new(BTreeSet::new()));
    let shared = (charged.clone(), keys.clone());
    let work = move |ctx: Context, _: Json| {
        let (charged, keys) = shared.clone();
        async move {
            let key = ctx.idempotency_key("charge");
            let charge = || async move {
                keys.lock().unwrap().insert(key);
                match charged.up() {
                    5 => Ok("paid".to_owned()),
                    _ => Err(TaskError::new("no money").code("NO_MONEY")),
                }
            };
            ctx.run_with("charge", RunOptions::new().retry(Retry::attempts(5)), charge).await
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    let (status, shown) = wait(server, &run).await?;
    let ended = server.skip_waits(&run).await?;
    let keys = keys.lock().unwrap().len();
    Ok(json!({
        "while": status, "wait": shown, "charged": charged.get(), "keys": keys,
        "attempts": ended.steps[0].attempt, "output": run.result().await?,
    }))
}

pub(super) async fn a_call_that_uses_up_its_attempts(server: &TestServer) -> Result<Json, Error> {
    let charged = Count::default();
    let charges = charged.clone();
    let work = move |ctx: Context, _: Json| {
        let charges = charges.clone();
        async move {
            let charge = || async move {
                charges.up();
                Err::<(), _>(TaskError::new("no money").code("NO_MONEY"))
            };
            ctx.run_with("charge", RunOptions::new().retry(Retry::attempts(3)), charge).await
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    let (failure, attempts) = failure(server, &run).await?;
    Ok(json!({"code": failure.code, "charged": charged.get(), "attempts": attempts}))
}

pub(super) async fn a_call_that_takes_too_long(server: &TestServer) -> Result<Json, Error> {
    let tried = Count::default();
    let work = move |ctx: Context, _: Json| {
        let tried = tried.clone();
        async move {
            let charge = || async move {
                if tried.up() == 1 {
                    std::future::pending::<()>().await;
                }
                Ok("paid".to_owned())
            };
            let options = RunOptions::new().retry(Retry::attempts(2)).timeout(Duration::from_millis(50));
            ctx.run_with("charge", options, charge).await
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    let (_, shown) = wait(server, &run).await?;
    let ended = server.skip_waits(&run).await?;
    let attempts = ended.steps[0].attempt;
    Ok(json!({"code": shown["code"], "output": run.result().await?, "attempts": attempts}))
}

pub(super) async fn progress_renews_the_attempts(server: &TestServer) -> Result<Json, Error> {
    let tried = Count::default();
    let tries = tried.clone();
    let work = move |ctx: Context, _: Json| {
        let tries = tries.clone();
        async move {
            for call in 0..30 {
                let tries = tries.clone();
                let once = || async move {
                    match tries.up() % 2 {
                        1 => Err(TaskError::new("not yet")),
                        _ => Ok(call),
                    }
                };
                ctx.run(format!("call-{call}"), once).await?;
                ctx.sleep(format!("day-{call}"), "1d").await?;
            }
            Ok(30)
        }
    };
    let handler = server.worker().heartbeat(Duration::from_millis(50)).handler("work", work);
    handler.start();
    let twice = step::task("work", "work").retry(WorkflowRetry::default().max_attempts(2));
    server.client.deploy(&workflow("one").step(twice)).await?;
    let output = server.run_through("one", Json::Null).await?;
    Ok(json!({"output": output, "tries": tried.get()}))
}
