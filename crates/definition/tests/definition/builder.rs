//! The builder makes the same documents as the examples, and says at the check what it was asked in vain.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::Duration;

use abide_definition::Definition;
use abide_definition::builder::Length;
use abide_definition::document::{
    FanOut, Guardrail, Method, OnApprovalTimeout, OnTimeout, Respond, Retry, Role, StatusPattern, Tool,
    Workflow,
};
use abide_definition::problem::Code;
use abide_definition::time::Millis;
use jiff::{Timestamp, ToSpan};
use serde_json::json;

/// The document of an example.
fn example(file: &str) -> Workflow {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(file);
    Definition::from_text(&std::fs::read_to_string(path).unwrap()).unwrap().definition.document
}

#[track_caller]
fn assert_same(built: Workflow, file: &str) {
    assert_eq!(built, example(file));
    let checked = built.check().unwrap();
    assert_eq!(checked.definition.document, example(file));
}

#[test]
fn a_pipeline_reads_as_it_runs() {
    let built = Workflow::new("rate-limited-pipeline")
        .description("A graph; thirty seconds between two calls, while the log is written at the side.")
        .task("call-api", "api-call")
        .sleep("cooldown", 30.seconds())
        .after("call-api")
        .task("write-log", "write-log")
        .after("call-api")
        .task("call-again", "api-call")
        .after("cooldown");
    assert_same(built, "rate-limited-pipeline.yaml");
}

#[test]
fn waits_between_tasks() {
    let mail = |template: &str| json!({"to": "{{ input.email }}", "template": template});
    let built = Workflow::new("drip-campaign")
        .description("Three mails to a new subscriber, days apart.")
        .input_schema(json!({
            "type": "object", "required": ["email"], "properties": {"email": {"type": "string", "format": "email"}}
        }))
        .task("send-welcome", "send-email").input(mail("welcome"))
        .sleep("wait-two-days", "2d")
        .task("send-tips", "send-email").input(mail("tips"))
        .sleep("wait-five-days", "5d")
        .task("send-offer", "send-email").input(mail("offer"))
        .retry(Retry { backoff_ms: Some(2000), ..Retry::attempts(5) });
    assert_same(built, "drip-campaign.yaml");
}

#[test]
fn a_wait_for_a_time_and_one_for_an_instant() {
    let built = Workflow::new("cool-down")
        .description("Half an hour between a failed login and the next try.")
        .task("lock-account", "lock-account")
        .sleep("cool-down", Duration::from_secs(1800))
        .task("unlock-account", "unlock-account");
    assert_same(built, "cool-down.json");
    let built = Workflow::new("launch")
        .description("Publishes at a fixed instant, however early the run was started.")
        .task("prepare", "prepare-release")
        .sleep_until("until-launch", "2026-04-15T09:00:00.000Z")
        .task("publish", "publish-release");
    assert_same(built, "launch.json");
}

#[test]
fn a_condition_and_its_branches() {
    let built = Workflow::new("lead-routing")
        .description("Hot leads get a call, the others a newsletter; both end in the CRM.")
        .task("score", "score-lead")
        .condition("is-hot", "leadScore >= 80", "call")
        .otherwise("newsletter")
        .task("call", "schedule-call")
        .next("record")
        .task("newsletter", "add-to-newsletter")
        .task("record", "record-in-crm");
    assert_same(built, "lead-routing.json");
}

#[test]
fn a_signal_with_a_timeout() {
    let built = Workflow::new("payment")
        .description("Ships when the payment comes within three days, and gives the goods back to the shelf when it does not.")
        .task("reserve", "reserve-goods")
        .signal("await-payment", "payment.received").timeout(3.days()).on_timeout(OnTimeout::goto("release"))
        .task("ship", "ship-order").input(json!({"paid": "{{ state.amount }}"})).next("end")
        .task("release", "release-goods");
    assert_same(built, "payment.json");
}

