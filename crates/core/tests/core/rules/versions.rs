//! R13 Definitions are immutable and versioned; a run keeps the version it began with.

use serde_json::json;

use crate::scenario::*;

#[test]
fn r13_a_run_says_which_version_it_began_with_for_ever() {
    let mut run =
        start(json!({ "name": "mailing", "version": "7", "steps": [sleep("nap", "1d"), task("a")] }));
    run.live("1d");
    run.fail_for_good("a");
    run.retry();
    let kept = &run.run().definition_ref;
    assert_eq!((&*kept.name, &*kept.version), ("mailing", "7"));
}

#[test]
fn r13_a_newer_version_changes_nothing_for_a_run_under_way() {
    let mut old = start(json!({ "version": "1", "steps": [sleep("nap", "1d"), task("a")] }));
    let newer = start(json!({ "version": "2", "steps": [task("b")] }));
    old.live("1d");
    assert_eq!((old.steps(), newer.steps()), ("nap COMPLETED, a RUNNING".to_owned(), "b RUNNING".to_owned()));
}

#[test]
fn r13_the_version_is_one_unless_it_is_said() {
    assert_eq!(&*start(json!([task("a")])).run().definition_ref.version, "1");
}

#[test]
fn r13_a_child_is_asked_for_by_the_version_its_parent_names() {
    let run =
        start(json!([child("new").after(&[]), child("pinned").also(json!({ "version": "3" })).after(&[])]));
    let versions: Vec<Option<&str>> = run.children().iter().map(|child| child.version.as_deref()).collect();
    assert_eq!(versions, [None, Some("3")]);
}
