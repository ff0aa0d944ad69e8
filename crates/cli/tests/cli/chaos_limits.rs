//! Limits while nodes are killed with -9: three nodes on one PostgreSQL, many runs over many keys with room for one to ten, some
//! with rates. What is at work is measured by the handlers, with a clock and a book of their own; the server is only asked in the
//! end whether it has given all room back.
//!
//! `ABIDE_LIMITS_RUNS=100000 ABIDE_LIMITS_KEYS=1000 cargo nextest run -p abide-cli -E 'test(chaos_limits::)' --no-capture` is the
//! large measurement; `ABIDE_LIMITS_BINARY` names a binary other than the one of this build.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use abide_core::random::Random;
use abide_testkit::http::Http;
use abide_testkit::postgres::Server;
use abide_testkit::serve::Process;
use serde_json::{Value, json};

use crate::traffic::until_answered;

const NODES: usize = 3;
const WORKERS: u64 = 4;
/// Room for one, for two, and so on up to so many: a workflow for each.
const MOST_ROOM: usize = 10;
/// Under a rate so many may begin in a second.
const RATE: u32 = 20;
/// Starts in one request.
const AT_ONCE: usize = 500;
/// How long a handler works.
const WORK: Duration = Duration::from_millis(5);
/// How long a worker has a task: what a dead node handed out to nobody is free again then.
const LEASE_MS: u64 = 5_000;
/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// When no run has ended for this long, some are stuck.
const STUCK: Duration = Duration::from_secs(120);
/// Between two kills.
const SHORTEST_MS: u64 = 300;
const LONGEST_MS: u64 = 3_000;

fn setting<T: std::str::FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().ok().unwrap_or_else(|| panic!("{name}={text}")),
        Err(_) => default,
    }
}

/// A key, and how much room there is under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    number: usize,
}

impl Key {
    fn of_run(run: usize, keys: usize) -> Key {
        Key { number: run % keys }
    }

    fn room(self) -> usize {
        self.number % MOST_ROOM + 1
    }

    fn has_rate(self) -> bool {
        self.room().is_multiple_of(2)
    }

    fn workflow(self) -> String {
        format!("room-for-{}", self.room())
    }
}

/// What handlers have seen, by their own clock.
#[derive(Default)]
struct Book {
    /// Who is at work under each key, and how often.
    at_work: HashMap<usize, HashMap<String, u32>>,
    most_at_work: HashMap<usize, usize>,
    /// When each run began first.
    begun: HashMap<String, (usize, Instant)>,
    over: Vec<String>,
}

impl Book {
    fn begin(&mut self, key: Key, run: &str) {
        let at_work = self.at_work.entry(key.number).or_default();
        *at_work.entry(run.to_owned()).or_default() += 1;
        let most = self.most_at_work.entry(key.number).or_default();
        *most = (*most).max(at_work.len());
        if at_work.len() > key.room() {
            self.over.push(format!(
                "{} at work under key {} with room for {}",
                at_work.len(),
                key.number,
                key.room()
            ));
        }
        self.begun.entry(run.to_owned()).or_insert((key.number, Instant::now()));
    }

    fn end(&mut self, key: Key, run: &str) {
        let at_work = self.at_work.entry(key.number).or_default();
        if let Some(times) = at_work.get_mut(run) {
            *times -= 1;
            if *times == 0 {
                at_work.remove(run);
            }
        }
    }

    /// Since the first start no more have begun under a rate than it allows. Who was let in may begin later, never earlier.
    fn too_quick(&self, since: Instant) -> Vec<String> {
        let mut by_key: BTreeMap<usize, Vec<Instant>> = BTreeMap::new();
        for (key, at) in self.begun.values() {
            by_key.entry(*key).or_default().push(*at);
        }
        let rated = by_key.into_iter().filter(|(number, _)| Key { number: *number }.has_rate());
        let mut wrong = Vec::new();
        for (number, mut begun) in rated {
            begun.sort_unstable();
            let burst = Key { number }.room();
            for (count, at) in begun.into_iter().enumerate() {
                let seconds = at.duration_since(since).as_secs_f64();
                let allowed = burst as f64 + (seconds * f64::from(RATE)).floor() + 1.0;
                if (count + 1) as f64 > allowed {
                    wrong.push(format!("{} began under key {number} within {seconds:.3} s", count + 1));
                    break;
                }
            }
        }
        wrong
    }
}

