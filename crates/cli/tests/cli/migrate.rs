//! `abide migrate`, with real servers on both sides of it: whatever a run waits for when its server is killed, it goes on
//! at the new place, and at the one after that.
//!
//! `ABIDE_MOVED_RUNS=100000 cargo nextest run -p abide-cli -E 'test(migrate) & test(many)' --no-capture` moves more of them.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

mod crowd;
mod lives;
pub(crate) mod server;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use abide_testkit::postgres::Server as Postgres;
use serde_json::json;

use crowd::Crowd;
use lives::Lives;
use server::{Server, abide, migrate, refused, run};

const ALLOW: (&str, &str) = ("ABIDE_ALLOW_ADDRESS", "127.0.0.1");
const AUTH: (&str, &str) = ("ABIDE_AUTH", "required");

#[test]
fn everything_goes_on_where_it_was_moved_to_and_after_the_way_back() {
    let directory = tempfile::tempdir().unwrap();
    let (here, old, database) = (directory.path(), "sqlite:old.db", Postgres::shared().database());
    let server = Server::start(old, here, &[ALLOW]);
    let lives = Lives::begin(&server);
    let said = refused(here, &["migrate", "--from", old, "--to", &database]);
    assert!(said.contains("is in use by another process"), "{said}");
    server.kill();

    let report = migrate(here, old, &database);
    assert_eq!(report["wentOn"], false, "{report}");
    // Two leased, one ready, one in a call.
    assert_eq!(report["tasksOut"], 4, "{report}");
    assert_eq!(report["tables"]["api_keys"]["rows"], 2);
    let said = refused(here, &["serve", "--store", old]);
    assert!(said.contains("it was moved to postgresql://"), "{said}");

    let mut server = Server::start(&database, here, &[ALLOW, AUTH]);
    lives.check_keys(&mut server);
    lives.check(&server);
    lives.go_on(&server);
    let said = refused(here, &["migrate", "--from", &database, "--to", "sqlite:new.db"]);
    assert!(said.contains("1 node was seen in the last ten seconds"), "{said}");
    assert!(server.stop().success());
    let report = migrate(here, &database, "sqlite:new.db");
    assert_eq!(report["tasksOut"], 0, "a file does not keep them: {report}");

    let mut server = Server::start("sqlite:new.db", here, &[ALLOW, AUTH]);
    lives.check_keys(&mut server);
    lives.end(&server);
}

/// Unless more are asked for.
const RUNS: usize = 240;

