//! `abide dev` as a process: files change under it, its command dies and is started again, and nothing is left of it in the
//! end.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod process;

use std::fs;

use process::{Dev, until};
use serde_json::{Value, json};

const NAP: &str = "name: nap\nsteps:\n  - type: wait\n    name: rest\n    duration: 30d\n";
const LONGER: &str = "name: nap\nsteps:\n  - type: wait\n    name: rest\n    duration: 60d\n  - type: task\n    name: work\n    handler: work\n";
const BROKEN: &str = "name: nap\nsteps:\n  - type: wait\n    name: rest\n    duraton: 30d\n";

fn version_of(dev: &Dev, name: &str) -> String {
    let (status, found) = dev.send("GET", &format!("/v1/workflow-definitions/{name}"), &Value::Null);
    assert_eq!(status, 200, "{found}");
    found["version"].as_str().unwrap().to_owned()
}

fn start(dev: &Dev, name: &str) -> Value {
    let (status, run) = dev.send("POST", "/v1/workflow-runs", &json!({ "name": name }));
    assert_eq!(status, 201, "{run}");
    let id = run["id"].as_str().unwrap();
    dev.send("GET", &format!("/v1/workflow-runs/{id}"), &Value::Null).1
}

#[test]
fn a_file_that_changes_is_stored_under_a_version_of_its_own_and_runs_by_name_use_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("flows")).unwrap();
    let file = folder.path().join("flows/nap.yaml");
    fs::write(&file, NAP).unwrap();
    fs::write(folder.path().join("flows/package.json"), "{\"name\": \"not a workflow\"}").unwrap();
    let mut dev = Dev::start(folder.path(), &["flows"]);
    let said = dev.hear("stored: 1 step");
    assert!(said.contains("✓ flows/nap.yaml: nap 1-dev."), "{said}");
    assert!(!dev.all().contains("package.json") && !dev.all().contains('\x1b'), "{}", dev.all());
    let first = version_of(&dev, "nap");
    assert!(first.starts_with("1-dev."), "{first}");
    let asleep = start(&dev, "nap");

    // As editors do that write beside the file and rename.
    let beside = folder.path().join("flows/nap.yaml.tmp");
    fs::write(&beside, LONGER).unwrap();
    fs::rename(&beside, &file).unwrap();
    let said = dev.hear("added work; changed rest");
    let second = version_of(&dev, "nap");
    assert!(second != first && said.contains(&second), "{said}");
    assert_eq!(start(&dev, "nap")["definition"]["version"], json!(second));
    let id = asleep["id"].as_str().unwrap();
    let asleep = dev.send("GET", &format!("/v1/workflow-runs/{id}"), &Value::Null).1;
    assert_eq!(asleep["definition"]["version"], json!(first), "a run keeps the version it began with");

    // What was there before is the newest again, when it is what the file holds.
    fs::write(&file, NAP).unwrap();
    dev.hear("changed rest; removed work");
    assert_eq!(version_of(&dev, "nap"), format!("{first}.2"));
    assert_eq!(dev.stopped(), Some(0));

    let mut again = Dev::start(folder.path(), &["flows"]);
    again.hear("as it is stored");
    assert_eq!(version_of(&again, "nap"), format!("{first}.2"), "the same content is the same definition");
    assert_eq!(again.send("GET", &format!("/v1/workflow-runs/{id}"), &Value::Null).1["status"], "WAITING");
}

#[test]
fn a_file_with_problems_is_told_with_their_lines_and_the_last_good_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nap.yaml");
    fs::write(&file, NAP).unwrap();
    let mut dev = Dev::start(folder.path(), &[]);
    dev.hear("stored: 1 step");
    let good = version_of(&dev, "nap");
    fs::write(&file, BROKEN).unwrap();
    let said = dev.hear(&format!("nap {good} stays in use"));
    assert!(said.contains("✗ nap.yaml: 2 problems"), "{said}");
    dev.hear("nap.yaml:5:");
    dev.hear("did you mean `duration`?");
    assert_eq!(version_of(&dev, "nap"), good);
    start(&dev, "nap");
    // In the middle of being written it is not a workflow at all.
    fs::write(&file, "").unwrap();
    dev.hear("stays in use");
    fs::write(&file, LONGER).unwrap();
    dev.hear("added work");
    fs::remove_file(&file).unwrap();
    dev.hear("gone; nap");
    fs::write(&file, NAP).unwrap();
    dev.hear("✓ nap.yaml: nap");
}

