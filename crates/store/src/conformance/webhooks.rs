//! Webhooks, and what they are told.

use abide_core::id::{DeliveryId, RunId, WebhookId, WorkspaceId};
use abide_core::webhook_message::Topic;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::story::{self, World, pages};
use crate::{
    Attempt, AttemptWrite, Batch, Delivery, DeliveryFilter, DeliveryStatus, Disabled, Error, Health, Page,
    Secret, Store, Webhook,
};

pub(crate) fn webhook(number: u8, created_at: Timestamp) -> Webhook {
    Webhook {
        id: WebhookId(u128::from(number)),
        workspace: WorkspaceId::DEFAULT,
        url: format!("https://example.com/{number}?a='b'"),
        description: None,
        topics: [Topic::WorkflowFailed].into(),
        secrets: vec![Secret { key: "whsec_1".to_owned(), until: None }],
        created_at,
        health: Health::default(),
    }
}

pub(crate) fn delivery(number: u128, webhook: WebhookId, created_at: Timestamp) -> Delivery {
    Delivery {
        id: DeliveryId(number),
        webhook,
        topic: Topic::WorkflowFailed,
        run: RunId(7),
        body: r#"{"text": "it's 🦀"}"#.to_owned(),
        created_at,
        status: DeliveryStatus::Pending,
        next_attempt_at: Some(created_at),
        attempts: 0,
        log: Vec::new(),
    }
}

/// A webhook that is to be told so many things, one a second.
fn told(store: &mut dyn Store, world: &mut World, count: u128) -> (Webhook, Vec<Delivery>) {
    let webhook = webhook(1, world.now);
    store.put_webhook(&webhook).expect("put");
    let mut deliveries = Vec::new();
    for number in 1..=count {
        deliveries.push(delivery(number, webhook.id, world.now));
        world.pass(SignedDuration::from_secs(1));
    }
    commit(store, &deliveries);
    (webhook, deliveries)
}

fn commit(store: &mut dyn Store, deliveries: &[Delivery]) {
    let batch = Batch { deliveries: deliveries.iter().collect(), ..Batch::default() };
    store.commit(&batch).expect("the deliveries are written");
}

fn due(store: &mut dyn Store, webhook: WebhookId) -> Vec<Delivery> {
    store.due_deliveries(webhook, Timestamp::MAX, 100).expect("readable")
}

fn attempt(mut delivery: Delivery, status: DeliveryStatus, next: Option<Timestamp>) -> AttemptWrite {
    let based_on = delivery.attempts;
    delivery.log.push(Attempt {
        at: delivery.created_at,
        took_ms: 12,
        status: Some(503),
        response: Some("no 🦀".to_owned()),
        error: None,
    });
    let delivery = Delivery { status, next_attempt_at: next, attempts: based_on + 1, ..delivery };
    AttemptWrite { based_on, delivery }
}

pub fn a_webhook_is_what_was_put_last_and_keeps_its_health(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let other = store.add_workspace("other", world.now).expect("added");
    let later = world.now + SignedDuration::from_nanos(1);
    let full = Webhook {
        description: Some("the 'ops' channel 🦀".to_owned()),
        topics: Topic::ALL.into(),
        secrets: [None, Some(later)].map(|until| Secret { key: "whsec_2".to_owned(), until }).into(),
        ..webhook(1, later)
    };
    let mut webhooks =
        vec![full.clone(), webhook(2, world.now), Webhook { workspace: other, ..webhook(3, world.now) }];
    for (number, topic) in (4..).zip(Topic::ALL) {
        webhooks.push(Webhook { topics: [topic].into(), ..webhook(number, later) });
    }
    for webhook in &webhooks {
        store.put_webhook(webhook).expect("put");
    }
    let disabled = Disabled { at: later, why: "it's gone".to_owned() };
    let health = Health { failing_since: Some(world.now), disabled: Some(disabled) };
    assert!(store.put_health(full.id, &health, world.now).expect("noted"));
    assert!(!store.put_health(WebhookId(99), &health, world.now).expect("there is none"));
    let moved = Webhook { url: "https://example.com/moved".to_owned(), ..full };
    store.put_webhook(&moved).expect("put");
    webhooks[0] = Webhook { health, ..moved };
    let mut store = subject.after_a_crash(store);
    for webhook in &webhooks {
        assert_eq!(store.webhook(webhook.id).expect("readable").as_ref(), Some(webhook));
    }
    assert_eq!(store.webhook(WebhookId(99)).expect("readable"), None);
    assert_eq!(store.webhooks(Some(other)).expect("readable"), webhooks[2..3]);
    assert_eq!(store.webhooks(None).expect("readable").len(), webhooks.len());
    webhooks.remove(2);
    webhooks.sort_by_key(|webhook| (webhook.created_at, webhook.id));
    assert_eq!(store.webhooks(Some(WorkspaceId::DEFAULT)).expect("readable"), webhooks);
    let elsewhere = Webhook { workspace: WorkspaceId(77), ..webhook(50, world.now) };
    let refused = store.put_webhook(&elsewhere);
    assert!(matches!(refused, Err(Error::UnknownWorkspace(WorkspaceId(77)))), "{refused:?}");
}

