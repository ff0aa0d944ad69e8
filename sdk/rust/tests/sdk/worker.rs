//! A worker in a process of its own, for scenarios that kill it. Its task `slow` takes as long as its standard input is open.

use std::time::Duration;

use abide_sdk::{Client, Context, Error, Json, Worker};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let who = || async { Ok(std::process::id()) };
    let nap = move |ctx: Context, _: Json| async move {
        let before: u32 = ctx.run("who", who).await?;
        ctx.sleep("nap", "500ms").await?;
        Ok(json!({"before": before, "after": std::process::id()}))
    };
    let long_nap = move |ctx: Context, _: Json| async move {
        let before: u32 = ctx.run("who", who).await?;
        ctx.sleep("nap", "1h").await?;
        Ok(json!({"before": before, "after": std::process::id()}))
    };
    let slow = move |ctx: Context, _: Json| async move {
        let before: u32 = ctx.run("who", who).await?;
        let closed =
            tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        assert!(closed.await.is_ok());
        Ok(json!({"before": before, "after": std::process::id(), "attempt": ctx.attempt()}))
    };
    let worker = Worker::new(&Client::from_env()?).lease(Duration::from_secs(2)).concurrency(1);
    worker.handler("nap", nap).handler("long-nap", long_nap).handler("slow", slow).run().await
}
