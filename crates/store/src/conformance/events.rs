//! Events: those who wait for them, and those that came.

use abide_core::command::{Command, Event, Steer, Steering};
use abide_core::id::{WaitpointId, WorkspaceId};
use abide_core::waitpoint::ListensFor;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::story::{self, Story, World, pages, save};
use crate::{Batch, Page, Store, Waiter};

fn waiters(store: &mut dyn Store, event_id: &str) -> Vec<WaitpointId> {
    let found = store.waiters(WorkspaceId::DEFAULT, event_id, None, 100).expect("readable");
    found.iter().map(|waiter| waiter.waitpoint).collect()
}

pub fn a_waiter_is_there_while_its_wait_is_open(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let listener = story::listener();
    let input = json!({ "event": "paid", "customer": 1 });
    let mut taken = world.start(&listener, input.clone());
    let mut timed_out = world.start(&listener, input.clone());
    let mut cancelled = world.start(&listener, input.clone());
    let mut moved = world.start(&listener, input);
    // A signal type is not an event id.
    let mut signalled = world.start(&story::signalled(), json!({}));
    save(&mut *store, [&mut taken, &mut timed_out, &mut cancelled, &mut moved, &mut signalled]);
    assert_eq!(waiters(&mut *store, "paid").len(), 4);
    assert_eq!(waiters(&mut *store, "answer"), []);

    let event = world.event("paid", json!({ "customer": 1 }));
    world.deliver(&mut taken, 1, &event);
    world.tell(&mut cancelled, Command::Cancel { reason: None });
    let resume_at = world.now + SignedDuration::from_hours(24);
    let steering = Steering::Reschedule { resume_at };
    world.tell(&mut moved, Command::Steer(Steer::new(1, steering)));
    world.wake(&mut timed_out);
    save(&mut *store, [&mut taken, &mut timed_out, &mut cancelled, &mut moved]);
    let mut store = subject.after_a_crash(store);
    let left = store.waiters(WorkspaceId::DEFAULT, "paid", None, 100).expect("readable");
    assert_eq!(left.iter().map(|waiter| waiter.waitpoint).collect::<Vec<_>>(), [moved.id().waitpoint(1)]);
    assert_eq!(left[0].resume_at, Some(resume_at));
}

pub fn waiters_are_found_whatever_their_event_is_called(subject: &mut dyn Subject) {
    const NAMES: [&str; 12] =
        [".", "a.b.c", "a", "A", "a ", "'", "\"; --", "%", "a%", "ümlaut 🦀", "u\u{308}mlaut 🦀", "0"];
    let (mut store, mut world) = (subject.fresh(), World::new());
    let listener = story::listener();
    let mut stories: Vec<Story> =
        NAMES.iter().map(|name| world.start(&listener, json!({ "event": name, "customer": 1 }))).collect();
    save(&mut *store, &mut stories);
    for (name, story) in NAMES.iter().zip(&stories) {
        assert_eq!(waiters(&mut *store, name), [story.id().waitpoint(1)], "{name:?}");
    }
    for name in ["", "a.b", "a.b.c.", "1", "null", "_"] {
        assert_eq!(waiters(&mut *store, name), [], "{name:?}");
    }
    for (name, story) in NAMES.iter().zip(&mut stories) {
        let event = world.event(name, json!({ "customer": 1 }));
        world.deliver(story, 1, &event);
        story.save(&mut *store);
        assert_eq!(waiters(&mut *store, name), [], "{name:?}");
    }
}

pub fn waiters_come_oldest_first_page_by_page(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    // The first run to be created is the last to wait.
    let mut late = world.start(&story::full_tour(), json!({ "n": 1 }));
    late.save(&mut *store);
    world.pass(SignedDuration::from_secs(1));
    let listener = story::listener();
    let input = json!({ "event": "reply", "customer": 1 });
    let mut same_instant: Vec<Story> = (0..5).map(|_| world.start(&listener, input.clone())).collect();
    world.pass(SignedDuration::from_nanos(1));
    let mut next = world.start(&listener, input);
    save(&mut *store, same_instant.iter_mut().chain([&mut next]));
    world.work(&mut late, 0);
    for _ in 0..3 {
        world.wake(&mut late);
    }
    late.save(&mut *store);

    let mut expected: Vec<WaitpointId> = same_instant.iter().map(|story| story.run.waitpoint_id(1)).collect();
    expected.sort();
    expected.push(next.run.waitpoint_id(1));
    let hears = late.run.open_waitpoints().next().expect("it waits for the event").number;
    expected.push(late.run.waitpoint_id(hears));
    for limit in [1, 2, 3, 100] {
        let found = pages(limit, |after: Option<&Waiter>| {
            let after = after.map(|waiter| (waiter.created_at, waiter.waitpoint));
            store.waiters(WorkspaceId::DEFAULT, "reply", after, limit)
        });
        let found: Vec<WaitpointId> = found.iter().map(|waiter| waiter.waitpoint).collect();
        assert_eq!(found, expected, "pages of {limit}");
    }

    // A page may begin after a wait that has ended meanwhile.
    let event = world.event("reply", json!({ "customer": 1 }));
    let begun = same_instant[0].run.created_at;
    world.now = begun;
    let ended = same_instant.iter_mut().find(|story| story.id() == expected[2].run).expect("one of them");
    world.deliver(ended, 1, &Event { received_at: world.now, ..event });
    ended.save(&mut *store);
    let rest =
        store.waiters(WorkspaceId::DEFAULT, "reply", Some((begun, expected[2])), 100).expect("readable");
    assert_eq!(rest.iter().map(|waiter| waiter.waitpoint).collect::<Vec<_>>(), expected[3..]);
}

