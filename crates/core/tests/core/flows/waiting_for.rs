//! What a run says it waits for, in sentences that people can read.

use serde_json::json;

use crate::scenario::*;

#[test]
fn every_kind_of_wait_says_what_would_end_it_and_until_when() {
    let day = json!({ "timeout": "1d" });
    let steps = json!([
        task("write"),
        sleep("nap", "1h").after(&["write"]),
        signal("s", "payment.received").also(day.clone()).after(&["write"]),
        event("e", "parcel")
            .also(json!({ "match": "event.id == input.id", "timeout": "1d" }))
            .after(&["write"]),
        event("any", "parcel").after(&["write"]),
        webhook("w").after(&["write"]),
        approval("ok").also(json!({ "approvers": ["anna", "ben"], "quorum": 2 })).after(&["write"]),
        approval("anyone").after(&["write"]),
        task("resting").after(&["write"]),
        task("failing").after(&["write"]),
    ]);
    let mut run = start(steps);
    run.update("write", json!({ "draft": "text" }));
    run.approve("anna", "ok");
    run.pause_task("resting", "rest", "2h");
    run.fail_until("failing", "3h");
    let expected = [
        "`nap` waits for the clock: 2026-03-01T09:00:00Z",
        "`s` waits for the signal `payment.received`, until 2026-03-02T08:00:00Z at the latest",
        "`e` waits for an event `parcel` where event.id == input.id, until 2026-03-02T08:00:00Z at the latest",
        "`any` waits for an event `parcel`",
        "`w` waits for a call on its resume URL",
        "`ok` waits for 2 approvals from anna, ben, 1 decided so far",
        "`anyone` waits for 1 approval from anyone, 0 decided so far",
        "`resting › rest` waits for the end of its worker's pause at 2026-03-01T10:00:00Z",
        "`failing` waits for its next attempt at 2026-03-01T11:00:00Z",
    ];
    assert_eq!(run.waiting_for(), expected);
}

#[test]
fn a_child_is_named_by_its_run() {
    let run = start(json!([child("c")]));
    let child = run.children()[0].run_id;
    assert_eq!(run.waiting_for(), [format!("`c` waits for the child run {child} to end")]);
}

#[test]
fn an_item_of_a_map_is_named_by_its_index() {
    let run = start(json!([map("each", json!([1, 2]), webhook("w"))]));
    assert_eq!(run.waiting_for()[1], "`each[1]` waits for a call on its resume URL");
}

#[test]
fn a_run_that_waits_for_nothing_says_nothing() {
    assert!(start(json!([task("a")])).waiting_for().is_empty());
}
