//! Scenarios of waiting.

use std::sync::{Arc, Mutex};

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{Decide, Decision, RunStatus, WaitpointFilter};
use abide_sdk::{Context, Error, Json, Result, RunHandle, workflow};
use serde_json::json;

use super::{Count, code_of, one};

pub(super) async fn event_before_the_wait(server: &TestServer) -> Result<Json, Error> {
    let sent = Count::default();
    let client = server.client.clone();
    let work = move |ctx: Context, _: Json| {
        let (sent, client) = (sent.clone(), client.clone());
        async move {
            if sent.up() == 1 {
                client.notify("paid", json!({"order": 8})).await?;
                client.notify("paid", json!({"order": 7, "paid": true})).await?;
            }
            let paid = ctx.wait_for_event::<Json>("payment", "paid");
            paid.matching("event.order == input.order").timeout("1d").await
        }
    };
    one(server, work).await?;
    Ok(json!({"received": server.client.start_and_wait("one", json!({"order": 7})).await?}))
}

pub(super) async fn lookback(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, input: Json| async move {
        let event = ctx.wait_for_event::<Json>("early", "early").timeout("1h");
        match input["lookback"].as_str() {
            Some(lookback) => event.lookback(lookback).await,
            None => event.await,
        }
    };
    one(server, work).await?;
    server.client.notify("early", json!({"n": 1})).await?;
    server.advance("1m").await?;
    let without = server.run_through("one", json!({})).await?;
    Ok(json!({"without": without, "with": server.run_through("one", json!({"lookback": "1d"})).await?}))
}

pub(super) async fn waitpoint_url_called_before_the_handler_waits(
    server: &TestServer,
) -> Result<Json, Error> {
    let urls = Arc::new(Mutex::new(Vec::new()));
    let codes = Arc::new(Mutex::new(Vec::new()));
    let seen = (urls.clone(), codes.clone());
    let work = move |ctx: Context, _: Json| {
        let (urls, codes) = seen.clone();
        async move {
            let waitpoint = ctx.create_waitpoint("signature").timeout("1d").await?;
            let first = {
                let mut urls = urls.lock().unwrap();
                urls.push(waitpoint.resume_url.clone());
                urls.len() == 1
            };
            let waitpoints = ctx.client().waitpoints();
            if first {
                waitpoints.resume(&waitpoint.resume_url, json!({"signed": "ada"})).await?;
            }
            let again = waitpoints.resume(&waitpoint.resume_url, json!({"signed": "bob"})).await;
            codes.lock().unwrap().push(code_of(again));
            let call = ctx.wait_for_waitpoint::<Json>(&waitpoint).await?;
            Ok(call.map(|call| call.body))
        }
    };
    one(server, work).await?;
    let body = server.client.start_and_wait("one", Json::Null).await?;
    let (urls, codes) = (urls.lock().unwrap(), codes.lock().unwrap());
    let same = urls.len() == 2 && urls[0] == urls[1];
    Ok(json!({"body": body, "sameUrl": same, "again": codes[0]}))
}