#[test]
fn a_model_and_people() {
    let built = Workflow::new("draft-email")
        .description("A model drafts an e-mail to a lead.")
        .output(json!({"email": "{{ state.draftEmail }}"}))
        .task("load-lead", "load-lead")
        .llm("draft", "claude-sonnet")
        .fallback_models(["gpt-mini"])
        .system_prompt("You write short, friendly e-mails for a bicycle shop.")
        .message(Role::User, "Write an e-mail to {{state.leadName}} about the bicycle they looked at.")
        .temperature(0.7)
        .max_tokens(400)
        .save_as("draftEmail")
        .timeout("2m");
    assert_same(built, "draft-email.yaml");
    let built = Workflow::new("approve-email")
        .description("Nothing that a model wrote is sent before a person has read it.")
        .llm("draft", "claude-sonnet")
        .message(Role::User, "Write an e-mail to {{ input.leadName }}.")
        .save_as("draftEmail")
        .approval("review", "draftEmail")
        .prompt("Send this to {{ input.leadName }}?")
        .approvers(["ana@example.com", "ben@example.com"])
        .quorum(1)
        .timeout("2d")
        .on_timeout(OnApprovalTimeout::Reject)
        .on_reject(OnTimeout::goto("file-away"))
        .task("send", "send-email")
        .input(json!({"text": "{{ state.draftEmail }}"}))
        .next("end")
        .task("file-away", "file-draft");
    assert_same(built, "approve-email.json");
    let built = Workflow::new("expense")
        .description(
            "Two of three approve what somebody else spent; they are reminded, and after three days an admin may, too.",
        )
        .external_event("receipt", "receipt")
        .save_as("receipt")
        .approval("review", "receipt")
        .prompt("Pay this?")
        .approvers(["ana@example.com", "ben@example.com", "cleo@example.com"])
        .quorum(2)
        .forbid_self_approval()
        .remind_after(["1d", "2d"])
        .escalate("3d", ["scope:admin"])
        .timeout("7d")
        .on_timeout(OnApprovalTimeout::Reject)
        .on_reject(OnTimeout::Continue)
        .task("settle", "settle-expense")
        .input(json!({"decision": "{{ steps.review.output.decision }}"}));
    assert_same(built, "expense.yaml");
}

#[test]
fn events_and_webhooks() {
    let built = Workflow::new("parcel")
        .description("Follows one parcel by the events that the carrier sends about all of them.")
        .task("hand-over", "hand-over-parcel")
        .wait_for_event("delivered", "parcel.delivered")
        .matching("event.parcelId == input.parcelId")
        .timeout("14d")
        .lookback("1h")
        .on_timeout(OnTimeout::Continue)
        .condition("is-late", "steps.delivered.output.timeout", "ask-carrier")
        .otherwise("thank-customer")
        .task("ask-carrier", "ask-carrier")
        .next("end")
        .task("thank-customer", "send-email");
    assert_same(built, "parcel.yaml");
    let built = Workflow::new("contract-signing")
        .description("Started by a form: its sender is answered at once, and the signing service calls back days later.")
        .task("prepare", "prepare-contract")
        .webhook("signed")
        .response_to_send(
            Respond::status(202)
                .header("content-type", "application/json")
                .body(json!({"message": "The contract is on its way to {{ input.email }}."})),
        )
        .timeout("21d")
        .on_timeout(OnTimeout::Fail)
        .task("file", "file-contract");
    assert_same(built, "contract-signing.json");
}

#[test]
fn calls_notifications_and_answers() {
    let built = Workflow::new("enrich-company")
        .description("The engine itself calls an API; a missing company is an answer, not a failure.")
        .http("look-up", Method::Post, "https://api.example.com/companies/search")
        .header("authorization", "Bearer {{ secret.COMPANY_API_KEY }}")
        .header("accept", "application/json")
        .body(json!({"domain": "{{ input.domain }}"}))
        .timeout("20s")
        .fail_on([StatusPattern::from("5xx"), 401.into(), 403.into()])
        .retry(Retry { backoff_ms: Some(500), ..Retry::attempts(6).max_backoff_ms(60_000) })
        .task("store", "store-company")
        .when("steps[\"look-up\"].output.status == 200");
    assert_same(built, "enrich-company.yaml");
    let built = Workflow::new("price-change")
        .description("Tells every run that waits for it that a price has changed.")
        .task("save", "save-price")
        .notify("tell-everyone", "price-changed-{{ input.productId }}")
        .data(json!({"price": "{{ input.price }}"}))
        .delivery(FanOut::All);
    assert_same(built, "price-change.json");
    let answer = Respond::status(201)
        .header("cache-control", "no-store")
        .body(json!({"price": "{{ steps.price.output.price }}"}));
    let built = Workflow::new("quote")
        .description("Answers the caller as soon as the price is known, and does the slow part after that.")
        .task("price", "compute-price")
        .timeout(Millis(5000))
        .respond("answer", answer)
        .task("make-pdf", "make-pdf")
        .heartbeat("30s");
    assert_same(built, "quote.json");
}

