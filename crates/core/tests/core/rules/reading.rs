//! R7 Reading changes nothing: opening a link resolves only a waitpoint that was made to allow it.

use abide_core::command::{Command, CreateWaitpoint, ResumeTarget, Via, WaitFor};
use serde_json::json;

use crate::scenario::*;

#[test]
fn r07_opening_a_link_decides_nothing() {
    let mut run = start(json!([webhook("w")]));
    for _ in 0..3 {
        assert_eq!(run.open_link("w").code(), "READ_ONLY");
    }
    assert_eq!((run.wait_status("w"), run.status()), ("PENDING".to_owned(), "WAITING".to_owned()));
    run.call("w", json!("by a person"));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r07_allow_get_lets_a_plain_link_resume() {
    let mut run = start(json!([webhook("w").also(json!({ "allowGet": true }))]));
    run.open_link("w");
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r07_opening_the_link_of_a_step_that_has_not_begun_decides_nothing() {
    let mut run = start(json!([task("a"), webhook("w"), webhook("open").also(json!({ "allowGet": true }))]));
    let link = |step: &str| ResumeTarget::Step { step: step.to_owned(), wait: None };
    assert_eq!(run.resume(link("w"), json!(null), Via::Read).code(), "READ_ONLY");
    run.resume(link("open"), json!(null), Via::Read);
    assert_eq!(run.run().waitpoints().len(), 1);
}

#[test]
fn r07_a_worker_s_waitpoint_says_itself_whether_a_plain_link_resumes_it() {
    let mut run = start(json!([task("a")]));
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    for (name, allow_get) in [("closed", false), ("open", true)] {
        let wait = WaitFor::Call { allow_get, timeout: None };
        let (name, asked, response) = (name.into(), None, None);
        let create = CreateWaitpoint { at, lease_epoch, name, wait, asked, response };
        run.send(Command::CreateWaitpoint(create));
    }
    assert_eq!(run.resume(ResumeTarget::Waitpoint(1), json!(null), Via::Read).code(), "READ_ONLY");
    run.resume(ResumeTarget::Waitpoint(2), json!(null), Via::Read);
}

#[test]
fn r07_opening_a_link_that_was_used_shows_what_was_decided() {
    let mut run = start(json!([webhook("w")]));
    run.call("w", json!("yes"));
    assert_eq!(run.open_link("w").code(), "ALREADY_RESOLVED");
}
