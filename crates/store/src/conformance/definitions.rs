//! Definitions and idempotency keys: written once, the same for ever.

use abide_core::command::Reply;
use abide_core::id::{DefinitionId, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use jiff::SignedDuration;

use super::Subject;
use super::story::{World, pages};
use crate::{Batch, DefinitionSummary, Error, NewDefinition, Page, Store};

const HERE: WorkspaceId = WorkspaceId::DEFAULT;

pub fn a_definition_is_found_by_version_or_as_the_newest(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let at = world.now;
    let two = define(&mut *store, world.definition("order", "2", "{\"n\": 2}"));
    // The newest is the one that came last, whatever its version and the clock say.
    world.now -= SignedDuration::from_hours(1);
    let ten = define(&mut *store, world.definition("order", "10", "{\"n\": 10}"));
    world.now = at;
    let other = define(&mut *store, world.definition("Order", "1", "{}"));
    let mut store = subject.after_a_crash(store);
    let mut find = |name: &str, version: Option<&str>| {
        let found = store.definition(HERE, name, version).expect("readable")?;
        assert_eq!((found.name.as_str(), found.workspace), (name, HERE));
        assert_eq!(store.definition_by_id(found.id).expect("readable").as_ref(), Some(&found));
        Some((found.id, found.version, found.document, found.created_at))
    };
    let earlier = at - SignedDuration::from_hours(1);
    assert_eq!(find("order", None), Some((ten, "10".to_owned(), "{\"n\": 10}".to_owned(), earlier)));
    assert_eq!(find("order", Some("2")), Some((two, "2".to_owned(), "{\"n\": 2}".to_owned(), at)));
    assert_eq!(find("Order", None), Some((other, "1".to_owned(), "{}".to_owned(), at)));
    assert_eq!(find("order", Some("1")), None);
    assert_eq!(find("orders", None), None);
    assert_eq!(store.definition_by_id(DefinitionId(1)).expect("readable"), None);
}

pub fn a_version_that_is_there_is_not_written_again(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let first = define(&mut *store, world.definition("order", "1", "{\"n\": 1}"));
    define(&mut *store, world.definition("order", "2", "{\"n\": 2}"));
    for document in ["{\"n\": 1}", "{}"] {
        let refused = try_define(&mut *store, world.definition("order", "1", document));
        let Err(Error::DefinitionExists { id, name, version }) = refused else { panic!("{refused:?}") };
        assert_eq!((id, name.as_str(), version.as_str()), (first, "order", "1"));
    }
    let same_id = NewDefinition { id: first, ..world.definition("order", "3", "{}") };
    let refused = try_define(&mut *store, same_id);
    assert!(matches!(refused, Err(Error::DefinitionExists { id, .. }) if id == first), "{refused:?}");
    let kept = store.definition(HERE, "order", Some("1")).expect("readable").expect("there");
    assert_eq!((kept.id, kept.document.as_str(), kept.created_at), (first, "{\"n\": 1}", world.now));
    let newest = store.definition(HERE, "order", None).expect("readable").expect("there");
    assert_eq!(newest.version, "2", "saying the same again does not make it newer");
}

pub fn definitions_are_listed_the_last_one_first_page_by_page(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut expected = Vec::new();
    for (name, version) in [("a", "1"), ("b", "1"), ("a", "3"), ("a", "2"), ("A", "1"), ("b", "2")] {
        // Neither ids nor the clock say what came last.
        world.now -= SignedDuration::from_hours(1);
        let definition = world.definition(name, version, "{}");
        let id = define(&mut *store, definition);
        let (name, version, created_at) = (name.to_owned(), version.to_owned(), world.now);
        expected.insert(0, DefinitionSummary { id, name, version, created_at });
    }
    let mut store = subject.after_a_crash(store);
    for name in [None, Some("a"), Some("b"), Some("A"), Some("c")] {
        let expected: Vec<&DefinitionSummary> =
            expected.iter().filter(|found| name.is_none_or(|name| found.name == name)).collect();
        for limit in [1, 2, 4, 100] {
            let found = pages(limit, |after: Option<&DefinitionSummary>| {
                store.definitions(HERE, name, &Page { after: after.map(|last| last.id), limit })
            });
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{name:?}, pages of {limit}");
        }
    }
}

fn define(store: &mut dyn Store, definition: NewDefinition<'_>) -> DefinitionId {
    try_define(store, definition).expect("the definition is written");
    definition.id
}

fn try_define(store: &mut dyn Store, definition: NewDefinition<'_>) -> Result<(), Error> {
    store.commit(&Batch { definitions: vec![definition], ..Batch::default() })
}

pub fn what_is_remembered_is_found_by_its_key(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let waitpoint = abide_core::id::RunId::new(world.now, 1).waitpoint(7);
    let replies = [
        ("done", Reply::Done),
        ("", Reply::Unchanged),
        ("a'\"%_\\🦀", Reply::Signalled { taken_by: Some(waitpoint) }),
        ("DONE", Reply::Waitpoint(waitpoint)),
        ("lease", Reply::Leased { deadline: Some(world.now) }),
        ("vote", Reply::Voted { approvals: 1, quorum: 2, resolved: false }),
    ];
    let idempotency: Vec<IdempotencyRecord> = (0..)
        .zip(replies)
        .map(|(index, (key, reply))| {
            let (key, at) = (key.to_owned(), world.now + SignedDuration::from_nanos(index));
            IdempotencyRecord { key, digest: u64::MAX - index.cast_unsigned(), reply, run: None, at }
        })
        .collect();
    let batch = Batch { idempotency: idempotency.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the keys are written");
    let mut store = subject.after_a_crash(store);
    for expected in &idempotency {
        assert_eq!(store.idempotency_record(&expected.key).expect("readable").as_ref(), Some(expected));
    }
    assert_eq!(store.idempotency_record("other").expect("readable"), None);
}

pub fn a_key_keeps_its_first_answer(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let first =
        IdempotencyRecord { key: "key".to_owned(), digest: 1, reply: Reply::Done, run: None, at: world.now };
    let second = IdempotencyRecord { digest: 2, ..first.clone() };
    store.commit(&Batch { idempotency: vec![&first], ..Batch::default() }).expect("the key is written");
    let refused = store.commit(&Batch { idempotency: vec![&second], ..Batch::default() });
    assert!(matches!(&refused, Err(Error::KeyUsed(key)) if key == "key"), "{refused:?}");
    assert_eq!(store.idempotency_record("key").expect("readable"), Some(first));
}
