//! The client has a method for every operation of the API, and its types are those of the API's document.

use std::collections::BTreeSet;
use std::process::Command;

use abide_sdk::wire::*;
use abide_sdk::{Client, CostQuery, Json, Timestamp};
use serde_json::json;

use crate::scripted::{Answer, Scripted};

const DOCUMENT: &str = include_str!("../../../../schema/openapi.json");
/// Pages for people, their sessions, and the document itself.
const PAGES: [&str; 4] = ["/", "/docs", "/openapi.json", "/api/v1/session"];

#[test]
fn the_types_are_those_of_the_document() {
    let generate = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate");
    let output = Command::new(generate).arg("--check").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn operations() -> BTreeSet<String> {
    let document: Json = serde_json::from_str(DOCUMENT).unwrap();
    let mut operations = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        // These take any method, and mean the same; the client sends a POST.
        let any = path.contains("/triggers/") || path.contains("{id}/waitpoints/{");
        if PAGES.contains(&path.as_str()) || path.ends_with("/confirm") {
            continue;
        }
        let shape = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
        let shape = shape.collect::<Vec<_>>().join("/");
        let methods = methods.as_object().unwrap().keys().map(|method| method.to_uppercase());
        operations.extend(
            methods.filter(|method| !any || method == "POST").map(|method| format!("{method} {shape}")),
        );
    }
    operations
}

#[tokio::test]
async fn there_is_a_method_for_every_operation() {
    let server = Scripted::new(&[Answer::Nothing]).await;
    let client = Client::at(&server.url).unwrap();
    ask_runs(&client).await;
    ask_waits(&client).await;
    ask_schedules_and_webhooks(&client).await;
    ask_tasks(&client).await;
    ask_admin(&client).await;
    let asked = server.asked.lock().unwrap();
    let path = |asked: &str| asked.split('?').next().unwrap().to_owned();
    let asked: BTreeSet<_> =
        asked.iter().map(|asked| format!("{} {}", asked.method, path(&asked.path))).collect();
    assert_eq!(asked, operations());
}

// The answers say nothing, so most of these are errors; what counts is what was asked.

async fn ask_runs(client: &Client) {
    let _ = client.deploy(&json!({})).await;
    let _ = client.definitions().check(&json!({})).await;
    let _ = client.definitions().check_runs(&json!({}), None).await;
    let _ = client.definitions().list(None).page().await;
    let _ = client.definitions().find("x", None).await;
    let _ = client.start("x", Json::Null).await;
    let _ = client.start_and_wait("x", Json::Null).await;
    let runs = client.runs();
    let _ = runs.start_many(&[]).await;
    let _ = runs.list(&RunFilter::default()).page().await;
    let _ = runs.find("x").await;
    let _ = runs.history("x").page().await;
    let _ = runs.follow("x", 0).try_next().await;
    let _ = client.signal("x", "x", ()).await;
    let _ = runs.cancel("x", None).await;
    let _ = runs.pause("x").await;
    let _ = runs.unpause("x").await;
    let _ = runs.retry("x").await;
    let _ = runs.move_to("x", &MoveRun::new("2")).await;
    let _ = runs.pin("x", &PinRun::new("x")).await;
    let _ = runs.unpin("x", &UnpinRun::default()).await;
    let _ = runs.cost("x").await;
    let _ = runs.bulk(&BulkCommand::new(BulkCommandAction::Pause, RunFilter::default())).await;
    let _ = client.triggers().call("x", ()).await;
    let _ = client.triggers().call_sync("x", ()).await;
    let _ = client.feed().try_next().await;
}

