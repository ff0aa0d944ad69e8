//! `llm` steps, against a stand-in that speaks the providers' protocols.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use abide_core::command::Command;
use abide_core::history::Change;
use abide_core::status::WaitStatus;
use abide_core::task::Task;
use abide_core::waitpoint::Kind;
use abide_engine::{Engine, Model, Options, Poll, Price, Protocol, Provider, TaskResult};
use abide_standin::{Cut, Error, Reply, Rule, Script, StandIn};
use serde_json::{Value, json};

use crate::place::{Place, failure, output};

pub(crate) fn options(standin: &StandIn, protocol: Protocol) -> Options {
    let provider = Provider { protocol, base_url: Some(standin.url()), key: None, prefixes: Vec::new() };
    let price = Some(Price { input: 1_000_000, cached_input: None, output: 2_000_000 });
    let model = Model { provider: "p".to_owned(), name: Some("real".to_owned()), price };
    let other = Model { name: Some("other".to_owned()), ..model.clone() };
    Engine::options().provider("p", provider).model("m", model).model("n", other)
}

pub(crate) fn ask(fields: Value) -> Value {
    let mut step = json!({
        "name": "ask", "type": "llm", "model": "m", "retry": {"maxAttempts": 2},
        "messages": [{"role": "user", "content": "{{ input.question ?? 'Why?' }}"}],
    });
    step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"name": "asking", "steps": [step]})
}

async fn place(script: Script) -> (StandIn, Place) {
    let standin = StandIn::of(script).await.unwrap();
    let place = Place::new(options(&standin, Protocol::OpenaiCompatible)).await;
    (standin, place)
}

fn looks(number: u64) -> Reply {
    Reply::tool("look", json!({"n": number}))
}

const LOOK: &str = r#"{"name": "look", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}"#;

fn look() -> Value {
    serde_json::from_str(LOOK).unwrap()
}

async fn look_handler(place: &Place) -> Arc<AtomicUsize> {
    let looked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&looked);
    let handler = move |task: Task| {
        let count = Arc::clone(&count);
        async move {
            count.fetch_add(1, Ordering::SeqCst);
            match task.input["n"].as_u64() {
                Some(13) => TaskResult::fail("thirteen is out of order"),
                number => json!({"found": number}).into(),
            }
        }
    };
    place.engine.handler("look", handler).await.unwrap();
    looked
}

#[tokio::test]
async fn each_protocol_answers_with_text_and_json() {
    for protocol in
        [Protocol::OpenaiChat, Protocol::OpenaiResponses, Protocol::OpenaiCompatible, Protocol::Anthropic]
    {
        let script = Script::of([Reply::text("Because."), Reply::json(json!({"score": 0.9, "why": "so"}))]);
        let standin = StandIn::of(script).await.unwrap();
        let place = Place::new(options(&standin, protocol)).await;
        let (_, ended) = place.run(ask(json!({})), json!({"question": {"not": "text"}})).await;
        assert_eq!(output(&ended), json!("Because."), "{protocol:?}");
        let schema =
            json!({"type": "object", "required": ["score"], "properties": {"score": {"type": "number"}}});
        let mut scored = ask(json!({"responseFormat": "json", "outputSchema": schema}));
        scored["name"] = json!("scoring");
        let (run, ended) = place.run(scored, json!({})).await;
        assert_eq!(output(&ended)["score"], 0.9, "{protocol:?}");
        let state = place.engine.run(run).get().await.unwrap().state.clone();
        assert_eq!(*state["why"], json!("so"), "an object is merged into the state");
    }
}

