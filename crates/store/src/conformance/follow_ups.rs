//! What is to be done later, and how many runs began with one.

use abide_core::command::Command;
use abide_core::follow_up::FollowUp;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::time::Millis;
use serde_json::json;

use super::Subject;
use super::story::{self, World};
use crate::{Batch, Error, FollowUpWrite, Store, StoredFollowUp};

fn follow_up(id: u128, workspace: WorkspaceId, owner: u128) -> StoredFollowUp {
    let what = FollowUp::Cancel { run: RunId(id), reason: Some(format!("it's number {id} 🦀")) };
    StoredFollowUp { id, workspace, owner, version: 1, what }
}

fn write(store: &mut dyn Store, writes: Vec<FollowUpWrite<'_>>) -> Result<(), Error> {
    store.commit(&Batch { follow_ups: writes, ..Batch::default() })
}

pub fn what_is_to_be_done_is_there_until_it_is_done(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let other = store.add_workspace("other", world.now).expect("added");
    let here = WorkspaceId::default();
    let rows: Vec<StoredFollowUp> = [(5, other), (4, here), (3, here), (2, other), (1, here)]
        .map(|(id, place)| follow_up(id, place, 7))
        .to_vec();
    write(&mut *store, rows.iter().map(FollowUpWrite::Put).collect()).expect("written");
    let mut store = subject.after_a_crash(store);
    let ids = |store: &mut dyn Store, limit| -> Vec<u128> {
        store.follow_ups(&[], limit).expect("readable").iter().map(|row| row.id).collect()
    };
    assert_eq!(ids(&mut *store, 10), [1, 3, 4, 2, 5]);
    assert_eq!(ids(&mut *store, 2), [1, 3, 2, 5], "of each workspace the oldest");
    assert_eq!(store.follow_ups(&[], 1).expect("readable"), [rows[4].clone(), rows[3].clone()]);
    assert_eq!(store.follow_ups(&[7], 10).expect("readable"), []);
    assert_eq!(store.follow_ups(&[8], 10).expect("readable").len(), 5);
    let changed = StoredFollowUp {
        version: 2,
        owner: 9,
        what: FollowUp::Cancel { run: RunId(3), reason: None },
        ..rows[2].clone()
    };
    write(&mut *store, vec![FollowUpWrite::Change(&changed), FollowUpWrite::Remove(&rows[0])])
        .expect("written");
    assert_eq!(ids(&mut *store, 10), [1, 3, 4, 2]);
    assert_eq!(store.follow_ups(&[7], 10).expect("readable"), [changed]);
}

pub fn what_somebody_else_has_done_is_a_conflict(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    let rows = [follow_up(1, WorkspaceId::default(), 7), follow_up(2, WorkspaceId::default(), 7)];
    write(&mut *store, rows.iter().map(FollowUpWrite::Put).collect()).expect("written");
    let changed = StoredFollowUp { version: 2, ..rows[0].clone() };
    write(&mut *store, vec![FollowUpWrite::Change(&changed)]).expect("written");
    for late in [
        vec![FollowUpWrite::Remove(&rows[1]), FollowUpWrite::Remove(&rows[0])],
        vec![FollowUpWrite::Remove(&rows[1]), FollowUpWrite::Change(&changed)],
    ] {
        let refused = write(&mut *store, late).expect_err("it has moved on");
        assert!(matches!(refused, Error::Conflict(_)), "{refused}");
        assert_eq!(store.follow_ups(&[], 10).expect("readable").len(), 2, "nothing of the batch is written");
    }
}

pub fn descendants_are_counted_until_their_root_is_forgotten(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut story = world.start(&story::listener(), json!({ "event": "paid", "customer": 1 }));
    world.tell(&mut story, Command::Cancel { reason: None });
    story.save(&mut *store);
    let run = story.id();
    let count = |store: &mut dyn Store, more: Vec<(RunId, u64)>| {
        store.commit(&Batch { descendants: more, ..Batch::default() }).expect("written");
    };
    assert_eq!(store.descendants(run).expect("readable"), 0);
    count(&mut *store, vec![(run, 3), (RunId(1), 1)]);
    count(&mut *store, vec![(run, 4)]);
    assert_eq!(store.descendants(run).expect("readable"), 7);
    store.forget_runs(Millis::from_days(1).after(world.now), 10).expect("forgotten");
    assert_eq!(store.descendants(run).expect("readable"), 0);
    assert_eq!(store.descendants(RunId(1)).expect("readable"), 1);
}
