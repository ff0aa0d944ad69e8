//! A crowd without keys against the real binary: silent, slow, deaf, with long bodies and with long headers. Somebody
//! with a key is answered all the same, and the server takes little memory. `ABIDE_STRANGERS=20000` says how many.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use abide_testkit::serve::Process;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Few enough for any machine.
const CROWD: usize = 400;
/// Of each address, as many as a server takes.
const OF_ADDRESS: usize = 900;
const ASKED: usize = 200;
/// What the server may have of all strangers together, and what each costs besides.
const ALL_STRANGERS: usize = 64 << 20;
const ONE_STRANGER: usize = 32 << 10;
const NEVER_MORE: usize = 1 << 30;

#[derive(Clone, Copy)]
enum Stranger {
    Silent,
    /// A byte of its headers now and then.
    Slow,
    /// Asks for a lot, and reads nothing.
    Deaf,
    LongBody,
    LongHeader,
}

const KINDS: [Stranger; 5] =
    [Stranger::Silent, Stranger::Slow, Stranger::Deaf, Stranger::LongBody, Stranger::LongHeader];

impl Stranger {
    fn says(self) -> Vec<u8> {
        let run = "run_00000000000000000000000000";
        match self {
            Stranger::Silent => Vec::new(),
            Stranger::Slow => b"GET /health HTTP/1.1\r\nhost: localhost\r\nx-slow: ".to_vec(),
            Stranger::Deaf => b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(40),
            Stranger::LongBody => {
                let path = format!("/v1/workflow-runs/{run}/waitpoints/sign?token=1.0.AAAA");
                let head =
                    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1080000\r\n\r\n\"");
                [head.as_bytes(), &vec![b'x'; 1_079_998]].concat()
            }
            Stranger::LongHeader => {
                let head = "GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: ".to_owned();
                [head.as_bytes(), &vec![b'x'; 39 << 10]].concat()
            }
        }
    }

    /// Comes, and stays as long as it is let.
    async fn visit(self, from: Ipv4Addr, to: SocketAddr, come: Arc<AtomicUsize>) -> Option<()> {
        let socket = TcpSocket::new_v4().ok()?;
        socket.bind(SocketAddr::from((from, 0))).ok()?;
        let mut stream = socket.connect(to).await.ok()?;
        come.fetch_add(1, Ordering::Relaxed);
        // The server may have had enough before all is said.
        stream.write_all(&self.says()).await.ok()?;
        match self {
            Stranger::Slow => loop {
                tokio::time::sleep(Duration::from_secs(2)).await;
                stream.write_all(b"x").await.ok()?;
            },
            Stranger::Deaf => std::future::pending().await,
            Stranger::Silent | Stranger::LongBody | Stranger::LongHeader => {
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).await.ok()?;
            }
        }
        Some(())
    }
}

async fn ask(to: SocketAddr, key: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let (line, body) = request.split_once('\n').unwrap_or((request, ""));
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{key}content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_without_keys_takes_little_and_keeps_nobody_waiting() {
    let crowd = std::env::var("ABIDE_STRANGERS").map_or(CROWD, |count| count.parse().unwrap());
    drop(rlimit::increase_nofile_limit(u64::MAX));
    let mut process =
        Process::start_with(env!("CARGO_BIN_EXE_abide"), tempfile::tempdir().unwrap(), Vec::new());
    let address = process.address();
    let made = ask(address, "", "POST /v1/keys\n{\"name\": \"honest\", \"scopes\": [\"admin\"]}").await;
    let secret = &made[made.find("abk_").unwrap()..][..68];
    let key = format!("x-api-key: {secret}\r\n");
    process.start_again_with(vec![("ABIDE_AUTH", PathBuf::from("required"))]);
    assert!(ask(address, &key, "GET /v1/workflow-runs").await.starts_with("HTTP/1.1 200"));
    let before = process.peak_bytes();
    let come = Arc::new(AtomicUsize::new(0));
    let strangers: Vec<_> = (0..crowd)
        .map(|index| {
            let neighbour = u8::try_from(index / OF_ADDRESS).unwrap() + 2;
            let from = Ipv4Addr::new(127, 0, 0, neighbour);
            tokio::spawn(KINDS[index % KINDS.len()].visit(from, address, Arc::clone(&come)))
        })
        .collect();
    // All have come once, or found no way in.
    while come.load(Ordering::Relaxed) + strangers.iter().filter(|one| one.is_finished()).count() < crowd {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut times = Vec::new();
    for _ in 0..ASKED {
        let begun = Instant::now();
        let answer = ask(address, &key, "GET /v1/workflow-runs").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        times.push(begun.elapsed());
    }
    let still_there = strangers.iter().filter(|one| !one.is_finished()).count();
    let peak = process.peak_bytes();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "{crowd} strangers, {still_there} at the end: resident {} MB before, {} MB at most; honest p50 {:?}, p99 {:?}",
        before >> 20,
        peak >> 20,
        at(50),
        at(99)
    );
    let allowed = (before + ALL_STRANGERS + crowd * ONE_STRANGER).min(NEVER_MORE);
    assert!(peak < allowed, "{} MB, and {} MB would do", peak >> 20, allowed >> 20);
    strangers.iter().for_each(tokio::task::JoinHandle::abort);
}
