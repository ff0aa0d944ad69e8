//! Scenarios of durable code: what is done once, and what cannot be replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Json, TaskError};
use futures_util::future::try_join_all;
use serde_json::json;

use super::{Count, failure, named, one};

pub(super) async fn a_retried_run_keeps_its_waits(server: &TestServer) -> Result<Json, Error> {
    let charged = Count::default();
    let broken = Arc::new(AtomicBool::new(true));
    let shared = (charged.clone(), broken.clone());
    let work = move |ctx: Context, _: Json| {
        let (charged, broken) = shared.clone();
        async move {
            ctx.run("charge", || async { Ok(charged.up()) }).await?;
            ctx.sleep("cooling-off", "2d").await?;
            let parcel: Option<Json> = ctx.wait_for_event("parcel", "parcel.returned").timeout("14d").await?;
            match broken.load(Ordering::SeqCst) {
                true => Err(TaskError::not_retryable("the bank is closed")),
                false => Ok(parcel),
            }
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    server.advance("2d").await?;
    server.settle(&run).await?;
    server.client.notify("parcel.returned", json!({"parcel": 7})).await?;
    server.settle(&run).await?;
    broken.store(false, Ordering::SeqCst);
    let before = server.history(&run).await?.len();
    server.client.runs().retry(run.id()).await?;
    let output = run.result().await?;
    let history = server.history(&run).await?;
    let waits = history[before..].iter().filter(|record| record.kind == "STEP_WAITING").count();
    Ok(json!({"charged": charged.get(), "output": output, "waitsOfTheRetriedRun": waits}))
}

/// In Rust a length cannot be negative; one that is past is of no length.
pub(super) async fn a_sleep_that_is_over_before_it_begins(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, _: Json| async move {
        ctx.sleep("nap", std::time::Duration::ZERO).await?;
        Ok("awake")
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    let output = run.result().await?;
    Ok(json!({"output": output, "attempts": run.get().await?.steps[0].attempt}))
}

/// In Rust nothing can be caught: a wait does not return until it is over. It can be given up, though.
pub(super) async fn swallowed_suspension(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, _| async move {
        tokio::select! {
            biased;
            slept = ctx.sleep("nap", "1h") => slept.map(|()| "slept"),
            () = async {} => Ok("swallowed"),
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    let (failure, attempts) = failure(server, &run).await?;
    Ok(json!({"code": failure.code, "names": named(&failure.message, &["nap"]), "attempts": attempts}))
}

pub(super) async fn a_caught_failure_is_remembered(server: &TestServer) -> Result<Json, Error> {
    let charged = Count::default();
    let charges = charged.clone();
    let work = move |ctx: Context, _: Json| {
        let charges = charges.clone();
        async move {
            let charge = || async {
                charges.up();
                Err(TaskError::not_retryable("no money"))
            };
            match ctx.run::<(), _, _>("charge", charge).await {
                Ok(()) => Ok(Vec::new()),
                Err(error) => {
                    let refund: String = ctx.run("refund", || async { Ok("refunded".to_owned()) }).await?;
                    ctx.sleep("nap", "1h").await?;
                    Ok(vec![error.message, refund])
                }
            }
        }
    };
    one(server, work).await?;
    let output = server.run_through("one", Json::Null).await?;
    Ok(json!({"charged": charged.get(), "output": output}))
}

pub(super) async fn a_caught_failure_is_remembered_across_a_pause(
    server: &TestServer,
) -> Result<Json, Error> {
    let charged = Count::default();
    let charges = charged.clone();
    let work = move |ctx: Context, _: Json| {
        let charges = charges.clone();
        async move {
            let charge = || async {
                charges.up();
                Err::<(), _>(TaskError::new("no money"))
            };
            let failed = ctx.run("charge", charge).await.unwrap_err();
            ctx.pause("rest", "1h").await?;
            Ok(failed.message)
        }
    };
    one(server, work).await?;
    let output = server.run_through("one", Json::Null).await?;
    Ok(json!({"charged": charged.get(), "output": output}))
}

pub(super) async fn a_hundred_parallel_runs(server: &TestServer) -> Result<Json, Error> {
    let done = Count::default();
    let works = done.clone();
    let work = move |ctx: Context, _: Json| {
        let works = works.clone();
        async move {
            let one = |n: u64| {
                let works = works.clone();
                ctx.run(format!("work-{n}"), move || async move {
                    works.up();
                    Ok(n)
                })
            };
            let numbers = try_join_all((0..100).map(one)).await?;
            ctx.sleep("nap", "1h").await?;
            Ok(numbers.into_iter().sum::<u64>())
        }
    };
    one(server, work).await?;
    let sum = server.run_through("one", Json::Null).await?;
    Ok(json!({"sum": sum, "done": done.get()}))
}
