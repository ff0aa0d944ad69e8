//! Three workflows that once stopped everybody, also after a restart: runs that start runs, a map that renders much, an
//! input that takes for ever to check. Each behind a timer, in a workspace of its own, on the real binary, while others
//! work. They are bounded or fail with a name; the others are served; a kill in the middle changes nothing of that.
//!
//! `ABIDE_POISON=full` is the whole dose, with bounds on time that only a quiet machine and a release build keep:
//! `ABIDE_POISON=full cargo nextest run --release --workspace --no-capture -E 'test(poison::)'`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use abide_testkit::http::Http;
use abide_testkit::serve::Process;
use serde_json::{Value, json};

/// How much of it.
struct Dose {
    /// Children, each with as many grandchildren as the second says.
    runs: (usize, usize),
    /// Items of a map, and the bytes that are rendered for each.
    items: (usize, usize),
    /// How many runs each of the others has at least, before the kill and after.
    turns: usize,
    /// The others' p99, and the time until the first of them is served again, where that is asked for.
    bounds: Option<(Duration, Duration)>,
}

impl Dose {
    fn asked_for() -> Dose {
        match std::env::var("ABIDE_POISON").as_deref() {
            Ok("full") => Dose {
                runs: (1_000, 100),
                items: (10_000, 950_000),
                turns: 2_000,
                bounds: Some((Duration::from_millis(100), Duration::from_secs(2))),
            },
            _ => Dose { runs: (50, 20), items: (1_000, 500_000), turns: 50, bounds: None },
        }
    }
}

/// What the server may take, whatever it is given.
const RESIDENT: usize = 1 << 30;
/// Others that work at the same time.
const OTHERS: usize = 4;

fn numbers(count: usize) -> Value {
    (0..count).collect()
}

fn posted(http: &mut Http, path: &str, body: &Value) -> Value {
    let answer = http.post(path, body, None).unwrap();
    assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
    answer.body
}

fn deploy(http: &mut Http, name: &str, schema: Option<Value>, steps: &Value) {
    let mut definition = json!({ "name": name, "version": "1", "steps": steps });
    if let Some(schema) = schema {
        definition["inputSchema"] = schema;
    }
    posted(http, "/workflow-definitions", &definition);
}

/// A key of a workspace of its own.
fn tenant(http: &mut Http, name: &str) -> String {
    let made = posted(http, "/workspaces", &json!({ "name": name }));
    let key = json!({ "name": name, "scopes": ["admin"], "workspace": made["id"] });
    posted(http, "/keys", &key)["secret"].as_str().unwrap().to_owned()
}

/// Stores the three, and starts one of each.
fn swallow(http: &mut Http, dose: &Dose) -> [String; 3] {
    let wait = json!({ "type": "wait", "name": "before", "duration": "1s" });
    let nap = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    let map = |step: Value, items: &str| json!({ "type": "map", "name": "each", "items": items, "concurrency": 1_000, "step": step });
    let child = |of: &str, input: Value| json!({ "type": "workflow", "definition": of, "input": input });
    deploy(http, "leaf", None, &nap);
    deploy(http, "inner", None, &json!([map(child("leaf", json!({})), "input.few")]));
    let few = json!({ "few": "{{ input.few }}" });
    deploy(http, "bomb", None, &json!([wait, map(child("inner", few), "input.many")]));
    let task = json!({ "type": "task", "handler": "nobody", "input": { "x": "{{ input.big }}" } });
    deploy(http, "render", None, &json!([wait, map(task, "input.items")]));
    let twice = json!({ "items": { "allOf": [{ "$ref": "#" }, { "$ref": "#" }] } });
    deploy(http, "deep", Some(twice), &nap);
    let checked =
        json!({ "type": "workflow", "name": "child", "definition": "deep", "input": "{{ input }}" });
    deploy(http, "schema", None, &json!([wait, checked]));
    let (runs, items) = (dose.runs, dose.items);
    let inputs = [
        ("bomb", json!({ "many": numbers(runs.0), "few": numbers(runs.1) })),
        ("render", json!({ "items": numbers(items.0), "big": "x".repeat(items.1) })),
        ("schema", (0..95).fold(json!([]), |inner, _| json!([inner]))),
    ];
    inputs.map(|(name, input)| {
        let run = posted(http, "/workflow-runs", &json!({ "name": name, "input": input }));
        run["id"].as_str().unwrap().to_owned()
    })
}

