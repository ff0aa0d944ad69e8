//! What is held, and what is suspected.

use abide_core::id::{RunId, ScheduleId, WorkspaceId};
use jiff::Timestamp;
use serde_json::json;

use super::Subject;
use super::story::{self, World};
use crate::cluster::NodeId;
use crate::{Held, Owner, Page, Store, Suspect, WaitpointFilter};

fn held(world: &World, number: u128, reason: &str) -> Held {
    let workspace = Some(WorkspaceId::DEFAULT);
    Held {
        owner: Owner::Run(RunId(number)),
        workspace,
        at: world.now,
        by: "ana".into(),
        reason: reason.into(),
    }
}

pub fn what_is_held_is_found_listed_and_let_go(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let schedule = ScheduleId::new(world.now, 7).owner();
    let mut all = vec![
        held(&world, 3, "its history is damaged 🦀"),
        Held { workspace: None, ..held(&world, 5, "unread") },
        Held { owner: schedule, ..held(&world, 0, "slow") },
    ];
    for one in &all {
        assert!(store.hold(one).expect("held"));
    }
    assert!(!store.hold(&held(&world, 3, "another reason")).expect("held before"));
    let mut store = subject.after_a_crash(store);
    let page = |after, limit| Page { after, limit };
    assert_eq!(store.all_held(&page(None, 10)).expect("readable"), all);
    assert_eq!(store.all_held(&page(None, 1)).expect("readable"), all[..1]);
    assert_eq!(store.all_held(&page(Some(all[0].owner), 10)).expect("readable"), all[1..]);
    assert_eq!(store.held(schedule).expect("readable").as_ref(), Some(&all[2]));
    assert_eq!(store.held(Owner::Run(RunId(4))).expect("readable"), None);

    assert!(store.release(all[1].owner).expect("let go"));
    assert!(!store.release(all[1].owner).expect("was not held"));
    all.remove(1);
    assert_eq!(store.all_held(&page(None, 10)).expect("readable"), all);
}

pub fn what_a_process_was_at_when_it_ended_is_counted(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    let [one, other] = [1, 2].map(|number| Owner::Run(RunId(number)));
    let node = |number| Some(NodeId(number));
    // What took long and is done is no suspect.
    store.note_suspect(node(1), Some(one)).expect("noted");
    store.note_suspect(node(1), None).expect("done");
    assert_eq!(store.take_suspects(&[]).expect("taken"), []);
    for deaths in 1..=3 {
        store.note_suspect(node(deaths), Some(other)).expect("noted");
        store.note_suspect(node(deaths), Some(one)).expect("noted: it went on to this one");
        store = subject.after_a_crash(store);
        let deaths = u32::try_from(deaths).expect("few");
        assert_eq!(store.take_suspects(&[]).expect("taken"), [Suspect { owner: one, deaths }]);
    }
    assert_eq!(store.take_suspects(&[]).expect("taken"), [Suspect { owner: one, deaths: 3 }], "once each");
    store.forgive(one).expect("forgiven");
    assert_eq!(store.take_suspects(&[]).expect("taken"), []);
}

pub fn of_a_sound_batch_nobody_is_to_blame(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    assert_eq!(nap.try_culprits(&mut *store).expect("tried"), []);
    assert_eq!(store.load(nap.id()).expect("readable"), None, "nothing was written");
    nap.try_save(&mut *store).expect("written");
}

pub fn the_rows_of_waits_are_made_anew(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut runs = [
        world.start(&story::nap(), json!({ "sleep": "1h" })),
        world.start(&story::signalled(), json!({})),
        world.start(&story::nap(), json!({ "sleep": "2h" })),
    ];
    runs.iter_mut().for_each(|run| run.save(&mut *store));
    let all = |store: &mut dyn Store| {
        let waits = store.waitpoints(&WaitpointFilter::default(), &Page { after: None, limit: 100 });
        let timers = store.timers(None, Timestamp::MAX, 100);
        (waits.expect("readable"), timers.expect("readable"))
    };
    let before = all(&mut *store);
    assert!(before.0.len() >= 3);
    for run in &runs {
        store.rewrite_waits(Owner::Run(run.id()), WorkspaceId::DEFAULT, &[]).expect("taken away");
    }
    assert_eq!(all(&mut *store), (Vec::new(), Vec::new()));
    for run in &runs {
        let waits: Vec<_> = run.run.waitpoints().collect();
        for _ in 0..2 {
            store.rewrite_waits(Owner::Run(run.id()), run.run.workspace, &waits).expect("made anew");
        }
    }
    let mut store = subject.after_a_crash(store);
    assert_eq!(all(&mut *store), before);
}
