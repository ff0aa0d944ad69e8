//! `/metrics`: what the engine and the server have counted, as OpenMetrics text. The numbers are plain data of others; here
//! they get their names.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use abide_core::status::RunStatus;
use abide_engine::counts::{ByNames, Counts};
use abide_engine::{Histogram, Stats};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::traces::Counts as Spans;
use crate::traffic::{TIME_MS, Traffic};

/// Bounds of commit times, in microseconds.
const COMMIT_US: [u64; 12] =
    [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000];
/// Bounds of the number of requests in a commit.
const BATCH: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];
/// Bounds of the lateness of timers, in milliseconds.
const LATENESS_MS: [u64; 12] = [1, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 60_000, 600_000];

/// What is shown of one workspace and no other.
pub(crate) fn of_workspace(runs: Vec<(RunStatus, u64)>) -> String {
    encoded(Figures { runs, server: None })
}

/// What is shown of the whole server.
pub(crate) fn of_server(
    stats: Stats,
    runs: Vec<(RunStatus, u64)>,
    traffic: &Traffic,
    spans: Option<&Spans>,
) -> String {
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
    encoded(Figures { runs, server: Some(Box::new(Whole { stats, traffic, spans })) })
}

fn encoded(figures: Figures) -> String {
    let mut registry = Registry::with_prefix("abide");
    registry.register_collector(Box::new(figures));
    let mut page = String::with_capacity(16 * 1024);
    text::encode(&mut page, &registry).expect("a String takes everything");
    page
}

#[derive(Debug)]
struct Figures {
    runs: Vec<(RunStatus, u64)>,
    /// Nothing, for those who see one workspace only.
    server: Option<Box<Whole>>,
}

#[derive(Debug)]
struct Whole {
    stats: Stats,
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
        let count = |status| self.runs.iter().find(|(of, _)| *of == status).map_or(0, |(_, count)| *count);
        let runs = RunStatus::ALL.map(|status| ([status.to_string()], count(status)));
        page.gauges("runs", "Runs by status.", ["status"], runs)?;
        let Some(server) = &self.server else { return Ok(()) };
        server.stats(page)?;
        counts(page, &server.stats.counts)?;
        server.http(page)
    }
}

impl Whole {
    fn stats(&self, page: &mut Page<'_, '_>) -> fmt::Result {
        let stats = &self.stats;
        page.gauge("runs_in_memory", "Runs kept in memory.", stats.runs_in_memory as u64)?;
        page.gauge("tasks_out", "Tasks in the hands of workers.", stats.tasks_out as u64)?;
        page.gauge("tasks_ready", "Tasks that nobody has taken yet.", stats.tasks_ready as u64)?;
        page.counter("requests", "Requests that the engine took.", stats.requests)?;
        page.counter("rounds", "Rounds that the engine decided.", stats.rounds)?;
        page.counter("commits", "Commits, each synced once.", stats.commits)?;
        page.counter("conflicts", "Commits in which another node was first.", stats.conflicts)?;
        page.counter("records", "Records written to histories.", stats.records)?;
        page.histogram("commit_batch", "Requests in one commit.", &stats.batch, &BATCH, 1.0)?;
        page.histogram("commit_seconds", "Time that a commit took.", &stats.commit_us, &COMMIT_US, 1e6)?;
        let help = "From a timer's instant to its firing.";
        page.histogram("timer_lateness_seconds", help, &stats.lateness_ms, &LATENESS_MS, 1e3)
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
}

/// What happened, by names.
fn counts(page: &mut Page<'_, '_>, counts: &Counts) -> fmt::Result {
    let started = counts.runs_started.iter();
    page.counters("runs_started", "Runs that were started, by workflow.", ["workflow"], started)?;
    let completed = counts.runs_completed.iter();
    page.counters("runs_completed", "Runs that completed, by workflow.", ["workflow"], completed)?;
    let cancelled = counts.runs_cancelled.iter();
    page.counters("runs_cancelled", "Runs that were cancelled, by workflow.", ["workflow"], cancelled)?;
    let by =
        |names: &ByNames<2>| names.iter().map(|(names, count)| (names.map(str::to_owned), count)).collect();
    let failed: Vec<_> = by(&counts.runs_failed);
    page.counters(
        "runs_failed",
        "Runs that failed, by workflow and error code.",
        ["workflow", "code"],
        failed,
    )?;
    let help = "Attempts of tasks that ended, by handler and outcome: COMPLETED, or an error code.";
    let attempts: Vec<_> = by(&counts.attempts);
    page.counters("task_attempts", help, ["handler", "outcome"], attempts)?;
    let help = "Durable calls that recorded a result, by handler and name of the call.";
    let calls: Vec<_> = by(&counts.durable_calls);
    page.counters("durable_calls", help, ["handler", "call"], calls)?;
    let opened = counts.waits_opened.iter().map(|(kind, count)| ([kind.to_string()], *count));
    page.counters("waits_opened", "Waits that began, by kind.", ["kind"], opened)?;
    let ended = counts.waits_ended.iter();
    let ended = ended.map(|((kind, status), count)| ([kind.to_string(), status.to_string()], *count));
    page.counters("waits_ended", "Waits that ended, by kind and how.", ["kind", "status"], ended)
}

/// Where families are written one after the other.
struct Page<'p, 'e>(&'p mut DescriptorEncoder<'e>);

impl Page<'_, '_> {
    fn family(
        &mut self,
        name: &'static str,
        help: &str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'_>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, kind)
    }

