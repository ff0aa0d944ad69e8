//! Definitions and keys: written once, the same for ever.

use abide_core::command::Reply;
use abide_core::door::Remembered;
use jiff::{SignedDuration, Timestamp};

use super::Subject;
use super::story::World;
use crate::{Batch, NewDefinition, Store};

pub fn a_definition_is_found_by_version_or_as_the_newest(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    let at = World::new().now;
    define(&mut *store, "order", "2", "{\"n\": 2}", at);
    // The newest is the one that came last, whatever its version and the clock say.
    define(&mut *store, "order", "10", "{\"n\": 10}", at - SignedDuration::from_hours(1));
    define(&mut *store, "Order", "1", "{}", at);
    let mut store = subject.after_a_crash(store);
    let mut document = |name: &str, version: Option<&str>| {
        let found = store.definition(name, version).expect("readable")?;
        assert_eq!(found.name, name);
        Some((found.version, found.document, found.created_at))
    };
    let ten = ("10".to_owned(), "{\"n\": 10}".to_owned(), at - SignedDuration::from_hours(1));
    assert_eq!(document("order", None), Some(ten));
    assert_eq!(document("order", Some("2")), Some(("2".to_owned(), "{\"n\": 2}".to_owned(), at)));
    assert_eq!(document("Order", None), Some(("1".to_owned(), "{}".to_owned(), at)));
    assert_eq!(document("order", Some("1")), None);
    assert_eq!(document("orders", None), None);
}

pub fn a_version_keeps_its_document(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    let at = World::new().now;
    define(&mut *store, "order", "1", "{\"n\": 1}", at);
    define(&mut *store, "order", "2", "{\"n\": 2}", at);
    define(&mut *store, "order", "1", "{\"n\": 1}", at + SignedDuration::from_hours(1));
    let again = NewDefinition { name: "order", version: "1", document: "{}", created_at: at };
    let batch = Batch { definitions: vec![again], ..Batch::default() };
    assert!(store.commit(&batch).is_err());
    let first = store.definition("order", Some("1")).expect("readable").expect("there");
    assert_eq!((first.document.as_str(), first.created_at), ("{\"n\": 1}", at));
    let newest = store.definition("order", None).expect("readable").expect("there");
    assert_eq!(newest.version, "2", "saying the same again does not make it newer");
}

fn define(store: &mut dyn Store, name: &str, version: &str, document: &str, created_at: Timestamp) {
    let definition = NewDefinition { name, version, document, created_at };
    let batch = Batch { definitions: vec![definition], ..Batch::default() };
    store.commit(&batch).expect("the definition is written");
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
    let remembered: Vec<Remembered> = (0..)
        .zip(replies)
        .map(|(index, (key, reply))| Remembered { key: key.to_owned(), digest: u64::MAX - index, reply })
        .collect();
    let batch = Batch { remembered: remembered.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the keys are written");
    let mut store = subject.after_a_crash(store);
    for expected in &remembered {
        assert_eq!(store.remembered(&expected.key).expect("readable").as_ref(), Some(expected));
    }
    assert_eq!(store.remembered("other").expect("readable"), None);
}

pub fn a_key_keeps_its_first_answer(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    let first = Remembered { key: "key".to_owned(), digest: 1, reply: Reply::Done };
    let second = Remembered { digest: 2, ..first.clone() };
    store.commit(&Batch { remembered: vec![&first], ..Batch::default() }).expect("the key is written");
    assert!(store.commit(&Batch { remembered: vec![&second], ..Batch::default() }).is_err());
    assert_eq!(store.remembered("key").expect("readable"), Some(first));
}
