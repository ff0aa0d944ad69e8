//! Scenarios whose workers are processes that can be killed and stopped.

use std::process::Stdio;
use std::time::{Duration, Instant};

use abide_sdk::testing::TestServer;
use abide_sdk::wire::MoveClock;
use abide_sdk::{Error, Json, RunHandle, workflow};
use serde_json::json;
use tokio::process::{Child, Command};

const NAP: Duration = Duration::from_millis(500);

fn worker(server: &TestServer) -> Child {
    worker_with(server, Stdio::null())
}

/// A worker whose task `slow` takes as long as its standard input is open.
fn slow_worker(server: &TestServer) -> Child {
    worker_with(server, Stdio::piped())
}

fn worker_with(server: &TestServer, stdin: Stdio) -> Child {
    let mut command = Command::new(crate::built("examples/conformance-worker"));
    command.env("ABIDE_SERVER", server.client.server()).stdin(stdin).kill_on_drop(true);
    command.spawn().unwrap()
}

async fn signal(child: &Child, name: &str) {
    let id = child.id().unwrap().to_string();
    assert!(Command::new("kill").args([name, &id]).status().await.unwrap().success());
}

async fn start(server: &TestServer, handler: &str) -> Result<RunHandle, Error> {
    let workflow = workflow(handler).task("work", handler);
    server.client.deploy(&workflow).await?;
    server.client.start(&workflow, Json::Null).await
}

async fn recorded_once(server: &TestServer, run: &RunHandle) -> Result<bool, Error> {
    let history = server.history(run).await?;
    let entries = history.iter().filter(|record| record.kind == "JOURNAL_RECORDED");
    let names = entries.flat_map(|record| record.fields["entries"].as_array().unwrap());
    Ok(names.filter(|entry| entry["name"] == "who").count() == 1)
}

pub(super) async fn sleep_across_the_kill_of_a_worker(server: &TestServer) -> Result<Json, Error> {
    let mut first = worker(server);
    let run = start(server, "long-nap").await?;
    run.follow().until("STEP_WAITING").await?;
    first.kill().await.unwrap();
    let _second = worker(server);
    let nap = run.get().await?.waiting_for[0].waitpoint_id.clone();
    server.client.waitpoints().complete(nap.as_deref().unwrap_or_default(), Json::Null).await?;
    let output = run.result().await?;
    let once = recorded_once(server, &run).await?;
    let status = run.get().await?.status;
    Ok(json!({"sameWorker": output["before"] == output["after"], "recordedOnce": once, "status": status}))
}

pub(super) async fn sleep_across_the_kill_of_the_server(server: &TestServer) -> Result<Json, Error> {
    let begun = Instant::now();
    let _worker = worker(server);
    let run = start(server, "nap").await?;
    run.follow().until("STEP_WAITING").await?;
    server.crash().await?;
    run.result().await?;
    let early = begun.elapsed() < NAP;
    let once = recorded_once(server, &run).await?;
    Ok(json!({"status": run.get().await?.status, "early": early, "recordedOnce": once}))
}

/// Lets time pass until the lease is over. A heartbeat that was on its way when the worker was stopped may renew it once more.
async fn lose_the_lease(server: &TestServer, run: &RunHandle) -> Result<(), Error> {
    while !server.history(run).await?.iter().any(|record| record.kind == "TASK_REDELIVERED") {
        server.client.test_clock().advance(&MoveClock::default().advance("3s")).await?;
    }
    Ok(())
}

pub(super) async fn heartbeat_loss(server: &TestServer) -> Result<Json, Error> {
    let first = slow_worker(server);
    let run = start(server, "slow").await?;
    run.follow().until("JOURNAL_RECORDED").await?;
    signal(&first, "-STOP").await;
    lose_the_lease(server, &run).await?;
    let _second = worker(server);
    let output = run.result().await?;
    signal(&first, "-CONT").await;
    let history = server.history(&run).await?;
    let redelivered = history.iter().filter(|record| record.kind == "TASK_REDELIVERED").count();
    Ok(json!({
        "status": run.get().await?.status,
        "sameWorker": output["before"] == output["after"],
        "redelivered": redelivered,
        "attempt": output["attempt"],
    }))
}

pub(super) async fn drain(server: &TestServer) -> Result<Json, Error> {
    let mut own = slow_worker(server);
    let run = start(server, "slow").await?;
    run.follow().until("JOURNAL_RECORDED").await?;
    signal(&own, "-TERM").await;
    let second = server.client.start("slow", Json::Null).await?;
    drop(own.stdin.take());
    let exit = own.wait().await.unwrap().code();
    Ok(json!({"first": run.get().await?.status, "second": second.get().await?.status, "exit": exit}))
}
