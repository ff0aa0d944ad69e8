//! Where races are run: a server on a port of its own, and lanes that race beside each other, each on connections that
//! it keeps.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use abide_core::id::RunId;
use abide_core::time::Millis;
use abide_engine::{Engine, Options, SettableClock};
use abide_server::{Server, Settings};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::connection::{Call, Connection, Reply, get, post};
use crate::history::History;
use crate::store::fresh_store;

/// How often a race is run, if `ABIDE_RACES` does not say.
pub(crate) const OFTEN: usize = 2_000;
/// Those that are much like another one.
pub(crate) const LESS_OFTEN: usize = 500;
/// Trials under way at a time, so that commits hold several of them.
pub(crate) const LANES: usize = 8;
/// Most that race in one trial.
const CONNECTIONS: usize = 4;
/// So many of all trials are no race: one call is answered before the next one leaves. So every order is seen, however
/// the machine would have it.
const ONE_BY_ONE: usize = 10;

pub(crate) struct Lane {
    /// From 0.
    pub(crate) number: usize,
    pub(crate) trial: usize,
    engine: Engine,
    clock: SettableClock,
    connections: Vec<Connection>,
}

/// How often each outcome was seen.
#[derive(Debug)]
pub(crate) struct Tally(BTreeMap<&'static str, usize>);

/// Runs a race of a workflow with these steps. The trial says who won.
pub(crate) async fn race(
    trials: usize,
    steps: Value,
    trial: impl AsyncFn(&mut Lane) -> &'static str,
) -> Tally {
    let trials = std::env::var("ABIDE_RACES").map_or(trials, |trials| trials.parse().unwrap());
    let clock = SettableClock::new("2026-11-15T12:00:00Z".parse().unwrap());
    let options = Options { clock: Some(clock.clone()), ..Options::default() };
    let engine = Engine::open_with(fresh_store(), options).await.unwrap();
    let mut settings = Settings { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ..Settings::default() };
    settings.limits.requests_per_second = u32::MAX;
    let server = Server::bind(engine.clone(), settings).await.unwrap();
    let address = server.address();
    let running = tokio::spawn(server.run(std::future::pending()));
    let mut lanes = Vec::new();
    for number in 0..LANES {
        let mut connections = Vec::new();
        for _ in 0..CONNECTIONS {
            connections.push(Connection::open(address).await);
        }
        lanes.push(Lane { number, trial: 0, engine: engine.clone(), clock: clock.clone(), connections });
    }
    lanes[0].deploy("flow", steps).await;
    let trial = &trial;
    let seen = join_all(lanes.iter_mut().map(|lane| async move {
        let mut seen = Vec::new();
        for number in (lane.number..trials).step_by(LANES) {
            lane.trial = number;
            seen.push(trial(lane).await);
        }
        seen
    }));
    let mut tally = BTreeMap::new();
    for outcome in seen.await.into_iter().flatten() {
        *tally.entry(outcome).or_default() += 1;
    }
    running.abort();
    Tally(tally)
}

impl Tally {
    /// Each of these won at times.
    #[track_caller]
    pub(crate) fn saw(&self, outcomes: &[&str]) {
        for outcome in outcomes {
            assert!(self.0.contains_key(outcome), "never `{outcome}`: {self:?}");
        }
    }
}

impl Lane {
    pub(crate) async fn ask(&mut self, call: Call) -> Reply {
        self.connections[0].send(call).await
    }

    /// All at once, each on its own connection. Who leaves first takes turns.
    pub(crate) async fn at_once<const N: usize>(&mut self, calls: [Call; N]) -> [Reply; N] {
        let is_one_by_one = self.is_one_by_one();
        let racers = self.connections.iter_mut().zip(calls).enumerate();
        let mut racers: Vec<_> = racers
            .map(|(place, (connection, call))| async move { (place, connection.send(call).await) })
            .collect();
        racers.rotate_left(self.trial % N);
        let mut replies = Vec::new();
        if is_one_by_one {
            for racer in racers {
                replies.push(racer.await);
            }
        } else {
            replies = join_all(racers).await;
        }
        replies.sort_by_key(|(place, _)| *place);
        let replies: Vec<Reply> = replies.into_iter().map(|(_, reply)| reply).collect();
        replies.try_into().unwrap()
    }

    /// Whether this trial is no race. Whoever is to come first, there are such trials.
    pub(crate) fn is_one_by_one(&self) -> bool {
        (self.trial / LANES).is_multiple_of(ONE_BY_ONE)
    }

    /// Any number at once, each on a connection of its own that is opened for it.
    pub(crate) async fn all_at_once(&mut self, calls: Vec<Call>) -> Vec<Reply> {
        let address = self.connections[0].address();
        let mut connections = Vec::new();
        for _ in &calls {
            connections.push(Connection::open(address).await);
        }
        let sends = connections.iter_mut().zip(calls).map(|(connection, call)| connection.send(call));
        join_all(sends).await
    }

    pub(crate) async fn deploy(&mut self, name: &str, steps: Value) {
        let workflow = json!({ "name": name, "version": "1", "steps": steps });
        let reply = self.ask(post("/workflow-definitions", workflow)).await;
        assert!(matches!(reply.status, 200 | 201), "{reply:?}");
    }

    pub(crate) async fn start(&mut self, name: &str, input: Value) -> String {
        let reply = self.ask(post("/workflow-runs", json!({ "name": name, "input": input }))).await;
        reply.is(201)["id"].as_str().unwrap().to_owned()
    }

    /// A run, and the URL that ends its wait.
    pub(crate) async fn start_with_link(&mut self) -> (String, String) {
        let run = self.start("flow", json!({})).await;
        let wait = self.ask(get(format!("/waitpoints/{}", waitpoint(&run, 1)))).await;
        let url = wait.is(200)["resumeUrl"].as_str().unwrap().to_owned();
        (run, url)
    }

    pub(crate) async fn history(&self, run: &str) -> History {
        let run: RunId = run.parse().unwrap();
        let stored = self.engine.run(run).history().await.unwrap();
        History(stored.unwrap().history)
    }

    pub(crate) fn pass(&self, ms: u64) {
        self.clock.advance(Millis(ms));
    }

    /// Returns when what is due has happened.
    pub(crate) async fn settle(&self) {
        // An answer leaves after the commit of its round, and timers are fired in the round of the first.
        for _ in 0..2 {
            drop(self.engine.run(RunId(0)).get().await);
        }
    }
}

/// The waitpoint of this number, of a run.
pub(crate) fn waitpoint(run: &str, number: u32) -> String {
    format!("wp_{}_{number}", run.strip_prefix("run_").unwrap())
}
