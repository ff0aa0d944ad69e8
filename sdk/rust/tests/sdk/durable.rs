//! Durable code at its edges: what cannot be replayed is refused, and what can be is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{StepStatus, WaitpointFilter, WorkflowOnCodeChange, WorkflowRetry};
use abide_sdk::{Change, Context, Error, Json, Result, RunHandle, TaskError, Working, code, step, workflow};
use serde::Serialize;
use serde_json::json;

/// How often a handler was entered.
#[derive(Clone, Default)]
struct Entries(Arc<Mutex<Vec<&'static str>>>);

impl Entries {
    fn note(&self, what: &'static str) -> usize {
        let mut notes = self.0.lock().unwrap();
        notes.push(what);
        notes.len()
    }

    fn all(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

async fn start<F, Fut, O>(server: &TestServer, handle: F) -> (RunHandle, Working)
where
    F: Fn(Context, Json) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O>> + Send + 'static,
    O: Serialize + Send + 'static,
{
    let worker = server.worker().grace(Duration::from_millis(200)).drain(Duration::from_millis(100));
    let working = worker.handler("case", handle).start();
    let case = step::task("work", "case").retry(WorkflowRetry::default().max_attempts(2));
    let case = case.on_code_change(WorkflowOnCodeChange::Fail);
    server.client.deploy(&workflow("case").step(case)).await.unwrap();
    (server.client.start("case", Json::Null).await.unwrap(), working)
}

/// A run of one task with this handler, from its start to its end.
async fn through<F, Fut, O>(handle: F) -> Result<Json, Error>
where
    F: Fn(Context, Json) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O>> + Send + 'static,
    O: Serialize + Send + 'static,
{
    let server = crate::server().start().await.unwrap();
    let (run, _working) = start(&server, handle).await;
    server.skip_waits(&run).await?;
    run.result().await
}

fn assert_failed(result: Result<Json, Error>, code: &str, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), Some(code), "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[tokio::test]
async fn a_name_that_is_used_twice_is_refused_at_once() {
    let twice = |ctx: Context, _| async move {
        ctx.run("a", || async { Ok(1) }).await?;
        ctx.run("a", || async { Ok(2) }).await
    };
    assert_failed(through(twice).await, "DURABLE_CALL_MISUSED", "`a` is used twice");
}

#[tokio::test]
async fn a_durable_call_inside_of_a_run_is_refused_whatever_the_handler_makes_of_it() {
    let nested = |ctx: Context, _| async move {
        let _ = ctx.run("outer", || async { ctx.sleep("inner", "1h").await }).await;
        Ok("went on")
    };
    assert_failed(through(nested).await, "DURABLE_CALL_MISUSED", "`inner` is inside of `outer`");
}

#[tokio::test]
async fn a_run_that_becomes_a_wait_is_changed_code() {
    let entered = Entries::default();
    let changing = move |ctx: Context, _: Json| {
        let entries = entered.note("entered");
        async move {
            if entries == 1 {
                ctx.run("a", || async { Ok(1) }).await?;
            } else {
                ctx.sleep("a", "1h").await?;
            }
            ctx.sleep("b", "1h").await
        }
    };
    assert_failed(
        through(changing).await,
        "CODE_CHANGED",
        "the journal holds `a` as a run, and the code comes to `a` as a wait",
    );
}

#[tokio::test]
async fn a_handler_that_ends_before_it_comes_to_what_it_recorded_is_changed_code() {
    let entered = Entries::default();
    let shorter = move |ctx: Context, _: Json| {
        let entries = entered.note("entered");
        async move {
            if entries == 1 {
                ctx.run("a", || async { Ok(1) }).await?;
                ctx.sleep("b", "1h").await?;
            }
            Ok(())
        }
    };
    assert_failed(through(shorter).await, "CODE_CHANGED", "`a`");
}

#[tokio::test]
async fn a_result_of_another_type_than_was_recorded_says_whose_it_is() {
    let entered = Entries::default();
    let retyped = move |ctx: Context, _: Json| {
        let entries = entered.note("entered");
        async move {
            if entries == 1 {
                ctx.run("a", || async { Ok("text".to_owned()) }).await?;
            } else {
                ctx.run("a", || async { Ok(1) }).await?;
            }
            ctx.sleep("b", "1h").await
        }
    };
    assert_failed(through(retyped).await, "UNEXPECTED_DATA", "`a`");
}

#[tokio::test]
async fn an_input_of_another_type_is_not_tried_again() {
    let server = crate::server().start().await.unwrap();
    server.worker().handler("case", |_, _: u64| async { Ok(()) }).start();
    server.client.deploy(&workflow("case").task("work", "case")).await.unwrap();
    let result = server.run_through("case", json!("seven")).await;
    assert_failed(result, "UNEXPECTED_DATA", "the input is not what the code takes");
}

#[tokio::test]
async fn branches_may_come_to_their_calls_in_any_order_and_take_their_time_between_them() {
    let entered = Entries::default();
    let entries = entered.clone();
    let work = move |ctx: Context, _: Json| {
        let again = entries.note("entered") > 1;
        async move {
            let slow_at_first = async {
                if again {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                ctx.run("slow", || async { Ok("slow".to_owned()) }).await
            };
            let other = async {
                ctx.sleep("nap", "1h").await?;
                ctx.run("after the nap", || async { Ok("other".to_owned()) }).await
            };
            tokio::try_join!(slow_at_first, other)
        }
    };
    assert_eq!(through(work).await.unwrap(), json!(["slow", "other"]));
    assert_eq!(entered.all().len(), 2);
}

#[tokio::test]
async fn a_failure_drops_the_other_branches_and_what_was_recorded_is_kept() {
    let done = Entries::default();
    let notes = done.clone();
    let work = move |ctx: Context, _: Json| {
        let notes = notes.clone();
        async move {
            let quick = ctx.run("quick", || async { Ok(notes.note("quick")) });
            let broken = async {
                quick.await?;
                let work = || async {
                    notes.note("broken");
                    if ctx.attempt() == 1 { Err(TaskError::new("not yet")) } else { Ok(()) }
                };
                ctx.run("broken", work).await
            };
            tokio::try_join!(broken, ctx.sleep("nap", "1h")).map(drop)
        }
    };
    through(work).await.unwrap();
    assert_eq!(done.all(), ["quick", "broken", "broken"]);
}

#[tokio::test]
async fn what_any_decided_stays_decided_also_beside_other_waits() {
    let server = crate::server().start().await.unwrap();
    let seen = Entries::default();
    let notes = seen.clone();
    let work = move |ctx: Context, _: Json| {
        let notes = notes.clone();
        async move {
            let race = async {
                let signals = ["x", "y"].map(|name| ctx.wait_for_signal::<Json>(name, name));
                let first = ctx.any(signals).await?;
                notes.note(if first.name == "x" { "x" } else { "y" });
                ctx.run("noted", || async { Ok(first.name) }).await
            };
            Ok(tokio::try_join!(race, ctx.sleep("long", "1d"))?.0)
        }
    };
    let (run, _working) = start(&server, work).await;
    server.settle(&run).await.unwrap();
    run.signal("y", ()).await.unwrap();
    server.settle(&run).await.unwrap();
    run.signal("x", ()).await.unwrap();
    assert_eq!(server.skip_waits(&run).await.unwrap().output, "y");
    assert_eq!(seen.all(), ["y"; 2]);
}

#[tokio::test]
async fn a_sleep_that_is_begun_early_counts_from_its_beginning() {
    let server = crate::server().start().await.unwrap();
    let begun = server.now().await.unwrap();
    let work = |ctx: Context, _| async move {
        let deadline = ctx.sleep("deadline", "2h");
        ctx.sleep("nap", "1h").await?;
        deadline.await
    };
    let (run, _working) = start(&server, work).await;
    server.skip_waits(&run).await.unwrap();
    run.result().await.unwrap();
    assert_eq!(server.now().await.unwrap().as_second() - begun.as_second(), 2 * 3600);
}

#[tokio::test]
async fn a_wait_that_somebody_cancels_is_an_error_of_its_own() {
    let server = crate::server().start().await.unwrap();
    let work = |ctx: Context, _| async move { ctx.wait_for_signal::<Json>("word", "word").await };
    let (run, _working) = start(&server, work).await;
    let waiting = server.settle(&run).await.unwrap();
    server.client.waitpoints().cancel(waiting.waiting_for[0].waitpoint_id.as_deref().unwrap()).await.unwrap();
    let failed = server.settle(&run).await.unwrap();
    assert_eq!(failed.error.unwrap().code, "WAIT_CANCELLED");
}

/// What is dropped is closed: leaving a handler drops it.
#[tokio::test]
async fn what_a_handler_holds_is_dropped_when_it_is_left() {
    struct Held(Entries);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.note("closed");
        }
    }
    let closed = Entries::default();
    let notes = closed.clone();
    let work = move |ctx: Context, _: Json| {
        let held = Held(notes.clone());
        async move {
            ctx.sleep("nap", "1h").await?;
            drop(held);
            Ok("slept")
        }
    };
    assert_eq!(through(work).await.unwrap(), "slept");
    assert_eq!(closed.all(), ["closed"; 2]);
}

#[tokio::test]
async fn nothing_that_a_handler_makes_of_a_result_swallows_a_suspension() {
    let entered = Entries::default();
    let notes = entered.clone();
    let work = move |ctx: Context, _: Json| {
        notes.note("entered");
        async move {
            let _ = ctx.sleep("ignored", "1h").await;
            match ctx.sleep("matched", "1h").await {
                Ok(()) => {}
                Err(_) => return Ok("caught"),
            }
            ctx.sleep("defaulted", "1h").await.unwrap_or_default();
            Ok("slept")
        }
    };
    assert_eq!(through(work).await.unwrap(), "slept");
    assert_eq!(entered.all().len(), 4);
}

#[tokio::test]
async fn a_timeout_around_a_wait_does_not_run_while_the_handler_is_left() {
    let work = |ctx: Context, _| async move {
        let nap = tokio::time::timeout(Duration::from_secs(60), ctx.sleep("nap", "1d"));
        Ok(if nap.await.is_ok() { "slept" } else { "timed out" })
    };
    assert_eq!(through(work).await.unwrap(), "slept");
}

#[tokio::test]
async fn a_wait_that_is_given_up_before_another_call_is_noticed_there() {
    let done = Entries::default();
    let notes = done.clone();
    let work = move |ctx: Context, _: Json| {
        let notes = notes.clone();
        async move {
            tokio::select! {
                biased;
                slept = ctx.sleep("nap", "1h") => slept?,
                () = async {} => {}
            }
            ctx.run("next", || async { Ok(notes.note("next")) }).await
        }
    };
    assert_failed(through(work).await, "SUSPENSION_SWALLOWED", "left at `nap`, and went on to `next`");
    assert!(done.all().is_empty());
}

/// The next time both may be there, and `select!` may choose the other.
#[tokio::test]
async fn a_wait_that_is_given_up_for_a_run_is_refused_too() {
    let work = |ctx: Context, _| async move {
        tokio::select! {
            slept = ctx.sleep("nap", "1h") => slept.map(|()| "slept".to_owned()),
            ran = ctx.run("work", || async { Ok("worked".to_owned()) }) => ran,
        }
    };
    assert_failed(through(work).await, "SUSPENSION_SWALLOWED", "left at `nap`, and returned");
}

#[tokio::test]
async fn a_wait_may_be_given_up_because_another_branch_has_failed() {
    let server = crate::server().start().await.unwrap();
    let work = |ctx: Context, _| async move {
        let charge = ctx.run("charge", || async { Err::<(), _>(TaskError::new("no money")) });
        let failed = tokio::try_join!(ctx.sleep("nap", "1h"), charge).unwrap_err();
        ctx.sleep("rest", "2h").await?;
        ctx.run("refund", || async { Ok(failed.message) }).await
    };
    let (run, _working) = start(&server, work).await;
    server.skip_waits(&run).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "no money");
    let waits =
        server.client.waitpoints().list(&WaitpointFilter::default().run_id(run.id())).all().await.unwrap();
    assert_eq!(waits.iter().map(|wait| wait.name.as_str()).collect::<Vec<_>>(), ["rest"]);
}

#[tokio::test]
async fn a_failure_beside_a_wait_is_that_failure_and_tried_again() {
    let work = |ctx: Context, _| async move {
        let check = async { if ctx.attempt() == 1 { Err(TaskError::new("no answer")) } else { Ok(()) } };
        tokio::try_join!(ctx.sleep("nap", "1h"), check).map(drop)
    };
    through(work).await.unwrap();
}

#[tokio::test]
async fn a_branch_in_a_task_of_its_own_waits_like_any_other() {
    let work = |ctx: Context, _| async move {
        let own = ctx.clone();
        let branch = tokio::spawn(async move {
            own.sleep("nap", "1h").await?;
            own.run("work", || async { Ok(7) }).await
        });
        branch.await?
    };
    assert_eq!(through(work).await.unwrap(), 7);
}

#[tokio::test]
async fn a_panic_is_a_failure_that_is_tried_again() {
    let work = |ctx: Context, _: Json| async move {
        assert!(ctx.attempt() > 1, "not this time");
        Ok(ctx.attempt())
    };
    assert_eq!(through(work).await.unwrap(), 2);
}

#[tokio::test]
async fn a_result_that_is_not_json_fails_the_task_and_says_whose_it_is() {
    let pairs = |ctx: Context, _| async move {
        ctx.run("pairs", || async { Ok(std::collections::HashMap::from([((1, 2), 3)])) }).await
    };
    assert_failed(through(pairs).await, "NOT_JSON", "`pairs`");
}

#[tokio::test]
async fn state_is_merged_and_every_task_of_a_run_has_one_trace() {
    let server = crate::server().start().await.unwrap();
    let traces = Arc::new(Mutex::new(Vec::new()));
    let seen = traces.clone();
    let work = move |ctx: Context, _: Json| {
        seen.lock().unwrap().push(ctx.traceparent().split('-').nth(1).unwrap().to_owned());
        async move {
            ctx.sleep("nap", "1h").await?;
            ctx.set_state("a", 1);
            ctx.set_state("b", 2);
            Ok(())
        }
    };
    let (run, _working) = start(&server, work).await;
    let ended = server.skip_waits(&run).await.unwrap();
    assert_eq!(json!(ended.state), json!({"a": 1, "b": 2}));
    let traces = traces.lock().unwrap();
    assert!(traces.len() == 2 && traces[0] == traces[1], "{traces:?}");
}

#[tokio::test]
async fn a_worker_that_is_stopped_gives_back_what_it_cannot_finish() {
    let server = crate::server().start().await.unwrap();
    let entered = Entries::default();
    let notes = entered.clone();
    let hang = move |_: Context, _: Json| {
        let first = notes.note("entered") == 1;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok("done")
        }
    };
    let (run, working) = start(&server, hang.clone()).await;
    while entered.all().is_empty() {
        tokio::task::yield_now().await;
    }
    working.stop().await.unwrap();
    let other = server.worker().handler("case", hang).start();
    assert_eq!(run.result().await.unwrap(), "done");
    other.stop().await.unwrap();
    let history = server.history(&run).await.unwrap();
    assert!(!history.iter().any(|record| record.kind == "STEP_RETRYING"));
    assert_eq!(run.get().await.unwrap().steps[0].status, StepStatus::Completed);
}

