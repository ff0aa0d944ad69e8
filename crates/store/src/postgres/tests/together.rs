//! Several stores on one database.

use super::*;

fn two() -> (String, Postgres, Postgres) {
    let address = Server::shared().database();
    let (one, other) = (Postgres::open(&address).unwrap(), Postgres::open(&address).unwrap());
    (address, one, other)
}

#[test]
fn of_those_who_decide_on_the_same_version_one_wins() {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 10;
    let address = Server::shared().database();
    let mut stores: Vec<Postgres> = (0..WRITERS).map(|_| Postgres::open(&address).unwrap()).collect();
    let mut world = World::new();
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut stores[0]);
    for _ in 0..ROUNDS {
        // Each moves the wait, to another instant and in another number of decisions.
        let decided: Vec<story::Story> = (0..WRITERS)
            .map(|writer| {
                let mut decided = nap.clone();
                for _ in 0..=writer {
                    world.pass(jiff::SignedDuration::from_secs(1));
                    let resume_at = world.now + jiff::SignedDuration::from_hours(2);
                    let steering = abide_core::command::Steering::Reschedule { resume_at };
                    let steer = abide_core::command::Steer::new(1, steering);
                    world.tell(&mut decided, Command::Steer(steer));
                }
                decided
            })
            .collect();
        let results: Vec<Result<(), Error>> = thread::scope(|scope| {
            let racing = stores.iter_mut().zip(&decided);
            let racing: Vec<_> = racing.map(|(store, story)| scope.spawn(|| story.try_save(store))).collect();
            racing.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let winners: Vec<usize> = (0..WRITERS).filter(|writer| results[*writer].is_ok()).collect();
        let [winner] = winners[..] else { panic!("one wins, not {winners:?}: {results:?}") };
        for result in results.iter().filter(|result| result.is_err()) {
            assert!(matches!(result, Err(Error::Conflict(id)) if *id == nap.id()), "{result:?}");
        }
        nap = decided[winner].clone();
        nap.committed = nap.run.seq;
        for store in &mut stores {
            nap.check(store);
        }
    }
}

#[test]
fn of_those_who_begin_the_same_run_one_wins() {
    let (address, mut one, mut other) = two();
    let mut world = World::new();
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    let beside = world.start(&story::nap(), json!({ "sleep": "1h" }));
    for committed in [false, true] {
        // The other one is in the middle of it, or has done it.
        let mut hand = Hand::on(&address);
        if committed {
            nap.save(&mut one);
        } else {
            let row =
                "INSERT INTO runs (id, workspace, seq, created_at, written_at, status, definition, version)";
            hand.run(&format!("BEGIN; {row} VALUES ('{:032x}', 0, 3, 0, 0, 2, 'nap', '1')", nap.id().0));
        }
        let again = story::Story { committed: 0, ..nap.clone() };
        let batch = Batch { runs: vec![beside.write(), again.write()], ..Batch::default() };
        thread::scope(|scope| {
            let waits = scope.spawn(|| other.commit(&batch));
            if !committed {
                hand.wait_for_a_waiter();
                hand.run("COMMIT");
            }
            let refused = waits.join().unwrap();
            assert!(matches!(refused, Err(Error::Conflict(id)) if id == nap.id()), "{refused:?}");
        });
        assert_eq!(other.load(beside.id()).unwrap(), None);
        hand.run("DELETE FROM runs");
    }
}

#[test]
fn a_batch_with_a_run_that_has_moved_on_is_not_written_and_the_run_is_named() {
    let (address, mut one, mut other) = two();
    let mut world = World::new();
    let mut naps: Vec<story::Story> =
        (0..5).map(|_| world.start(&story::nap(), json!({ "sleep": "1h" }))).collect();
    story::save(&mut one, &mut naps[..4]);
    for nap in &mut naps[..4] {
        world.wake(nap);
    }
    naps[2].clone().save(&mut other);
    let rows = "SELECT (SELECT sum(seq) FROM runs)::bigint * 1000 + (SELECT count(*) FROM history)";
    let before = Hand::on(&address).number(rows);
    let refused =
        one.commit(&Batch { runs: naps.iter().map(story::Story::write).collect(), ..Batch::default() });
    assert!(matches!(refused, Err(Error::Conflict(id)) if id == naps[2].id()), "{refused:?}");
    assert_eq!(Hand::on(&address).number(rows), before);
    naps[2].committed = naps[2].run.seq;
    let rest = naps.iter().filter(|nap| nap.committed < nap.run.seq).map(story::Story::write).collect();
    one.commit(&Batch { runs: rest, ..Batch::default() }).unwrap();
    naps.iter().for_each(|nap| nap.check(&mut other));
}

#[test]
fn a_run_that_works_on_changes_its_row_where_it_is() {
    let (address, mut store, _) = two();
    let mut world = World::new();
    let mut review = world.start(&story::review(), json!({}));
    review.save(&mut store);
    let at = abide_core::id::StepAddress::step(0);
    let started = abide_core::command::TaskStarted {
        at,
        lease_epoch: 1,
        worker: "worker".into(),
        from: None,
        build: None,
    };
    world.tell(&mut review, Command::TaskStarted(started));
    review.save(&mut store);
    review.check(&mut store);
    let mut hand = Hand::on(&address);
    let begun = Instant::now();
    loop {
        hand.run("SELECT pg_stat_clear_snapshot()");
        let changed = "coalesce(sum(n_tup_upd), 0)::bigint * 10 + coalesce(sum(n_tup_hot_upd), 0)::bigint";
        match hand.number(&format!("SELECT {changed} FROM pg_stat_user_tables WHERE relname = 'runs'")) {
            0 => assert!(begun.elapsed() < Duration::from_secs(300), "the server does not count"),
            changed => break assert_eq!(changed, 11, "one row was changed, and no index"),
        }
        drop(store.workspaces());
        thread::yield_now();
    }
}

#[test]
fn a_commit_waits_for_no_other_run() {
    let (address, mut one, mut other) = two();
    let mut world = World::new();
    let mut held = world.start(&story::nap(), json!({ "sleep": "1h" }));
    let mut free = world.start(&story::nap(), json!({ "sleep": "1h" }));
    story::save(&mut one, [&mut held, &mut free]);
    world.wake(&mut held);
    world.wake(&mut free);
    let mut hand = Hand::on(&address);
    hand.run(&format!("BEGIN; SELECT FROM runs WHERE id = '{:032x}' FOR UPDATE", held.id().0));
    thread::scope(|scope| {
        let waits = scope.spawn(|| held.try_save(&mut one));
        hand.wait_for_a_waiter();
        free.save(&mut other);
        hand.run("ROLLBACK");
        waits.join().unwrap().unwrap();
    });
    free.check(&mut other);
    held.check(&mut other);
}

#[test]
fn a_key_that_was_used_elsewhere_is_a_conflict_that_says_so() {
    let (_, mut one, mut other) = two();
    let mut world = World::new();
    let first =
        IdempotencyRecord { key: "key".to_owned(), digest: 1, reply: Reply::Done, run: None, at: world.now };
    let second = IdempotencyRecord { digest: 2, ..first.clone() };
    let unused = IdempotencyRecord { key: "a".to_owned(), ..first.clone() };
    one.commit(&Batch { idempotency: vec![&first], ..Batch::default() }).unwrap();
    let nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    let batch = Batch { runs: vec![nap.write()], idempotency: vec![&second, &unused], ..Batch::default() };
    let refused = other.commit(&batch);
    assert!(matches!(&refused, Err(Error::KeyUsed(key)) if key == "key"), "{refused:?}");
    assert_eq!(other.load(nap.id()).unwrap(), None);
    assert_eq!(other.idempotency_record("a").unwrap(), None);
    assert_eq!(other.idempotency_record("key").unwrap(), Some(first));
}

/// A wait and an event of a customer, in two processes.
struct Meeting {
    waits: Postgres,
    sends: Postgres,
    listener: story::Story,
    event: Event,
}

impl Meeting {
    /// Both have looked for the other, and there was nothing to see.
    fn of_customers(waiting: u32, sent: u32) -> Meeting {
        let (_, waits, sends) = two();
        let mut world = World::new();
        let input = json!({ "event": "paid", "customer": waiting });
        let listener = world.start(&story::listener(), input);
        let event = world.event("paid", json!({ "customer": sent }));
        let mut meeting = Meeting { waits, sends, listener, event };
        assert_eq!(meeting.look(), (0, 0));
        meeting
    }

    /// How many waits the one sees, and how many events the other.
    fn look(&mut self) -> (usize, usize) {
        let here = WorkspaceId::DEFAULT;
        let seen = self.sends.reader().waiters(here, "paid", None, 10).unwrap();
        let heard = self.waits.reader().events_since(here, "paid", Timestamp::MIN, None, 10).unwrap();
        (seen.len(), heard.len())
    }

    fn wait(&mut self) -> Result<(), Error> {
        self.listener.try_save(&mut self.waits)
    }

    fn send(&mut self) -> Result<(), Error> {
        self.sends.commit(&Batch { events: vec![&self.event], ..Batch::default() })
    }
}

fn another_round(store: &mut Postgres) {
    let elsewhere = World::new().event("elsewhere", json!({}));
    store.commit(&Batch { events: vec![&elsewhere], ..Batch::default() }).unwrap();
}

#[test]
fn an_event_that_came_since_the_look_back_is_a_conflict() {
    let mut meeting = Meeting::of_customers(1, 1);
    meeting.send().unwrap();
    let refused = meeting.wait();
    assert!(matches!(refused, Err(Error::Conflict(id)) if id == meeting.listener.id()), "{refused:?}");
    assert_eq!(meeting.look(), (0, 1));
    // Other rounds go by, and it is decided again on a look that saw the event.
    another_round(&mut meeting.waits);
    meeting.look();
    meeting.wait().unwrap();
}

#[test]
fn a_wait_that_began_since_the_waiters_were_looked_for_is_a_conflict() {
    let mut meeting = Meeting::of_customers(1, 1);
    meeting.wait().unwrap();
    let refused = meeting.send();
    assert!(matches!(refused, Err(Error::Conflict(id)) if id == meeting.listener.id()), "{refused:?}");
    assert_eq!(meeting.look(), (1, 0));
    another_round(&mut meeting.sends);
    meeting.look();
    meeting.send().unwrap();
}

#[test]
fn an_event_that_a_wait_would_not_take_is_no_conflict() {
    let mut meeting = Meeting::of_customers(1, 2);
    meeting.wait().unwrap();
    meeting.send().unwrap();
    let mut meeting = Meeting::of_customers(1, 2);
    meeting.send().unwrap();
    meeting.wait().unwrap();
}

#[test]
fn a_wait_and_an_event_never_miss_each_other() {
    for _ in 0..10 {
        let mut meeting = Meeting::of_customers(1, 1);
        let Meeting { waits, sends, listener, event } = &mut meeting;
        let (waited, sent) = thread::scope(|scope| {
            let waiting = scope.spawn(|| listener.try_save(waits));
            let sent = sends.commit(&Batch { events: vec![&*event], ..Batch::default() });
            (waiting.join().unwrap(), sent)
        });
        assert!(waited.is_ok() != sent.is_ok(), "one of them is told: {waited:?}, {sent:?}");
    }
}

#[test]
fn what_a_store_has_committed_itself_is_no_news_to_it() {
    let (_, mut store, _) = two();
    let mut world = World::new();
    store.reader().waiters(WorkspaceId::DEFAULT, "paid", None, 10).unwrap();
    let mut listener = world.start(&story::listener(), json!({ "event": "paid", "customer": 1 }));
    listener.save(&mut store);
    // Decided while the wait was committed, and meant for another run only.
    let event = world.event("paid", json!({ "customer": 1 }));
    store.commit(&Batch { events: vec![&event], ..Batch::default() }).unwrap();
}

#[test]
fn a_run_that_is_being_forgotten_is_not_written_to() {
    let (address, mut one, mut other) = two();
    let mut world = World::new();
    let mut ended = world.start(&story::review(), json!({}));
    let (at, lease_epoch) = (abide_core::id::StepAddress::step(0), 1);
    let started = abide_core::command::TaskStarted {
        at,
        lease_epoch,
        worker: "worker".into(),
        from: None,
        build: None,
    };
    world.tell(&mut ended, Command::TaskStarted(started));
    let failed = abide_core::command::TaskFailed {
        at,
        lease_epoch,
        message: "no".to_owned(),
        code: None,
        retryable: false,
        retry_after: None,
        detail: None,
        mismatch: None,
    };
    world.tell(&mut ended, Command::TaskFailed(failed));
    ended.save(&mut one);
    world.tell(&mut ended, Command::Retry);

    // As retention does it, stopped in the middle.
    let mut hand = Hand::on(&address);
    hand.run("BEGIN; SELECT FROM runs FOR UPDATE; DELETE FROM history; DELETE FROM runs");
    thread::scope(|scope| {
        let waits = scope.spawn(|| ended.try_save(&mut one));
        hand.wait_for_a_waiter();
        hand.run("COMMIT");
        let refused = waits.join().unwrap();
        assert!(matches!(refused, Err(Error::Conflict(id)) if id == ended.id()), "{refused:?}");
    });
    assert_eq!(other.load(ended.id()).unwrap(), None);

    // The other way round, retention leaves alone what is being written to.
    let again = story::Story { committed: 0, ..ended };
    again.try_save(&mut other).unwrap();
    hand.run("UPDATE runs SET ended_at = 0; BEGIN; UPDATE runs SET ended_at = NULL");
    assert_eq!(other.forget_runs(Timestamp::MAX, 10).unwrap(), 0);
    hand.run("COMMIT");
    assert_eq!(other.forget_runs(Timestamp::MAX, 10).unwrap(), 0);
    again.check(&mut other);
}
