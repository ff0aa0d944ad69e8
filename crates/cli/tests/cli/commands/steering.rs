//! Signals, events, and waits and runs that are steered.

use abide_testkit::http::exchange;
use jiff::{Timestamp, ToSpan};
use serde_json::json;

use super::host::Host;

const PAYMENT: &str =
    "name: payment\nsteps:\n  - {name: paid, type: external_event, signalType: payment, timeout: 3d}\n";
const PARCEL: &str = "name: parcel\nsteps:\n  - {name: there, type: wait_for_event, eventId: parcel, match: event.id == 7, timeout: 1d}\n";
const SLEEPER: &str = "name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n";

#[test]
fn a_signal_is_taken_by_whoever_waits_for_it() {
    let host = Host::start();
    let run = host.started(PAYMENT);
    host.until_waiting(&run);
    let said = host.ok(&["signal", &run, "other", "--payload", "1"]);
    assert_eq!(said, format!("kept by {run} until it waits for it"));
    let said = host.ok(&["signal", "latest", "payment", "--payload", "{\"amount\": 99}"]);
    assert_eq!(said, format!("taken by {}_1", run.replace("run_", "wp_")));
    host.until_status(&run, "COMPLETED");
    assert_eq!(host.json(&["show", &run])["state"], json!({"amount": 99}));
    let said = host.abide(&["signal", &run, "payment"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("[RUN_ENDED]"), "{said:?}");
}

#[test]
fn an_event_says_whom_it_woke_and_before_that_whom_it_would() {
    let host = Host::start();
    let run = host.started(PARCEL);
    host.until_waiting(&run);
    let wait = format!("{}_1", run.replace("run_", "wp_"));
    assert_eq!(host.ok(&["notify", "parcel", "--data", "{\"id\": 8}", "--dry-run"]), "would wake nobody");
    assert_eq!(
        host.ok(&["notify", "parcel", "--data", "{\"id\": 7}", "--dry-run"]),
        format!("would wake 1 wait\n  {wait}")
    );
    assert_eq!(host.status(&run), "WAITING");
    let said = host.ok(&["notify", "parcel", "--data", "{\"id\": 7}"]);
    assert!(said.starts_with("evt_") && said.ends_with(&format!("woke 1 wait\n  {wait}")), "{said}");
    host.until_status(&run, "COMPLETED");
}

#[test]
fn waits_say_for_what_and_until_when() {
    let host = Host::start();
    let (payment, parcel) = (host.started(PAYMENT), host.started(PARCEL));
    host.until_waiting(&payment);
    host.until_waiting(&parcel);
    let listed = host.ok(&["waits"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("WAIT "), "{listed}");
    assert!(
        lines[1].contains("event parcel where event.id == 7") && lines[1].contains("in 23h 59m"),
        "{listed}"
    );
    assert!(lines[2].contains("signal payment") && lines[2].contains("in 2d 23h"), "{listed}");
    assert_eq!(host.ok(&["waits", "--kind", "event"]).lines().count(), 2);
    assert_eq!(host.ok(&["waits", "--signal", "payment"]).lines().count(), 2);
    assert_eq!(host.ok(&["waits", "--run", &payment]).lines().count(), 2);
    assert_eq!(host.abide(&["waits", "--event", "nothing"]).err, "Nothing waits.\n");
}

#[test]
fn a_wait_is_moved_and_woken() {
    let host = Host::start();
    let run = host.started(SLEEPER);
    host.until_waiting(&run);
    let said = host.ok(&["reschedule", &run, "--in", "2d"]);
    assert!(said.contains("is PENDING, until in 1d 23h"), "{said}");
    let instant = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * 30);
    let said = host.ok(&["reschedule", &run, "--at", &instant.to_string()]);
    assert!(said.contains(&instant.strftime("(%Y-%m-%d %H:%M:%S UTC)").to_string()), "{said}");
    assert!(host.ok(&["wake", &run]).ends_with("is COMPLETED"));
    host.until_status(&run, "COMPLETED");
}

#[test]
fn a_wait_is_timed_out_or_cancelled() {
    let host = Host::start();
    let late = host.started(PARCEL);
    host.until_waiting(&late);
    assert!(host.ok(&["wake", &late, "--as", "timed-out"]).ends_with("is TIMED_OUT"));
    host.until_status(&late, "COMPLETED");
    assert_eq!(host.json(&["show", &late])["output"], json!({"timeout": true}));

    let run = host.started(SLEEPER);
    host.until_waiting(&run);
    let said = host.abide(&["wake", &run, "--as", "cancelled", "--payload", "1"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(host.ok(&["wake", &run, "--as", "cancelled"]).ends_with("is CANCELLED"));
    host.until_status(&run, "FAILED");
    let said = host.abide(&["wake", &format!("{}_1", run.replace("run_", "wp_")), "--as", "timed-out"]);
    assert_eq!(said.code, 4, "{said:?}");

    let runs = [host.ok(&["start", "sleeper"]), host.ok(&["start", "sleeper"])];
    runs.iter().for_each(|run| host.until_waiting(run));
    let all = host.ok(&["wake", "--all", "--kind", "DELAY", "--as", "cancelled"]);
    assert_eq!(all, "2 waits found, 2 done, 0 refused");
    runs.iter().for_each(|run| host.until_status(run, "FAILED"));
}

#[test]
fn a_link_is_made_for_somebody_and_revoked_for_all() {
    let host = Host::start();
    let run = host.started("name: contract\nsteps:\n  - {name: sign, type: webhook}\n");
    host.until_waiting(&run);
    let link = host.ok(&["link", &run, "--for", "ann"]);
    assert!(link.starts_with("http://") && link.contains("/waitpoints/wp_"), "{link}");
    let said = host.ok(&["link", &run, "--revoke"]);
    assert!(said.ends_with("is valid any more; it is PENDING"), "{said}");
    let status = |url: &str| {
        let curl = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--data", "1", url];
        String::from_utf8(std::process::Command::new("curl").args(curl).output().unwrap().stdout).unwrap()
    };
    assert_eq!(status(&link), "410");
    assert_eq!(status(&host.ok(&["link", "latest", "--for", "ann"])), "200");
    host.until_status(&run, "COMPLETED");
    assert!(host.ok(&["history", &run]).contains("ann"));
}

#[test]
fn many_waits_are_steered_at_once_after_they_were_counted() {
    let host = Host::start();
    let runs = [host.started(SLEEPER), host.ok(&["start", "sleeper"])];
    runs.iter().for_each(|run| host.until_waiting(run));
    let counted = host.ok(&["wake", "--all", "--kind", "DELAY", "--dry-run"]);
    assert_eq!(counted, "2 waits found; nothing was changed");
    let moved = host.ok(&["reschedule", "--all", "--kind", "DELAY", "--in", "1d"]);
    assert_eq!(moved, "2 waits found, 2 done, 0 refused");
    host.ok(&["wake", "--all", "--kind", "DELAY"]);
    runs.iter().for_each(|run| host.until_status(run, "COMPLETED"));
}

#[test]
fn runs_are_paused_unpaused_and_cancelled() {
    let host = Host::start();
    let run = host.started(SLEEPER);
    host.until_waiting(&run);
    let said = host.ok(&["pause", &run]);
    assert!(said.contains("it pauses at its next step boundary"), "{said}");
    host.ok(&["unpause", &run]);
    assert_eq!(host.ok(&["cancel", &run, "--reason", "ordered twice"]), format!("{run} is CANCELLED"));
    assert!(host.ok(&["history", &run]).contains("ordered twice"));
    let said = host.abide(&["cancel", &run, "run_01zzz"]);
    assert_eq!(said.code, 4, "the worst of both: {said:?}");
}

#[test]
fn many_runs_are_cancelled_by_a_filter() {
    let host = Host::start();
    let (sleeper, payment) = (host.started(SLEEPER), host.started(PAYMENT));
    let counted = host.ok(&["cancel", "--all", "--workflow", "sleeper", "--dry-run"]);
    assert_eq!(counted, "1 run found; nothing was changed");
    host.ok(&["cancel", "--all", "--workflow", "sleeper"]);
    assert_eq!((host.status(&sleeper).as_str(), host.status(&payment).as_str()), ("CANCELLED", "WAITING"));
    let said = host.abide(&["retry", "--all"]);
    assert_eq!(said.code, 4, "none of them failed: {said:?}");
    assert!(said.err.contains("RUN_NOT_FAILED") && said.out.contains("2 refused"), "{said:?}");
}

#[test]
fn a_time_from_now_is_by_the_clock_of_the_server() {
    let host = Host::start_with(&["--test-clock"]);
    let address = host.url.strip_prefix("http://").unwrap();
    let year = json!({ "advance": "365d" }).to_string();
    let (status, clock) = exchange(address, "POST", "/v1/test/clock", "", &year);
    assert_eq!(status, 200, "{clock}");
    let now: Timestamp = clock["now"].as_str().unwrap().parse().unwrap();
    let run = host.started(SLEEPER);
    host.until_waiting(&run);
    host.ok(&["reschedule", &run, "--in", "2h"]);
    let wait = &host.json(&["waits", "--run", &run])["data"][0];
    assert_eq!(wait["resumeAt"], json!(now + 2.hours()), "{wait}");

    let later = host.ok(&["start", "sleeper", "--in", "3h"]);
    let wait = &host.json(&["waits", "--run", &later])["data"][0];
    assert_eq!(wait["resumeAt"], json!(now + 3.hours()), "{wait}");
}