#[test]
fn r22_no_more_are_at_work_than_limits_say_and_all_room_comes_back_while_nodes_are_killed() {
    let (runs, keys) = (setting("ABIDE_LIMITS_RUNS", 600), setting("ABIDE_LIMITS_KEYS", 30));
    let mut random = Random::new(setting("ABIDE_LIMITS_SEED", 7));
    let binary = std::env::var("ABIDE_LIMITS_BINARY").unwrap_or(env!("CARGO_BIN_EXE_abide").to_owned());
    let binary: &'static str = binary.leak();
    let database = Server::start();
    let store = database.database();
    let node = |_| Process::start_on(binary, tempfile::tempdir().unwrap(), store.clone(), Vec::new());
    let mut nodes: Vec<Process> = (0..NODES).map(node).collect();
    let addresses: Vec<SocketAddr> = nodes.iter().map(Process::address).collect();
    let http = || Http::of(&addresses, PATIENCE);
    deploy(&mut http());
    let (book, working, starting) =
        (Mutex::new(Book::default()), AtomicBool::new(true), AtomicBool::new(true));
    let (mut killed, since) = (0, Instant::now());
    std::thread::scope(|threads| {
        for worker in 0..WORKERS {
            let (mut http, book, working) = (http(), &book, &working);
            threads.spawn(move || work(worker, &mut http, book, working));
        }
        let (mut client, starting) = (http(), &starting);
        threads.spawn(move || {
            start_all(&mut client, runs, keys);
            starting.store(false, Ordering::SeqCst);
        });
        let (mut asks, mut last) = (http(), (0, Instant::now()));
        let ended = loop {
            std::thread::sleep(Duration::from_millis(SHORTEST_MS + random.below(LONGEST_MS - SHORTEST_MS)));
            let completed = completed(&mut asks);
            if completed == runs {
                break Ok(());
            }
            if completed != last.0 {
                last = (completed, Instant::now());
            }
            if last.1.elapsed() > STUCK {
                break Err(format!("{completed} of {runs} have ended, and no more do"));
            }
            nodes[usize::try_from(random.below(NODES as u64)).unwrap()].kill_and_start_again();
            killed += 1;
        };
        working.store(false, Ordering::SeqCst);
        ended.unwrap();
    });
    assert!(!starting.load(Ordering::SeqCst));
    let took = since.elapsed().as_secs_f64();
    let book = book.into_inner().unwrap();
    assert_eq!(book.over, Vec::<String>::new(), "more at work than there is room");
    assert_eq!(book.too_quick(since), Vec::<String>::new(), "more begun than a rate allows");
    assert_eq!(book.begun.len(), runs);
    assert_eq!(still_taken(&mut http()), Vec::<Value>::new(), "room that leaked, or somebody who waits");
    let full = book.most_at_work.iter().filter(|(number, most)| **most == Key { number: **number }.room());
    println!(
        "{runs} runs over {keys} keys in {took:.0} s, {killed} nodes killed; {} of {} keys were full at some time; 0 over, 0 leaked, 0 stuck",
        full.count(),
        book.most_at_work.len()
    );
}

