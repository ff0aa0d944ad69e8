//! The ten cases of `docs/guides/limits.md`, as the files of `examples/limits` say them, in virtual time.

use std::sync::{Arc, Mutex};

use abide_core::command::{Command, Steer, Steering};
use abide_core::definition::Definition;
use abide_core::event_start::EventStartOutcome;
use abide_core::id::RunId;
use abide_core::schedule::{CatchUp, Overlap, Plan, When};
use abide_core::status::RunStatus::{self, Cancelled, Completed, Pending, Running, Waiting};
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_engine::stored::{Page, RunFilter};
use abide_engine::{ScheduleOrder, SendEvent, StartRun, StartedHow, TaskResult};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::host::Host;

macro_rules! case {
    ($file:literal) => {
        deployed(include_str!(concat!("../../../../examples/limits/", $file))).await
    };
}

/// The guide that shows them beside those of others.
const GUIDE: &str = include_str!("../../../../docs/guides/limits.md");

#[test]
fn every_file_stands_on_the_page_as_it_is() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/limits");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 10);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(GUIDE.contains(&format!("```yaml\n{text}```")), "{}", file.display());
    }
}

/// A host with a workflow, and nobody who does its tasks: what begins stays at work.
async fn deployed(document: &str) -> Host {
    let host = Host::new().await;
    let checked = Definition::from_text(document).unwrap();
    host.engine.default_workspace().definitions().deploy_checked(checked).await.unwrap();
    host
}

async fn start_all(host: &Host, workflow: &str, inputs: impl IntoIterator<Item = Value>) -> Vec<RunId> {
    let mut runs = Vec::new();
    for input in inputs {
        runs.push(host.engine.start(workflow, input).await.unwrap());
    }
    runs
}

async fn statuses(host: &Host, runs: &[RunId]) -> Vec<RunStatus> {
    let mut statuses = Vec::new();
    for run in runs {
        statuses.push(host.status(*run).await);
    }
    statuses
}

/// The inputs that a handler was called with from here on, and when.
async fn served(host: &Host, handler: &'static str) -> Arc<Mutex<Vec<(Timestamp, Value)>>> {
    let calls: Arc<Mutex<Vec<(Timestamp, Value)>>> = Arc::default();
    let (told, clock) = (Arc::clone(&calls), host.clock.clone());
    let serve = move |task: abide_core::task::Task| {
        told.lock().unwrap().push((abide_engine::Clock::now(&clock), Value::clone(&task.input)));
        async { TaskResult::complete(json!(null)) }
    };
    host.engine.handler(handler, serve).await.unwrap();
    host.look().await;
    calls
}

async fn send(host: &Host, event_id: &str, data: Value) -> Vec<EventStartOutcome> {
    let event = SendEvent::new(event_id).data(data);
    let sent = host.engine.default_workspace().events().send(event).await.unwrap();
    sent.starts.into_iter().map(|start| start.outcome).collect()
}

#[tokio::test]
async fn per_customer_concurrency_two_runs_of_a_customer_work_and_the_others_wait() {
    let host = case!("per-customer-concurrency.yaml");
    let customers = ["a", "a", "a", "b"].map(|customer| json!({ "customer": customer }));
    let runs = start_all(&host, "sync-customer", customers).await;
    assert_eq!(statuses(&host, &runs).await, [Running, Running, Pending, Running]);
    served(&host, "sync").await;
    for run in &runs {
        host.end_of(*run).await;
    }
    assert_eq!(statuses(&host, &runs).await, [Completed; 4]);
}

#[tokio::test]
async fn global_api_quota_calls_go_out_no_faster_than_the_partner_allows() {
    let host = case!("global-api-quota.yaml");
    let calls = served(&host, "call-partner").await;
    let begun = host.now();
    let runs = start_all(&host, "enrich-lead", (0..8).map(|n| json!({ "n": n }))).await;
    for run in &runs {
        host.end_of(*run).await;
    }
    let after: Vec<i64> =
        calls.lock().unwrap().iter().map(|(at, _)| at.duration_since(begun).as_secs()).collect();
    assert_eq!(after, [0, 0, 0, 0, 0, 1, 2, 3]);
}

#[tokio::test]
async fn singleton_cron_nothing_begins_while_the_last_one_is_under_way() {
    let host = case!("singleton-cron.yaml");
    let plan = Plan {
        name: "nightly".to_owned(),
        workflow: "nightly-export".to_owned(),
        version: None,
        input: json!({}).into(),
        tags: Vec::new(),
        when: When::Every(Millis(3_600_000)),
        overlap: Overlap::Skip,
        catch_up: CatchUp::Last,
    };
    let schedules = host.engine.default_workspace().schedules();
    schedules.order(ScheduleOrder::Create(plan), Actor::new("ana"), None).await.unwrap();
    for _ in 0..3 {
        host.pass("1h").await;
    }
    let filter = RunFilter { definition: Some("nightly-export".to_owned()), ..RunFilter::default() };
    let page = Page { after: None, limit: 10 };
    let runs = host.engine.default_workspace().runs().list(filter, page).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.status).collect::<Vec<_>>(), [Running]);
    let by_hand = host.engine.default_workspace().start_told(StartRun::new("nightly-export")).await.unwrap();
    assert_eq!(by_hand.how, StartedHow::Skipped, "the limit is for those that come otherwise, too");
}

