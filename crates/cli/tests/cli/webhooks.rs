//! kill -9 between the commit and the call, and in the middle of the call: what was to be told is told by the next
//! process, under the same id, signed so that the published library verifies it.

#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use ::http::{HeaderMap, HeaderName, HeaderValue};
use abide_testkit::http::{Answer, Http};
use abide_testkit::serve::Process;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

/// What came, and the connection that waits for an answer.
struct Call {
    headers: HeaderMap,
    body: Vec<u8>,
    stream: TcpStream,
}

impl Call {
    fn id(&self) -> String {
        self.headers["webhook-id"].to_str().unwrap().to_owned()
    }

    fn answer(mut self, status: &str) {
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        self.stream.write_all(answer.as_bytes()).unwrap();
    }
}

fn accept(listener: &TcpListener) -> Call {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "the call was cut");
        read.extend_from_slice(&buffer[..count]);
        let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(read[..end].to_vec()).unwrap();
        let headers: HeaderMap = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect();
        let length: usize = headers["content-length"].to_str().unwrap().parse().unwrap();
        if read.len() >= end + 4 + length {
            return Call { headers, body: read[end + 4..].to_vec(), stream };
        }
    }
}

fn ask(http: &mut Http, path: &str, body: Value) -> Value {
    let Answer { status, body } = http.post(path, &body, None).unwrap();
    assert!(status < 300, "{path}: {status} {body}");
    body
}

/// A server with one webhook, and its secret.
fn server(receiver: SocketAddr) -> (Process, String) {
    let environment = vec![("ABIDE_ALLOW_ADDRESS", "127.0.0.1".into())];
    let process = Process::start_with(env!("CARGO_BIN_EXE_abide"), tempfile::tempdir().unwrap(), environment);
    let mut http = Http::new(process.address());
    let hook = json!({ "url": format!("http://{receiver}/hook"), "events": ["workflow.completed"] });
    let secret = ask(&mut http, "/webhooks", hook)["secret"].as_str().unwrap().to_owned();
    let steps = json!([{ "type": "respond", "name": "say", "body": "hello" }]);
    ask(&mut http, "/workflow-definitions", json!({ "name": "greet", "version": "1", "steps": steps }));
    (process, secret)
}

fn start(process: &Process) -> String {
    let mut http = Http::new(process.address());
    let started = ask(&mut http, "/workflow-runs?wait=10s", json!({ "name": "greet", "input": {} }));
    assert_eq!(started["status"], "COMPLETED");
    started["id"].as_str().unwrap().to_owned()
}

fn check(call: &Call, secret: &str, run: &str) {
    Webhook::new(secret).unwrap().verify(&call.body, &call.headers).unwrap();
    let told: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!((&told["type"], &told["data"]["runId"]), (&json!("workflow.completed"), &json!(run)));
}

#[test]
fn what_was_committed_and_not_sent_is_sent_by_the_next_process() {
    // Nobody listens there until the process was killed.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (mut process, secret) = server(address);
    let run = start(&process);
    let listener = TcpListener::bind(address).unwrap();
    process.kill_and_start_again();
    let call = accept(&listener);
    check(&call, &secret, &run);
    let shown = Http::new(process.address()).get("/webhooks").unwrap().body;
    assert_eq!(
        shown["data"][0]["url"],
        format!("http://{address}/hook"),
        "the webhook outlives the kill too"
    );
    call.answer("200 OK");
}

#[test]
fn a_call_that_was_cut_by_a_kill_is_made_again_under_the_same_id() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut process, secret) = server(listener.local_addr().unwrap());
    let run = start(&process);
    let first = accept(&listener);
    check(&first, &secret, &run);
    process.kill_and_start_again();
    let again = accept(&listener);
    check(&again, &secret, &run);
    assert_eq!(again.id(), first.id());
    again.answer("204 No Content");
}
