use hyper::Method;
use serde_json::json;

use crate::host::Host;

#[tokio::test]
async fn a_server_that_is_well_says_so() {
    let host = Host::start().await;
    for path in ["/health", "/ready"] {
        let reply = host.raw(Method::GET, path, &[], "".into()).await;
        assert_eq!((reply.status, &reply.json["status"]), (200, &json!("ok")));
    }
}

#[tokio::test]
async fn figures_count_runs_by_status_and_requests_by_class() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "1h" }])).await;
    host.raw(Method::GET, "/nowhere", &[], "".into()).await;
    let figures = host.raw(Method::GET, "/metrics", &[], "".into()).await;
    assert!(figures.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    for line in [
        "abide_runs{workspace=\"default\",status=\"WAITING\"} 1",
        "abide_http_responses_total{class=\"4xx\"} 1",
    ] {
        assert!(figures.text.lines().any(|said| said == line), "{line}\n{}", figures.text);
    }
    for line in figures.text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(
            value.parse::<f64>().is_ok() && (name.starts_with("abide_") || name.starts_with("process_")),
            "{line}"
        );
    }
}

#[tokio::test]
async fn every_answer_has_an_id_and_keeps_browsers_careful() {
    let host = Host::start().await;
    let reply = host.send(Method::GET, "/workers", &[("x-request-id", "mine-1")], None).await;
    assert_eq!(reply.header("x-request-id"), Some("mine-1"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert!(host.get("/workers").await.header("x-request-id").unwrap().starts_with("req_"));
}
