//! What calls cost, and what stops them before they cost too much.

use abide_core::history::Change;
use abide_core::spent::Spent;
use abide_engine::Protocol;
use abide_standin::{Reply, Rule, Script, StandIn, Usage};
use serde_json::{Value, json};

use crate::llm::{ask, options};
use crate::place::{Place, failure, output};

fn costing(text: &str, input: u64, output: u64) -> Reply {
    let usage = Usage { input, cached_input: 0, output };
    Reply { usage: Some(usage), ..Reply::text(text) }
}

async fn place(script: Script) -> (StandIn, Place) {
    let standin = StandIn::of(script).await.unwrap();
    let place = Place::new(options(&standin, Protocol::OpenaiChat)).await;
    (standin, place)
}

#[tokio::test]
async fn the_bill_is_what_the_provider_counted() {
    let rejected = costing("not json", 100, 10);
    let accepted = Reply { text: None, json: Some(json!({"a": 1})), ..costing("", 150, 20) };
    let (standin, place) = place(Script::of([Reply::status(500), rejected, accepted])).await;
    let (run, ended) = place.run(ask(json!({"responseFormat": "json"})), json!({})).await;
    output(&ended);
    let spent = place.engine.run(run).get().await.unwrap().spent;
    let expected = Spent {
        calls: 3,
        input_tokens: 250,
        cached_input_tokens: 0,
        output_tokens: 30,
        cost_micros: 250 + 2 * 30,
        unpriced_calls: 0,
    };
    assert_eq!(spent, expected);
    let logged: u64 = standin.calls().iter().filter_map(|call| call.usage).map(|usage| usage.input).sum();
    assert_eq!(logged, spent.input_tokens);
    let today = place.engine.now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let costs = place.engine.default_workspace().costs(today, today).await.unwrap();
    assert_eq!((costs.len(), costs[0].definition.as_str(), costs[0].spent), (1, "asking", expected));
}

#[tokio::test]
async fn a_budget_of_the_step_stops_it_before_it_is_exceeded() {
    let call = Reply {
        usage: Some(Usage { input: 300, cached_input: 0, output: 100 }),
        ..Reply::tool("look", json!({}))
    };
    let script = Script { rules: vec![Rule { reply: call, ..Rule::default() }], ..Script::default() };
    let (standin, place) = place(script).await;
    place.engine.handler("look", async |_| json!("nothing").into()).await.unwrap();
    let (run, ended) = place
        .run(ask(json!({"tools": [{"name": "look"}], "budgetMicros": 1_100, "maxTokens": 200})), json!({}))
        .await;
    let (code, message) = failure(&ended);
    assert!(code == "LLM_BUDGET_USED_UP" && message.contains("micro-units"), "{message}");
    let spent = place.engine.run(run).get().await.unwrap().spent.cost_micros;
    assert!(spent <= 1_100, "{spent}");
    assert_eq!(standin.calls().len(), 2);
}

fn graph(steps: usize, budget: u64) -> Value {
    let steps: Vec<Value> = (0..steps)
        .map(|index| {
            let mut step = ask(json!({"maxTokens": 100}))["steps"][0].clone();
            step["name"] = json!(format!("ask-{index}"));
            step["after"] = json!([]);
            step["saveAs"] = json!(format!("said{index}"));
            step
        })
        .collect();
    json!({"name": "asking", "budgetMicros": budget, "steps": steps})
}

#[tokio::test]
async fn a_budget_of_the_run_holds_for_steps_that_ask_at_the_same_time() {
    let rule = Rule { reply: costing("Yes.", 10, 100), ..Rule::default() };
    let (standin, place) = place(Script { rules: vec![rule], ..Script::default() }).await;
    // A call may cost 218 and costs 210; there is money for four, and eight ask at once.
    let (run, ended) = place.run(graph(8, 880), json!({})).await;
    assert_eq!(failure(&ended).0, "LLM_BUDGET_USED_UP");
    let spent = place.engine.run(run).get().await.unwrap().spent;
    assert_eq!((spent.cost_micros, spent.calls, standin.calls().len()), (840, 4, 4));
}

#[tokio::test]
async fn what_is_only_reserved_is_waited_for() {
    let rule = Rule { reply: costing("Yes.", 1, 1), ..Rule::default() };
    let (standin, place) = place(Script { rules: vec![rule], ..Script::default() }).await;
    // Each may cost 220 and costs 3: one after the other they fit.
    let (run, ended) = place.run(graph(6, 300), json!({})).await;
    output(&ended);
    assert_eq!(standin.calls().len(), 6);
    let calls = place.history(run).await.into_iter();
    let calls = calls.filter(|record| matches!(record.change, Change::LlmCallCompleted { .. }));
    assert_eq!(calls.count(), 6);
}
