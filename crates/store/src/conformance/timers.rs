//! Timers: never early, never lost, in due order.

use abide_core::command::{Command, Steer, Steering};
use abide_core::run::Timer;
use abide_core::status::RunStatus;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::story::{self, Story, World, pages, save};
use crate::{Read, StoredTimer};

pub(super) fn all(store: &mut dyn Read, until: Timestamp) -> Vec<StoredTimer> {
    store.timers(None, until, 1_000).expect("readable")
}

fn paged(store: &mut dyn Read, until: Timestamp, limit: usize) -> Vec<StoredTimer> {
    pages(limit, |after| store.timers(after, until, limit))
}

/// What the runs themselves say, attempts apart.
pub(super) fn expected<'a>(stories: impl IntoIterator<Item = &'a Story>) -> Vec<StoredTimer> {
    let mut timers: Vec<StoredTimer> = stories
        .into_iter()
        .flat_map(|story| story.run.timers().into_iter().map(|(at, timer)| (at, story.id(), timer)))
        .filter(|(_, _, timer)| !matches!(timer, Timer::Attempt { .. }))
        .map(|(at, run, timer)| StoredTimer { at, run, timer })
        .collect();
    timers.sort();
    timers
}

pub fn timers_come_in_due_order_page_by_page(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut stories: Vec<Story> = ["3h", "1h", "2h", "1h", "1h", "365d", "2h", "1h"]
        .iter()
        .map(|sleep| world.start(&story::nap(), json!({ "sleep": sleep })))
        .collect();
    stories.push(world.start(&story::brink(), json!({})));
    stories.push(world.start(&story::signalled(), json!({})));
    stories.push(world.start(&story::full_tour(), json!({ "n": 1 })));
    world.work(stories.last_mut().expect("there are some"), 0);
    save(&mut *store, &mut stories);
    let mut store = subject.after_a_crash(store);
    let expected = expected(&stories);
    assert_eq!(expected.len(), 13);
    for limit in [1, 2, 3, 5, 100] {
        assert_eq!(paged(&mut *store, Timestamp::MAX, limit), expected, "pages of {limit}");
    }
    let soon = world.now + SignedDuration::from_hours(1);
    let due: Vec<StoredTimer> = expected.into_iter().filter(|timer| timer.at <= soon).collect();
    for limit in [1, 3, 100] {
        assert_eq!(paged(&mut *store, soon, limit), due, "pages of {limit}");
    }
}

pub fn a_timer_is_due_at_its_instant_and_not_a_nanosecond_before(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut *store);
    let at = world.now + SignedDuration::from_hours(1);
    assert_eq!(all(&mut *store, at - SignedDuration::from_nanos(1)), []);
    let timer = StoredTimer { at, run: nap.id(), timer: Timer::Waitpoint(1) };
    assert_eq!(all(&mut *store, at), [timer]);
}

pub fn a_timer_follows_its_wait(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut *store);
    for hours in [5, -5] {
        let resume_at = world.now + SignedDuration::from_hours(hours);
        let steering = Steering::Reschedule { resume_at };
        world.tell(&mut nap, Command::Steer(Steer::new(1, steering)));
        nap.save(&mut *store);
        let timer = StoredTimer { at: resume_at, run: nap.id(), timer: Timer::Waitpoint(1) };
        assert_eq!(all(&mut *store, Timestamp::MAX), [timer]);
    }
    world.wake(&mut nap);
    nap.save(&mut *store);
    assert_eq!(all(&mut *store, Timestamp::MAX), []);
    assert_eq!(all(&mut *subject.after_a_crash(store), Timestamp::MAX), []);
}

pub fn the_deadline_of_a_run_is_a_timer_while_it_is_open(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let at = world.now + SignedDuration::from_hours(3);
    let review = story::review();
    let mut cancelled = world.start(&review, json!({}));
    let mut overdue = world.start(&review, json!({}));
    save(&mut *store, [&mut cancelled, &mut overdue]);
    let timer = |story: &Story| StoredTimer { at, run: story.id(), timer: Timer::Run };
    assert_eq!(all(&mut *store, Timestamp::MAX), expected([&cancelled, &overdue]));
    assert_eq!(all(&mut *store, at - SignedDuration::from_nanos(1)), []);

    world.tell(&mut cancelled, Command::Cancel { reason: None });
    world.work(&mut overdue, 0);
    save(&mut *store, [&mut cancelled, &mut overdue]);
    assert_eq!(all(&mut *store, Timestamp::MAX), [timer(&overdue)]);

    world.now = at;
    world.tell(&mut overdue, Command::TimerFired(Timer::Run));
    assert_eq!(overdue.run.status, RunStatus::Failed);
    overdue.save(&mut *store);
    assert_eq!(all(&mut *store, Timestamp::MAX), []);

    world.tell(&mut overdue, Command::Retry);
    overdue.save(&mut *store);
    let timer = StoredTimer { at: at + SignedDuration::from_hours(3), ..timer(&overdue) };
    assert_eq!(all(&mut *store, Timestamp::MAX), [timer]);
}

/// A paused run stays paused when its time is over, but need not be told again.
pub fn a_deadline_that_was_noted_is_not_a_timer_any_more(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut review = world.start(&story::review(), json!({}));
    world.tell(&mut review, Command::Pause);
    world.work(&mut review, 0);
    review.save(&mut *store);
    let [timer] = all(&mut *store, Timestamp::MAX)[..] else { panic!("the deadline is a timer") };
    world.now = timer.at;
    world.tell(&mut review, Command::TimerFired(timer.timer));
    assert_eq!(review.run.status, RunStatus::Paused);
    review.save(&mut *store);
    assert_eq!(all(&mut *store, Timestamp::MAX), []);
}

pub fn a_deadline_and_a_wait_of_the_same_instant_are_both_found(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut stories: Vec<Story> = (0..3).map(|_| world.start(&story::brink(), json!({}))).collect();
    save(&mut *store, &mut stories);
    let expected = expected(&stories);
    assert_eq!(expected.len(), 6);
    for limit in 1..8 {
        assert_eq!(paged(&mut *store, Timestamp::MAX, limit), expected, "pages of {limit}");
    }
}
