//! Deploying, starting, listing, showing.

use serde_json::json;

use super::host::{Host, until, with_input};

const SLEEPER: &str = "name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n";

#[test]
fn a_workflow_is_deployed_started_listed_and_shown() {
    let host = Host::start();
    host.file("sleeper.yaml", SLEEPER);
    let said = host.ok(&["deploy", "sleeper.yaml"]);
    assert!(said.starts_with("sleeper 1  def_") && said.ends_with("  stored"), "{said}");
    assert!(host.ok(&["deploy", "sleeper.yaml"]).ends_with("  there already"));

    let run = host.ok(&["start", "sleeper", "--input", "{\"a\": 1}", "--tag", "vip"]);
    assert!(run.starts_with("run_") && !run.contains(char::is_whitespace), "{run}");
    host.until_status(&run, "WAITING");
    let listed = host.ok(&["runs", "--tag", "vip", "--status", "waiting"]);
    assert!(listed.starts_with("RUN ") && listed.contains(&run) && listed.contains("sleeper 1"), "{listed}");
    assert_eq!(host.ok(&["runs", "--tag", "other"]), "");

    let shown = host.ok(&["show", &run]);
    assert!(shown.starts_with(&format!("{run}  sleeper 1  WAITING\n")), "{shown}");
    assert!(shown.contains("\ninput    {\"a\":1}\n"), "{shown}");
    assert!(shown.contains("\n  ○ nap  wait  WAITING\n"), "{shown}");
    assert!(shown.contains("`nap` waits for the clock"), "{shown}");
}

#[test]
fn show_names_what_the_children_of_a_map_wait_for() {
    let host = Host::start();
    host.file("sleeper.yaml", SLEEPER);
    host.ok(&["deploy", "sleeper.yaml"]);
    let run = host.started(
        "name: many\nsteps:\n  - {name: each, type: map, items: [1, 2], step: {type: child, definition: sleeper}}\n",
    );
    host.until_status(&run, "WAITING");
    let shown = host.ok(&["show", &run]);
    assert_eq!(shown.matches("\n  there `nap` waits for the clock").count(), 2, "{shown}");
}

#[test]
fn a_task_that_nobody_handles_is_shown_with_its_handler() {
    let host = Host::start();
    let run = host.started("name: idle\nsteps:\n  - {name: work, type: task, handler: print}\n");
    let shown = host.ok(&["show", &run]);
    assert!(shown.contains("`work` waits for a worker: none has handler `print` since "), "{shown}");
}

#[test]
fn json_is_the_servers_answer() {
    let host = Host::start();
    let run = host.started(SLEEPER);
    assert_eq!(host.json(&["show", &run])["definition"]["name"], "sleeper");
    assert_eq!(host.json(&["runs"])["data"][0]["id"], json!(run));
    assert_eq!(host.json(&["runs"])["nextCursor"], json!(null));
    assert_eq!(host.json(&["waits"])["data"][0]["runId"], json!(run));
}

#[test]
fn lists_come_in_pages() {
    let host = Host::start();
    let first = host.started(SLEEPER);
    let second = host.ok(&["start", "sleeper"]);
    let page = host.json(&["runs", "--limit", "1"]);
    assert_eq!(page["data"][0]["id"], json!(second));
    let said = host.abide(&["runs", "--limit", "1"]);
    assert!(said.err.contains("--cursor"), "{said:?}");
    let page = host.json(&["runs", "--limit", "1", "--cursor", page["nextCursor"].as_str().unwrap()]);
    assert_eq!(page["data"][0]["id"], json!(first));
}

