//! Branches of an `any`: what the one that wins and the ones that lose leave behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use abide_sdk::testing::TestServer;
use abide_sdk::wire::RunStatus;
use abide_sdk::{Context, Json, Result, TaskError, workflow};
use serde_json::json;

async fn one<F, Fut>(server: &TestServer, handle: F)
where
    F: Fn(Context, Json) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Json>> + Send + 'static,
{
    server.worker().handler("work", handle).start();
    server.client.deploy(&workflow("one").task("work", "work")).await.unwrap();
}

#[tokio::test]
async fn a_loser_is_dropped_in_the_middle_of_a_call_and_what_it_had_recorded_is_replayed() {
    let server = crate::server().start().await.unwrap();
    let (prepared, entered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (prepared.clone(), entered.clone());
    one(&server, move |ctx, _| {
        let (prepared, entered) = counts.clone();
        async move {
            let slow = ctx.branch("slow", async {
                ctx.run("prepare", || async { Ok(prepared.fetch_add(1, Ordering::SeqCst)) }).await?;
                ctx.run("hang", || async {
                    entered.fetch_add(1, Ordering::SeqCst);
                    std::future::pending::<Result<Json>>().await
                })
                .await
            });
            let quick = ctx.branch("quick", async {
                // Until the other one hangs.
                while entered.load(Ordering::SeqCst) == 0 {
                    tokio::task::yield_now().await;
                }
                ctx.run("win", || async { Ok(json!("won")) }).await
            });
            let first = ctx.any([slow, quick]).await?;
            ctx.sleep("later", "1h").await?;
            Ok(json!([first.index, first.name, first.value]))
        }
    })
    .await;
    let output = server.run_through("one", Json::Null).await.unwrap();
    assert_eq!(output, json!([1, "quick", "won"]));
    assert_eq!((prepared.load(Ordering::SeqCst), entered.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test]
async fn a_branch_that_fails_is_over_and_its_failure_stays() {
    let server = crate::server().start().await.unwrap();
    let tried = Arc::new(AtomicUsize::new(0));
    let tries = tried.clone();
    one(&server, move |ctx, _| {
        let tries = tries.clone();
        async move {
            let failing = ctx.branch("failing", async {
                ctx.run("charge", || async {
                    tries.fetch_add(1, Ordering::SeqCst);
                    Err::<Json, _>(TaskError::new("no money").code("NO_MONEY"))
                })
                .await
            });
            let signal = ctx.wait_for_signal::<Json>("go", "go").map(Option::unwrap_or_default);
            let failed = ctx.any([failing, signal.into_branch()]).await.unwrap_err();
            ctx.sleep("later", "1h").await?;
            Ok(json!([failed.code, failed.message]))
        }
    })
    .await;
    let output = server.run_through("one", Json::Null).await.unwrap();
    assert_eq!((output, tried.load(Ordering::SeqCst)), (json!(["NO_MONEY", "no money"]), 1));
}

#[tokio::test]
async fn a_winner_that_has_another_call_before_its_end_is_changed_code() {
    let server = crate::server().start().await.unwrap();
    let is_new = Arc::new(AtomicUsize::new(0));
    let which = is_new.clone();
    let work = move |ctx: Context, _: Json| {
        let is_new = which.load(Ordering::SeqCst) == 1;
        async move {
            let quick = ctx.branch("quick", async {
                ctx.run("one", || async { Ok(1) }).await?;
                if is_new { ctx.run("two", || async { Ok(2) }).await } else { Ok(1) }
            });
            let never = ctx.wait_for_signal::<Json>("go", "go").map(|_| 0);
            let first = ctx.any([quick, never.into_branch()]).await?;
            ctx.sleep("later", "1h").await?;
            Ok(json!(first.value))
        }
    };
    let worker = server.worker().grace(std::time::Duration::from_millis(100));
    worker.handler("work", work).start();
    server.client.deploy(&workflow("one").task("work", "work")).await.unwrap();
    let run = server.client.start("one", Json::Null).await.unwrap();
    server.settle(&run).await.unwrap();
    is_new.store(1, Ordering::SeqCst);
    server.advance("1h").await.unwrap();
    let run = run.get().await.unwrap();
    assert_eq!(run.status, RunStatus::Waiting);
    let sentence = &run.waiting_for[0].sentence;
    assert!(sentence.contains("any:quick|go") && sentence.contains("`two`"), "{sentence}");
}