#[test]
fn children_maps_and_cron_lines() {
    let built = Workflow::new("onboarding")
        .description(
            "Starts the drip campaign for a new customer without waiting for it, and waits for the set-up.",
        )
        .child("set-up", "set-up-account")
        .child_version("2")
        .input(json!({"customer": "{{ input.customer }}"}))
        .child("campaign", "drip-campaign")
        .input(json!({"email": "{{ input.customer.email }}"}))
        .without_waiting()
        .task("hand-over", "tell-sales");
    assert_same(built, "onboarding.yaml");
    let built = Workflow::new("thumbnails")
        .description("One task for every image, eight at a time; a broken image does not spoil the others.")
        .map("resize", "input.images", |each| {
            each.task("image", "resize-image")
                .input(json!({"url": "{{ item.url }}", "number": "{{ index }}"}))
                .retry(Retry::attempts(2))
        })
        .concurrency(8)
        .collect_failures()
        .save_as("thumbnails")
        .task("publish", "publish-gallery");
    assert_same(built, "thumbnails.json");
    let built = Workflow::new("weekly-report")
        .description("Collects now, and sends on the next Monday at nine, Berlin time.")
        .run_timeout("10d")
        .task("collect", "collect-figures")
        .cron("monday-morning", "0 9 * * MON")
        .timezone("Europe/Berlin")
        .task("send", "send-report");
    assert_same(built, "weekly-report.yaml");
}

#[test]
fn what_the_examples_do_not_show_can_be_built_too() {
    let checked = Workflow::new("w")
        .version("3")
        .default_retry(Retry::attempts(2).backoff_ms(100, 1.5))
        .external_event("a", "s")
        .at_once()
        .webhook("b")
        .allow_get()
        .after(vec!["a".to_owned()])
        .step_description("any caller")
        .llm("c", "m")
        .after(["a", "b"])
        .message(Role::User, "x")
        .tool(Tool::new("look-up").description("d").parameters(json!({"type": "object"})).handler("h"))
        .tool(Tool::new("ask").workflow("w"))
        .output_schema(json!({"type": "object"}))
        .max_tool_rounds(3)
        .guardrail(Guardrail::ContentSafety { blocked: None, judge_model: None, on_failure: None })
        .notify("d", "e")
        .to_run("{{ input.run }}")
        .after("c")
        .sleep_until("e", Timestamp::UNIX_EPOCH)
        .after("d")
        .sleep("f", "{{ input.delay }}")
        .after("e")
        .check()
        .unwrap();
    assert_eq!(checked.definition.steps.len(), 6);
    assert_eq!(checked.definition.steps[2].after, [0, 1]);
}

#[test]
fn a_modifier_that_says_nothing_about_its_step_is_a_problem() {
    let rejected = Workflow::new("w")
        .after("nothing")
        .task("a", "h")
        .otherwise("b")
        .concurrency(3)
        .sleep("b", 5.seconds())
        .timezone("UTC")
        .webhook("c")
        .on_timeout(OnApprovalTimeout::Approve)
        .check()
        .unwrap_err();
    let told: Vec<(&str, &str)> = rejected
        .problems
        .iter()
        .map(|problem| (problem.pointer.as_str(), problem.message.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("", "`after` is about a step, and there is none yet"),
            ("/steps/0", "`otherwise` says nothing about the `task` step `a`"),
            ("/steps/0", "`concurrency` says nothing about the `task` step `a`"),
            ("/steps/1", "`timezone` says nothing about the `wait` step `b`"),
            ("/steps/2", "`on_timeout` says nothing about the `webhook` step `c`"),
        ]
    );
    assert!(rejected.problems.iter().all(|problem| problem.code == Code::Contradiction));
}

#[test]
fn a_length_without_a_fixed_length_is_a_problem_at_its_place() {
    let rejected = Workflow::new("w")
        .run_timeout(1.year())
        .sleep("a", 1.month())
        .task("b", "h")
        .timeout(-5.seconds())
        .check()
        .unwrap_err();
    let told: Vec<(&str, Code)> =
        rejected.problems.iter().map(|problem| (problem.pointer.as_str(), problem.code)).collect();
    assert_eq!(
        told,
        [
            ("/steps/0", Code::Contradiction),
            ("/steps/0/durationMs", Code::BadDuration),
            ("/steps/1/timeoutMs", Code::BadDuration),
            ("/timeoutMs", Code::BadDuration),
        ]
    );
    assert!(matches!(Length::from(Duration::MAX), Length::Bad(_)));
}

