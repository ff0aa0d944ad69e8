use std::time::Duration;

use abide_core::command::{
    Command, LeaseLoss, LeaseLost, Mismatch, PinTasks, TaskCompleted, TaskFailed, TaskHeartbeat, TaskPaused,
};
use abide_core::definition::document::Workflow;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Pin;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_engine::{Error, Leased, Poll, TaskResult};
use serde_json::json;

use crate::host::Host;

const LEASE: Duration = Duration::from_secs(30);

fn completes(leased: &Leased) -> Command {
    let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
    Command::TaskCompleted(TaskCompleted {
        at,
        lease_epoch,
        output: json!("done").into(),
        state_updates: None,
    })
}

async fn poll(host: &Host) -> Leased {
    let mut tasks =
        host.engine.default_workspace().tasks().poll(Poll::new("w", ["remote"], LEASE)).await.unwrap();
    tasks.pop().unwrap()
}

#[tokio::test]
async fn a_worker_polls_for_a_task_and_completes_it() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let leased = poll(&host).await;
    assert_eq!((leased.task.run_id, leased.task.step_name.as_str()), (run, "work"));
    host.engine.run(run).command(completes(&leased)).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_poller_that_came_first_gets_the_task_as_soon_as_it_is_there() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let engine = host.engine.clone();
    let polls = tokio::spawn(async move {
        engine.default_workspace().tasks().poll(Poll::new("w", ["other", "remote"], LEASE).most(5)).await
    });
    tokio::task::yield_now().await;
    let run = host.start("w").await;
    let tasks = polls.await.unwrap().unwrap();
    assert_eq!(tasks.iter().map(|leased| leased.task.run_id).collect::<Vec<_>>(), [run]);
}

#[tokio::test]
async fn r12_a_lost_worker_costs_no_attempt_and_is_fenced_off() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let lost = poll(&host).await;
    host.advance("31s");
    let found = poll(&host).await;
    assert_eq!((found.task.attempt, found.task.lease_epoch), (1, lost.task.lease_epoch + 1));
    let refused = host.engine.run(run).command(completes(&lost)).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(refusal) if refusal.code() == "STALE_LEASE"));
    host.engine.run(run).command(completes(&found)).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_heartbeat_keeps_the_lease() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let leased = poll(&host).await;
    for _ in 0..3 {
        host.advance("20s");
        let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
        let (entries, calls, cancels) = (Vec::new(), Vec::new(), Vec::new());
        let beat = TaskHeartbeat { at, lease_epoch, checkpoint: None, entries, calls, cancels };
        host.engine.run(run).command(Command::TaskHeartbeat(beat)).await.unwrap();
    }
    host.engine.run(run).command(completes(&leased)).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_worker_pauses_with_a_checkpoint_and_another_goes_on() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let first = poll(&host).await;
    let pause = TaskPaused {
        at: first.at,
        lease_epoch: first.task.lease_epoch,
        name: "rest".into(),
        duration: Millis(60_000),
        checkpoint: Some(json!({ "page": 3 }).into()),
    };
    host.engine.run(run).command(Command::TaskPaused(pause)).await.unwrap();
    assert_eq!(host.engine.run(run).get().await.unwrap().status, RunStatus::Running);
    host.advance("1m");
    let second = poll(&host).await;
    assert_eq!(second.task.checkpoint.as_ref().map(|value| value["page"].clone()), Some(json!(3)));
    assert_eq!(second.task.attempt, 1);
}

#[tokio::test]
async fn tasks_are_taken_from_each_definition_in_turn() {
    let host = Host::with(Workflow::new("busy").task("work", "remote")).await;
    host.engine.deploy(Workflow::new("quiet").task("work", "remote")).await.unwrap();
    for _ in 0..10 {
        host.start("busy").await;
    }
    let quiet = host.start("quiet").await;
    let first_two = host
        .engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("w", ["remote"], LEASE).most(2))
        .await
        .unwrap();
    assert!(first_two.iter().any(|leased| leased.task.run_id == quiet));
}

#[tokio::test]
async fn what_a_poller_that_has_gone_would_have_been_given_goes_to_the_next() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    for patience in 0..200 {
        let run = host.start("w").await;
        // It gives up sooner or later between asking and being answered.
        tokio::select! {
            biased;
            () = async { for _ in 0..patience * 10 { tokio::task::yield_now().await } } => {}
            tasks = host.engine.default_workspace().tasks().poll(Poll::new("gone", ["remote"], LEASE)) => {
                host.engine.run(run).command(completes(&tasks.unwrap()[0])).await.unwrap();
                continue;
            }
        }
        let leased = poll(&host).await;
        assert_eq!((leased.task.run_id, leased.task.attempt), (run, 1));
        host.engine.run(run).command(completes(&leased)).await.unwrap();
    }
}

