//! Two versions of the binary beside each other on one database, as while nodes are replaced one by one.
//!
//! `ABIDE_OLD_BIN=PATH cargo nextest run --workspace --test cli -E 'test(two_versions) + test(chaos::)'` runs them with a
//! binary of another version; without it, both are this one.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use abide_testkit::postgres::Server as PostgresServer;
use serde_json::{Value, json};

use super::{KEEP, check, complete, fill, finish, text};
use crate::migrate::server::{Server, abide};

/// The binary of the version before.
pub(crate) fn old_binary() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        std::env::var("ABIDE_OLD_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_abide").to_owned())
    })
}

fn old(store: &str, directory: &Path) -> Server {
    let mut binary = Command::new(old_binary());
    binary.current_dir(directory);
    Server::start_of(binary, store, &KEEP)
}

fn new(store: &str, directory: &Path) -> Server {
    Server::start_of(abide(directory), store, &KEEP)
}

#[test]
fn what_the_old_version_began_is_ended_by_the_new_one_and_the_other_way_round() {
    let directory = tempfile::tempdir().unwrap();
    let (here, server) = (directory.path(), PostgresServer::shared());
    for is_upgrade in [true, false] {
        let store = server.database();
        // The database is of the new version in both cases: going back is to start the old binary on it.
        let first = if is_upgrade { old(&store, here) } else { new(&store, here) };
        let known = fill(&first);
        let second = if is_upgrade { new(&store, here) } else { old(&store, here) };
        check(&first, &known);
        check(&second, &known);
        hand_over(&first, &second);
        hand_over(&second, &first);
        assert!(first.stop().success());
        check(&second, &known);
        assert_eq!(complete(&second, &known["leased"]).0, 200, "its lease is good everywhere");
        finish(&second, &known, |_| {});
    }
}

#[test]
fn an_old_node_is_started_again_beside_new_ones() {
    let directory = tempfile::tempdir().unwrap();
    let (here, store) = (directory.path(), PostgresServer::shared().database());
    let first = old(&store, here);
    let known = fill(&first);
    let newer = new(&store, here);
    first.kill();
    let again = old(&store, here);
    check(&again, &known);
    hand_over(&newer, &again);
    assert_eq!(complete(&again, &known["leased"]).0, 200, "its lease is good everywhere");
    finish(&again, &known, |_| {});
    for name in known["runs"].as_object().unwrap().keys() {
        let run = text(&known["runs"][name]);
        let history = |server: &Server| server.get(&format!("/workflow-runs/{run}/events"));
        assert_eq!(history(&again)["data"], history(&newer)["data"], "{name}");
    }
}

/// A run that one node starts, the other moves on, and so on, to its end.
fn hand_over(one: &Server, other: &Server) {
    let signal = |name: &str| json!({ "type": "external_event", "name": name, "signalType": name });
    let steps = json!([signal("a"), { "type": "task", "name": "work", "handler": "hand-over" }, signal("b")]);
    let version = jiff::Timestamp::now().to_string().replace([':', '.'], "-");
    one.post("/workflow-definitions", &json!({ "name": "hand-over", "version": version, "steps": steps }));
    let started =
        other.post("/workflow-runs", &json!({ "name": "hand-over", "version": version, "input": {} }));
    let run = text(&started["id"]);
    let resume = |server: &Server, name: &str| {
        server.wait_for_status(&run, "WAITING");
        server.post(&format!("/workflow-runs/{run}/resume"), &json!({ "signalType": name, "payload": 1 }));
    };
    resume(one, "a");
    let task: Value = {
        let ask = json!({ "handlers": ["hand-over"], "workerId": "w", "waitMs": 30_000 });
        other.post("/tasks/poll", &ask)["tasks"][0].clone()
    };
    // Polled from one, reported to the other.
    let report = json!({ "leaseToken": task["leaseToken"], "output": 1 });
    one.post(&format!("/tasks/{}/complete", text(&task["id"])), &report);
    resume(other, "b");
    one.wait_for_status(&run, "COMPLETED");
}
