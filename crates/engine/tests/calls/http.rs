//! `http` steps.

use abide_core::id::StepAddress;
use abide_engine::signing::Keys;
use abide_engine::{Engine, Policy};
use abide_testkit::receiver::{Receiver, json, redirect};
use serde_json::{Value, json};

use crate::place::{Place, failure, output};

const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn step(fields: Value) -> Value {
    let mut step = json!({"name": "call", "type": "http", "retry": {"maxAttempts": 3}});
    step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"name": "calls", "steps": [step]})
}

#[tokio::test]
async fn a_call_carries_what_was_rendered_and_gives_status_headers_and_body() {
    let receiver =
        Receiver::start(|_| json("201 Created\r\nset-cookie: a=b\r\nx-a: 1\r\nx-a: 2", json!({"id": 7})))
            .await;
    let place = Place::on_loopback(Engine::options()).await;
    let call = step(json!({
        "url": receiver.url("/orders/{{ input.id }}?q={{ input.q }}"), "method": "POST",
        "headers": {"x-order": "{{ input.id }}"}, "body": {"items": "{{ input.items }}"},
    }));
    let (run, ended) = place.run(call, json!({"id": 7, "q": "x", "items": [1, 2]})).await;
    let given = output(&ended);
    assert_eq!((&given["status"], &given["body"]), (&json!(201), &json!({"id": 7})));
    assert_eq!(given["headers"]["x-a"], "1, 2");
    assert_eq!(given["headers"].get("set-cookie"), None);
    let received = &receiver.received()[0];
    assert_eq!(received.line(), "POST /orders/7?q=x");
    assert_eq!(received.header("x-order").as_deref(), Some("7"));
    assert_eq!(received.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(received.json(), json!({"items": [1, 2]}));
    assert_eq!(received.header("idempotency-key"), Some(run.task(StepAddress::step(0)).to_string()));
}

#[tokio::test]
async fn a_step_does_not_say_whom_a_request_is_for_or_where_it_ends() {
    let receiver = Receiver::start(|_| json("200 OK", json!({}))).await;
    let place = Place::on_loopback(Engine::options()).await;
    for (version, name) in
        ["Host", "Transfer-Encoding", "Content-Length", "Connection", "TE", "Upgrade"].into_iter().enumerate()
    {
        let mut call = step(json!({"url": receiver.url("/"), "headers": {name: "x"}}));
        call["version"] = json!(version.to_string());
        let (_, ended) = place.run(call, json!({})).await;
        assert_eq!(failure(&ended).0, "HTTP_HEADER_REFUSED", "{name}");
    }
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn every_attempt_has_the_same_idempotency_key_and_waits_as_long_as_it_is_told() {
    let receiver = Receiver::start(|received| match received.number {
        1 => json("500 Oops", json!("no")),
        2 => json("429 Slow down\r\nretry-after: 3600", json!("later")),
        _ => json("200 OK", json!("done")),
    })
    .await;
    let place = Place::on_loopback(Engine::options()).await;
    let begun = place.engine.now();
    let call = step(json!({"url": receiver.url("/"), "method": "PUT", "body": "text"}));
    let (run, ended) = place.run(call, json!({})).await;
    assert_eq!(output(&ended)["body"], "done");
    let keys: Vec<_> = receiver.received().iter().map(|one| one.header("idempotency-key").unwrap()).collect();
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    assert!(place.engine.now().as_second() - begun.as_second() >= 3600);
    assert!(place.told(run).await.contains("HTTP_STATUS"));
}

#[tokio::test]
async fn only_the_statuses_that_the_step_names_fail_it() {
    let receiver = Receiver::start(|_| json("404 Not Found", json!({"why": "gone"}))).await;
    let place = Place::on_loopback(Engine::options()).await;
    let (_, ended) = place.run(step(json!({"url": receiver.url("/a")})), json!({})).await;
    let (code, message) = failure(&ended);
    assert_eq!(code, "HTTP_STATUS");
    assert!(message.contains("404") && message.contains("gone"), "{message}");
    assert_eq!(receiver.received().len(), 1, "another attempt would not help");
    let mut fine = step(json!({"url": receiver.url("/a"), "failOn": ["5xx"]}));
    fine["version"] = json!("2");
    let (_, ended) = place.run(fine, json!({})).await;
    assert_eq!(output(&ended)["status"], 404);
}

#[tokio::test]
async fn a_secret_is_in_the_call_and_nowhere_else() {
    const SECRET: &str = "hunter2-hunter2";
    // It even says it back.
    let receiver = Receiver::start(|received| {
        let shown = format!("you sent {} and {}", received.header("authorization").unwrap(), received.body);
        json("200 OK", json!({"echo": shown, "line": received.line()}))
    })
    .await;
    let options = Engine::options().secret("TOKEN", SECRET, &["*"]).unwrap();
    let place = Place::on_loopback(options).await;
    let call = step(json!({
        "url": receiver.url("/?t={{ secret.TOKEN }}"), "method": "POST",
        "headers": {"authorization": "Bearer {{ secret.TOKEN }}"},
        "body": {"token": "{{ secret.TOKEN }}", "said": "{{ input.said }}"},
    }));
    let (run, ended) = place.run(call, json!({"said": "[secret TOKEN] {{ secret.TOKEN }}"})).await;
    let received = &receiver.received()[0];
    assert_eq!(received.header("authorization"), Some(format!("Bearer {SECRET}")));
    assert_eq!(received.line(), format!("POST /?t={SECRET}"));
    let body = json!({"token": SECRET, "said": "[secret TOKEN] {{ secret.TOKEN }}"});
    assert_eq!(received.json(), body, "what looks like a secret in a payload is not one");
    assert!(!output(&ended).to_string().contains(SECRET), "{ended:?}");
    assert!(!place.told(run).await.contains(SECRET));
    let bytes = place.bytes();
    assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()));
}

