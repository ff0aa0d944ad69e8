//! `/metrics`: what the engine and the server have counted, as OpenMetrics text. The numbers are plain data of others; here
//! they get their names, which `docs/operating/metrics.md` lists.

mod page;
mod process;
mod sampled;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use abide_core::status::RunStatus;
use abide_engine::counts::{ByNames, Counts, TimedBy};
use abide_engine::{Pool, Stats};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::registry::Registry;

use self::page::Page;
use self::process::Process;
pub(crate) use self::sampled::{Sample, Sampler};
use crate::traces::Counts as Spans;
use crate::traffic::{TIME_MS, Traffic};

/// Bounds of the times of commits and rounds, in microseconds.
const COMMIT_US: [u64; 12] =
    [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000];
/// Bounds of the number of requests in a commit.
const BATCH: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];
/// Bounds of the lateness of timers, in milliseconds.
const LATENESS_MS: [u64; 12] = [1, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 60_000, 600_000];

/// What is shown of one workspace and no other.
pub(crate) fn of_workspace(workspace: &str, runs: Vec<(RunStatus, u64)>) -> String {
    let runs = runs.into_iter().map(|(status, count)| ((workspace.to_owned(), status), count));
    encoded(Figures { runs: runs.collect(), server: None })
}

/// What the whole server is asked to show.
pub(crate) struct Shown<'s> {
    pub(crate) stats: Stats,
    pub(crate) sample: Arc<Sample>,
    pub(crate) pools: Vec<Pool>,
    pub(crate) is_shared: bool,
    pub(crate) held: usize,
    pub(crate) traffic: &'s Traffic,
    pub(crate) spans: Option<&'s Spans>,
}

/// What is shown of the whole server.
pub(crate) fn of_server(shown: Shown<'_>) -> String {
    let Shown { stats, sample, pools, is_shared, held, traffic, spans } = shown;
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let spans = spans.map(|Spans { sent, dropped }| (load(sent), load(dropped)));
    let traffic = Http {
        connections: load(&traffic.connections),
        in_flight: load(&traffic.in_flight),
        turned_away: load(&traffic.turned_away),
        turned_out: load(&traffic.turned_out),
        by_class: traffic.by_class(),
        times: traffic.times(),
    };
    let store = if is_shared { "postgres" } else { "sqlite" };
    let runs = sample.runs.clone();
    let whole = Whole { stats, sample, pools, store, held, traffic, spans };
    encoded(Figures { runs, server: Some(Box::new(whole)) })
}

fn encoded(figures: Figures) -> String {
    let process = figures.server.is_some().then(Process::now).flatten();
    let mut registry = Registry::default();
    registry.sub_registry_with_prefix("abide").register_collector(Box::new(figures));
    if let Some(process) = process {
        registry.register_collector(Box::new(process));
    }
    let mut page = String::with_capacity(64 * 1024);
    text::encode(&mut page, &registry).expect("a String takes everything");
    page
}

#[derive(Debug)]
struct Figures {
    /// By workspace and status.
    runs: BTreeMap<(String, RunStatus), u64>,
    /// Nothing, for those who see one workspace only.
    server: Option<Box<Whole>>,
}

#[derive(Debug)]
struct Whole {
    stats: Stats,
    sample: Arc<Sample>,
    pools: Vec<Pool>,
    store: &'static str,
    held: usize,
    traffic: Http,
    spans: Option<(u64, u64)>,
}

