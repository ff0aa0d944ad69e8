//! The refund desk, in virtual time: every way through it, and a payment that fails twice.

use std::sync::{Arc, Mutex};

use abide_sdk::testing::TestServer;
use abide_sdk::{Error, Result, RunHandle, TaskError};
use serde_json::json;

use crate::refund_desk::{Line, Order, Shop, desk, refund, restock};

#[derive(Default)]
struct Told {
    links: Vec<String>,
    paid: Vec<(u64, String)>,
    asked: u32,
}

#[derive(Default)]
struct TestShop(Mutex<Told>);

impl Shop for TestShop {
    fn order(&self, id: u64) -> Result<Order> {
        let line = |sku: &str, cents| Line { sku: sku.to_owned(), cents };
        Ok(Order { id, lines: vec![line("tea", 4000), line("cup", 900)] })
    }

    fn pay(&self, _: u64, cents: u64, key: &str) -> Result<String> {
        let mut told = self.0.lock().unwrap();
        told.asked += 1;
        if told.asked < 3 {
            return Err(TaskError::new("the bank does not answer"));
        }
        told.paid.push((cents, key.to_owned()));
        Ok(format!("{cents} cents paid"))
    }

    fn tell(&self, _: &str, link: &str) -> Result<()> {
        self.0.lock().unwrap().links.push(link.to_owned());
        Ok(())
    }
}

async fn open() -> (TestServer, Arc<TestShop>) {
    let (server, shop) = (crate::server().start().await.unwrap(), Arc::new(TestShop::default()));
    let shared: Arc<dyn Shop> = shop.clone();
    server.worker().handler("refund-desk", move |ctx, id| refund(shared.clone(), ctx, id)).start();
    server.client.deploy(&restock()).await.unwrap();
    server.client.deploy(&desk()).await.unwrap();
    (server, shop)
}

async fn asked(server: &TestServer, order: u64) -> Result<RunHandle<String>, Error> {
    let run = server.client.start(&desk(), order).await?;
    server.settle(&run).await?;
    server.client.notify("refund.requested", json!({"order": order + 1})).await?;
    server.client.notify("refund.requested", json!({"order": order})).await?;
    server.advance("2d").await?;
    Ok(run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn returned_edited_by_link_paid_at_the_third_try_and_every_line_is_back() {
    let (server, shop) = open().await;
    let run = asked(&server, 7).await.unwrap();
    server.client.notify("parcel.returned", json!({"order": 7})).await.unwrap();
    server.settle(&run).await.unwrap();
    let link = shop.0.lock().unwrap().links[0].clone();
    let (refused, _) = crate::conformance::send(&link, "decision=edit&edit%2Fcents=lots").await;
    let (edited, _) = crate::conformance::send(&link, "decision=edit&edit%2Fcents=4200").await;
    assert_eq!((refused, edited), (422, 303));
    server.skip_waits(&run).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "4200 cents paid; tea and cup back on the shelf");
    let told = shop.0.lock().unwrap();
    assert_eq!((told.paid.clone(), told.links.len()), (vec![(4200, "refund-7".to_owned())], 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawal_ends_it_and_so_do_a_lost_parcel_and_a_review_that_nobody_gives() {
    let (server, _) = open().await;
    let withdrawn = asked(&server, 7).await.unwrap();
    server.client.notify("refund.withdrawn", json!({"order": 7})).await.unwrap();
    assert_eq!(withdrawn.result().await.unwrap(), "withdrawn");
    let late = asked(&server, 17).await.unwrap();
    server.skip_waits(&late).await.unwrap();
    assert_eq!(late.result().await.unwrap(), "not returned");
    let unseen = asked(&server, 27).await.unwrap();
    server.client.notify("parcel.returned", json!({"order": 27})).await.unwrap();
    server.skip_waits(&unseen).await.unwrap();
    assert_eq!(unseen.result().await.unwrap(), "nobody decided");
}

#[test]
fn the_desk_has_at_most_60_lines() {
    let desk = include_str!("../../examples/refund_desk.rs");
    assert!(desk.lines().filter(|line| !line.trim().is_empty()).count() <= 60);
}