#[tokio::test]
async fn an_error_does_not_show_a_secret_either() {
    let receiver = Receiver::start(|received| json("400 Bad", json!(received.header("x-key")))).await;
    let place = Place::on_loopback(Engine::options().secret("KEY", "s3cr3t-value", &["*"]).unwrap()).await;
    let call = step(json!({"url": receiver.url("/"), "headers": {"x-key": "{{ secret.KEY }}"}}));
    let (run, ended) = place.run(call, json!({})).await;
    assert!(failure(&ended).1.contains("[secret KEY]"), "{ended:?}");
    assert!(!place.told(run).await.contains("s3cr3t"));
}

#[tokio::test]
async fn a_secret_that_is_not_there_fails_the_step_by_its_name() {
    let place = Place::on_loopback(Engine::options()).await;
    let call = step(json!({"url": "https://example.com/", "headers": {"x": "{{ secret.NOPE }}"}}));
    let (_, ended) = place.run(call, json!({})).await;
    let (code, message) = failure(&ended);
    assert_eq!(code, "SECRET_UNKNOWN");
    assert!(message.contains("ABIDE_SECRET_NOPE"), "{message}");
}

#[tokio::test]
async fn a_body_with_a_secret_is_not_sent_on_to_where_it_is_redirected() {
    let elsewhere = Receiver::start(|_| json("200 OK", json!("thanks"))).await;
    let target = elsewhere.url("/");
    let receiver = Receiver::start(move |_| redirect(307, &target)).await;
    let place = Place::on_loopback(Engine::options().secret("KEY", "s3cr3t-value", &["*"]).unwrap()).await;
    let call = step(json!({"url": receiver.url("/"), "method": "POST", "body": "{{ secret.KEY }}"}));
    let (_, ended) = place.run(call, json!({})).await;
    assert_eq!(failure(&ended).0, "HTTP_TOO_MANY_REDIRECTS");
    assert_eq!(elsewhere.received().len(), 0);
}

#[tokio::test]
async fn a_secret_goes_to_its_hosts_and_to_nobody_else() {
    let receiver = Receiver::start(|_| json("200 OK", json!("thanks"))).await;
    let own = receiver.url("");
    let own = own.trim_end_matches('/').to_owned();
    for (hosts, arrives) in [
        (vec!["api.example.com"], false),
        // In clear it goes only where that is said.
        (vec!["127.0.0.1"], false),
        (vec!["api.example.com", &own], true),
        (vec!["*"], true),
    ] {
        let before = receiver.received().len();
        let place =
            Place::on_loopback(Engine::options().secret("KEY", "s3cr3t-value", &hosts).unwrap()).await;
        for call in [
            json!({"url": receiver.url("/"), "headers": {"x-key": "{{ secret.KEY }}"}}),
            json!({"url": receiver.url("/?k={{ secret.KEY }}")}),
            json!({"url": receiver.url("/"), "method": "POST", "body": {"k": "{{ secret.KEY }}"}}),
        ] {
            let mut call = step(call);
            call["name"] = json!(format!("calls-{}", fresh()));
            let (_, ended) = place.run(call, json!({})).await;
            if arrives {
                output(&ended);
            } else {
                let (code, message) = failure(&ended);
                assert_eq!(code, "SECRET_HOST_REFUSED");
                assert!(message.contains("KEY") && !message.contains("s3cr3t"), "{message}");
            }
        }
        assert_eq!(receiver.received().len() - before, if arrives { 3 } else { 0 }, "{hosts:?}");
    }
}

