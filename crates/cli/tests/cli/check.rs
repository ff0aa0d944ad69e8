//! `abide check` and `abide schema`, as they are called.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const BAD: &str = "name: bad\nsteps:\n  - name: first\n    type: tsk\n    handler: h\n  - name: second\n    type: wait\n    durationMs: 30s\n";
const DOUBTFUL: &str = "name: doubtful\nsteps:\n  - {name: a, type: wait, duration: 60d}\n";

fn abide(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    texts(abide(arguments).output().unwrap())
}

fn run_with_input(arguments: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut child =
        abide(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    texts(child.wait_with_output().unwrap())
}

fn texts(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A file of its own for each test.
fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_good_file_is_drawn() {
    let (code, out, err) = run(&["check", "examples/lead-routing.json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        out,
        "examples/lead-routing.json: good: lead-routing 1
  ● score       task score-lead
  │
  ◆ is-hot      if leadScore >= 80
  ├─ true → call
  ╰─ false → newsletter
  ● call        task schedule-call
  ╰─→ record
  ● newsletter  task add-to-newsletter
  │
  ● record      task record-in-crm
"
    );
}

#[test]
fn a_graph_is_drawn_in_layers() {
    let (code, out, _) = run(&["check", "examples/rate-limited-pipeline.yaml"]);
    assert_eq!(code, 0);
    assert!(
        out.ends_with(
            "
  1  ● call-api    task api-call
  2  ○ cooldown    wait 30s  ← call-api
     ● write-log   task write-log  ← call-api
  3  ● call-again  task api-call  ← cooldown
"
        ),
        "{out}"
    );
}

#[test]
fn a_bad_file_is_told_line_by_line() {
    let path = file("bad-lines.yaml", BAD);
    let name = path.display();
    let (code, out, _) = run(&["check", path.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(
        out.starts_with(&format!(
            "{name}:4:11: error[UNKNOWN_VALUE] /steps/0/type: `tsk` is not known here\n"
        )),
        "{out}"
    );
    assert!(
        out.contains(&format!("{name}:8:17: error[WRONG_TYPE] /steps/1/durationMs: found the text `30s`\n")),
        "{out}"
    );
    assert!(out.contains("\n    did you mean `duration`?\n"), "{out}");
    assert!(out.ends_with(&format!("{name}: 2 problems\n")), "{out}");
}

#[test]
fn warnings_are_told_and_the_file_is_good() {
    let (code, out, _) = run_with_input(&["check", "-"], DOUBTFUL.as_bytes());
    assert_eq!(code, 0);
    assert!(
        out.starts_with("<stdin>:3:37: warning[LONG_WAIT] /steps/0/duration: 60d is a long time\n"),
        "{out}"
    );
    assert!(out.contains("<stdin>: 1 warning: doubtful 1\n"), "{out}");
}

#[test]
fn a_missing_file_is_an_error_of_its_own_and_the_others_are_checked() {
    let (code, out, err) = run(&["check", "examples/no-such-file.json", "examples/launch.json"]);
    assert_eq!(code, 2);
    assert!(err.starts_with("examples/no-such-file.json: cannot be read: "), "{err}");
    assert!(out.starts_with("examples/launch.json: good"), "{out}");
}

#[test]
fn what_is_not_text_cannot_be_read() {
    let (code, _, err) = run_with_input(&["check", "-"], b"name: \xff\xfe");
    assert_eq!((code, err.as_str()), (2, "<stdin>: cannot be read: the file is not UTF-8\n"));
}

#[test]
fn the_usage_is_told_when_no_file_is_named() {
    let (code, _, err) = run(&["check"]);
    assert_eq!(code, 2);
    assert!(err.contains("abide check"), "{err}");
}

#[test]
fn findings_can_be_had_as_json() {
    let path = file("bad-json.yaml", BAD);
    let (code, out, _) =
        run(&["check", "--json", path.to_str().unwrap(), "examples/launch.json", "nowhere.yaml"]);
    assert_eq!(code, 2);
    let files: Vec<Value> = serde_json::from_str(&out).unwrap();
    assert_eq!(files[0]["ok"], false);
    assert_eq!(files[0]["problems"][0]["code"], "UNKNOWN_VALUE");
    assert_eq!(files[0]["problems"][0]["pointer"], "/steps/0/type");
    assert_eq!(files[0]["problems"][0]["nearest"], "task");
    assert_eq!(files[0]["problems"][0]["line"], 4);
    assert_eq!((&files[1]["ok"], &files[1]["name"]), (&Value::from(true), &Value::from("launch")));
    assert!(files[2]["error"].is_string());
}

#[test]
fn a_document_does_not_steer_the_terminal() {
    let text = "name: x\nsteps: [{name: a, type: task, handler: \"h\\e[31m\\r\\n\"}]";
    let (code, out, _) = run_with_input(&["check", "-"], text.as_bytes());
    assert_eq!(code, 0);
    assert!(!out.contains('\u{1b}') && !out.contains('\r') && out.contains("task h\u{fffd}[31m"), "{out:?}");
}

#[test]
fn the_schema_that_is_printed_is_the_one_that_is_committed() {
    let (code, out, _) = run(&["schema"]);
    assert_eq!(code, 0);
    let committed = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/workflow.schema.json"),
    );
    assert_eq!(out, committed.unwrap());
}

#[test]
fn nobody_reading_to_the_end_is_no_error() {
    let mut child = abide(&["schema"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), [].as_slice()));
}
