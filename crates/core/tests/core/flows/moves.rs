//! Moving a run to another version of its workflow: where its past fits it goes on there, and nothing that it has done or
//! waits for is lost.

use abide_core::moving::MisfitCode;
use abide_core::refusal::Refusal;
use serde_json::{Value, json};

use crate::scenario::*;

/// The codes and steps of what does not fit.
#[track_caller]
fn misfits(answer: Answer) -> Vec<(MisfitCode, String)> {
    let Refusal::DoesNotFit(misfits) = answer.refused() else { panic!("it fits, or is refused otherwise") };
    misfits.into_iter().map(|misfit| (misfit.code, misfit.step.unwrap_or_default())).collect()
}

fn misfit(code: MisfitCode, step: &str) -> Vec<(MisfitCode, String)> {
    vec![(code, step.to_owned())]
}

#[test]
fn steps_that_have_not_begun_may_be_added_removed_and_changed() {
    let mut run = start(json!([task("a"), sleep("nap", "1d"), task("b"), task("c")]));
    run.complete("a", json!({ "ok": true }));
    let ends = run.resume_at("nap");
    run.move_to("2", json!([task("a"), sleep("nap", "9d"), signal("b", "go"), task("d"), task("e")]));
    assert_eq!(&*run.run().definition_ref.version, "2");
    assert_eq!(run.steps(), "a COMPLETED, nap WAITING, b PENDING, d PENDING, e PENDING");
    assert_eq!((run.resume_at("nap"), run.output_of("a")), (ends, json!({ "ok": true })));
    run.live("1d");
    run.signal("go", json!({}));
    for step in ["d", "e"] {
        run.complete(step, json!(step));
    }
    assert_eq!((run.status(), run.output()), ("COMPLETED".to_owned(), json!("e")));
}

#[test]
fn a_move_is_one_record_that_names_both_versions() {
    let mut run = start(json!([sleep("nap", "1d"), task("a")]));
    let before = run.history().len();
    run.move_to("2", json!([sleep("nap", "1d"), task("b")]));
    let records = serde_json::to_value(&run.history()[before..]).unwrap();
    assert_eq!(records.as_array().unwrap().len(), 1);
    let record = &records[0];
    assert_eq!((&record["type"], &record["by"]), (&json!("WORKFLOW_MOVED"), &json!("tester")));
    assert_eq!((&record["from"]["version"], &record["to"]["version"]), (&json!("1"), &json!("2")));
}

#[test]
fn a_run_may_be_moved_there_and_back() {
    let one = json!([task("a"), sleep("nap", "1d"), task("b")]);
    let two = json!([condition("if", "input.new", "a", "a"), task("a"), sleep("nap", "1d"), task("c")]);
    let mut run = start(one.clone());
    run.complete("a", json!(1));
    assert_eq!(misfits(run.move_to("2", two)), misfit(MisfitCode::StepNotDone, "if"));
    run.move_to("3", json!([task("a"), sleep("nap", "1d"), task("x"), task("b")]));
    run.move_to("1", one);
    run.live("1d");
    run.complete("b", json!(2));
    assert_eq!((run.status(), run.output()), ("COMPLETED".to_owned(), json!(2)));
}

#[test]
fn moving_to_the_version_it_has_changes_nothing() {
    let mut run = start(json!([sleep("nap", "1d")]));
    let before = run.history().len();
    run.move_to("1", json!([sleep("nap", "1d")]));
    assert_eq!(run.history().len(), before);
}

#[test]
fn only_a_run_that_stands_still_is_moved() {
    let steps = || json!([task("a"), sleep("nap", "1d")]);
    let mut run = start(steps());
    assert_eq!(run.move_to("2", steps()).code(), "RUN_NOT_WAITING");
    run.complete("a", json!(1));
    run.move_to("2", steps());
    run.live("1d");
    assert_eq!(run.move_to("3", steps()).code(), "RUN_ENDED");
}

#[test]
fn a_delayed_start_begins_with_the_steps_of_the_version_it_was_moved_to() {
    let mut run = plan(json!([task("a")])).delayed_until("2026-03-01T09:00:00Z").start();
    run.move_to("2", json!([sleep("nap", "1h"), task("z").after(&["nap"])]));
    assert_eq!(run.status(), "PENDING");
    run.live("1h");
    assert_eq!(run.steps(), "nap WAITING, z PENDING");
}

