//! Durable calls of a handler, as the commands show them.

use std::process::Command;

use serde_json::{Value, json};

use super::host::Host;

/// A worker's call, as any program would make it.
pub(super) fn post(host: &Host, path: &str, body: &Value) -> Value {
    let (url, body) = (format!("{}/api/v1{path}", host.url), body.to_string());
    let text = curl(&["--header", "content-type: application/json", "--data", &body, &url]);
    serde_json::from_str(&text).unwrap_or_default()
}

/// What the server says to a call that it does not refuse.
pub(super) fn curl(arguments: &[&str]) -> String {
    let said = Command::new("curl").args(["--silent", "--fail-with-body"]).args(arguments).output().unwrap();
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(said.status.success(), "{arguments:?}: {text}");
    text
}

fn poll(host: &Host) -> Value {
    let body = json!({ "handlers": ["desk"], "workerId": "w", "waitMs": 300_000 });
    post(host, "/tasks/poll", &body)["tasks"][0].clone()
}

fn report(host: &Host, task: &Value, verb: &str, mut body: Value) {
    body["leaseToken"] = task["leaseToken"].clone();
    post(host, &format!("/tasks/{}/{verb}", task["id"].as_str().unwrap()), &body);
}

#[test]
fn durable_calls_are_shown_by_name_and_times_are_those_of_the_server() {
    let host = Host::start_with(&["--test-clock"]);
    let run = host.started("name: refunds\nsteps:\n  - {name: desk, type: task, handler: desk}\n");
    let task = poll(&host);
    let waits = json!([{ "type": "sleep", "name": "cooling-off", "duration": "2d" }]);
    report(&host, &task, "suspend", json!({ "entries": [{ "name": "order", "result": 7 }], "waits": waits }));
    let clock = post(&host, "/test/clock", &json!({ "advance": "1d" }));
    assert!(clock["now"].is_string(), "{clock}");
    let listed = host.ok(&["waits", "--run", &run]);
    assert!(listed.contains("desk › cooling-off") && listed.contains("in 1d"), "{listed}");
    let shown = host.ok(&["show", &run]);
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert!(lines.iter().any(|line| line.starts_with("✓ order        run    0ms")), "{shown}");
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("○ cooling-off  sleep  until 20") && line.ends_with(" UTC (in 1d)")),
        "{shown}"
    );
    assert!(shown.contains("`desk › cooling-off` waits for the clock:"), "{shown}");
    let woken = host.ok(&["wake", &run, "--step", "cooling-off"]);
    assert!(woken.ends_with("is COMPLETED"), "{woken}");
    let history = host.ok(&["history", &run]);
    assert!(history.contains("`desk › order` is recorded"), "{history}");
    assert!(history.contains("`desk › cooling-off` was ended before its time by local"), "{history}");
    let fields = host.ok(&["history", &run, "--fields"]);
    assert!(fields.contains(r#"entries=[{"name":"order","result":7}]"#), "{fields}");
}
