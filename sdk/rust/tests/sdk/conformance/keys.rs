//! The scenario of a worker whose key is for work alone.

use std::sync::{Arc, Mutex};

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{Decide, Decision, Method, NewKey, Scope, SendEvent};
use abide_sdk::{Client, Context, Error, Json, Result, Worker, step, workflow};
use serde_json::json;

use super::code_of;

type Leases = Arc<Mutex<Vec<String>>>;

async fn every_call(ctx: Context, leases: Leases) -> Result<Json> {
    leases.lock().unwrap().push(ctx.task().lease_token.clone());
    ctx.checkpoint(json!({"page": 1})).await?;
    ctx.log("begun");
    let count = ctx.run("count", || async { Ok(1) }).await?;
    ctx.sleep("nap", "1h").await?;
    ctx.pause("rest", "1m").await?;
    ctx.notify("tell", "told", json!({"n": 1})).await?;
    let told = ctx.wait_for_event::<Json>("hear", "told").await?;
    let reply = ctx.wait_for_signal::<Json>("reply", "reply").await?;
    let link = ctx.create_waitpoint("link").await?;
    ctx.http::<Json>("call", &link.resume_url).method(Method::Post).body(json!({"n": 2})).await?;
    let call = ctx.wait_for_waitpoint::<Json>(&link).await?;
    let child = ctx.child("tea", "restock", json!("tea")).await?;
    let started = ctx.start_child("more", "restock", json!("more")).await?;
    let asked = ctx.request_approval("ask").prompt("Is it good?").await?;
    let approval = ctx.wait_for_approval(&asked).await?;
    let first = ctx.any([ctx.sleep("long", "2h"), ctx.sleep("short", "1h")]).await?;
    ctx.set_state("done", true);
    Ok(json!({
        "page": ctx.last_checkpoint()["page"],
        "count": count,
        "told": told,
        "reply": reply,
        "link": call.map(|call| call.body),
        "child": child,
        "started": started.id().starts_with("run_"),
        "approved": approval.approved,
        "first": first.name,
    }))
}

async fn restock(ctx: Context, input: Json) -> Result<Json> {
    ctx.sleep("nap", "1h").await?;
    Ok(input)
}

pub(super) async fn a_worker_s_own_key(_: &TestServer) -> Result<Json, Error> {
    let args = ["--auth", "required", "--allow-address", "127.0.0.1"];
    let server = crate::server().args(args).start().await?;
    let made = server.client.admin().create_key(&NewKey::new("hand", [Scope::Worker])).await?;
    let hand = Client::builder().url(server.client.server()).api_key(made.secret).build()?;
    let leases = Leases::default();
    let seen = leases.clone();
    let work = move |ctx: Context, _: Json| every_call(ctx, seen.clone());
    Worker::new(&hand).handler("work", work).handler("restock", restock).start();
    let child = workflow("restock").output(json!("{{ steps.restock.output }}"));
    server.client.deploy(&child.step(step::task("restock", "restock"))).await?;
    server.client.deploy(&workflow("one").task("work", "work")).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.skip_waits(&run).await?;
    let lease = leases.lock().unwrap()[0].clone();
    let without = code_of(hand.notify("told", json!({"n": 2})).await);
    let stale = code_of(hand.events().send(&SendEvent::new("told").lease_token(lease)).await);
    run.signal("reply", json!("yes")).await?;
    server.skip_waits(&run).await?;
    let waits = server.client.approvals().list(Some(true), Some(run.id())).page().await?;
    server.client.approvals().decide(&waits.data[0].id, &Decide::new(Decision::Approve)).await?;
    server.skip_waits(&run).await?;
    let events = server.client.events().list(Some("told")).all().await?;
    let history = server.history(&run).await?;
    let sent = history.iter().filter(|record| record.kind == "EVENT_SENT");
    let sent_by: Vec<_> = sent.map(|record| record.step_name.clone()).collect();
    Ok(json!({
        "output": run.result().await?,
        "events": events.len(),
        "sentBy": sent_by,
        "withoutLease": without,
        "withStaleLease": stale,
    }))
}
