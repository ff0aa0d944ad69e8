//! Which runs a query means: by id, label, endpoint, queue, schedule and time.

use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_engine::stored::{Page, RunFilter, RunSummary};
use jiff::Timestamp;

use super::{Problem, Query};
use crate::Gateway;
use crate::started::{flow_tag, group_tag, id_tag, label_tag, queue_tag, schedule_tag, url_tag};

/// How many runs may be named by one query.
const NAMED: usize = 1_000;
/// How many runs are looked at for one page: what is left is for the next.
const LOOKED_AT: usize = 10_000;
const AT_ONCE: usize = 200;

/// The statuses of runs that are not over.
pub(super) const OPEN: [RunStatus; 4] =
    [RunStatus::Pending, RunStatus::Running, RunStatus::Waiting, RunStatus::Paused];

/// A page of runs, and where the next one begins.
pub(super) struct Selected {
    pub(super) runs: Vec<RunSummary>,
    pub(super) cursor: Option<RunId>,
}

impl Query {
    pub(super) fn cursor(&self) -> Option<RunId> {
        self.get("cursor").and_then(|cursor| cursor.parse().ok())
    }

    fn instant(&self, name: &str) -> Option<Timestamp> {
        self.get(name).and_then(|ms| ms.parse().ok()).and_then(|ms| Timestamp::from_millisecond(ms).ok())
    }
}

/// The newest runs of these workflows that a query means.
pub(super) async fn select(
    gateway: &Gateway,
    query: &Query,
    workflows: &[&str],
    statuses: &[RunStatus],
    limit: usize,
) -> Result<Selected, Problem> {
    let ids: Vec<String> = ["workflowRunIds", "workflowRunId"]
        .into_iter()
        .flat_map(|name| query.all(name))
        .take(NAMED)
        .map(id_tag)
        .collect();
    let labels: Vec<String> = query.all("label").map(label_tag).collect();
    let given = |name: &str, tag: fn(&str) -> String| query.get(name).map(tag);
    let others = [
        given("queueName", queue_tag),
        given("topicName", group_tag),
        given("scheduleId", schedule_tag),
        given("flowControlKey", flow_tag),
    ];
    let others: Vec<String> = others.into_iter().flatten().collect();
    let urls: Vec<String> =
        ["workflowUrl", "url"].into_iter().flat_map(|name| query.all(name)).map(url_tag).collect();
    let is_exact = query.get("workflowUrlExactMatch") == Some("true");
    // Whatever names the fewest runs is what is looked up.
    let tag = match (labels.as_slice(), others.as_slice(), urls.as_slice()) {
        (_, [other, ..], _) => Some(other),
        ([label], _, _) => Some(label),
        ([], [], [url]) if is_exact => Some(url),
        (_, _, _) => None,
    };
    let filter = RunFilter {
        statuses: statuses.to_vec(),
        definition: match workflows {
            [workflow] => Some((*workflow).to_owned()),
            _ => None,
        },
        tag: tag.cloned(),
        created_from: query.instant("fromDate"),
        created_before: query.instant("toDate"),
        ..RunFilter::default()
    };
    let created_at = query.get("workflowCreatedAt").and_then(|ms| ms.parse::<i64>().ok());
    let is_meant = |run: &RunSummary| {
        let has = |wanted: &[String]| {
            wanted.is_empty() || wanted.iter().any(|wanted| run.tags.iter().any(|tag| **tag == **wanted))
        };
        let is_at = urls.is_empty()
            || urls.iter().any(|url| {
                run.tags
                    .iter()
                    .any(|tag| if is_exact { **tag == **url } else { tag.starts_with(url.as_str()) })
            });
        let has_all = others.iter().all(|wanted| run.tags.iter().any(|tag| **tag == **wanted));
        let is_of_then = created_at.is_none_or(|ms| run.created_at.as_millisecond() == ms);
        workflows.contains(&&*run.definition.name) && has(&labels) && has_all && is_at && is_of_then
    };
    let mut selected = Selected { runs: Vec::new(), cursor: None };
    if !ids.is_empty() {
        for id in ids {
            let named = RunFilter { tag: Some(id), ..filter.clone() };
            let runs = gateway.workspace().runs().list(named, Page { after: None, limit: AT_ONCE }).await?;
            selected.runs.extend(runs.into_iter().filter(is_meant));
        }
        selected.runs.truncate(limit);
        return Ok(selected);
    }
    let (mut after, mut looked_at) = (query.cursor(), 0);
    loop {
        let page = Page { after, limit: AT_ONCE };
        let runs = gateway.workspace().runs().list(filter.clone(), page).await?;
        let is_last = runs.len() < AT_ONCE;
        looked_at += runs.len();
        for run in runs {
            after = Some(run.id);
            if is_meant(&run) {
                selected.runs.push(run);
            }
            if selected.runs.len() == limit {
                selected.cursor = after;
                return Ok(selected);
            }
        }
        if is_last {
            return Ok(selected);
        }
        if looked_at >= LOOKED_AT {
            selected.cursor = after;
            return Ok(selected);
        }
    }
}
