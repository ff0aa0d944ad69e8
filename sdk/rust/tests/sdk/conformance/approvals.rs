//! Scenarios of people, and the links that they decide by.

use std::sync::{Arc, Mutex};

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Json};
use serde_json::json;

use super::one;

fn refund() -> Json {
    json!({
        "type": "object",
        "required": ["cents"],
        "properties": {"cents": {"type": "integer", "maximum": 4900}, "note": {"type": "string"}},
    })
}

/// What the page behind a link answers to a form.
pub(crate) async fn send(link: &str, form: &str) -> (u16, String) {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let request = client.post(link).header("content-type", "application/x-www-form-urlencoded");
    let answer = request.body(form.to_owned()).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

pub(super) async fn an_approval_that_is_edited_by_link(server: &TestServer) -> Result<Json, Error> {
    let links = Arc::new(Mutex::new(Vec::new()));
    let seen = links.clone();
    let work = move |ctx: Context, _: Json| {
        let links = seen.clone();
        async move {
            let review =
                ctx.request_approval("review").content(json!({"cents": 4900})).content_schema(refund());
            let review = review.approvers(["ana"]).timeout("2d").await?;
            links.lock().unwrap().push(review.links["ana"].clone());
            let decided = ctx.wait_for_approval(&review).await?;
            Ok(json!({"decision": decided.decision, "content": decided.content, "by": decided.votes[0].by}))
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.settle(&run).await?;
    let link = links.lock().unwrap()[0].clone();
    let page = reqwest::get(&link).await.unwrap().text().await.unwrap();
    let (refused, told) = send(&link, "decision=edit&edit%2Fnote=sorry&edit%2Fcents=5000").await;
    send(&link, "decision=edit&edit%2Fnote=sorry&edit%2Fcents=4200").await;
    let mut output = run.result().await?;
    let links = links.lock().unwrap();
    output["form"] = json!(page.contains("name=\"edit/cents\""));
    output["refused"] = json!(refused);
    output["place"] = json!(told.contains("/editedContent/cents"));
    output["sameLink"] = json!(links.len() == 2 && links[0] == links[1]);
    Ok(output)
}
