//! kill -9, again and again, while four clients start runs, send signals and events, and two workers do tasks.
//!
//! Every client repeats what was not answered, under the same idempotency key, until it is; so in the end everything
//! was acknowledged exactly once, and everything acknowledged must be there, exactly once.
//!
//! `ABIDE_KILLS=1000 cargo nextest run -p abide-cli -E 'test(kill::)'` kills more often.

#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use abide_core::random::Random;
use abide_testkit::http::Http;
use abide_testkit::serve::Process;

use crate::ledger::Ledger;
use crate::traffic::{deploy, drive, work};
use crate::verdict;

const KILLS: u64 = 50;
/// Between two kills.
const SHORTEST: u64 = 5;
const LONGEST: u64 = 250;

#[test]
fn nothing_acknowledged_is_lost_and_nothing_happens_twice_however_often_the_process_is_killed() {
    let kills = std::env::var("ABIDE_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let mut process = Process::start(env!("CARGO_BIN_EXE_abide"));
    let address = process.address();
    deploy(&mut Http::new(address));
    let ledger = Ledger::default();
    let (killing, working) = (AtomicBool::new(true), AtomicBool::new(true));
    std::thread::scope(|threads| {
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let (ledger, killing) = (&ledger, &killing);
                threads.spawn(move || drive(client, &mut Http::new(address), ledger, killing))
            })
            .collect();
        for worker in 0..2 {
            let (ledger, working) = (&ledger, &working);
            threads.spawn(move || work(worker, &mut Http::new(address), ledger, working));
        }
        let mut random = Random::new(7);
        for _ in 0..kills {
            std::thread::sleep(Duration::from_millis(SHORTEST + random.below(LONGEST - SHORTEST)));
            process.kill_and_start_again();
        }
        killing.store(false, Ordering::SeqCst);
        let driven: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        let ended = verdict::wait_for_all(&mut Http::new(address), &ledger);
        working.store(false, Ordering::SeqCst);
        driven.into_iter().for_each(|driven| driven.unwrap());
        ended.unwrap();
    });
    let seen = verdict::check(&mut Http::new(address), &ledger);
    println!("{kills} kills; {seen}");
}
