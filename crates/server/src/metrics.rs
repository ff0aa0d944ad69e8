//! `/metrics`: the text format of Prometheus, written by hand from what the engine and the server count.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use abide_core::status::RunStatus;
use abide_engine::{Histogram, Stats};

use crate::traces::Counts;
use crate::traffic::{TIME_MS, Traffic};

/// Shares of a distribution that are worth looking at. The last is the largest value.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

pub(crate) fn text(
    stats: &Stats,
    runs: &[(RunStatus, u64)],
    traffic: &Traffic,
    spans: Option<&Counts>,
) -> String {
    let mut page = Page(of_workspace(runs));
    page.one("abide_runs_in_memory", "gauge", "Runs kept in memory.", stats.runs_in_memory as u64);
    page.one("abide_tasks_out", "gauge", "Tasks in the hands of workers.", stats.tasks_out as u64);
    page.one("abide_requests_total", "counter", "Requests that the engine took.", stats.requests);
    page.one("abide_rounds_total", "counter", "Rounds that the engine decided.", stats.rounds);
    page.one("abide_commits_total", "counter", "Commits, each synced once.", stats.commits);
    page.one("abide_conflicts_total", "counter", "Commits in which another node was first.", stats.conflicts);
    page.one("abide_tasks_ready", "gauge", "Tasks that nobody has taken yet.", stats.tasks_ready as u64);
    page.one("abide_records_total", "counter", "Records written to histories.", stats.records);
    page.summary("abide_commit_batch", "Requests in one commit.", &stats.batch, 1.0);
    page.summary("abide_commit_seconds", "Time that a commit took.", &stats.commit_us, 1e-6);
    page.summary(
        "abide_timer_lateness_seconds",
        "From a timer's instant to its firing.",
        &stats.lateness_ms,
        1e-3,
    );
    http(&mut page, traffic);
    if let Some(Counts { sent, dropped }) = spans {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        page.one("abide_spans_sent_total", "counter", "Spans that the collector took.", load(sent));
        page.one("abide_spans_dropped_total", "counter", "Spans that were not sent.", load(dropped));
    }
    page.0
}

/// What concerns one workspace and no other.
pub(crate) fn of_workspace(runs: &[(RunStatus, u64)]) -> String {
    let mut page = Page(String::with_capacity(4096));
    page.head("abide_runs", "gauge", "Runs by status.");
    for status in RunStatus::ALL {
        let count = runs.iter().find(|(of, _)| *of == status).map_or(0, |(_, count)| *count);
        page.line("abide_runs", &format!("status=\"{status}\""), count);
    }
    page.0
}

fn http(page: &mut Page, traffic: &Traffic) {
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    page.one("abide_http_connections", "gauge", "Open connections.", load(&traffic.connections));
    page.one("abide_http_in_flight", "gauge", "Requests without an answer yet.", load(&traffic.in_flight));
    page.one(
        "abide_http_turned_away_total",
        "counter",
        "Connections over the limit.",
        load(&traffic.turned_away),
    );
    page.one(
        "abide_http_turned_out_total",
        "counter",
        "Connections without a key that gave way to others.",
        load(&traffic.turned_out),
    );
    page.head("abide_http_responses_total", "counter", "Answers by the class of their status.");
    for (class, count) in traffic.by_class() {
        page.line("abide_http_responses_total", &format!("class=\"{class}\""), count);
    }
    let name = "abide_http_seconds";
    page.head(name, "histogram", "Time from a request to its answer, with long polls.");
    let (counts, total_us) = traffic.times();
    let mut seen = 0;
    for (bound, count) in TIME_MS.iter().zip(counts) {
        seen += count;
        page.line(&format!("{name}_bucket"), &format!("le=\"{}\"", *bound as f64 / 1e3), seen);
    }
    let all = counts.iter().sum();
    page.line(&format!("{name}_bucket"), "le=\"+Inf\"", all);
    page.number(&format!("{name}_sum"), total_us as f64 / 1e6);
    page.line(&format!("{name}_count"), "", all);
}

struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        self.push(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn line(&mut self, name: &str, labels: &str, value: u64) {
        if labels.is_empty() {
            self.push(format_args!("{name} {value}\n"));
        } else {
            self.push(format_args!("{name}{{{labels}}} {value}\n"));
        }
    }

    fn number(&mut self, name: &str, value: f64) {
        self.push(format_args!("{name} {value}\n"));
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.head(name, kind, help);
        self.line(name, "", value);
    }

    fn summary(&mut self, name: &str, help: &str, histogram: &Histogram, unit: f64) {
        self.head(name, "summary", help);
        for share in QUANTILES {
            let value = histogram.quantile(share) as f64 * unit;
            self.push(format_args!("{name}{{quantile=\"{share}\"}} {value}\n"));
        }
        self.line(&format!("{name}_count"), "", histogram.count());
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("a String takes everything");
    }
}
