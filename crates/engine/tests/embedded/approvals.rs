//! Approvals that the host program itself decides.

use abide_core::command::{Command, Vote};
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_core::waitpoint::{Actor, Decision};
use abide_engine::Error;
use serde_json::{Value, json};

use crate::host::Host;

async fn asked() -> (Host, RunId) {
    let host = Host::new().await;
    let schema = json!({ "type": "object", "properties": { "cents": { "type": "integer" } } });
    let write = json!({ "type": "task", "name": "write", "handler": "echo", "saveAs": "draft" });
    let ask = json!({ "type": "approval", "name": "ok", "contentKey": "draft", "contentSchema": schema });
    host.echo().await;
    host.deploy(json!({ "name": "review", "version": "1", "steps": [write, ask] })).await.unwrap();
    let run = host.start("review").await;
    host.look().await;
    (host, run)
}

async fn edit(host: &Host, run: RunId, content: Value) -> Command {
    let number = host.engine.run(run).get().await.unwrap().open_waitpoints().next().unwrap().number;
    Command::Vote(Vote { edited_content: Some(content.into()), ..Vote::new(number, Decision::Edit) })
}

#[tokio::test]
async fn content_that_the_host_edits_must_satisfy_its_schema_however_the_vote_is_cast() {
    let (host, run) = asked().await;
    let wrong = edit(&host, run, json!({ "cents": "lots" })).await;
    let refused = host.engine.run(run).command(wrong.clone()).await.unwrap_err();
    let Error::InvalidContent(places) = refused else { panic!("{refused}") };
    assert_eq!(places.iter().map(|(place, _)| place.as_str()).collect::<Vec<_>>(), ["/cents"]);
    let listened = host.engine.run(run).command_and_listen(wrong.clone()).await.unwrap_err();
    assert!(matches!(listened, Error::InvalidContent(_)), "{listened}");
    let right = edit(&host, run, json!({ "cents": 4200 })).await;
    let both = vec![(run, wrong), (run, right)];
    let replies = host.engine.default_workspace().commands(both, Actor::new("host")).await.unwrap();
    assert!(matches!(replies[0], Err(Error::InvalidContent(_))), "{replies:?}");
    assert!(replies[1].is_ok(), "{replies:?}");
    assert_eq!(host.status(run).await, RunStatus::Completed);
}
