//! What one workspace, a page of another site or a reply of a run may not do.

use hyper::Method;
use serde_json::{Value, json};

use crate::host::{Host, Reply};
use crate::keys::locked;

/// An admin's key of another workspace than the default one.
async fn neighbour(host: &Host, admin: &str) -> String {
    let made = host.post_as(admin, "/workspaces", json!({ "name": "team" })).await;
    let key = json!({ "name": "bob", "scopes": ["admin"], "workspace": made.json["id"] });
    host.post_as(admin, "/keys", key).await.json["secret"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn figures_of_the_server_are_for_admins_of_the_default_workspace() {
    let (host, admin) = locked().await;
    let bob = neighbour(&host, &admin).await;
    let flow = json!({ "name": "flow", "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }] });
    host.post_as(&admin, "/workflow-definitions", flow).await;
    host.post_as(&admin, "/workflow-runs", json!({ "name": "flow" })).await;
    let reader = host.post_as(&admin, "/keys", json!({ "name": "scraper", "scopes": ["read"] })).await;
    let reader = reader.json["secret"].as_str().unwrap().to_owned();
    let figures =
        async |key: &str| host.raw(Method::GET, "/metrics", &[("x-api-key", key)], "".into()).await.text;
    assert!(figures(&admin).await.contains("abide_commits_total"));
    let waiting = |text: &str| {
        text.lines().any(|line| line.starts_with("abide_runs{") && line.ends_with("status=\"WAITING\"} 1"))
    };
    for (key, sees_the_run) in [(&reader, true), (&bob, false)] {
        let text = figures(key).await;
        assert!(!text.contains("abide_commits_total") && !text.contains("abide_http"), "{text}");
        assert_eq!(waiting(&text), sees_the_run, "{text}");
    }
    assert_eq!(host.get_as(&bob, "/overview").await.json["activity"]["samples"], json!([]));
}

#[tokio::test]
async fn time_is_moved_by_admins_of_the_default_workspace() {
    let (host, admin) = locked().await;
    let bob = neighbour(&host, &admin).await;
    let step = json!({ "advance": "1s" });
    host.post_as(&bob, "/test/clock", step.clone()).await.is_problem(403, "FORBIDDEN");
    assert_eq!(host.post_as(&admin, "/test/clock", step).await.status, 200);
}

#[tokio::test]
async fn without_keys_a_page_of_another_site_makes_a_browser_start_and_copy_nothing() {
    let host = Host::start().await;
    let flow = json!({ "name": "flow", "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }] });
    host.deploy(flow).await;
    let browser = ("user-agent", "Mozilla/5.0 (Macintosh) Version/15.0 Safari/605.1.15");
    let site = |site: &'static str| vec![browser, ("sec-fetch-site", site), ("sec-fetch-mode", "navigate")];
    let ask = async |path: &str, headers: &[(&str, &str)]| -> Reply {
        host.send(Method::GET, path, headers, None).await
    };
    for path in ["/triggers/flow", "/triggers/flow/sync?wait=1ms", "/backup"] {
        for headers in [vec![browser], site("cross-site"), site("same-site")] {
            ask(path, &headers).await.is_problem(403, "ORIGIN_REFUSED");
        }
        for headers in [vec![("user-agent", "curl/8.0")], Vec::new(), site("same-origin"), site("none")] {
            assert!(ask(path, &headers).await.status < 300, "{path} {headers:?}");
        }
    }
}

#[tokio::test]
async fn a_mailbox_and_the_pages_of_a_list_end_by_bytes() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "1h" }])).await;
    let large = "x".repeat(1_000_000);
    let path = format!("/workflow-runs/{run}/resume");
    let mut kept = 0;
    let refused = loop {
        let sent = host.post(&path, json!({ "signalType": "s", "payload": large })).await;
        if sent.status != 200 {
            break sent;
        }
        kept += 1;
    };
    refused.is_problem(422, "LIMIT_EXCEEDED");
    assert_eq!(kept, 16);
    let (mut cursor, mut seen, mut pages) = (Value::Null, 0, 0);
    loop {
        let at = cursor.as_str().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = host.get(&format!("/workflow-runs/{run}/events?limit=500{at}")).await;
        assert!(page.text.len() < 4_000_000, "{}", page.text.len());
        let records = page.json["data"].as_array().unwrap();
        for record in records {
            seen += 1;
            assert_eq!(record["seq"], seen);
        }
        pages += 1;
        cursor = page.json["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(seen > 16 && pages > 4, "{seen} records on {pages} pages");
    for event in 0..8 {
        let sent = host.post("/events", json!({ "eventId": format!("e{event}"), "eventData": large })).await;
        assert_eq!(sent.status, 200);
    }
    let (mut cursor, mut seen) = (String::new(), 0);
    loop {
        let page = host.get(&format!("/events?limit=500{cursor}")).await;
        seen += page.json["data"].as_array().unwrap().len();
        match page.json["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, 8);
}
