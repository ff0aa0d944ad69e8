//! A map that is copied at no cost has what any map has.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use abide_core::random::Random;
use abide_core::shared_map::SharedMap;

#[test]
fn whatever_is_done_to_it_it_has_what_a_map_has() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let keys = 1 + random.below(2_000);
        let (mut shared, mut plain) = (SharedMap::new(), BTreeMap::new());
        let mut copies = Vec::new();
        for value in 0..3_000_u32 {
            let key = random.below(keys);
            match random.below(8) {
                0..3 => assert_eq!(shared.insert(key, value), plain.insert(key, value)),
                3 => {
                    let next = plain.keys().next_back().map_or(0, |last| last + 1);
                    assert_eq!(shared.insert(next, value), plain.insert(next, value));
                }
                4..6 => assert_eq!(shared.remove(&key), plain.remove(&key)),
                6 => assert_eq!(shared.pop_first(), plain.pop_first()),
                _ => *shared.get_or_default(key) = *plain.entry(key).and_modify(|it| *it += 1).or_default(),
            }
            assert_eq!((shared.len(), shared.get(&key)), (plain.len(), plain.get(&key)));
            if random.below(300) == 0 {
                copies.push((shared.clone(), plain.clone()));
            }
        }
        copies.push((shared, plain));
        for (shared, plain) in copies {
            assert!(shared.iter().eq(&plain), "seed {seed}");
            assert!(shared.iter().rev().eq(plain.iter().rev()), "seed {seed}");
            let (mut from_both, mut expected) = (shared.iter(), plain.iter());
            while let Some(next) = expected.next() {
                assert_eq!(from_both.next(), Some(next));
                assert_eq!(from_both.next_back(), expected.next_back());
            }
            assert_eq!(from_both.next(), None);
            assert_eq!(shared, plain.into_iter().collect());
        }
    }
}

#[test]
fn every_value_can_be_changed_and_a_copy_does_not_notice() {
    let before: SharedMap<u32, u32> = (0..1_000).map(|key| (key, key)).collect();
    let mut after = before.clone();
    after.for_each_mut(|key, value| *value += key);
    after.retain(|key, _| key % 2 == 0);
    assert!(before.iter().all(|(key, value)| key == value) && before.len() == 1_000);
    assert!(after.iter().all(|(key, value)| 2 * key == *value) && after.len() == 500);
}

#[test]
fn it_is_written_and_read_as_a_map_is() {
    let map: SharedMap<u16, char> = [(3, 'c'), (1, 'a')].into_iter().collect();
    let text = serde_json::to_string(&map).unwrap();
    assert_eq!(text, r#"{"1":"a","3":"c"}"#);
    assert_eq!(serde_json::from_str::<SharedMap<u16, char>>(&text).unwrap(), map);
}

static COPIES: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Clone for Counted {
    fn clone(&self) -> Counted {
        COPIES.fetch_add(1, Ordering::Relaxed);
        Counted
    }
}

#[test]
fn r25_a_change_beside_a_copy_copies_a_node_and_not_the_map() {
    let mut map: SharedMap<u32, Counted> = (0..100_000).map(|key| (key, Counted)).collect();
    COPIES.store(0, Ordering::Relaxed);
    for key in [0, 777, 99_999] {
        let copy = map.clone();
        map.get_mut(&key).unwrap();
        map.insert(100_000 + key, Counted);
        map.remove(&(500 + key));
        drop(copy);
    }
    let copies = COPIES.load(Ordering::Relaxed);
    assert!(copies <= 200, "{copies}");
}
