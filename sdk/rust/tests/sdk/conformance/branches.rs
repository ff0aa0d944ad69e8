//! Scenarios of branches that run beside each other.

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{
    ListensFor, WaitpointFilter, WaitpointStatus, WorkflowMemberExternalEvent, WorkflowMemberWait,
    WorkflowMemberWaitForEvent,
};
use abide_sdk::{Context, Error, Json, workflow};
use serde_json::json;

use super::{Count, one};

pub(super) async fn any_over_branches(server: &TestServer) -> Result<Json, Error> {
    server.client.deploy(&workflow("sleeper").sleep("long", "10d")).await?;
    let (after_nap, never) = (Count::default(), Count::default());
    let counts = (after_nap.clone(), never.clone());
    let work = move |ctx: Context, _: Json| {
        let (after_nap, never) = counts.clone();
        async move {
            let fast = ctx.branch("fast", async {
                ctx.sleep("nap", "1h").await?;
                ctx.run("after-nap", || async { Ok(after_nap.up()) }).await?;
                Ok("slept")
            });
            let slow = ctx.branch("slow", async {
                ctx.child("helper", "sleeper", Json::Null).await?;
                ctx.run("never", || async { Ok(never.up()) }).await?;
                Ok("helped")
            });
            let withdrawn = ctx.wait_for_signal::<Json>("withdrawn", "withdrawn").timeout("30d");
            let first = ctx.any([fast, slow, withdrawn.map(|_| "withdrawn").into_branch()]).await?;
            ctx.sleep("later", "1h").await?;
            Ok(json!({"winner": first.name, "value": first.value}))
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    server.advance("1h").await?;
    // The losers are cancelled when they have lost, not when the run ends.
    let filter = WaitpointFilter::default().run_id(run.id());
    let waits = server.client.waitpoints().list(&filter).all().await?;
    let helper = waits.iter().find(|wait| wait.name == "helper").unwrap();
    let ListensFor::Child(child) = &helper.listens_for else { panic!("{helper:?}") };
    let child = server.client.runs().find(&child.run_id).await?.status;
    server.skip_waits(&run).await?;
    let mut output = run.result().await?;
    let waits = server.client.waitpoints().list(&filter).all().await?;
    let open = waits.iter().filter(|wait| wait.status == WaitpointStatus::Pending).count();
    output["never"] = json!(never.get());
    output["afterNap"] = json!(after_nap.get());
    output["childStatus"] = json!(child);
    output["openWaitsAtTheEnd"] = json!(open);
    output["status"] = json!(run.get().await?.status);
    Ok(output)
}

pub(super) async fn all_over_branches_and_waits(server: &TestServer) -> Result<Json, Error> {
    let counts: [Count; 3] = Default::default();
    let counted = counts.clone();
    let work = move |ctx: Context, _: Json| {
        let [a1, a3, c1] = counted.clone();
        async move {
            let a = ctx.branch("a", async {
                ctx.run("a1", || async { Ok(a1.up()) }).await?;
                ctx.sleep("a2", "1h").await?;
                ctx.run("a3", || async { Ok(a3.up()) }).await?;
                Ok(1)
            });
            let c = ctx.branch("c", async {
                ctx.run("c1", || async { Ok(c1.up()) }).await?;
                Ok(3)
            });
            ctx.all((a, ctx.sleep("b", "2h"), c)).await
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.skip_waits(&run).await?;
    let [a1, a3, c1] = counts.map(|count| count.get());
    let values = run.result().await?;
    Ok(json!({"values": values, "a1": a1, "a3": a3, "c1": c1, "status": run.get().await?.status}))
}

/// The names of the waits of a run that were cancelled, in order.
async fn cancelled(server: &TestServer, run: &str) -> Result<Vec<String>, Error> {
    let waits = server.client.waitpoints().list(&WaitpointFilter::default().run_id(run)).all().await?;
    let cancelled = waits.into_iter().filter(|wait| wait.status == WaitpointStatus::Cancelled);
    let mut names: Vec<String> = cancelled.map(|wait| wait.name).collect();
    names.sort();
    Ok(names)
}

pub(super) async fn some_of_several_waits(server: &TestServer) -> Result<Json, Error> {
    let after = Count::default();
    let counted = after.clone();
    let work = move |ctx: Context, _: Json| {
        let after = counted.clone();
        async move {
            let a = ctx.sleep("a", "3h").map(|()| Json::Null);
            let b = ctx.wait_for_signal::<Json>("b", "b").map(|payload| json!(payload));
            let c = ctx.sleep("c", "1h").map(|()| Json::Null);
            let first = ctx.some(2, [a, b, c]).await?;
            ctx.run("after", || async { Ok(after.up()) }).await?;
            ctx.sleep("later", "1h").await?;
            let names: Vec<&str> = first.iter().map(|came| came.name.as_str()).collect();
            let indexes: Vec<usize> = first.iter().map(|came| came.index).collect();
            Ok(json!({"first": names, "indexes": indexes, "value": first[0].value}))
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    run.signal("b", json!({"why": "now"})).await?;
    server.settle(&run).await?;
    server.advance("1h").await?;
    server.skip_waits(&run).await?;
    let mut output = run.result().await?;
    output["after"] = json!(after.get());
    output["cancelled"] = json!(cancelled(server, run.id()).await?);
    output["status"] = json!(run.get().await?.status);
    Ok(output)
}

pub(super) async fn the_first_of_several_waits_of_a_step(server: &TestServer) -> Result<Json, Error> {
    let waits = [
        ("paid", WorkflowMemberWaitForEvent::new("order.paid").into()),
        ("stop", WorkflowMemberExternalEvent::new("stop").into()),
        ("late", WorkflowMemberWait::default().duration("3d").into()),
    ];
    server.client.deploy(&workflow("order").wait_any("outcome", waits)).await?;
    let stopped = server.client.start("order", Json::Null).await?;
    let late = server.client.start("order", Json::Null).await?;
    stopped.signal("stop", json!({"why": "no"})).await?;
    let told = stopped.result().await?;
    server.advance("3d").await?;
    let cancelled = cancelled(server, stopped.id()).await?;
    Ok(json!({"stopped": told, "late": late.result().await?, "cancelled": cancelled}))
}
