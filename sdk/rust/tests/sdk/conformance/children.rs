//! Scenarios of work in other runs, and of what becomes of it.

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{ListensFor, RunFilter, WaitpointFilter, WorkflowRetry};
use abide_sdk::{Context, Error, Json, Result, TaskError, Timestamp, step, workflow};
use serde_json::json;

use super::{failure, one};

const HOUR_MS: i64 = 3_600_000;

/// A workflow that sleeps, and then says something.
async fn deploy_nap(server: &TestServer, name: &str, nap: &str) -> Result<(), Error> {
    let say = |_: Context, input: Json| async move {
        if input["say"] == "no" { Err(TaskError::new("it says no")) } else { Ok(input["say"].clone()) }
    };
    server.worker().handler(name, say).start();
    let once = WorkflowRetry::default().max_attempts(1);
    let napping = workflow(name).output(json!("{{ steps.say.output }}")).step(step::sleep("nap", nap));
    server.client.deploy(&napping.step(step::task("say", name).retry(once))).await.map(drop)
}

async fn hours_since(server: &TestServer, before: Timestamp) -> Result<i64, Error> {
    Ok((server.now().await?.as_millisecond() - before.as_millisecond()) / HOUR_MS)
}

async fn runs_of(server: &TestServer, name: &str) -> Result<usize, Error> {
    let runs = server.client.runs().list(&RunFilter::default()).all().await?;
    Ok(runs.iter().filter(|run| run.definition.name == name).count())
}

pub(super) async fn a_child(server: &TestServer) -> Result<Json, Error> {
    deploy_nap(server, "restock", "1d").await?;
    let work = |ctx: Context, _: Json| async move {
        let output = ctx.child("tea", "restock", json!({"say": "tea is back"})).await?;
        let failed = ctx.child("coffee", "restock", json!({"say": "no"})).await;
        Ok(json!({"output": output, "failed": failed.err().and_then(|error| error.code)}))
    };
    one(server, work).await?;
    let before = server.now().await?;
    let run = server.client.start("one", Json::Null).await?;
    server.advance("1d").await?;
    let hours = hours_since(server, before).await?;
    server.skip_waits(&run).await?;
    let mut output = run.result().await?;
    output["children"] = json!(runs_of(server, "restock").await?);
    output["hours"] = json!(hours);
    Ok(output)
}

pub(super) async fn a_child_that_is_only_started(server: &TestServer) -> Result<Json, Error> {
    deploy_nap(server, "restock", "1d").await?;
    let work = |ctx: Context, input: Json| async move {
        let workflow = input["workflow"].as_str().unwrap_or_default();
        Ok(ctx.start_child("tea", workflow, json!({"say": "tea"})).await?.id().to_owned())
    };
    one(server, work).await?;
    let id = server.client.start_and_wait("one", json!({"workflow": "restock"})).await?;
    let id = id.as_str().unwrap();
    let child = server.client.runs().find(id).await?.status;
    server.advance("1d").await?;
    let later = server.client.runs().find(id).await?.status;
    let (unknown, _) =
        failure(server, &server.client.start("one", json!({"workflow": "nothing"})).await?).await?;
    let started = runs_of(server, "restock").await?;
    Ok(
        json!({"parent": "COMPLETED", "child": child, "later": later, "started": started, "unknown": unknown.code}),
    )
}

pub(super) async fn a_map_of_children_two_at_a_time(server: &TestServer) -> Result<Json, Error> {
    deploy_nap(server, "restock", "1h").await?;
    let work = |ctx: Context, _: Json| async move {
        let restock = |item: u32, name: String| ctx.child(name, "restock", json!({"say": item * 10}));
        ctx.map("restock", 0..5, 2, restock).await
    };
    one(server, work).await?;
    let before = server.now().await?;
    let run = server.client.start("one", Json::Null).await?;
    server.skip_waits(&run).await?;
    let hours = hours_since(server, before).await?;
    Ok(json!({"outputs": run.result().await?, "hours": hours, "runs": runs_of(server, "restock").await?}))
}

pub(super) async fn a_loser_beside_other_waits_is_cancelled(server: &TestServer) -> Result<Json, Error> {
    deploy_nap(server, "restock", "1d").await?;
    let work = |ctx: Context, _: Json| async move {
        let race = async {
            let reply = ctx.wait_for_signal::<Json>("reply", "reply").map(|_| ());
            let child = ctx.child("tea", "restock", json!({"say": "tea"})).map(|_| ());
            Ok(ctx.any([reply, child]).await?.name)
        };
        let (first, ()) = futures_util::future::try_join(race, ctx.sleep("long", "2d")).await?;
        Ok(first)
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    run.signal("reply", json!("yes")).await?;
    let status = server.settle(&run).await?.status;
    let waits = server.client.waitpoints().list(&WaitpointFilter::default().run_id(run.id())).all().await?;
    let loser = waits.iter().find(|wait| wait.name == "tea").unwrap();
    let ListensFor::Child(child) = &loser.listens_for else { panic!("{loser:?}") };
    let child = server.client.runs().find(&child.run_id).await?.status;
    server.skip_waits(&run).await?;
    let output = run.result().await?;
    Ok(json!({"first": output, "loser": loser.status, "child": child, "run": status, "output": output}))
}

pub(super) async fn values_of_the_code_in_a_wait_for_an_event(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, input: Json| async move {
        let order_id = 7;
        if input["unknown"] == true {
            let news = ctx.wait_for_event::<Json>("news", "order.paid");
            return news.matching("event.order.id == orderId").timeout("1d").await;
        }
        let payment = ctx.wait_for_event::<Json>("payment", "order.paid");
        payment.where_is("order.id", order_id).timeout("1d").await
    };
    one(server, work).await?;
    let run = server.client.start("one", json!({})).await?;
    server.settle(&run).await?;
    server.client.notify("order.paid", json!({"order": {"id": 8}})).await?;
    server.client.notify("order.paid", json!({"order": {"id": 7}, "paid": true})).await?;
    let received = run.result().await?;
    let (failed, _) = failure(server, &server.client.start("one", json!({"unknown": true})).await?).await?;
    let names: Vec<&str> = if failed.message.contains("`orderId`") { vec!["orderId"] } else { Vec::new() };
    Ok(json!({"received": received, "code": failed.code, "names": names}))
}
