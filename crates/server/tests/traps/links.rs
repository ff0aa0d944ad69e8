use abide_server::Settings;
use hyper::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::host::Host;
use crate::scene::{Folder, asked, call, path_of, resume_url, text, wait_of};

fn sign() -> Value {
    json!([{ "type": "webhook", "name": "sign", "timeoutMs": 60_000, "allowSync": true }])
}

#[tokio::test]
async fn a_scanner_that_opens_every_link_with_every_method_that_reads_decides_nothing() {
    let host = Host::start().await;
    let run = host.run_of(sign()).await;
    let webhook = resume_url(&host, &run).await;
    let (asking, _) = asked(&host, json!({})).await;
    let approval = resume_url(&host, &asking).await;
    for url in [webhook, approval] {
        for door in ["", "/sync", "/confirm"] {
            let url = url.replace("?token=", &format!("{door}?token="));
            for accept in ["*/*", "text/html"] {
                for method in ["HEAD", "GET", "OPTIONS", "TRACE", "PROPFIND", "SEARCH", "QUERY"] {
                    let method = Method::from_bytes(method.as_bytes()).unwrap();
                    let scanned = host.raw(method.clone(), &url, &[("accept", accept)], "".into()).await;
                    assert!(matches!(scanned.status, 200 | 405), "{method} {url}: {}", scanned.text);
                }
            }
        }
    }
    for run in [run, asking] {
        assert_eq!(host.run(&run).await["status"], "WAITING");
    }
}

#[tokio::test]
async fn both_links_of_a_mail_opened_by_a_scanner_and_one_by_a_person_are_one_decision() {
    let host = Host::start().await;
    let (run, id) = asked(&host, json!({})).await;
    let mut links = Vec::new();
    for recipient in ["ann", "bob"] {
        let made = host.post(&format!("/waitpoints/{id}/link"), json!({ "recipient": recipient })).await;
        links.push((text(&made.json["resumeUrl"]), text(&made.json["confirmUrl"])));
    }
    for (resume, confirm) in &links {
        for url in [resume, confirm] {
            assert_eq!(host.raw(Method::GET, url, &[("accept", "text/html")], "".into()).await.status, 200);
        }
        host.raw(Method::GET, resume, &[], "".into()).await.is_problem(405, "READ_ONLY");
    }
    assert_eq!(host.run(&run).await["status"], "WAITING");
    assert_eq!(call(&host, &links[0].0, json!({ "decision": "approve" })).await.status, 200);
    let late = call(&host, &links[1].0, json!({ "decision": "reject" })).await;
    let outcome = &late.is_problem(409, "ALREADY_RESOLVED").json["outcome"];
    assert_eq!((&outcome["payload"]["decision"], &outcome["resolvedBy"]), (&json!("approve"), &json!("ann")));
}

#[tokio::test]
async fn rotated_secrets_and_restarts_make_no_link_invalid_and_bring_no_revoked_one_back() {
    let folder = Folder::new();
    let host = folder.serve().await;
    let run = host.run_of(sign()).await;
    let other = host.start_run("flow", json!({})).await;
    let old = path_of(&resume_url(&host, &run).await);
    let revoked = path_of(&resume_url(&host, &other).await);
    let id = text(&host.waitpoint(&other).await["id"]);
    assert_eq!(host.delete(&format!("/waitpoints/{id}/link")).await.status, 200);
    for _ in 0..3 {
        assert_eq!(host.post("/link-secrets", json!({})).await.status, 204);
    }
    host.stop().await;
    let host = folder.serve().await;
    call(&host, &revoked, json!(1)).await.is_problem(410, "LINK_REVOKED");
    assert_eq!(call(&host, &old, json!(1)).await.status, 200);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn no_url_is_built_with_the_wrong_base_path() {
    const PUBLIC: &str = "http://abide.localhost:8080/base";
    let host = Host::with(Settings { public_url: Some(format!("{PUBLIC}/")), ..Settings::default() }).await;
    // What a proxy passes on: its own name, and the path without the base.
    let proxied = async |method: Method, url: &str, body: &'static str| {
        let path = url.strip_prefix(PUBLIC).or_else(|| url.strip_prefix("/base"));
        let path = path.unwrap_or_else(|| panic!("{url} does not lead to the server"));
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [("host", "abide.localhost:8080"), ("accept", "text/html"), form];
        host.raw(method, path, &headers, body.into()).await
    };
    let run = host.run_of(sign()).await;
    let link = resume_url(&host, &run).await;
    let page = proxied(Method::GET, &link, "").await;
    assert_eq!(page.status, 200, "{}", page.text);
    let action = page.text.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
    let sent = proxied(Method::POST, &action.replace("&amp;", "&"), "confirmed=true").await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    let shown = proxied(Method::GET, sent.header("location").unwrap(), "").await;
    assert!(shown.text.contains("Done"), "{}", shown.text);
    let started = host.post("/workflow-runs", json!({ "name": "flow" })).await;
    let location = started.header("location").unwrap();
    assert_eq!(proxied(Method::GET, location, "").await.json["id"], started.json["id"]);
}

