//! `examples/shell-worker.sh`, a worker made of curl and a loop, against the real server: it pauses with a checkpoint, is
//! killed while it rests and while it works, and others go on.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use abide_testkit::http::Http;
use abide_testkit::serve::Process;
use serde_json::{Value, json};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A worker, in a process group of its own with the commands that it runs.
struct Worker(Child);

impl Worker {
    fn start(process: &Process, name: &str, rest: &str, read: &str) -> Worker {
        let worker = Command::new("sh")
            .arg(examples().join("shell-worker.sh"))
            .env("ABIDE_SERVER", format!("http://{}", process.address()))
            .envs([("WORKER", name), ("REST", rest), ("READ", read), ("LEASE_MS", "500")])
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        Worker(worker)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        drop(Command::new("kill").args(["-9", "--", &group]).status());
        drop(self.0.wait());
    }
}

/// Looks again until something is there.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "it does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn records(http: &mut Http, run: &str, kind: &str) -> Vec<Value> {
    let history = http.get(&format!("/workflow-runs/{run}/events?limit=500")).unwrap();
    let records = history.body["data"].as_array().unwrap().iter();
    records.filter(|record| record["type"] == kind).cloned().collect()
}

#[test]
fn a_worker_of_curl_and_a_loop_pauses_is_killed_and_others_go_on() {
    let process = Process::start(env!("CARGO_BIN_EXE_abide"));
    let mut http = Http::new(process.address());
    let workflow = std::fs::read_to_string(examples().join("page-reader.json")).unwrap();
    let workflow: Value = serde_json::from_str(&workflow).unwrap();
    assert_eq!(http.post("/workflow-definitions", &workflow, None).unwrap().status, 201);
    let started =
        http.post("/workflow-runs", &json!({ "name": "page-reader", "input": { "pages": 4 } }), None);
    let run = started.unwrap().body["id"].as_str().unwrap().to_owned();

    // Killed while it rests.
    let first = Worker::start(&process, "first", "1h", "true");
    let rest = until(|| {
        let waits = http.get(&format!("/waitpoints?runId={run}&kind=PAUSE&status=PENDING")).unwrap();
        waits.body["data"][0]["id"].as_str().map(str::to_owned)
    });
    drop(first);
    assert_eq!(http.post(&format!("/waitpoints/{rest}/complete"), &json!({}), None).unwrap().status, 200);

    // Killed while it works: the task comes back when its lease is over.
    let second = Worker::start(&process, "second", "1h", "sleep 600");
    until(|| (records(&mut http, &run, "TASK_STARTED").last()?["worker"] == "second").then_some(()));
    drop(second);

    let _third = Worker::start(&process, "third", "10ms", "true");
    let ended = until(|| {
        let found = http.get(&format!("/workflow-runs/{run}")).unwrap().body;
        found["endedAt"].is_string().then_some(found)
    });
    assert_eq!(
        (&ended["status"], &ended["output"]),
        (&json!("COMPLETED"), &json!({ "pages": 4, "by": "third" }))
    );
    let step = &ended["steps"][0];
    assert_eq!((&step["attempt"], &step["status"]), (&json!(1), &json!("COMPLETED")));
    let names: Vec<Value> = records(&mut http, &run, "TASK_PAUSED")
        .iter()
        .map(|record| record["opens"]["name"].clone())
        .collect();
    assert_eq!(names, ["after-page-1", "after-page-2", "after-page-3"], "no page was read twice");
}
