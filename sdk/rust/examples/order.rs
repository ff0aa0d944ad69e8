#![allow(dead_code, reason = "each program needs a part of it")]
use abide_sdk::{Context, Json, Result};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) id: u64,
    pub(crate) amount: u64,
}

// Durable code: suspended at every wait, and re-executed from the top when it is over, on any worker.
pub(crate) async fn fulfil(ctx: Context, order: Order) -> Result<String> {
    let parcel: String = ctx.run("pack", || async { Ok(format!("parcel of order {}", order.id)) }).await?;
    ctx.sleep("cool-down", "1s").await?;
    let payment = ctx.wait_for_event::<Json>("payment", "order.paid").matching("event.order == input.id");
    let Some(_) = payment.timeout("7d").await? else { return Ok(format!("{parcel} was not paid")) };
    let review = ctx.approve("review").prompt(format!("Send the {parcel}?")).content(order.amount);
    let true = review.timeout("2d").await?.approved else { return Ok(format!("{parcel} was held back")) };
    ctx.run("ship", || async { Ok(format!("{parcel} was shipped")) }).await
}