#[tokio::test]
async fn a_worker_goes_on_when_nobody_holds_it() {
    let server = crate::server().start().await.unwrap();
    let (run, working) = start(&server, |ctx: Context, _| async move { ctx.sleep("nap", "1h").await }).await;
    drop(working);
    server.skip_waits(&run).await.unwrap();
    run.result().await.unwrap();
}

#[tokio::test]
async fn a_backup_is_a_store() {
    let server = crate::server().start().await.unwrap();
    let file = server.client.admin().backup().await.unwrap().all().await.unwrap().concat();
    assert_eq!(&file[..15], b"SQLite format 3");
}

#[tokio::test]
async fn a_worker_that_the_server_refuses_ends_with_the_reason() {
    let server = crate::server().start().await.unwrap();
    let mut working = server.worker().handler("x".repeat(300), |_, _: Json| async { Ok(()) }).start();
    assert_eq!(working.ended().await.unwrap_err().code(), Some(code::MALFORMED));
    let none = server.worker().start().stop().await.unwrap_err();
    assert!(none.to_string().contains("at least one handler"), "{none}");
    let nothing = |_: Context, _: Json| async { Ok(()) };
    let twice =
        server.worker().handler("a", nothing).handler("a", nothing).start().ended().await.unwrap_err();
    assert!(twice.to_string().contains("two handlers `a`"), "{twice}");
}

#[tokio::test]
async fn every_change_of_every_run_is_in_the_feed() {
    let server = crate::server().start().await.unwrap();
    server.client.deploy(&workflow("signal").wait_for_signal("go", "go")).await.unwrap();
    let mut feed = server.client.feed();
    // It begins when it is connected, so runs are started until one is seen.
    let change = loop {
        tokio::select! {
            change = feed.try_next() => break change.unwrap().unwrap(),
            run = server.client.start("signal", Json::Null) => assert!(run.is_ok()),
        }
    };
    assert!(matches!(&change, Change::Run(run) if run.run_id.starts_with("run_")), "{change:?}");
}
