//! What a frame shows, and what `--json` writes: figures of the last look, and what came since the first one of the window.

use std::collections::BTreeMap;

use abide_sdk::wire::{Health, RunCount, WaitCount, Waitpoint, Worker};
use jiff::Timestamp;
use serde::Serialize;

use super::look::Look;
use super::metrics::{Metrics, quantile};
use crate::client::whose;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Snapshot {
    pub(super) server: String,
    /// The server's clock.
    pub(super) at: Timestamp,
    pub(super) version: Option<String>,
    /// `sqlite` or `postgres`.
    pub(super) store: Option<String>,
    pub(super) store_id: Option<String>,
    /// `ok`, `paused`, or why it is not ready.
    pub(super) status: String,
    pub(super) is_ready: bool,
    pub(super) held: Option<u64>,
    pub(super) runs: Vec<RunCount>,
    pub(super) waits: Vec<WaitCount>,
    pub(super) overdue: Overdue,
    /// How long rates and quantiles are taken over.
    pub(super) window_seconds: f64,
    pub(super) per_second: Rates,
    pub(super) commit_ms: Quantiles,
    pub(super) round_ms: Quantiles,
    pub(super) lateness_ms: Quantiles,
    pub(super) process: Process,
    pub(super) due: Vec<Due>,
    pub(super) tasks: Vec<Tasks>,
    pub(super) workflows: Vec<Workflow>,
    pub(super) workers: Vec<Worker>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Overdue {
    pub(super) count: u64,
    pub(super) more: bool,
    pub(super) oldest_seconds: Option<f64>,
}

/// Figures that the key may not see are absent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rates {
    pub(super) started: Option<f64>,
    pub(super) completed: Option<f64>,
    pub(super) failed: Option<f64>,
    pub(super) timers: Option<f64>,
    pub(super) requests: Option<f64>,
    pub(super) commits: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Quantiles {
    pub(super) p50: Option<f64>,
    pub(super) p99: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Process {
    pub(super) up_seconds: Option<f64>,
    /// Of one processor.
    pub(super) cpu_percent: Option<f64>,
    pub(super) resident_bytes: Option<f64>,
    pub(super) open_files: Option<f64>,
    pub(super) connections: Option<f64>,
    pub(super) reads_waiting: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Due {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) workflow: Option<String>,
    pub(super) step: Option<String>,
    pub(super) resume_at: Option<Timestamp>,
    pub(super) created_at: Timestamp,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tasks {
    pub(super) workspace: String,
    pub(super) handler: String,
    pub(super) ready: f64,
    pub(super) leased: f64,
    pub(super) oldest_ready_seconds: f64,
    /// Attempts that ended, however they did.
    pub(super) ended_per_second: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Workflow {
    pub(super) workspace: String,
    pub(super) workflow: String,
    pub(super) started_per_second: f64,
    pub(super) completed_per_second: f64,
    pub(super) failed_per_second: f64,
    /// Since the process was started.
    pub(super) failed: f64,
}

impl Snapshot {
    pub(super) fn of(server: &str, first: &Look, last: &Look) -> Snapshot {
        let since = Since {
            before: &first.metrics,
            now: &last.metrics,
            seconds: last.taken.duration_since(first.taken).as_secs_f64(),
        };
        let (metrics, overview) = (&last.metrics, &last.overview);
        let health = last.health.as_ref();
        let overdue = Overdue {
            count: overview.overdue.count,
            more: overview.overdue.more,
            oldest_seconds: metrics.sum("abide_timers_overdue_oldest_seconds"),
        };
        Snapshot {
            server: server.to_owned(),
            at: overview.now,
            version: health.ok().map(|health| health.version.clone()),
            store: metrics.label("abide_build_info", "store"),
            store_id: health.ok().and_then(|health| health.store.clone()),
            status: health.map_or_else(Clone::clone, |Health { status, .. }| status.clone()),
            is_ready: health.is_ok(),
            held: health.ok().and_then(|health| health.held),
            runs: overview.runs.clone(),
            waits: overview.waits.clone(),
            overdue,
            window_seconds: since.seconds,
            per_second: Rates {
                started: since.rate("abide_runs_started_total"),
                completed: since.rate("abide_runs_completed_total"),
                failed: since.rate("abide_runs_failed_total"),
                timers: since.rate("abide_timer_lateness_seconds_count"),
                requests: since.rate("abide_requests_total"),
                commits: since.rate("abide_commits_total"),
            },
            commit_ms: since.quantiles("abide_commit_seconds"),
            round_ms: since.quantiles("abide_round_seconds"),
            lateness_ms: since.quantiles("abide_timer_lateness_seconds"),
            process: process(&since, overview.now),
            due: last.due.iter().map(Due::of).collect(),
            tasks: tasks(&since),
            workflows: workflows(&since),
            workers: last.workers.clone(),
        }
    }
}

impl Due {
    fn of(wait: &Waitpoint) -> Due {
        Due {
            id: wait.id.clone(),
            kind: wait.kind.to_string(),
            workflow: wait.definition.as_ref().map(|definition| definition.name.clone()),
            step: whose(wait.step_name.as_deref(), wait.call.as_deref()),
            resume_at: wait.resume_at,
            created_at: wait.created_at,
        }
    }
}

/// Two readings, and the time between them.
struct Since<'a> {
    before: &'a Metrics,
    now: &'a Metrics,
    seconds: f64,
}

impl Since<'_> {
    /// A counter that nobody has counted yet has no series; who may see counters at all sees commits.
    fn rate(&self, name: &str) -> Option<f64> {
        self.now.sum("abide_commits_total")?;
        let (before, now) =
            (self.before.sum(name).unwrap_or_default(), self.now.sum(name).unwrap_or_default());
        Some(self.per_second(before, now))
    }

    /// A process that was started again counts from 0.
    fn per_second(&self, before: f64, now: f64) -> f64 {
        let came = if now < before { now } else { now - before };
        if self.seconds > 0.0 { came / self.seconds } else { 0.0 }
    }

    fn quantiles(&self, name: &str) -> Quantiles {
        let (before, now) = (self.before.buckets(name), self.now.buckets(name));
        // Of one look only: what came since the process was started.
        let before = if self.seconds > 0.0 { before } else { Vec::new() };
        let of = |share| quantile(&before, &now, share).map(|seconds| seconds * 1_000.0);
        Quantiles { p50: of(0.5), p99: of(0.99) }
    }
}

fn process(since: &Since<'_>, now: Timestamp) -> Process {
    let sum = |name: &str| since.now.sum(name);
    #[expect(clippy::cast_precision_loss, reason = "seconds, for people")]
    let now = now.as_millisecond() as f64 / 1_000.0;
    Process {
        up_seconds: sum("process_start_time_seconds").map(|started| (now - started).max(0.0)),
        cpu_percent: sum("process_cpu_seconds_total")
            .and_then(|_| since.rate("process_cpu_seconds_total"))
            .map(|rate| rate * 100.0),
        resident_bytes: sum("process_resident_memory_bytes"),
        open_files: sum("process_open_fds"),
        connections: sum("abide_http_connections"),
        reads_waiting: sum("abide_store_reads_waiting"),
    }
}

/// Values by two labels.
type ByLabels = BTreeMap<[String; 2], f64>;

fn of(values: &ByLabels, key: &[String; 2]) -> f64 {
    values.get(key).copied().unwrap_or_default()
}

fn tasks(since: &Since<'_>) -> Vec<Tasks> {
    let labels = ["workspace", "handler"];
    let [ready, leased, oldest] =
        ["abide_tasks_ready", "abide_tasks_leased", "abide_tasks_oldest_ready_seconds"]
            .map(|name| since.now.by(name, labels));
    let ended = "abide_task_attempts_total";
    let (before, now) = (since.before.by(ended, labels), since.now.by(ended, labels));
    let mut keys: Vec<_> = ready.keys().chain(leased.keys()).chain(now.keys()).cloned().collect();
    keys.sort();
    keys.dedup();
    let row = |key: [String; 2]| {
        let ended_per_second = since.per_second(of(&before, &key), of(&now, &key));
        let (ready, leased, oldest_ready_seconds) = (of(&ready, &key), of(&leased, &key), of(&oldest, &key));
        let [workspace, handler] = key;
        Tasks { workspace, handler, ready, leased, oldest_ready_seconds, ended_per_second }
    };
    keys.into_iter().map(row).collect()
}

fn workflows(since: &Since<'_>) -> Vec<Workflow> {
    let labels = ["workspace", "workflow"];
    let names = ["abide_runs_started_total", "abide_runs_completed_total", "abide_runs_failed_total"];
    let (before, now) =
        (names.map(|name| since.before.by(name, labels)), names.map(|name| since.now.by(name, labels)));
    let mut keys: Vec<_> = now.iter().flat_map(|values| values.keys().cloned()).collect();
    keys.sort();
    keys.dedup();
    let row = |key: [String; 2]| {
        let rate = |which| since.per_second(of(&before[which], &key), of(&now[which], &key));
        let (started, completed, failed_rate, failed) = (rate(0), rate(1), rate(2), of(&now[2], &key));
        let [workspace, workflow] = key;
        Workflow {
            workspace,
            workflow,
            started_per_second: started,
            completed_per_second: completed,
            failed_per_second: failed_rate,
            failed,
        }
    };
    keys.into_iter().map(row).collect()
}
