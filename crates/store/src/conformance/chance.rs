//! Chance: anything that can happen to runs happens, in batches of any size, with conflicts and crashes, and the
//! rows always say what the runs themselves say.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_core::command::{Command, SendSignal, Steer, Steering, TaskCompleted, TaskFailed, TaskStarted};
use abide_core::definition::Definition;
use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::json::Json;
use abide_core::run::Timer;
use abide_core::status::RunStatus;
use abide_core::waitpoint::ListensFor;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::lists::{assert_summary, due_order, listed, listed_waits, summaries};
use super::story::{self, Story, World};
use super::timers;
use crate::{Batch, Error, RunFilter, Store, WaitpointFilter, WaitpointSummary};

const SEEDS: u64 = 8;
const ACTIONS: u32 = 400;
const RUNS: u64 = 40;
const WORKSPACES: [WorkspaceId; 3] = [WorkspaceId::DEFAULT, WorkspaceId(1), WorkspaceId(2)];

pub fn whatever_happens_the_rows_say_what_the_runs_say(subject: &mut dyn Subject) {
    let definitions = definitions();
    for seed in 0..SEEDS {
        let (mut store, mut world) = (subject.fresh(), World::of(seed));
        for workspace in &WORKSPACES[1..] {
            assert_eq!(store.add_workspace(&workspace.to_string(), world.now).expect("added"), *workspace);
        }
        let mut stories: Vec<Story> = Vec::new();
        for action in 0..ACTIONS {
            act(&mut world, &mut stories, &definitions);
            match world.random.below(30) {
                0..10 => commit_some(&mut world, &mut *store, &mut stories),
                10 => commit_with_a_conflict(&mut world, &mut *store, &stories),
                11 => {
                    commit_all(&mut *store, &mut stories);
                    if action % 3 == 0 {
                        store = subject.after_a_crash(store);
                    }
                    check(&mut *store, &stories);
                }
                _ => {}
            }
        }
        commit_all(&mut *store, &mut stories);
        check(&mut *subject.after_a_crash(store), &stories);
    }
}

/// Runs to which anything happened, none of it stored.
#[cfg(test)]
pub(crate) fn stories_of_chance(seed: u64) -> (abide_core::random::Random, Vec<Story>) {
    let (mut world, mut stories) = (World::of(seed), Vec::new());
    for _ in 0..ACTIONS {
        act(&mut world, &mut stories, &definitions());
    }
    (world.random, stories)
}

fn definitions() -> [Arc<Definition>; 6] {
    [story::nap(), story::listener(), story::signalled(), story::review(), story::brink(), story::full_tour()]
}

/// Something happens to one of the runs, or another one begins.
fn act(world: &mut World, stories: &mut Vec<Story>, definitions: &[Arc<Definition>]) {
    let length = SignedDuration::from_nanos(world.random.below(20_000_000_000).cast_signed());
    world.pass(length);
    let running = stories.len() as u64;
    if running == 0 || (running < RUNS && world.random.below(5) == 0) {
        let definition = &definitions[world.random.below(6) as usize];
        world.workspace = WORKSPACES[world.random.below(3) as usize];
        let sleep = format!("{}s", world.random.below(10_000));
        let input = json!({ "sleep": sleep, "event": "paid", "customer": 1, "n": world.random.below(3) });
        let tags: &[&str] = if world.random.below(2) == 0 { &["red"] } else { &[] };
        stories.push(world.start_tagged(definition, input, tags));
        return;
    }
    let story = &mut stories[world.random.below(running) as usize];
    let number = story.run.open_waitpoints().next().map_or(1, |wait| wait.number);
    let (at, lease_epoch) = task(story);
    let command = match world.random.below(24) {
        0..4 => {
            let due = story.run.waitpoint(number).and_then(|wait| wait.resume_at);
            world.now = world.now.max(due.unwrap_or(world.now));
            Command::TimerFired(Timer::Waitpoint(number))
        }
        4 => Command::TimerFired(Timer::Run),
        5..7 => {
            let signal_type = if world.random.below(2) == 0 { "go" } else { "answer" };
            let payload = Json::new(json!({ "n": 1.5 }));
            Command::SendSignal(SendSignal { signal_type: signal_type.into(), payload })
        }
        7 => Command::Pause,
        8 => Command::Unpause,
        9 => Command::Cancel { reason: None },
        10 => Command::Retry,
        11..13 => {
            let length = SignedDuration::from_secs(world.random.below(20_000).cast_signed() - 10_000);
            Command::Steer(Steer::new(number, Steering::Reschedule { resume_at: world.now + length }))
        }
        13 => Command::Steer(Steer::new(number, Steering::Cancel)),
        14 => Command::Steer(Steer::new(number, Steering::Complete { payload: None })),
        15..18 => Command::TaskStarted(TaskStarted {
            at,
            lease_epoch,
            worker: "worker-1".into(),
            from: None,
            build: None,
        }),
        18..21 => {
            let state_updates = Some([("doc".to_owned(), Json::new(json!("text")))].into());
            Command::TaskCompleted(TaskCompleted { at, lease_epoch, output: Json::null(), state_updates })
        }
        21 => {
            let (message, retryable) = ("no".to_owned(), world.random.below(2) == 0);
            Command::TaskFailed(TaskFailed {
                at,
                lease_epoch,
                message,
                code: None,
                retryable,
                retry_after: None,
                detail: None,
                mismatch: None,
            })
        }
        _ => {
            let event_id = if world.random.below(2) == 0 { "paid" } else { "reply" };
            world.workspace = story.run.workspace;
            let event = world.event(event_id, json!({ "customer": 1, "n": 1 }));
            Command::DeliverEvent(abide_core::command::DeliverEvent { number, event })
        }
    };
    world.try_tell(story, command);
}

