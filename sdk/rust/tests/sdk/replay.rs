//! New code against stored journals, without a server.

use abide_sdk::testing::{ReplayOutcome, StoredJournal, assert_fits, replay_check};
use abide_sdk::{Context, Handlers, Json, Result, TaskError};
use serde_json::json;

fn line(handler: &str, journal: Json) -> Json {
    json!({
        "runId": "run_1", "workflow": "orders", "version": "1", "step": "work", "handler": handler, "attempt": 1,
        "input": {"order": 7}, "state": {}, "config": null, "checkpoint": null, "journal": journal,
    })
}

fn wait(name: &str, kind: &str, asked: &str, status: &str) -> Json {
    let wait =
        json!({"waitpointId": "wp_1", "kind": kind, "asked": asked, "status": status, "payload": null});
    json!({"name": name, "wait": wait})
}

fn stored(lines: &[Json]) -> Vec<StoredJournal> {
    lines.iter().map(|line| serde_json::from_value(line.clone()).unwrap()).collect()
}

async fn outcome(handlers: Handlers, journal: Json) -> (ReplayOutcome, String) {
    let verdicts = replay_check(&handlers, stored(&[line("work", journal)])).await.unwrap();
    (verdicts[0].verdict, verdicts[0].message.clone().unwrap_or_default())
}

#[tokio::test]
async fn a_handler_that_fails_or_ends_too_early_or_is_missing_is_told() {
    let failing = |_: Context, _: Json| async { Err::<(), _>(TaskError::new("no order")) };
    let (verdict, message) = outcome(Handlers::new().handler("work", failing), json!([])).await;
    assert_eq!((verdict, message.as_str()), (ReplayOutcome::Failed, "no order"));
    let journal = json!([{"name": "fetch", "result": 1}]);
    let ending = |_: Context, _: Json| async { Ok(()) };
    let (verdict, message) = outcome(Handlers::new().handler("work", ending), journal).await;
    assert_eq!(verdict, ReplayOutcome::Mismatch);
    assert!(message.contains("`fetch`") && message.contains("the end of the handler"), "{message}");
    assert_eq!(outcome(Handlers::new(), json!([])).await.0, ReplayOutcome::NoHandler);
    let panicking = |_: Context, input: Json| async move {
        assert_eq!(input["order"], 8);
        Ok(())
    };
    assert_eq!(outcome(Handlers::new().handler("work", panicking), json!([])).await.0, ReplayOutcome::Failed);
}

#[tokio::test]
async fn a_waitpoint_that_was_made_and_a_race_that_was_won_are_replayed() {
    async fn work(ctx: Context, _: Json) -> Result<&'static str> {
        let signature = ctx.create_waitpoint("signature").await?;
        let nap = ctx.branch("nap", async { ctx.sleep("rest", "1d").await.map(|()| "rested") });
        let signed = ctx.wait_for_waitpoint::<Json>(&signature).map(|_| "signed").into_branch();
        Ok(ctx.any([nap, signed]).await?.value)
    }
    let won = json!({"index": 0, "name": "nap", "reached": [], "cancelled": ["signature"]});
    let journal = json!([
        wait("signature", "WEBHOOK", "a call", "CANCELLED"),
        wait("rest", "DELAY", "a sleep", "COMPLETED"),
        {"name": "any:nap|signature", "result": won},
    ]);
    let (verdict, message) = outcome(Handlers::new().handler("work", work), journal).await;
    assert_eq!(verdict, ReplayOutcome::Fits, "{message}");
}

#[tokio::test]
async fn every_branch_of_a_race_that_was_undecided_in_a_loser_is_come_to_again() {
    async fn work(ctx: Context, _: Json) -> Result<u64> {
        let call = |name: &'static str| ctx.branch(name, ctx.run(name, || async { Ok(1) }));
        let slow = ctx.branch("slow", async { Ok(ctx.any([call("a"), call("b")]).await?.value) });
        Ok(ctx.any([slow, call("quick")]).await?.value)
    }
    let won = json!({"index": 1, "name": "quick", "reached": ["a", "b"], "cancelled": []});
    let journal = json!([
        {"name": "a", "result": 1},
        {"name": "b", "result": 1},
        {"name": "quick", "result": 1},
        {"name": "any:slow|quick", "result": won},
    ]);
    let (verdict, message) = outcome(Handlers::new().handler("work", work), journal).await;
    assert_eq!(verdict, ReplayOutcome::Fits, "{message}");
}

#[tokio::test]
async fn an_exported_file_is_read_line_by_line_and_what_does_not_fit_is_listed() {
    let path = std::env::temp_dir().join(format!("abide-journals-{}.jsonl", std::process::id()));
    let lines = [line("work", json!([])), line("other", json!([]))];
    let text = lines.map(|line| line.to_string()).join("\n");
    std::fs::write(&path, format!("{text}\n\n")).unwrap();
    let handlers = Handlers::new().handler("work", |_: Context, _: Json| async { Ok(()) });
    let verdicts = replay_check(&handlers, path.as_path()).await.unwrap();
    let listed = std::panic::catch_unwind(|| assert_fits(&verdicts)).unwrap_err();
    let listed = listed.downcast_ref::<String>().unwrap();
    assert!(listed.contains("1 of 2") && listed.contains("run_1 › work (other)"), "{listed}");
    std::fs::write(&path, format!("{text}\n{{")).unwrap();
    let unreadable = replay_check(&handlers, path.as_path()).await.unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(unreadable.contains("line 3"), "{unreadable}");
}