#[tokio::test]
async fn a_claim_takes_what_is_ready_and_does_not_wait() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let claim = async || {
        host.engine
            .default_workspace()
            .tasks()
            .claim(Poll::new("w", ["remote"], LEASE).most(10))
            .await
            .unwrap()
    };
    assert!(claim().await.is_empty());
    let run = host.start("w").await;
    assert_eq!(claim().await[0].task.run_id, run);
}

#[tokio::test]
async fn a_task_that_a_poller_waits_for_and_its_lease_are_one_commit() {
    let host = Host::with(Workflow::new("w").task("a", "remote").task("b", "remote")).await;
    let (one, other) = tokio::join!(
        async {
            host.engine.default_workspace().tasks().poll(Poll::new("w", ["remote"], LEASE)).await.unwrap()
        },
        async {
            // Asked after the poll, and answered before it waits for anything.
            host.engine.workers().await.unwrap();
            let before = host.engine.stats().await.unwrap().commits;
            (host.start("w").await, before)
        },
    );
    let (run, before) = other;
    assert_eq!(one[0].task.run_id, run);
    assert_eq!(host.engine.stats().await.unwrap().commits, before + 1);
}

#[tokio::test]
async fn what_a_poller_leaves_goes_to_the_next_that_waits_whatever_else_they_wait_for() {
    let host = Host::with(Workflow::new("a").task("work", "a")).await;
    host.engine.deploy(Workflow::new("b").task("work", "b")).await.unwrap();
    // Both are woken for the first handler's task, or the second one would be left behind.
    let polls = [["a", "b"], ["b", "a"]].map(|handlers| {
        let engine = host.engine.clone();
        tokio::spawn(async move {
            engine.default_workspace().tasks().poll(Poll::new("w", handlers, LEASE)).await.unwrap()
        })
    });
    tokio::task::yield_now().await;
    let (one, other) = tokio::join!(host.start("a"), host.start("b"));
    let mut given = Vec::new();
    for poll in polls {
        given.extend(poll.await.unwrap().into_iter().map(|leased| leased.task.run_id));
    }
    given.sort();
    assert_eq!(given, [one.min(other), one.max(other)]);
}

#[tokio::test]
async fn many_reports_are_one_commit_and_one_that_is_refused_hinders_no_other() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let runs = host.start_many("w", 3).await;
    let tasks = host
        .engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("w", ["remote"], LEASE).most(3))
        .await
        .unwrap();
    let mut commands: Vec<_> = tasks.iter().map(|leased| (leased.task.run_id, completes(leased))).collect();
    commands.insert(1, commands[0].clone());
    let before = host.engine.stats().await.unwrap().commits;
    let replies = host.engine.default_workspace().commands(commands, Actor::new("w")).await.unwrap();
    assert_eq!(replies.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(host.engine.stats().await.unwrap().commits, before + 1);
    for run in runs {
        assert_eq!(host.status(run).await, RunStatus::Completed);
    }
}

#[tokio::test]
async fn reports_on_runs_of_another_workspace_are_unknown() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let leased = poll(&host).await;
    let commands = vec![(run, completes(&leased))];
    let replies = host.engine.workspace(WorkspaceId(7)).commands(commands, Actor::new("w")).await.unwrap();
    assert!(matches!(replies[..], [Err(Error::UnknownRun(unknown))] if unknown == run));
    assert_eq!(host.status(run).await, RunStatus::Running);
}

/// The code of whoever has the task does not fit what its handler has recorded.
fn does_not_fit(leased: &Leased) -> Command {
    let mismatch = Some(Mismatch { recorded: "`charge`".to_owned(), found: "`bill`".to_owned() });
    let (at, lease_epoch, message) = (leased.at, leased.task.lease_epoch, "it has changed".to_owned());
    let (code, retryable, retry_after, detail) = (None, false, None, None);
    Command::TaskFailed(TaskFailed {
        at,
        lease_epoch,
        message,
        code,
        retryable,
        retry_after,
        detail,
        mismatch,
    })
}

async fn claim(host: &Host, build: &str) -> Vec<Leased> {
    host.engine
        .default_workspace()
        .tasks()
        .claim(Poll::new("w", ["remote"], LEASE).build(build).most(10))
        .await
        .unwrap()
}

