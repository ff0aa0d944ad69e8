//! Workers that run a command per task.

use std::cell::Cell;
use std::process::{Command, Stdio};

use serde_json::json;

use super::durable::{curl, post};
use super::host::{Host, Said, until};

const ADD: &str = "name: add
steps:
  - {name: add, type: task, handler: add, input: {a: 1, b: 2}, retry: {maxAttempts: 3, backoffMs: 100}}
";

#[test]
fn a_command_does_a_task_and_gives_output_and_state() {
    let host = Host::start();
    let run = host.started(ADD);
    let command = "add=cat > task.json; echo '{\"sum\": 3}'; echo \"{\\\"by\\\": \\\"$ABIDE_STEP $ABIDE_ATTEMPT\\\"}\" > $ABIDE_STATE_FILE";
    let said = host.abide(&["worker", "--handler", command, "--until-idle", "--name", "w1"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("w1 works for ") && said.err.contains("  add  add  done in "), "{said:?}");
    host.until_status(&run, "COMPLETED");
    let shown = host.json(&["show", &run]);
    assert_eq!((&shown["output"], &shown["state"]), (&json!({"sum": 3}), &json!({"by": "add 1"})));
    let task = std::fs::read_to_string(host.directory.path().join("task.json")).unwrap();
    let task: serde_json::Value = serde_json::from_str(&task).unwrap();
    assert_eq!((&task["runId"], &task["input"]), (&json!(run), &json!({"a": 1, "b": 2})));
}

#[test]
fn a_failure_is_tried_again_unless_the_command_says_not_to() {
    let host = Host::start();
    let run = host.started(ADD);
    let (mut worker, _) = (host.command(&["worker", "--handler", "add=echo no paper >&2; exit 3"]), ());
    let mut worker = worker.stderr(Stdio::null()).spawn().unwrap();
    host.until_status(&run, "FAILED");
    let shown = host.json(&["show", &run]);
    assert_eq!(shown["steps"][0]["attempt"], 3);
    assert!(shown["error"]["message"].as_str().unwrap().contains("no paper"), "{shown}");
    worker.kill().unwrap();
    worker.wait().unwrap();

    host.ok(&["retry", &run]);
    let said = host.abide(&["worker", "--handler", "add=echo bad order >&2; exit 65", "--until-idle"]);
    assert!(said.err.contains("bad order"), "{said:?}");
    host.until_status(&run, "FAILED");
    let shown = host.json(&["show", &run]);
    assert_eq!((&shown["steps"][0]["visit"], &shown["steps"][0]["attempt"]), (&json!(2), &json!(1)));
}

/// How many requests the server has answered as asked.
fn answers(host: &Host) -> u64 {
    let figures = curl(&[&format!("{}/metrics", host.url)]);
    let ok = figures.lines().find_map(|line| line.strip_prefix("abide_http_responses_total{class=\"2xx\"} "));
    ok.unwrap_or_else(|| panic!("{figures}")).parse().unwrap()
}

#[test]
fn a_long_command_keeps_its_task_by_heartbeats() {
    let host = Host::start_with(&["--test-clock"]);
    let run = host.started(&ADD.replace("handler: add,", "handler: add, heartbeatMs: 300,"));
    // It ends when the file is there; until then only heartbeats keep the lease.
    let command = "add=while [ ! -e go ]; do sleep 0.05; done; echo 3";
    let mut worker = host.command(&["worker", "--handler", command, "--name", "w1"]);
    let mut worker = worker.stderr(Stdio::null()).spawn().unwrap();
    let beats = |host: &Host| {
        let history = host.json(&["history", &run]);
        let records = history["data"].as_array().unwrap().clone();
        (host.json(&["show", &run])["steps"][0]["status"] == "RUNNING", records)
    };
    until("the command", || beats(&host).0);
    // Three leases' time, of which a third passes after each heartbeat.
    for _ in 0..9 {
        let (before, asked) = (answers(&host), Cell::new(0));
        until("a heartbeat", || {
            // What is asked here is answered, too.
            asked.set(asked.get() + 1);
            answers(&host) > before + asked.get()
        });
        post(&host, "/test/clock", &json!({ "advanceMs": 100 }));
    }
    host.file("go", "");
    host.until_status(&run, "COMPLETED");
    let lost = beats(&host).1.iter().any(|record| record["type"] == "TASK_REDELIVERED");
    assert!(!lost, "the lease was never lost");
    worker.kill().unwrap();
    worker.wait().unwrap();
}

#[test]
fn a_worker_that_is_told_to_stop_finishes_what_it_has() {
    let host = Host::start();
    let run = host.started(ADD);
    let command = "add=touch begun; while [ ! -e go ]; do sleep 0.05; done; echo 3";
    let mut worker = host.command(&["worker", "--handler", command]);
    let worker = worker.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the command", || host.directory.path().join("begun").exists());
    terminate(worker.id());
    let second = host.ok(&["start", "add"]);
    host.file("go", "");
    let said = Said::from(worker.wait_with_output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("finishing 1 task(s)") && said.err.contains("done in"), "{said:?}");
    host.until_status(&run, "COMPLETED");
    assert_eq!(host.status(&second), "RUNNING", "it took no more tasks");
}

#[test]
fn a_worker_that_is_told_twice_gives_its_task_back() {
    let host = Host::start();
    let run = host.started(ADD);
    let mut worker = host.command(&["worker", "--handler", "add=touch begun; sleep 600"]);
    let worker = worker.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the command", || host.directory.path().join("begun").exists());
    terminate(worker.id());
    // Two signals that are not heard yet are one; the second is sent until it is.
    let id = worker.id();
    let told = std::thread::spawn(move || Said::from(worker.wait_with_output().unwrap()));
    until("the end", || {
        terminate(id);
        told.is_finished()
    });
    let said = told.join().unwrap();
    assert!(said.err.contains("given back"), "{said:?}");
    host.ok(&["worker", "--handler", "add=echo 3", "--until-idle"]);
    host.until_status(&run, "COMPLETED");
    assert_eq!(host.json(&["show", &run])["steps"][0]["attempt"], 1, "no attempt was used up");
}

fn terminate(process: u32) {
    let _ = Command::new("kill").args(["-TERM", &process.to_string()]).stderr(Stdio::null()).status();
}

#[test]
fn journals_of_tasks_under_way_are_written_a_line_each_to_a_file_of_ones_own() {
    let host = Host::start();
    let run = host.started(ADD);
    let line: serde_json::Value = serde_json::from_str(&host.ok(&["journals", "export"])).unwrap();
    assert_eq!(
        (&line["runId"], &line["handler"], &line["step"]),
        (&json!(run), &json!("add"), &json!("add"))
    );
    assert_eq!((&line["input"], &line["journal"]), (&json!({"a": 1, "b": 2}), &json!([])));
    assert_eq!(host.ok(&["journals", "export", "--handler", "other"]), "");
    let file = host.directory.path().join("journals.jsonl");
    let to = file.to_str().unwrap();
    let said = host.ok(&["journals", "export", "--workflow", "add", "--out", to]);
    assert_eq!(said, format!("{to}  1 journals"));
    let written: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written, line);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let said = host.abide(&["journals", "export", "--out", to]);
    assert!(said.code != 0 && said.err.contains("is not overwritten"), "{said:?}");
    assert!(!host.directory.path().join("journals.jsonl.partial").exists());
}

#[test]
fn runs_are_pinned_and_unpinned_one_or_by_a_filter() {
    let host = Host::start();
    let run = host.started(&ADD.replace("handler: add,", "handler: add, pinToBuild: true,"));
    let nothing = format!("{run} has no task under way that this would change");
    assert_eq!(host.ok(&["unpin", &run]), nothing, "nobody has taken it");
    let counted = host.ok(&["pin", "--all", "--workflow", "add", "--build", "b1", "--dry-run"]);
    assert_eq!(counted, "1 run found; nothing was changed");
    let said = host.abide(&["wake", &run, "--output", "1"]);
    assert!(said.code != 0 && said.err.contains("--as skipped"), "{said:?}");
}
