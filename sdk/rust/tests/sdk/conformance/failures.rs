//! Scenarios of failures and what they tell.

use std::fmt;

use abide_sdk::testing::TestServer;
use abide_sdk::wire::WorkflowRetry;
use abide_sdk::{Context, Error, Json, LogLevel, step, workflow};
use serde_json::json;

use super::{Count, one};

#[derive(Debug)]
struct Unweighable(std::io::Error);

impl fmt::Display for Unweighable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no weight with password=hunter22")
    }
}

impl std::error::Error for Unweighable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

pub(super) async fn a_failure_that_can_be_read(server: &TestServer) -> Result<Json, Error> {
    let weigh = || async {
        Err(Unweighable(std::io::Error::other("the scale is at zero")))?;
        Ok(1)
    };
    let work = move |ctx: Context, _: Json| async move { ctx.run("weigh", weigh).await };
    server.worker().handler("work", work).start();
    server
        .client
        .deploy(
            &workflow("one").step(step::task("work", "work").retry(WorkflowRetry::default().max_attempts(2))),
        )
        .await?;
    let run = server.client.start("one", Json::Null).await?;
    let ended = server.skip_waits(&run).await?;
    let error = ended.steps[0].error.clone().unwrap();
    let detail = error.detail.unwrap();
    let brief = ended.error.unwrap().detail.unwrap();
    let causes: Vec<String> =
        detail.causes.unwrap_or_default().into_iter().map(|cause| cause.message).collect();
    Ok(json!({
        "type": detail.kind.is_some_and(|kind| kind.ends_with("::Unweighable")),
        "call": detail.call,
        "attempt": detail.attempt,
        "stack": detail.stack.is_some_and(|stack| stack.contains("failures.rs")),
        "causes": causes,
        "message": error.message,
        "run": {"call": brief.call, "stack": brief.stack.is_some()},
    }))
}

pub(super) async fn a_log_that_is_written_once(server: &TestServer) -> Result<Json, Error> {
    let entered = Count::default();
    let entries = entered.clone();
    let work = move |ctx: Context, _: Json| {
        entries.up();
        async move {
            ctx.log("begins");
            ctx.sleep("nap", "1h").await?;
            ctx.log_at(LogLevel::Warn, format_args!("half of {}", "password=hunter22"));
            ctx.log("ends");
            Ok(())
        }
    };
    one(server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.skip_waits(&run).await?;
    let history = server.history(&run).await?;
    let logged = history.iter().filter(|record| record.kind == "TASK_LOGGED");
    let lines = logged.flat_map(|record| record.fields["lines"].as_array().unwrap());
    let text = |line: &Json, field: &str| line[field].as_str().unwrap().to_owned();
    let lines: Vec<String> =
        lines.map(|line| format!("{}: {}", text(line, "level"), text(line, "message"))).collect();
    Ok(json!({"lines": lines, "entered": entered.get()}))
}