#[test]
fn a_bad_file_is_told_line_by_line_and_the_others_are_stored() {
    let host = Host::start();
    host.file("bad.yaml", "name: bad\nsteps:\n  - {name: a, type: wiat, duration: 1s}\n");
    host.file("good.yaml", SLEEPER);
    let said = host.abide(&["deploy", "bad.yaml", "good.yaml", "nowhere.yaml"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("bad.yaml:3:21: error[UNKNOWN_VALUE] /steps/0/type"), "{said:?}");
    assert!(said.err.contains("nowhere.yaml: cannot be read"), "{said:?}");
    assert!(said.out.starts_with("sleeper 1  def_"), "{said:?}");
}

#[test]
fn a_version_never_changes() {
    let host = Host::start();
    host.started(SLEEPER);
    host.file("workflow.yaml", &SLEEPER.replace("10m", "20m"));
    let said = host.abide(&["deploy", "workflow.yaml"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("change the version [DEFINITION_EXISTS]"), "{said:?}");
}

#[test]
fn an_input_comes_from_a_file_or_from_the_standard_input() {
    let host = Host::start();
    host.started(SLEEPER);
    host.file("input.json", "{\"from\": \"file\"}");
    let run = host.ok(&["start", "sleeper", "--input", "@input.json"]);
    assert_eq!(host.json(&["show", &run])["input"], json!({"from": "file"}));
    let said = with_input(host.command(&["start", "sleeper", "--input", "-"]), "[1, 2]");
    assert_eq!(host.json(&["show", said.out.trim()])["input"], json!([1, 2]));
}

#[test]
fn a_file_of_lines_starts_a_run_each_and_the_same_key_starts_none_twice() {
    let host = Host::start();
    host.started(SLEEPER);
    let lines: String = (1..=1_200).map(|n| format!("{{\"input\": {{\"n\": {n}}}}}\n")).collect();
    host.file("many.jsonl", &lines);
    let batch = ["start", "sleeper", "--batch", "many.jsonl", "--tag", "many", "--idempotency-key", "night"];
    let ids = host.ok(&batch);
    assert_eq!(ids.lines().count(), 1_200);
    let last = host.json(&["show", ids.lines().last().unwrap()]);
    assert_eq!((&last["input"], &last["tags"]), (&json!({"n": 1200}), &json!(["many"])));
    assert_eq!(host.ok(&batch), ids);

    let odd = "{\"input\": 1}\n\n{\"name\": \"nobody\"}\nnonsense\n{\"tags\": [\"own\"]}\n";
    let said = with_input(host.command(&["start", "sleeper", "--batch", "-"]), odd);
    assert_eq!((said.code, said.out.lines().count()), (4, 2), "{said:?}");
    assert!(said.err.contains("line 3: ") && said.err.contains("[UNKNOWN_DEFINITION]"), "{said:?}");
    assert!(said.err.contains("line 4: not an object of JSON"), "{said:?}");
}

#[test]
fn a_run_can_begin_later_and_an_idempotency_key_gives_the_same_run() {
    let host = Host::start();
    host.started(SLEEPER);
    let later = host.ok(&["start", "sleeper", "--in", "2h", "--idempotency-key", "k1"]);
    assert_eq!(host.status(&later), "PENDING");
    let said = host.abide(&["start", "sleeper", "--idempotency-key", "k1", "--input", "7"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("IDEMPOTENCY_KEY_REUSED"), "{said:?}");
    host.ok(&["wake", &later]);
    until("the start", || host.status(&later) != "PENDING");
}

#[test]
fn waiting_for_the_end_of_a_run_tells_how_it_ended() {
    let host = Host::start();
    host.file("quick.yaml", "name: quick\nsteps:\n  - {name: a, type: wait, durationMs: 1}\noutput: done\n");
    host.ok(&["deploy", "quick.yaml"]);
    let shown = host.ok(&["start", "quick", "--wait", "30s"]);
    assert!(shown.contains("  quick 1  COMPLETED\n") && shown.contains("output   \"done\""), "{shown}");
    host.started(SLEEPER);
    let said = host.abide(&["start", "sleeper", "--wait", "1ms"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("goes on by itself"), "{said:?}");
}
