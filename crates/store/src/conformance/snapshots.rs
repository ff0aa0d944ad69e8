//! Long runs: a snapshot now and then, and from there on only what is new.

use abide_core::command::{Command, Steer, Steering};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::story::{self, Story, World};
use crate::{RunUpdate, Store};

/// Of a run that has as many records as it takes for a snapshot and some more, in commits of any size.
fn long_run(world: &mut World, store: &mut dyn Store) -> Story {
    const RECORDS: u64 = 1_100;
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(store);
    while nap.run.seq < RECORDS {
        for _ in 0..1 + world.random.below(40) {
            world.pass(SignedDuration::from_secs(1));
            let resume_at = world.now + SignedDuration::from_hours(9);
            world.tell(&mut nap, Command::Steer(Steer::new(1, Steering::Reschedule { resume_at })));
        }
        nap.save(store);
    }
    nap
}

pub fn a_long_run_is_loaded_from_a_snapshot_and_what_came_after(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let nap = long_run(&mut world, &mut *store);
    let mut store = subject.after_a_crash(store);
    let updates = store.updates(&[(nap.id(), 0)]).expect("readable");
    let [(_, Ok(RunUpdate::Snapshot { snapshot, records }))] = &updates[..] else { panic!("{updates:?}") };
    assert!(snapshot.seq >= 1_000, "the last of them stands: {}", snapshot.seq);
    assert_eq!(records.len() as u64, nap.run.seq - snapshot.seq);
    assert_eq!(store.snapshot(nap.id()).expect("readable").as_ref(), Some(&**snapshot));
    nap.check(&mut *store);
}

pub fn whoever_knows_a_run_gets_what_is_new_and_nothing_else(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut long = long_run(&mut world, &mut *store);
    let mut short = world.start(&story::signalled(), json!({}));
    short.save(&mut *store);
    let known = [long.run.seq, short.run.seq];
    let of = |long: &Story, short: &Story| [(long.id(), known[0]), (short.id(), known[1])];
    assert!(store.updates(&of(&long, &short)).expect("readable").is_empty());
    for story in [&mut long, &mut short] {
        for command in [Command::Pause, Command::Unpause] {
            world.tell(story, command);
            story.save(&mut *store);
        }
    }
    for (story, known) in [(&long, known[0]), (&short, known[1])] {
        let new = &story.history[usize::try_from(known).expect("small")..];
        assert!(!new.is_empty());
        assert_eq!(story.records_since(&mut *store, known), new);
        story.check(&mut *store);
    }
    // A version that nobody has written is not gone on from.
    let updates = store.updates(&[(short.id(), short.run.seq + 9)]).expect("readable");
    assert!(matches!(&updates[..], [(_, Ok(RunUpdate::Whole(_)))]), "{updates:?}");
}

pub fn a_snapshot_is_forgotten_with_its_run(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut nap = long_run(&mut world, &mut *store);
    world.tell(&mut nap, Command::Cancel { reason: None });
    nap.save(&mut *store);
    nap.check(&mut *store);
    assert_eq!(store.forget_runs(Timestamp::MAX, 9).expect("forgotten"), 1);
    assert_eq!(store.snapshot(nap.id()).expect("readable"), None);
    assert!(store.updates(&[(nap.id(), 0)]).expect("readable").is_empty());
}
