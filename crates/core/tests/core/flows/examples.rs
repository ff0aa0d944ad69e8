//! The examples, walked from start to end in virtual time.

use abide_core::command::{Command, Vote};
use abide_core::definition::{Definition, Hook};
use abide_core::effect::AfterCommit;
use abide_core::waitpoint::Decision;
use serde_json::{Value, json};

use crate::scenario::*;

fn example(text: &str, input: Value) -> Plan {
    match Definition::from_text(text) {
        Ok(checked) => Plan::of(checked.definition).input(input),
        Err(rejected) => panic!("{rejected}"),
    }
}

macro_rules! example {
    ($file:literal, $input:expr) => {
        example(include_str!(concat!("../../../../../examples/", $file)), $input)
    };
}

#[test]
fn the_drip_campaign_sends_three_mails_in_a_week() {
    let mut run = example!("drip-campaign.yaml", json!({ "email": "ana@example.com" })).start();
    assert_eq!(*run.task("send-welcome").input, json!({ "to": "ana@example.com", "template": "welcome" }));
    run.complete("send-welcome", json!({ "sent": 1 }));
    run.live("1d 23h 59m");
    assert_eq!(run.status(), "WAITING");
    run.live("1m");
    run.complete("send-tips", json!({ "sent": 2 }));
    assert_eq!(run.waiting_for(), ["`wait-five-days` waits for the clock: 2026-03-08T08:00:00Z"]);
    run.live("5d");
    run.fail("send-offer");
    run.live("10s");
    run.complete("send-offer", json!({ "sent": 3 }));
    assert_eq!(
        (run.status(), run.output(), run.run().waitpoints().len()),
        ("COMPLETED".to_owned(), json!({ "sent": 3 }), 3)
    );
}

#[test]
fn a_refund_that_fails_tells_ops_and_one_that_is_cancelled_releases_what_was_reserved() {
    let order = || example!("refund.yaml", json!({ "orderId": "o-7", "amount": 30 })).start();
    let mut failed = order();
    failed.complete("reserve", json!({ "reservation": 4 }));
    failed.live("2d");
    failed.fail_for_good("pay");
    let hook = failed.children()[0].clone();
    let definition = failed.run().definition.hook(Hook::OnFailure).unwrap();
    let input = Value::clone(hook.input.given().unwrap());
    let told = Plan::shared(std::sync::Arc::clone(definition)).input(input).start();
    assert_eq!(*told.task("onFailure").config, json!({ "subject": "Refund of o-7 failed: it went wrong" }));
    let mut cancelled = order();
    cancelled.complete("reserve", json!({ "reservation": 4 }));
    cancelled.cancel();
    let hook = cancelled.children()[0].clone();
    assert_eq!(
        (&*hook.definition, &hook.input.given().unwrap()["state"]),
        ("$onCancel/refund", &json!({ "reserved": { "reservation": 4 } }))
    );
}

#[test]
fn the_drip_campaign_refuses_a_subscriber_without_an_address() {
    assert_eq!(example!("drip-campaign.yaml", json!({ "name": "Ana" })).refused().code(), "INVALID_INPUT");
}

#[test]
fn a_payment_within_three_days_ships_and_a_later_one_finds_the_goods_released() {
    let mut paid = example!("payment.json", json!({})).start();
    paid.signal("payment.received", json!({ "amount": 99.0 }));
    paid.complete("reserve", json!(1));
    assert_eq!(*paid.task("ship").input, json!({ "paid": 99.0 }));
    paid.complete("ship", json!(1));
    assert_eq!((paid.status(), paid.step("release")), ("COMPLETED".to_owned(), "SKIPPED".to_owned()));
    let mut late = example!("payment.json", json!({})).start();
    late.complete("reserve", json!(1));
    late.live("3d");
    assert_eq!((late.step("ship"), late.step("release")), ("SKIPPED".to_owned(), "RUNNING".to_owned()));
}

#[test]
fn a_hot_lead_gets_a_call_and_a_cold_one_a_newsletter() {
    let route = |score: u32| {
        let mut run = example!("lead-routing.json", json!({})).start();
        run.update("score", json!({ "leadScore": score }));
        run.steps()
    };
    assert_eq!(
        route(80),
        "score COMPLETED, is-hot COMPLETED, call RUNNING, newsletter PENDING, record PENDING"
    );
    assert_eq!(
        route(79),
        "score COMPLETED, is-hot COMPLETED, call SKIPPED, newsletter RUNNING, record PENDING"
    );
}

#[test]
fn an_e_mail_is_sent_as_a_person_has_edited_it() {
    let mut run = example!("approve-email.json", json!({ "leadName": "Ana" })).start();
    run.complete("draft", json!("Dear Anna"));
    assert_eq!(run.approve("someone@example.com", "review").code(), "NOT_AN_APPROVER");
    run.edit("ana@example.com", "review", json!("Dear Ana"));
    assert_eq!(*run.task("send").input, json!({ "text": "Dear Ana" }));
}

#[test]
fn an_e_mail_nobody_reads_in_two_days_is_filed_away() {
    let mut run = example!("approve-email.json", json!({ "leadName": "Ana" })).start();
    run.complete("draft", json!("Dear Ana"));
    run.live("2d");
    assert_eq!((run.step("send"), run.step("file-away")), ("SKIPPED".to_owned(), "RUNNING".to_owned()));
}