async fn ask_waits(client: &Client) {
    let waitpoints = client.waitpoints();
    let filter = WaitpointFilter::default();
    let _ = waitpoints.list(&filter).page().await;
    let _ = waitpoints.create(&CreateWaitpoint::new("x", "x")).await;
    let _ = waitpoints.find("x").await;
    let _ = waitpoints.reschedule("x", Timestamp::UNIX_EPOCH).await;
    let _ = waitpoints.complete("x", ()).await;
    let _ = waitpoints.skip("x", &SkipWaitpoint::default()).await;
    let _ = waitpoints.time_out("x").await;
    let _ = waitpoints.cancel("x").await;
    let _ = waitpoints.make_link("x", None).await;
    let _ = waitpoints.revoke_links("x").await;
    let _ = waitpoints.bulk(&BulkSteering::new(BulkSteeringAction::Cancel, filter)).await;
    let _ = waitpoints.resume_step("x", "x", ()).await;
    let _ = waitpoints.resume_step_sync("x", "x", ()).await;
    let _ = client.notify("x", ()).await;
    let _ = client.events().list(None).page().await;
    let _ = client.events().waiters("x").page().await;
    let _ = client.events().starts().page().await;
    let _ = client.limits().list().page().await;
    let _ = client.limits().find("x", None, None).await;
    let _ = client.limits().set("x", &serde_json::from_value(json!({ "paused": true })).unwrap()).await;
    let _ = client.approvals().list(None, None).page().await;
    let _ = client.approvals().find("x").await;
    let _ = client.approvals().decide("x", &Decide::new(Decision::Reject)).await;
}

async fn ask_schedules_and_webhooks(client: &Client) {
    let schedules = client.schedules();
    let _ = schedules.list().page().await;
    let _ = schedules.create(&NewSchedule::new("x", "x")).await;
    let _ = schedules.find("x").await;
    let _ = schedules.change("x", &ChangeSchedule::default()).await;
    let _ = schedules.remove("x").await;
    let _ = schedules.pause("x").await;
    let _ = schedules.unpause("x").await;
    let _ = schedules.trigger("x").await;
    let webhooks = client.webhooks();
    let _ = webhooks.list().page().await;
    let _ = webhooks.create(&NewWebhook::new("x", [WebhookEvent::WorkflowFailed])).await;
    let _ = webhooks.find("x").await;
    let _ = webhooks.change("x", &ChangeWebhook::default()).await;
    let _ = webhooks.remove("x").await;
    let _ = webhooks.enable("x").await;
    let _ = webhooks.rotate_secret("x", &RotateSecret::default()).await;
    let _ = webhooks.deliveries("x", None).page().await;
    let _ = webhooks.find_delivery("x", "x").await;
    let _ = webhooks.replay("x", "x").await;
    let _ = webhooks.replay_failed("x").await;
}

async fn ask_tasks(client: &Client) {
    let _ = client.tasks().poll(&PollTasks::new(["x"], "x")).await;
    let _ = client.tasks().journals(None, None).page().await;
    let _ = client.tasks().report(&[]).await;
    let reports: [TaskReport; 8] = [
        TaskReportComplete::new("x").into(),
        TaskReportFail::new("x", "x").into(),
        TaskReportPause::new("x", "x").into(),
        TaskReportSuspend::new("x", [TaskWaitSleep::new("x")]).into(),
        TaskReportHeartbeat::new("x").into(),
        TaskReportHeartbeat::new("x").checkpoint(1).into(),
        TaskReportLog::new("x", [LogLine::new("x")]).into(),
        TaskReportRelease::new("x").into(),
    ];
    for report in &reports {
        let _ = client.tasks().report_on("x", report).await;
    }
}

async fn ask_admin(client: &Client) {
    let admin = client.admin();
    let _ = admin.keys().await;
    let _ = admin.create_key(&NewKey::new("x", [Scope::Read])).await;
    let _ = admin.revoke_key("x").await;
    let _ = admin.rotate_link_secret().await;
    let _ = admin.link_secrets().await;
    let _ = admin.retire_link_secret("x").await;
    let _ = admin.revoke_links().await;
    let _ = admin.signing_key().await;
    let _ = admin.audit(None, None).await;
    let _ = admin.verify_audit().await;
    let _ = admin.held(None, None).await;
    let _ = admin.hold(&Hold::new("x")).await;
    let _ = admin.release("x").await;
    let _ = admin.workspaces().await;
    let _ = admin.create_workspace("x").await;
    let _ = admin.change_workspace("x", &Quotas::default()).await;
    let _ = admin.workers().await;
    let _ = admin.overview().await;
    let _ = admin.wake_ups(None, None, None).await;
    let _ = admin.costs(&CostQuery::default()).await;
    let _ = admin.health().await;
    let _ = admin.ready().await;
    let _ = admin.backup().await;
    let _ = admin.metrics().await;
    let _ = client.test_clock().find().await;
    let _ = client.test_clock().advance(&MoveClock::default()).await;
}
