//! Timers that fired early, late, twice or never elsewhere. Each line of the list has its test here.

use std::time::Duration;

use abide_core::command::{Command, Steer, Steering};
use abide_core::definition::document::{OnTimeout, Retry, Workflow};
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_engine::{Error, Poll};
use jiff::{Timestamp, ToSpan};
use serde_json::json;

use crate::host::{Host, output};
use crate::watched::Watch;

fn nap(length: &str) -> Workflow {
    Workflow::new("nap").sleep("nap", length).task("after", "echo")
}

async fn error(host: &Host, run: RunId) -> String {
    host.engine.run(run).wait().await.unwrap().error.unwrap().code.to_string()
}

// Early

#[tokio::test]
async fn a_thirty_day_sleep_does_not_end_early_however_often_the_process_is_killed() {
    let mut host = Host::with(nap("30d")).await;
    let run = host.start("nap").await;
    for _ in 0..10 {
        host = host.crash_after("3s").await;
        host.look().await;
        assert_eq!(host.status(run).await, RunStatus::Waiting);
    }
    host.pass("29d 23h 59m 29s 999ms").await;
    assert_eq!(host.status(run).await, RunStatus::Waiting);
    host.echo().await;
    host.pass("1ms").await;
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
    assert_eq!(host.engine.stats().await.unwrap().lateness_ms.max(), 0);
}

#[tokio::test]
async fn a_timer_of_more_than_24_8_days_does_not_overflow_32_bits_of_milliseconds() {
    let workflow = Workflow::new("long").signal("wait", "go").timeout("30d").on_timeout(OnTimeout::Continue);
    let host = Host::with(workflow.sleep("year", "365d")).await;
    let (begun, run) = (host.now(), host.start("long").await);
    for day in 1..30 {
        host.pass("1d").await;
        assert_eq!(host.engine.run(run).get().await.unwrap().waitpoints().len(), 1, "on day {day}");
    }
    assert_eq!(host.end_of(run).await.status, RunStatus::Completed);
    assert_eq!(Millis::between(begun, host.now()), Millis::from_days(395));
}

// Never