pub(super) async fn signals_in_their_order(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, _| async move {
        ctx.sleep("first", "1h").await?;
        let take = |name: &str| ctx.wait_for_signal::<String>(name, "word").timeout("1h");
        Ok([take("a").await?, take("b").await?, take("c").await?])
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    run.signal("word", "first").await?;
    run.signal("word", "second").await?;
    server.skip_waits(&run).await?;
    Ok(json!({"taken": run.result().await?}))
}

pub(super) async fn pause_with_checkpoint(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, _| async move {
        if ctx.last_checkpoint().is_null() {
            ctx.checkpoint(json!({"page": 2})).await?;
        }
        ctx.pause("rest", "1d").checkpoint(json!({"page": 3})).await?;
        Ok(json!({"checkpoint": ctx.last_checkpoint(), "attempt": ctx.attempt()}))
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    let paused = server.settle(&run).await?;
    server.skip_waits(&run).await?;
    let mut output = run.result().await?;
    output["while"] = json!(paused.steps[0].status);
    Ok(output)
}

pub(super) async fn pause_in_a_loop(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, _| async move {
        for _ in 0..3 {
            ctx.pause("poll-again", "1h").await?;
        }
        Ok(json!({"asked": 3, "attempt": ctx.attempt()}))
    };
    one(server, work).await?;
    let before = server.now().await?;
    let run = server.client.start("one", Json::Null).await?;
    server.skip_waits(&run).await?;
    let mut output = run.result().await?;
    output["waitedMs"] = json!(server.now().await?.as_millisecond() - before.as_millisecond());
    Ok(output)
}

pub(super) async fn any_and_the_loser_is_cancelled(server: &TestServer) -> Result<Json, Error> {
    let run = begin_race(server).await?;
    run.signal("reply", json!({"yes": true})).await?;
    end_race(server, &run).await
}

pub(super) async fn any_and_time_wins(server: &TestServer) -> Result<Json, Error> {
    let run = begin_race(server).await?;
    server.skip_waits(&run).await?;
    end_race(server, &run).await
}

/// A signal against a sleep of a day.
async fn begin_race(server: &TestServer) -> Result<RunHandle, Error> {
    let work = |ctx: Context, _| async move {
        let reply = ctx.wait_for_signal::<Json>("reply", "reply").map(Json::from);
        let late = ctx.sleep("too-late", "1d").map(|()| Json::Null);
        let first = ctx.any([reply, late]).await?;
        Ok(json!({"index": first.index, "name": first.name, "value": first.value}))
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    Ok(run)
}

async fn end_race(server: &TestServer, run: &RunHandle) -> Result<Json, Error> {
    let mut output = run.result().await?;
    let waits = server.client.waitpoints().list(&WaitpointFilter::default().run_id(run.id())).all().await?;
    let loser = waits.iter().find(|wait| Some(wait.name.as_str()) != output["name"].as_str());
    output["loser"] = json!(loser.map(|wait| wait.status));
    Ok(output)
}

pub(super) async fn all(server: &TestServer) -> Result<Json, Error> {
    let entered = Count::default();
    let entries = entered.clone();
    let work = move |ctx: Context, _: Json| {
        entries.up();
        async move {
            let word = ctx.wait_for_signal::<Json>("word", "word");
            let event = ctx.wait_for_event::<Json>("event", "event");
            ctx.all((ctx.sleep("nap", "1h"), word, event)).await
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    run.signal("word", "signal").await?;
    server.client.notify("event", "event").await?;
    server.skip_waits(&run).await?;
    Ok(json!({"values": run.result().await?, "entered": entered.get()}))
}

pub(super) async fn branches_that_wait(server: &TestServer) -> Result<Json, Error> {
    let begun = server.now().await?;
    let hours = Arc::new(Mutex::new(Vec::new()));
    let (client, seen) = (server.client.clone(), hours.clone());
    let work = move |ctx: Context, _: Json| {
        let (client, seen) = (client.clone(), seen.clone());
        async move {
            let branch = async |name: &str, duration: &str, value: i64| {
                ctx.sleep(format!("{name} sleeps"), duration).await?;
                let work = || async {
                    let now = client.test_clock().find().await?.now;
                    seen.lock().unwrap().push((now.as_second() - begun.as_second()) / 3600);
                    Ok(value)
                };
                ctx.run(format!("{name} works"), work).await
            };
            let (a, b) = tokio::try_join!(branch("a", "1h", 1), branch("b", "24h", 2))?;
            Ok(a + b)
        }
    };
    one(server, work).await?;
    let sum = server.run_through("one", Json::Null).await?;
    Ok(json!({"hours": *hours.lock().unwrap(), "sum": sum}))
}

pub(super) async fn approve(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, _| async move {
        let mut answers = Vec::new();
        for name in ["one", "two", "three"] {
            let ask = ctx.approve(name).prompt(format!("{name}?")).content(json!({"name": name}));
            answers.push(ask.timeout("1d").await?);
        }
        let decisions: Vec<_> = answers.iter().map(|answer| answer.decision).collect();
        let approved: Vec<_> = answers.iter().map(|answer| answer.approved).collect();
        Ok(json!({"decisions": decisions, "approved": approved}))
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    for decision in [Decision::Approve, Decision::Reject] {
        server.settle(&run).await?;
        let open = server.client.approvals().list(Some(true), Some(run.id())).page().await?;
        server.client.approvals().decide(&open.data[0].id, &Decide::new(decision)).await?;
    }
    server.skip_waits(&run).await?;
    run.result().await
}

pub(super) async fn notify(server: &TestServer) -> Result<Json, Error> {
    let work = |ctx: Context, _| async move {
        ctx.notify("tell", "told", json!({"n": 1})).await?;
        ctx.sleep("nap", "1h").await
    };
    one(server, work).await?;
    server.run_through("one", Json::Null).await?;
    let events = server.client.events().list(Some("told")).all().await?;
    Ok(json!({"events": events.len(), "data": events[0].event_data}))
}

pub(super) async fn history_as_it_happens(server: &TestServer) -> Result<Json, Error> {
    let signals =
        workflow("signals").wait_for_signal("a", "a").wait_for_signal("b", "b").wait_for_signal("c", "c");
    server.client.deploy(&signals).await?;
    let run = server.client.start(&signals, Json::Null).await?;
    let mut following = run.follow();
    let mut records = Vec::new();
    run.signal("a", ()).await?;
    while records.len() < 4 {
        records.extend(following.try_next().await?);
    }
    server.crash().await?;
    run.signal("b", ()).await?;
    run.signal("c", ()).await?;
    records.extend(following.all().await?);
    let gaps = records.iter().zip(1..).filter(|(record, number)| record.seq != *number).count();
    Ok(json!({"gaps": gaps, "last": records.last().map(|record| &record.kind)}))
}

pub(super) async fn thirty_days(server: &TestServer) -> Result<Json, Error> {
    server.worker().handler("work", |_, _: Json| async { Ok("done") }).start();
    let month = workflow("month").sleep("month", "30d").wait_for_signal("go", "go").task("work", "work");
    server.client.deploy(&month).await?;
    let before = server.now().await?;
    let run = server.client.start(&month, Json::Null).await?;
    assert_eq!(server.skip_waits(&run).await?.status, RunStatus::Waiting);
    run.signal("go", ()).await?;
    let output = run.result().await?;
    let days = (server.now().await?.as_second() - before.as_second()) / 86_400;
    Ok(json!({"days": days, "output": output}))
}
