//! Ten thousand clients that wait, half of them for a run's history and half for a task: others are served as if they
//! were not there.
//!
//! `ABIDE_IDLE_MS=500` is a bound on the slowest of them, which only a quiet machine keeps.

#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use abide_testkit::http::Http;
use abide_testkit::serve::Process;
use serde_json::{Value, json};

const IDLE: u64 = 10_000;
/// What else the test has open.
const BESIDES: u64 = 200;
const STARTS: usize = 100;

/// How long the slowest answer may take, where that is asked for.
fn bound() -> Option<Duration> {
    let bound = std::env::var("ABIDE_IDLE_MS").ok()?;
    Some(Duration::from_millis(bound.parse().unwrap()))
}

fn metric(process: &Process, name: &str) -> f64 {
    let mut stream = TcpStream::connect(process.address()).unwrap();
    let request =
        format!("GET /metrics HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", process.address());
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("{text}")).rsplit(' ').next().unwrap().parse().unwrap()
}

fn stream(process: &Process, run: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(process.address()).unwrap();
    let request = format!(
        "GET /api/v1/workflow-runs/{run}/events HTTP/1.1\r\nhost: {}\r\naccept: text/event-stream\r\n\r\n",
        process.address()
    );
    stream.write_all(request.as_bytes()).unwrap();
    BufReader::with_capacity(1_024, stream)
}

fn poll(process: &Process, worker: u64) -> TcpStream {
    let mut stream = TcpStream::connect(process.address()).unwrap();
    let body =
        json!({ "handlers": ["pack"], "workerId": format!("w{worker}"), "waitMs": 300_000 }).to_string();
    let request = format!(
        "POST /api/v1/tasks/poll HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        process.address(),
        body.len(),
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// What the first of them hears that hears anything.
fn first_answer(polls: &[TcpStream]) -> Value {
    polls.iter().for_each(|poll| poll.set_nonblocking(true).unwrap());
    let mut heard = polls.iter().cycle().filter(|poll| poll.peek(&mut [0]).is_ok());
    let poll = heard.next().unwrap();
    poll.set_nonblocking(false).unwrap();
    let (mut answer, mut length) = (BufReader::new(poll), 0);
    loop {
        let mut line = String::new();
        answer.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None if line.starts_with("HTTP/1.1 200") => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn ten_thousand_idle_streams_and_polls_leave_a_start_as_quick_as_before() {
    let idle = rlimit::increase_nofile_limit(IDLE + BESIDES).unwrap().saturating_sub(BESIDES).min(IDLE);
    let process = Process::start(env!("CARGO_BIN_EXE_abide"));
    let mut http = Http::new(process.address());
    let nap = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    let pack = json!([{ "type": "task", "name": "pack", "handler": "pack" }]);
    for (name, steps) in [("sleeper", nap), ("packer", pack)] {
        let flow = json!({ "name": name, "version": "1", "steps": steps });
        assert_eq!(http.post("/workflow-definitions", &flow, None).unwrap().status, 201);
    }
    let start = |http: &mut Http, name: &str| {
        let begun = Instant::now();
        let started = http.post("/workflow-runs", &json!({ "name": name }), None).unwrap();
        assert_eq!(started.status, 201, "{started:?}");
        (started.body["id"].as_str().unwrap().to_owned(), begun.elapsed())
    };
    let (run, _) = start(&mut http, "sleeper");
    let begun = Instant::now();
    let mut streams: Vec<_> = (0..idle / 2).map(|_| stream(&process, &run)).collect();
    let polls: Vec<_> = (0..idle / 2).map(|worker| poll(&process, worker)).collect();
    for stream in &mut streams {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 200 OK\r\n");
    }
    let opened = begun.elapsed();
    let open = metric(&process, "abide_http_connections");
    assert!(open >= idle as f64, "{open}");

    // The first connection may have been idle for too long.
    let mut http = Http::new(process.address());
    let mut took: Vec<Duration> = (0..STARTS).map(|_| start(&mut http, "sleeper").1).collect();
    took.sort();
    println!(
        "{idle} idle after {:?}; starts: median {:?}, slowest {:?}",
        opened,
        took[STARTS / 2],
        took[STARTS - 1]
    );
    assert!(bound().is_none_or(|bound| took[STARTS - 1] < bound), "{:?}", took[STARTS - 1]);
    let open = metric(&process, "abide_http_connections");
    assert!(open >= idle as f64, "they were served while all others waited, not after them: {open}");

    // They are idle, not forgotten: one of them gets the task, and every stream hears how its run ends.
    let (packed, _) = start(&mut http, "packer");
    let task = first_answer(&polls);
    assert_eq!(task["tasks"][0]["runId"], packed.as_str());
    assert_eq!(http.post(&format!("/workflow-runs/{run}/cancel"), &json!({}), None).unwrap().status, 200);
    for stream in &mut streams {
        let mut heard = String::new();
        while !heard.contains("WORKFLOW_CANCELLED") {
            assert!(stream.read_line(&mut heard).unwrap() > 0, "{heard}");
        }
    }
}
