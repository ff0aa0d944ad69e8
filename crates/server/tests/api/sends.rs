//! Senders as they are: every message at least once, in any order, over and over, until they hear a yes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use abide_core::history::Change;
use abide_core::id::RunId;
use abide_core::random::Random;
use abide_core::status::RunStatus;
use hyper::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::host::Host;

const SENDERS: usize = 16;

struct Message {
    method: Method,
    url: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

/// The ways in which a message is known to be the same.
fn message(number: usize, url: &str) -> Message {
    let json = |more: Vec<(&'static str, String)>, url: String| {
        let headers = [("content-type", "application/json".to_owned())].into_iter().chain(more).collect();
        let body = json!({ "message": number }).to_string().into_bytes();
        Message { method: Method::POST, url, headers, body }
    };
    match number % 6 {
        0 => json(Vec::new(), url.to_owned()),
        1 => json(vec![("webhook-id", format!("msg_{number}"))], url.to_owned()),
        2 => json(vec![("idempotency-key", format!("key-{number}"))], url.to_owned()),
        3 => json(Vec::new(), url.replace("?token=", "/sync?token=")),
        4 => {
            let headers = vec![("content-type", "image/png".to_owned())];
            Message { method: Method::PUT, url: url.to_owned(), headers, body: vec![0xff, number as u8] }
        }
        _ => Message {
            method: Method::GET,
            url: format!("{url}&paid={number}"),
            headers: Vec::new(),
            body: Vec::new(),
        },
    }
}

/// Seed: "Duplicate callbacks are absorbed." `ABIDE_SENDS=10000` sends that many of each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_sent_twice_in_any_order_hears_a_yes_each_time_and_each_run_goes_on_once() {
    let asked = std::env::var("ABIDE_SENDS").ok().and_then(|count| count.parse().ok());
    let messages: usize = asked.unwrap_or(300);
    let host = Arc::new(Host::start().await);
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [
        { "type": "webhook", "name": "called", "allowGet": true, "allowSync": true, "saveAs": "call" },
    ] }))
    .await;
    let mut runs: Vec<RunId> = Vec::new();
    let mut queue: VecDeque<Message> = VecDeque::new();
    for number in 0..messages {
        let run = host.start_run("flow", json!({})).await;
        let wait = host.waitpoint(&run).await;
        let url = wait["resumeUrl"].as_str().unwrap();
        queue.extend([message(number, url), message(number, url)]);
        runs.push(run.parse().unwrap());
    }
    let mut random = Random::new(7);
    for last in (1..queue.len()).rev() {
        queue.swap(last, random.below(last as u64 + 1) as usize);
    }
    let queue = Arc::new(Mutex::new(queue));
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        let (host, queue) = (Arc::clone(&host), Arc::clone(&queue));
        senders.spawn(async move {
            let mut repeats = 0;
            loop {
                let Some(message) = queue.lock().unwrap().pop_front() else { return repeats };
                let headers: Vec<(&str, &str)> =
                    message.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let reply = host.raw(message.method, &message.url, &headers, message.body.into()).await;
                assert!((200..300).contains(&reply.status), "{}: {}", message.url, reply.text);
                repeats += usize::from(reply.header("idempotency-replayed") == Some("true"));
            }
        });
    }
    let repeats: usize = senders.join_all().await.into_iter().sum();
    assert_eq!(repeats, messages, "of two, one is the repeat");
    for run in runs {
        let stored = host.engine.run(run).history().await.unwrap().unwrap();
        let is_end = |change: &Change| matches!(change, Change::WaitResolved { .. });
        assert_eq!(stored.history.iter().filter(|record| is_end(&record.change)).count(), 1);
        assert_eq!(host.engine.run(run).get().await.unwrap().status, RunStatus::Completed);
    }
}