/// Somebody else at work: starts a run, tells it something, and looks at it, so many times and until all is over.
fn other(address: SocketAddr, key: String, turns: usize, over: Arc<AtomicBool>) -> JoinHandle<Vec<Duration>> {
    thread::spawn(move || {
        let mut http = Http::new(address).with_key(&key);
        let mut times = Vec::new();
        let mut timed = |ask: &mut dyn FnMut() -> Value| {
            let begun = Instant::now();
            let answer = ask();
            times.push(begun.elapsed());
            answer
        };
        let mut turn = 0;
        while turn < turns || !over.load(Ordering::Relaxed) {
            turn += 1;
            let started = timed(&mut || posted(&mut http, "/workflow-runs", &json!({ "name": "order" })));
            let run = started["id"].as_str().unwrap().to_owned();
            let signal = json!({ "signalType": "paid", "payload": 1 });
            timed(&mut || posted(&mut http, &format!("/workflow-runs/{run}/resume"), &signal));
            timed(&mut || {
                let found = http.get(&format!("/workflow-runs/{run}")).unwrap();
                assert_eq!(found.body["status"], "COMPLETED", "{found:?}");
                found.body
            });
        }
        times
    })
}

/// Watches others at work until what goes on beside them is over. Gives how long their requests took, in order.
fn watch(address: SocketAddr, key: &str, dose: &Dose, beside: impl FnOnce()) -> Vec<Duration> {
    let over = Arc::new(AtomicBool::new(false));
    let other = |_| other(address, key.to_owned(), dose.turns, Arc::clone(&over));
    let others: Vec<_> = (0..OTHERS).map(other).collect();
    beside();
    over.store(true, Ordering::Relaxed);
    let mut times: Vec<Duration> = others.into_iter().flat_map(|other| other.join().unwrap()).collect();
    times.sort_unstable();
    times
}

/// Looks again until it is so; a test that waits for ever is stopped by its runner.
fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_millis(10));
    }
}

fn at(times: &[Duration], percent: usize) -> Duration {
    times[(times.len() - 1) * percent / 100]
}

#[test]
fn poison_behind_a_timer_is_bounded_and_others_are_served_through_a_kill_too() {
    let dose = Dose::asked_for();
    let mut process = Process::start(env!("CARGO_BIN_EXE_abide"));
    let address = process.address();
    let mut open = Http::new(address);
    let admin = json!({ "name": "root", "scopes": ["admin"] });
    let admin = posted(&mut open, "/keys", &admin)["secret"].as_str().unwrap().to_owned();
    let (culprit, others) = (tenant(&mut open, "culprit"), tenant(&mut open, "others"));
    process.start_again_with(vec![("ABIDE_AUTH", PathBuf::from("required"))]);
    let mut http = Http::new(address).with_key(&others);
    let steps = json!([{ "type": "external_event", "name": "pay", "signalType": "paid" }]);
    deploy(&mut http, "order", None, &steps);

    let mut http = Http::new(address).with_key(&culprit);
    let [bomb, render, schema] = swallow(&mut http, &dose);
    let before = watch(address, &others, &dose, || {
        until(|| http.get(&format!("/workflow-runs/{render}")).unwrap().body["status"] == "RUNNING");
    });
    let first = process.peak_bytes();
    let killed = Instant::now();
    process.kill_and_start_again();
    let mut http = Http::new(address).with_key(&others);
    posted(&mut http, "/workflow-runs", &json!({ "name": "order" }));
    let served_after = killed.elapsed();
    let after = watch(address, &others, &dose, || {});
    let peak = first.max(process.peak_bytes());
    println!(
        "others: {} requests, p50 {:?}, p99 {:?}, longest {:?}; after a kill: served after {served_after:?}, {} requests, \
         p99 {:?}, longest {:?}; resident {} MB at most",
        before.len(),
        at(&before, 50),
        at(&before, 99),
        at(&before, 100),
        after.len(),
        at(&after, 99),
        at(&after, 100),
        peak >> 20
    );
    assert!(peak < RESIDENT, "{} MB", peak >> 20);
    if let Some((p99, restart)) = dose.bounds {
        assert!(at(&before, 99) <= p99 && at(&after, 99) <= p99 && served_after <= restart);
    }

    // The culprits say what became of them.
    let mut http = Http::new(address).with_key(&culprit);
    let mut run = |id: &str| http.get(&format!("/workflow-runs/{id}")).unwrap().body;
    assert_eq!(run(&render)["status"], "RUNNING", "its items wait for a worker");
    let mut http = Http::new(address).with_key(&culprit);
    until(|| {
        let history = http.get(&format!("/workflow-runs/{schema}/events")).unwrap().body.to_string();
        history.contains("the work of checking the input")
    });
    let status = run(&bomb)["status"].clone();
    assert!(status == "WAITING" || status == "RUNNING" || status == "FAILED", "{status}");
    let mut http = Http::new(address).with_key(&admin);
    assert_eq!(http.get("/held").unwrap().body["data"], json!([]), "nobody had to be held");
}