#[test]
fn many_runs_in_all_states_are_moved_and_everything_outstanding_goes_on() {
    let count = std::env::var("ABIDE_MOVED_RUNS").map_or(RUNS, |count| count.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let (here, old, database) = (directory.path(), "sqlite:old.db", Postgres::shared().database());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut crowd = runtime.block_on(Crowd::begin(&here.join("old.db"), count));
    drop(runtime);
    let server = Server::start(old, here, &[]);
    crowd.hand_out(server.address());
    server.kill();
    let size = std::fs::metadata(here.join("old.db")).unwrap().len();

    let report = migrate(here, old, &database);
    assert_eq!(report["tables"]["runs"]["rows"], count, "{report}");
    assert_eq!(report["tasksOut"], crowd.expected(&["ready", "leased"]), "{report}");
    let (rows, took_ms, mib) = (&report["rows"], &report["tookMs"], size >> 20);
    println!("{count} runs, {rows} rows, {mib} MiB: moved and compared in {took_ms} ms");
    let server = Server::start(&database, here, &[]);
    let begun = std::time::Instant::now();
    crowd.go_on(server.address());
    println!("everything outstanding was done {:.1} s later", begun.elapsed().as_secs_f64());
}

#[test]
fn a_move_that_is_killed_goes_on_and_nothing_is_there_twice() {
    let directory = tempfile::tempdir().unwrap();
    let (here, old, database) = (directory.path(), "sqlite:old.db", Postgres::shared().database());
    let server = Server::start(old, here, &[]);
    let steps = json!([{ "type": "sleep", "name": "rest", "duration": "300d" }]);
    server.post("/workflow-definitions", &json!({ "name": "dream", "version": "1", "steps": steps }));
    let run_of = |number: u32| {
        let start = json!({ "name": "dream", "input": { "text": "x".repeat(2_000) }, "tags": ["all"] });
        server.post_under("/workflow-runs", &start, Some(&format!("run-{number}")))["id"].clone()
    };
    let runs: Vec<_> = (0..2_000).map(run_of).collect();
    assert!(server.stop().success());

    let mut kills = 0;
    for line in 1.. {
        let mut moving = abide(here)
            .args(["migrate", "--from", old, "--to", &database])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // After so many words of progress, or of why it cannot begin.
        let said = BufReader::new(moving.stderr.take().unwrap()).lines().take(line);
        let said: Vec<String> = said.map_while(Result::ok).collect();
        moving.kill().unwrap();
        if moving.wait().unwrap().success() {
            break;
        }
        assert_eq!(said[0].contains("goes on"), kills > 0, "{said:?}");
        kills += 1;
        let refused = refused(here, &["serve", "--store", &database]);
        assert!(refused.contains("is not finished"), "{refused}");
    }
    assert!(kills > 2, "{kills}");
    let server = Server::start(&database, here, &[]);
    for (number, id) in runs.iter().enumerate().step_by(97) {
        let start = json!({ "name": "dream", "input": { "text": "x".repeat(2_000) }, "tags": ["all"] });
        let again = server.post_under("/workflow-runs", &start, Some(&format!("run-{number}")));
        assert_eq!(again["id"], *id);
    }
    let counted = server.get("/overview")["runs"].clone();
    assert!(
        counted.as_array().unwrap().contains(&json!({ "status": "WAITING", "count": 2_000 })),
        "{counted}"
    );
}

#[test]
fn what_cannot_begin_says_why_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (here, database) = (directory.path(), Postgres::shared().database());
    let cases: [(&[&str], &str); 6] = [
        (&["--from", "sqlite:nothing.db", "--to", &database], "there is no store at sqlite:"),
        (&["--from", &database, "--to", "sqlite:new.db"], "there is no store at postgresql:"),
        (&["--from", "nothing.db", "--to", &database], "--from is not a store; it would look like"),
        (&["--from", "sqlite:a.db"], "--to"),
        (&["--reopen", "sqlite:nothing.db"], "there is no store at sqlite:"),
        (&[], "--from"),
    ];
    for (arguments, words) in cases {
        let said = refused(here, &[&["migrate"], arguments].concat());
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(here).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_dry_run_says_what_there_is_and_reopening_takes_a_move_back() {
    let directory = tempfile::tempdir().unwrap();
    let (here, old, new) = (directory.path(), "sqlite:old.db", "sqlite:new.db");
    assert!(Server::start(old, here, &[]).stop().success());
    let dry = run(here, &["migrate", "--from", old, "--to", new, "--dry-run", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!((&report["dryRun"], &report["tables"]["settings"]["rows"]), (&json!(true), &json!(2)));
    let said =
        String::from_utf8(run(here, &["migrate", "--from", old, "--to", new, "--dry-run"]).stdout).unwrap();
    assert!(said.contains("would be moved from") && said.contains("Nothing was changed."), "{said}");
    assert!(!here.join("new.db").exists());
    assert!(Server::start(old, here, &[]).stop().success());

    let said = String::from_utf8(run(here, &["migrate", "--from", old, "--to", new]).stdout).unwrap();
    assert!(said.contains("and are the same in both") && said.contains("Now: abide serve --store"), "{said}");
    let said = refused(here, &["migrate", "--from", old, "--to", "sqlite:third.db"]);
    assert!(said.contains("was moved to sqlite:"), "{said}");
    let said = String::from_utf8(run(here, &["migrate", "--reopen", old]).stdout).unwrap();
    assert!(said.contains("can be served again"), "{said}");
    for store in [old, new] {
        assert!(Server::start(store, here, &[]).stop().success());
    }
}
