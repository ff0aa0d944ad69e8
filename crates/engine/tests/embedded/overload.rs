//! More requests than the engine takes in.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use abide_core::definition::document::Workflow;
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_engine::{Engine, Error, StartRun, TaskResult};
use serde_json::json;

use crate::host::Host;
use crate::watched::Watch;

type PendingRequest<T> = Pin<Box<dyn Future<Output = Result<T, Error>>>>;

/// Puts a request into the queue, or says why it is not taken.
fn ask<T>(request: impl Future<Output = Result<T, Error>> + 'static) -> Result<PendingRequest<T>, Error> {
    let mut request: PendingRequest<T> = Box::pin(request);
    match request.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Err(error)) => Err(error),
        Poll::Ready(Ok(_)) => panic!("the commit is held; nobody is answered"),
        Poll::Pending => Ok(request),
    }
}

/// Asks for a run that is not there until it is refused. Even that answer waits for the commit that is held.
fn fill(engine: &Engine) -> (Vec<PendingRequest<Run>>, Error) {
    let mut asked = Vec::new();
    loop {
        let engine = engine.clone();
        match ask(async move { engine.run(RunId(0)).get().await }) {
            Ok(taken) => asked.push(taken),
            Err(refused) => return (asked, refused),
        }
    }
}

fn start(engine: &Engine, key: &str) -> impl Future<Output = Result<RunId, Error>> + 'static {
    let idempotency_key = Some(key.to_owned());
    let new = StartRun::new("waits").input(json!({})).idempotency_key(idempotency_key);
    let engine = engine.clone();
    async move { engine.default_workspace().start(new).await }
}

#[tokio::test]
async fn r16_a_full_queue_is_said_at_once_and_whatever_was_taken_is_done() {
    let watch = Watch::default();
    let host = Host::with(Workflow::new("waits").signal("wait", "go")).await.restart_on(&watch, "0s").await;
    watch.hold();
    let first = ask(start(&host.engine, "first")).ok().unwrap();
    watch.wait_for_commit();
    let starts: Vec<_> = (0..1_000).map(|n| ask(start(&host.engine, &n.to_string())).ok().unwrap()).collect();
    let (taken, refused) = fill(&host.engine);
    assert!(matches!(refused, Error::Overloaded { retry_after } if !retry_after.is_zero()), "{refused}");
    assert!(matches!(ask(start(&host.engine, "late")), Err(Error::Overloaded { .. })));

    watch.let_all_through();
    let first = first.await.unwrap();
    for started in starts {
        let run = started.await.unwrap();
        assert_eq!(host.status(run).await, RunStatus::Waiting);
    }
    for asked in taken {
        assert!(matches!(asked.await, Err(Error::UnknownRun(_))));
    }
    let late = start(&host.engine, "late").await.unwrap();
    assert_eq!(start(&host.engine, "late").await.unwrap(), late);
    assert_eq!(start(&host.engine, "first").await.unwrap(), first);
    host.engine.clone().shut_down().await.unwrap();
    let stored: u64 = host.place.open().counts(None).unwrap().iter().map(|(_, count)| count).sum();
    assert_eq!(stored, 1_002);
}

#[tokio::test]
async fn what_a_handler_reports_to_a_full_queue_is_not_lost() {
    let watch = Watch::default();
    let host = Host::with(Workflow::new("waits").signal("wait", "go")).await.restart_on(&watch, "0s").await;
    host.engine.deploy(Workflow::new("works").task("work", "slow")).await.unwrap();
    let (release, released) = tokio::sync::watch::channel(false);
    let slow = move |_| {
        let mut released = released.clone();
        async move {
            released.wait_for(|released| *released).await.unwrap();
            TaskResult::complete(json!("done"))
        }
    };
    host.engine.handler("slow", slow).await.unwrap();
    let works = host.start("works").await;
    watch.hold();
    let held = ask(start(&host.engine, "held")).ok().unwrap();
    watch.wait_for_commit();
    let (taken, _) = fill(&host.engine);
    release.send(true).unwrap();
    tokio::task::yield_now().await;
    watch.let_all_through();
    held.await.unwrap();
    for asked in taken {
        assert!(matches!(asked.await, Err(Error::UnknownRun(_))));
    }
    assert_eq!(host.engine.run(works).wait().await.unwrap().status, RunStatus::Completed);
}