#[test]
fn what_the_run_has_done_must_be_there_and_of_the_same_type() {
    let mut run = start(json!([task("a"), task("b"), sleep("nap", "1d")]));
    run.complete("a", json!(1));
    run.complete("b", json!(1));
    let answer = run.move_to("2", json!([signal("b", "x"), sleep("nap", "1d")]));
    let both = [(MisfitCode::StepMissing, "a".to_owned()), (MisfitCode::StepTypeChanged, "b".to_owned())];
    assert_eq!(misfits(answer), both);
    run.move_to("3", json!([task("b"), task("a"), sleep("nap", "1d")]));
    assert_eq!(run.steps(), "b COMPLETED, a COMPLETED, nap WAITING");
}

#[test]
fn another_workflow_never_fits() {
    let mut run = start(json!([sleep("nap", "1d")]));
    let other = json!({ "name": "another", "steps": [sleep("nap", "1d")] });
    assert_eq!(misfits(run.move_to("2", other)), misfit(MisfitCode::OtherWorkflow, ""));
}

#[test]
fn a_step_that_the_new_version_does_before_where_the_run_is_strands_it() {
    let mut run = start(json!([task("a"), sleep("nap", "1d")]));
    run.complete("a", json!(1));
    let checked = json!([task("a"), task("fraud-check"), sleep("nap", "1d")]);
    assert_eq!(misfits(run.move_to("2", checked)), misfit(MisfitCode::StepNotDone, "fraud-check"));
    let later = json!([sleep("nap", "1d"), task("a")]);
    assert_eq!(misfits(run.move_to("3", later)), misfit(MisfitCode::StepOutOfOrder, "a"));
}

