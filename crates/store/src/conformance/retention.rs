//! Retention: what may be forgotten, and what may not.

use std::sync::Arc;

use abide_core::command::{Command, Event, Reply, TaskFailed, TaskStarted};
use abide_core::definition::{AwaitedEvent, Hook};
use abide_core::history::DefinitionRef;
use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::story::{self, Story, World, save};
use crate::{Batch, NewDefinition, OfRun, OldEvent, Page, RunFilter, RunOfKey, Store, WaitpointFilter};

pub fn old_events_are_found_in_their_order_and_forgotten_by_name(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let other = store.add_workspace("other", world.now).expect("added");
    let mut events = Vec::new();
    for (event_id, workspace) in [("a", 0), ("b", 0), ("a", 0), ("b", other.0), ("a", 0)] {
        world.workspace = WorkspaceId(workspace);
        events.push(world.event(event_id, json!(1)));
        world.pass(SignedDuration::from_nanos(1));
    }
    let batch = Batch { events: events.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the events are written");
    let place = |index: usize| (events[index].received_at, events[index].id);
    let before = events[4].received_at;
    let here = WorkspaceId::DEFAULT;
    let mut found = |event, before, after, limit| {
        let found: Vec<OldEvent> = store.old_events(event, before, after, limit).expect("readable");
        found.iter().map(|event| event.id).collect::<Vec<_>>()
    };
    let ids = |indexes: &[usize]| indexes.iter().map(|index| events[*index].id).collect::<Vec<_>>();
    assert_eq!(found((here, None), before, None, 10), ids(&[0, 1, 2]));
    assert_eq!(found((here, None), before, None, 2), ids(&[0, 1]));
    assert_eq!(found((here, None), before, Some(place(1)), 2), ids(&[2]));
    assert_eq!(found((here, Some("a")), before, None, 10), ids(&[0, 2]));
    assert_eq!(found((here, Some("a")), Timestamp::MAX, Some(place(0)), 1), ids(&[2]));
    assert_eq!(found((other, None), before, None, 10), ids(&[3]));

    let old = store.old_events((here, None), before, None, 2).expect("readable");
    assert_eq!(store.forget_events(&old).expect("forgotten"), 2);
    assert_eq!(store.forget_events(&old).expect("forgotten"), 0, "they are gone");
    let mut store = subject.after_a_crash(store);
    let mut left = |event_id| store.events_since(here, event_id, Timestamp::MIN, None, 10).expect("readable");
    assert_eq!(left("a"), [events[2].clone(), events[4].clone()]);
    assert_eq!(left("b"), []);
}

pub fn an_event_sent_to_a_run_says_whether_that_is_open_and_goes_when_it_is_not(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let listener = story::listener();
    let mut start = || world.start(&listener, json!({ "event": "paid", "customer": 1 }));
    let (mut open, mut ended) = (start(), start());
    save(&mut *store, [&mut open, &mut ended]);
    let sent_to = |run: RunId, world: &mut World| Event { run: Some(run), ..world.event("x", json!(1)) };
    let events =
        [sent_to(open.id(), &mut world), sent_to(ended.id(), &mut world), sent_to(ended.id(), &mut world)];
    let batch = Batch { events: events.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the events are written");
    world.tell(&mut ended, Command::Cancel { reason: None });
    ended.save(&mut *store);

    let mut store = subject.after_a_crash(store);
    let found = store.old_events((WorkspaceId::DEFAULT, None), Timestamp::MAX, None, 10).expect("readable");
    let mut told: Vec<_> = found.iter().map(|event| event.sent_to).collect();
    told.sort();
    let mut expected = vec![Some((open.id(), true)), Some((ended.id(), false)), Some((ended.id(), false))];
    expected.sort();
    assert_eq!(told, expected);
    let runs = [open.id(), ended.id()];
    let mut owners = store.owners(&[RunId(1), runs[0], runs[1]], OfRun::Events).expect("readable");
    owners.sort();
    assert_eq!(owners, runs);
    assert_eq!(store.owners(&runs, OfRun::Keys).expect("readable"), []);
    for expected in [1, 1, 0] {
        assert_eq!(store.forget_of(&runs, OfRun::Events, 1).expect("forgotten"), expected);
    }
    let left = store.events_since(WorkspaceId::DEFAULT, "x", Timestamp::MIN, None, 10).expect("readable");
    assert_eq!(left, [events[0].clone()], "one that an open run may come to is never forgotten with a run");
}

pub fn old_keys_are_found_in_their_order_and_forgotten_by_name(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut idempotency = Vec::new();
    for key in ["d", "b", "e", "a", "c"] {
        let (digest, reply, run, at) = (1, Reply::Done, None, world.now);
        idempotency.push(IdempotencyRecord { key: key.to_owned(), digest, reply, run, at });
        world.pass(SignedDuration::from_nanos(1));
    }
    let batch = Batch { idempotency: idempotency.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the keys are written");
    let before = idempotency[3].at;
    let first = store.old_keys(before, None, 2).expect("readable");
    let place = (first[1].written_at, first[1].key.clone());
    let rest = store.old_keys(before, Some(&place), 10).expect("readable");
    let keys: Vec<String> = first.iter().chain(&rest).map(|key| key.key.clone()).collect();
    assert_eq!(keys, ["d", "b", "e"]);
    assert!(first.iter().chain(&rest).all(|key| key.run == RunOfKey::None));
    assert_eq!(store.forget_keys(&keys).expect("forgotten"), 3);
    assert_eq!(store.forget_keys(&keys).expect("forgotten"), 0);
    let mut store = subject.after_a_crash(store);
    for (index, idempotency) in idempotency.iter().enumerate() {
        let found = store.idempotency_record(&idempotency.key).expect("readable");
        assert_eq!(found.as_ref(), Some(idempotency).filter(|_| index >= 3));
    }
    // A key that was forgotten may be used for something else.
    let again = IdempotencyRecord { digest: 2, ..idempotency[0].clone() };
    store.commit(&Batch { idempotency: vec![&again], ..Batch::default() }).expect("the key is written");
    assert_eq!(store.idempotency_record(&again.key).expect("readable"), Some(again));
}

pub fn the_key_of_a_run_is_not_forgotten_while_that_is_open(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let listener = story::listener();
    let mut start = || world.start(&listener, json!({ "event": "paid", "customer": 1 }));
    let (mut open, mut ended) = (start(), start());
    save(&mut *store, [&mut open, &mut ended]);
    let key = |key: &str, run: RunId| {
        let (digest, reply, at) = (1, Reply::Started(run), Timestamp::UNIX_EPOCH);
        IdempotencyRecord { key: key.to_owned(), digest, reply, run: Some(run), at }
    };
    let keys = [key("open", open.id()), key("ended", ended.id())];
    store.commit(&Batch { idempotency: keys.iter().collect(), ..Batch::default() }).expect("written");
    world.pass(SignedDuration::from_hours(1));
    let ended_at = world.now;
    world.tell(&mut ended, Command::Cancel { reason: None });
    ended.save(&mut *store);

    let mut store = subject.after_a_crash(store);
    let found = store.old_keys(world.now, None, 10).expect("readable");
    let told: Vec<(&str, RunOfKey)> = found.iter().map(|key| (key.key.as_str(), key.run)).collect();
    assert_eq!(told, [("ended", RunOfKey::Ended(ended_at)), ("open", RunOfKey::Open)]);
    assert_eq!(store.forget_keys(&["open".to_owned()]).expect("forgotten"), 0);
    assert_eq!(store.forget_of(&[open.id()], OfRun::Keys, 10).expect("forgotten"), 0);
    assert_eq!(store.idempotency_record("open").expect("readable").as_ref(), Some(&keys[0]));

    // When its run is forgotten, a key is as old as the end of that.
    assert_eq!(store.forget_runs(Timestamp::MAX, 10).expect("forgotten"), 1);
    let key = store.idempotency_record("ended").expect("readable").expect("it is there");
    assert_eq!((key.run, key.at), (None, ended_at));
    let found = store.old_keys(Timestamp::MAX, None, 10).expect("readable");
    assert_eq!(found.last().map(|key| (key.key.as_str(), key.run)), Some(("ended", RunOfKey::None)));
    assert_eq!(store.forget_keys(&["ended".to_owned()]).expect("forgotten"), 1);
}

pub fn the_oldest_open_run_and_those_that_ended_are_found(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (listener, review) = (story::listener(), story::review());
    let here = WorkspaceId::DEFAULT;
    assert_eq!(store.oldest_open(here, None).expect("readable"), None);
    let mut stories = Vec::new();
    for definition in [&listener, &listener, &review, &listener] {
        stories.push(world.start(definition, json!({ "event": "paid", "customer": 1 })));
        world.pass(SignedDuration::from_millis(1));
    }
    save(&mut *store, &mut stories);
    let of = |definition: &abide_core::definition::Definition| DefinitionRef {
        name: definition.name().into(),
        version: definition.version().into(),
    };
    let begin = (Timestamp::MIN, RunId(0));
    assert_eq!(store.oldest_open(here, None).expect("readable"), Some(stories[0].id()));
    assert_eq!(store.oldest_open(here, Some(&of(&review))).expect("readable"), Some(stories[2].id()));
    assert_eq!(store.ended_runs(Timestamp::MAX, begin, 10).expect("readable"), []);
    let mut ends = Vec::new();
    for index in [0, 2] {
        ends.push((world.now, stories[index].id()));
        world.tell(&mut stories[index], Command::Cancel { reason: None });
        stories[index].save(&mut *store);
        world.pass(SignedDuration::from_millis(1));
    }
    assert_eq!(store.oldest_open(here, None).expect("readable"), Some(stories[1].id()));
    assert_eq!(store.oldest_open(here, Some(&of(&listener))).expect("readable"), Some(stories[1].id()));
    assert_eq!(store.oldest_open(here, Some(&of(&review))).expect("readable"), None);
    assert_eq!(store.oldest_open(WorkspaceId(7), None).expect("readable"), None);
    assert_eq!(store.ended_runs(Timestamp::MAX, begin, 10).expect("readable"), ends);
    assert_eq!(store.ended_runs(Timestamp::MAX, ends[0], 10).expect("readable"), ends[1..]);
    assert_eq!(store.ended_runs(ends[1].0, begin, 10).expect("readable"), ends[..1]);
}

pub fn what_the_runs_of_a_definition_may_wait_for_is_kept_with_it(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let awaits = [
        AwaitedEvent { event_id: Some("p\u{e4}id".into()), lookback: None, hook: None },
        AwaitedEvent { event_id: None, lookback: Some(Millis(5)), hook: None },
        AwaitedEvent { hook: Some(Hook::OnFailure), ..AwaitedEvent::ANY },
    ];
    let (first, second) = (world.definition("order", "1", "{}"), world.definition("order", "2", "{}"));
    let definitions = vec![NewDefinition { awaits: &awaits, ..first }, second];
    store.commit(&Batch { definitions, ..Batch::default() }).expect("written");
    let mut store = subject.after_a_crash(store);
    let mut found = store.awaits(WorkspaceId::DEFAULT).expect("readable");
    found.sort_by(|a, b| a.definition.version.cmp(&b.definition.version));
    let versions: Vec<&str> = found.iter().map(|awaits| &*awaits.definition.version).collect();
    assert_eq!(versions, ["1", "2"]);
    assert_eq!(found[0].events, awaits);
    assert_eq!(found[1].events, []);
    assert_eq!(store.awaits(WorkspaceId(7)).expect("readable"), []);
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
    let at = StepAddress::step(0);
    let lease_epoch = review.run.step(at).and_then(|step| step.task.as_ref()).expect("a task").lease_epoch;
    let started = TaskStarted { at, lease_epoch, worker: Arc::from("worker-1"), from: None, build: None };
    world.tell(review, Command::TaskStarted(started));
    let (message, retryable) = ("no".to_owned(), false);
    let (code, retry_after, detail) = (None, None, None);
    let failed =
        TaskFailed { at, lease_epoch, message, code, retryable, retry_after, detail, mismatch: None };
    world.tell(review, Command::TaskFailed(failed));
    assert_eq!(review.run.status, RunStatus::Failed);
}

fn listed(store: &mut dyn Store, filter: RunFilter) -> Vec<RunId> {
    let runs = store.runs(&filter, &Page { after: None, limit: 100 }).expect("readable");
    runs.iter().map(|run| run.id).collect()
}

pub fn what_is_stored_is_known_and_less_when_it_is_forgotten(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let bytes = |store: &mut dyn Store| store.stored_bytes(WorkspaceId::DEFAULT).expect("readable");
    assert_eq!(bytes(&mut *store), 0);
    let mut run = world.start(&story::nap(), json!({ "sleep": "1h", "text": "x".repeat(10_000) }));
    run.save(&mut *store);
    let started = bytes(&mut *store);
    assert!(started > 50, "{started}");
    let events = [world.event("paid", json!("y".repeat(5_000))), world.event("paid", json!("ü"))];
    let batch = Batch { events: events.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("committed");
    assert_eq!(bytes(&mut *store), started + 5_002 + 4);
    let mut store = subject.after_a_crash(store);
    store.fold().expect("added up");
    store.fold().expect("added up again");
    assert_eq!(bytes(&mut *store), started + 5_002 + 4);

    let first = &events[0];
    let old = OldEvent {
        workspace: first.workspace,
        event_id: Arc::clone(&first.event_id),
        received_at: first.received_at,
        id: first.id,
        sent_to: None,
    };
    assert_eq!(store.forget_events(&[old]).expect("forgotten"), 1);
    assert_eq!(bytes(&mut *store), started + 4);
    world.tell(&mut run, Command::Cancel { reason: None });
    run.save(&mut *store);
    assert!(bytes(&mut *store) > started + 4);
    world.pass(SignedDuration::from_hours(1));
    assert_eq!(store.forget_runs(world.now, 10).expect("forgotten"), 1);
    assert_eq!(bytes(&mut *store), 4);
}
