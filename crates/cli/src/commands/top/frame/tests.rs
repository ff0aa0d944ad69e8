use std::time::{Duration, Instant};

use abide_sdk::wire::{Health, Overview, Waitpoint, Worker};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::commands::top::look::Look;
use crate::commands::top::metrics::Metrics;
use crate::commands::top::view::Key;

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn metrics(started: u64) -> Metrics {
    Metrics::parse(&format!(
        "abide_build_info{{version=\"0.1.0\",store=\"sqlite\"}} 1\nabide_commits_total {started}\n\
         abide_runs_started_total{{workspace=\"default\",workflow=\"order\"}} {started}\n\
         abide_tasks_ready{{workspace=\"default\",handler=\"send-mail\"}} 3\nabide_tasks_leased{{workspace=\"default\",handler=\"send-mail\"}} 1\n\
         abide_tasks_oldest_ready_seconds{{workspace=\"default\",handler=\"send-mail\"}} 75\n\
         abide_commit_seconds_bucket{{le=\"0.002\"}} {started}\nabide_commit_seconds_bucket{{le=\"+Inf\"}} {started}\n\
         process_resident_memory_bytes 70000000\nprocess_start_time_seconds 1794996000\n"
    ))
}

fn look(taken: Instant, started: u64, waits: usize) -> Look {
    let wait = |number: usize| {
        json!({ "id": format!("wp_01jcexample{number}"), "runId": "run_01jcexample", "flowRunId": "run_01jcexample", "stepName": "cool-down",
                "name": "$step", "kind": "DELAY", "status": "PENDING", "listensFor": { "type": "time" },
                "createdAt": "2026-11-18T10:00:00Z", "resumeAt": "2026-11-18T10:00:20Z", "resumeDateTime": "2026-11-18T10:00:20Z",
                "definition": { "id": "def_1", "name": "order", "version": "1" } })
    };
    let waits: Vec<Waitpoint> = (0..waits).map(|number| read(wait(number))).collect();
    let overview: Overview = read(json!({
        "now": "2026-11-18T10:00:10Z",
        "runs": [{ "status": "RUNNING", "count": 4 }, { "status": "WAITING", "count": 12_040 }, { "status": "PAUSED", "count": 0 }],
        "waits": [{ "kind": "DELAY", "count": 10_000, "more": true }, { "kind": "EVENT", "count": 0, "more": false }],
        "overdue": { "count": 2, "more": false },
        "oldest": [],
        "activity": { "everyMs": 10_000, "samples": [] },
    }));
    let worker: Worker =
        read(json!({ "id": "w1", "handlers": ["send-mail"], "seenAt": "2026-11-18T10:00:09Z", "tasks": 1 }));
    let health: Health = read(json!({ "status": "ok", "version": "0.1.0", "store": "st_1", "held": 0 }));
    Look { taken, health: Ok(health), overview, due: waits, workers: vec![worker], metrics: metrics(started) }
}

fn snapshot() -> Snapshot {
    let begun = Instant::now();
    let (first, last) = (look(begun, 100, 1), look(begun + Duration::from_secs(10), 220, 30));
    Snapshot::of("http://127.0.0.1:22433", &first, &last)
}

fn shown(width: usize, height: Option<usize>, view: View) -> Vec<String> {
    frame(&snapshot(), &view, None, Size { width, height }).into_iter().map(|line| line.text).collect()
}

fn picked(tab: Tab) -> View {
    let mut view = View::new();
    view.press(Key::Pick(tab));
    view
}

#[test]
fn a_frame_shows_what_waits_runs_and_is_late() {
    let lines = shown(80, None, View::new()).join("\n");
    for expected in [
        "abide 0.1.0 · sqlite · http://127.0.0.1:22433",
        "RUNNING 4  WAITING 12,040",
        "DELAY 10,000+",
        "overdue 2",
        "started 12",
        "commit p50 1.0 ms p99 2.0 ms",
        "in 10s  DELAY  order     cool-down",
        "send-mail  3      1m 15s  1",
        "order     12         0            0         0",
        "w1      1      1s ago  send-mail",
    ] {
        assert!(lines.contains(expected), "{expected} in\n{lines}");
    }
}

#[test]
fn a_frame_fills_its_terminal_and_no_more() {
    for (width, height) in [(80, 24), (60, 12), (120, 40), (200, 60), (20, 5)] {
        for tab in Tab::ALL {
            let lines = shown(width, Some(height), picked(tab));
            assert_eq!(lines.len(), height);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:#?}");
            assert!(lines[height - 1].starts_with("q quit"), "{lines:#?}");
        }
    }
}

#[test]
fn a_tall_terminal_shows_several_lists() {
    let lines = shown(80, Some(60), picked(Tab::Tasks));
    let titles: Vec<_> = lines.iter().filter(|line| line.contains(", by ")).collect();
    assert!(titles[0].starts_with("Tasks 1, by oldest"), "{titles:?}");
    assert_eq!(titles.len(), 4);
}

#[test]
fn a_server_that_does_not_answer_is_said_to_and_the_last_figures_stay() {
    let size = Size { width: 80, height: Some(24) };
    let lines = frame(&snapshot(), &View::new(), Some("connection refused"), size);
    assert_eq!(lines[1].tone, Tone::Alarm);
    assert!(lines[1].text.contains("connection refused"));
    assert!(lines.iter().any(|line| line.text.contains("WAITING 12,040")));
}

#[test]
fn what_a_key_may_not_see_is_told_as_unknown() {
    let begun = Instant::now();
    let mut look = look(begun, 1, 1);
    look.metrics = Metrics::parse("abide_runs{workspace=\"mine\",status=\"RUNNING\"} 1\n");
    let snapshot = Snapshot::of("http://127.0.0.1:22433", &look, &look);
    let lines = frame(&snapshot, &View::new(), None, Size { width: 80, height: None });
    assert!(lines.iter().any(|line| line.text.starts_with("per s  started -  completed -")), "{lines:#?}");
}
