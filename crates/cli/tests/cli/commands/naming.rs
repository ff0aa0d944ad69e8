//! How runs and waits may be named.

use super::host::Host;

const TWO_WAITS: &str = "name: two\nsteps:
  - {name: root, type: wait, durationMs: 1}
  - {name: left, type: wait, duration: 10m, after: [root]}
  - {name: right, type: wait, duration: 10m, after: [root]}
";

#[test]
fn the_beginning_of_an_id_is_enough_where_it_is_unique() {
    let host = Host::start();
    let run = host.started("name: one\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n");
    assert_eq!(host.json(&["show", &run[..run.len() - 4]])["id"], run.as_str());
    assert_eq!(host.json(&["show", "run_0"])["id"], run.as_str());
    host.ok(&["start", "one"]);
    let said = host.abide(&["show", "run_0"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("more than one run's id begins with `run_0`"), "{said:?}");
    assert_eq!(host.json(&["show", &run[..run.len() - 1]])["id"], run.as_str());
}

#[test]
fn the_latest_run_needs_no_id() {
    let host = Host::start();
    let said = host.abide(&["show", "latest"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("there is no run yet"), "{said:?}");
    let run = host.started("name: one\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n");
    assert_eq!(host.json(&["show", "latest"])["id"], run.as_str());
}

#[test]
fn what_names_nothing_is_not_found() {
    let host = Host::start();
    for (named, words) in [
        ("run_0000000000000000000000000z", "there is no run"),
        ("run_01zzz", "no run's id begins with"),
        ("order-7", "is not a run: give its id"),
    ] {
        let said = host.abide(&["show", named]);
        assert_eq!(said.code, 3, "{said:?}");
        assert!(said.err.contains(words), "{said:?}");
    }
}

#[test]
fn a_run_stands_for_its_only_wait_and_a_step_says_which_of_several() {
    let host = Host::start();
    let run = host.started(TWO_WAITS);
    super::host::until("both waits", || host.json(&["waits"])["data"].as_array().unwrap().len() == 2);
    let said = host.abide(&["wake", &run]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("more than one wait") && said.err.contains("right"), "{said:?}");
    host.ok(&["wake", &run, "--step", "left"]);
    host.ok(&["wake", &run]);
    host.until_status(&run, "COMPLETED");
    let said = host.abide(&["wake", &run]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("waits for nothing"), "{said:?}");
}
