//! Scenarios of what operators rely on: runs that stay with their build, and handlers of a failure or a cancel.

use std::sync::{Arc, Mutex};

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{MoveClock, PinRun, WaitingForKind};
use abide_sdk::{Context, Error, Json, RunHandle, TaskError, step, workflow};
use serde_json::json;

use super::builds::{Boxed, worker};
use super::named;

/// Lets an hour pass, though there is a task that nobody takes.
async fn pass_an_hour(server: &TestServer) -> Result<(), Error> {
    let mut clock = server.client.test_clock().advance(&MoveClock::default().advance("1h")).await?;
    let to = clock.target.unwrap_or(clock.now);
    while clock.now < to {
        clock = server.client.test_clock().advance(&MoveClock::default().to(to)).await?;
    }
    Ok(())
}

/// Notes three times which build it is, with an hour in between.
fn noting(build: &'static str) -> impl Fn(Context, Json) -> Boxed {
    move |ctx: Context, input: Json| {
        Box::pin(async move {
            if input == "short" {
                return Ok(json!(build));
            }
            let note = async |name: &str| ctx.run(name, || async { Ok(build.to_owned()) }).await;
            let first = note("first").await?;
            ctx.sleep("one hour", "1h").await?;
            let second = note("second").await?;
            ctx.sleep("another hour", "1h").await?;
            Ok(json!([first, second, note("third").await?]))
        })
    }
}

pub(super) async fn a_run_that_stays_with_its_build(server: &TestServer) -> Result<Json, Error> {
    let client = &server.client;
    client.deploy(&workflow("pinned").pin_to_build(true).task("work", "work")).await?;
    client.deploy(&workflow("free").task("work", "work")).await?;
    let first = worker(server, "old", noting("old"));
    let run = client.start("pinned", Json::Null).await?;
    server.settle(&run).await?;
    first.stop().await?;
    worker(server, "new", noting("new"));
    pass_an_hour(server).await?;
    // It was ready before this one, and would have been taken before it.
    let beside = client.start_and_wait("free", json!("short")).await?;
    let waits = run.get().await?.waiting_for;
    let wait = waits.iter().find(|wait| wait.kind == WaitingForKind::Worker);
    let names = named(wait.map_or("", |wait| &wait.sentence), &["old", "new"]);
    let again = worker(server, "old", noting("old"));
    server.settle(&run).await?;
    again.stop().await?;
    client.runs().pin(run.id(), &PinRun::new("new")).await?;
    server.advance("1h").await?;
    let kind = wait.map(|wait| wait.kind);
    Ok(json!({"kind": kind, "names": names, "beside": beside, "noted": run.result().await?}))
}

/// What the handler of a run's end was told, as it gave it back.
async fn told(server: &TestServer, run: &RunHandle) -> Result<Json, Error> {
    let ended = run.get().await?;
    let handled = server.skip_waits(ended.handled_by.as_deref().unwrap_or_default()).await?;
    let given = json!(handled.output);
    let error = &given["error"];
    let brief = || json!({"code": error["code"], "message": error["message"], "step": error["step"]});
    let error = (!error.is_null()).then(brief);
    Ok(json!({
        "status": ended.status, "sameRun": given["run"]["id"] == run.id(), "name": given["run"]["name"],
        "input": given["input"], "state": given["state"], "error": error, "reason": given["reason"],
    }))
}

pub(super) async fn handlers_of_a_failure_and_of_a_cancel(server: &TestServer) -> Result<Json, Error> {
    let handlers = Arc::new(Mutex::new(Vec::new()));
    let (told_by, released_by) = (handlers.clone(), handlers.clone());
    let pay = |ctx: Context, input: Json| async move {
        match input["pays"].as_str() {
            Some("never") => Err(TaskError::not_retryable("no money").code("CARD_DECLINED")),
            Some("later") => ctx.sleep("payday", "30d").await,
            _ => Ok(()),
        }
    };
    let tell = move |ctx: Context, ended: Json| {
        let handlers = told_by.clone();
        async move {
            ctx.sleep("office hours", "1h").await?;
            handlers.lock().unwrap().push("tell");
            Ok(ended)
        }
    };
    let release = move |_: Context, ended: Json| {
        released_by.lock().unwrap().push("release");
        async move { Ok(ended) }
    };
    let works = server.worker().handler("reserve", |_, _: Json| async { Ok("12A") }).handler("pay", pay);
    works.handler("tell", tell).handler("release", release).start();
    let client = &server.client;
    let trip = workflow("trip").step(step::task("reserve", "reserve").save_as("seat")).task("pay", "pay");
    client.deploy(&trip.on_failure("tell").on_cancel("release")).await?;
    let failing = client.start("trip", json!({"pays": "never"})).await?;
    server.settle(&failing).await?;
    let failed = told(server, &failing).await?;
    let waiting = client.start("trip", json!({"pays": "later"})).await?;
    server.settle(&waiting).await?;
    waiting.cancel("changed my mind").await?;
    let cancelled = told(server, &waiting).await?;
    let paid = server.settle(&client.start("trip", json!({"pays": "now"})).await?).await?;
    let completed = json!({"status": paid.status, "handledBy": paid.handled_by});
    let handlers = handlers.lock().unwrap().clone();
    Ok(json!({"failed": failed, "cancelled": cancelled, "completed": completed, "handlers": handlers}))
}
