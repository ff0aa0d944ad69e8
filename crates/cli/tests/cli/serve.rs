//! `abide serve` as a process: it says where it is, answers, stops when it is told to, and loses nothing when it is
//! not asked.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use abide_testkit::http;
use serde_json::{Value, json};

struct Abide {
    process: Child,
    out: BufReader<ChildStdout>,
    address: String,
}

impl Abide {
    fn serve(directory: &Path, flags: &[&str]) -> Abide {
        let mut process = Command::new(env!("CARGO_BIN_EXE_abide"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(flags)
            .current_dir(directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().to_owned();
        Abide { process, out, address }
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        http::exchange(&self.address, method, path, "", &body)
    }

    fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// The exit code, and what it wrote to the standard error.
    fn ended(mut self) -> (Option<i32>, String) {
        let mut err = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.process.wait().unwrap().code(), err)
    }
}

impl Drop for Abide {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn deploy_and_start(abide: &Abide) -> String {
    let steps =
        json!([{ "type": "wait", "name": "nap", "durationMs": 1 }, { "type": "webhook", "name": "sign" }]);
    let flow = json!({ "name": "flow", "version": "1", "steps": steps });
    assert_eq!(abide.send("POST", "/v1/workflow-definitions", &flow).0, 201);
    let (status, run) = abide.send("POST", "/v1/workflow-runs", &json!({ "name": "flow" }));
    assert_eq!(status, 201, "{run}");
    run["id"].as_str().unwrap().to_owned()
}

#[test]
fn it_says_where_it_is_and_stops_cleanly_when_it_is_told_to() {
    let directory = tempfile::tempdir().unwrap();
    let mut abide = Abide::serve(directory.path(), &[]);
    let mut said = String::new();
    while !said.contains("store") && abide.out.read_line(&mut said).unwrap() > 0 {}
    assert!(said.contains("/api/v1") && said.contains("/docs") && said.contains("sqlite:abide.db"), "{said}");
    assert_eq!(abide.send("GET", "/ready", &Value::Null).0, 200);
    assert!(directory.path().join("abide.db").exists());
    abide.signal("-TERM");
    assert_eq!(abide.process.wait().unwrap().code(), Some(0));
}

#[test]
fn with_a_test_clock_time_passes_when_somebody_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let abide = Abide::serve(directory.path(), &["--test-clock"]);
    let steps = json!([{ "type": "wait", "name": "nap", "duration": "30d" }]);
    let flow = json!({ "name": "flow", "version": "1", "steps": steps });
    assert_eq!(abide.send("POST", "/v1/workflow-definitions", &flow).0, 201);
    let (_, run) = abide.send("POST", "/v1/workflow-runs", &json!({ "name": "flow" }));
    let (status, clock) = abide.send("POST", "/v1/test/clock", &json!({}));
    assert_eq!((status, &clock["nextTimer"]), (200, &Value::Null), "{clock}");
    let (_, run) =
        abide.send("GET", &format!("/v1/workflow-runs/{}", run["id"].as_str().unwrap()), &Value::Null);
    assert_eq!(run["status"], "COMPLETED");
}

#[test]
fn without_a_test_clock_nobody_sets_the_time() {
    let directory = tempfile::tempdir().unwrap();
    let abide = Abide::serve(directory.path(), &[]);
    let (status, problem) = abide.send("POST", "/v1/test/clock", &json!({ "advance": "1d" }));
    assert_eq!((status, &problem["code"]), (409, &json!("NO_TEST_CLOCK")));
}

#[test]
fn a_run_is_there_after_the_process_was_killed() {
    let directory = tempfile::tempdir().unwrap();
    let abide = Abide::serve(directory.path(), &[]);
    let run = deploy_and_start(&abide);
    abide.signal("-KILL");
    drop(abide.ended());
    let abide = Abide::serve(directory.path(), &[]);
    // The nap is over: it went off before the kill or when the store was opened again.
    let waits = || abide.send("GET", &format!("/v1/waitpoints?runId={run}&kind=WEBHOOK"), &Value::Null).1;
    while waits()["data"] == json!([]) {
        std::thread::yield_now();
    }
    let url = waits()["data"][0]["resumeUrl"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&format!("http://{}", abide.address)).unwrap().to_owned();
    assert_eq!(abide.send("POST", &path, &json!({ "signed": true })).0, 200);
    assert_eq!(abide.send("GET", &format!("/v1/workflow-runs/{run}"), &Value::Null).1["status"], "COMPLETED");
}

#[test]
fn a_second_server_on_the_same_store_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let _first = Abide::serve(directory.path(), &[]);
    let (code, err) = Abide::serve(directory.path(), &[]).ended();
    assert_eq!(code, Some(2));
    assert!(err.contains("in use by another process"), "{err}");
}

#[test]
fn an_address_that_others_reach_is_refused_without_keys() {
    let directory = tempfile::tempdir().unwrap();
    let (code, err) = Abide::serve(directory.path(), &["--public-url", "https://abide.example.com"]).ended();
    assert_eq!(code, Some(2));
    assert!(err.contains("--auth required") && err.contains("--allow-everyone"), "{err}");
    let output = Command::new(env!("CARGO_BIN_EXE_abide"))
        .args(["serve", "--listen", "0.0.0.0:0"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains("--auth required"), "{err}");
}

#[test]
fn with_keys_the_first_one_is_in_a_file_that_only_its_owner_can_read_and_not_in_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let mut abide = Abide::serve(directory.path(), &["--auth", "required"]);
    assert_eq!(abide.send("GET", "/v1/workflow-runs", &Value::Null).0, 401);
    let mut said = String::new();
    while !said.contains("ABIDE_API_KEY") {
        abide.out.read_line(&mut said).unwrap();
    }
    assert!(said.contains("abide.db.admin-key") && !said.contains("abk_"), "{said}");
    let file = directory.path().join("abide.db.admin-key");
    let key = std::fs::read_to_string(&file).unwrap();
    assert!(key.starts_with("abk_") && key.trim().len() == 68);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    abide.signal("-INT");
    assert_eq!(abide.process.wait().unwrap().code(), Some(0));
    let mut again = Abide::serve(directory.path(), &["--auth", "required"]);
    assert_eq!(again.send("GET", "/health", &Value::Null).0, 200);
    again.signal("-INT");
    let mut said = String::new();
    again.out.read_to_string(&mut said).unwrap();
    assert!(!said.contains("first key") && !said.contains("abk_"), "{said}");
}

#[test]
fn who_asks_for_more_connections_than_files_may_be_open_is_warned_and_gets_what_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let line = "ulimit -n 300; exec \"$ABIDE\" serve --listen 127.0.0.1:0 --max-connections 5000";
    let mut process = Command::new("sh")
        .args(["-c", line])
        .env("ABIDE", env!("CARGO_BIN_EXE_abide"))
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let out = BufReader::new(process.stdout.take().unwrap());
    let mut abide = Abide { process, out, address: String::new() };
    let mut said = String::new();
    abide.out.read_line(&mut said).unwrap();
    abide.signal("-TERM");
    let (code, err) = abide.ended();
    assert_eq!(code, Some(0), "{err}");
    let warned = err.lines().find(|line| line.contains("WARN")).unwrap_or_default();
    assert!(warned.contains("may open 300 files") && warned.contains("at most 172 connections"), "{err}");
    assert!(warned.contains("and not 5000") && warned.contains("--max-connections"), "{err}");
}

