//! `onFailure` and `onCancel`: the end of a run and the call of its handler are one commit, and the call is as durable as
//! any task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use abide_core::command::{Command, WaitFor, WaitSpec};
use abide_core::definition::document::{Hook, Retry, Workflow};
use abide_core::history::WakeOn;
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_core::task::{JournalWhat, Task};
use abide_core::time::Millis;
use abide_engine::{Limits, SendEvent, TaskResult};
use abide_store::{Page, RunFilter};
use jiff::ToSpan;
use serde_json::{Value, json};

use crate::host::{Host, output};

fn failing() -> Workflow {
    Workflow::new("order")
        .task("pay", "declined")
        .retry(Retry::attempts(1))
        .on_failure(Hook::new("tell-ops").retry(Retry::attempts(4)))
        .on_cancel("release")
}

impl Host {
    async fn declining(&self) {
        self.engine.handler("declined", async |_| TaskResult::fail("declined")).await.unwrap();
    }

    async fn hook_of(&self, run: RunId) -> RunId {
        self.engine.run(run).get().await.unwrap().handled_by.expect("a handler is called")
    }

    async fn runs_named(&self, name: &str) -> usize {
        let filter = RunFilter { definition: Some(name.to_owned()), ..RunFilter::default() };
        let page = Page { after: None, limit: 1_000 };
        self.engine.default_workspace().runs().list(filter, page).await.unwrap().len()
    }
}

#[tokio::test]
async fn a_handler_that_fails_is_called_again_until_it_has_told() {
    let host = Host::with(failing()).await;
    host.declining().await;
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let tell = move |task: Task| {
        let n = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            if n < 2 {
                TaskResult::fail("busy")
            } else {
                TaskResult::complete(task.input["error"]["message"].clone())
            }
        }
    };
    host.engine.handler("tell-ops", tell).await.unwrap();
    let run = host.start("order").await;
    assert_eq!(host.end_of(run).await.status, RunStatus::Failed);
    let hook = host.hook_of(run).await;
    assert_eq!(output(&host.end_of(hook).await), json!("declined"));
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let hook = host.engine.run(hook).get().await.unwrap();
    assert_eq!((&*hook.definition_ref.name, hook.parent.unwrap().run_id), ("$onFailure/order", run));
}

#[tokio::test]
async fn a_handler_is_called_after_a_crash_and_once_for_each_failure() {
    let host = Host::with(failing()).await;
    host.declining().await;
    let run = host.start("order").await;
    host.end_of(run).await;
    let first = host.hook_of(run).await;
    let host = host.crash_after("1d").await;
    assert_eq!(host.hook_of(run).await, first);
    host.declining().await;
    host.engine.handler("tell-ops", async |_| TaskResult::complete(json!("told"))).await.unwrap();
    assert_eq!(output(&host.engine.run(first).wait().await.unwrap()), json!("told"));
    host.engine.run(run).command(Command::Retry).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Failed);
    let second = host.hook_of(run).await;
    assert_eq!(output(&host.engine.run(second).wait().await.unwrap()), json!("told"));
    assert_ne!(first, second);
    assert_eq!(host.runs_named("$onFailure/order").await, 2);
}

fn sleep(name: &str, days: u64) -> TaskResult {
    let waits = vec![WaitSpec::new(name, WaitFor::Sleep { duration: Millis::from_days(days) })];
    TaskResult::Suspend { entries: Vec::new(), waits, wake: WakeOn::All }
}

#[tokio::test]
async fn cancelling_a_sleeping_durable_handler_calls_on_cancel_which_may_sleep_itself() {
    let host = Host::with(Workflow::new("desk").task("desk", "desk").on_cancel("release")).await;
    host.engine.handler("desk", async |_| sleep("cooling-off", 30)).await.unwrap();
    let release = async |task: Task| {
        if task.journal.is_empty() {
            sleep("tomorrow", 1)
        } else {
            TaskResult::complete(task.input["reason"].clone())
        }
    };
    host.engine.handler("release", release).await.unwrap();
    let run = host.start("desk").await;
    while host.status(run).await != RunStatus::Waiting {
        tokio::task::yield_now().await;
    }
    let reason = Some("ordered twice".to_owned());
    host.engine.run(run).command(Command::Cancel { reason }).await.unwrap();
    let hook = host.hook_of(run).await;
    let host = host.crash_after("1h").await;
    host.engine.handler("release", release).await.unwrap();
    assert_eq!(output(&host.end_of(hook).await), json!("ordered twice"));
}

