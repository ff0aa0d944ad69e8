//! A disk that is full or does not sync, under the real binary: nothing is acknowledged while it lasts, the answer
//! says why, and all goes on when it ends. A few lines of C stand between the process and the disk.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use abide_testkit::http::{Answer, Http};
use abide_testkit::serve::Process;
use serde_json::{Value, json};

fn on_a_failing_disk() -> (Process, Http) {
    let folder = tempfile::tempdir().unwrap();
    let shim = folder.path().join("failing_disk.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/real/failing_disk.c");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&shim).arg(source).status().unwrap();
    assert!(built.success());
    let trouble = folder.path().to_owned();
    let process = Process::start_with(
        env!("CARGO_BIN_EXE_abide"),
        folder,
        vec![("LD_PRELOAD", shim), ("ABIDE_TROUBLE", trouble)],
    );
    let mut http = Http::new(process.address());
    let steps = json!([{ "type": "wait", "name": "nap", "duration": "{{ input.nap }}" }]);
    let answer =
        http.post("/workflow-definitions", &json!({ "name": "nap", "version": "1", "steps": steps }), None);
    assert_eq!(answer.unwrap().status, 201);
    (process, http)
}

fn start(http: &mut Http, nap: &str) -> Answer {
    http.post("/workflow-runs", &json!({ "name": "nap", "input": { "nap": nap } }), None).unwrap()
}

fn run_of(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.body["id"].as_str().unwrap().to_owned()
}

fn until_completed(http: &mut Http, run: &str) -> Value {
    let begun = Instant::now();
    loop {
        let found = http.get(&format!("/workflow-runs/{run}")).unwrap();
        assert_eq!(found.status, 200, "{found:?}");
        if found.body["status"] == "COMPLETED" {
            return found.body;
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "{}", found.body);
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn a_disk_in_trouble_refuses_and_recovers(trouble: &str) {
    let (mut process, mut http) = on_a_failing_disk();
    let sleeps_through_it = run_of(&start(&mut http, "30ms"));
    let sign = process.folder().join(trouble);
    std::fs::write(&sign, "").unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(60) {
        let refused = start(&mut http, "1ms");
        assert_eq!(refused.status, 503, "{refused:?}");
        assert_eq!(refused.body["code"], "STORE_UNAVAILABLE", "{refused:?}");
    }
    std::fs::remove_file(&sign).unwrap();
    until_completed(&mut http, &sleeps_through_it);
    let after = run_of(&start(&mut http, "1ms"));
    until_completed(&mut http, &after);

    std::fs::write(&sign, "").unwrap();
    assert_eq!(start(&mut http, "1ms").status, 503);
    std::fs::remove_file(&sign).unwrap();
    process.kill_and_start_again();
    let mut http = Http::new(process.address());
    for run in [&sleeps_through_it, &after] {
        until_completed(&mut http, run);
    }
}

#[test]
fn a_link_is_not_used_up_by_a_decision_that_could_not_be_written() {
    let (process, mut http) = on_a_failing_disk();
    let steps = json!([{ "type": "webhook", "name": "sign" }]);
    let flow = json!({ "name": "sign", "version": "1", "steps": steps });
    assert_eq!(http.post("/workflow-definitions", &flow, None).unwrap().status, 201);
    let run = run_of(&http.post("/workflow-runs", &json!({ "name": "sign" }), None).unwrap());
    let waits = http.get(&format!("/waitpoints?runId={run}")).unwrap();
    let url = waits.body["data"][0]["resumeUrl"].as_str().unwrap().to_owned();
    let path = url.split_once("/api/v1").unwrap().1;
    let sign = process.folder().join("full");
    std::fs::write(&sign, "").unwrap();
    let refused = http.post(path, &json!("yes"), Some("k")).unwrap();
    assert_eq!((refused.status, &refused.body["code"]), (503, &json!("STORE_UNAVAILABLE")));
    std::fs::remove_file(&sign).unwrap();
    let taken = http.post(path, &json!("yes"), Some("k")).unwrap();
    assert_eq!(taken.status, 200, "{taken:?}");
    assert_eq!(until_completed(&mut http, &run)["output"]["body"], "yes");
}

#[test]
fn a_full_disk_refuses_and_recovers() {
    a_disk_in_trouble_refuses_and_recovers("full");
}

#[test]
fn r11_a_sync_that_fails_is_no_acknowledgement() {
    a_disk_in_trouble_refuses_and_recovers("unsynced");
}

/// The kernel's answer to a file beyond its limit is a signal that ends the process, unless that is ignored.
#[test]
fn a_file_that_may_not_grow_is_a_full_disk_and_ends_nobody() {
    let mut process = Process::start(env!("CARGO_BIN_EXE_abide"));
    let mut http = Http::new(process.address());
    let steps = json!([{ "type": "wait", "name": "nap", "duration": "{{ input.nap }}" }]);
    let flow = json!({ "name": "nap", "version": "1", "steps": steps });
    assert_eq!(http.post("/workflow-definitions", &flow, None).unwrap().status, 201);
    let run = run_of(&start(&mut http, "1h"));
    let log = std::fs::metadata(process.folder().join("abide.db-wal")).unwrap().len();
    process.limit_files(&format!("{log}:"));
    let refused = start(&mut http, "1ms");
    assert_eq!((refused.status, &refused.body["code"]), (503, &json!("STORE_UNAVAILABLE")), "{refused:?}");
    assert_eq!(http.get(&format!("/workflow-runs/{run}")).unwrap().body["status"], "WAITING");
    process.limit_files("unlimited:");
    let after = run_of(&start(&mut http, "1ms"));
    until_completed(&mut http, &after);
    process.kill_and_start_again();
    assert_eq!(Http::new(process.address()).get(&format!("/workflow-runs/{run}")).unwrap().status, 200);
}
