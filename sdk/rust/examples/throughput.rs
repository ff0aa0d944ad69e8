//! How many trivial tasks a second one worker does: `cargo run --release --example throughput [TASKS] [CONCURRENCY]`,
//! with ABIDE_BIN.
#![allow(clippy::print_stdout, reason = "this is what it is for")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{RunFilter, RunStatus};
use abide_sdk::{Context, Error, Json, workflow};
use futures_util::future::try_join_all;
use serde_json::json;
use tokio::sync::Notify;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let given = |place: usize, otherwise: usize| {
        std::env::args().nth(place).and_then(|number| number.parse().ok()).unwrap_or(otherwise)
    };
    let (count, concurrency) = (given(1, 20_000), given(2, 400));
    let server = TestServer::builder().real_time().start().await?;
    server.client.deploy(&workflow("one").task("work", "work")).await?;
    for _ in 0..count.div_ceil(200) {
        try_join_all((0..200).map(|_| server.client.start("one", json!({"n": 1})))).await?;
    }

    let (done, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let counted = (done.clone(), over.clone());
    let work = move |_: Context, _: Json| {
        let (done, over) = counted.clone();
        async move {
            if done.fetch_add(1, Ordering::Relaxed) + 1 == count {
                over.notify_one();
            }
            Ok(json!({"ok": true}))
        }
    };
    let begun = Instant::now();
    let before = processor_micros();
    let working = server.worker().concurrency(concurrency).handler("work", work).start();
    over.notified().await;
    working.stop().await?;
    let seconds = begun.elapsed().as_secs_f64();
    let micros = (processor_micros() - before) / count as u64;
    let open = RunFilter::default().status([RunStatus::Pending, RunStatus::Running]);
    let left = server.client.runs().list(&open).page().await?.data.len();
    let per_second = (count as f64 / seconds).round();
    println!(
        "{}",
        json!({"tasks": count, "left": left, "perSecond": per_second, "workerCpuMicrosPerTask": micros})
    );
    Ok(())
}

/// What this process has used so far, where the system says so.
fn processor_micros() -> u64 {
    /// The system counts in hundredths of a second.
    const MICROS_PER_TICK: u64 = 10_000;
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * MICROS_PER_TICK
}