#[test]
fn a_command_that_dies_is_started_again_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo \"alive at $ABIDE_SERVER key ${ABIDE_API_KEY:-none}\"\nwhile [ ! -e die ]; do sleep 0.02; done\nrm die\nexit 3";
    fs::write(folder.path().join("run.sh"), script).unwrap();
    let mut dev = Dev::start(folder.path(), &["--ephemeral", "--", "sh run.sh"]);
    let said = dev.hear("alive at");
    assert!(said.contains(&format!("http://{} key none", dev.address)), "{said}");
    for _ in 0..2 {
        fs::write(folder.path().join("die"), "").unwrap();
        let said = dev.hear("exited with 3");
        assert!(said.contains("; again in"), "{said}");
        dev.hear("alive at");
    }
    assert!(!folder.path().join(".abide").exists(), "nothing is kept");
}

#[test]
fn a_command_is_started_again_when_what_is_watched_changes_and_ends_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("src");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("worker.sh"), "1").unwrap();
    // A child of its own that does not hear a polite word.
    let script = "(trap '' TERM; exec sleep 1000) & echo \"child $!\"; read code < src/worker.sh; echo \"code $code\"; wait";
    fs::write(folder.path().join("run.sh"), script).unwrap();
    let mut dev = Dev::start(folder.path(), &["--watch", "src", "--ephemeral", "--", "sh", "run.sh"]);
    let child = |said: String| said.rsplit(' ').next().unwrap().trim().to_owned();
    let first = child(dev.hear("child "));
    dev.hear("code 1");
    assert!(is_alive(&first));
    fs::write(source.join("worker.sh"), "two").unwrap();
    let said = dev.hear("is started again");
    assert!(said.contains("src/worker.sh changed"), "{said}");
    let second = child(dev.hear("child "));
    dev.hear("code two");
    assert!(!is_alive(&first), "all of the first one is gone before the second begins");
    assert!(is_alive(&second));
    // As when the terminal is closed.
    assert_eq!(dev.stopped_by("-HUP"), Some(0));
    until("an end of the child", || !is_alive(&second));
}

/// One that has ended may be waited for by nobody, and is still listed.
fn is_alive(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = state.rsplit(')').next().unwrap_or_default().trim().chars().next();
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

#[test]
fn a_worker_does_the_work_of_a_workflow_and_a_failure_is_told() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody serves that model here, which is told, and no reason not to store it.
    let doubtful = "name: ask\nsteps:\n  - type: llm\n    name: ask\n    model: nobodys\n    messages: [{ role: user, content: hi }]\n";
    fs::write(folder.path().join("ask.yaml"), doubtful).unwrap();
    let flow = "name: greet\nsteps:\n  - type: task\n    name: hello\n    handler: hello\n    retry: { maxAttempts: 1 }\n";
    fs::write(folder.path().join("greet.yaml"), flow).unwrap();
    let worker = "echo oh dear >&2; exit 65";
    let binary = env!("CARGO_BIN_EXE_abide");
    let mut dev = Dev::start(
        folder.path(),
        &[
            "greet.yaml",
            "ask.yaml",
            "--ephemeral",
            "--",
            binary,
            "worker",
            "--handler",
            &format!("hello={worker}"),
        ],
    );
    dev.hear("✓ ask.yaml: ask 1-dev.");
    dev.hear("ask.yaml: warning /steps/0/model");
    dev.hear("started");
    start(&dev, "greet");
    let said = dev.hear("of greet failed");
    assert!(said.contains("oh dear") && said.contains("COMMAND_FAILED"), "{said}");
}

#[test]
fn calls_may_reach_this_machine_and_the_page_may_skip_waits() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--ephemeral"]);
    let session = dev.send("GET", "/v1/session", &Value::Null).1;
    assert_eq!((&session["development"], &session["keysNeeded"]), (&json!(true), &json!(false)));
    let url = format!("http://{}/health", dev.address);
    let steps = json!([{ "type": "http", "name": "look", "url": url }]);
    assert_eq!(
        dev.send("POST", "/v1/workflow-definitions", &json!({ "name": "look", "steps": steps })).0,
        201
    );
    let id = start(&dev, "look")["id"].as_str().unwrap().to_owned();
    let status = || dev.send("GET", &format!("/v1/workflow-runs/{id}"), &Value::Null).1["status"].clone();
    until("a run that has ended", || status() == "COMPLETED");
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, says) in [
        (&["--listen", "0.0.0.0:0"][..], "listens on this one only"),
        (&["--store", "postgres://db.example/abide"], "a database is for `abide serve`"),
        (&["nowhere"], "nowhere: No such file"),
        (&["--watch", "."], "COMMAND"),
    ] {
        let (code, err) = Dev::refused(folder.path(), arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
}
