use hyper::Method;
use serde_json::{Value, json};

use crate::approvals::asked;
use crate::host::{Host, Reply};

const HTML: [(&str, &str); 1] = [("accept", "text/html,application/xhtml+xml")];
const FORM: [(&str, &str); 2] =
    [("accept", "text/html"), ("content-type", "application/x-www-form-urlencoded")];

fn confirm(wait: &Value) -> String {
    wait["resumeUrl"].as_str().unwrap().replace("?token=", "/confirm?token=")
}

#[track_caller]
fn is_page(reply: &Reply, status: u16, holds: &str) {
    assert_eq!(reply.status, status, "{}", reply.text);
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(reply.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert!(reply.text.contains(holds), "{holds}: {}", reply.text);
    assert!(!reply.text.contains("<script"), "{}", reply.text);
}

#[tokio::test]
async fn a_browser_gets_a_page_that_asks_and_then_shows_what_was_decided() {
    let host = Host::start().await;
    let (run, _) = asked(&host, json!({ "prompt": "Send <this>?" })).await;
    let url = confirm(&host.waitpoint(&run).await);
    for _ in 0..2 {
        let page = host.raw(Method::GET, &url, &HTML, "".into()).await;
        is_page(&page, 200, "Send &lt;this&gt;?");
        assert!(page.text.contains("value=\"approve\"") && page.text.contains("value=\"reject\""));
    }
    assert_eq!(host.run(&run).await["status"], "WAITING");
    let sent = host.raw(Method::POST, &url, &FORM, "comment=fine&decision=reject".into()).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    let shown = host.raw(Method::GET, sent.header("location").unwrap(), &HTML, "".into()).await;
    is_page(&shown, 200, "Rejected");
    let again = host.raw(Method::POST, &url, &FORM, "decision=approve".into()).await;
    is_page(&again, 409, "Rejected");
    assert!(!again.text.contains("<form"), "{}", again.text);
}

#[tokio::test]
async fn the_resume_url_itself_is_a_page_for_browsers() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "webhook", "name": "sign" }])).await;
    let url = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    let page = host.raw(Method::GET, &url, &HTML, "".into()).await;
    is_page(&page, 200, "Let <code>sign</code> go on?");
    let action = page.text.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(confirm(&json!({ "resumeUrl": url })).ends_with(action), "{action}");
    let sent = host.raw(Method::POST, action, &FORM, "confirmed=true".into()).await;
    assert_eq!(sent.status, 303);
    assert_eq!(host.run(&run).await["output"]["body"], json!({ "confirmed": "true" }));
    is_page(&host.raw(Method::GET, &url, &HTML, "".into()).await, 200, "Done");
}

#[tokio::test]
async fn a_link_that_is_not_good_shows_nothing_of_the_run() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "webhook", "name": "sign" }])).await;
    let url = confirm(&host.waitpoint(&run).await);
    let page = host.raw(Method::GET, &format!("{url}x"), &HTML, "".into()).await;
    is_page(&page, 401, "This link is not complete");
    assert!(!page.text.contains("sign</code>"));
}

#[tokio::test]
async fn a_page_tells_when_the_time_is_over() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "webhook", "name": "sign", "timeoutMs": 1000 }])).await;
    let url = confirm(&host.waitpoint(&run).await);
    let open = host.raw(Method::GET, &url, &HTML, "".into()).await;
    is_page(&open, 200, "Possible until");
    host.pass(1_000).await;
    is_page(&host.raw(Method::GET, &url, &HTML, "".into()).await, 200, "The time for this is over");
}

#[tokio::test]
async fn the_documentation_lists_every_route_and_every_code_and_loads_nothing() {
    let host = Host::start().await;
    let docs = host.raw(Method::GET, "/docs", &HTML, "".into()).await;
    is_page(&docs, 200, "/api/v1/workflow-runs/{id}/waitpoints/{waitpoint}");
    for code in abide_server::Code::ALL {
        assert!(docs.text.contains(&format!("id=\"{}\"", code.name())), "{code:?}");
    }
    for elsewhere in ["http://", "https://", "src=", "@import"] {
        assert!(!docs.text.contains(elsewhere), "{elsewhere}");
    }
}