pub fn a_waiter_has_its_filter(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut story = world.start(&story::listener(), json!({ "event": "paid", "customer": 0.1 }));
    story.save(&mut *store);
    let found =
        subject.after_a_crash(store).waiters(WorkspaceId::DEFAULT, "paid", None, 1).expect("readable");
    let [waiter] = found.as_slice() else { panic!("one waiter, not {found:?}") };
    let waitpoint = story.run.waitpoint(1).expect("it waits");
    assert_eq!(waitpoint.listens_for, ListensFor::Event(waiter.filter.clone()));
    assert_eq!((waiter.resume_at, waiter.created_at), (waitpoint.resume_at, waitpoint.created_at));
    assert!(waiter.filter.accepts(&json!({ "customer": 0.1 })));
    assert!(!waiter.filter.accepts(&json!({ "customer": 1 })));
}

fn occurred(store: &mut dyn Store, events: &[Event]) {
    let batch = Batch { events: events.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the events are written");
}

pub fn occurrences_come_in_the_order_they_were_received(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut events = Vec::new();
    for data in [json!(null), json!({ "deep": [[[1.5]]] }), json!("text"), json!([]), json!(u64::MAX)] {
        events.push(world.event("paid", data.clone()));
        events.push(world.event("paid", data));
        world.pass(SignedDuration::from_nanos(1));
    }
    occurred(&mut *store, &events[3..]);
    occurred(&mut *store, &events[..3]);
    let mut store = subject.after_a_crash(store);
    events.sort_by_key(|event| (event.received_at, event.id));
    for limit in [1, 2, 3, 100] {
        let found = pages(limit, |after: Option<&Event>| {
            let after = after.map(|last| (last.received_at, last.id));
            store.events_since(WorkspaceId::DEFAULT, "paid", Timestamp::MIN, after, limit)
        });
        assert_eq!(found, events, "pages of {limit}");
    }
}

pub fn occurrences_of_other_events_and_of_earlier_times_are_left_out(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let early = world.event("a.b", json!(1));
    let other = world.event("a", json!(2));
    world.pass(SignedDuration::from_nanos(1));
    let middle = world.event("a.b", json!(3));
    world.pass(SignedDuration::from_nanos(1));
    let late = world.event("a.b", json!(4));
    occurred(&mut *store, &[early.clone(), other.clone(), middle.clone(), late.clone()]);
    let mut since = |event_id: &str, since: Timestamp, after: Option<&Event>| {
        let after = after.map(|after| (after.received_at, after.id));
        store.events_since(WorkspaceId::DEFAULT, event_id, since, after, 100).expect("readable")
    };
    assert_eq!(since("a.b", early.received_at, None), [early.clone(), middle, late.clone()]);
    assert_eq!(since("a.b", late.received_at, None), std::slice::from_ref(&late));
    assert_eq!(since("a.b", late.received_at, Some(&early)), std::slice::from_ref(&late));
    assert_eq!(since("a.b", late.received_at + SignedDuration::from_nanos(1), None), []);
    assert_eq!(since("a.b", early.received_at, Some(&late)), []);
    assert_eq!(since("a", Timestamp::MIN, None), [other]);
    assert_eq!(since("b", Timestamp::MIN, None), []);
}

pub fn events_are_listed_the_last_one_first_page_by_page(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut sent = Vec::new();
    for event_id in ["a", "b", "a", "a.b", "a"] {
        sent.push(world.event(event_id, json!({ "n": 1 })));
        sent.push(world.event(event_id, json!(null)));
        world.pass(SignedDuration::from_nanos(1));
    }
    occurred(&mut *store, &sent);
    let mut store = subject.after_a_crash(store);
    sent.sort_by_key(|event| std::cmp::Reverse((event.received_at, event.id)));
    for event_id in [None, Some("a"), Some("a.b"), Some("c")] {
        let expected: Vec<&Event> =
            sent.iter().filter(|event| event_id.is_none_or(|id| *event.event_id == *id)).collect();
        for limit in [1, 3, 100] {
            let found = pages(limit, |after: Option<&Event>| {
                let after = after.map(|last| (last.received_at, last.id));
                store.events(WorkspaceId::DEFAULT, event_id, &Page { after, limit })
            });
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{event_id:?}, pages of {limit}");
        }
    }
}
