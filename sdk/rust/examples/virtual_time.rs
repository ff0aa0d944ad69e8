#![allow(clippy::print_stdout, reason = "a program says what it found")]

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Result, Workflow};

async fn remind(ctx: Context, days: u64) -> Result<String> {
    ctx.sleep("rest", format!("{days}d")).await?;
    let answer: Option<String> = ctx.wait_for_signal("answer", "answer").await?;
    Ok(answer.unwrap_or_default())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = TestServer::start().await?; // ABIDE_BIN, or `abide` from the path
    server.worker().handler("remind", remind).start();
    let reminders = Workflow::<u64, String>::new("reminders").task("remind", "remind");
    server.client.deploy(&reminders).await?;
    let run = server.client.start(&reminders, 30).await?;
    server.advance("30d").await?;
    run.signal("answer", "done").await?;
    println!("{} {}", run.result().await?, !server.history(&run).await?.is_empty());
    Ok(())
}
