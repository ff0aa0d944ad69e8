//! A refund desk: an order that is asked back, cooled off, returned or withdrawn, approved, paid and put back on the shelf.
use std::sync::Arc;

use abide_sdk::{Context, Json, Result, TaskError, Verdict, Workflow, step};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Clone, Serialize, Deserialize)]
pub struct Line {
    pub sku: String,
    pub cents: u64,
}
#[derive(Serialize, Deserialize)]
pub struct Order {
    pub id: u64,
    pub lines: Vec<Line>,
}
/// What the desk needs of the rest of the shop.
pub trait Shop: Send + Sync {
    fn order(&self, id: u64) -> Result<Order>;
    fn pay(&self, order: u64, cents: u64, key: &str) -> Result<String>;
    fn tell(&self, who: &str, link: &str) -> Result<()>;
}
pub fn restock() -> Workflow<Line, String> {
    Workflow::new("restock").output(json!("{{ input.sku }}")).step(step::sleep("inspect", "1h"))
}
pub fn desk() -> Workflow<u64, String> {
    Workflow::new("refund-desk").task("desk", "refund-desk")
}

pub async fn refund(shop: Arc<dyn Shop>, ctx: Context, id: u64) -> Result<String> {
    ctx.wait_for_event::<Json>("asked", "refund.requested").where_is("order", id).await?;
    let order: Order = ctx.run("fetch", || async { shop.order(id) }).await?;

    ctx.sleep("cooling-off", "2d").await?;
    let parcel = ctx.wait_for_event::<Json>("parcel", "parcel.returned").where_is("order", id).timeout("14d");
    let withdrawal = ctx.wait_for_event::<Json>("withdrawal", "refund.withdrawn").where_is("order", id);
    let first = ctx.any([parcel, withdrawal]).await?;
    match (first.name.as_str(), first.value) {
        ("withdrawal", _) => return Ok("withdrawn".into()),
        (_, None) => return Ok("not returned".into()),
        (_, Some(_)) => {}
    }

    let cents: u64 = order.lines.iter().map(|line| line.cents).sum();
    let schema = json!({"type": "object", "properties": {"cents": {"type": "integer", "minimum": 0}}});
    let review = ctx.request_approval("review").content(json!({"cents": cents})).content_schema(schema);
    let review = review.approvers(["ana"]).timeout("3d").await?;
    ctx.run("tell-ana", || async { shop.tell("ana", &review.links["ana"]) }).await?;
    let decided = ctx.wait_for_approval(&review).await?;
    if !decided.approved {
        return Ok(if decided.decision == Verdict::Timeout { "nobody decided" } else { "rejected" }.into());
    }

    let cents = decided.content["cents"].as_u64().ok_or_else(|| TaskError::not_retryable("no cents"))?;
    ctx.log(format_args!("pays {cents} cents back"));
    let paid: String = ctx.run("pay", || async { shop.pay(id, cents, &format!("refund-{id}")) }).await?;
    let back = ctx.map("restock", order.lines, 2, |line, name| ctx.child(name, &restock(), line)).await?;
    Ok(format!("{paid}; {} back on the shelf", back.join(" and ")))
}
