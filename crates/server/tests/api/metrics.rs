//! `/metrics`: text that a scraper can read, and figures by the names that users gave.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use serde_json::{Value, json};

use crate::host::Host;

/// A page of OpenMetrics text, read as strictly as a scraper does.
struct Page {
    /// The kind of each family.
    kinds: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
    /// The names of the labels of each family that has a sample.
    labels: BTreeMap<String, Vec<String>>,
}

impl Page {
    fn read(text: &str) -> Page {
        let body = text.strip_suffix("# EOF\n").expect("a page ends with its mark");
        let (mut kinds, mut helped) = (BTreeMap::new(), BTreeSet::new());
        let (mut samples, mut labels) = (BTreeMap::new(), BTreeMap::new());
        for line in body.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (family, kind) = rest.split_once(' ').unwrap();
                assert!(helped.contains(family), "{family} has a HELP before its TYPE");
                assert_eq!(kinds.insert(family.to_owned(), kind.to_owned()), None, "{family} comes once");
            } else if let Some(rest) = line.strip_prefix("# HELP ") {
                let (family, help) = rest.split_once(' ').unwrap();
                assert!(help.ends_with('.'), "{family}: {help}");
                helped.insert(family.to_owned());
            } else {
                let (name, value) = line.rsplit_once(' ').unwrap();
                let family = family_of(name, &kinds).unwrap_or_else(|| panic!("{name} is of no family"));
                assert!(kinds.contains_key(family), "{name}");
                labels.insert(family.to_owned(), labels_of(name));
                assert_eq!(
                    samples.insert(name.to_owned(), value.parse().unwrap()),
                    None,
                    "{name} comes once"
                );
            }
        }
        Page { kinds, samples, labels }
    }

    fn get(&self, name: &str) -> f64 {
        *self.samples.get(name).unwrap_or_else(|| panic!("{name} is not there: {:?}", self.samples.keys()))
    }
}

/// The family of a sample, by the endings that its kind has.
fn family_of<'n>(sample: &'n str, kinds: &BTreeMap<String, String>) -> Option<&'n str> {
    let name = sample.split('{').next().unwrap();
    let endings = |kind: &str| match kind {
        "counter" => &["_total"][..],
        "histogram" => &["_bucket", "_sum", "_count"][..],
        "gauge" => &[""][..],
        other => panic!("{other} is not a kind that is used"),
    };
    let of =
        |family: &str, kind: &str| endings(kind).iter().any(|ending| name == format!("{family}{ending}"));
    kinds.iter().find(|(family, kind)| of(family, kind)).map(|(family, _)| &name[..family.len()])
}

/// The names of a sample's labels, but for the bound of a bucket.
fn labels_of(sample: &str) -> Vec<String> {
    let Some((_, labels)) = sample.split_once('{') else { return Vec::new() };
    let names = labels.trim_end_matches('}').split("\",").filter_map(|label| label.split_once("=\""));
    names.map(|(name, _)| name.to_owned()).filter(|name| name != "le").collect()
}

async fn page(host: &Host) -> Page {
    let accept = [("accept", "application/openmetrics-text; version=1.0.0")];
    let answer = host.raw(Method::GET, "/metrics", &accept, "".into()).await;
    Page::read(&answer.text)
}

#[tokio::test]
async fn a_scraper_can_read_the_page_and_histograms_add_up() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "wait", "name": "nap", "durationMs": 60_000 }])).await;
    let page = page(&host).await;
    let histograms = page.kinds.iter().filter(|(_, kind)| *kind == "histogram").map(|(family, _)| family);
    for family in histograms {
        let counts = page
            .samples
            .iter()
            .filter(|(name, _)| name.split('{').next().unwrap() == format!("{family}_count"));
        for (name, count) in counts {
            let labels = name.strip_prefix(&format!("{family}_count")).unwrap().trim_matches(['{', '}']);
            let separator = if labels.is_empty() { "" } else { "," };
            let all = ["+Inf"].map(|bound| format!("{family}_bucket{{le=\"{bound}\"{separator}{labels}}}"));
            assert_eq!(page.get(&all[0]), *count, "{name}");
        }
    }
    assert!(page.get("abide_commit_seconds_count") >= 1.0 && page.get("abide_commit_seconds_sum") > 0.0);
    assert!(page.get("abide_rounds_total") >= 1.0, "rounds are counted");
}

