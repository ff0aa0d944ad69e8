//! A bad deploy over many sleeping runs, and the rollback that follows it (R20).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{RunFilter, RunStatus, WaitpointFilter, WaitpointKind, WaitpointStatus};
use abide_sdk::{Context, Json, RunHandle, Working, workflow};
use futures_util::future::try_join_all;

const RUNS: usize = 1_000;
/// The tasks of a bad deploy are held for this long each, while another branch may yet come to what is recorded.
const GRACE: Duration = Duration::from_millis(50);

/// A worker whose handler charges under this name, and sleeps for a day.
fn worker(server: &TestServer, build: &str, name: &'static str, done: &Arc<AtomicUsize>) -> Working {
    let done = done.clone();
    let work = move |ctx: Context, _: Json| {
        let done = done.clone();
        async move {
            ctx.run(name, || async { Ok(done.fetch_add(1, Ordering::SeqCst)) }).await?;
            ctx.sleep("nap", "1d").await?;
            ctx.run("end", || async { Ok("rested".to_owned()) }).await
        }
    };
    server.worker().build_id(build).concurrency(RUNS).grace(GRACE).handler("work", work).start()
}

async fn waits(server: &TestServer, kind: WaitpointKind) -> Vec<abide_sdk::wire::Waitpoint> {
    server.client.waitpoints().list(&WaitpointFilter::default().kind(kind)).limit(500).all().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_deploy_over_a_thousand_sleeping_runs_fails_none_and_a_rollback_lets_all_go_on() {
    let server = crate::server().start().await.unwrap();
    let (charged, billed) = (Arc::default(), Arc::default());
    server.client.deploy(&workflow("one").task("work", "work")).await.unwrap();
    let old = worker(&server, "v1", "charge", &charged);
    let starts = (0..RUNS).map(|_| server.client.start("one", Json::Null));
    let runs: Vec<RunHandle> = try_join_all(starts).await.unwrap();
    server.settle(&runs[0]).await.unwrap();
    old.stop().await.unwrap();

    let bad = worker(&server, "v2", "bill", &billed);
    server.advance("1d").await.unwrap();
    bad.stop().await.unwrap();
    let held = waits(&server, WaitpointKind::Code).await;
    assert_eq!(held.len(), RUNS);
    for wait in &held {
        let abide_sdk::wire::ListensFor::Code(code) = &wait.listens_for else { panic!("{wait:?}") };
        assert_eq!(
            (&*code.recorded, &*code.found, &code.builds[..]),
            ("`charge`", "`bill`", &["v2".to_owned()][..])
        );
        assert_eq!(wait.status, WaitpointStatus::Pending);
    }
    let failed =
        server.client.runs().list(&RunFilter::default().status([RunStatus::Failed])).all().await.unwrap();
    assert!(failed.is_empty(), "{failed:?}");
    // However often it asks, the bad build is not given them again.
    let again = worker(&server, "v2", "bill", &billed);
    server.settle(&runs[0]).await.unwrap();
    again.stop().await.unwrap();
    assert_eq!(waits(&server, WaitpointKind::Code).await.len(), RUNS);

    worker(&server, "v1", "charge", &charged);
    for run in &runs {
        assert_eq!(run.result().await.unwrap(), "rested");
    }
    assert_eq!((charged.load(Ordering::SeqCst), billed.load(Ordering::SeqCst)), (RUNS, 0));
    // Every run has slept once.
    assert_eq!(waits(&server, WaitpointKind::Delay).await.len(), RUNS);
    let over = waits(&server, WaitpointKind::Code).await;
    assert!(over.iter().all(|wait| wait.status == WaitpointStatus::Completed));
}
