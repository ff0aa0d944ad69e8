//! Histories, listed and followed.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::host::Host;

const PAYMENT: &str =
    "name: payment\nsteps:\n  - {name: paid, type: external_event, signalType: payment, timeout: 3d}\n";

#[test]
fn a_history_has_a_line_for_each_record() {
    let host = Host::start();
    let run = host.started(PAYMENT);
    host.ok(&["signal", &run, "payment", "--payload", "{\"amount\": 99}"]);
    host.until_status(&run, "COMPLETED");
    let lines = host.ok(&["history", &run]);
    assert!(lines.lines().next().unwrap().starts_with("   1  20"), "{lines}");
    for words in ["SIGNAL_RECEIVED", "STEP_COMPLETED", "paid", "after its wait", "WORKFLOW_COMPLETED"] {
        assert!(lines.contains(words), "{words}: {lines}");
    }
    let records = host.json(&["history", &run]);
    let count = records["data"].as_array().unwrap().len();
    assert_eq!(count, lines.lines().count());
    assert_eq!(host.ok(&["history", &run, "--after", "2"]).lines().count(), count - 2);
    assert_eq!(host.ok(&["history", &run, "--follow"]), lines, "a run that has ended is followed to its end");
}

#[test]
fn following_goes_on_after_the_server_was_killed_and_ends_with_the_run() {
    let mut host = Host::start();
    let run = host.started(PAYMENT);
    host.until_waiting(&run);
    let mut command = host.command(&["history", &run, "--follow", "--json"]);
    let mut follower = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&out.next().unwrap().unwrap()).unwrap();
    let mut types = Vec::new();
    while types.last().is_none_or(|last| last != "WORKFLOW_PAUSED") {
        types.push(next()["type"].as_str().unwrap().to_owned());
    }
    host.restart();
    host.ok(&["signal", &run, "payment"]);
    let mut last = types.len() as u64;
    loop {
        let record = next();
        assert_eq!(record["seq"], last + 1, "nothing is missed and nothing comes twice");
        last += 1;
        if record["type"] == "WORKFLOW_COMPLETED" {
            break;
        }
    }
    assert!(follower.wait().unwrap().success());
}
