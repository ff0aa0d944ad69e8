//! Scenarios of what stands around handlers: middleware, and the language's own logger.

use std::sync::{Arc, Mutex};

use abide_sdk::log::RunLogLayer;
use abide_sdk::testing::TestServer;
use abide_sdk::{CallAttempt, Context, Error, Json, Middleware, Next, workflow};
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt;

use super::one;

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }
}

impl Middleware for Notes {
    fn handler<'a>(&'a self, _: &'a Context, next: Next<'a>) -> Next<'a> {
        Box::pin(async move {
            self.note("handler:begin");
            let done = next.await;
            self.note(if done.is_ok() { "handler:ok" } else { "handler:error" });
            done
        })
    }

    fn call<'a>(&'a self, call: &'a CallAttempt<'a>, next: Next<'a>) -> Next<'a> {
        self.note(format!("call:{}", call.name));
        next
    }

    fn suspended(&self, _: &Context) {
        self.note("handler:suspended");
    }
}

pub(super) async fn middleware_around_handlers_and_calls(server: &TestServer) -> Result<Json, Error> {
    let notes = Notes::default();
    let work = |ctx: Context, _: Json| async move {
        ctx.run("one", || async { Ok(1) }).await?;
        ctx.sleep("nap", "1h").await?;
        ctx.run("two", || async { Ok(2) }).await
    };
    server.worker().middleware(notes.clone()).handler("work", work).start();
    server.client.deploy(&workflow("one").task("work", "work")).await?;
    server.run_through("one", Json::Null).await?;
    Ok(json!({"notes": *notes.0.lock().unwrap()}))
}

pub(super) async fn the_language_s_own_logger(server: &TestServer) -> Result<Json, Error> {
    // Others in this process may have set the same one.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(RunLogLayer::new()));
    let work = |ctx: Context, _: Json| async move {
        tracing::info!("packing");
        tracing::debug!("not of interest");
        ctx.sleep("nap", "1h").await?;
        tracing::warn!("sent");
        Ok(())
    };
    one(server, work).await?;
    tracing::warn!("nobody's");
    let run = server.client.start("one", Json::Null).await?;
    server.skip_waits(&run).await?;
    let history = server.history(&run).await?;
    let logged = history.iter().filter(|record| record.kind == "TASK_LOGGED");
    let lines = logged.flat_map(|record| record.fields["lines"].as_array().unwrap());
    let lines: Vec<Json> = lines.map(|line| json!([line["level"], line["message"]])).collect();
    Ok(json!({"lines": lines}))
}