#[tokio::test]
async fn a_timer_that_is_due_before_its_wait_is_on_disk_still_fires() {
    let watch = Watch::default();
    let host = Host::with(nap("1s")).await.restart_on(&watch, "0s").await;
    host.echo().await;
    watch.hold();
    let engine = host.engine.clone();
    let starts = tokio::spawn(async move { engine.start("nap", json!({})).await.unwrap() });
    tokio::task::yield_now().await;
    watch.wait_for_commit();
    host.advance("10s");
    watch.let_all_through();
    let run = starts.await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_sleep_that_is_over_when_it_begins_goes_on_at_once() {
    let workflow = Workflow::new("past").sleep_until("then", "{{ input.then }}").sleep("none", "0s");
    let host = Host::with(workflow).await;
    let run = host.engine.start("past", json!({ "then": "2020-01-01T00:00:00Z" })).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_second_delay_of_a_run_has_its_own_timer() {
    let workflow = Workflow::new("two").sleep("one", 1.hour()).sleep("two", 1.hour());
    let host = Host::with(workflow).await;
    let run = host.start("two").await;
    host.pass("1h").await;
    let host = host.crash_after("59m 59s 999ms").await;
    host.look().await;
    assert_eq!(host.status(run).await, RunStatus::Waiting);
    host.pass("1ms").await;
    assert_eq!(host.status(run).await, RunStatus::Completed);
}

#[tokio::test]
async fn the_same_delay_for_each_of_many_items_has_a_timer_for_each() {
    let workflow = Workflow::new("each").map("each", "input.naps", |each| each.sleep("nap", "{{ item }}"));
    let host = Host::with(workflow).await;
    let run = host.engine.start("each", json!({ "naps": ["3h", "1h", "2h"] })).await.unwrap();
    for open in [2, 1] {
        host.pass("1h").await;
        assert_eq!(host.engine.run(run).get().await.unwrap().open_waitpoints().count(), open);
    }
    host.pass("1h").await;
    assert_eq!(host.status(run).await, RunStatus::Completed);
}

#[tokio::test]
async fn a_step_that_is_visited_again_has_a_new_timer() {
    let workflow = Workflow::new("again").signal("wait", "go").timeout("1h").retry(Retry::attempts(1));
    let host = Host::with(workflow).await;
    let run = host.start("again").await;
    host.pass("1h").await;
    assert_eq!(error(&host, run).await, "WAIT_TIMED_OUT");
    host.engine.run(run).command(Command::Retry).await.unwrap();
    host.pass("59m").await;
    assert_eq!(host.status(run).await, RunStatus::Waiting);
    host.pass("1m").await;
    assert_eq!(host.status(run).await, RunStatus::Failed);
}

#[tokio::test]
async fn every_back_off_has_its_own_timer() {
    let tries = Retry::attempts(4).backoff_ms(60_000, 1.0);
    let host = Host::with(Workflow::new("flaky").task("work", "fails").retry(tries)).await;
    let fails = async |_| abide_engine::TaskResult::fail("again");
    host.engine.handler("fails", fails).await.unwrap();
    let run = host.start("flaky").await;
    assert_eq!(host.end_of(run).await.status, RunStatus::Failed);
    assert_eq!(host.engine.run(run).get().await.unwrap().waitpoints().len(), 3);
}

// Late

#[tokio::test]
async fn a_limit_of_five_seconds_is_met_after_five_seconds() {
    let workflow = Workflow::new("slow").task("work", "remote").timeout("5s").retry(Retry::attempts(1));
    let host = Host::with(workflow).await;
    let run = host.start("slow").await;
    host.engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("w", ["remote"], Duration::from_secs(60)))
        .await
        .unwrap();
    host.pass("4s 999ms").await;
    assert_eq!(host.status(run).await, RunStatus::Running);
    host.pass("1ms").await;
    assert_eq!(error(&host, run).await, "STEP_TIMED_OUT");
}

#[tokio::test]
async fn a_signal_goes_through_without_any_time_passing() {
    let host = Host::with(Workflow::new("waits").signal("wait", "go").timeout("30d")).await;
    let run = host.start("waits").await;
    host.engine.run(run).signal("go", json!("now")).await.unwrap();
    assert_eq!(output(&host.engine.run(run).wait().await.unwrap()), json!("now"));
}

// Begun anew

#[tokio::test]
async fn a_timeout_does_not_begin_anew_after_a_crash() {
    let mut host = Host::with(Workflow::new("waits").signal("wait", "go").timeout("1h")).await;
    let run = host.start("waits").await;
    for _ in 0..5 {
        host = host.crash_after("10m").await;
        host.look().await;
        assert_eq!(host.status(run).await, RunStatus::Waiting);
    }
    host.pass("10m").await;
    assert_eq!(error(&host, run).await, "WAIT_TIMED_OUT");
}

#[tokio::test]
async fn a_cron_wait_is_an_instant_in_its_zone_also_after_a_crash() {
    let workflow = Workflow::new("weekly").cron("monday", "0 9 * * MON").timezone("Europe/Berlin");
    let host = Host::with(workflow).await;
    let run = host.start("weekly").await;
    let host = host.crash_after("31h").await;
    host.pass("59m 59s 999ms").await;
    assert_eq!(host.status(run).await, RunStatus::Waiting);
    host.pass("1ms").await;
    assert_eq!(host.now(), "2026-03-02T08:00:00Z".parse::<Timestamp>().unwrap());
    assert_eq!(host.status(run).await, RunStatus::Completed);
}

#[tokio::test]
async fn a_cron_time_that_daylight_saving_repeats_comes_once() {
    let night = |workflow: Workflow, name: &str| workflow.cron(name, "30 2 * * *").timezone("Europe/Berlin");
    let host = Host::with(night(night(Workflow::new("nightly"), "first"), "second")).await;
    host.clock.set("2026-10-24T12:00:00Z".parse().unwrap());
    let run = host.start("nightly").await;
    host.end_of(run).await;
    let ended = host.engine.run(run).get().await.unwrap();
    let instants: Vec<String> =
        ended.waitpoints().filter_map(|wait| Some(wait.resume_at?.to_string())).collect();
    assert_eq!(instants, ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
}

#[tokio::test]
async fn the_31st_of_april_is_refused_when_it_is_deployed() {
    let host = Host::new().await;
    let never = host.engine.deploy(Workflow::new("never").cron("wait", "0 0 31 4 *")).await.unwrap_err();
    assert!(matches!(&never, Error::Rejected(why) if why.problems[0].pointer == "/steps/0/cron"), "{never}");
}

// The machine's clock

#[tokio::test]
async fn a_lid_that_was_closed_for_a_week_delays_a_timer_and_does_not_stretch_it() {
    let workflow = Workflow::new("two").sleep("one", 1.hour()).sleep("two", 1.hour());
    let host = Host::with(workflow).await;
    let run = host.start("two").await;
    host.pass("7d").await;
    assert_eq!(host.status(run).await, RunStatus::Waiting);
    host.pass("1h").await;
    assert_eq!(host.status(run).await, RunStatus::Completed);
}

#[tokio::test]
async fn a_clock_that_jumps_back_and_forth_ends_no_sleep_early_and_loses_none() {
    let host = Host::with(nap("{{ input.for }}")).await;
    let naps: Vec<_> = (1..=10).map(|hours| json!({ "for": format!("{hours}h") })).collect();
    let begun = host.now();
    let runs = host.start_each("nap", naps).await;
    for jump in [90, -600, 30, 150, 149, -10_000, 301, 60, 599, 0, 600] {
        host.clock.set(begun + jump.minutes());
        host.look().await;
        for (run, input) in &runs {
            let hours: i64 = input["for"].as_str().unwrap().trim_end_matches('h').parse().unwrap();
            let run = host.engine.run(*run).get().await.unwrap();
            let slept = run.waitpoint(1).unwrap().resolved_at;
            assert!(slept.is_none_or(|at| at >= begun + hours.hours()), "{input} ended at {slept:?}");
        }
    }
    for (run, _) in runs {
        assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
    }
}

#[tokio::test]
async fn a_sleep_begun_while_the_clock_was_ahead_ends_when_the_clock_gets_there() {
    let host = Host::with(nap("1h")).await;
    host.advance("2h");
    let ahead = host.start("nap").await;
    host.clock.set(Millis(2 * 3_600_000).before(host.now()));
    let behind = host.start("nap").await;
    assert_ne!(ahead, behind);
    host.pass("1h").await;
    assert_eq!(host.engine.run(behind).wait().await.unwrap().status, RunStatus::Completed);
    assert_eq!(host.status(ahead).await, RunStatus::Waiting);
    host.pass("2h").await;
    assert_eq!(host.engine.run(ahead).wait().await.unwrap().status, RunStatus::Completed);
}

// The whole run

#[tokio::test]
async fn a_parked_run_meets_its_deadline_though_nothing_else_happens_to_it() {
    let host = Host::with(Workflow::new("parked").run_timeout(2.days()).signal("never", "never")).await;
    let (run, late) = (host.start("parked").await, host.start("parked").await);
    let host = host.crash_after("1d").await;
    host.pass("23h 59m 59s 999ms").await;
    assert_eq!(host.status(run).await, RunStatus::Waiting);
    host.pass("1ms").await;
    assert_eq!(error(&host, run).await, "RUN_TIMED_OUT");
    let host = host.crash_after("300d").await;
    assert_eq!(error(&host, late).await, "RUN_TIMED_OUT");
}

#[tokio::test]
async fn a_deadline_that_passed_while_nobody_ran_is_met_at_once() {
    let host = Host::with(Workflow::new("parked").run_timeout(2.days()).signal("never", "never")).await;
    let run = host.start("parked").await;
    let host = host.crash_after("300d").await;
    assert_eq!(error(&host, run).await, "RUN_TIMED_OUT");
}

#[tokio::test]
async fn the_first_look_at_the_clock_is_when_the_engine_is_opened() {
    let host = Host::with(nap("1h")).await;
    host.start("nap").await;
    let watch = Watch::default();
    let _host = host.restart_on(&watch, "2h").await;
    assert!(watch.timer_reads() > 0);
}

#[tokio::test]
async fn a_timer_that_was_moved_away_is_asked_once_and_writes_nothing() {
    let host = Host::with(nap("1s")).await;
    let run = host.start("nap").await;
    let resume_at = Millis::from_days(30).after(host.now());
    let later = Command::Steer(Steer::new(1, Steering::Reschedule { resume_at }));
    host.engine.run(run).command(later).await.unwrap();
    let before = host.engine.stats().await.unwrap();
    for _ in 0..100 {
        host.pass("1s").await;
    }
    let after = host.engine.stats().await.unwrap();
    assert_eq!((after.commits, after.records), (before.commits, before.records));
    assert_eq!(host.status(run).await, RunStatus::Waiting);
}

#[tokio::test]
async fn a_handler_in_process_has_no_more_time_than_its_step_gives_it() {
    let workflow = Workflow::new("slow").task("work", "forever").timeout("5s").retry(Retry::attempts(1));
    let host = Host::with(workflow).await;
    let (begins, mut begun) = tokio::sync::mpsc::channel(1);
    let forever = move |_| {
        let begins = begins.clone();
        async move {
            begins.send(()).await.unwrap();
            std::future::pending().await
        }
    };
    host.engine.handler("forever", forever).await.unwrap();
    let run = host.start("slow").await;
    begun.recv().await.unwrap();
    host.advance("5s");
    let ended = host.engine.run(run).wait().await.unwrap();
    assert_eq!(&*ended.error.unwrap().code, "STEP_TIMED_OUT");
}

#[tokio::test]
async fn a_timer_whose_run_could_not_be_read_fires_when_the_disk_is_back() {
    let host = Host::with(nap("1h")).await;
    let run = host.start("nap").await;
    let watch = Watch::default();
    let host = host.restart_on(&watch, "0s").await;
    host.echo().await;
    watch.fail_loads(1);
    host.pass("1h").await;
    assert_eq!(host.engine.stats().await.unwrap().lateness_ms.count(), 1);
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}
