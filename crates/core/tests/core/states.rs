//! The transition tables, line by line: what may follow each state, and nothing else. Then every legal move that a
//! command can lead to, walked for real.

use std::fmt::Debug;

use crate::scenario::*;
use abide_core::command::Steering;
use abide_core::status::{LifeCycle, RunStatus, StepStatus, WaitStatus, transition};
use serde_json::json;

const WAITS: [WaitStatus; 4] =
    [WaitStatus::Pending, WaitStatus::Completed, WaitStatus::TimedOut, WaitStatus::Cancelled];

fn allows_only<S: LifeCycle + PartialEq + Debug>(from: S, all: &[S], legal: &[S]) {
    for to in all {
        match transition(from, *to) {
            Ok(reached) => {
                assert!(reached == *to && legal.contains(to), "{from} to {to} is not in the table")
            }
            Err(illegal) => {
                assert!(!legal.contains(to), "{from} to {to} is in the table: {illegal}");
                assert_eq!(illegal.to_string(), format!("a {} cannot go from {from} to {to}", S::WHAT));
            }
        }
    }
}

mod run {
    use super::*;
    use RunStatus::{Cancelled, Completed, Failed, Paused, Pending, Running, Waiting};

    #[test]
    fn a_pending_run_may_become_running_or_cancelled_and_nothing_else() {
        allows_only(Pending, &RunStatus::ALL, &[Running, Cancelled]);
    }

    #[test]
    fn a_running_run_may_become_waiting_paused_completed_failed_or_cancelled_and_nothing_else() {
        allows_only(Running, &RunStatus::ALL, &[Waiting, Paused, Completed, Failed, Cancelled]);
    }

    #[test]
    fn a_waiting_run_may_become_running_cancelled_or_failed_and_nothing_else() {
        allows_only(Waiting, &RunStatus::ALL, &[Running, Cancelled, Failed]);
    }

    #[test]
    fn a_paused_run_may_become_running_or_cancelled_and_nothing_else() {
        allows_only(Paused, &RunStatus::ALL, &[Running, Cancelled]);
    }

    #[test]
    fn a_failed_run_may_become_running_and_nothing_else() {
        allows_only(Failed, &RunStatus::ALL, &[Running]);
    }

    #[test]
    fn a_completed_run_stays_completed() {
        allows_only(Completed, &RunStatus::ALL, &[]);
    }

    #[test]
    fn a_cancelled_run_stays_cancelled() {
        allows_only(Cancelled, &RunStatus::ALL, &[]);
    }

    #[test]
    fn a_run_without_waits_runs_and_completes() {
        let mut run = start(json!([task("a")]));
        run.complete("a", json!(1));
        assert_eq!(run.path(), "PENDING RUNNING COMPLETED");
    }

    #[test]
    fn a_delayed_run_is_pending_until_its_instant_and_then_runs() {
        let mut run = plan(json!([task("a")])).delayed_until("2026-03-02T00:00:00Z").start();
        assert_eq!(run.path(), "PENDING");
        run.live("1d");
        assert_eq!(run.path(), "PENDING RUNNING");
    }

    #[test]
    fn a_delayed_run_can_be_cancelled_before_it_runs() {
        let mut run = plan(json!([task("a")])).delayed_until("2026-03-02T00:00:00Z").start();
        run.cancel();
        assert_eq!(run.path(), "PENDING CANCELLED");
    }

    #[test]
    fn a_run_waits_when_nothing_in_it_runs_and_something_waits() {
        let steps = json!([task("a").after(&[]), sleep("nap", "1h").after(&[])]);
        let mut run = start(steps);
        assert_eq!(run.path(), "PENDING RUNNING");
        run.complete("a", json!(1));
        assert_eq!(run.path(), "PENDING RUNNING WAITING");
    }

