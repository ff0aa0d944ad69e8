//! Whether everything that was acknowledged is there, once.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use abide_testkit::http::Http;
use jiff::Timestamp;
use serde_json::Value;

use crate::ledger::{Kind, Ledger, Started};
use crate::sleepers;

/// What was looked at.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    runs: usize,
    records: usize,
    sleeps: usize,
    said: usize,
    completions: usize,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { runs, records, sleeps, said, completions } = self;
        write!(
            f,
            "{runs} runs, {said} signals and events, {completions} tasks, {sleeps} sleeps, {records} records: "
        )?;
        f.write_str("none lost, none early, none twice")
    }
}

/// Until no run is left that has not ended.
pub(crate) fn wait_for_all(http: &mut Http, ledger: &Ledger) -> Result<(), String> {
    let mut progress = (Instant::now(), Vec::new());
    loop {
        let open = "/workflow-runs?status=RUNNING,WAITING,PENDING&limit=100";
        let left = http.get(open).map_err(|error| error.to_string())?.body["data"].clone();
        let left = left.as_array().ok_or("no list of runs")?.clone();
        if left.is_empty() {
            return Ok(());
        }
        let ids: Vec<Value> = left.iter().map(|run| run["id"].clone()).collect();
        if ids != progress.1 {
            progress = (Instant::now(), ids);
        }
        if progress.0.elapsed() > Duration::from_secs(300) {
            let stuck = left[0]["id"].as_str().unwrap_or_default();
            let known = ledger.runs().get(stuck).cloned();
            let run = http.get(&format!("/workflow-runs/{stuck}")).map(|answer| answer.body);
            return Err(format!(
                "{} runs do not end, such as {run:?}, of which is known {known:?}",
                left.len()
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Beside the runs of the ledger there are so many others.
pub(crate) fn check(http: &mut Http, ledger: &Ledger, others: usize) -> Seen {
    let runs = ledger.runs();
    let mut seen = Seen { runs: runs.len(), ..Seen::default() };
    for (id, started) in runs.iter() {
        let answer = http.get(&format!("/workflow-runs/{id}")).unwrap();
        assert_eq!(answer.status, 200, "a run that was acknowledged is not there: {}", answer.body);
        assert_eq!(answer.body["status"], "COMPLETED", "{}", answer.body);
        check_steps(&answer.body, started, &mut seen);
        let history = http.get(&format!("/workflow-runs/{id}/events?limit=200")).unwrap().body;
        check_history(history["data"].as_array().unwrap(), started, &mut seen);
    }
    assert_eq!(count(http), runs.len() + others, "every start was acknowledged once, under its own key");
    seen
}

/// All runs that the server knows of.
fn count(http: &mut Http) -> usize {
    let mut count = 0;
    sleepers::each(http, "/workflow-runs", |_| count += 1);
    count
}

fn check_steps(run: &Value, started: &Started, seen: &mut Seen) {
    for step in run["steps"].as_array().unwrap() {
        let name = step["name"].as_str().unwrap();
        if let Some(acknowledged) = started.outputs.get(name) {
            assert_eq!(&step["output"], acknowledged, "of {name} in {run}");
            seen.completions += 1;
        }
        if let Some(said) = started.said.as_ref().filter(|_| matches!(name, "go" | "hear")) {
            assert_eq!(&step["output"], said, "of {name} in {run}");
            seen.said += 1;
        }
    }
}

fn check_history(history: &[Value], started: &Started, seen: &mut Seen) {
    seen.records += history.len();
    let mut due: HashMap<u64, Option<Timestamp>> = HashMap::new();
    let instant = |value: &Value| value.as_str().map(|text| text.parse::<Timestamp>().unwrap());
    let mut times: HashMap<&str, usize> = HashMap::new();
    for (index, record) in history.iter().enumerate() {
        assert_eq!(record["seq"], index as u64 + 1, "{record}");
        let kind = record["type"].as_str().unwrap();
        *times.entry(kind).or_default() += 1;
        for wait in record["opens"].as_array().into_iter().flatten() {
            let fresh = due.insert(wait["number"].as_u64().unwrap(), instant(&wait["resumeAt"]));
            assert_eq!(fresh, None, "a wait that was there already: {record}");
        }
        if kind == "WAIT_RESOLVED" {
            let deadline = due.remove(&record["number"].as_u64().unwrap());
            let deadline = deadline.unwrap_or_else(|| panic!("resolved twice, or never opened: {record}"));
            if let Some(deadline) = deadline {
                assert!(instant(&record["time"]) >= Some(deadline), "early: {record}");
                seen.sleeps += 1;
            }
        }
    }
    let times = |kind: &str| times.get(kind).copied().unwrap_or_default();
    assert_eq!(times("WORKFLOW_COMPLETED"), 1);
    assert_eq!(times("SIGNAL_RECEIVED"), usize::from(started.kind == Kind::Signalled));
    assert_eq!(times("EVENT_MATCHED"), usize::from(started.kind == Kind::Listener), "{history:?}");
    let steps: HashMap<&str, usize> = history
        .iter()
        .filter(|record| record["type"] == "STEP_COMPLETED")
        .fold(HashMap::new(), |mut steps, record| {
            *steps.entry(record["stepName"].as_str().unwrap()).or_default() += 1;
            steps
        });
    assert!(steps.values().all(|times| *times == 1), "a step completed twice: {steps:?}");
}
