//! `abide bench`, as it is called, with so little work that it is done at once.

#![cfg(feature = "bench")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

use abide_testkit::postgres::Server;
use serde_json::Value;
use tempfile::TempDir;

/// A machine with a folder for temporary files of its own.
struct Machine {
    temporary: TempDir,
}

impl Machine {
    fn new() -> Machine {
        Machine { temporary: tempfile::tempdir().unwrap() }
    }

    fn bench(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.arg("bench").args(arguments).env("TMPDIR", self.temporary.path());
        command
    }

    fn is_clean(&self) -> bool {
        self.temporary.path().read_dir().unwrap().next().is_none()
    }
}

/// The figures of a workload, as a program reads them; nothing is left behind.
fn measure(arguments: &[&str]) -> Value {
    let machine = Machine::new();
    let output = machine.bench(&[arguments, &["--json", "--starters", "8"]].concat());
    assert_eq!(text(&output.stderr), "");
    assert!(output.status.success());
    assert!(machine.is_clean());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["workload"], arguments[0]);
    report["parts"].clone()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Every figure by its key is a number, and greater than nothing.
fn assert_positive(part: &Value, keys: &[&str]) {
    for key in keys {
        assert!(part[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {part}");
    }
}

fn assert_all_woke_once(part: &Value) {
    assert_eq!((&part["lost"], &part["doubled"]), (&Value::from(0), &Value::from(0)), "{part}");
}

#[test]
fn w1_completes_runs() {
    let parts = measure(&["w1", "--runs", "40"]);
    assert_positive(&parts["runs"], &["runsPerSecond", "runP50Ms", "runP99Ms", "runMaxMs"]);
    assert_eq!((&parts["runs"]["runs"], &parts["runs"]["starters"]), (&Value::from(40), &Value::from(8)));
    assert_positive(&parts["engine"], &["commits", "commitP50Ms", "requestsPerCommitP50"]);
}

#[test]
fn w2_wakes_a_herd() {
    let parts = measure(&["w2", "--sleepers", "40", "--due-in", "1s"]);
    assert_positive(&parts["asleep"], &["createdPerSecond", "createP50Ms", "diskBytesPerSleeper"]);
    assert_positive(&parts["awake"], &["drainedPerSecond", "endedPerSecond"]);
    assert_eq!(parts["awake"]["early"], 0);
    assert_all_woke_once(&parts["awake"]);
}

#[test]
fn w2_wakes_sleepers_that_are_spread() {
    let parts = measure(&["w2", "--sleepers", "40", "--due-in", "1.5", "--spread", "0.2"]);
    assert_eq!(parts["awake"]["spreadSeconds"], 0.2);
    assert!(parts["awake"].get("drainedPerSecond").is_none());
    assert_all_woke_once(&parts["awake"]);
}

#[test]
fn w3_completes_runs_by_their_events() {
    let parts = measure(&["w3", "--runs", "40"]);
    assert_positive(&parts["events"], &["waitingPerSecond", "completedPerSecond", "eventP50Ms"]);
}

#[test]
fn w1_over_http_completes_runs_by_a_worker_of_its_own() {
    let parts = measure(&["w1", "--runs", "40", "--http"]);
    assert_positive(&parts["runs"], &["runsPerSecond", "runP50Ms", "runP99Ms", "runMaxMs"]);
    assert_eq!((&parts["runs"]["runs"], &parts["runs"]["starters"]), (&Value::from(40), &Value::from(8)));
    assert_positive(&parts["engine"], &["commits", "commitP50Ms", "commitMaxMs", "requestsPerCommitP50"]);
}

#[test]
fn w2_over_http_wakes_a_herd_in_the_worker() {
    let parts = measure(&["w2", "--sleepers", "40", "--due-in", "2s", "--http"]);
    assert_positive(&parts["asleep"], &["createdPerSecond", "createP50Ms", "diskBytesPerSleeper"]);
    assert_positive(&parts["awake"], &["drainedPerSecond", "endedPerSecond"]);
    assert_eq!(parts["awake"]["early"], 0);
    assert_all_woke_once(&parts["awake"]);
}

#[test]
fn w3_over_http_completes_runs_by_their_events() {
    let parts = measure(&["w3", "--runs", "40", "--http"]);
    assert_positive(&parts["events"], &["waitingPerSecond", "completedPerSecond", "eventP50Ms"]);
}

#[test]
fn settings_of_whoever_measures_are_not_measured() {
    let machine = Machine::new();
    let mut command = machine.command(&["w3", "--runs", "4", "--http", "--starters", "2"]);
    let output = command.env("ABIDE_AUTH", "required").output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn w4_loses_nobody_when_the_process_is_killed() {
    let parts = measure(&["w4", "--sleepers", "40", "--due-in", "2"]);
    assert_positive(&parts["before"], &["createdPerSecond"]);
    assert_positive(&parts["after"], &["servingMs", "openMs", "lastFireMs", "drainedPerSecond"]);
    assert_eq!(parts["after"]["early"], 0);
    assert_all_woke_once(&parts["after"]);
}

#[test]
fn w4_fires_what_came_due_while_nobody_ran() {
    let parts = measure(&["w4", "--sleepers", "40", "--due-in", "2", "--stopped", "2"]);
    assert_eq!(parts["before"]["stoppedSeconds"], 2);
    assert_all_woke_once(&parts["after"]);
}

#[test]
fn sleepers_are_weighed_asleep_and_others_wake_among_them() {
    let parts = measure(&["sleepers", "--count", "200", "--due-rate", "100", "--due-for", "0.2"]);
    assert_eq!(parts["created"]["sleepers"], 200);
    assert_positive(&parts["created"], &["firstPerSecond", "firstP50Ms"]);
    assert_positive(&parts["asleep"], &["diskBytesPerSleeper", "servingMs", "openMs"]);
    assert_eq!(parts["due"]["timers"], 20);
    assert_all_woke_once(&parts["due"]);
}

#[test]
fn overdue_timers_drain_while_requests_are_answered() {
    let parts = measure(&["overdue", "--count", "60"]);
    assert_positive(&parts["overdue"], &["drainedPerSecond", "servingMs", "firstFireMs"]);
    assert_positive(&parts["probes"], &["probes", "probeP50Ms"]);
    assert_all_woke_once(&parts["overdue"]);
}

#[test]
fn flat_measures_each_size_of_the_store() {
    let parts = measure(&["flat", "--stored", "200,20", "--runs", "20"]);
    for (size, stored) in [("20", 20), ("200", 200)] {
        assert_eq!(parts[size]["stored"], stored);
        assert_positive(&parts[size], &["wallUsPerTransition", "transitionsPerRun", "runsPerSecond"]);
    }
}

/// What a database did while something was measured.
fn assert_counted(part: &Value) {
    let keys =
        ["transitionsPerSecond", "statementsPerTransition", "walBytesPerTransition", "commitsPerSecond"];
    assert_positive(part, &keys);
    assert_positive(part, &["databaseCpuUsPerTransition", "nodesCpuUsPerTransition"]);
}

/// The same on a database, with so many nodes.
fn measure_on_database(arguments: &[&str], nodes: &str) -> Value {
    let database = Server::shared().database();
    measure(&[arguments, &["--store", &database, "--nodes", nodes]].concat())
}

#[test]
fn w1_is_shared_by_nodes_on_a_database() {
    let parts = measure_on_database(&["w1", "--runs", "400"], "2");
    assert_positive(&parts["runs"], &["runsPerSecond", "runP50Ms"]);
    assert_positive(&parts["engine"], &["commits"]);
    assert_counted(&parts["database"]);
}

#[test]
fn w2_wakes_a_herd_on_a_database_whoever_created_it() {
    let parts = measure_on_database(&["w2", "--sleepers", "400", "--due-in", "4"], "2");
    assert_positive(&parts["asleep"], &["createdPerSecond", "diskBytesPerSleeper"]);
    assert_positive(&parts["awake"], &["drainedPerSecond", "endedPerSecond"]);
    assert_eq!(parts["awake"]["early"], 0);
    assert_all_woke_once(&parts["awake"]);
    assert_counted(&parts["databaseAwake"]);
}

#[test]
fn w3_sends_events_to_another_node_than_the_one_that_waits() {
    let parts = measure_on_database(&["w3", "--runs", "200"], "2");
    assert_positive(&parts["events"], &["waitingPerSecond", "completedPerSecond", "eventP50Ms"]);
    assert_counted(&parts["databaseEvents"]);
}

#[test]
fn sleepers_on_a_database_wake_although_their_node_is_killed() {
    let due = ["sleepers", "--count", "200", "--due-rate", "100", "--due-for", "2", "--kill"];
    let parts = measure_on_database(&due, "3");
    assert_positive(&parts["asleep"], &["diskBytesPerSleeper", "servingMs"]);
    let waits = &parts["due"];
    for none in ["firedEarly", "notFired", "firedTwice", "early", "lost"] {
        assert_eq!(waits[none], 0, "{none}: {waits}");
    }
    assert_positive(&parts["killed"], &["beforeMaxMs", "afterMaxMs"]);
}

#[test]
fn a_run_that_grows_costs_what_is_told_at_each_length() {
    let arguments = ["long", "--records", "10,200", "--transitions", "100"];
    let parts = measure(&arguments);
    for size in ["10", "200"] {
        assert_positive(&parts[size], &["transitions", "wallUsPerTransition", "wallRatio"]);
    }
    assert_eq!(parts["10"]["wallRatio"], 1);

    let database = Server::shared().database();
    let parts = measure(&[&arguments[..], &["--store", &database, "--nodes", "3"]].concat());
    assert_positive(&parts["200"], &["transitions", "wallUsPerTransition", "wallRatio"]);
}

#[test]
fn limits_are_measured_beside_work_without_them() {
    let sizes = [
        "--runs",
        "40",
        "--room",
        "2",
        "--line",
        "40,20",
        "--granted",
        "10",
        "--queued",
        "60",
        "--keys",
        "6",
    ];
    let parts = measure(&[&["limits"][..], &sizes].concat());
    for part in ["free", "neverFull", "keyEach", "freeBesideHot", "hot"] {
        assert_positive(&parts[part], &["runs", "runsPerSecond", "rateRatio"]);
    }
    for part in ["line20", "line40"] {
        assert_positive(&parts[part], &["letIn", "wallUsPerRun", "wallRatio"]);
    }
    for part in ["sleepers", "queued"] {
        assert_positive(&parts[part], &["createdPerSecond", "diskBytesEach", "servingMs", "openMs"]);
    }
    let only = measure(&["limits", "--only", "hot", "--runs", "20", "--room", "2"]);
    assert_eq!(only.as_object().unwrap().keys().collect::<Vec<_>>(), ["freeBesideHot", "hot"]);
}

#[test]
fn a_store_with_running_runs_is_opened() {
    let parts = measure(&["open", "--runs", "50"]);
    assert_eq!(parts["open"]["runs"], 50);
    assert_positive(&parts["open"], &["openMs", "servingMs"]);

    let database = Server::shared().database();
    let parts = measure(&["open", "--runs", "50", "--store", &database]);
    assert_positive(&parts["open"], &["openMs", "servingMs"]);
}

#[test]
fn a_database_in_which_something_old_would_be_measured_is_refused() {
    let (machine, database) = (Machine::new(), Server::shared().database());
    let arguments = ["w1", "--runs", "10", "--store", &database];
    assert!(machine.bench(&arguments).status.success());
    let again = machine.bench(&arguments);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("there are 11 runs in postgresql://"), "{}", text(&again.stderr));
}

#[test]
fn people_get_a_table_and_no_bar_where_there_is_no_terminal() {
    let output = Machine::new().bench(&["w1", "--runs", "1,000"]);
    assert_eq!(text(&output.stderr), "");
    let table = text(&output.stdout);
    assert!(table.starts_with("1,000 runs of three steps\n"), "{table}");
    assert!(table.lines().any(|line| line.starts_with("  completed") && line.ends_with(" /s")), "{table}");
}

#[test]
fn a_folder_that_was_asked_for_is_kept_and_not_measured_twice() {
    let machine = Machine::new();
    let folder = machine.temporary.path().join("here");
    let arguments = ["w1", "--runs", "10", "--folder", folder.to_str().unwrap()];
    assert!(machine.bench(&arguments).status.success());
    assert!(Path::new(&folder).join("bench.db").exists());
    let again = machine.bench(&arguments);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("bench.db is there already; give a folder without one"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let machine = Machine::new();
    for (arguments, why) in [
        (&["w1", "--runs", "0"], "there must be at least one"),
        (&["w2", "--due-in", "soon"], "--due-in"),
        (&["w1", "--starters", "0"], "1..=10000"),
    ] {
        let output = machine.bench(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
    for (arguments, why) in [
        (&["w1", "--nodes", "3"][..], "on a file there is one node"),
        (&["w1", "--store", "sqlite:here.db"], "`--store` takes a PostgreSQL database"),
        (&["sleepers", "--due-rate", "10", "--kill"], "`--kill` takes a database"),
    ] {
        let output = machine.bench(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
    let late = machine.bench(&["w2", "--sleepers", "20", "--due-in", "0"]);
    assert_eq!(late.status.code(), Some(1));
    assert!(text(&late.stderr).contains("creating them took longer than `--due-in`"));
}
