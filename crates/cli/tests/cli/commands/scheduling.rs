//! Schedules.

use super::host::Host;

const WAIT: &str = "name: report
steps:
  - {name: wait, type: external_event, signalType: go}
";

#[test]
fn a_schedule_is_made_listed_triggered_paused_and_deleted() {
    let host = Host::start();
    host.file("report.yaml", WAIT);
    host.ok(&["deploy", "report.yaml"]);
    assert!(host.abide(&["schedules"]).err.starts_with("No schedules."));
    let id = host.ok(&[
        "schedules",
        "create",
        "nightly",
        "report",
        "--cron",
        "0 9 * * 1-5",
        "--timezone",
        "Europe/Berlin",
    ]);
    assert!(id.starts_with("sch_"), "{id}");
    let listed = host.ok(&["schedules"]);
    assert!(listed.contains("nightly") && listed.contains("0 9 * * 1-5 Europe/Berlin"), "{listed}");
    assert!(host.ok(&["waits", "--kind", "SCHEDULE"]).contains("its schedule"));
    let run = host.ok(&["schedules", "trigger", "nightly"]);
    assert!(run.starts_with("run_"), "{run}");
    let again = host.abide(&["schedules", "trigger", &id]);
    assert_eq!((again.code, again.err.as_str()), (0, "skipped: the run before has not ended\n"));
    assert!(host.ok(&["schedules", "pause", "nightly"]).contains("paused"));
    assert!(!host.ok(&["schedules", "unpause", "nightly"]).contains("paused"));
    host.ok(&["schedules", "delete", "nightly"]);
    let gone = host.abide(&["schedules", "pause", "nightly"]);
    assert!(gone.code != 0 && gone.err.contains("there is no schedule `nightly`"), "{gone:?}");
}

#[test]
fn a_schedule_by_a_rhythm_has_its_input_and_its_tags() {
    let host = Host::start();
    host.file("report.yaml", WAIT);
    host.ok(&["deploy", "report.yaml"]);
    host.ok(&[
        "schedules",
        "create",
        "poll",
        "report",
        "--every",
        "15m",
        "--input",
        "{\"to\": \"ops\"}",
        "--tag",
        "p",
    ]);
    let shown = host.json(&["schedules"])["data"][0].clone();
    assert_eq!((&shown["everyMs"], &shown["input"]["to"]), (&900_000.into(), &"ops".into()));
    let neither = host.abide(&["schedules", "create", "x", "report"]);
    assert_eq!(neither.code, 2, "{neither:?}");
}
