#![allow(clippy::print_stdout, reason = "it says what came of it")]
mod order;

use abide_sdk::{Client, Error, Workflow, wire::Decide, wire::Decision};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::from_env()?;
    let orders = Workflow::<order::Order, String>::new("orders").task("fulfil", "fulfil-order");
    client.deploy(&orders).await?;
    let run = client.start(&orders, order::Order { id: 7, amount: 42 }).await?;
    client.notify("order.paid", json!({"order": 7})).await?;
    let asked = run.follow().until("APPROVAL_REQUESTED").await?.and_then(|record| record.waitpoint_id);
    client.approvals().decide(&asked.unwrap_or_default(), &Decide::new(Decision::Approve)).await?;
    println!("{}", run.result().await?);
    Ok(())
}
