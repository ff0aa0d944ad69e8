//! The pages about webhooks, schedules and approvals, request by request, as a reader would send them. Ids that a page
//! leaves open (`run_…`) are those that an answer named last.

use std::collections::HashMap;

use hyper::Method;
use hyper::body::Bytes;

use crate::host::Host;

const IDS: [&str; 5] = ["run_", "wp_", "sch_", "whk_", "msg_"];

async fn walk(page: &str) -> usize {
    let host = Host::start().await;
    let mut known: HashMap<&str, String> = HashMap::new();
    let mut sent = 0;
    for block in page.split("```http\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (line, body) = block.split_once('\n').unwrap();
        let (method, path) = line.split_once(' ').unwrap();
        let mut path = path.to_owned();
        for (prefix, id) in &known {
            path = path.replace(&format!("{prefix}…"), id);
        }
        assert!(!path.contains('…'), "no answer named what `{path}` leaves open");
        let method: Method = method.parse().unwrap();
        let headers = [("content-type", "application/json")];
        let headers = if body.trim().is_empty() { &headers[..0] } else { &headers[..] };
        let reply = host.raw(method, &host.url(&path), headers, Bytes::from(body.to_owned())).await;
        assert!(reply.status < 300, "{line}: {}", reply.text);
        for prefix in IDS {
            // The first: an answer names its own thing before others.
            if let Some(at) = reply.text.find(&format!("\"{prefix}")) {
                let id = reply.text[at + 1..].split('"').next().unwrap();
                known.insert(prefix, id.to_owned());
            }
        }
        sent += 1;
    }
    host.stop().await;
    sent
}

#[tokio::test]
async fn every_request_of_the_page_about_webhooks_is_answered() {
    assert_eq!(walk(include_str!("../../../../docs/guides/webhooks.md")).await, 7);
}

#[tokio::test]
async fn every_request_of_the_page_about_schedules_is_answered() {
    assert_eq!(walk(include_str!("../../../../docs/guides/schedules.md")).await, 9);
}

#[tokio::test]
async fn every_request_of_the_page_about_approvals_is_answered() {
    assert_eq!(walk(include_str!("../../../../docs/guides/approvals.md")).await, 5);
}
