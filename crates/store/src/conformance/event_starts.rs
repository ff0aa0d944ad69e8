//! Which workflows an event may start.

use abide_core::event_start::RefusedStart;
use abide_core::id::{EventUid, WorkspaceId};

use super::Subject;
use super::story::World;
use crate::{Batch, EventName, EventStartWrite, EventStarter, Store};

const HERE: WorkspaceId = WorkspaceId::DEFAULT;

fn found(
    store: &mut dyn Store,
    event_id: Option<&str>,
    after: Option<(&str, &str)>,
    limit: usize,
) -> Vec<(String, String)> {
    let found = store.event_starts(HERE, event_id, after, limit).expect("readable");
    found.into_iter().map(|starter| (starter.event_id, starter.workflow)).collect()
}

fn write(store: &mut dyn Store, starts: &[(&str, &str)]) {
    let starts = starts.iter().copied();
    let write = |(event_id, workflow)| EventStartWrite { workspace: HERE, event_id, workflow, refused: None };
    let event_starts = starts.map(write).collect();
    store.commit(&Batch { event_starts, ..Batch::default() }).expect("written");
}

pub fn workflows_are_found_by_the_event_that_starts_them_page_by_page(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    let odd = "it's \0 \\ 🦀";
    write(&mut *store, &[("paid", "b"), ("paid", "a"), ("shipped", "c"), (odd, odd)]);
    // A version that says the same again changes nothing.
    write(&mut *store, &[("paid", "a"), ("paid", "B")]);
    let mut store = subject.after_a_crash(store);
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(event, name)| ((*event).to_owned(), (*name).to_owned())).collect()
    };
    assert_eq!(
        found(&mut *store, Some("paid"), None, 9),
        pairs(&[("paid", "B"), ("paid", "a"), ("paid", "b")])
    );
    assert_eq!(found(&mut *store, Some("paid"), Some(("paid", "B")), 1), pairs(&[("paid", "a")]));
    assert_eq!(found(&mut *store, Some(odd), None, 9), pairs(&[(odd, odd)]));
    assert_eq!(found(&mut *store, Some("pai"), None, 9), []);
    let mut all = Vec::new();
    let mut after: Option<(String, String)> = None;
    loop {
        let from = after.as_ref().map(|(event, name)| (event.as_str(), name.as_str()));
        let page = found(&mut *store, None, from, 2);
        after = page.last().cloned();
        let is_last = page.len() < 2;
        all.extend(page);
        if is_last {
            break;
        }
    }
    assert_eq!(all, pairs(&[(odd, odd), ("paid", "B"), ("paid", "a"), ("paid", "b"), ("shipped", "c")]));
    let names = ["shipped", "nothing", "paid"].map(|event_id| EventName { workspace: HERE, event_id });
    let many = store.event_starts_of(&names, 2).expect("readable");
    let many: Vec<Vec<&str>> =
        many.iter().map(|of| of.iter().map(|starter| starter.workflow.as_str()).collect()).collect();
    assert_eq!(many, [vec!["c"], vec![], vec!["B", "a"]]);
}

pub fn the_last_start_on_an_event_that_was_refused_is_kept(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    write(&mut *store, &[("paid", "a")]);
    let refused = |number: u128| RefusedStart {
        event: EventUid(number),
        at: world.now,
        code: "INVALID_INPUT".into(),
        message: format!("number {number}"),
    };
    for number in [1, 2] {
        let refused = Some(&refused(number));
        let write = EventStartWrite { workspace: HERE, event_id: "paid", workflow: "a", refused };
        store.commit(&Batch { event_starts: vec![write], ..Batch::default() }).expect("written");
    }
    write(&mut *store, &[("paid", "a")]);
    let mut store = subject.after_a_crash(store);
    let starter =
        EventStarter { event_id: "paid".to_owned(), workflow: "a".to_owned(), refused: Some(refused(2)) };
    assert_eq!(store.event_starts(HERE, Some("paid"), None, 9).expect("readable"), [starter]);
}
