//! Runs that are moved to another version of their workflow, on a real store.

use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::id::RunId;
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Actor;
use abide_engine::Error;
use abide_store::{Page, RunFilter};
use serde_json::{Value, json};

use crate::host::{Host, output};

fn order(version: &str, steps: &Value) -> Value {
    json!({ "name": "order", "version": version, "steps": steps })
}

fn echo(name: &str) -> Value {
    json!({ "name": name, "type": "task", "handler": "echo", "input": name })
}

fn nap() -> Value {
    json!({ "name": "nap", "type": "wait", "duration": "1d" })
}

async fn host() -> Host {
    let host = Host::new().await;
    host.echo().await;
    host.deploy(order("1", &json!([echo("a"), nap(), echo("b")]))).await.unwrap();
    host.deploy(order("2", &json!([echo("a"), nap(), echo("x"), echo("c")]))).await.unwrap();
    host
}

impl Host {
    async fn asleep(&self) -> RunId {
        let new = abide_engine::StartRun::new("order").version("1".to_owned()).input(json!({}));
        let run = self.engine.default_workspace().start(new).await.unwrap();
        self.until_asleep(run).await;
        run
    }

    async fn until_asleep(&self, run: RunId) {
        let mut follower = self.engine.run(run).follow();
        while self.status(run).await != RunStatus::Waiting {
            follower.changed().await.unwrap();
        }
    }

    async fn version(&self, version: &str) -> Arc<Definition> {
        self.engine.default_workspace().definitions().version("order", version).await.unwrap()
    }

    async fn move_to(&self, run: RunId, version: &str) -> Result<(), Error> {
        let to = self.version(version).await;
        self.engine.default_workspace().run(run).by(Actor::new("operator")).move_to(&to).await.map(drop)
    }

    async fn listed(&self, version: &str) -> Vec<RunId> {
        let (definition, version) = (Some("order".to_owned()), Some(version.to_owned()));
        let filter = RunFilter { definition, version, ..RunFilter::default() };
        let page = Page { after: None, limit: 100 };
        self.engine.default_workspace().runs().ids(filter, page).await.unwrap()
    }
}

#[tokio::test]
async fn a_moved_run_goes_on_with_the_new_version_and_is_listed_under_it() {
    let host = host().await;
    let (moved, stays) = (host.asleep().await, host.asleep().await);
    host.move_to(moved, "2").await.unwrap();
    assert_eq!((host.listed("1").await, host.listed("2").await), (vec![stays], vec![moved]));
    assert_eq!(output(&host.end_of(moved).await), json!({ "echo": "c" }));
    assert_eq!(output(&host.end_of(stays).await), json!({ "echo": "b" }));
}

#[tokio::test]
async fn a_moved_run_is_loaded_as_it_was_after_a_restart() {
    let host = host().await;
    let run = host.asleep().await;
    host.move_to(run, "2").await.unwrap();
    let before = host.engine.run(run).get().await.unwrap();
    let host = host.crash_after("1h").await;
    host.echo().await;
    let after = host.engine.run(run).get().await.unwrap();
    assert_eq!(after.snapshot(), before.snapshot());
    assert_eq!((after.definition.version(), after.past_versions.len()), ("2", 1));
    host.move_to(run, "1").await.unwrap();
    let host = host.restart().await;
    host.echo().await;
    assert_eq!(output(&host.end_of(run).await), json!({ "echo": "b" }));
}

#[tokio::test]
async fn a_moved_run_is_the_same_to_another_process() {
    let host = host().await;
    let run = host.asleep().await;
    host.move_to(run, "2").await.unwrap();
    let other = host.another().await;
    assert_eq!(
        other.engine.run(run).get().await.unwrap().snapshot(),
        host.engine.run(run).get().await.unwrap().snapshot()
    );
    other.engine.shut_down().await.unwrap();
}

#[tokio::test]
async fn a_run_that_does_not_fit_stays_where_it_is() {
    let host = host().await;
    host.deploy(order("3", &json!([echo("first"), echo("a"), nap()]))).await.unwrap();
    let run = host.asleep().await;
    let refused = host.move_to(run, "3").await.unwrap_err();
    assert!(matches!(refused, Error::Refused(Refusal::DoesNotFit(_))), "{refused}");
    let found: Run = host.engine.run(run).get().await.unwrap();
    assert_eq!((&*found.definition_ref.version, found.status), ("1", RunStatus::Waiting));
    assert_eq!(host.listed("1").await, [run]);
}

#[tokio::test]
async fn an_input_that_the_new_schema_refuses_is_a_misfit() {
    let host = host().await;
    let mut strict = order("3", &json!([echo("a"), nap()]));
    strict["inputSchema"] = json!({ "type": "object", "required": ["amount"] });
    host.deploy(strict).await.unwrap();
    let run = host.asleep().await;
    let refused = host.move_to(run, "3").await.unwrap_err();
    assert!(refused.to_string().contains("inputSchema"), "{refused}");
}

#[tokio::test]
async fn what_the_new_version_lets_begin_is_handed_out() {
    let host = Host::new().await;
    host.echo().await;
    let after = |mut step: Value, after: &[&str]| {
        step["after"] = json!(after);
        step
    };
    host.deploy(order("1", &json!([echo("a"), after(nap(), &["a"])]))).await.unwrap();
    host.deploy(order("2", &json!([echo("a"), after(nap(), &["a"]), after(echo("new"), &["a"])])))
        .await
        .unwrap();
    let run = host.asleep().await;
    host.move_to(run, "2").await.unwrap();
    assert_eq!(output(&host.end_of(run).await)["new"], json!({ "echo": "new" }));
}

#[tokio::test]
async fn many_moves_at_once_are_all_done() {
    let host = host().await;
    let mut runs = Vec::new();
    for _ in 0..20 {
        runs.push(host.asleep().await);
    }
    let to = host.version("2").await;
    let moves = runs.iter().map(|run| {
        let (engine, to, run) = (host.engine.clone(), Arc::clone(&to), *run);
        tokio::spawn(async move {
            engine.default_workspace().run(run).by(Actor::new("operator")).move_to(&to).await
        })
    });
    for moved in moves.collect::<Vec<_>>() {
        moved.await.unwrap().unwrap();
    }
    assert_eq!(host.listed("2").await.len(), 20);
}
