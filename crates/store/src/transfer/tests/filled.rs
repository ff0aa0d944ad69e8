//! A store with something of everything in it.

use std::sync::Arc;

use abide_core::capacity::{Ask, Holder, Limit, LimitSettings, Policy, SettingChange};
use abide_core::command::{Command, Event, Reply, TaskHeartbeat};
use abide_core::definition::{Holds, Rate, WhenFull};
use abide_core::event_start::RefusedStart;
use abide_core::follow_up::FollowUp;
use abide_core::history::JournalResult;
use abide_core::id::{LimitId, RunId, StepAddress, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::json::Json;
use abide_core::schedule::Schedule;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use jiff::Timestamp;
use jiff::civil::date;
use serde_json::json;

use crate::conformance::lists::Crowd;
use crate::conformance::{admin, costs, schedules, story, webhooks};
use crate::{
    ApiKey, Batch, CostRow, Delivery, EventStartWrite, FollowUpWrite, Held, LimitWrite, Owner, Page,
    RunFilter, RunSummary, Scope, SettingsWrite, Store, StoredFollowUp, StoredTimer, Webhook,
};

/// What sorts differently where it cannot be written as it is.
const NAMES: [&str; 4] = ["a\0b\\", "a\\0b", "ü🦀", "a"];

pub(super) struct Filled {
    crowd: Crowd,
    events: Vec<Event>,
    idempotency: Vec<IdempotencyRecord>,
    keys: Vec<ApiKey>,
    schedule: Schedule,
    webhook: Webhook,
    deliveries: Vec<Delivery>,
    limits: Vec<Limit>,
    listed: Vec<RunSummary>,
    timers: Vec<StoredTimer>,
    costs: Vec<CostRow>,
    bytes: u64,
}

impl Filled {
    pub(super) fn first_run(&self) -> RunId {
        self.crowd.stories[0].id()
    }

    pub(super) fn new(store: &mut dyn Store) -> Filled {
        let mut crowd = Crowd::new();
        let asked = asked(&mut crowd);
        crowd.stories.push(asked);
        for name in NAMES {
            let input = json!({ "event": name, "customer": 1 });
            let listener = crowd.world.start_tagged(&story::listener(), input, &NAMES);
            crowd.stories.push(listener);
        }
        // A chunk for each of several commits.
        crowd.save(store);
        for story in crowd.stories.iter_mut().rev().take(3) {
            crowd.world.tell(story, Command::Pause);
            story.save(store);
            crowd.world.tell(story, Command::Unpause);
            story.save(store);
        }
        let at = crowd.world.now;
        for name in NAMES {
            store.add_workspace(name, at).expect("added");
        }
        let mut events: Vec<Event> =
            NAMES.iter().map(|name| crowd.world.event(name, json!({ "text": "\0" }))).collect();
        events.sort_by_key(|event| event.id);
        let idempotency: Vec<IdempotencyRecord> = NAMES
            .iter()
            .map(|name| IdempotencyRecord {
                key: (*name).to_owned(),
                digest: u64::MAX,
                reply: Reply::Done,
                run: Some(RunId(7)),
                at,
            })
            .collect();
        let definitions = NAMES.map(|name| crowd.world.definition(name, "1", "{}"));
        let left: Vec<StoredFollowUp> = (1..)
            .zip(NAMES)
            .map(|(id, name)| StoredFollowUp {
                id,
                workspace: WorkspaceId::default(),
                owner: u128::MAX,
                version: 1,
                what: FollowUp::Cancel { run: RunId(id), reason: Some(name.to_owned()) },
            })
            .collect();
        let refused = RefusedStart {
            event: events[0].id,
            at,
            code: "INVALID_INPUT".into(),
            message: "it's \0 🦀".to_owned(),
        };
        let event_starts = NAMES.map(|name| EventStartWrite {
            workspace: WorkspaceId::default(),
            event_id: name,
            workflow: name,
            refused: (name == NAMES[0]).then_some(&refused),
        });
        let event_starts = event_starts.into();
        let limits = NAMES.map(|name| limit(name, at)).to_vec();
        let by = Actor::new("anna");
        let mut settings = LimitSettings::new(WorkspaceId::DEFAULT, None, "mail".into(), 3, by.clone(), at);
        let change = SettingChange { paused: Some(true), ..SettingChange::default() };
        settings.change(None, &change, by, at).expect("it may be set");
        let batch = Batch {
            limits: limits.iter().map(|limit| LimitWrite { based_on: 0, limit, removed: false }).collect(),
            limit_settings: vec![SettingsWrite { based_on: 0, settings: &settings, removed: false }],
            follow_ups: left.iter().map(FollowUpWrite::Put).collect(),
            descendants: vec![(RunId(7), 3), (RunId(u128::MAX), 1)],
            events: events.iter().collect(),
            idempotency: idempotency.iter().collect(),
            definitions: definitions.into(),
            event_starts,
            ..Batch::default()
        };
        store.commit(&batch).expect("written");
        let full = ApiKey {
            scopes: Scope::ALL.into(),
            last_used_at: Some(at),
            revoked_at: Some(at),
            expires_at: Some(Timestamp::MAX),
            ..admin::key(1, at)
        };
        let keys = vec![full, admin::key(2, at)];
        keys.iter().for_each(|key| store.add_key(key).expect("added"));
        let note = crate::AuditNote {
            at: Timestamp::UNIX_EPOCH,
            workspace: WorkspaceId::DEFAULT,
            by: "key '1' 🦀".to_owned(),
            key: None,
            address: None,
            request_id: None,
            action: "key.made".to_owned(),
            target: "/keys".to_owned(),
            detail: serde_json::json!({ "name": "ann\u{0}" }),
        };
        store.append_audit(&note).expect("noted");
        store.put_setting("link-secrets", b"\0\xff").expect("put");
        store.bump_link_generation(crowd.stories[0].id().waitpoint(1)).expect("bumped");
        let owner = Owner::Run(crowd.stories[0].id());
        let (by, reason) = ("ana\0".to_owned(), "it is damaged".to_owned());
        store.hold(&Held { owner, workspace: None, at, by, reason }).expect("held");
        let schedule = schedules::schedule(&mut crowd.world, "nightly\0");
        schedules::put(store, 0, &schedule);
        let webhook = webhooks::webhook(1, at);
        store.put_webhook(&webhook).expect("put");
        let deliveries = vec![webhooks::delivery(1, webhook.id, at)];
        let told = Batch { deliveries: deliveries.iter().collect(), ..Batch::default() };
        store.commit(&told).expect("written");
        let (listed, timers, costs, bytes) = read(store);
        Filled {
            crowd,
            events,
            idempotency,
            keys,
            schedule,
            webhook,
            deliveries,
            limits,
            listed,
            timers,
            costs,
            bytes,
        }
    }

    /// Checks that everything is there and can be worked with.
    pub(super) fn check(&mut self, store: &mut dyn Store) {
        self.crowd.stories.iter().for_each(|story| story.check(store));
        assert_eq!(read(store), (self.listed.clone(), self.timers.clone(), self.costs.clone(), self.bytes));
        let all = Page { after: None, limit: 100 };
        let mut events = store.events(WorkspaceId::DEFAULT, None, &all).expect("readable");
        events.sort_by_key(|event| event.id);
        assert_eq!(events, self.events);
        for idempotency in &self.idempotency {
            assert_eq!(
                store.idempotency_record(&idempotency.key).expect("readable").as_ref(),
                Some(idempotency)
            );
        }
        for key in &self.keys {
            assert_eq!(store.key_by_hash(&key.hash).expect("readable").as_ref(), Some(key));
        }
        let first = self.crowd.stories[0].id().waitpoint(1);
        assert_eq!(store.link_generation(first).expect("readable"), 1);
        assert_eq!(store.setting("link-secrets").expect("readable").as_deref(), Some(&b"\0\xff"[..]));
        assert_eq!(store.schedule(self.schedule.id).expect("readable").as_ref(), Some(&self.schedule));
        assert_eq!(store.webhooks(None).expect("readable"), std::slice::from_ref(&self.webhook));
        for limit in &self.limits {
            assert_eq!(store.limit(limit.id).expect("readable").as_ref(), Some(limit));
        }
        let due = store.due_deliveries(self.webhook.id, Timestamp::MAX, 10).expect("readable");
        assert_eq!(due, self.deliveries);
        for name in NAMES {
            let waiters = store.waiters(WorkspaceId::DEFAULT, name, None, 10).expect("readable");
            assert_eq!(waiters.len(), 1, "{name:?}");
            let found = store.definition(WorkspaceId::DEFAULT, name, None).expect("readable");
            assert_eq!(found.map(|found| found.name).as_deref(), Some(name));
        }
        self.go_on(store);
    }

    /// What comes next gets numbers that nobody has.
    fn go_on(&mut self, store: &mut dyn Store) {
        let definition = self.crowd.world.definition("later", "1", "{}");
        store.commit(&Batch { definitions: vec![definition], ..Batch::default() }).expect("written");
        let newest = Page { after: None, limit: 1 };
        let found = store.definitions(WorkspaceId::DEFAULT, None, &newest).expect("readable");
        assert_eq!(found[0].name, "later");
        let now = self.crowd.world.now;
        assert_eq!(store.add_workspace("later", now).expect("added"), WorkspaceId(NAMES.len() as u32 + 1));
        let listener = self.crowd.stories.last_mut().expect("there are some");
        let event = self.crowd.world.event(NAMES[3], json!({ "customer": 1 }));
        self.crowd.world.deliver(listener, 1, &event);
        listener.save(store);
        listener.check(store);
        let nap = &mut self.crowd.stories[0];
        self.crowd.world.wake(nap);
        nap.save(store);
        nap.check(store);
        let is_waiting = |run: &RunSummary| run.status == abide_core::status::RunStatus::Waiting;
        let (before, after) = (self.listed.iter(), read(store).0);
        assert_eq!(
            before.filter(|run| is_waiting(run)).count() - 2,
            after.iter().filter(|run| is_waiting(run)).count()
        );
        let counted: u64 = store.counts(None).expect("readable").iter().map(|(_, count)| count).sum();
        assert_eq!(counted, after.len() as u64);
    }
}

fn read(store: &mut dyn Store) -> (Vec<RunSummary>, Vec<StoredTimer>, Vec<CostRow>, u64) {
    let all = Page { after: None, limit: 1_000 };
    let day = date(2026, 3, 1);
    (
        store.runs(&RunFilter::default(), &all).expect("readable"),
        store.timers(None, Timestamp::MAX, 1_000).expect("readable"),
        store.costs(WorkspaceId::DEFAULT, day, day).expect("readable"),
        store.stored_bytes(WorkspaceId::DEFAULT).expect("readable"),
    )
}

fn asked(crowd: &mut Crowd) -> story::Story {
    let mut asked = crowd.world.start(&story::asked(), json!({}));
    let entry = JournalResult { name: Arc::from("call 1"), result: Json::new(json!(1)) };
    let calls = vec![costs::call("call 1", "m", Some(7))];
    let (entries, cancels) = (vec![entry], Vec::new());
    let beat =
        TaskHeartbeat { at: StepAddress::step(0), lease_epoch: 1, checkpoint: None, entries, calls, cancels };
    crowd.world.tell(&mut asked, Command::TaskHeartbeat(beat));
    asked
}

/// A key of a limit that somebody has room under, and a rate.
fn limit(key: &str, at: Timestamp) -> Limit {
    let policy = Policy { concurrency: Some(1), rate: Some(Rate { count: 3, per: Millis(1_000), burst: 2 }) };
    let ask = Ask {
        limit: LimitId::of(WorkspaceId::DEFAULT, None, "crm", key),
        workflow: None,
        name: "crm".into(),
        key: key.into(),
        policy,
        slot: true,
        token: true,
        holds: Holds::Work,
        when_full: WhenFull::Queue,
        kept: false,
    };
    let mut limit = Limit::new(WorkspaceId::DEFAULT, &ask, at, 7);
    limit.take(&ask, Holder { run: RunId(7), at: None, since: at }, at);
    limit.settle(at);
    limit
}