#[tokio::test]
async fn what_happened_is_counted_by_workflow_handler_call_and_code() {
    let host = Host::start().await;
    let retry = json!({ "maxAttempts": 1 });
    let work = json!({ "type": "task", "name": "work", "handler": "h", "retry": retry });
    let nap = json!({ "type": "wait", "name": "nap", "durationMs": 60_000 });
    host.run_of(json!([work, nap])).await;
    let poll = json!({ "handlers": ["h"], "workerId": "w" });
    let task = host.post("/tasks/poll", poll.clone()).await.json["tasks"][0].clone();
    let path = |what: &str| format!("/tasks/{}/{what}", task["id"].as_str().unwrap());
    let entries = json!([{ "name": "charge", "result": 1 }]);
    let journal = json!({ "leaseToken": task["leaseToken"], "entries": entries });
    host.post(&path("checkpoint"), journal).await;
    let failed = json!({ "leaseToken": task["leaseToken"], "message": "no money", "code": "BROKE" });
    host.post(&path("fail"), failed).await;
    host.start_run("flow", json!({})).await;
    let task = host.post("/tasks/poll", poll).await.json["tasks"][0].clone();
    let done = json!({ "leaseToken": task["leaseToken"], "output": 1 });
    host.post(&format!("/tasks/{}/complete", task["id"].as_str().unwrap()), done).await;
    let page = page(&host).await;
    let counted = [
        ("abide_runs_started_total{workspace=\"default\",workflow=\"flow\"}", 2.0),
        ("abide_task_attempts_total{workspace=\"default\",handler=\"h\",outcome=\"BROKE\"}", 1.0),
        ("abide_task_attempts_total{workspace=\"default\",handler=\"h\",outcome=\"COMPLETED\"}", 1.0),
        ("abide_durable_calls_total{workspace=\"default\",handler=\"h\",call=\"charge\"}", 1.0),
        (
            "abide_steps_failed_total{workspace=\"default\",workflow=\"flow\",type=\"task\",code=\"BROKE\"}",
            1.0,
        ),
        ("abide_waits_opened_total{kind=\"DELAY\"}", 1.0),
        ("abide_waits_open{workspace=\"default\",kind=\"DELAY\"}", 1.0),
        ("abide_runs{workspace=\"default\",status=\"FAILED\"}", 1.0),
        ("abide_run_duration_seconds_count{workspace=\"default\",workflow=\"flow\",status=\"FAILED\"}", 1.0),
        ("abide_step_duration_seconds_count{workspace=\"default\",workflow=\"flow\",type=\"task\"}", 2.0),
        ("abide_task_queue_seconds_count{workspace=\"default\",handler=\"h\"}", 2.0),
    ];
    for (name, count) in counted {
        assert_eq!(page.get(name), count, "{name}");
    }
}

#[tokio::test]
async fn work_is_timed_by_the_clock_of_the_engine_apart_from_the_time_in_the_queue() {
    let host = Host::start().await;
    let work = json!({ "type": "task", "name": "work", "handler": "h", "timeout": "1h" });
    host.run_of(json!([work])).await;
    host.pass(3_000).await;
    let poll = json!({ "handlers": ["h"], "workerId": "w", "leaseMs": 60_000 });
    let task = host.post("/tasks/poll", poll).await.json["tasks"][0].clone();
    host.pass(20_000).await;
    let done = json!({ "leaseToken": task["leaseToken"], "output": 1 });
    host.post(&format!("/tasks/{}/complete", task["id"].as_str().unwrap()), done).await;
    let page = page(&host).await;
    let of_h = "{workspace=\"default\",handler=\"h\"";
    assert_eq!(page.get(&format!("abide_task_queue_seconds_sum{of_h}}}")), 3.0);
    assert_eq!(page.get(&format!("abide_task_duration_seconds_sum{of_h},outcome=\"COMPLETED\"}}")), 20.0);
    let flow = "{workspace=\"default\",workflow=\"flow\"";
    assert_eq!(page.get(&format!("abide_run_duration_seconds_sum{flow},status=\"COMPLETED\"}}")), 23.0);
}