#[tokio::test]
async fn tools_are_runs_of_handlers_and_of_workflows_and_their_results_are_told_to_the_model() {
    let calls = vec![
        abide_standin::ToolCall { name: "look".to_owned(), arguments: json!({"n": 5}) },
        abide_standin::ToolCall { name: "price".to_owned(), arguments: json!({"item": "tea"}) },
    ];
    let both = Reply { tool_calls: calls, ..Reply::default() };
    let (standin, place) = place(Script::of([both, Reply::text("Tea is 4.")])).await;
    let looked = look_handler(&place).await;
    place
        .deploy(json!({"name": "price-of", "steps": [
            {"name": "rest", "type": "wait", "duration": "2d"},
            {"name": "say", "type": "respond", "body": "x"}
        ], "output": {"price": 4, "of": "{{ input.item }}"}}))
        .await;
    let price = json!({"name": "price", "workflow": "price-of"});
    let (run, ended) = place.run(ask(json!({"tools": [look(), price]})), json!({})).await;
    assert_eq!(output(&ended), json!("Tea is 4."));
    assert_eq!(looked.load(Ordering::SeqCst), 1);
    let said = standin.calls()[1].request["messages"].to_string();
    assert!(said.contains(r#"{\"found\":5}"#) && said.contains(r#"{\"of\":\"tea\",\"price\":4}"#), "{said}");
    let run = place.engine.run(run).get().await.unwrap();
    let kinds: Vec<(Kind, WaitStatus)> = run.waitpoints().map(|wait| (wait.kind, wait.status)).collect();
    assert_eq!(kinds, [(Kind::Child, WaitStatus::Completed); 2]);
    assert_eq!(run.spent.calls, 2);
}

#[tokio::test]
async fn a_tool_of_a_polled_worker_waits_for_it_and_holds_nothing() {
    let (standin, place) = place(Script::of([looks(1), Reply::text("One.")])).await;
    place.deploy(ask(json!({"tools": [look()]}))).await;
    let run = place.engine.start("asking", json!({})).await.unwrap();
    let leased = place
        .engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("worker-1", ["look"], Duration::from_secs(60)))
        .await
        .unwrap();
    assert_eq!(*leased[0].task.input, json!({"n": 1}));
    assert_eq!(place.engine.run(run).get().await.unwrap().status.to_string(), "WAITING");
    assert_eq!(standin.calls().len(), 1);
    let (child, at, lease_epoch) = (leased[0].task.run_id, leased[0].at, leased[0].task.lease_epoch);
    let report = abide_core::command::TaskCompleted {
        at,
        lease_epoch,
        output: json!("uno").into(),
        state_updates: None,
    };
    place.engine.run(child).command(Command::TaskCompleted(report)).await.unwrap();
    assert_eq!(output(&place.engine.run(run).wait().await.unwrap()), json!("One."));
}

#[tokio::test]
async fn what_goes_wrong_with_a_tool_is_told_to_the_model() {
    let nonsense = Reply::tool("nonsense", json!({}));
    let bad = Reply::tool("look", json!({"n": "five"}));
    let missing = Reply::tool("gone", json!({}));
    let script = Script::of([nonsense, bad, looks(13), missing, Reply::text("I give up.")]);
    let (standin, place) = place(script).await;
    look_handler(&place).await;
    let gone = json!({"name": "gone", "workflow": "not-deployed"});
    let (_, ended) = place.run(ask(json!({"tools": [look(), gone]})), json!({})).await;
    assert_eq!(output(&ended), json!("I give up."));
    let said = standin.calls()[4].request["messages"].to_string();
    for told in ["there is no tool `nonsense`", "do not satisfy", "thirteen is out of order", "not-deployed"]
    {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[tokio::test]
async fn a_step_that_is_cancelled_cancels_the_runs_of_its_tools() {
    let (_standin, place) = place(Script::of([looks(1)])).await;
    place.deploy(ask(json!({"tools": [look()]}))).await;
    let run = place.engine.start("asking", json!({})).await.unwrap();
    let leased = place
        .engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("worker-1", ["look"], Duration::from_secs(60)))
        .await
        .unwrap();
    place.engine.run(run).command(Command::Cancel { reason: None }).await.unwrap();
    let tool = place.engine.run(leased[0].task.run_id).wait().await.unwrap();
    assert_eq!(tool.status.to_string(), "CANCELLED");
}

#[tokio::test]
async fn rounds_of_tools_are_used_up_with_a_clear_outcome() {
    let (standin, place) =
        place(Script { rules: vec![Rule { reply: looks(1), ..Rule::default() }], ..Script::default() }).await;
    look_handler(&place).await;
    let (_, ended) = place.run(ask(json!({"tools": [look()], "maxToolRounds": 3})), json!({})).await;
    let (code, message) = failure(&ended);
    assert!(code == "LLM_TOOL_ROUNDS_USED_UP" && message.contains("maxToolRounds"), "{message}");
    assert_eq!(standin.calls().len(), 4);
}

#[tokio::test]
async fn a_rate_limit_parks_the_step_as_a_retry_and_uses_no_attempt() {
    let limited = Reply { retry_after: Some("3600".to_owned()), ..Reply::status(429) };
    let (standin, place) = place(Script::of([limited, Reply::text("Now.")])).await;
    place.deploy(ask(json!({}))).await;
    let begun = place.engine.now();
    let run = place.engine.start("asking", json!({})).await.unwrap();
    place.engine.clock().settled().await.unwrap();
    let parked = place.engine.run(run).get().await.unwrap();
    let wait = parked.open_waitpoints().next().unwrap();
    assert_eq!((wait.kind, parked.status.to_string().as_str()), (Kind::Retry, "WAITING"));
    assert_eq!(wait.resume_at.unwrap().as_second() - begun.as_second(), 3600);
    assert_eq!(place.engine.stats().await.unwrap().tasks_out, 0, "nothing is held meanwhile");
    let ended = place.engine.clock().skip_waits(run).await.unwrap().unwrap();
    assert_eq!(output(&ended), json!("Now."));
    assert_eq!(standin.calls().len(), 2);
    let step = place.engine.run(run).get().await.unwrap();
    assert_eq!(step.step_runs().next().unwrap().1.attempt, 1);
    assert!(place.engine.now().as_second() - begun.as_second() >= 3600);
}

#[tokio::test]
async fn another_model_is_asked_when_one_fails_and_another_attempt_is_made_when_all_do() {
    let of = |model: &str, times, reply| Rule {
        model: Some(model.to_owned()),
        times: Some(times),
        reply,
        ..Rule::default()
    };
    let cut = Reply { cut: Some(Cut::Before), ..Reply::default() };
    let rules = vec![
        of("real", 1, Reply::status(500)),
        of("other", 1, cut),
        of("real", 1, Reply { body: Some("no json".to_owned()), ..Reply::default() }),
        of("other", 1, Reply::text("Here I am.")),
    ];
    let (standin, place) = place(Script { rules, ..Script::default() }).await;
    let (run, ended) = place.run(ask(json!({"fallbackModels": ["n"]})), json!({})).await;
    assert_eq!(output(&ended), json!("Here I am."));
    let asked: Vec<String> = standin.calls().into_iter().map(|call| call.model).collect();
    assert_eq!(asked, ["real", "other", "real", "other"]);
    let errors: Vec<Option<String>> = place
        .history(run)
        .await
        .into_iter()
        .filter_map(|record| {
            let Change::LlmCallCompleted { call, .. } = record.change else { return None };
            Some(call.error.map(|code| code.to_string()))
        })
        .collect();
    let [overloaded, cut, malformed] =
        ["LLM_OVERLOADED", "LLM_CUT", "LLM_MALFORMED_ANSWER"].map(|code| Some(code.to_owned()));
    assert_eq!(errors, [overloaded, cut, malformed, None]);
}

#[tokio::test]
async fn a_bad_request_of_ours_is_no_other_models_business() {
    let error = Error { kind: "invalid_request_error".to_owned(), message: "temperature".to_owned() };
    let bad = Reply { error: Some(error), ..Reply::status(400) };
    let (standin, place) = place(Script::of([bad])).await;
    let (_, ended) = place.run(ask(json!({"fallbackModels": ["n"]})), json!({})).await;
    assert_eq!(failure(&ended).0, "LLM_BAD_REQUEST");
    assert_eq!(standin.calls().len(), 1);
}

#[tokio::test]
async fn a_model_that_nobody_serves_is_an_error_that_names_what_is_known() {
    let (_standin, place) = place(Script::default()).await;
    let (_, ended) = place.run(ask(json!({"model": "gtp-4"})), json!({})).await;
    let (code, message) = failure(&ended);
    assert!(
        code == "LLM_UNKNOWN_MODEL" && message.contains("`gtp-4`") && message.contains("`m`"),
        "{message}"
    );
}

#[tokio::test]
async fn a_run_that_is_retried_pays_for_nothing_twice() {
    let script = Script::of([looks(1), Reply::status(500), Reply::status(500), Reply::text("Done.")]);
    let (standin, place) = place(script).await;
    let looked = look_handler(&place).await;
    let (run, ended) = place.run(ask(json!({"tools": [look()]})), json!({})).await;
    assert_eq!(failure(&ended).0, "LLM_OVERLOADED");
    place.engine.run(run).command(Command::Retry).await.unwrap();
    let ended = place.engine.clock().skip_waits(run).await.unwrap().unwrap();
    assert_eq!(output(&ended), json!("Done."));
    assert_eq!((standin.calls().len(), looked.load(Ordering::SeqCst)), (4, 1));
}

#[tokio::test]
async fn words_come_as_they_are_said_to_whoever_follows_the_run() {
    for protocol in [Protocol::OpenaiChat, Protocol::OpenaiResponses, Protocol::Anthropic] {
        let standin =
            StandIn::of(Script::of([looks(1), Reply::text("It was the best of times.")])).await.unwrap();
        let place = Place::new(options(&standin, protocol)).await;
        place.deploy(ask(json!({"tools": [look()]}))).await;
        let run = place.engine.start("asking", json!({})).await.unwrap();
        let leased = place
            .engine
            .default_workspace()
            .tasks()
            .poll(Poll::new("worker-1", ["look"], Duration::from_secs(60)))
            .await
            .unwrap();
        let mut tokens = place.engine.run(run).tokens();
        let (child, at, lease_epoch) = (leased[0].task.run_id, leased[0].at, leased[0].task.lease_epoch);
        let report = abide_core::command::TaskCompleted {
            at,
            lease_epoch,
            output: json!(1).into(),
            state_updates: None,
        };
        place.engine.run(child).command(Command::TaskCompleted(report)).await.unwrap();
        let mut said = String::new();
        while said != "It was the best of times." {
            let token = tokens.next().await;
            assert_eq!((token.step_name.as_str(), token.entry.as_str()), ("ask", "call 2"));
            said.push_str(&token.text);
        }
        assert_eq!(output(&place.engine.run(run).wait().await.unwrap()), json!(said));
        assert!(standin.calls()[1].stream && !standin.calls()[0].stream);
        let spent = place.engine.run(run).get().await.unwrap().spent;
        assert!(spent.output_tokens > 0, "{spent:?}");
    }
}
