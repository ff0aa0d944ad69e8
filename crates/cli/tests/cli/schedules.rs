//! kill -9, again and again, while a schedule comes every second: each occurrence starts one run, and none is left out.

#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::time::{Duration, Instant};

use abide_core::random::Random;
use abide_testkit::http::{Answer, Http};
use abide_testkit::serve::Process;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// Occurrences that must have come, and how often the process is killed meanwhile.
const OCCURRENCES: usize = 6;
const KILLS: u64 = 12;
const PATIENCE: Duration = Duration::from_secs(300);

fn ask(process: &Process, path: &str, body: &Value) -> Value {
    let Answer { status, body } = Http::new(process.address()).post(path, body, None).unwrap();
    assert!(status < 300, "{path}: {status} {body}");
    body
}

fn get(process: &Process, path: &str) -> Value {
    Http::new(process.address()).get(path).unwrap().body
}

#[test]
fn each_occurrence_starts_one_run_however_often_the_process_is_killed() {
    let mut process = Process::start(env!("CARGO_BIN_EXE_abide"));
    let steps = json!([{ "type": "external_event", "name": "wait", "signalType": "go" }]);
    ask(&process, "/workflow-definitions", &json!({ "name": "tick", "version": "1", "steps": steps }));
    let plan =
        json!({ "name": "tick", "definition": "tick", "every": "1s", "overlap": "allow", "catchUp": "all" });
    ask(&process, "/schedules", &plan);
    let mut random = Random::new(7);
    for _ in 0..KILLS {
        std::thread::sleep(Duration::from_millis(random.below(600)));
        process.kill_and_start_again();
    }
    let begun = Instant::now();
    let runs = loop {
        let runs = get(&process, "/workflow-runs?limit=500")["data"].as_array().unwrap().clone();
        if runs.len() >= OCCURRENCES {
            break runs;
        }
        assert!(begun.elapsed() < PATIENCE, "{} runs", runs.len());
        std::thread::sleep(Duration::from_millis(50));
    };
    let mut occurrences: Vec<Timestamp> = Vec::new();
    for run in &runs {
        let history = get(&process, &format!("/workflow-runs/{}/events", run["id"].as_str().unwrap()));
        let occurrence = history["data"][0]["scheduled"]["occurrence"].as_str().unwrap();
        occurrences.push(occurrence.parse().unwrap());
    }
    occurrences.sort_unstable();
    for two in occurrences.windows(2) {
        assert_eq!(two[1].duration_since(two[0]), SignedDuration::from_secs(1), "{occurrences:?}");
    }
}