#[tokio::test]
async fn a_backlog_tells_what_is_ready_and_leased_and_for_how_long_it_has_waited() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "task", "name": "work", "handler": "h" }])).await;
    host.start_run("flow", json!({})).await;
    let poll = json!({ "handlers": ["h"], "workerId": "w", "maxTasks": 1, "leaseMs": 600_000 });
    assert_eq!(host.post("/tasks/poll", poll).await.json["tasks"].as_array().unwrap().len(), 1);
    host.pass(7_000).await;
    let page = page(&host).await;
    let of = |figure: &str| page.get(&format!("abide_tasks_{figure}{{workspace=\"default\",handler=\"h\"}}"));
    assert_eq!((of("ready"), of("leased"), of("backlog")), (1.0, 1.0, 2.0));
    assert_eq!(of("oldest_ready_seconds"), 7.0);
    assert_eq!(page.get("abide_timers_overdue"), 0.0);
}

#[tokio::test]
async fn the_process_and_the_build_are_told() {
    let host = Host::start().await;
    let page = page(&host).await;
    assert!(page.get("process_resident_memory_bytes") > 1e6 && page.get("process_open_fds") > 2.0);
    assert!(page.get("process_start_time_seconds") > 1.6e9);
    let build = page.samples.keys().find(|name| name.starts_with("abide_build_info{")).unwrap();
    assert!(build.contains(env!("CARGO_PKG_VERSION")), "{build}");
}

#[tokio::test]
async fn every_figure_is_in_the_documentation_with_its_kind_and_labels_and_no_other() {
    let host = Host::start().await;
    let retry = json!({ "maxAttempts": 1 });
    host.run_of(json!([{ "type": "task", "name": "work", "handler": "h", "retry": retry }])).await;
    let Page { kinds, labels, .. } = page(&host).await;
    let docs = include_str!("../../../../docs/operating/metrics.md");
    let rows = docs.lines().filter(|line| line.starts_with("| `"));
    let documented: BTreeMap<&str, (&str, Vec<&str>)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let labels = cells[3].split(", ").filter(|label| !label.is_empty());
            (cells[1].trim_matches('`'), (cells[2], labels.map(|label| label.trim_matches('`')).collect()))
        })
        .collect();
    let optional = ["abide_spans_sent", "abide_spans_dropped"];
    let names: BTreeSet<&str> = kinds.keys().map(String::as_str).chain(optional).collect();
    assert_eq!(documented.keys().copied().collect::<BTreeSet<_>>(), names);
    for (family, kind) in &kinds {
        let (documented_kind, documented_labels) = &documented[family.as_str()];
        assert_eq!(documented_kind, kind, "{family}");
        if let Some(labels) = labels.get(family) {
            assert_eq!(documented_labels, labels, "{family}");
        }
    }
}

/// The series that a query names, without the functions, labels and durations around them.
fn series_in(query: &str) -> BTreeSet<&str> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':');
    let names = query.split(|char| !is_part(char));
    names.filter(|name| name.starts_with("abide_") || name.starts_with("process_")).collect()
}

fn expressions<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value.as_str()) {
                    ("expr" | "query", Some(query)) => found.push(query),
                    (_, _) => expressions(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| expressions(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn every_series_that_a_rule_or_a_panel_asks_for_is_exposed() {
    let host = Host::start().await;
    let kinds = page(&host).await.kinds;
    let series: BTreeSet<String> = kinds
        .iter()
        .flat_map(|(family, kind)| {
            let endings = match kind.as_str() {
                "counter" => &["_total"][..],
                "histogram" => &["_bucket", "_sum", "_count"],
                _ => &[""],
            };
            endings.iter().map(move |ending| format!("{family}{ending}"))
        })
        .collect();
    let board: Value = serde_json::from_str(include_str!("../../../../deploy/grafana/abide.json")).unwrap();
    let mut queries = Vec::new();
    expressions(&board, &mut queries);
    assert!(queries.len() > 25, "{} panels and variables ask for something", queries.len());
    let rules = include_str!("../../../../deploy/prometheus/rules.yml");
    // A description may name a command; only rules name series.
    queries.extend(rules.lines().filter(|line| !line.contains("description:")));
    let asked: BTreeSet<&str> = queries.iter().flat_map(|query| series_in(query)).collect();
    let unknown: Vec<_> = asked.iter().filter(|name| !series.contains(**name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(asked.len() > 20, "{asked:?}");
}
