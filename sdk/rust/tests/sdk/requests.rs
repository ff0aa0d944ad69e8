//! What is repeated, and what is not, when a server is busy, gone, or something between answers.

use std::collections::HashSet;

use abide_sdk::wire::SetLimit;
use abide_sdk::{Client, Error, Json, ProblemKind};
use serde_json::json;

use crate::scripted::{Answer, Scripted};

const YES: Answer = Answer::Yes(
    r#"{"id": "run_1", "url": "/x", "name": "x", "createdAt": "2026-01-01T00:00:00Z", "openRuns": 0, "storedBytes": 0, "quotas": {}}"#,
);

async fn scripted(answers: &[Answer]) -> (Client, Scripted) {
    let server = Scripted::new(answers).await;
    (Client::builder().url(&server.url).retries(2).build().unwrap(), server)
}

#[tokio::test]
async fn a_start_is_repeated_with_the_same_key_until_it_is_answered() {
    let (client, server) = scripted(&[Answer::Busy, Answer::HangUp, YES]).await;
    let run = client.start("order", Json::Null).await.unwrap();
    assert_eq!(run.id(), "run_1");
    let asked = server.asked.lock().unwrap();
    let keys: HashSet<_> = asked.iter().map(|asked| asked.headers["idempotency-key"].as_str()).collect();
    assert_eq!((asked.len(), keys.len()), (3, 1));
}

#[tokio::test]
async fn a_busy_server_is_given_up_after_the_retries_with_its_code() {
    let (client, server) = scripted(&[Answer::Busy]).await;
    let error = client.start("order", Json::Null).await.unwrap_err();
    assert_eq!(error.code(), Some("OVERLOADED"));
    assert_eq!(error.problem().unwrap().kind(), ProblemKind::Busy);
    assert_eq!(server.asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn what_may_have_been_done_and_has_no_key_is_not_repeated() {
    let (client, server) = scripted(&[Answer::HangUp]).await;
    let error = client.admin().create_workspace("x").await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert_eq!(server.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn what_was_refused_because_the_server_is_busy_is_repeated_in_any_case() {
    let (client, server) = scripted(&[Answer::Busy, YES]).await;
    client.admin().create_workspace("x").await.unwrap();
    assert_eq!(server.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn an_answer_of_something_in_between_has_a_code_too() {
    let (client, _server) = scripted(&[Answer::Proxy]).await;
    let error = client.runs().find("x").await.unwrap_err();
    let problem = error.problem().unwrap();
    assert_eq!((problem.code.as_str(), problem.status, problem.detail.as_str()), ("HTTP_502", 502, "<html>"));
}

#[tokio::test]
async fn keys_and_traces_are_sent_along_and_names_are_escaped() {
    let server = Scripted::new(&[YES]).await;
    let client = Client::builder().url(&server.url).api_key("abk_1").build().unwrap().traced("00-1-2-01");
    // The answer is no run: only what was asked counts.
    client.runs().find("a/b ?").await.unwrap_err();
    let asked = server.asked.lock().unwrap();
    let headers = &asked[0].headers;
    assert_eq!(
        (headers["authorization"].as_str(), headers["traceparent"].as_str()),
        ("Bearer abk_1", "00-1-2-01")
    );
    assert_eq!(asked[0].path, "/api/v1/workflow-runs/a%2Fb%20%3F");
}

#[tokio::test]
async fn a_key_is_shown_to_nobody_else() {
    let server = Scripted::new(&[YES]).await;
    let client = Client::builder().url("http://127.0.0.1:1").api_key("abk_1").build().unwrap();
    client.waitpoints().resume(&format!("{}/resume?token=x", server.url), ()).await.unwrap_err();
    let asked = server.asked.lock().unwrap();
    assert_eq!((asked[0].path.as_str(), asked[0].headers.get("authorization")), ("/resume?token=x", None));
    assert!(!format!("{client:?}").contains("abk_1"));
}

#[test]
fn a_url_that_is_none_is_refused_with_an_example() {
    let error = Client::at("localhost:22433").unwrap_err().to_string();
    assert!(error.contains("`localhost:22433` is not the URL of a server"), "{error}");
    assert!(error.contains("http://127.0.0.1:22433"), "{error}");
}

#[test]
fn what_is_set_for_a_limit_is_removed_with_null_and_what_is_not_named_stays() {
    let change = SetLimit::default().concurrency(None).rate(Some(5)).per("1m");
    let sent = serde_json::to_value(&change).unwrap();
    assert_eq!(sent, json!({ "concurrency": null, "rate": 5, "per": "1m" }));
    assert_eq!(serde_json::from_value::<SetLimit>(sent).unwrap(), change);
}
