//! `abide run`: workflows without a server.

use abide_testkit::postgres::Server as Postgres;
use tempfile::TempDir;

use super::host::alone;

const DAYS: &str = "name: days
steps:
  - {name: before, type: task, handler: count}
  - {name: two-days, type: wait, duration: 2d}
  - {name: paid, type: external_event, signalType: payment, timeout: 3d, onTimeout: continue}
  - {name: after, type: task, handler: count, input: {paid: \"{{ state.amount ?? 'nothing' }}\"}}
";

fn run(arguments: &[&str]) -> super::host::Said {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("days.yaml"), DAYS).unwrap();
    let arguments: Vec<&str> = ["run", "days.yaml"].iter().chain(arguments).copied().collect();
    alone(directory.path(), &arguments)
}

#[test]
fn days_pass_in_no_time() {
    let said = run(&["--handler", "count=echo 1", "--skip-waits"]);
    assert_eq!(said.code, 0, "{said:?}");
    for words in ["WORKFLOW_STARTED", "two-days", "STEP_COMPLETED", "COMPLETED 1\n"] {
        assert!(said.out.contains(words), "{words}: {said:?}");
    }
}

#[test]
fn what_others_would_send_can_be_given_beforehand() {
    let said =
        run(&["--handler", "count=cat", "--signal", "payment={\"amount\": 99}", "--skip-waits", "--quiet"]);
    assert_eq!(said.code, 0, "{said:?}");
    let output: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(output["input"]["paid"], 99);
}

#[test]
fn a_task_without_a_handler_says_what_it_waits_for() {
    let said = run(&["--skip-waits"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(
        said.err.contains("`before` waits for a worker; give one with --handler count='COMMAND'"),
        "{said:?}"
    );
}

#[test]
fn a_failed_run_fails_the_command() {
    let said = run(&["--handler", "count=echo out of paper >&2; exit 65", "--skip-waits"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("the run is FAILED") && said.err.contains("out of paper"), "{said:?}");
}

#[test]
fn a_bad_file_is_told_line_by_line_and_not_run() {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("bad.yaml"), "name: bad\nsteps:\n  - {name: a, type: wiat}\n")
        .unwrap();
    let said = alone(directory.path(), &["run", "bad.yaml"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(said.err.contains("bad.yaml:3:21: error[UNKNOWN_VALUE]"), "{said:?}");
}

#[test]
fn a_run_can_be_kept_in_a_store() {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("days.yaml"), DAYS).unwrap();
    let arguments =
        ["run", "days.yaml", "--handler", "count=echo 1", "--skip-waits", "--store", "sqlite:kept.db"];
    for _ in 0..2 {
        let said = alone(directory.path(), &arguments);
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert!(directory.path().join("kept.db").exists());
}

#[test]
fn a_run_can_be_kept_in_a_database_where_time_is_not_skipped() {
    let directory = TempDir::new().unwrap();
    let workflow = "name: greet\nsteps:\n  - {name: say, type: respond, body: hello}\n";
    std::fs::write(directory.path().join("greet.yaml"), workflow).unwrap();
    let database = Postgres::shared().database();
    let arguments = ["run", "greet.yaml", "--store", &database];
    let said = alone(directory.path(), &arguments);
    assert_eq!(said.code, 0, "{said:?}");
    let said = alone(directory.path(), &[&arguments[..], &["--skip-waits"]].concat());
    assert!(said.code == 2 && said.err.contains("the waits of all others"), "{said:?}");
    let said = alone(directory.path(), &["run", "greet.yaml", "--store", "postgres:x"]);
    assert!(said.code == 2 && said.err.contains("--store is not a store"), "{said:?}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no file was made");
}

/// The command in `examples/README.md`, as it stands there.
#[test]
fn the_readme_of_the_examples_runs_a_workflow_with_a_model_without_paying() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let readme = std::fs::read_to_string(root.join("examples/README.md")).unwrap();
    let command =
        readme.lines().find(|line| line.starts_with("abide run") && line.contains("--stand-in")).unwrap();
    let command = command.strip_prefix("abide ").unwrap();
    let done = std::process::Command::new("sh")
        .args(["-c", &format!("\"$ABIDE\" {command}")])
        .env("ABIDE", env!("CARGO_BIN_EXE_abide"))
        .current_dir(root)
        .output()
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("Tea is a drink of leaves and hot water."), "{said}");
    assert!(said.contains("LLM_CALL_COMPLETED"), "{said}");
}

#[test]
fn a_model_that_nobody_serves_is_told_with_what_would_help() {
    let directory = TempDir::new().unwrap();
    let workflow =
        "name: ask\nsteps:\n  - {name: a, type: llm, model: m, messages: [{role: user, content: Hi}]}\n";
    std::fs::write(directory.path().join("ask.yaml"), workflow).unwrap();
    let said = alone(directory.path(), &["run", "ask.yaml"]);
    assert!(said.code == 1 && said.err.contains("LLM_UNKNOWN_MODEL"), "{said:?}");
    let said = alone(directory.path(), &["run", "ask.yaml", "--stand-in", "--quiet"]);
    assert_eq!((said.code, said.out.trim()), (0, "\"You said: Hi\""), "{said:?}");
}