#[test]
fn config_shows_each_value_and_where_it_came_from() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("abide.toml"), "log = \"debug\"\nallow_host = [\"a\", \"b\"]\n")
        .unwrap();
    let config = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.arg("config").args(arguments).current_dir(directory.path()).env("ABIDE_AUTH", "required");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let shown: Value = serde_json::from_str(&config(&["--json", "--listen", "127.0.0.1:1"])).unwrap();
    assert_eq!(shown["listen"], json!({ "value": "127.0.0.1:1", "from": "flag" }));
    assert_eq!(shown["auth"], json!({ "value": "required", "from": "ABIDE_AUTH" }));
    assert_eq!(shown["log"], json!({ "value": "debug", "from": "abide.toml" }));
    assert_eq!(shown["allow_host"]["value"], "a,b");
    assert_eq!(shown["store"], json!({ "value": "sqlite:abide.db", "from": "default" }));
    assert!(config(&[]).contains("ABIDE_AUTH"));
}

#[test]
fn a_log_in_json_is_one_flat_object_a_line_with_the_fields_that_every_line_has() {
    let directory = tempfile::tempdir().unwrap();
    let abide = Abide::serve(directory.path(), &["--log", "debug", "--log-format", "json"]);
    deploy_and_start(&abide);
    abide.signal("-TERM");
    let (code, log) = abide.ended();
    assert_eq!(code, Some(0), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        for field in ["timestamp", "level", "target", "message"] {
            assert!(line[field].is_string(), "{field} of {line}");
        }
        assert!(line.as_object().unwrap().values().all(|value| !value.is_object()), "{line}");
    }
    let request = lines.iter().find(|line| line["message"] == "request").unwrap();
    assert!(request["took_ms"].is_u64() && request["request"].is_string(), "{request}");
    assert_eq!((&request["method"], &request["status"]), (&"POST".into(), &201.into()), "{request}");
}
