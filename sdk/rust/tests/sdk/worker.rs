//! A worker in a process of its own, for scenarios that kill it.

use std::time::Duration;

use abide::{Client, Context, Error, Json, Worker};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let who = || async { Ok(std::process::id()) };
    let nap = move |ctx: Context, _: Json| async move {
        let before: u32 = ctx.run("who", who).await?;
        ctx.sleep("nap", "500ms").await?;
        Ok(json!({"before": before, "after": std::process::id()}))
    };
    let slow = move |ctx: Context, _: Json| async move {
        let before: u32 = ctx.run("who", who).await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
        Ok(json!({"before": before, "after": std::process::id(), "attempt": ctx.attempt()}))
    };
    let worker = Worker::new(&Client::from_env()?).lease(Duration::from_secs(2)).concurrency(1);
    worker.handler("nap", nap).handler("slow", slow).run().await
}