    #[test]
    fn a_last_step_that_waited_takes_the_run_through_running_to_completed() {
        let mut run = start(json!([sleep("nap", "1h")]));
        run.live("1h");
        assert_eq!(run.path(), "PENDING RUNNING WAITING RUNNING COMPLETED");
    }

    #[test]
    fn a_running_run_can_fail_be_retried_and_complete() {
        let mut run = start(json!([task("a")]));
        run.fail_for_good("a");
        run.retry();
        run.complete("a", json!(1));
        assert_eq!(run.path(), "PENDING RUNNING FAILED RUNNING COMPLETED");
    }

    #[test]
    fn a_wait_that_fails_takes_the_run_through_running_to_failed() {
        let mut run = start(json!([signal("s", "go").also(json!({ "timeout": "1h" }))]));
        run.live("1h");
        assert_eq!(run.path(), "PENDING RUNNING WAITING RUNNING FAILED");
    }

    #[test]
    fn a_running_run_can_be_cancelled() {
        let mut run = start(json!([task("a")]));
        run.cancel();
        assert_eq!(run.path(), "PENDING RUNNING CANCELLED");
    }

    #[test]
    fn a_waiting_run_can_be_cancelled() {
        let mut run = start(json!([sleep("nap", "1h")]));
        run.cancel();
        assert_eq!(run.path(), "PENDING RUNNING WAITING CANCELLED");
    }

    #[test]
    fn a_paused_run_can_go_on() {
        let mut run = start(json!([task("a"), task("b")]));
        run.pause();
        run.complete("a", json!(1));
        run.unpause();
        run.complete("b", json!(1));
        assert_eq!(run.path(), "PENDING RUNNING PAUSED RUNNING COMPLETED");
    }

    #[test]
    fn a_paused_run_can_be_cancelled() {
        let mut run = start(json!([task("a"), task("b")]));
        run.pause();
        run.complete("a", json!(1));
        run.cancel();
        assert_eq!(run.path(), "PENDING RUNNING PAUSED CANCELLED");
    }

    #[test]
    fn a_waiting_run_is_paused_through_running() {
        let mut run = start(json!([sleep("nap", "1h"), task("a")]));
        run.pause();
        run.live("1h");
        assert_eq!(run.path(), "PENDING RUNNING WAITING RUNNING PAUSED");
    }
}

mod step {
    use super::*;
    use StepStatus::{Cancelled, Completed, Failed, Pending, Running, Skipped, Waiting};

    #[test]
    fn a_pending_step_may_become_running_skipped_or_cancelled_and_nothing_else() {
        allows_only(Pending, &StepStatus::ALL, &[Running, Skipped, Cancelled]);
    }

    #[test]
    fn a_running_step_may_become_waiting_completed_failed_or_cancelled_and_nothing_else() {
        allows_only(Running, &StepStatus::ALL, &[Waiting, Completed, Failed, Cancelled]);
    }

    #[test]
    fn a_waiting_step_may_become_running_completed_failed_or_cancelled_and_nothing_else() {
        allows_only(Waiting, &StepStatus::ALL, &[Running, Completed, Failed, Cancelled]);
    }

    #[test]
    fn a_failed_step_may_become_running_and_nothing_else() {
        allows_only(Failed, &StepStatus::ALL, &[Running]);
    }

    #[test]
    fn a_completed_step_stays_completed() {
        allows_only(Completed, &StepStatus::ALL, &[]);
    }

    #[test]
    fn a_skipped_step_stays_skipped() {
        allows_only(Skipped, &StepStatus::ALL, &[]);
    }

    #[test]
    fn a_cancelled_step_stays_cancelled() {
        allows_only(Cancelled, &StepStatus::ALL, &[]);
    }

    #[test]
    fn a_step_that_works_runs_and_completes() {
        let mut run = start(json!([task("a")]));
        run.complete("a", json!(1));
        assert_eq!(run.step_path("a"), "RUNNING COMPLETED");
    }