pub fn deliveries_are_written_with_the_commit_they_tell_of(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let webhook = webhook(1, world.now);
    store.put_webhook(&webhook).expect("put");
    let mut run = world.start(&story::signalled(), json!({}));
    let (here, gone) = (delivery(1, webhook.id, world.now), delivery(2, WebhookId(99), world.now));
    let batch = Batch { runs: vec![run.write()], deliveries: vec![&here, &gone], ..Batch::default() };
    store.commit(&batch).expect("written");
    run.committed = run.run.seq;
    let second = delivery(3, webhook.id, world.now);
    let stale = world.start(&story::signalled(), json!({}));
    let conflicting = crate::RunWrite { based_on: 5, ..stale.write() };
    let batch = Batch { runs: vec![conflicting], deliveries: vec![&second], ..Batch::default() };
    assert!(store.commit(&batch).is_err());
    let mut store = subject.after_a_crash(store);
    run.check(&mut *store);
    assert_eq!(store.delivery(here.id).expect("readable"), Some(here.clone()));
    assert_eq!(store.delivery(gone.id).expect("readable"), None, "there is no such webhook");
    assert_eq!(store.delivery(second.id).expect("readable"), None, "all or nothing");
    assert_eq!(due(&mut *store, webhook.id), [here]);
}

pub fn deliveries_are_listed_newest_first_page_by_page(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (webhook, mut deliveries) = told(&mut *store, &mut world, 7);
    let failed = attempt(deliveries[2].clone(), DeliveryStatus::Failed, None);
    store.put_attempts(std::slice::from_ref(&failed)).expect("written");
    deliveries[2] = failed.delivery.clone();
    deliveries.reverse();
    let mut store = subject.after_a_crash(store);
    for limit in [1, 3, 10] {
        let filter = DeliveryFilter { webhook: webhook.id, status: None };
        let listed = pages(limit, |after: Option<&Delivery>| {
            store.deliveries(&filter, &Page { after: after.map(|after| after.id), limit })
        });
        assert_eq!(listed, deliveries);
    }
    let mut of = |status| {
        let filter = DeliveryFilter { webhook: webhook.id, status: Some(status) };
        store.deliveries(&filter, &Page { after: None, limit: 10 }).expect("readable")
    };
    assert_eq!(of(DeliveryStatus::Failed), [failed.delivery]);
    assert_eq!(of(DeliveryStatus::Pending).len(), 6);
    assert_eq!(of(DeliveryStatus::Delivered), []);
}

pub fn what_is_due_comes_in_due_order_and_only_to_its_webhook(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (webhook, deliveries) = told(&mut *store, &mut world, 3);
    let other = self::webhook(2, world.now);
    store.put_webhook(&other).expect("put");
    let late =
        Delivery { next_attempt_at: Some(deliveries[0].created_at), ..delivery(9, webhook.id, world.now) };
    commit(&mut *store, &[late.clone(), delivery(10, other.id, world.now)]);
    let until = deliveries[1].created_at;
    let mut look = |until, limit| store.due_deliveries(webhook.id, until, limit).expect("readable");
    assert_eq!(look(until, 10), [deliveries[0].clone(), late, deliveries[1].clone()]);
    assert_eq!(look(until, 1), deliveries[..1]);
    assert_eq!(look(deliveries[0].created_at - SignedDuration::from_nanos(1), 10), []);
    assert_eq!(due(&mut *store, other.id).len(), 1);
}

pub fn an_attempt_counts_once(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (webhook, deliveries) = told(&mut *store, &mut world, 2);
    let later = Some(world.now + SignedDuration::from_hours(1));
    let first = attempt(deliveries[0].clone(), DeliveryStatus::Pending, later);
    let same_again = attempt(deliveries[0].clone(), DeliveryStatus::Delivered, None);
    let gone = attempt(delivery(99, webhook.id, world.now), DeliveryStatus::Delivered, None);
    let done = attempt(deliveries[1].clone(), DeliveryStatus::Delivered, None);
    store.put_attempts(&[first.clone(), same_again, gone, done.clone()]).expect("written");
    let mut store = subject.after_a_crash(store);
    assert_eq!(store.delivery(deliveries[0].id).expect("readable"), Some(first.delivery.clone()));
    assert_eq!(store.delivery(deliveries[1].id).expect("readable"), Some(done.delivery.clone()));
    assert_eq!(store.delivery(DeliveryId(99)).expect("readable"), None);
    assert_eq!(due(&mut *store, webhook.id), [first.delivery]);
    let after_the_end = attempt(done.delivery.clone(), DeliveryStatus::Failed, None);
    store.put_attempts(&[after_the_end]).expect("written");
    assert_eq!(store.delivery(done.delivery.id).expect("readable"), Some(done.delivery));
}

