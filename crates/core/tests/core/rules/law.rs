//! R10 The transition tables are law, for a replayed history as for a decision; the history is append-only.

use abide_core::apply::BadHistory;
use abide_core::history::{Change, Record};
use abide_core::run::Run;
use abide_core::waitpoint::{Actor, Kind};
use serde_json::json;

use crate::scenario::*;

fn next(run: &Run, change: Change) -> Record {
    Record { seq: run.seq + 1, at: instant(MORNING), by: Actor::new("nobody"), traceparent: None, change }
}

#[test]
fn r10_a_record_that_breaks_the_law_is_refused_and_both_states_are_named() {
    let mut scenario = start(json!([task("a")]));
    scenario.complete("a", json!(1));
    let mut run = scenario.run().clone();
    let record = next(&run, Change::WorkflowResumed);
    let refusal = run.apply(&record).expect_err("a completed run does not go on");
    assert_eq!(refusal.to_string(), "a run cannot go from COMPLETED to RUNNING");
}

#[test]
fn r10_a_step_cannot_be_moved_against_the_law_either() {
    let scenario = start(json!([task("a"), task("b")]));
    let mut run = scenario.run().clone();
    let record = next(&run, Change::StepSkipped { at: scenario.at("a") });
    let refusal = run.apply(&record).expect_err("a running step is not skipped");
    assert_eq!(refusal.to_string(), "a step cannot go from RUNNING to SKIPPED");
}

#[test]
fn r10_a_waitpoint_cannot_be_resolved_twice_by_any_history() {
    let mut scenario = start(json!([sleep("nap", "1h"), task("a")]));
    scenario.live("1h");
    let resolved = scenario.history().iter().find(|record| record.change.name() == "WAIT_RESOLVED").cloned();
    let mut run = scenario.run().clone();
    let record = next(&run, resolved.expect("the sleep is over").change);
    let refusal = run.apply(&record).expect_err("it is resolved");
    assert_eq!(refusal.to_string(), "a waitpoint cannot go from COMPLETED to COMPLETED");
}

#[test]
fn r10_a_history_with_a_gap_is_no_history() {
    let mut scenario = start(json!([task("a"), task("b")]));
    scenario.complete("a", json!(1));
    let torn = scenario.history().iter().filter(|record| record.seq != 3);
    let refusal = Run::replay(scenario.definition(), torn).expect_err("a record is missing");
    assert_eq!(refusal, BadHistory::Gap { last: 2, found: 4 });
}

#[test]
fn r10_a_history_begins_with_its_creation_and_has_it_once() {
    let scenario = start(json!([task("a")]));
    let headless = scenario.history().iter().skip(1);
    assert_eq!(Run::replay(scenario.definition(), headless).err(), Some(BadHistory::NotCreated));
    assert_eq!(Run::replay(scenario.definition(), []).err(), Some(BadHistory::NotCreated));
    let mut run = scenario.run().clone();
    let again = next(&run, scenario.history()[0].change.clone());
    assert_eq!(run.apply(&again), Err(BadHistory::NotCreated));
}

#[test]
fn r10_every_prefix_of_a_history_is_a_run() {
    let mut scenario = start(json!([task("a").tries(2), sleep("nap", "1h"), signal("s", "go")]));
    scenario.fail("a");
    scenario.live("1m");
    scenario.complete("a", json!(1));
    scenario.live("1h");
    scenario.signal("go", json!({}));
    for length in 1..=scenario.history().len() {
        let run =
            Run::replay(scenario.definition(), &scenario.history()[..length]).expect("a cut history replays");
        assert_eq!(run.seq, length as u64);
    }
}

#[test]
fn r10_the_history_counts_from_one_without_gaps_and_says_who_and_when() {
    let mut run = start(json!([sleep("nap", "1h")]));
    run.live("1h");
    let counted: Vec<u64> = run.history().iter().map(|record| record.seq).collect();
    assert_eq!(counted, (1..=run.run().seq).collect::<Vec<_>>());
    let (first, last) = (&run.history()[0], run.history().last().expect("a record"));
    assert_eq!((first.by.to_string(), first.at), ("starter".to_owned(), instant(MORNING)));
    assert_eq!((last.by.to_string(), last.at), ("clock".to_owned(), instant("2026-03-01T09:00:00Z")));
}

#[test]
fn r10_a_wait_is_told_in_the_history_with_its_reason_and_its_instant() {
    let run = start(json!([sleep("nap", "1h")]));
    let paused = run.history().last().map(|record| record.change.clone());
    let resume_at = Some(instant("2026-03-01T09:00:00Z"));
    assert_eq!(paused, Some(Change::WorkflowPaused { reason: Kind::Delay, resume_at }));
}

#[test]
fn r10_a_record_is_one_flat_json_object_with_its_name_as_type() {
    let run = start(json!([sleep("nap", "1h")]));
    let record = serde_json::to_value(run.history().last().expect("a record")).expect("a record is JSON");
    let expected = json!({
        "seq": 5, "time": "2026-03-01T08:00:00Z", "by": "starter",
        "type": "WORKFLOW_PAUSED", "reason": "DELAY", "resumeAt": "2026-03-01T09:00:00Z",
    });
    assert_eq!(record, expected);
}
