//! Scenarios of code that changes under runs that are under way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Json, Result, RunHandle, Working, step, workflow};
use serde_json::json;

use super::{Count, failure, named};

/// A worker with one handler, of the code that it is told to be.
pub(super) fn worker<F, Fut, O>(server: &TestServer, build: &str, handle: F) -> Working
where
    F: Fn(Context, Json) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O>> + Send + 'static,
    O: serde::Serialize + Send + 'static,
{
    let quick = server.worker().grace(Duration::from_millis(100)).heartbeat(Duration::from_millis(50));
    quick.build_id(build).handler("work", handle).start()
}

async fn deployed(server: &TestServer) -> Result<(), Error> {
    server.client.deploy(&workflow("one").task("work", "work")).await.map(drop)
}

/// Charges, or bills in its place, and sleeps for an hour.
fn charging(name: &'static str, count: &Count) -> impl Fn(Context, Json) -> Boxed + use<> {
    let count = count.clone();
    move |ctx: Context, _: Json| {
        let count = count.clone();
        Box::pin(async move {
            ctx.run(name, || async { Ok(count.up()) }).await?;
            ctx.sleep("nap", "1h").await?;
            Ok(Json::Null)
        })
    }
}

pub(super) type Boxed = std::pin::Pin<Box<dyn Future<Output = Result<Json>> + Send>>;

/// What a run waits for when other code has woken up in it, and what becomes of it with the code of before.
async fn rolled_back<O, N>(
    server: &TestServer,
    run: &RunHandle,
    (old, new): (
        impl Fn(Context, Json) -> O + Send + Sync + 'static,
        impl Fn(Context, Json) -> N + Send + Sync + 'static,
    ),
    names: &[&str],
) -> Result<(Json, Json, u32), Error>
where
    O: Future<Output = Result<Json>> + Send + 'static,
    N: Future<Output = Result<Json>> + Send + 'static,
{
    let changed = worker(server, "new", new);
    server.advance("1h").await?;
    let waiting = server.settle(run).await?;
    let wait = &waiting.waiting_for[0];
    let (kind, names) = (json!(wait.kind), json!(named(&wait.sentence, names)));
    changed.stop().await?;
    worker(server, "old", old);
    Ok((kind, names, waiting.steps[0].attempt))
}

pub(super) async fn changed_code(server: &TestServer) -> Result<Json, Error> {
    let (charged, billed) = (Count::default(), Count::default());
    deployed(server).await?;
    let before = worker(server, "old", charging("charge", &charged));
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    before.stop().await?;
    let codes = (charging("charge", &charged), charging("bill", &billed));
    let (kind, names, attempts) = rolled_back(server, &run, codes, &["charge", "bill"]).await?;
    run.result().await?;
    let (billed, charged, after) = (billed.get(), charged.get(), run.get().await?.status);
    Ok(
        json!({"kind": kind, "names": names, "billed": billed, "charged": charged, "attempts": attempts, "after": after}),
    )
}

pub(super) async fn a_wait_that_changed_its_kind(server: &TestServer) -> Result<Json, Error> {
    let old = |ctx: Context, _: Json| async move {
        ctx.sleep("gate", "1h").await?;
        ctx.wait_for_signal::<Json>("go", "go").await?;
        Ok(Json::Null)
    };
    let new = |ctx: Context, _: Json| async move { Ok(json!(ctx.approve("gate").await?.approved)) };
    deployed(server).await?;
    let before = worker(server, "old", old);
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    before.stop().await?;
    let (kind, names, attempts) = rolled_back(server, &run, (old, new), &["gate"]).await?;
    run.signal("go", Json::Null).await?;
    run.result().await?;
    Ok(json!({"kind": kind, "names": names, "attempts": attempts, "after": run.get().await?.status}))
}

pub(super) async fn another_event_under_the_same_name(server: &TestServer) -> Result<Json, Error> {
    let waiting = |event: &'static str| {
        move |ctx: Context, _: Json| async move {
            ctx.wait_for_event::<Json>("news", event).await?;
            ctx.sleep("nap", "1h").await?;
            Ok(Json::Null)
        }
    };
    deployed(server).await?;
    let before = worker(server, "old", waiting("order.paid"));
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    server.client.notify("order.paid", json!({"ok": true})).await?;
    server.settle(&run).await?;
    before.stop().await?;
    let codes = (waiting("order.paid"), waiting("order.refused"));
    let (kind, names, attempts) = rolled_back(server, &run, codes, &["news"]).await?;
    run.result().await?;
    Ok(json!({"kind": kind, "names": names, "attempts": attempts, "after": run.get().await?.status}))
}

pub(super) async fn changed_code_that_is_to_fail(server: &TestServer) -> Result<Json, Error> {
    let count = Count::default();
    let fails = step::task("work", "work").on_code_change(abide_sdk::wire::WorkflowOnCodeChange::Fail);
    server.client.deploy(&workflow("one").step(fails)).await?;
    let before = worker(server, "old", charging("charge", &count));
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    before.stop().await?;
    worker(server, "new", charging("bill", &count));
    let (failure, attempts) = failure(server, &run).await?;
    let names = named(&failure.message, &["charge", "bill"]);
    Ok(json!({"code": failure.code, "names": names, "attempts": attempts}))
}

pub(super) async fn old_and_new_code_side_by_side(server: &TestServer) -> Result<Json, Error> {
    let (charged, billed) = (Count::default(), Count::default());
    deployed(server).await?;
    worker(server, "old", charging("charge", &charged));
    let mut runs = Vec::new();
    for _ in 0..20 {
        runs.push(server.client.start("one", Json::Null).await?);
    }
    server.settle(&runs[0]).await?;
    worker(server, "new", charging("bill", &billed));
    server.advance("1h").await?;
    for run in &runs {
        run.result().await?;
    }
    Ok(json!({"completed": runs.len(), "charged": charged.get(), "billed": billed.get()}))
}

pub(super) async fn a_planned_change(server: &TestServer) -> Result<Json, Error> {
    let ordering = |is_new: bool| {
        move |ctx: Context, _: Json| async move {
            let done = Arc::new(Mutex::new(Vec::new()));
            let call = |name: &'static str| {
                let (ctx, done) = (ctx.clone(), done.clone());
                async move {
                    let name: String = ctx.run(name, || async { Ok(name.to_owned()) }).await?;
                    done.lock().unwrap().push(name);
                    Ok::<_, abide_sdk::TaskError>(())
                }
            };
            call("order").await?;
            if is_new && ctx.patched("fraud") {
                call("fraud").await?;
            }
            ctx.sleep("nap", "1d").await?;
            call("end").await?;
            let done = done.lock().unwrap().clone();
            Ok(json!(done))
        }
    };
    deployed(server).await?;
    let before = worker(server, "old", ordering(false));
    let old = server.client.start("one", Json::Null).await?;
    server.settle(&old).await?;
    before.stop().await?;
    worker(server, "new", ordering(true));
    let new = server.client.start("one", Json::Null).await?;
    server.skip_waits(&new).await?;
    Ok(json!({"old": old.result().await?, "new": new.result().await?}))
}
