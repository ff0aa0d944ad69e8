//! Schedules, and their waits among all others.

use abide_core::command::Steering;
use abide_core::id::{ScheduleId, WorkspaceId};
use abide_core::json::Json;
use abide_core::limits;
use abide_core::run::Timer;
use abide_core::schedule::{CatchUp, Overlap, Plan, Schedule, When};
use abide_core::status::WaitStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::{Actor, Kind};
use jiff::Timestamp;
use serde_json::json;

use super::Subject;
use super::story::{self, World, pages, save};
use crate::{Batch, Error, Page, ScheduleWrite, Store, StoredTimer, WaitpointFilter};

pub(crate) fn schedule(world: &mut World, name: &str) -> Schedule {
    let plan = Plan {
        name: name.to_owned(),
        workflow: "nap".to_owned(),
        version: Some("1".to_owned()),
        input: Json::new(json!({ "it's": "🦀" })),
        tags: vec!["red".into()],
        when: When::Every(Millis(3_600_000)),
        overlap: Overlap::Queue,
        catch_up: CatchUp::All,
    };
    let id = ScheduleId::new(world.now, world.random.draw_u128());
    Schedule::new(id, world.workspace, plan, Actor::new("anna"), world.now)
}

fn try_write(store: &mut dyn Store, based_on: u64, schedule: &Schedule, removed: bool) -> Result<(), Error> {
    let write = ScheduleWrite { based_on, schedule, removed };
    store.commit(&Batch { schedules: vec![write], ..Batch::default() })
}

pub(crate) fn put(store: &mut dyn Store, based_on: u64, schedule: &Schedule) {
    try_write(store, based_on, schedule, false).expect("written");
}

/// Cancels the pending wait of a schedule, and writes it.
fn cancel(store: &mut dyn Store, world: &World, schedule: &mut Schedule) {
    let (based_on, number) = (schedule.seq, schedule.pending().expect("it waits").number);
    schedule.steer(number, &Steering::Cancel, None, &Actor::new("ben"), world.now).expect("cancelled");
    put(store, based_on, schedule);
}

fn timers(store: &mut dyn Store) -> Vec<StoredTimer> {
    store.timers(None, Timestamp::MAX, 100).expect("readable")
}

pub fn a_schedule_is_found_by_its_id_and_its_name(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut here: Vec<Schedule> =
        ["b", "a", "c 'd' 🦀"].iter().map(|name| schedule(&mut world, name)).collect();
    world.workspace = store.add_workspace("other", world.now).expect("added");
    let there = schedule(&mut world, "a");
    for schedule in here.iter().chain([&there]) {
        put(&mut *store, 0, schedule);
    }
    let mut store = subject.after_a_crash(store);
    for schedule in here.iter().chain([&there]) {
        assert_eq!(store.schedule(schedule.id).expect("readable").as_ref(), Some(schedule));
        let named = store.schedule_by_name(schedule.workspace, &schedule.plan.name).expect("readable");
        assert_eq!(named.as_ref(), Some(schedule));
    }
    assert_eq!(store.schedule(ScheduleId(1)).expect("readable"), None);
    assert_eq!(store.schedule_by_name(WorkspaceId::DEFAULT, "d").expect("readable"), None);
    here.sort_by(|one, other| one.plan.name.cmp(&other.plan.name));
    for limit in [1, 2, 10] {
        let listed = pages(limit, |last: Option<&Schedule>| {
            let after = last.map(|last| last.plan.name.clone());
            store.schedules(WorkspaceId::DEFAULT, &Page { after, limit })
        });
        assert_eq!(listed, here);
    }
    let twin = schedule(&mut world, "a");
    assert!(try_write(&mut *store, 0, &twin, false).is_err(), "the name is taken");
}

pub fn the_waits_of_a_schedule_are_timers_and_are_listed(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut hourly = schedule(&mut world, "hourly");
    let mut nap = world.start(&story::nap(), json!({ "sleep": "90m" }));
    put(&mut *store, 0, &hourly);
    save(&mut *store, [&mut nap]);
    let due = |schedule: &Schedule| {
        let wait = schedule.pending().expect("it waits");
        let at = wait.resume_at.expect("by the clock");
        StoredTimer { at, run: schedule.id.owner().id(), timer: Timer::Waitpoint(wait.number) }
    };
    assert_eq!(timers(&mut *store)[0], due(&hourly));
    cancel(&mut *store, &world, &mut hourly);
    let mut store = subject.after_a_crash(store);
    assert_eq!(timers(&mut *store)[1], due(&hourly), "after the nap");
    let list = |store: &mut dyn Store, status| {
        let filter = WaitpointFilter {
            workspace: Some(WorkspaceId::DEFAULT),
            kind: Some(Kind::Schedule),
            status,
            ..WaitpointFilter::default()
        };
        let listed = store.waitpoints(&filter, &Page { after: None, limit: 100 }).expect("readable");
        listed.into_iter().map(|wait| (wait.id, wait.status)).collect::<Vec<_>>()
    };
    let [first, second] = [1, 2].map(|number| hourly.waitpoint_id(number));
    assert_eq!(list(&mut *store, Some(WaitStatus::Pending)), [(second, WaitStatus::Pending)]);
    assert_eq!(list(&mut *store, Some(WaitStatus::Cancelled)), [(first, WaitStatus::Cancelled)]);
    for _ in 0..limits::SCHEDULE_WAITS * 2 {
        cancel(&mut *store, &world, &mut hourly);
    }
    assert_eq!(list(&mut *store, None).len(), limits::SCHEDULE_WAITS, "the others are forgotten");
}

pub fn a_schedule_that_was_decided_on_another_version_is_a_conflict(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut hourly = schedule(&mut world, "hourly");
    put(&mut *store, 0, &hourly);
    let stale = hourly.clone();
    cancel(&mut *store, &world, &mut hourly);
    let nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    for (based_on, removed) in [(0, false), (1, false), (3, false), (1, true)] {
        let write = ScheduleWrite { based_on, schedule: &stale, removed };
        let batch = Batch { runs: vec![nap.write()], schedules: vec![write], ..Batch::default() };
        let refused = store.commit(&batch);
        assert!(matches!(refused, Err(Error::Conflict(id)) if id == stale.id.owner().id()), "{refused:?}");
    }
    let mut store = subject.after_a_crash(store);
    assert_eq!(store.schedule(hourly.id).expect("readable"), Some(hourly));
    assert_eq!(store.load(nap.id()).expect("readable"), None, "all or nothing");
}

pub fn a_removed_schedule_leaves_nothing(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (first, second) = (schedule(&mut world, "first"), schedule(&mut world, "second"));
    put(&mut *store, 0, &first);
    put(&mut *store, 0, &second);
    try_write(&mut *store, first.seq, &first, true).expect("removed");
    let mut store = subject.after_a_crash(store);
    assert_eq!(store.schedule(first.id).expect("readable"), None);
    assert_eq!(timers(&mut *store).len(), 1);
    let again = schedule(&mut world, "first");
    put(&mut *store, 0, &again);
}
