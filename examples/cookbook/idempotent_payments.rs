//! A payment that is asked for twice is made once: one key for the run, and one for the call to the bank.
#![allow(clippy::print_stdout, reason = "a program says what it found")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Result, Workflow};
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Payment {
    order: u64,
    cents: u64,
}

/// Stands for a bank that knows a request by its key.
#[derive(Clone, Default)]
struct Bank(Arc<Mutex<HashMap<String, u64>>>);

impl Bank {
    fn charge(&self, key: String, cents: u64) -> String {
        let mut charges = self.0.lock().expect("nobody panics with it");
        charges.entry(key).or_insert(cents);
        format!("{} charge(s) at the bank", charges.len())
    }
}

async fn pay(ctx: Context, payment: Payment, bank: Bank) -> Result<String> {
    let key = ctx.idempotency_key("charge");
    let receipt = ctx.run("charge", || async { Ok(bank.charge(key, payment.cents)) }).await?;
    ctx.sleep("settle", "2d").await?;
    Ok(receipt)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let (server, bank) = (TestServer::start().await?, Bank::default());
    server.worker().handler("pay", move |ctx, payment| pay(ctx, payment, bank.clone())).start();
    let payments = Workflow::<Payment, String>::new("payments").task("pay", "pay");
    server.client.deploy(&payments).await?;
    let payment = Payment { order: 7, cents: 4200 };
    let client = server.client.keyed("order-7");
    let first = client.start(&payments, payment.clone()).await?;
    let again = client.start(&payments, payment).await?; // the button was pressed twice
    server.settle(&first).await?;
    server.crash().await?; // kill -9, and up again
    server.skip_waits(&first).await?;
    println!("one run: {}", first.id() == again.id());
    println!("{}", first.result().await?);
    Ok(())
}
