#![allow(clippy::print_stdout, reason = "a program says what it found")]

use abide_sdk::{Client, Context, Error, Json, Result, Worker, Workflow};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Order {
    id: u64,
}

async fn fulfil(ctx: Context, order: Order) -> Result<String> {
    let parcel: String = ctx.run("pack", || async { Ok(format!("parcel of order {}", order.id)) }).await?;
    ctx.sleep("cool-down", "2s").await?; // or "30d": it holds no worker, no thread and no memory
    let paid = ctx.wait_for_event::<Json>("payment", "order.paid").where_is("order", order.id).timeout("7d");
    match paid.await? {
        Some(_) => ctx.run("ship", || async { Ok(format!("{parcel} was shipped")) }).await,
        None => Ok(format!("{parcel} was not paid")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let orders = Workflow::<Order, String>::new("orders").task("fulfil", "fulfil-order");
    let client = Client::from_env()?; // ABIDE_SERVER, ABIDE_API_KEY
    client.deploy(&orders).await?;
    let worker = Worker::new(&client).handler("fulfil-order", fulfil).start();
    let run = client.start(&orders, Order { id: 7 }).await?;
    client.notify("order.paid", serde_json::json!({"order": 7})).await?;
    println!("{}", run.result().await?);
    worker.stop().await
}