#[tokio::test]
async fn a_hook_takes_the_place_of_the_run_that_ended_and_is_never_refused() {
    let host = Host::limited(Limits { open_runs: Some(1), descendants: 0 }).await;
    host.engine.deploy(failing()).await.unwrap();
    host.declining().await;
    let run = host.start("order").await;
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Failed);
    let hook = host.hook_of(run).await;
    assert_eq!(host.status(hook).await, RunStatus::Running);
    assert!(host.engine.start("order", json!({})).await.is_err(), "the hook is an open run");
}

#[tokio::test]
async fn every_one_of_many_that_are_cancelled_with_their_parent_calls_its_handler() {
    let host = Host::new().await;
    host.engine.deploy(Workflow::new("leaf").sleep("nap", 9.days()).on_cancel("release")).await.unwrap();
    let fan = Workflow::new("fan").map("each", "input.items", |each| each.child("c", "leaf"));
    host.engine.deploy(fan).await.unwrap();
    let items: Vec<u32> = (0..700).collect();
    let run = host.engine.start("fan", json!({ "items": items })).await.unwrap();
    host.look().await;
    host.engine.run(run).command(Command::Cancel { reason: None }).await.unwrap();
    host.look().await;
    assert_eq!(host.runs_named("$onCancel/leaf").await, 700);
    let host = host.restart().await;
    let released = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&released);
    let release = move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { TaskResult::complete(json!(1)) }
    };
    host.engine.handler("release", release).await.unwrap();
    while released.load(Ordering::SeqCst) < 700 {
        tokio::task::yield_now().await;
    }
}

/// R24: the workflow names no event, and its hook may come to any.
#[tokio::test]
async fn r24_an_event_is_kept_for_a_hook_that_sleeps_before_it_waits() {
    let host = Host::with(Workflow::new("desk").sleep("nap", 1.hour()).on_cancel("release")).await;
    let release = async |task: Task| {
        let wait = |name: &str, wait| {
            let waits = vec![WaitSpec::new(name, wait)];
            TaskResult::Suspend { entries: Vec::new(), waits, wake: WakeOn::All }
        };
        let mut ended = task.journal.iter().map(|item| match &item.what {
            JournalWhat::Wait { payload, .. } => payload.as_deref().cloned().unwrap_or_default(),
            JournalWhat::Result(_) => Value::Null,
        });
        let paid = WaitFor::Event {
            event_id: "paid".into(),
            matching: None,
            fields: Default::default(),
            lookback: None,
            timeout: Some(Millis(1_000)),
        };
        match ended.next_back() {
            None => wait("later", WaitFor::Sleep { duration: Millis::from_days(60) }),
            Some(Value::Null) => wait("paid", paid),
            Some(event) => TaskResult::complete(event),
        }
    };
    host.engine.handler("release", release).await.unwrap();
    let run = host.start("desk").await;
    host.engine.run(run).command(Command::Cancel { reason: None }).await.unwrap();
    let hook = host.hook_of(run).await;
    while host.status(hook).await != RunStatus::Waiting {
        tokio::task::yield_now().await;
    }
    host.advance("1ms");
    let event = SendEvent::new("paid").data(json!("of day 0"));
    host.engine.default_workspace().events().send(event).await.unwrap();
    for _ in 0..59 {
        host.pass("1d").await;
        host.engine.sweep().await.unwrap();
    }
    let ended = host.end_of(hook).await;
    assert!(output(&ended).to_string().contains("of day 0"), "{ended:?}");
}
