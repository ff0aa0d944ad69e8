//! R12 on the task board: what the row of a task is after a round, and what the end of its lease leads to.

use abide_core::board::{IN_PROCESS, TaskRow, TaskWrite, lease_ended, task_row};
use abide_core::command::{Command, LeaseLoss, LeaseLost};
use abide_core::run::Timer;
use abide_core::time::Millis;
use serde_json::json;

use crate::scenario::*;

const HOLD: Millis = Millis(10_000);

fn write(run: &Scenario, lease: Option<Millis>, works_here: bool) -> Option<TaskWrite> {
    task_row(run.run(), run.at("a"), run.now, lease, HOLD, |_, _| works_here)
}

#[track_caller]
fn put(run: &Scenario, lease: Option<Millis>, works_here: bool) -> TaskRow {
    match write(run, lease, works_here) {
        Some(TaskWrite::Put(row)) => row,
        other @ (Some(TaskWrite::Remove { .. } | TaskWrite::Renew { .. }) | None) => panic!("{other:?}"),
    }
}

#[test]
fn r12_a_task_that_nobody_has_is_free_at_once() {
    let run = start(json!([task("a")]));
    let row = put(&run, None, false);
    assert_eq!((row.is_taken, row.has_begun, row.free_at), (false, false, run.now));
}

#[test]
fn r12_a_task_that_a_worker_took_in_the_round_is_its_own_for_the_lease() {
    let mut run = start(json!([task("a")]));
    run.take("a", "w");
    let lease = Millis(30_000);
    let row = put(&run, Some(lease), false);
    assert_eq!((row.is_taken, row.has_begun, row.lease), (true, true, lease));
    assert_eq!(row.free_at, lease.after(run.now));
}

#[test]
fn r12_the_row_of_a_task_that_was_taken_in_an_earlier_round_stays() {
    let mut run = start(json!([task("a")]));
    run.take("a", "w");
    assert_eq!(write(&run, None, true), None);
}

#[test]
fn r12_a_task_that_a_handler_here_does_or_is_about_to_do_is_held_by_the_process() {
    let mut run = start(json!([task("a")]));
    let about_to = put(&run, None, true);
    assert_eq!((about_to.is_taken, about_to.has_begun, about_to.lease), (true, false, HOLD));
    run.take("a", IN_PROCESS);
    let does = put(&run, None, false);
    assert_eq!((does.is_taken, does.has_begun, does.free_at), (true, true, HOLD.after(run.now)));
}

#[test]
fn r12_no_lease_reaches_beyond_the_attempt_s_deadline() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "5s" }))]));
    run.take("a", "w");
    let row = put(&run, Some(Millis(30_000)), false);
    assert_eq!((Some(row.free_at), row.deadline), (row.deadline, Some(Millis(5_000).after(run.now))));
}

#[test]
fn r12_a_task_that_is_over_is_removed_under_the_number_it_had() {
    let mut run = start(json!([task("a"), sleep("b", "1d")]));
    run.lose_worker("a");
    run.complete("a", json!(1));
    let (run_id, at) = (run.run().id, run.at("a"));
    assert_eq!(write(&run, None, false), Some(TaskWrite::Remove { run: run_id, at, lease_epoch: 2 }));
}

#[test]
fn r12_the_end_of_a_worker_s_lease_counts_and_that_of_a_process_does_not() {
    for (worker, loss) in [("w", LeaseLoss::Expired), (IN_PROCESS, LeaseLoss::Released)] {
        let mut run = start(json!([task("a")]));
        run.take("a", worker);
        let at = run.at("a");
        let lost = Command::LeaseLost(LeaseLost { at, lease_epoch: 1, loss });
        assert_eq!(lease_ended(Some(run.run()), at, 1, run.now), lost, "{worker}");
    }
}

#[test]
fn r12_a_lease_that_ends_with_the_attempt_s_time_is_a_timeout() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "5s" }))]));
    run.take("a", "w");
    let at = run.at("a");
    run.advance("5s");
    let fired = Command::TimerFired(Timer::Attempt { at, lease_epoch: 1 });
    assert_eq!(lease_ended(Some(run.run()), at, 1, run.now), fired);
}