pub fn a_disabled_webhook_holds_what_it_was_to_be_told(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (webhook, deliveries) = told(&mut *store, &mut world, 3);
    let done = attempt(deliveries[0].clone(), DeliveryStatus::Delivered, None);
    store.put_attempts(std::slice::from_ref(&done)).expect("written");
    let disabled = Some(Disabled { at: world.now, why: "no".to_owned() });
    let health = Health { failing_since: None, disabled };
    store.put_health(webhook.id, &health, world.now).expect("noted");
    let in_flight = attempt(deliveries[1].clone(), DeliveryStatus::Pending, Some(world.now));
    store.put_attempts(&[in_flight]).expect("written");
    commit(&mut *store, &[delivery(9, webhook.id, world.now)]);
    let mut store = subject.after_a_crash(store);
    assert_eq!(due(&mut *store, webhook.id), []);
    world.pass(SignedDuration::from_hours(1));
    store.put_health(webhook.id, &Health::default(), world.now).expect("noted");
    let released = due(&mut *store, webhook.id);
    assert_eq!(released.iter().map(|delivery| delivery.id.0).collect::<Vec<_>>(), [2, 3, 9]);
    assert!(released.iter().all(|delivery| delivery.next_attempt_at == Some(world.now)));
    assert_eq!(store.delivery(done.delivery.id).expect("readable"), Some(done.delivery));
}

pub fn what_failed_can_be_replayed_one_or_all(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (webhook, deliveries) = told(&mut *store, &mut world, 4);
    let ends = [DeliveryStatus::Failed, DeliveryStatus::Failed, DeliveryStatus::Delivered];
    let writes: Vec<AttemptWrite> =
        deliveries.iter().cloned().zip(ends).map(|(delivery, end)| attempt(delivery, end, None)).collect();
    store.put_attempts(&writes).expect("written");
    let now = world.now;
    assert_eq!(store.replay(webhook.id, Some(deliveries[3].id), now).expect("replayed"), 0, "it is pending");
    assert_eq!(store.replay(WebhookId(99), Some(deliveries[0].id), now).expect("replayed"), 0);
    assert_eq!(store.replay(webhook.id, Some(deliveries[2].id), now).expect("replayed"), 1);
    assert_eq!(store.replay(webhook.id, None, now).expect("replayed"), 2);
    assert_eq!(store.replay(webhook.id, None, now).expect("replayed"), 0);
    let mut store = subject.after_a_crash(store);
    let again = store.delivery(deliveries[0].id).expect("readable").expect("it is there");
    assert_eq!(
        (again.status, again.attempts, again.next_attempt_at),
        (DeliveryStatus::Pending, 0, Some(now))
    );
    assert_eq!(again.log.len(), 1, "what was tried before is still known");
    assert_eq!(due(&mut *store, webhook.id).len(), 4);
}

pub fn a_removed_webhook_leaves_nothing(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (webhook, deliveries) = told(&mut *store, &mut world, 2);
    let other = self::webhook(2, world.now);
    store.put_webhook(&other).expect("put");
    commit(&mut *store, &[delivery(10, other.id, world.now)]);
    assert!(store.remove_webhook(webhook.id).expect("removed"));
    assert!(!store.remove_webhook(webhook.id).expect("there is none"));
    let mut store = subject.after_a_crash(store);
    assert_eq!(store.webhooks(None).expect("readable"), std::slice::from_ref(&other));
    assert_eq!(store.delivery(deliveries[0].id).expect("readable"), None);
    assert_eq!(due(&mut *store, other.id).len(), 1);
}

pub fn old_deliveries_are_forgotten_unless_they_are_pending(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (webhook, deliveries) = told(&mut *store, &mut world, 6);
    let ends =
        [DeliveryStatus::Failed, DeliveryStatus::Pending, DeliveryStatus::Delivered].into_iter().cycle();
    let writes: Vec<AttemptWrite> =
        deliveries.iter().cloned().zip(ends).map(|(delivery, end)| attempt(delivery, end, None)).collect();
    store.put_attempts(&writes).expect("written");
    let before = deliveries[5].created_at;
    for expected in [2, 1, 0] {
        assert_eq!(store.forget_deliveries(before, 2).expect("forgotten"), expected);
    }
    let mut store = subject.after_a_crash(store);
    let filter = DeliveryFilter { webhook: webhook.id, status: None };
    let left = store.deliveries(&filter, &Page { after: None, limit: 10 }).expect("readable");
    assert_eq!(left.iter().map(|delivery| delivery.id.0).collect::<Vec<_>>(), [6, 5, 2]);
}