    #[test]
    fn a_step_that_waits_runs_waits_and_completes() {
        let mut run = start(json!([sleep("nap", "1h")]));
        run.live("1h");
        assert_eq!(run.step_path("nap"), "RUNNING WAITING COMPLETED");
    }

    #[test]
    fn a_task_that_waits_runs_again_before_it_completes() {
        let mut run = start(json!([task("a")]));
        run.suspend("a", vec![for_sleep("nap", "1h")]);
        run.live("1h");
        run.complete("a", json!(1));
        assert_eq!(run.step_path("a"), "RUNNING WAITING RUNNING COMPLETED");
    }

    #[test]
    fn a_step_that_fails_waits_for_its_next_attempt() {
        let mut run = start(json!([task("a").tries(2)]));
        run.fail("a");
        run.live("1m");
        run.fail("a");
        assert_eq!(run.step_path("a"), "RUNNING WAITING RUNNING FAILED");
    }

    #[test]
    fn a_failed_step_runs_again_when_its_run_is_retried() {
        let mut run = start(json!([task("a")]));
        run.fail_for_good("a");
        run.retry();
        assert_eq!(run.step_path("a"), "RUNNING FAILED RUNNING");
    }

    #[test]
    fn a_waiting_step_can_fail() {
        let mut run = start(json!([signal("s", "go").also(json!({ "timeout": "1h" }))]));
        run.live("1h");
        assert_eq!(run.step_path("s"), "RUNNING WAITING FAILED");
    }

    #[test]
    fn a_step_is_skipped_without_running() {
        let run = start(json!([task("a").also(json!({ "when": "false" })), task("b")]));
        assert_eq!(run.step_path("a"), "SKIPPED");
    }

    #[test]
    fn running_and_waiting_steps_are_cancelled_with_their_run_and_the_rest_never_begins() {
        let steps = json!([task("a").after(&[]), sleep("nap", "1h").after(&[]), task("b").after(&["a"])]);
        let mut run = start(steps);
        run.cancel();
        assert_eq!(run.step_path("a"), "RUNNING CANCELLED");
        assert_eq!(run.step_path("nap"), "RUNNING WAITING CANCELLED");
        assert_eq!((run.step_path("b").as_str(), run.step("b").as_str()), ("", "CANCELLED"));
    }
}

mod waitpoint {
    use super::*;

    #[test]
    fn a_pending_waitpoint_may_become_completed_timed_out_or_cancelled_and_nothing_else() {
        let legal = [WaitStatus::Completed, WaitStatus::TimedOut, WaitStatus::Cancelled];
        allows_only(WaitStatus::Pending, &WAITS, &legal);
    }

    #[test]
    fn a_completed_waitpoint_stays_completed() {
        allows_only(WaitStatus::Completed, &WAITS, &[]);
    }

    #[test]
    fn a_timed_out_waitpoint_stays_timed_out() {
        allows_only(WaitStatus::TimedOut, &WAITS, &[]);
    }

    #[test]
    fn a_cancelled_waitpoint_stays_cancelled() {
        allows_only(WaitStatus::Cancelled, &WAITS, &[]);
    }

    #[test]
    fn a_waitpoint_is_completed_by_what_it_waits_for() {
        let mut run = start(json!([signal("s", "go")]));
        run.signal("go", json!({}));
        assert_eq!(run.wait_status("s"), "COMPLETED");
    }

    #[test]
    fn a_waitpoint_times_out_at_its_deadline() {
        let mut run = start(json!([signal("s", "go").also(json!({ "timeout": "1h" }))]));
        run.live("1h");
        assert_eq!(run.wait_status("s"), "TIMED_OUT");
    }

    #[test]
    fn a_waitpoint_can_be_cancelled() {
        let mut run = start(json!([signal("s", "go")]));
        run.steer("s", Steering::Cancel);
        assert_eq!(run.wait_status("s"), "CANCELLED");
    }
}
