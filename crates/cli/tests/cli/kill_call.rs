//! kill -9 in the middle of a call that the engine makes for durable code, and between the failure of a run and the call of
//! its `onFailure` handler. Nothing is lost: the call is made again, under the same idempotency key, and the handler is called.

#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use abide_testkit::http::Http;
use abide_testkit::serve::Process;
use serde_json::{Value, json};

/// How long something is waited for before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn a_call_that_was_under_way_is_made_again_and_its_answer_reaches_the_code() {
    let (receiver, calls) = silent_once();
    let settings = vec![("ABIDE_ALLOW_ADDRESS", PathBuf::from("127.0.0.1"))];
    let mut process =
        Process::start_with(env!("CARGO_BIN_EXE_abide"), tempfile::tempdir().unwrap(), settings);
    let http = &mut Http::new(process.address());
    deploy(http, &json!({"name": "desk", "steps": [{"name": "desk", "type": "task", "handler": "desk"}]}));
    let run = start(http, "desk");
    let task = poll(http, "desk");
    let url = format!("http://{receiver}/rate");
    let wait = json!({"type": "http", "name": "rate", "url": url, "method": "POST", "body": {"n": 1}});
    report(http, &task, "suspend", json!({"waits": [wait]}));
    let first = calls.recv_timeout(PATIENCE).unwrap();
    process.kill_and_start_again();
    let again = poll(http, "desk");
    let payload = &again["journal"][0]["wait"]["payload"];
    assert_eq!((&payload["status"], &payload["output"]["body"]), (&json!("COMPLETED"), &json!({"rate": 3})));
    assert_eq!(calls.recv_timeout(PATIENCE).unwrap(), first, "another attempt at the same order");
    report(http, &again, "complete", json!({"output": payload["output"]["status"]}));
    assert_eq!(ended(http, &run)["output"], 200);
}

#[test]
fn a_run_that_failed_before_the_kill_calls_its_handler_after_it() {
    let mut process = Process::start(env!("CARGO_BIN_EXE_abide"));
    let http = &mut Http::new(process.address());
    let pay = json!({"name": "pay", "type": "task", "handler": "pay", "retry": {"maxAttempts": 1}});
    deploy(http, &json!({"name": "order", "steps": [pay], "onFailure": {"handler": "tell-ops"}}));
    let run = start(http, "order");
    let task = poll(http, "pay");
    report(http, &task, "fail", json!({"message": "declined"}));
    process.kill_and_start_again();
    let failed = ended(http, &run);
    let called = poll(http, "tell-ops");
    assert_eq!((&failed["handledBy"], &called["input"]["run"]["id"]), (&called["runId"], &json!(run)));
    report(http, &called, "complete", json!({"output": "told"}));
    assert_eq!(ended(http, called["runId"].as_str().unwrap())["status"], "COMPLETED");
}

/// Says nothing to the first who calls, and answers all others. Tells the idempotency key of each call.
fn silent_once() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (told, calls) = channel();
    std::thread::spawn(move || {
        let mut silent: Option<TcpStream> = None;
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length, mut key) = (String::new(), 0, String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let (name, value) = line.split_once(": ").unwrap_or_default();
                match name.to_ascii_lowercase().as_str() {
                    "content-length" => length = value.trim().parse().unwrap(),
                    "idempotency-key" => key = value.trim().to_owned(),
                    _ => {}
                }
                line.clear();
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            if silent.is_none() {
                silent = Some(stream);
            } else {
                let body = json!({"rate": 3}).to_string();
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
                drop(write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
            }
            drop(told.send(key));
        }
    });
    (address, calls)
}

fn deploy(http: &mut Http, document: &Value) {
    let answer = http.post("/workflow-definitions", document, None).unwrap();
    assert_eq!(answer.status, 201, "{answer:?}");
}

fn start(http: &mut Http, name: &str) -> String {
    let answer = http.post("/workflow-runs", &json!({"name": name, "input": {}}), None).unwrap();
    answer.body["id"].as_str().unwrap().to_owned()
}

fn poll(http: &mut Http, handler: &str) -> Value {
    let asked = json!({"handlers": [handler], "maxTasks": 1, "waitMs": 2_000, "workerId": "w"});
    until(|| http.post("/tasks/poll", &asked, None).ok()?.body["tasks"].get(0).cloned())
}

fn report(http: &mut Http, task: &Value, how: &str, mut body: Value) {
    body["leaseToken"] = task["leaseToken"].clone();
    let path = format!("/tasks/{}/{how}", task["id"].as_str().unwrap());
    let answer = http.post(&path, &body, None).unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn ended(http: &mut Http, run: &str) -> Value {
    until(|| {
        let run = http.get(&format!("/workflow-runs/{run}")).ok()?.body;
        ["COMPLETED", "FAILED", "CANCELLED"].iter().any(|ended| run["status"] == *ended).then_some(run)
    })
}

fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}
