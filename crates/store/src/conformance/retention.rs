//! Retention: what may be forgotten, and what may not.

use std::sync::Arc;

use abide_core::command::{Command, Reply, TaskFailed, TaskStarted};
use abide_core::door::Remembered;
use abide_core::id::{At, RunId, WorkspaceId};
use abide_core::status::RunStatus;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::story::{self, Story, World, save};
use crate::{Batch, Page, RunFilter, Store, WaitpointFilter};

pub fn old_events_are_forgotten_a_few_at_a_time(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut occurrences = Vec::new();
    for event_id in ["a", "b", "a", "b", "a"] {
        occurrences.push(world.occurrence(event_id, json!(1)));
        world.pass(SignedDuration::from_nanos(1));
    }
    let batch = Batch { occurrences: occurrences.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the events are written");
    let before = occurrences[3].received_at;
    assert_eq!(store.forget_events(before, 2).expect("forgotten"), 2);
    assert_eq!(store.forget_events(before, 2).expect("forgotten"), 1);
    assert_eq!(store.forget_events(before, 2).expect("forgotten"), 0);
    let mut store = subject.after_a_crash(store);
    let mut left = |event_id| {
        store.occurrences(WorkspaceId::DEFAULT, event_id, Timestamp::MIN, None, 10).expect("readable")
    };
    assert_eq!(left("a"), occurrences[4..]);
    assert_eq!(left("b"), occurrences[3..4]);
}

pub fn old_events_of_every_workspace_are_forgotten(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let other = store.add_workspace("other", world.now).expect("added");
    let mut occurrences = Vec::new();
    for workspace in [WorkspaceId::DEFAULT, other, other, WorkspaceId::DEFAULT] {
        world.workspace = workspace;
        occurrences.push(world.occurrence("a", json!(1)));
    }
    let batch = Batch { occurrences: occurrences.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the events are written");
    assert_eq!(store.forget_events(world.now, 10).expect("forgotten"), 0);
    world.pass(SignedDuration::from_nanos(1));
    for expected in [3, 1, 0] {
        assert_eq!(store.forget_events(world.now, 3).expect("forgotten"), expected);
    }
}

pub fn old_keys_are_forgotten_a_few_at_a_time(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut remembered = Vec::new();
    for key in ["d", "b", "e", "a", "c"] {
        remembered.push(Remembered { key: key.to_owned(), digest: 1, reply: Reply::Done, at: world.now });
        world.pass(SignedDuration::from_nanos(1));
    }
    let batch = Batch { remembered: remembered.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the keys are written");
    let before = remembered[3].at;
    for expected in [2, 1, 0] {
        assert_eq!(store.forget_keys(before, 2).expect("forgotten"), expected);
    }
    let mut store = subject.after_a_crash(store);
    for (index, remembered) in remembered.iter().enumerate() {
        let found = store.remembered(&remembered.key).expect("readable");
        assert_eq!(found.as_ref(), Some(remembered).filter(|_| index >= 3));
    }
    // A key that was forgotten may be used for something else.
    let again = Remembered { digest: 2, ..remembered[0].clone() };
    store.commit(&Batch { remembered: vec![&again], ..Batch::default() }).expect("the key is written");
    assert_eq!(store.remembered(&again.key).expect("readable"), Some(again));
}

pub fn only_ended_runs_are_forgotten_and_nothing_of_them_is_left(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let listener = story::listener();
    let input = json!({ "event": "paid", "customer": 1 });
    let start = |world: &mut World| world.start_tagged(&listener, input.clone(), &["tag", "gat"]);
    let mut ended = Vec::new();
    for _ in 0..3 {
        ended.push(start(&mut world));
        world.pass(SignedDuration::from_millis(1));
    }
    let mut open = start(&mut world);
    let mut later = start(&mut world);
    save(&mut *store, ended.iter_mut().chain([&mut open, &mut later]));
    // In another order than they began.
    ended.swap(0, 1);
    for story in &mut ended {
        world.tell(story, Command::Cancel { reason: None });
        story.save(&mut *store);
        world.pass(SignedDuration::from_nanos(1));
    }
    let before = world.now;
    world.tell(&mut later, Command::Cancel { reason: None });
    later.save(&mut *store);

    for story in &ended {
        story.check(&mut *store);
        assert_eq!(store.forget_runs(before, 1).expect("forgotten"), 1);
        assert_eq!(store.load(story.id()).expect("readable"), None, "the first to end goes first");
    }
    assert_eq!(store.forget_runs(before, 1).expect("forgotten"), 0);

    let mut store = subject.after_a_crash(store);
    for story in &ended {
        assert_eq!(store.load(story.id()).expect("readable"), None);
        let filter = WaitpointFilter { run: Some(story.id()), ..WaitpointFilter::default() };
        let page = Page { after: None, limit: 10 };
        assert_eq!(store.waitpoints(&filter, &page).expect("readable"), []);
    }
    open.check(&mut *store);
    later.check(&mut *store);
    let mut left = vec![later.id(), open.id()];
    left.sort_by_key(|id| std::cmp::Reverse(*id));
    assert_eq!(listed(&mut *store, RunFilter::default()), left);
    for tag in ["tag", "gat"] {
        let filter = RunFilter { tag: Some(tag.to_owned()), ..RunFilter::default() };
        assert_eq!(listed(&mut *store, filter), left);
    }
    assert_eq!(store.timers(None, Timestamp::MAX, 10).expect("readable").len(), 1);
    assert_eq!(store.waiters(WorkspaceId::DEFAULT, "paid", None, 10).expect("readable").len(), 1);
    let counts = store.counts(None).expect("readable");
    assert!(counts.contains(&(RunStatus::Cancelled, 1)) && counts.contains(&(RunStatus::Waiting, 1)));

    // A run that was forgotten is unknown, so that it can be written anew.
    let again = Story { committed: 0, ..ended[0].clone() };
    again.try_save(&mut *store).expect("the run is written");
    again.check(&mut *store);
}

pub fn a_failed_run_that_was_retried_is_not_forgotten(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut review = world.start(&story::review(), json!({}));
    fail(&mut world, &mut review);
    review.save(&mut *store);
    world.tell(&mut review, Command::Retry);
    review.save(&mut *store);
    assert_eq!(store.forget_runs(Timestamp::MAX, 10).expect("forgotten"), 0);
    review.check(&mut *store);

    // It counts from the last time that it ended, even if the store heard of nothing in between.
    fail(&mut world, &mut review);
    review.save(&mut *store);
    world.pass(SignedDuration::from_hours(1));
    world.tell(&mut review, Command::Retry);
    fail(&mut world, &mut review);
    review.save(&mut *store);
    assert_eq!(store.forget_runs(world.now, 10).expect("forgotten"), 0);
    world.pass(SignedDuration::from_nanos(1));
    assert_eq!(store.forget_runs(world.now, 10).expect("forgotten"), 1);
}

fn fail(world: &mut World, review: &mut Story) {
    let at = At::step(0);
    let delivery = review.run.step(at).and_then(|step| step.task.as_ref()).expect("a task").delivery;
    let started = TaskStarted { at, delivery, worker: Arc::from("worker-1"), from: None };
    world.tell(review, Command::TaskStarted(started));
    let (message, retryable) = ("no".to_owned(), false);
    let failed = TaskFailed { at, delivery, message, code: None, retryable, retry_after: None };
    world.tell(review, Command::TaskFailed(failed));
    assert_eq!(review.run.status, RunStatus::Failed);
}

fn listed(store: &mut dyn Store, filter: RunFilter) -> Vec<RunId> {
    let runs = store.runs(&filter, &Page { after: None, limit: 100 }).expect("readable");
    runs.iter().map(|run| run.id).collect()
}