#[tokio::test]
async fn a_stale_resume_is_not_told_yes_at_any_door() {
    let host = Host::start().await;
    let timed_out = host.run_of(sign()).await;
    let timed_out = resume_url(&host, &timed_out).await;
    host.pass(60_000).await;
    let cancelled = host.start_run("flow", json!({})).await;
    let cancelled_url = resume_url(&host, &cancelled).await;
    host.post(&format!("/workflow-runs/{cancelled}/cancel"), json!({})).await;
    let done = host.start_run("flow", json!({})).await;
    let done = resume_url(&host, &done).await;
    assert_eq!(call(&host, &done, json!("first")).await.status, 200);
    for (url, status, code, outcome) in [
        (timed_out, 410, "WAITPOINT_TIMED_OUT", "TIMED_OUT"),
        (cancelled_url, 410, "WAITPOINT_CANCELLED", "CANCELLED"),
        (done, 409, "ALREADY_RESOLVED", "COMPLETED"),
    ] {
        for door in ["", "/sync"] {
            let late = call(&host, &url.replace("?token=", &format!("{door}?token=")), json!("late")).await;
            assert_eq!(late.is_problem(status, code).json["outcome"]["status"], outcome);
        }
        let page = url.replace("?token=", "/confirm?token=");
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let late = host.raw(Method::POST, &page, &headers, "confirmed=true".into()).await;
        assert_eq!(late.status, status, "{}", late.text);
    }
}

#[tokio::test]
async fn a_retried_resume_is_not_told_that_there_is_nothing() {
    let folder = Folder::new();
    let host = folder.serve().await;
    let run = host.run_of(sign()).await;
    let url = path_of(&resume_url(&host, &run).await);
    let keyed = async |host: &Host, retry: &str| {
        let headers =
            [("content-type", "application/json"), ("idempotency-key", "k"), ("x-delivery-attempt", retry)];
        host.raw(Method::POST, &url, &headers, r#"{"n": 1}"#.into()).await
    };
    let first = keyed(&host, "1").await;
    assert_eq!(first.status, 200, "{}", first.text);
    host.stop().await;
    let host = folder.serve().await;
    // Callers count their deliveries, sign them anew, come through another proxy: it is still the same body.
    for retry in ["1", "2"] {
        let again = keyed(&host, retry).await;
        assert_eq!((again.status, &again.json), (200, &first.json), "{}", again.text);
    }
    let without_key = call(&host, &url, json!({ "n": 1 })).await;
    assert_eq!((without_key.status, &without_key.json), (200, &first.json), "{}", without_key.text);
    assert_eq!(without_key.header("idempotency-replayed"), Some("true"));
    call(&host, &url, json!({ "n": 2 })).await.is_problem(409, "ALREADY_RESOLVED");
}

#[tokio::test]
async fn a_caller_that_hangs_up_does_not_lose_the_link() {
    let host = Host::start().await;
    let run = host.run_of(sign()).await;
    let url = path_of(&resume_url(&host, &run).await);
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    let body = r#"{"n": 1}"#;
    let request = format!(
        "POST {url} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        host.address,
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    drop(stream);
    let again = call(&host, &url, json!({ "n": 1 })).await;
    if again.status != 200 {
        again.is_problem(409, "ALREADY_RESOLVED");
    }
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["output"]["body"]), (&json!("COMPLETED"), &json!({ "n": 1 })));
}

#[tokio::test]
async fn one_links_token_opens_no_other_wait_of_the_same_run() {
    let host = Host::start().await;
    let hook = |name: &str| json!({ "type": "webhook", "name": name, "after": [] });
    let run = host.run_of(json!([hook("yes"), hook("no")])).await;
    let yes = text(&wait_of(&host, &run, "yes").await["resumeUrl"]);
    let no = text(&wait_of(&host, &run, "no").await["resumeUrl"]);
    let (no_path, yes_token) = (no.split('?').next().unwrap(), yes.split('?').nth(1).unwrap());
    call(&host, &format!("{no_path}?{yes_token}"), json!(1)).await.is_problem(401, "BAD_LINK");
    let by_name = format!("/api/v1/workflow-runs/{run}/waitpoints/no?{yes_token}");
    call(&host, &by_name, json!(1)).await.is_problem(401, "BAD_LINK");
    assert_eq!(call(&host, &yes, json!(1)).await.status, 200);
    assert_eq!(host.waitpoint(&run).await["stepName"], "no");
}
