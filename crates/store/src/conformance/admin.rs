//! What administrators keep: API keys, settings, and revoked links.

use std::collections::BTreeSet;

use abide_core::command::Command;
use abide_core::id::{KeyId, RunId, WorkspaceId};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::story::{self, World, save};
use crate::audit::Verified;
use crate::{ApiKey, AuditEntry, AuditNote, Error, Page, Scope};

pub(crate) fn key(number: u8, created_at: Timestamp) -> ApiKey {
    ApiKey {
        id: KeyId(u128::from(number)),
        workspace: WorkspaceId::DEFAULT,
        name: format!("key '{number}' 🦀"),
        hash: [number; 32],
        prefix: format!("ab_{number}"),
        scopes: BTreeSet::new(),
        created_at,
        last_used_at: None,
        revoked_at: None,
        expires_at: None,
    }
}

pub fn a_key_is_found_by_its_hash_and_listed_in_its_workspace(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let other = store.add_workspace("other", world.now).expect("added");
    let later = world.now + SignedDuration::from_nanos(1);
    let full = ApiKey {
        scopes: Scope::ALL.into(),
        last_used_at: Some(world.now),
        revoked_at: Some(later),
        expires_at: Some(Timestamp::MAX),
        ..key(1, later)
    };
    let mut keys = vec![full, key(2, world.now), ApiKey { workspace: other, ..key(3, world.now) }];
    for (number, scope) in (4..).zip(Scope::ALL) {
        keys.push(ApiKey { scopes: [scope].into(), ..key(number, later) });
    }
    for key in &keys {
        store.add_key(key).expect("added");
    }
    let mut store = subject.after_a_crash(store);
    for key in &keys {
        assert_eq!(store.key_by_hash(&key.hash).expect("readable").as_ref(), Some(key));
    }
    assert_eq!(store.key_by_hash(&[99; 32]).expect("readable"), None);
    assert_eq!(store.keys(other).expect("readable"), [keys.remove(2)]);
    keys.sort_by_key(|key| (key.created_at, key.id));
    assert_eq!(store.keys(WorkspaceId::DEFAULT).expect("readable"), keys);
    assert_eq!(store.keys(WorkspaceId(77)).expect("readable"), []);
}

pub fn no_two_keys_share_an_id_or_a_hash(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let first = key(1, world.now);
    store.add_key(&first).expect("added");
    for second in [ApiKey { id: KeyId(2), ..first.clone() }, ApiKey { hash: [2; 32], ..first.clone() }] {
        let refused = store.add_key(&second);
        assert!(matches!(refused, Err(Error::KeyExists(id)) if id == second.id), "{refused:?}");
    }
    let elsewhere = ApiKey { workspace: WorkspaceId(1), ..key(3, world.now) };
    let refused = store.add_key(&elsewhere);
    assert!(matches!(refused, Err(Error::UnknownWorkspace(WorkspaceId(1)))), "{refused:?}");
    assert_eq!(store.keys(WorkspaceId::DEFAULT).expect("readable"), [first]);
}

pub fn a_key_is_revoked_once_and_its_last_use_goes_forward(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let first = key(1, world.now);
    store.add_key(&first).expect("added");
    store.add_key(&key(2, world.now)).expect("added");
    let used = world.now + SignedDuration::from_hours(1);
    store.touch_key(first.id, used).expect("noted");
    store.touch_key(first.id, world.now).expect("noted");
    store.touch_key(KeyId(99), used).expect("nobody's use is nothing");
    let revoked = world.now;
    assert!(store.revoke_key(first.id, revoked).expect("revoked"));
    world.pass(SignedDuration::from_hours(1));
    assert!(store.revoke_key(first.id, world.now).expect("revoked"));
    assert!(!store.revoke_key(KeyId(99), world.now).expect("there is none"));
    let mut store = subject.after_a_crash(store);
    let expected = ApiKey { last_used_at: Some(used), revoked_at: Some(revoked), ..first };
    assert_eq!(store.key_by_hash(&expected.hash).expect("readable"), Some(expected));
    assert_eq!(store.key_by_hash(&[2; 32]).expect("readable").and_then(|key| key.revoked_at), None);
}

