//! The scenario of new code against the journals of runs that wait.

use std::sync::{Arc, Mutex};

use abide_sdk::testing::{self, ReplayOutcome, StoredJournal, TestServer};
use abide_sdk::{Context, Error, Handlers, Json};
use serde_json::json;

use super::{Count, one};

pub(super) async fn replay_check(server: &TestServer) -> Result<Json, Error> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let work = move |ctx: Context, _: Json| {
        noted.lock().unwrap().push(StoredJournal::from(ctx.task()));
        async move {
            ctx.run("fetch", || async { Ok(1) }).await?;
            ctx.sleep("nap", "1h").await?;
            ctx.run("end", || async { Ok(2) }).await
        }
    };
    one(server, work).await?;
    server.run_through("one", Json::Null).await?;
    let rested = seen.lock().unwrap().pop().unwrap();
    let fetched = StoredJournal { journal: rested.journal[..1].to_vec(), ..rested.clone() };
    let journals = vec![rested, fetched];

    let executed = Count::default();
    let (same, added, kind) = (executed.clone(), executed.clone(), executed.clone());
    let same = Handlers::new().handler("work", move |ctx: Context, _: Json| {
        let made = same.clone();
        async move {
            ctx.run("fetch", || async { Ok(made.up()) }).await?;
            ctx.sleep("nap", "1h").await?;
            ctx.run("end", || async { Ok(made.up()) }).await
        }
    });
    let added = Handlers::new().handler("work", move |ctx: Context, _: Json| {
        let made = added.clone();
        async move {
            ctx.run("fetch", || async { Ok(made.up()) }).await?;
            ctx.run("fraud", || async { Ok(made.up()) }).await?;
            ctx.sleep("nap", "1h").await
        }
    });
    let kind = Handlers::new().handler("work", move |ctx: Context, _: Json| {
        let made = kind.clone();
        async move {
            ctx.run("fetch", || async { Ok(made.up()) }).await?;
            ctx.wait_for_event::<Json>("nap", "woken").await
        }
    });
    let mut told = json!({});
    for (name, handlers) in [("same", same), ("added", added), ("kind", kind)] {
        let verdicts = testing::replay_check(&handlers, journals.clone()).await?;
        let verdicts: Vec<ReplayOutcome> = verdicts.into_iter().map(|verdict| verdict.verdict).collect();
        told[name] = json!(verdicts);
    }
    told["executed"] = json!(executed.get());
    Ok(told)
}
