//! kill -9, again and again, while four clients start runs, send signals and events, and two workers do tasks.
//!
//! Every client repeats what was not answered, under the same idempotency key, until it is; so in the end everything
//! was acknowledged exactly once, and everything acknowledged must be there, exactly once.
//!
//! Beside them, very many runs only sleep: through kills, until their instants.
//!
//! `ABIDE_KILLS=1000 ABIDE_KILL_WAITS=100000 cargo nextest run --workspace -E 'test(kill::)' --profile long --no-capture` kills
//! more often, with more who sleep, and tells how many of them were lost, early or doubled. `ABIDE_BIN` tries another build.
//! `ABIDE_KILL_TALLY=FILE` makes it one of several portions, each with a seed of its own, and tells what they come to.

#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use abide_core::random::Random;
use abide_testkit::http::Http;
use abide_testkit::serve::Process;
use jiff::Timestamp;

use crate::ledger::Ledger;
use crate::sleepers::Sleepers;
use crate::tally::Tally;
use crate::traffic::{deploy, drive, work};
use crate::verdict;

const KILLS: u64 = 50;
const WAITS: u64 = 1_000;
/// Clients who start what only sleeps.
const STARTERS: usize = 4;
/// About how long a kill and the start after it take: so that instants are spread over all of them.
const KILL_MS: u64 = 250;
/// A server that has acknowledged nothing for so long is stuck, on any machine.
const STUCK: Duration = Duration::from_secs(300);
/// After so many kills it is told how far it is.
const TOLD: usize = 100;
/// Between two kills.
const SHORTEST: u64 = 5;
const LONGEST: u64 = 250;

#[test]
fn nothing_acknowledged_is_lost_and_nothing_happens_twice_however_often_the_process_is_killed() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |number| number.parse().unwrap());
    let (wanted, waits) = (number("ABIDE_KILLS", KILLS), number("ABIDE_KILL_WAITS", WAITS));
    let binary = std::env::var("ABIDE_BIN").map_or(env!("CARGO_BIN_EXE_abide"), |path| path.leak());
    let tally = Tally::of_environment();
    let seed = tally.begin();
    let mut process = Process::start(binary);
    let address = process.address();
    deploy(&mut Http::new(address));
    Sleepers::deploy(&mut Http::new(address));
    let (ledger, sleepers) =
        (Ledger::default(), Sleepers::new(waits, Duration::from_millis(wanted * KILL_MS)));
    let (killing, working) = (AtomicBool::new(true), AtomicBool::new(true));
    std::thread::scope(|threads| {
        (0..STARTERS).for_each(|_| drop(threads.spawn(|| sleepers.start_most(&mut Http::new(address)))));
    });
    println!("{} sleepers started", sleepers.count());
    let begun = Instant::now();
    let mut kills = Vec::new();
    std::thread::scope(|threads| {
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let (ledger, killing) = (&ledger, &killing);
                threads.spawn(move || drive(client, &mut Http::new(address), ledger, killing))
            })
            .collect();
        let starters: Vec<_> =
            (0..STARTERS).map(|_| threads.spawn(|| sleepers.start_rest(&mut Http::new(address)))).collect();
        for worker in 0..2 {
            let (ledger, working) = (&ledger, &working);
            threads.spawn(move || work(worker, &mut Http::new(address), ledger, working));
        }
        let mut random = Random::new(seed);
        let mut stuck = Ok(());
        'kills: for _ in 0..wanted {
            std::thread::sleep(Duration::from_millis(SHORTEST + random.below(LONGEST - SHORTEST)));
            // Killed before it could answer once, however slow the machine is, it would never get on.
            let (asked, before) = (Instant::now(), ledger.acknowledged());
            while ledger.acknowledged() == before {
                if asked.elapsed() > STUCK {
                    let (left, after) = (ledger.under_way(), kills.len());
                    stuck =
                        Err(format!("nothing is acknowledged after {after} kills, with {left} tasks left"));
                    break 'kills;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            kills.push(Timestamp::now());
            process.kill_and_start_again();
            if kills.len() % TOLD == 0 {
                let (seconds, asleep) = (begun.elapsed().as_secs(), sleepers.count());
                let left = ledger.under_way();
                println!(
                    "{} kills in {seconds} s, {asleep} sleepers started, {left} tasks left",
                    kills.len()
                );
            }
        }
        killing.store(false, Ordering::SeqCst);
        let driven: Vec<_> = clients.into_iter().chain(starters).map(|client| client.join()).collect();
        let woken = sleepers.wait_for_all(&mut Http::new(address));
        let ended = verdict::wait_for_all(&mut Http::new(address), &ledger);
        working.store(false, Ordering::SeqCst);
        driven.into_iter().for_each(|driven| driven.unwrap());
        stuck.and(woken).and(ended).unwrap();
    });
    let took = begun.elapsed().as_secs();
    let outcome = sleepers.check(&mut Http::new(address), &kills);
    println!("{} kills in {took} s; {outcome}", kills.len());
    assert_eq!((outcome.lost, outcome.early, outcome.doubled), (0, 0, 0), "{outcome}");
    let seen = verdict::check(&mut Http::new(address), &ledger, sleepers.count());
    println!("{} kills; {seen}", kills.len());
    // Every history is replayed: a transition that was made twice is refused there.
    let doctor = Command::new(binary).args(["doctor", "--store", process.store()]).output().unwrap();
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.status.success(), "{said}{}", String::from_utf8_lossy(&doctor.stderr));
    println!("doctor: {said}");
    println!("in all: {}", tally.end(kills.len(), took, &outcome));
}