    fn gauge(&mut self, name: &'static str, help: &str, value: u64) -> fmt::Result {
        self.family(name, help, MetricType::Gauge)?.encode_gauge(&value)
    }

    fn gauges<V: AsRef<str>, const N: usize>(
        &mut self,
        name: &'static str,
        help: &str,
        labels: [&'static str; N],
        values: impl IntoIterator<Item = ([V; N], u64)>,
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Gauge)?;
        for (names, value) in values {
            family.encode_family(&labelled(labels, &names))?.encode_gauge(&value)?;
        }
        Ok(())
    }

    fn counter(&mut self, name: &'static str, help: &str, value: u64) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Counter)?;
        family.encode_counter::<NoLabelSet, _, f64>(&value, None)
    }

    fn counters<V: AsRef<str>, const N: usize>(
        &mut self,
        name: &'static str,
        help: &str,
        labels: [&'static str; N],
        values: impl IntoIterator<Item = ([V; N], u64)>,
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Counter)?;
        for (names, value) in values {
            let labels = labelled(labels, &names);
            family.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(&value, None)?;
        }
        Ok(())
    }

    /// A histogram of which a value divided by `unit` is what is shown.
    fn histogram(
        &mut self,
        name: &'static str,
        help: &str,
        histogram: &Histogram,
        bounds: &[u64],
        unit: f64,
    ) -> fmt::Result {
        let counts = histogram.within(bounds);
        self.buckets(name, help, &counts, bounds, (unit, histogram.sum() as f64 / unit))
    }

    /// A histogram of which the values up to each bound were counted apart, and those above all bounds last.
    fn buckets(
        &mut self,
        name: &'static str,
        help: &str,
        counts: &[u64],
        bounds: &[u64],
        (unit, sum): (f64, f64),
    ) -> fmt::Result {
        let bounds = bounds.iter().map(|bound| *bound as f64 / unit).chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = bounds.zip(counts.iter().copied()).collect();
        let mut family = self.family(name, help, MetricType::Histogram)?;
        family.encode_histogram::<NoLabelSet>(sum, counts.iter().sum(), &buckets, None)
    }
}

fn labelled<'n, V: AsRef<str>, const N: usize>(
    labels: [&'static str; N],
    names: &'n [V; N],
) -> [(&'static str, &'n str); N] {
    std::array::from_fn(|at| (labels[at], names[at].as_ref()))
}
