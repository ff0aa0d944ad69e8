//! Exit codes and what is said with them.

use tempfile::TempDir;

use super::host::{Host, alone};

#[test]
fn a_server_that_is_not_there_is_told_with_what_to_do() {
    let directory = TempDir::new().unwrap();
    for arguments in [&["runs"][..], &["start", "x"], &["show", "latest"], &["history", "latest", "--follow"]]
    {
        let arguments: Vec<&str> =
            arguments.iter().copied().chain(["--server", "http://127.0.0.1:1"]).collect();
        let said = alone(directory.path(), &arguments);
        assert_eq!((said.code, said.out.as_str()), (5, ""), "{said:?}");
        assert!(said.err.contains("http://127.0.0.1:1 cannot be reached"), "{said:?}");
        assert!(said.err.contains("Is `abide serve` running?"), "{said:?}");
    }
}

#[test]
fn whether_a_server_is_ready_is_told_by_the_code() {
    let mut host = Host::start();
    let said = host.abide(&["ready"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.starts_with(&format!("{} is ready: abide ", host.url)), "{said:?}");
    host.end();
    let said = host.abide(&["ready"]);
    assert_eq!((said.code, said.out.as_str()), (5, ""), "{said:?}");
}

#[test]
fn a_server_that_is_not_there_yet_is_waited_for() {
    let mut host = Host::start();
    host.end();
    let mut waiting = host.command(&["ready", "--wait", "300s"]).spawn().unwrap();
    host.restart();
    assert!(waiting.wait().unwrap().success());
}

#[test]
fn bad_usage_is_told_with_what_would_be_right() {
    let directory = TempDir::new().unwrap();
    for (arguments, words) in [
        (&["start", "x", "--input", "hello"][..], "--input: not JSON"),
        (&["start", "x", "--at", "tomorrow"], "it would look like `2026-12-01T09:00:00Z`"),
        (&["start", "x", "--in", "soon"], "it would look like `90s`"),
        (&["reschedule", "latest"], "--at"),
        (&["cancel"], "<RUN>"),
        (&["worker", "--handler", "x"], "it would look like `send-email="),
        (&["runs", "--status", "ASLEEP"], "ASLEEP"),
        (&["runs", "--server", "ftp://x"], "begins with neither http:// nor https://"),
        (&["backup", "x.db", "--store", "postgres:x"], "sqlite:abide.db"),
    ] {
        let said = alone(directory.path(), arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert!(said.err.contains(words), "{arguments:?}: {said:?}");
    }
}

#[test]
fn an_unknown_workflow_is_not_found_and_a_bad_input_is_refused() {
    let host = Host::start();
    let said = host.abide(&["start", "nothing"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(
        said.err.contains("there is no workflow `nothing`") && said.err.contains("abide deploy"),
        "{said:?}"
    );
    host.file("strict.yaml", "name: strict\ninputSchema: {type: object, required: [a, b]}\nsteps:\n  - {name: nap, type: wait, duration: 1s}\n");
    host.ok(&["deploy", "strict.yaml"]);
    let said = host.abide(&["start", "strict", "--input", "{}"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("[INVALID_INPUT]"), "{said:?}");
}

#[test]
fn completions_are_written_for_each_shell() {
    let directory = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let said = alone(directory.path(), &["completions", shell]);
        assert_eq!(said.code, 0);
        assert!(said.out.contains("reschedule"), "{shell}");
    }
}