#[tokio::test]
async fn replace_latest_a_newer_run_takes_the_place_of_the_older_one() {
    let host = case!("replace-latest.yaml");
    let documents = ["a", "b", "a", "a"].map(|document| json!({ "document": document }));
    let runs = start_all(&host, "render-document", documents).await;
    assert_eq!(statuses(&host, &runs).await, [Cancelled, Running, Cancelled, Running]);
}

#[tokio::test]
async fn debounce_many_changes_are_one_run_with_the_last_of_them() {
    let host = case!("debounce-30s.yaml");
    let calls = served(&host, "reindex").await;
    let begun = host.now();
    for n in 0..4 {
        host.engine.start("reindex-account", json!({ "account": "a", "n": n })).await.unwrap();
        host.pass("10s").await;
    }
    host.pass("20s").await;
    let calls = calls.lock().unwrap().clone();
    let after = calls[0].0.duration_since(begun).as_secs();
    assert_eq!((calls.len(), &calls[0].1["n"], after), (1, &json!(3), 60));
}

#[tokio::test]
async fn batch_of_100_every_input_is_in_one_batch() {
    let host = case!("batch-of-100.yaml");
    let calls = served(&host, "load").await;
    let starts = (0..250).map(|n| StartRun::new("load-rows").input(json!(n))).collect();
    for started in host.engine.default_workspace().start_many(starts).await {
        started.unwrap();
    }
    host.pass("10s").await;
    let batches: Vec<Vec<Value>> =
        calls.lock().unwrap().iter().map(|(_, input)| input["inputs"].as_array().unwrap().clone()).collect();
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 50]);
    assert_eq!(batches.concat(), (0..250).map(|n| json!(n)).collect::<Vec<_>>());
}

#[tokio::test]
async fn tenant_fairness_a_tenant_with_much_to_do_does_not_hold_up_another() {
    let host = case!("tenant-fairness.yaml");
    let busy = start_all(&host, "convert-video", vec![json!({ "tenant": "busy" }); 20]).await;
    let quiet = start_all(&host, "convert-video", vec![json!({ "tenant": "quiet" })]).await;
    let at_work = statuses(&host, &busy).await.into_iter().filter(|status| *status == Running).count();
    assert_eq!((at_work, host.status(quiet[0]).await), (2, Running));
}

#[tokio::test]
async fn priority_lane_what_is_urgent_comes_first_in_line() {
    let host = case!("priority-lane.yaml");
    let first = start_all(&host, "send-mail", vec![json!({ "priority": 0, "mail": "first" })]).await[0];
    let priorities = [0, 0, 9].map(|priority| json!({ "priority": priority, "mail": priority }));
    let runs = start_all(&host, "send-mail", priorities).await;
    assert_eq!(statuses(&host, &runs).await, [Pending; 3]);
    host.engine.run(first).cancel(None).await.unwrap();
    assert_eq!(statuses(&host, &runs).await, [Pending, Pending, Running]);
}

#[tokio::test]
async fn cancel_on_event_a_paid_invoice_is_not_reminded_of() {
    let host = case!("cancel-on-event.yaml");
    let runs = start_all(&host, "remind-customer", [1, 2].map(|invoice| json!({ "invoice": invoice }))).await;
    send(&host, "invoice.paid", json!({ "invoice": 2 })).await;
    assert_eq!(statuses(&host, &runs).await, [Waiting, Cancelled]);
    let wait = host.engine.run(runs[0]).get().await.unwrap();
    let guard = wait.open_waitpoints().find(|wait| wait.is_guard()).unwrap().number;
    let woken = Command::Steer(Steer::new(guard, Steering::Complete { payload: None }));
    host.engine.run(runs[0]).command(woken).await.unwrap();
    assert_eq!(host.status(runs[0]).await, Cancelled, "an operator can do the same");
}

#[tokio::test]
async fn start_on_event_an_account_is_welcomed_once() {
    let host = case!("start-on-event.yaml");
    let created = json!({ "id": 7, "region": "EU" });
    let first = send(&host, "account.created", created.clone()).await;
    let [EventStartOutcome::Started(run)] = first[..] else { panic!("{first:?}") };
    assert_eq!(send(&host, "account.created", created).await, [EventStartOutcome::Repeated(run)]);
    assert!(send(&host, "account.created", json!({ "id": 8, "region": "US" })).await.is_empty());
    assert_eq!(host.engine.run(run).get().await.unwrap().input, json!({ "account": 7 }).into());
}
