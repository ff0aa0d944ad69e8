//! The world that handlers live in: a server with its own clock, workers of two builds, and what goes wrong.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{
    MoveClock, RunFilter, RunStatus, WaitpointFilter, WaitpointKind, WaitpointStatus, WorkflowRetry,
};
use abide_sdk::{
    Client, Context, Json, Result, Retry, RunHandle, RunOptions, TaskError, Wait, Worker, step, workflow,
};
use serde_json::json;
use tokio::runtime::Runtime;

use super::ledger::Ledger;
use super::program::{Author, Op, Random, Seen, changed, comes_to, is_even, lost, value};

const GRACE: Duration = Duration::from_millis(200);
/// Things that go wrong before the world calms down.
const TROUBLES: u64 = 25;
/// How long the last runs may take, in real time: far longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(300);
const BUILDS: [&str; 2] = ["old", "new"];

type Shared = Arc<Mutex<Ledger>>;
type Doing = Pin<Box<dyn Future<Output = Result<Seen>> + Send>>;

/// Does what a program says, with the durable calls of the SDK.
fn perform(ctx: Context, program: Vec<Op>, before: Seen, ledger: Shared) -> Doing {
    Box::pin(async move {
        let mut seen = before;
        let inherited = seen.len();
        let lease = ctx.task().lease_token.clone();
        for op in program {
            match op {
                Op::Call { name, failures, has_policy } => {
                    let (makes, place) = (ledger.clone(), (lease.clone(), name.clone()));
                    let work = || async move {
                        let mut ledger = makes.lock().unwrap();
                        match ledger.makes(&place.0, &place.1) <= failures {
                            true => Err(TaskError::new("not yet")),
                            false => Ok(ledger.gives()),
                        }
                    };
                    let options = RunOptions::new();
                    let options = if has_policy { options.retry(Retry::attempts(20)) } else { options };
                    let value = json!(ctx.run_with(&name, options, work).await?);
                    ledger.lock().unwrap().returns(&lease, &name, &value);
                    seen.push((name, value));
                }
                Op::Sleep { name, seconds } => {
                    let sleep = ctx.sleep(&name, Duration::from_secs(seconds));
                    awaited(sleep, &name, &lease, &ledger).await?;
                    ledger.lock().unwrap().waited(&lease, &name, WaitpointKind::Delay, &Json::Null);
                    seen.push((name, Json::Null));
                }
                Op::Signal { name } => {
                    let signal = ctx.wait_for_signal::<Json>(&name, &name);
                    let value = awaited(signal, &name, &lease, &ledger).await?.unwrap_or_default();
                    let mut ledger = ledger.lock().unwrap();
                    if value != json!(name) {
                        ledger.is_wrong(format!("{}: `{name}` got {value}", ctx.run_id()));
                    }
                    ledger.waited(&lease, &name, WaitpointKind::Signal, &value);
                    seen.push((name, value));
                }
                Op::Fail { name, failures } => {
                    if ledger.lock().unwrap().passes(ctx.run_id(), &name) <= failures {
                        return Err(TaskError::new("the handler fails"));
                    }
                }
                Op::Branch { on, even, odd } => {
                    let taken = if is_even(value(&seen, &on)) { even } else { odd };
                    seen = perform_after(&ctx, taken, seen, &ledger).await?;
                }
                Op::Both { left, right } => {
                    let left = perform(ctx.clone(), left, seen.clone(), ledger.clone());
                    let right = perform(ctx.clone(), right, seen.clone(), ledger.clone());
                    let (left, right) = futures_util::future::try_join(left, right).await?;
                    seen.extend(left.into_iter().chain(right));
                }
                Op::Race { name, left, right } => {
                    let branches = [left, right].map(|part| {
                        let work = perform(ctx.clone(), part, seen.clone(), ledger.clone());
                        ctx.branch(&name, work)
                    });
                    let first = ctx.any(branches).await?;
                    let winner = json!(first.index);
                    ledger.lock().unwrap().won(&lease, &name, &winner);
                    seen.push((name, winner));
                    seen.extend(first.value);
                }
            }
        }
        Ok(seen.split_off(inherited))
    })
}

/// Awaits a wait, and notes where the handler stands still.
async fn awaited<T, K>(mut wait: Wait<T, K>, name: &str, lease: &str, ledger: &Shared) -> Result<T> {
    let awaited = std::future::poll_fn(|cx| {
        let polled = Pin::new(&mut wait).poll(cx);
        if polled.is_pending() {
            ledger.lock().unwrap().stands_at(lease, name);
        }
        polled
    });
    awaited.await
}

