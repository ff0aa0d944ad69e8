//! Commits: durable, whole, and only on what has not changed meanwhile.

use abide_core::command::{
    Command, Reply, ResumeTarget, ResumeWaitpoint, SendSignal, Steer, Steering, TaskFailed, TaskStarted, Via,
    Vote,
};
use abide_core::id::{StepAddress, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::json::Json;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Decision;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::lists::listed;
use super::story::{self, Story, World, pages, save};
use crate::{Batch, Error, Page, RunFilter, Store};

pub fn what_was_committed_is_there_after_a_crash(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    let listener = world.start(&story::listener(), json!({ "event": "paid", "customer": 1 }));
    let event = world.event("shipped", json!({ "n": [1, null, "ü"] }));
    let idempotency =
        IdempotencyRecord { key: "key".to_owned(), digest: 1, reply: Reply::Done, run: None, at: world.now };
    let definition = world.definition("a", "1", "{}");
    let batch = Batch {
        runs: vec![nap.write(), listener.write()],
        events: vec![&event],
        idempotency: vec![&idempotency],
        definitions: vec![definition],
        ..Batch::default()
    };
    store.commit(&batch).expect("the batch is written");
    let mut store = subject.after_a_crash(store);
    nap.check(&mut *store);
    listener.check(&mut *store);
    assert_eq!(everything(&mut *store), Everything { runs: 2, timers: 2, waiters: 1, events: 1 });
    assert_eq!(store.idempotency_record("key").expect("readable"), Some(idempotency));
    assert!(store.definition(WorkspaceId::DEFAULT, "a", Some("1")).expect("readable").is_some());
}

/// Every decision in a commit of its own, and a crash after each.
pub fn a_run_is_loaded_as_it_was_decided(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut full_tour = world.start(&story::full_tour(), json!({ "n": 0.1, "text": "\u{0}\u{1F980}\"\\" }));
    let mut turn = |world: &mut World, full_tour: &mut Story| {
        full_tour.save(&mut *store);
        full_tour.check(&mut *store);
        world.pass(SignedDuration::from_nanos(1_000_000_007));
    };
    turn(&mut world, &mut full_tour);
    let (at, lease_epoch) = (StepAddress::step(0), 1);
    let started = TaskStarted { at, lease_epoch, worker: "worker-1".into(), from: None, build: None };
    world.tell(&mut full_tour, Command::TaskStarted(started));
    turn(&mut world, &mut full_tour);
    let failed = TaskFailed {
        at,
        lease_epoch,
        message: "out of ink".to_owned(),
        code: None,
        retryable: true,
        retry_after: None,
        detail: None,
        mismatch: None,
    };
    world.tell(&mut full_tour, Command::TaskFailed(failed));
    turn(&mut world, &mut full_tour);
    world.wake(&mut full_tour);
    turn(&mut world, &mut full_tour);
    world.work(&mut full_tour, 0);
    turn(&mut world, &mut full_tour);
    for _ in 0..3 {
        world.wake(&mut full_tour);
        turn(&mut world, &mut full_tour);
    }
    let event = world.event("reply", json!({ "n": 0.1, "deep": nested(120) }));
    let number = open_wait(&full_tour);
    world.deliver(&mut full_tour, number, &event);
    turn(&mut world, &mut full_tour);
    let number = open_wait(&full_tour);
    let steering = Steering::Reschedule { resume_at: world.now + SignedDuration::from_hours(7) };
    world.tell(&mut full_tour, Command::Steer(Steer::new(number, steering)));
    turn(&mut world, &mut full_tour);
    let payload = Json::new(json!({ "f": 1.0e-7, "g": 5e-324, "h": 1.7976931348623157e308, "i": u64::MAX }));
    world.tell(&mut full_tour, Command::SendSignal(SendSignal { signal_type: "go".into(), payload }));
    turn(&mut world, &mut full_tour);
    let resume = ResumeWaitpoint {
        target: ResumeTarget::Waitpoint(open_wait(&full_tour)),
        payload: Json::new(json!({ "body": null })),
        via: Via::Write,
    };
    world.tell(&mut full_tour, Command::ResumeWaitpoint(resume));
    turn(&mut world, &mut full_tour);
    let comment = Some("fine".to_owned());
    let vote = Vote { comment, ..Vote::new(open_wait(&full_tour), Decision::Approve) };
    world.tell(&mut full_tour, Command::Vote(vote));
    turn(&mut world, &mut full_tour);
    assert_eq!(full_tour.run.status, RunStatus::Completed);
    full_tour.check(&mut *subject.after_a_crash(store));
}

fn open_wait(story: &Story) -> u32 {
    story.run.open_waitpoints().next().expect("the run waits").number
}

fn nested(levels: usize) -> serde_json::Value {
    (0..levels).fold(json!("core"), |inner, _| json!([inner]))
}

pub fn a_batch_is_written_whole_or_not_at_all(subject: &mut dyn Subject) {
    for stale_first in [true, false] {
        let (mut store, mut world) = (subject.fresh(), World::new());
        let mut stale = world.start(&story::nap(), json!({ "sleep": "1h" }));
        stale.save(&mut *store);
        let new = world.start_tagged(&story::listener(), json!({ "event": "paid", "customer": 1 }), &["tag"]);
        let before = everything(&mut *store);
        let again = Story { committed: 0, ..stale.clone() };
        let (first, second) = if stale_first { (&again, &new) } else { (&new, &again) };
        let event = world.event("shipped", json!(1));
        let idempotency = IdempotencyRecord {
            key: "key".to_owned(),
            digest: 1,
            reply: Reply::Done,
            run: None,
            at: world.now,
        };
        let definition = world.definition("a", "1", "{}");
        let batch = Batch {
            runs: vec![first.write(), second.write()],
            events: vec![&event],
            idempotency: vec![&idempotency],
            definitions: vec![definition],
            ..Batch::default()
        };
        assert_conflict(store.commit(&batch), &stale);
        for check in [false, true] {
            if check {
                store = subject.after_a_crash(store);
            }
            assert_eq!(everything(&mut *store), before);
            assert_eq!(store.load(new.id()).expect("readable"), None);
            assert_eq!(store.idempotency_record("key").expect("readable"), None);
            assert_eq!(store.definition(WorkspaceId::DEFAULT, "a", None).expect("readable"), None);
        }
        let batch = Batch { runs: vec![new.write()], ..batch };
        store.commit(&batch).expect("what is sound is written, after a refusal too");
        new.check(&mut *store);
    }
}

pub fn a_decision_on_a_run_that_has_moved_on_is_refused(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut first = world.start(&story::review(), json!({}));
    first.save(&mut *store);
    let mut second = first.clone();
    world.work(&mut first, 0);
    first.save(&mut *store);
    world.tell(&mut second, Command::Cancel { reason: None });
    assert_conflict(second.try_save(&mut *store), &first);
    first.check(&mut *store);

    let mut ahead = first.clone();
    world.tell(&mut ahead, Command::Cancel { reason: None });
    ahead.committed += 1;
    assert_conflict(ahead.try_save(&mut *store), &first);
    first.check(&mut *store);

    ahead.committed -= 1;
    ahead.save(&mut *store);
    ahead.check(&mut *subject.after_a_crash(store));
}

pub fn an_empty_batch_changes_nothing(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    store.commit(&Batch::default()).expect("nothing can be written");
    assert_eq!(everything(&mut *store), Everything::default());
    let unknown = World::new().start(&story::nap(), json!({ "sleep": "1h" }));
    assert_eq!(store.load(unknown.id()).expect("readable"), None);
}

pub fn ten_thousand_runs_are_all_found_again(subject: &mut dyn Subject) {
    const RUNS: usize = 10_000;
    const PAGE: usize = 512;
    let (mut store, mut world) = (subject.fresh(), World::new());
    let nap = story::nap();
    let mut stories: Vec<Story> = (0..RUNS)
        .map(|index| {
            world.pass(SignedDuration::from_micros(300));
            world.start(&nap, json!({ "sleep": format!("{}s", 1 + index % 97) }))
        })
        .collect();
    for batch in stories.chunks_mut(500) {
        save(&mut *store, batch);
    }
    let mut store = subject.after_a_crash(store);

    let ids: Vec<_> =
        listed(&mut *store, &RunFilter::default(), PAGE).into_iter().map(|run| run.id).collect();
    let mut expected: Vec<_> = stories.iter().map(Story::id).collect();
    expected.sort();
    expected.reverse();
    assert_eq!(ids, expected);

    let timers = pages(PAGE, |after| store.timers(after, Timestamp::MAX, PAGE));
    assert_eq!(timers.len(), RUNS);
    assert!(timers.is_sorted());
    for story in stories.iter().step_by(997) {
        story.check(&mut *store);
    }
}

fn assert_conflict(result: Result<(), Error>, with: &Story) {
    assert!(matches!(&result, Err(Error::Conflict(id)) if *id == with.id()), "{result:?}");
}

/// How much there is of what can be listed.
#[derive(Debug, Default, PartialEq)]
struct Everything {
    runs: usize,
    timers: usize,
    waiters: usize,
    events: usize,
}

fn everything(store: &mut dyn Store) -> Everything {
    let page = Page { after: None, limit: 100 };
    Everything {
        runs: store.runs(&RunFilter::default(), &page).expect("readable").len(),
        timers: store.timers(None, Timestamp::MAX, 100).expect("readable").len(),
        waiters: store.waiters(WorkspaceId::DEFAULT, "paid", None, 100).expect("readable").len(),
        events: store
            .events_since(WorkspaceId::DEFAULT, "shipped", Timestamp::MIN, None, 100)
            .expect("readable")
            .len(),
    }
}