fn task(story: &Story) -> (StepAddress, u32) {
    let mut tasks = story.run.step_runs().filter_map(|(at, step)| Some((at, step.task.as_ref()?)));
    let out = tasks.find(|(_, task)| task.out);
    out.map_or((StepAddress::step(0), 1), |(at, task)| (at, task.lease_epoch))
}

fn commit(store: &mut dyn Store, stories: Vec<&mut Story>) {
    let runs = stories.iter().map(|story| story.write()).collect();
    store.commit(&Batch { runs, ..Batch::default() }).expect("the batch is written");
    for story in stories {
        story.committed = story.run.seq;
    }
}

fn has_news(story: &Story) -> bool {
    story.committed < story.run.seq
}

fn commit_some(world: &mut World, store: &mut dyn Store, stories: &mut [Story]) {
    let some = stories.iter_mut().filter(|story| has_news(story) && world.random.below(2) == 0);
    commit(store, some.collect());
}

fn commit_all(store: &mut dyn Store, stories: &mut [Story]) {
    commit(store, stories.iter_mut().filter(|story| has_news(story)).collect());
}

/// One of the batch was decided on another version, so all of it is refused.
fn commit_with_a_conflict(world: &mut World, store: &mut dyn Store, stories: &[Story]) {
    let notifications: Vec<&Story> = stories.iter().filter(|story| has_news(story)).collect();
    let Some(stale) = stories.iter().find(|story| story.committed > 0) else { return };
    let stale = Story { committed: world.random.below(stale.committed), ..stale.clone() };
    let mut runs: Vec<_> =
        notifications.iter().filter(|story| story.id() != stale.id()).map(|story| story.write()).collect();
    let place = world.random.below(runs.len() as u64 + 1) as usize;
    runs.insert(place, stale.write());
    let result = store.commit(&Batch { runs, ..Batch::default() });
    assert!(matches!(&result, Err(Error::Conflict(id)) if *id == stale.id()), "{result:?}");
}

/// Everything there is, compared with what the runs say.
fn check(store: &mut dyn Store, stories: &[Story]) {
    assert_eq!(timers::all(store, Timestamp::MAX), timers::expected(stories));

    let runs = listed(store, &RunFilter::default(), 7);
    assert_eq!(runs.len(), stories.len());
    for story in stories {
        let run = runs.iter().find(|run| run.id == story.id()).expect("listed");
        assert_summary(run, story);
        story.check(store);
    }

    let mut waits: Vec<WaitpointSummary> = stories.iter().flat_map(summaries).collect();
    waits.sort_by_key(due_order);
    assert_eq!(listed_waits(store, &WaitpointFilter::default(), 11), waits);

    for workspace in WORKSPACES {
        let here: Vec<&Story> = stories.iter().filter(|story| story.run.workspace == workspace).collect();
        check_waiters(store, workspace, &here);
        let filter = RunFilter { workspace: Some(workspace), ..RunFilter::default() };
        let found: BTreeSet<RunId> = listed(store, &filter, 3).iter().map(|run| run.id).collect();
        assert_eq!(found, here.iter().map(|story| story.id()).collect());
        let counts = store.counts(Some(workspace)).expect("readable");
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), here.len() as u64);
    }

    for (status, count) in store.counts(None).expect("readable") {
        let of_status = |story: &&Story| story.run.status == status;
        assert_eq!(count, stories.iter().filter(of_status).count() as u64, "{status}");
    }
    let ended = stories.iter().filter(|story| story.run.status.has_ended()).count();
    let statuses = vec![RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled];
    assert_eq!(listed(store, &RunFilter { statuses, ..RunFilter::default() }, 5).len(), ended);
}

fn check_waiters(store: &mut dyn Store, workspace: WorkspaceId, stories: &[&Story]) {
    for event_id in ["paid", "reply"] {
        let found = store.waiters(workspace, event_id, None, 1_000).expect("readable");
        let open = stories.iter().flat_map(|story| {
            story
                .run
                .open_waitpoints()
                .map(|wait| (wait.created_at, story.run.waitpoint_id(wait.number), wait))
        });
        let mut open: Vec<_> = open
            .filter(|(_, _, wait)| {
                matches!(&wait.listens_for, ListensFor::Event(filter) if &*filter.event_id == event_id)
            })
            .collect();
        open.sort_by_key(|(created_at, id, _)| (*created_at, *id));
        assert_eq!(found.len(), open.len());
        for (waiter, (created_at, id, wait)) in found.iter().zip(open) {
            assert_eq!((waiter.waitpoint, waiter.workspace), (id, workspace));
            assert_eq!((waiter.created_at, waiter.resume_at), (created_at, wait.resume_at));
            assert_eq!(wait.listens_for, ListensFor::Event(waiter.filter.clone()));
        }
    }
}