#[test]
fn the_step_of_a_map_is_one_step_that_works_or_waits() {
    let inside = |step: fn(Workflow) -> Workflow| {
        let rejected = Workflow::new("w").map("m", json!([1]), step).check().unwrap_err();
        (rejected.problems[0].pointer.clone(), rejected.problems[0].message.clone())
    };
    let at = "/steps/0/step".to_owned();
    assert_eq!(inside(|each| each), (at.clone(), "a `map` does one step, and there is none".to_owned()));
    assert_eq!(
        inside(|each| each.webhook("a").webhook("b")),
        (at.clone(), "a `map` does one step, not several".to_owned())
    );
    assert_eq!(
        inside(|each| each.approval("a", "k")),
        (at.clone(), "the step of a `map` cannot be of the type `approval`".to_owned())
    );
    assert_eq!(inside(|each| each.webhook("a").prompt("p")).0, at);
    assert_eq!(inside(|each| each.task("a", "h").heartbeat(1.month())).0, "/steps/0/step/heartbeatMs");
    assert_eq!(inside(|each| each.task("a", "h").when("x")).0, at);
}

/// The SDKs check the structure of what they build by themselves. This list holds them, and this check, to the same answers.
#[test]
fn the_cases_that_the_sdks_check_are_told_the_same_way_here() {
    let cases: serde_json::Value =
        serde_json::from_str(include_str!("../../../../sdk/conformance/checks.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let mut told: Vec<(String, String)> = match Definition::from_value(case["workflow"].clone()) {
            Ok(_) => Vec::new(),
            Err(rejected) => rejected
                .problems
                .into_iter()
                .map(|problem| (problem.pointer, serde_json::to_value(problem.code).unwrap()))
                .map(|(pointer, code)| (pointer, code.as_str().unwrap().to_owned()))
                .collect(),
        };
        told.sort();
        let wanted: Vec<(String, String)> = serde_json::from_value(case["problems"].clone()).unwrap();
        assert_eq!(told, wanted, "{}", case["name"]);
    }
}

#[test]
fn several_waits_are_built_as_they_are_written() {
    let built = Workflow::new("order-outcome")
        .description("The first of several waits, and all of several.")
        .input_schema(json!({"type": "object", "required": ["orderId"], "properties": {"orderId": {"type": "string"}}}))
        .wait_any("outcome", |waits| {
            let paid = waits.wait_for_event("paid", "order.paid").matching("event.orderId == input.orderId");
            paid.signal("withdrawn", "withdraw").sleep("late", "3d")
        })
        .goto("withdrawn", "file-away")
        .goto("late", "remind")
        .wait_all("ready", |waits| {
            let packed = waits.wait_for_event("packed", "order.packed").matching("event.orderId == input.orderId");
            packed.wait_any("carrier", |ways| ways.webhook("call").signal("desk", "carrier.confirmed"))
        })
        .timeout("2d")
        .on_timeout(OnTimeout::goto("remind"))
        .task("ship", "ship")
        .input(json!({"order": "{{ input.orderId }}", "carrier": "{{ steps.ready.output.results.carrier.first }}"}))
        .next("end")
        .task("remind", "remind")
        .next("end")
        .task("file-away", "file-away");
    assert_same(built, "order-outcome.yaml");
}

#[test]
fn what_cannot_be_one_of_several_waits_is_told_where_it_stands() {
    let built = Workflow::new("w").wait_any("outcome", |waits| {
        waits
            .signal("a", "s")
            .timeout("1h")
            .task("b", "h")
            .webhook("c")
            .when("true")
            .webhook("d")
            .webhook("d")
    });
    let rejected = built.check().unwrap_err();
    let told: Vec<(&str, Code)> =
        rejected.problems.iter().map(|problem| (problem.pointer.as_str(), problem.code)).collect();
    assert_eq!(
        told,
        [
            ("/steps/0/waits/a", Code::Contradiction),
            ("/steps/0/waits/b", Code::Contradiction),
            ("/steps/0/waits/c", Code::Contradiction),
            ("/steps/0/waits/d", Code::DuplicateName),
        ]
    );
}