/// The same, with what was seen before it.
async fn perform_after(ctx: &Context, program: Vec<Op>, seen: Seen, ledger: &Shared) -> Result<Seen> {
    let more = perform(ctx.clone(), program, seen.clone(), ledger.clone()).await?;
    Ok(seen.into_iter().chain(more).collect())
}

/// A worker in a runtime of its own, which can be killed like a process.
struct Process(Option<Runtime>);

impl Process {
    fn start(url: &str, build: &'static str, ledger: &Shared) -> Process {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (url, ledger) = (url.to_owned(), ledger.clone());
        let name = format!("{build}-{}", ledger.lock().unwrap().next_worker());
        runtime.spawn(async move {
            let worker = name.clone();
            let work = move |ctx: Context, programs: BTreeMap<String, Vec<Op>>| {
                let program = programs[build].clone();
                ledger.lock().unwrap().begins(&worker, ctx.task());
                perform(ctx, program, Vec::new(), ledger.clone())
            };
            let client = Client::at(url).unwrap();
            let worker =
                Worker::new(&client).name(name).build_id(build).grace(GRACE).poll(Duration::from_secs(1));
            // It ends with its runtime.
            let _ = worker.heartbeat(Duration::from_millis(100)).handler("work", work).start().ended().await;
        });
        Process(Some(runtime))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

pub(super) struct World {
    server: TestServer,
    random: Random,
    ledger: Shared,
    runs: Vec<(RunHandle, BTreeMap<String, Vec<Op>>)>,
    workers: [Option<Process>; 2],
}

impl World {
    pub(super) async fn begin(seed: u64, handlers: u64) -> World {
        let server = crate::server().start().await.unwrap();
        let task = step::task("work", "work").retry(WorkflowRetry::default().max_attempts(20));
        server.client.deploy(&workflow("one").step(task)).await.unwrap();
        let mut random = Random(seed);
        let mut runs = Vec::new();
        for _ in 0..handlers {
            let old = Author { random: &mut random, names: 0, is_raced: false }.write(2);
            let new = changed(&old, &mut random);
            let programs = BTreeMap::from([("old".to_owned(), old), ("new".to_owned(), new)]);
            let run = server.client.start("one", json!(programs)).await.unwrap();
            for name in signals(&programs) {
                run.signal(&name, json!(name)).await.unwrap();
            }
            runs.push((run, programs));
        }
        World { server, random, ledger: Shared::default(), runs, workers: [None, None] }
    }

    /// How often a run waited for other code.
    pub(super) async fn live(mut self) -> std::result::Result<usize, String> {
        self.turn_up(0);
        for _ in 0..TROUBLES {
            self.trouble().await;
            self.check_ledger()?;
        }
        // Both builds, and nothing goes wrong any more.
        self.turn_up(0);
        self.turn_up(1);
        let until = Instant::now() + PATIENCE;
        while let Some(open) = self.some_open_run().await {
            self.check_ledger()?;
            if Instant::now() > until {
                let waits: Vec<String> = open.waiting_for.into_iter().map(|wait| wait.sentence).collect();
                return Err(format!("{} is {:?} and does not end: {waits:?}", open.id, open.status));
            }
            self.pass(Duration::from_secs(40_000)).await;
            self.retry_failed().await;
        }
        self.check_ledger()?;
        self.check_runs().await?;
        let waits = self.server.client.waitpoints();
        let held = waits.list(&WaitpointFilter::default().kind(WaitpointKind::Code)).all().await;
        Ok(held.unwrap().len())
    }

    fn turn_up(&mut self, build: usize) {
        let url = self.server.client.server().to_owned();
        self.workers[build] = Some(Process::start(&url, BUILDS[build], &self.ledger));
    }

    async fn trouble(&mut self) {
        match self.random.below(10) {
            0..5 => {
                let length = [1, 100, 10_000, 100_000][self.random.below(4) as usize];
                let seconds = 1 + self.random.below(length);
                self.pass(Duration::from_secs(seconds)).await;
            }
            5 => self.server.crash().await.unwrap(),
            6 | 7 => {
                // A worker is killed, and maybe another comes: of this build or of the other one.
                let build = self.random.below(2) as usize;
                self.workers[build] = None;
                if self.random.below(3) > 0 {
                    self.turn_up(build);
                }
            }
            8 => {
                let build = self.random.below(2) as usize;
                self.turn_up(build);
            }
            _ => self.retry_failed().await,
        }
        // Some real time, for whoever is at work.
        tokio::time::sleep(Duration::from_millis(1 + self.random.below(30))).await;
    }

    /// Time passes, also for those who have a task: some lose their lease.
    async fn pass(&self, length: Duration) {
        let clock = self.server.client.test_clock();
        let to = clock.find().await.unwrap().now + length;
        while clock.advance(&MoveClock::default().to(to)).await.unwrap().now < to {}
        tokio::time::sleep(Duration::from_millis(2)).await;
    }

    async fn of_status(&self, statuses: &[RunStatus]) -> Vec<String> {
        let filter = RunFilter::default().status(statuses.iter().copied());
        let found = self.server.client.runs().list(&filter).limit(500).all().await.unwrap();
        found.into_iter().map(|run| run.id).collect()
    }

    async fn retry_failed(&self) {
        for run in self.of_status(&[RunStatus::Failed]).await {
            // A call that is made again by whoever has the task meets its own record.
            let failed = self.server.client.runs().find(&run).await.unwrap().error.unwrap();
            if !["TASK_FAILED", "WORKER_LOST"].contains(&failed.code.as_str()) {
                let wrong = format!("{run} failed: {}: {}", failed.code, failed.message);
                self.ledger.lock().unwrap().is_wrong(wrong);
            }
            self.server.client.runs().retry(&run).await.unwrap();
        }
    }

    async fn some_open_run(&self) -> Option<abide_sdk::wire::Run> {
        let open = [RunStatus::Pending, RunStatus::Running, RunStatus::Waiting, RunStatus::Failed];
        let run = self.of_status(&open).await.into_iter().next()?;
        Some(self.server.client.runs().find(&run).await.unwrap())
    }

    fn check_ledger(&self) -> std::result::Result<(), String> {
        self.ledger.lock().unwrap().check()
    }

    /// Every run came to what one of its programs comes to, with everything that was recorded on the way.
    async fn check_runs(&self) -> std::result::Result<(), String> {
        for (run, programs) in &self.runs {
            let output = run.get().await.unwrap().output;
            let seen: Seen = serde_json::from_value(output).map_err(|error| error.to_string())?;
            if !programs.values().any(|program| comes_to(program, &seen)) {
                return Err(format!("{}: no program comes to {seen:?}: {programs:?}", run.id()));
            }
            self.check_kept(run.id(), programs, &seen)?;
            let history = self.server.history(run).await.unwrap();
            self.ledger.lock().unwrap().check_history(run.id(), &history)?;
            self.check_waits(run.id(), &seen).await?;
        }
        Ok(())
    }

    /// What a call or a wait gave once is in what the handler came to, unless it was in a branch that lost.
    fn check_kept(
        &self,
        run: &str,
        programs: &BTreeMap<String, Vec<Op>>,
        seen: &Seen,
    ) -> std::result::Result<(), String> {
        let ledger = self.ledger.lock().unwrap();
        let lost: Vec<String> = programs.values().flat_map(|program| lost(program, seen)).collect();
        for (name, value) in ledger.returned_in(run) {
            let is_kept = seen.iter().any(|(found, given)| found == name && given == value);
            if !is_kept && !lost.iter().any(|lost| lost == name) {
                return Err(format!("{run}: `{name}` gave {value}, and it is lost: {seen:?}"));
            }
        }
        Ok(())
    }

    /// No wait was begun again: one of each name, beside those that a failure cut off.
    async fn check_waits(&self, run: &str, seen: &Seen) -> std::result::Result<(), String> {
        let filter = WaitpointFilter::default().run_id(run);
        let waits = self.server.client.waitpoints().list(&filter).all().await.unwrap();
        for (name, _) in seen {
            let of_name = waits.iter().filter(|wait| wait.name == *name && wait.kind != WaitpointKind::Retry);
            let begun = of_name.filter(|wait| wait.status != WaitpointStatus::Cancelled).count();
            if begun > 1 {
                return Err(format!("{run}: `{name}` was waited for {begun} times"));
            }
        }
        Ok(())
    }
}

/// The signals that either program may wait for.
fn signals(programs: &BTreeMap<String, Vec<Op>>) -> Vec<String> {
    fn of(ops: &[Op], names: &mut Vec<String>) {
        for op in ops {
            match op {
                Op::Signal { name } => names.push(name.clone()),
                Op::Branch { even: one, odd: other, .. }
                | Op::Both { left: one, right: other }
                | Op::Race { left: one, right: other, .. } => {
                    of(one, names);
                    of(other, names);
                }
                Op::Call { .. } | Op::Sleep { .. } | Op::Fail { .. } => {}
            }
        }
    }
    let mut names = Vec::new();
    programs.values().for_each(|program| of(program, &mut names));
    names.sort();
    names.dedup();
    names
}