/// What [`Traffic`] counted, at one moment.
#[derive(Debug)]
struct Http {
    connections: u64,
    in_flight: u64,
    turned_away: u64,
    turned_out: u64,
    by_class: [(&'static str, u64); 5],
    times: ([u64; TIME_MS.len() + 1], u64),
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let page = &mut Page(&mut encoder);
        let runs = self
            .runs
            .iter()
            .map(|((workspace, status), count)| ([workspace.clone(), status.to_string()], *count));
        page.gauges("runs", "Runs by workspace and status.", ["workspace", "status"], runs)?;
        let Some(server) = &self.server else { return Ok(()) };
        server.sampled(page)?;
        server.stats(page)?;
        server.counts(page)?;
        server.times(page)?;
        server.pools(page)?;
        server.http(page)
    }
}

impl Whole {
    fn sampled(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        let help = "1, with the version of the program and the kind of its store.";
        page.gauges("build_info", help, ["version", "store"], [([version, self.store], 1_u64)])?;
        let waits = self.sample.waits.iter();
        let waits = waits.map(|((workspace, kind), count)| ([workspace.clone(), kind.to_string()], *count));
        let help = "Waits that are open, by workspace and kind; 10000 stands for that many or more.";
        page.gauges("waits_open", help, ["workspace", "kind"], waits)?;
        let help = "Timers whose instant has passed; 10000 stands for that many or more.";
        page.gauge("timers_overdue", help, self.sample.overdue)?;
        let help = "How long ago the instant of the timer was that is overdue longest.";
        page.gauge("timers_overdue_oldest_seconds", help, self.sample.overdue_age.0 as f64 / 1e3)?;
        page.gauge("held", "Runs and schedules that are held.", self.held as u64)?;
        let of = |value: fn(&sampled::TasksOf) -> f64| {
            let tasks = self.sample.tasks.iter();
            tasks.map(move |((workspace, handler), tasks)| {
                ([workspace.as_str(), handler.as_str()], value(tasks))
            })
        };
        let labels = ["workspace", "handler"];
        let help = "Tasks that a worker could take, by handler.";
        page.gauges("tasks_ready", help, labels, of(|tasks| tasks.ready as f64))?;
        let help = "Tasks in the hands of workers, by handler.";
        page.gauges("tasks_leased", help, labels, of(|tasks| tasks.leased as f64))?;
        let help = "Tasks that are ready or leased, by handler: what an autoscaler divides by the tasks of one worker.";
        page.gauges("tasks_backlog", help, labels, of(|tasks| (tasks.ready + tasks.leased) as f64))?;
        let help = "How long the oldest task has been ready that nobody has taken, by handler.";
        page.gauges("tasks_oldest_ready_seconds", help, labels, of(|tasks| tasks.oldest.0 as f64 / 1e3))?;
        self.limits(page)
    }

    fn limits(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let of = |value: fn(&sampled::LimitOf) -> f64| {
            let limits = self.sample.limits.iter();
            limits.map(move |((workspace, limit), of)| ([workspace.as_str(), limit.as_str()], value(of)))
        };
        let labels = ["workspace", "limit"];
        let help = "Runs and attempts that have room under a limit, all keys together.";
        page.gauges("limit_used", help, labels, of(|limit| limit.used as f64))?;
        let help = "Runs and attempts that wait for room under a limit, all keys together.";
        page.gauges("limit_waiting", help, labels, of(|limit| limit.waiting as f64))?;
        let help = "How long the line of a limit has not been empty: of the key for which that is longest.";
        page.gauges("limit_line_seconds", help, labels, of(|limit| limit.oldest.0 as f64 / 1e3))
    }

    fn stats(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let stats = &self.stats;
        page.gauge("runs_in_memory", "Runs kept in memory.", stats.runs_in_memory as u64)?;
        page.counter("requests", "Requests that the engine took.", stats.requests)?;
        page.counter("rounds", "Rounds that the engine decided.", stats.rounds)?;
        page.counter("commits", "Commits, each synced once.", stats.commits)?;
        page.counter("conflicts", "Commits in which another node was first.", stats.conflicts)?;
        page.counter("records", "Records written to histories.", stats.records)?;
        page.histogram("commit_batch", "Requests in one commit.", &stats.batch, &BATCH, 1.0)?;
        page.histogram("commit_seconds", "Time that a commit took.", &stats.commit_us, &COMMIT_US, 1e6)?;
        let help = "From the beginning of a round to its commit.";
        page.histogram("round_seconds", help, &stats.round_us, &COMMIT_US, 1e6)?;
        let help = "From a timer's instant to its firing.";
        page.histogram("timer_lateness_seconds", help, &stats.lateness_ms, &LATENESS_MS, 1e3)
    }

    /// What happened, by names.
    fn counts(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let counts: &Counts = &self.stats.counts;
        let flow = ["workspace", "workflow"];
        page.counters("runs_started", "Runs that were started.", flow, self.named(&counts.runs_started))?;
        page.counters("runs_completed", "Runs that completed.", flow, self.named(&counts.runs_completed))?;
        let help = "Runs that were cancelled.";
        page.counters("runs_cancelled", help, flow, self.named(&counts.runs_cancelled))?;
        let labels = ["workspace", "workflow", "code"];
        let help = "Runs that failed, with their error code.";
        page.counters("runs_failed", help, labels, self.named(&counts.runs_failed))?;
        let labels = ["workspace", "workflow", "type", "code"];
        let help = "Steps that failed for good, with their error code.";
        page.counters("steps_failed", help, labels, self.named(&counts.steps_failed))?;
        let labels = ["workspace", "handler", "outcome"];
        let help = "Attempts of tasks that ended: COMPLETED, or an error code.";
        page.counters("task_attempts", help, labels, self.named(&counts.attempts))?;
        let help = "Durable calls that recorded a result.";
        let labels = ["workspace", "handler", "call"];
        page.counters("durable_calls", help, labels, self.named(&counts.durable_calls))?;
        let opened = counts.waits_opened.iter().map(|(kind, count)| ([kind.to_string()], *count));
        page.counters("waits_opened", "Waits that began, by kind.", ["kind"], opened)?;
        let ended = counts.waits_ended.iter();
        let ended = ended.map(|((kind, status), count)| ([kind.to_string(), status.to_string()], *count));
        page.counters("waits_ended", "Waits that ended, by kind and how.", ["kind", "status"], ended)
    }

