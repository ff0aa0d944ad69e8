//! `/metrics`: text that a scraper can read, and figures by the names that users gave.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use serde_json::json;

use crate::host::Host;

/// A page of OpenMetrics text, read as strictly as a scraper does.
struct Page {
    /// The kind of each family.
    kinds: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
}

impl Page {
    fn read(text: &str) -> Page {
        let body = text.strip_suffix("# EOF\n").expect("a page ends with its mark");
        let (mut kinds, mut helped) = (BTreeMap::new(), BTreeSet::new());
        let mut samples = BTreeMap::new();
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
                assert_eq!(
                    samples.insert(name.to_owned(), value.parse().unwrap()),
                    None,
                    "{name} comes once"
                );
            }
        }
        Page { kinds, samples }
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
        let count = page.get(&format!("{family}_count"));
        assert_eq!(page.get(&format!("{family}_bucket{{le=\"+Inf\"}}")), count, "{family}");
        assert!(page.get(&format!("{family}_sum")) >= 0.0, "{family}");
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
        ("abide_runs_started_total{workflow=\"flow\"}", 2.0),
        ("abide_task_attempts_total{handler=\"h\",outcome=\"BROKE\"}", 1.0),
        ("abide_task_attempts_total{handler=\"h\",outcome=\"COMPLETED\"}", 1.0),
        ("abide_durable_calls_total{handler=\"h\",call=\"charge\"}", 1.0),
        ("abide_waits_opened_total{kind=\"DELAY\"}", 1.0),
        ("abide_runs{status=\"FAILED\"}", 1.0),
    ];
    for (name, count) in counted {
        assert_eq!(page.get(name), count, "{name}");
    }
    assert!(
        page.samples.keys().any(|name| name.starts_with("abide_runs_failed_total{workflow=\"flow\",code="))
    );
}

#[tokio::test]
async fn every_figure_is_in_the_documentation_and_no_other() {
    let host = Host::start().await;
    let families: BTreeSet<String> = page(&host).await.kinds.into_keys().collect();
    let docs = include_str!("../../../../docs/http.md");
    let section = docs.split("## Metrics\n").nth(1).expect("there is a section on metrics");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let documented: BTreeSet<String> = rows.map(|(name, _)| name.to_owned()).collect();
    let optional = ["abide_spans_sent", "abide_spans_dropped"].map(str::to_owned);
    let families: BTreeSet<String> = families.into_iter().chain(optional).collect();
    assert_eq!(documented, families);
}
