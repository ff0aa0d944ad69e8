mod encrypted;
mod lost;
mod openings;
mod plans;
mod shared;
mod together;

use std::thread;
use std::time::{Duration, Instant};

use abide_core::command::{Command, Event, Reply};
use abide_core::id::{DefinitionId, RunId, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_testkit::postgres::Server;
use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::conformance::story::{self, World};
use crate::roles::*;
use crate::{Due, OfRun, OldEvent, Page, RunFilter, RunUpdate, WaitpointFilter};

/// Beside the store: whatever one likes in the same database.
pub(crate) struct Hand(PgConnection);

impl Hand {
    pub(crate) fn on(address: &str) -> Hand {
        Hand(open::open(address).unwrap())
    }

    pub(crate) fn run(&mut self, sql: &str) {
        self.0.ask(async |session| session.run(sql).await).unwrap();
    }

    pub(super) fn number(&mut self, sql: &str) -> i64 {
        let row = self.0.ask(async |session| session.one(sql, &[]).await).unwrap();
        row.try_get(0).unwrap()
    }

    /// Until somebody waits for a lock in this database.
    pub(super) fn wait_for_a_waiter(&mut self) {
        let begun = Instant::now();
        while self.number(&format!("SELECT count(*) {WAITING}")) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(300), "nobody waits");
            thread::yield_now();
        }
    }
}

pub(super) const WAITING: &str =
    "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

#[test]
fn a_commit_is_few_statements_however_much_is_in_it() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut world = World::new();
    let statements = |batch: &Batch<'_>| commit::statements(batch, &event_snapshots::SnapshotLog::default());
    let mut naps: Vec<story::Story> =
        (0..100).map(|_| world.start(&story::nap(), json!({ "sleep": "1h" }))).collect();
    let one = Batch { runs: vec![naps[0].write()], ..Batch::default() };
    assert_eq!(statements(&one), 1);
    let all = Batch { runs: naps.iter().map(story::Story::write).collect(), ..Batch::default() };
    assert_eq!(statements(&all), 1);
    assert_eq!(statements(&Batch::default()), 0);
    story::save(&mut store, &mut naps);
    for nap in &mut naps {
        world.wake(nap);
    }
    let all = Batch { runs: naps.iter().map(story::Story::write).collect(), ..Batch::default() };
    assert_eq!(statements(&all), 1);
    // BEGIN, all rows, the keys, COMMIT.
    let key =
        IdempotencyRecord { key: "key".to_owned(), digest: 1, reply: Reply::Done, run: None, at: world.now };
    assert_eq!(statements(&Batch { idempotency: vec![&key], ..all }), 4);
    story::save(&mut store, &mut naps);
    naps[99].check(&mut store);
}

#[test]
fn a_reader_only_reads() {
    let store = Postgres::open(&Server::shared().database()).unwrap();
    let mut reader = store.reader();
    assert_eq!(reader.workspaces().unwrap().len(), 1);
    let refused = reader.connection.ask(async |session| session.run("DELETE FROM runs").await);
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
}

#[test]
fn a_flipped_bit_in_a_history_is_noticed_and_the_run_is_named() {
    let address = Server::shared().database();
    let mut store = Postgres::open(&address).unwrap();
    let mut world = World::new();
    let mut damaged = world.start(&story::signalled(), json!({}));
    let mut sound = world.start(&story::nap(), json!({ "sleep": "1h" }));
    story::save(&mut store, [&mut damaged, &mut sound]);
    let id = format!("{:032x}", damaged.id().0);
    let change =
        format!("UPDATE history SET chunk = set_byte(chunk, 9, get_byte(chunk, 9) # 4) WHERE run = '{id}'");
    Hand::on(&address).run(&change);
    let refused = store.load(damaged.id());
    assert!(matches!(&refused, Err(Error::Damaged { owner, .. }) if *owner == damaged.id()), "{refused:?}");
    sound.check(&mut store);
}

#[test]
fn names_may_have_anything_in_them() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut world = World::new();
    let name = "a\0b\\0\\\\";
    let input = json!({ "event": name, "customer": 1 });
    let mut listener = world.start_tagged(&story::listener(), input, &[name]);
    listener.save(&mut store);
    listener.check(&mut store);
    let waiters = store.waiters(WorkspaceId::DEFAULT, name, None, 10).unwrap();
    assert_eq!(waiters[0].waitpoint, listener.id().waitpoint(1));
    let filter = RunFilter { tag: Some(name.to_owned()), ..RunFilter::default() };
    let listed = store.runs(&filter, &Page { after: None, limit: 10 }).unwrap();
    assert_eq!(&*listed[0].tags[0], name);
    let event = world.event(name, json!({ "text": "\0" }));
    store.commit(&Batch { events: vec![&event], ..Batch::default() }).unwrap();
    let found = store.events_since(WorkspaceId::DEFAULT, name, Timestamp::MIN, None, 10).unwrap();
    assert_eq!(found, [event]);
    world.tell(&mut listener, Command::Cancel { reason: None });
    listener.save(&mut store);
    assert_eq!(store.forget_runs(Timestamp::MAX, 10).unwrap(), 1);
    assert_eq!(store.runs(&filter, &Page { after: None, limit: 10 }).unwrap(), []);
}

#[test]
fn a_damaged_snapshot_is_passed_over_for_the_whole_history() {
    let address = Server::shared().database();
    let mut store = Postgres::open(&address).unwrap();
    let mut world = World::new();
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut store);
    for _ in 0..60 {
        for _ in 0..10 {
            world.tell(&mut nap, Command::Pause);
            world.tell(&mut nap, Command::Unpause);
        }
        nap.save(&mut store);
    }
    assert!(store.snapshot(nap.id()).unwrap().is_some());
    for damage in ["sum = sum + 1", "seq = seq + 1, sum = sum - 1", "data = 'nothing'"] {
        Hand::on(&address).run(&format!("UPDATE snapshots SET {damage}"));
        let updates = store.updates(&[(nap.id(), 0)]).unwrap();
        assert!(matches!(&updates[..], [(_, Ok(RunUpdate::Whole(_)))]), "{damage}");
        nap.check(&mut store);
    }
    assert!(matches!(store.snapshot(nap.id()), Err(Error::Damaged { .. })));
}

#[test]
fn a_conflict_is_an_sqlstate_of_our_own_with_words_for_whoever_reads_the_log() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    for (state, word) in [("AB001", "conflict"), ("AB002", "fenced")] {
        let sql = format!("SELECT refuse_commit('{state}')");
        let refused = store.connection.ask(async |session| session.run(&sql).await);
        let Err(Error::Corrupt(message)) = refused else { panic!("{refused:?}") };
        assert!(message.contains(state) && message.contains(word), "{message}");
    }
}