fn deploy(http: &mut Http) {
    for number in 0..MOST_ROOM {
        let key = Key { number };
        let mut limits = vec![
            json!({ "name": "room", "key": "{{ input.key }}", "concurrency": key.room(), "holds": "run" }),
        ];
        if key.has_rate() {
            limits.push(json!({
                "name": "pace", "key": "{{ input.key }}", "rate": RATE, "per": "1s", "burst": key.room(),
            }));
        }
        let step = json!({ "type": "task", "name": "work", "handler": "work",
            "retry": { "maxAttempts": 20, "backoffMs": 100, "backoffMultiplier": 1 } });
        let document = json!({ "name": key.workflow(), "limits": limits, "steps": [step] });
        let answer = until_answered(|| http.post("/workflow-definitions", &document, None));
        assert_eq!(answer.status, 201, "{}", answer.body);
    }
}

fn start_all(http: &mut Http, runs: usize, keys: usize) {
    let numbers: Vec<usize> = (0..runs).collect();
    for some in numbers.chunks(AT_ONCE) {
        let start = |number: &usize| {
            let key = Key::of_run(*number, keys);
            json!({ "name": key.workflow(), "input": { "key": key.number }, "idempotencyKey": format!("run-{number}") })
        };
        let body = json!({ "runs": some.iter().map(start).collect::<Vec<Value>>() });
        let answer = until_answered(|| http.post("/workflow-runs/batch", &body, None));
        assert_eq!((answer.status, &answer.body["refused"]), (200, &json!(0)), "{}", answer.body);
    }
}

/// A worker that does all that it gets at the same time, and reports it until it is answered.
fn work(worker: u64, http: &mut Http, book: &Mutex<Book>, working: &AtomicBool) {
    let poll = json!({ "handlers": ["work"], "maxTasks": 100, "waitMs": 300, "leaseMs": LEASE_MS,
        "workerId": format!("w{worker}") });
    while working.load(Ordering::SeqCst) {
        let Ok(answer) = http.post("/tasks/poll", &poll, None) else {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        let tasks: Vec<&Value> = answer.body["tasks"].as_array().into_iter().flatten().collect();
        if tasks.is_empty() {
            continue;
        }
        let at_work: Vec<(Key, &str)> =
            tasks.iter().map(|task| (key_of(task), text(&task["runId"]))).collect();
        {
            let mut book = book.lock().unwrap();
            at_work.iter().for_each(|(key, run)| book.begin(*key, run));
        }
        std::thread::sleep(WORK);
        {
            let mut book = book.lock().unwrap();
            at_work.iter().for_each(|(key, run)| book.end(*key, run));
        }
        let report =
            |task: &&Value| json!({ "type": "complete", "leaseToken": task["leaseToken"], "output": null });
        let body = json!({ "reports": tasks.iter().map(report).collect::<Vec<Value>>() });
        // Some are refused when the lease was lost meanwhile, or when the answer to the first report was.
        let answer = until_answered(|| http.post("/tasks/report", &body, None));
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

fn key_of(task: &Value) -> Key {
    let number = task["input"]["key"].as_u64().unwrap();
    Key { number: usize::try_from(number).unwrap() }
}

fn completed(http: &mut Http) -> usize {
    let overview = until_answered(|| http.get("/overview")).body;
    let mut runs = overview["runs"].as_array().into_iter().flatten();
    let count = runs.find(|count| count["status"] == "COMPLETED").and_then(|count| count["count"].as_u64());
    usize::try_from(count.unwrap_or(0)).unwrap()
}

/// The keys under which somebody has room or waits, by what the server says.
fn still_taken(http: &mut Http) -> Vec<Value> {
    let (mut taken, mut cursor) = (Vec::new(), None::<String>);
    let mut seen = HashSet::new();
    loop {
        let after = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = until_answered(|| http.get(&format!("/limits?limit=100{after}"))).body;
        let keys = page["data"].as_array().unwrap().iter();
        taken.extend(keys.filter(|key| key["used"] != 0 || key["waiting"] != 0).cloned());
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        match &cursor {
            Some(cursor) => assert!(seen.insert(cursor.clone()), "the list goes on without end"),
            None => return taken,
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