pub fn a_setting_is_what_was_put_last(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    assert_eq!(store.setting("secret").expect("readable"), None);
    let all_bytes: Vec<u8> = (0..=255).collect();
    for value in [&b""[..], b"first", &all_bytes] {
        store.put_setting("secret", value).expect("put");
        store.put_setting("Secret", b"other").expect("put");
        store = subject.after_a_crash(store);
        assert_eq!(store.setting("secret").expect("readable").as_deref(), Some(value));
    }
    assert_eq!(store.setting("Secret").expect("readable").as_deref(), Some(&b"other"[..]));
}

pub fn a_setting_is_changed_only_from_what_it_was(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    let mut change =
        |was: Option<&[u8]>, value: &[u8]| store.change_setting("secret", was, value).expect("asked");
    assert!(!change(Some(b"first"), b"second"));
    assert!(change(None, b"first"));
    assert!(!change(None, b"other") && !change(Some(b"other"), b"second"));
    assert!(change(Some(b"first"), b"second"));
    assert_eq!(store.setting("secret").expect("readable").as_deref(), Some(&b"second"[..]));
}

pub fn links_have_a_generation_until_their_run_is_forgotten(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut revoked = world.start(&story::signalled(), json!({}));
    let mut other = world.start(&story::signalled(), json!({}));
    save(&mut *store, [&mut revoked, &mut other]);
    let (waitpoint, untouched) = (revoked.id().waitpoint(1), other.id().waitpoint(1));
    assert_eq!(store.link_generation(waitpoint).expect("readable"), 0);
    assert_eq!(store.bump_link_generation(waitpoint).expect("revoked"), 1);
    assert_eq!(store.bump_link_generation(waitpoint).expect("revoked"), 2);
    let mut store = subject.after_a_crash(store);
    assert_eq!(store.link_generation(waitpoint).expect("readable"), 2);
    assert_eq!(store.link_generation(untouched).expect("readable"), 0);
    for nobody in [revoked.id().waitpoint(2), RunId(1).waitpoint(1)] {
        assert_eq!(store.bump_link_generation(nobody).expect("nothing to revoke"), 0);
        assert_eq!(store.link_generation(nobody).expect("readable"), 0);
    }
    world.tell(&mut revoked, Command::Cancel { reason: None });
    revoked.save(&mut *store);
    assert_eq!(store.forget_runs(Timestamp::MAX, 10).expect("forgotten"), 1);
    assert_eq!(store.link_generation(waitpoint).expect("readable"), 0);
}

pub fn what_is_noted_is_listed_by_workspace_and_a_chain_that_is_whole(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let other = store.add_workspace("other", world.now).expect("added");
    let note = |number: u64, workspace: WorkspaceId| AuditNote {
        at: world.now,
        workspace,
        by: format!("key '{number}' 🦀"),
        key: None,
        address: Some("127.0.0.1".to_owned()),
        request_id: Some(format!("req_{number}")),
        action: "key.made".to_owned(),
        target: "/keys".to_owned(),
        detail: json!({ "for": "ann", "n": number }),
    };
    assert_eq!(store.audit(None, &Page { after: None, limit: 9 }).expect("readable"), []);
    for number in 1..=7 {
        let workspace = if number % 2 == 0 { other } else { WorkspaceId::DEFAULT };
        store.append_audit(&note(number, workspace)).expect("written");
    }
    let mut store = subject.after_a_crash(store);
    let numbers = |entries: Vec<AuditEntry>| entries.iter().map(|entry| entry.number).collect::<Vec<_>>();
    let all = store.audit(None, &Page { after: None, limit: 3 }).expect("readable");
    assert_eq!((all[0].note.clone(), numbers(all)), (note(7, WorkspaceId::DEFAULT), vec![7, 6, 5]));
    let page = Page { after: Some(5), limit: 9 };
    assert_eq!(numbers(store.audit(None, &page).expect("readable")), [4, 3, 2, 1]);
    assert_eq!(numbers(store.audit(Some(other), &page).expect("readable")), [4, 2]);
    let verified = crate::audit::verify(&mut *store).expect("readable");
    assert!(matches!(verified, Verified::Whole { entries: 7, .. }), "{verified:?}");
}