#[tokio::test]
async fn r20_a_task_that_waits_for_other_code_is_given_to_a_worker_of_another_build() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let unfit = claim(&host, "new").await.remove(0);
    host.engine.run(run).command(does_not_fit(&unfit)).await.unwrap();
    assert_eq!(host.engine.run(run).get().await.unwrap().status, RunStatus::Waiting);
    assert_eq!(claim(&host, "new").await.len(), 0);
    let fits = claim(&host, "old").await.remove(0);
    assert_eq!((fits.task.run_id, fits.task.attempt), (run, 1));
    host.engine.run(run).command(completes(&fits)).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn r20_a_worker_of_another_build_that_waits_for_work_is_given_it_at_once() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let unfit = claim(&host, "new").await.remove(0);
    let poll = |build: &'static str| {
        let engine = host.engine.clone();
        let polled = async move {
            engine.default_workspace().tasks().poll(Poll::new("w", ["remote"], LEASE).build(build)).await
        };
        tokio::spawn(polled)
    };
    // The one whose code does not fit has waited longer.
    let (_unfit, fits) = (poll("new"), poll("old"));
    tokio::task::yield_now().await;
    host.engine.run(run).command(does_not_fit(&unfit)).await.unwrap();
    let leased = fits.await.unwrap().unwrap().remove(0);
    host.engine.run(run).command(completes(&leased)).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

fn pins(pin: Pin) -> Command {
    Command::PinTasks(PinTasks { handler: None, pin })
}

fn gives_back(leased: &Leased) -> Command {
    let (at, lease_epoch, loss) = (leased.at, leased.task.lease_epoch, LeaseLoss::Released);
    Command::LeaseLost(LeaseLost { at, lease_epoch, loss })
}

/// A task that build `old` took first and gave back.
async fn pinned(host: &Host) -> RunId {
    let run = host.start("w").await;
    let first = claim(host, "old").await.remove(0);
    host.engine.run(run).command(gives_back(&first)).await.unwrap();
    run
}

#[tokio::test]
async fn a_pinned_task_is_given_to_workers_of_its_build_only_and_holds_up_no_other() {
    let host = Host::with(Workflow::new("w").task("work", "remote").pin_to_build()).await;
    let run = pinned(&host).await;
    for other in ["new", ""] {
        assert_eq!(claim(&host, other).await.len(), 0, "{other:?}");
    }
    let fresh = host.start("w").await;
    let taken = claim(&host, "new").await;
    assert_eq!(taken.iter().map(|leased| leased.task.run_id).collect::<Vec<_>>(), [fresh]);
    let leased = claim(&host, "old").await.remove(0);
    assert_eq!(leased.task.run_id, run);
    host.engine.run(run).command(completes(&leased)).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_worker_of_its_build_that_waits_for_work_is_given_a_pinned_task_at_once() {
    let host = Host::with(Workflow::new("w").task("work", "remote").pin_to_build()).await;
    let run = host.start("w").await;
    let first = claim(&host, "old").await.remove(0);
    let poll = |build: &'static str| {
        let engine = host.engine.clone();
        let polled = async move {
            engine.default_workspace().tasks().poll(Poll::new("w", ["remote"], LEASE).build(build)).await
        };
        tokio::spawn(polled)
    };
    let (_other, of_its_build) = (poll("new"), poll("old"));
    tokio::task::yield_now().await;
    host.engine.run(run).command(gives_back(&first)).await.unwrap();
    let leased = of_its_build.await.unwrap().unwrap().remove(0);
    assert_eq!(leased.task.run_id, run);
}

#[tokio::test]
async fn a_task_that_is_unpinned_or_pinned_anew_is_given_to_others() {
    let host = Host::with(Workflow::new("w").task("work", "remote").pin_to_build()).await;
    let run = pinned(&host).await;
    host.engine.run(run).command(pins(Pin::To("new".into()))).await.unwrap();
    assert_eq!(claim(&host, "old").await.len(), 0);
    let leased = claim(&host, "new").await.remove(0);
    host.engine.run(run).command(gives_back(&leased)).await.unwrap();
    host.engine.run(run).command(pins(Pin::Lifted)).await.unwrap();
    let leased = claim(&host, "old").await.remove(0);
    assert_eq!(leased.task.run_id, run);
    assert_eq!(host.engine.stats().await.unwrap().tasks_ready, 0, "nothing of its old places is left");
}

#[tokio::test]
async fn a_pinned_task_is_not_done_by_a_handler_of_the_process() {
    let host = Host::with(Workflow::new("w").task("work", "remote").pin_to_build()).await;
    let run = pinned(&host).await;
    host.engine.handler("remote", |_| async { TaskResult::complete(json!("here")) }).await.unwrap();
    host.engine.clock().settled().await.unwrap();
    assert_eq!(claim(&host, "old").await.remove(0).task.run_id, run);
}