#[test]
fn what_a_branch_jumps_over_may_change_and_stays_skipped() {
    let steps = |extra: Value| {
        let mut steps = vec![condition("if", "input.short", "nap", "long")];
        steps.extend(extra.as_array().unwrap().iter().cloned());
        steps.push(sleep("nap", "1d"));
        steps.push(task("last"));
        json!(steps)
    };
    let mut run = plan(steps(json!([task("long")]))).input(json!({ "short": true })).start();
    run.move_to("2", steps(json!([task("long"), task("longer")])));
    assert_eq!(run.steps(), "if COMPLETED, long SKIPPED, longer SKIPPED, nap WAITING, last PENDING");
    run.move_to("3", json!([condition("if", "true", "nap", "end"), sleep("nap", "1d")]));
    run.live("1d");
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn a_branch_that_would_have_gone_elsewhere_strands_the_run() {
    let steps =
        |yes: &str, no: &str| json!([condition("if", "input.ok", yes, no), task("a"), sleep("b", "1d")]);
    let mut run = plan(steps("b", "a")).input(json!({ "ok": true })).start();
    assert_eq!(misfits(run.move_to("2", steps("a", "b"))), misfit(MisfitCode::StepNotDone, "a"));
    run.move_to("3", steps("b", "end"));
}

#[test]
fn a_step_that_its_when_skipped_stays_skipped() {
    let optional = |when: Value| json!([task("a").also(when), sleep("nap", "1d")]);
    let mut run = start(optional(json!({ "when": "input.wanted" })));
    assert_eq!(misfits(run.move_to("2", optional(json!({})))), misfit(MisfitCode::StepNotDone, "a"));
    run.move_to("3", optional(json!({ "when": "true" })));
    assert_eq!(run.steps(), "a SKIPPED, nap WAITING");
}

#[test]
fn an_open_wait_must_ask_for_the_same() {
    let mut run = start(json!([signal("s", "paid")]));
    assert_eq!(misfits(run.move_to("2", json!([signal("s", "sold")]))), misfit(MisfitCode::WaitChanged, "s"));
    run.move_to("3", json!([signal("s", "paid").also(json!({ "timeout": "1h", "onTimeout": "continue" }))]));
    assert_eq!(run.waitpoint("s").resume_at, None, "a deadline stays as it was recorded");

    let event_of = |id: &str, matching: &str| json!([event("e", id).also(json!({ "match": matching }))]);
    let input = json!({ "id": 7 });
    let mut run = plan(event_of("order-{{ input.id }}", "event.ok")).input(input).start();
    assert_eq!(
        misfits(run.move_to("2", event_of("order-8", "event.ok"))),
        misfit(MisfitCode::WaitChanged, "e")
    );
    assert_eq!(misfits(run.move_to("3", event_of("order-7", "true"))), misfit(MisfitCode::WaitChanged, "e"));
    run.move_to("4", event_of("order-7", "event.ok"));
    assert_eq!(run.notify("order-7", json!({ "ok": true })).len(), 1);
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn all_misfits_are_told_at_once() {
    let mut run = start(json!([task("a"), signal("s", "paid")]));
    run.complete("a", json!(1));
    let answer = run.move_to("2", json!([task("a"), task("new"), signal("s", "sold")]));
    let both = [(MisfitCode::WaitChanged, "s".to_owned()), (MisfitCode::StepNotDone, "new".to_owned())];
    assert_eq!(misfits(answer), both);
}

#[test]
fn an_open_approval_keeps_whom_it_asks() {
    let asks = |approvers: &[&str]| {
        json!([
            task("write").also(json!({ "saveAs": "draft" })),
            approval("ok").also(json!({ "approvers": approvers }))
        ])
    };
    let mut run = start(asks(&["ana"]));
    run.complete("write", json!("text"));
    assert_eq!(misfits(run.move_to("2", asks(&["ben"]))), misfit(MisfitCode::WaitChanged, "ok"));
    run.move_to("3", asks(&["ana"]));
    run.approve("ana", "ok");
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn a_task_that_waits_keeps_its_handler_and_its_journal() {
    let mut run = start(json!([task("a"), task("b")]));
    run.take("a", "w");
    run.journal("a", &[("fetched", json!(1))]);
    run.suspend("a", vec![for_sleep("cool-off", "1d")]);
    let other = json!([task("a").also(json!({ "handler": "other" }))]);
    assert_eq!(misfits(run.move_to("2", other)), misfit(MisfitCode::WorkChanged, "a"));
    let other = json!([task("a").also(json!({ "input": { "n": 1 } }))]);
    assert_eq!(misfits(run.move_to("3", other)), misfit(MisfitCode::WorkChanged, "a"));
    run.move_to("4", json!([task("a").tries(9), task("c")]));
    run.live("1d");
    assert_eq!(run.step("a"), "RUNNING");
    run.take("a", "w");
    run.complete("a", json!(1));
    assert_eq!(run.step("c"), "RUNNING");
}

#[test]
fn a_report_from_before_the_move_is_not_taken_for_the_step_that_is_there_now() {
    let mut run = start(json!([task("a").tries(5), task("b").after(&["a"])]));
    let lease_epoch = run.lease_epoch("a");
    run.take("a", "w");
    run.fail_until("a", "1h");
    // The place of the old version's first step is that of a step which is new.
    run.move_to("2", json!([task("new"), task("a").tries(5), task("b").after(&["a"])]));
    assert_eq!(run.steps(), "new RUNNING, a WAITING, b PENDING");
    assert_eq!(run.complete_epoch("new", lease_epoch, json!("of another step")).code(), "STALE_LEASE");
    run.complete("new", json!(1));
    run.live("1h");
    assert_eq!(run.complete_epoch("a", lease_epoch, json!("late")).code(), "STALE_LEASE");
    run.complete("a", json!(1));
    assert_eq!(run.step("b"), "RUNNING");
}

#[test]
fn a_map_under_way_keeps_its_items() {
    let over = |inner: Value| json!([map("m", json!([1, 2]), inner), task("last")]);
    let mut run = start(over(signal("x", "go")));
    assert_eq!(misfits(run.move_to("2", over(sleep("x", "1d")))), misfit(MisfitCode::MapChanged, "m"));
    assert_eq!(misfits(run.move_to("3", over(signal("x", "no")))), misfit(MisfitCode::WaitChanged, "m"));
    run.move_to("4", json!([map("m", json!([]), signal("x", "go")), task("other")]));
    run.signal("go", json!({}));
    run.signal("go", json!({}));
    assert_eq!(run.steps(), "m COMPLETED, other RUNNING");
}

#[test]
fn a_child_that_is_waited_for_stays_the_child() {
    let of = |name: &str| json!([child("c").also(json!({ "definition": name }))]);
    let mut run = start(of("other"));
    assert_eq!(misfits(run.move_to("2", of("another"))), misfit(MisfitCode::ChildChanged, "c"));
    run.move_to("3", json!([child("c"), task("more")]));
    run.child_completes("c", json!(1));
    assert_eq!(run.steps(), "c COMPLETED, more RUNNING");
}

#[test]
fn in_a_graph_what_can_begin_begins() {
    let mut run = start(json!([task("a"), sleep("nap", "1d").after(&["a"]), task("z").after(&["nap"])]));
    run.complete("a", json!(1));
    run.move_to(
        "2",
        json!([
            task("new").after(&["a"]),
            task("a"),
            sleep("nap", "1d").after(&["a"]),
            task("z").after(&["nap", "new"])
        ]),
    );
    assert_eq!(run.steps(), "new RUNNING, a COMPLETED, nap WAITING, z PENDING");
    assert_eq!((run.status(), run.dispatched()), ("RUNNING".to_owned(), vec!["new".to_owned()]));
    run.complete("new", json!(1));
    run.live("1d");
    run.complete("z", json!(1));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn in_a_graph_an_event_is_offered_again_to_waits_that_stand_elsewhere() {
    let graph =
        |after: &[&str]| json!([event("first", "e"), event("second", "e").after(after), sleep("nap", "9d")]);
    let mut run = start(graph(&["first"]));
    run.notify("e", json!(1));
    assert_eq!(run.look_back(), Vec::<String>::new(), "it is the first one's");
    assert_eq!(run.steps(), "first COMPLETED, second WAITING, nap WAITING");
    run.move_to("2", graph(&[]));
    assert_eq!(run.look_back().len(), 1);
    assert_eq!(run.steps(), "first COMPLETED, second COMPLETED, nap WAITING");
}

#[test]
fn in_a_graph_a_step_must_not_come_before_what_it_is_after() {
    let mut run = start(json!([task("a"), sleep("nap", "1d").after(&["a"])]));
    run.complete("a", json!(1));
    let answer = run.move_to("2", json!([task("a"), task("b"), sleep("nap", "1d").after(&["a", "b"])]));
    assert_eq!(misfits(answer), misfit(MisfitCode::StepOutOfOrder, "nap"));
    let answer = run.move_to("3", json!([task("a"), sleep("nap", "1d")]));
    assert_eq!(misfits(answer), misfit(MisfitCode::OrderChanged, ""));
}

#[test]
fn in_a_graph_the_way_that_a_condition_took_stays_taken() {
    let graph = |more: Value| {
        let mut steps = vec![
            condition("if", "input.ok", "yes", "no"),
            sleep("yes", "1d").after(&["if"]),
            task("no").after(&["if"]),
        ];
        steps.extend(more.as_array().unwrap().iter().cloned());
        json!(steps)
    };
    let mut run = plan(graph(json!([]))).input(json!({ "ok": true })).start();
    run.move_to(
        "2",
        graph(json!([task("after-no").after(&["no"]), task("join").after(&["yes", "after-no"])])),
    );
    assert_eq!(run.steps(), "if COMPLETED, yes WAITING, no SKIPPED, after-no SKIPPED, join PENDING");
    run.live("1d");
    assert_eq!(run.step("join"), "RUNNING");
}

#[test]
fn a_paused_run_begins_what_the_new_version_says_when_it_is_unpaused() {
    let mut run = start(json!([task("a"), task("b")]));
    run.pause();
    run.complete("a", json!(1));
    assert_eq!(run.status(), "PAUSED");
    run.move_to("2", json!([task("a"), task("c"), task("b")]));
    assert_eq!((run.status(), run.dispatched()), ("PAUSED".to_owned(), Vec::<String>::new()));
    run.unpause();
    assert_eq!(run.steps(), "a COMPLETED, c RUNNING, b PENDING");
}

#[test]
fn a_paused_run_with_work_under_way_is_not_moved() {
    let steps = || json!([task("a"), task("b"), task("c").after(&["a"])]);
    let mut run = start(steps());
    run.pause();
    run.complete("a", json!(1));
    assert_eq!((run.status(), run.step("b")), ("PAUSED".to_owned(), "RUNNING".to_owned()));
    assert_eq!(run.move_to("2", steps()).code(), "RUN_NOT_WAITING");
}

#[test]
fn a_retried_run_goes_on_with_the_version_it_was_moved_to() {
    let mut run = start(json!([sleep("nap", "1d"), task("a")]));
    run.move_to("2", json!([sleep("nap", "1d"), task("b")]));
    run.live("1d");
    run.fail_for_good("b");
    run.retry();
    assert_eq!(run.steps(), "nap COMPLETED, b RUNNING");
    assert_eq!(&*run.run().definition_ref.version, "2");
}

#[test]
fn a_record_is_read_with_the_version_it_was_written_in() {
    let mut run = start(json!([sleep("nap", "1d"), task("a")]));
    let before = run.run().seq;
    run.move_to("2", json!([sleep("nap", "1d"), task("b")]));
    let run = run.run();
    let version = |seq: u64| run.version_at(seq).version.to_string();
    assert_eq!([version(before), version(before + 1), version(before + 2)], ["1", "1", "2"]);
}

#[test]
fn a_run_is_moved_only_so_often() {
    let mut run = start(json!([sleep("nap", "1d")]));
    for version in 0..abide_core::limits::MOVES {
        run.move_to(&format!("v{version}"), json!([sleep("nap", "1d")]));
    }
    assert_eq!(run.move_to("last", json!([sleep("nap", "1d")])).code(), "LIMIT_EXCEEDED");
}