#[test]
fn the_second_call_of_the_pipeline_comes_thirty_seconds_after_the_first() {
    let mut run = example!("rate-limited-pipeline.yaml", json!({})).start();
    run.complete("call-api", json!(1));
    assert_eq!(run.steps(), "call-api COMPLETED, cooldown WAITING, write-log RUNNING, call-again PENDING");
    run.complete("write-log", json!(1));
    run.live("29s");
    assert_eq!(run.step("call-again"), "PENDING");
    run.live("1s");
    assert_eq!(run.step("call-again"), "RUNNING");
}

#[test]
fn a_parcel_is_followed_by_its_own_events() {
    let mut run = example!("parcel.yaml", json!({ "parcelId": "p-1" })).start();
    run.notify("parcel.delivered", json!({ "parcelId": "p-1" }));
    run.complete("hand-over", json!(1));
    assert_eq!(run.look_back(), ["delivered"]);
    assert_eq!(run.step("thank-customer"), "RUNNING");
    let mut lost = example!("parcel.yaml", json!({ "parcelId": "p-1" })).start();
    lost.complete("hand-over", json!(1));
    assert!(lost.notify("parcel.delivered", json!({ "parcelId": "p-2" })).is_empty());
    lost.live("14d");
    assert_eq!(lost.step("ask-carrier"), "RUNNING");
}

#[test]
fn the_form_s_sender_is_answered_at_once_and_the_contract_is_filed_when_it_is_signed() {
    let mut run = example!("contract-signing.json", json!({ "email": "ana@example.com" })).start();
    run.complete("prepare", json!(1));
    let AfterCommit::Respond { response } = &run.last_after_commit()[0] else {
        panic!("the sender is answered")
    };
    assert_eq!(
        (&response["status"], &response["body"]["message"]),
        (&json!(202), &json!("The contract is on its way to ana@example.com."))
    );
    run.advance("20d");
    run.call("signed", json!({ "by": "Ana" }));
    assert_eq!(run.step("file"), "RUNNING");
}

#[test]
fn thumbnails_are_made_eight_at_a_time_and_a_broken_image_does_not_spoil_the_others() {
    let images: Vec<Value> = (0..10).map(|n| json!({ "url": format!("https://example.com/{n}") })).collect();
    let mut run = example!("thumbnails.json", json!({ "images": images })).start();
    assert_eq!(run.dispatched().len(), 8);
    run.fail_for_good("resize[3]");
    for item in (0..10).filter(|item| *item != 3) {
        run.complete(&format!("resize[{item}]"), json!(item));
    }
    assert_eq!(run.state()["thumbnails"][3]["error"]["code"], json!("TASK_FAILED"));
    assert_eq!(run.step("publish"), "RUNNING");
}

#[test]
fn the_weekly_report_is_sent_on_monday_at_nine_in_berlin() {
    let mut run = example!("weekly-report.yaml", json!({})).at("2026-03-28T12:00:00Z").start();
    run.complete("collect", json!(1));
    assert_eq!(run.resume_at("monday-morning"), instant("2026-03-30T07:00:00Z"));
    run.live("2d");
    run.complete("send", json!(1));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn onboarding_waits_for_the_set_up_and_not_for_the_campaign() {
    let mut run = example!("onboarding.yaml", json!({ "customer": { "email": "ana@example.com" } })).start();
    assert_eq!((run.children().len(), run.children()[0].version.as_deref()), (1, Some("2")));
    run.child_completes("set-up", json!({ "account": 7 }));
    assert_eq!((run.children().len(), run.step("hand-over").as_str()), (2, "RUNNING"));
    assert_eq!(**run.children()[1].input.given().unwrap(), json!({ "email": "ana@example.com" }));
}

#[test]
fn expense_is_decided_by_two_others_or_by_an_admin_later() {
    let mut run = example!("expense.yaml", json!({})).start();
    run.signal("receipt", json!({ "amount": 42 }));
    assert_eq!(run.approve("starter", "review").code(), "SELF_APPROVAL");
    run.approve("ana@example.com", "review");
    run.live("3d");
    assert_eq!((run.count("APPROVAL_REMINDED"), run.count("APPROVAL_ESCALATED")), (2, 1));
    let vote = Vote { scopes: vec!["admin".into()], ..Vote::new(run.wait("review"), Decision::Approve) };
    run.send_as("root", Command::Vote(vote));
    assert_eq!(run.task("settle").input["decision"], json!("approve"));
}

#[test]
fn the_outcome_of_an_order_is_the_first_of_three_and_it_ships_when_all_is_ready() {
    let order = || example!("order-outcome.yaml", json!({ "orderId": "o-7" })).start();
    let mut paid = order();
    paid.notify("order.paid", json!({ "orderId": "o-8" }));
    assert_eq!(paid.step("outcome"), "WAITING");
    paid.notify("order.paid", json!({ "orderId": "o-7", "amount": 30 }));
    paid.notify("order.packed", json!({ "orderId": "o-7" }));
    paid.signal("carrier.confirmed", json!({ "by": "ana" }));
    assert_eq!(*paid.task("ship").input, json!({ "order": "o-7", "carrier": "desk" }));
    let mut withdrawn = order();
    withdrawn.signal("withdraw", json!({}));
    assert_eq!(withdrawn.step("file-away"), "RUNNING");
    let mut late = order();
    late.live("3d");
    assert_eq!(late.step("remind"), "RUNNING");
}
