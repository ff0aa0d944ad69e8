//! Three nodes on one PostgreSQL, four clients and two workers that ask any of them, and everything goes wrong: nodes are
//! killed with -9 or stopped in the middle and go on later, the database crashes and comes back, and one node's wall clock
//! is wrong by minutes all the time.
//!
//! `ABIDE_CHAOS_SECONDS=300 cargo nextest run -p abide-cli -E 'test(chaos::)'` goes on for longer.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use abide_core::random::Random;
use abide_testkit::http::Http;
use abide_testkit::postgres::Server;
use abide_testkit::serve::Process;
use tempfile::TempDir;

use crate::formats::two_versions::old_binary;
use crate::ledger::Ledger;
use crate::traffic::{deploy, drive, work};
use crate::verdict;

const SECONDS: u64 = 12;
const NODES: usize = 3;
/// Between two faults.
const SHORTEST_MS: u64 = 200;
const LONGEST_MS: u64 = 2_500;
/// How long a node is stopped at most.
const STOPPED_MS: u64 = 4_000;
/// How long a client waits for an answer of a node that may be stopped.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Faults {
    killed: usize,
    stopped: usize,
    crashes: usize,
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Faults { killed, stopped, crashes } = self;
        write!(f, "{killed} nodes killed, {stopped} stopped, the database crashed {crashes} times")
    }
}

#[test]
fn nothing_is_lost_early_or_done_twice_whatever_happens_to_nodes_and_database() {
    let seconds = std::env::var("ABIDE_CHAOS_SECONDS").map_or(SECONDS, |seconds| seconds.parse().unwrap());
    let seed = std::env::var("ABIDE_CHAOS_SEED").map_or(7, |seed| seed.parse().unwrap());
    let mut database = Server::start();
    let store = database.database();
    let mut nodes: Vec<Process> = (0..NODES).map(|number| node(&store, number)).collect();
    let addresses: Vec<SocketAddr> = nodes.iter().map(Process::address).collect();
    let http = || Http::of(&addresses, PATIENCE);
    deploy(&mut http());
    let ledger = Ledger::default();
    let (going_on, working) = (AtomicBool::new(true), AtomicBool::new(true));
    let mut faults = Faults::default();
    std::thread::scope(|threads| {
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let (mut http, ledger, going_on) = (http(), &ledger, &going_on);
                threads.spawn(move || drive(client, &mut http, ledger, going_on))
            })
            .collect();
        for worker in 0..2 {
            let (mut http, ledger, working) = (http(), &ledger, &working);
            threads.spawn(move || work(worker, &mut http, ledger, working));
        }
        let mut random = Random::new(seed);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(seconds) {
            pause(SHORTEST_MS + random.below(LONGEST_MS - SHORTEST_MS));
            let unlucky = usize::try_from(random.below(NODES as u64)).unwrap();
            match random.below(5) {
                0 => {
                    database.crash();
                    faults.crashes += 1;
                }
                1 | 2 => {
                    nodes[unlucky].kill_and_start_again();
                    faults.killed += 1;
                }
                _ => {
                    nodes[unlucky].signal("-STOP");
                    pause(random.below(STOPPED_MS));
                    nodes[unlucky].signal("-CONT");
                    faults.stopped += 1;
                }
            }
        }
        going_on.store(false, Ordering::SeqCst);
        let driven: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        let ended = verdict::wait_for_all(&mut http(), &ledger);
        working.store(false, Ordering::SeqCst);
        driven.into_iter().for_each(|driven| driven.unwrap());
        ended.unwrap();
    });
    let seen = verdict::check(&mut http(), &ledger, 0);
    println!("{faults}; {seen}");
}

/// The last one has a wrong clock, and the second is of the version before where one is given.
fn node(store: &str, number: usize) -> Process {
    let binary = if number == 1 { old_binary() } else { env!("CARGO_BIN_EXE_abide") };
    let folder = tempfile::tempdir().unwrap();
    let environment = match number + 1 {
        NODES => vec![("LD_PRELOAD", wrong_clock(&folder)), ("CLOCK_IS_WRONG_BY", PathBuf::from("-420"))],
        _ => Vec::new(),
    };
    Process::start_on(binary, folder, store.to_owned(), environment)
}

fn wrong_clock(folder: &TempDir) -> PathBuf {
    let shim = folder.path().join("wrong_clock.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/real/wrong_clock.c");
    let mut build = Command::new("cc");
    let built = build.args(["-shared", "-fPIC", "-o"]).arg(&shim).arg(source).arg("-ldl").status().unwrap();
    assert!(built.success());
    shim
}

fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}
