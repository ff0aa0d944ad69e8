//! An order that waits for its payment, in your own process: `cargo run -p abide --example order`.

use abide::{Engine, TaskResult, ToSpan, Workflow, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::open("order.db").await?;
    engine.handler("reserve", async |_| TaskResult::complete(json!({ "reserved": true }))).await?;
    engine
        .handler("ship", async |task| TaskResult::complete(json!({ "shipped": task.state["amount"] })))
        .await?;

    let order = Workflow::new("order")
        .task("reserve-goods", "reserve")
        .sleep("cool-down", 1.second())
        .signal("paid", "payment.received")
        .timeout(3.days())
        .task("ship-goods", "ship");
    engine.deploy(order).await?;

    let run = engine.start("order", json!({ "order": 7 })).await?;
    engine.run(run).signal("payment.received", json!({ "amount": 99.0 })).await?;
    let ended = engine.run(run).wait().await?;
    let line = format!("{run} is {}: {}\n", ended.status, json!(ended.output));
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())?;
    engine.shut_down().await?;
    Ok(())
}