    /// How long it took, by names.
    fn times(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let counts = &self.stats.counts;
        let help = "From the start of a run to its end.";
        let labels = ["workspace", "workflow", "status"];
        page.timings("run_duration_seconds", help, labels, self.timed(&counts.run_times))?;
        let help = "From the start of a step to its end, with its waits.";
        let labels = ["workspace", "workflow", "type"];
        page.timings("step_duration_seconds", help, labels, self.timed(&counts.step_times))?;
        let help = "How long an attempt of a task was worked on, without its waits.";
        let labels = ["workspace", "handler", "outcome"];
        page.timings("task_duration_seconds", help, labels, self.timed(&counts.attempt_times))?;
        let help = "From when a worker could take a task to when one did.";
        let labels = ["workspace", "handler"];
        page.timings("task_queue_seconds", help, labels, self.timed(&counts.queue_times))?;
        let waits = counts.wait_times.iter().map(|(kind, timing)| ([kind.to_string()], timing));
        page.timings("wait_duration_seconds", "How long waits lasted, by kind.", ["kind"], waits)
    }

    fn pools(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let of =
            |value: fn(&Pool) -> usize| self.pools.iter().map(move |pool| ([pool.name], value(pool) as u64));
        let help = "Connections that read beside the writer.";
        page.gauges("store_connections", help, ["pool"], of(|pool| pool.connections))?;
        let help = "Connections that are read on now.";
        page.gauges("store_connections_busy", help, ["pool"], of(|pool| pool.busy))?;
        let help = "Reads that wait for a connection.";
        page.gauges("store_reads_waiting", help, ["pool"], of(|pool| pool.waiting))?;
        let waited = self.pools.iter().map(|pool| ([pool.name], &pool.waited));
        page.timings("store_read_wait_seconds", "How long reads waited for a connection.", ["pool"], waited)
    }

    fn http(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let http = &self.traffic;
        page.gauge("http_connections", "Open connections.", http.connections)?;
        page.gauge("http_in_flight", "Requests without an answer yet.", http.in_flight)?;
        page.counter("http_turned_away", "Connections over the limit.", http.turned_away)?;
        let help = "Connections without a key that gave way to others.";
        page.counter("http_turned_out", help, http.turned_out)?;
        let by_class = http.by_class.map(|(class, count)| ([class], count));
        page.counters("http_responses", "Answers by the class of their status.", ["class"], by_class)?;
        let (counts, total_us) = http.times;
        let help = "Time from a request to its answer, with long polls.";
        page.buckets("http_seconds", help, &counts, &TIME_MS, (1e3, total_us as f64 / 1e6))?;
        if let Some((sent, dropped)) = self.spans {
            page.counter("spans_sent", "Spans that the collector took.", sent)?;
            page.counter("spans_dropped", "Spans that were not sent.", dropped)?;
        }
        Ok(())
    }

    /// Counts, with the name of the workspace for its id.
    fn named<const N: usize>(&self, counts: &ByNames<N>) -> Vec<([String; N], u64)> {
        counts.iter().map(|(names, count)| (self.names(names), *count)).collect()
    }

    fn timed<'t, const N: usize>(
        &self,
        timings: &'t TimedBy<N>,
    ) -> Vec<([String; N], &'t abide_engine::Timing)> {
        timings.iter().map(|(names, timing)| (self.names(names), timing)).collect()
    }

    fn names<const N: usize>(&self, names: [&str; N]) -> [String; N] {
        let mut names = names.map(str::to_owned);
        if let Some(first) = names.first_mut()
            && let Some(name) = self.sample.names.get(first)
        {
            first.clone_from(name);
        }
        names
    }
}