#[tokio::test]
async fn a_secret_does_not_follow_a_redirect_to_another_host() {
    let elsewhere = Receiver::start(|_| json("200 OK", json!("thanks"))).await;
    let target = elsewhere.url("/").replace("127.0.0.1", "localhost");
    let receiver = Receiver::start(move |_| redirect(302, &target)).await;
    let own = receiver.url("").trim_end_matches('/').to_owned();
    let options = Engine::options().secret("KEY", "s3cr3t-value", &[&own]).unwrap();
    let place = Place::new(options.allow(["127.0.0.1".parse().unwrap(), "localhost".parse().unwrap()])).await;
    let call = step(json!({"url": receiver.url("/"), "headers": {"x-key": "{{ secret.KEY }}"}}));
    let (_, ended) = place.run(call, json!({})).await;
    assert!(matches!(
        ended.status,
        abide_core::status::RunStatus::Completed | abide_core::status::RunStatus::Failed
    ));
    for received in elsewhere.received() {
        assert_eq!(received.header("x-key"), None);
    }
}

#[tokio::test]
async fn a_secret_is_known_in_its_own_workspace_only() {
    let receiver = Receiver::start(|_| json("200 OK", json!("thanks"))).await;
    let place = Place::on_loopback(Engine::options().secret("KEY", "s3cr3t-value", &["*"]).unwrap()).await;
    let team = place.engine.admin().add_workspace("team").await.unwrap().unwrap().id;
    let call = step(json!({"url": receiver.url("/"), "headers": {"x-key": "{{ secret.KEY }}"}}));
    let checked = abide_core::definition::Definition::from_value(call).unwrap();
    place.engine.workspace(team).definitions().deploy_checked(checked).await.unwrap();
    let run = place.engine.workspace(team).start(("calls", json!(null))).await.unwrap();
    let ended = place.engine.clock().skip_waits(run).await.unwrap().unwrap();
    assert_eq!(failure(&ended).0, "SECRET_UNKNOWN");
    assert_eq!(receiver.received().len(), 0);
}

fn fresh() -> u64 {
    static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

#[tokio::test]
async fn a_call_is_signed_when_the_step_asks_for_it() {
    let receiver = Receiver::start(|_| json("200 OK", json!(null))).await;
    let keys = Keys::new([KEY]).unwrap();
    let place = Place::on_loopback(Engine::options().signing(keys.clone())).await;
    let call = step(json!({"url": receiver.url("/"), "method": "POST", "body": {"a": 1}, "sign": true}));
    let (_, ended) = place.run(call, json!({})).await;
    output(&ended);
    let received = &receiver.received()[0];
    let [id, at, signature] =
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| received.header(name).unwrap());
    let now = place.engine.now().as_second();
    keys.verify(&id, &at, &signature, received.body.as_bytes(), now).unwrap();
}

#[tokio::test]
async fn private_addresses_are_refused_by_default_and_named() {
    let inside = Receiver::start(|_| json("200 OK", json!("inside"))).await;
    let port = inside.url("").rsplit(':').next().unwrap().to_owned();
    let place = Place::new(Engine::options()).await;
    for (version, (url, code, says)) in [
        (format!("http://127.0.0.1:{port}/"), "HTTP_ADDRESS_REFUSED", "127.0.0.1 is a loopback address"),
        (format!("http://localhost:{port}/"), "HTTP_ADDRESS_REFUSED", "loopback"),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), "HTTP_ADDRESS_REFUSED", "loopback"),
        ("http://10.0.0.1/".to_owned(), "HTTP_ADDRESS_REFUSED", "10.0.0.1"),
        ("http://169.254.169.254/latest/meta-data".to_owned(), "HTTP_ADDRESS_REFUSED", "169.254.169.254"),
        ("file:///etc/passwd".to_owned(), "HTTP_SCHEME_REFUSED", "`file`"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut call = step(json!({"url": "{{ input.url }}"}));
        call["version"] = json!(version.to_string());
        let (_, ended) = place.run(call, json!({"url": url})).await;
        let (told, message) = failure(&ended);
        assert!(told == code && message.contains(says), "{url}: {told}: {message}");
    }
    assert_eq!(inside.received().len(), 0);
}

#[tokio::test]
async fn a_redirect_to_an_address_that_is_not_allowed_is_refused_too() {
    let receiver = Receiver::start(|_| redirect(302, "http://127.0.0.2:1/x")).await;
    let place = Place::on_loopback(Engine::options()).await;
    let (_, ended) = place.run(step(json!({"url": receiver.url("/")})), json!({})).await;
    let (code, message) = failure(&ended);
    assert!(code == "HTTP_ADDRESS_REFUSED" && message.contains("127.0.0.2"), "{message}");
}

#[test]
fn by_default_only_the_public_internet_is_reached() {
    assert_eq!(Engine::options().calls.policy, Policy::default());
}
