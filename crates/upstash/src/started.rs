//! What a guest's run was started with: the input of its run.

use abide_core::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::WORKFLOW;
use crate::message::{Body, Headers};
use crate::shared::Shared;

/// What the tag with the client's id begins with.
const ID_TAG: &str = "upstash:";

/// The input of a guest's run, as far as its tags and the version of its workflow do not say it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Started {
    /// The id that the client gave the run: `wfr_…`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) workflow_run_id: String,
    /// The workflow's endpoint.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) url: String,
    /// The headers of the message that started the run: they hold for all its deliveries.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub(crate) headers: Headers,
    /// The initial payload.
    #[serde(default, skip_serializing_if = "Body::is_none")]
    pub(crate) body: Body,
    /// The run that invoked this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) invoker: Option<Value>,
    /// Whether the run was started by somebody who does not know which SDK serves the endpoint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unknown_sdk: bool,
    /// The flow control key that the run is under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) flow: Option<String>,
}

impl Started {
    /// What a run was started with; `None` if it is not a guest's.
    pub(crate) fn of(run: &Run) -> Option<Started> {
        if *run.definition_ref.name != *WORKFLOW {
            return None;
        }
        let mut started: Started = serde_json::from_value(Value::clone(&run.input)).ok()?;
        let Shared { url, headers } = Shared::of(run);
        if started.url.is_empty() {
            started.url = url;
        }
        started.headers = headers.overlaid(&started.headers);
        if started.workflow_run_id.is_empty() {
            let id = run.tags.iter().find_map(|tag| tag.strip_prefix(ID_TAG));
            started.workflow_run_id = id?.to_owned();
        }
        (!started.url.is_empty()).then_some(started)
    }

    /// The labels of the run.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        labels(&self.headers)
    }
}

/// The labels that headers give.
pub(crate) fn labels(headers: &Headers) -> impl Iterator<Item = &str> {
    let labels = headers.get("upstash-label").unwrap_or_default();
    labels.split(',').map(str::trim).filter(|label| !label.is_empty())
}

/// The tag by which a run is found under its client's id.
pub(crate) fn id_tag(workflow_run_id: &str) -> String {
    format!("{ID_TAG}{workflow_run_id}")
}

/// The tag by which the runs of an endpoint are found; its beginning, if it is long.
pub(crate) fn url_tag(url: &str) -> String {
    tag("url", url)
}

/// The tag by which the runs with a label are found.
pub(crate) fn label_tag(label: &str) -> String {
    tag("label", label)
}

/// The tag by which the messages of a queue are found.
pub(crate) fn queue_tag(queue: &str) -> String {
    tag("queue", queue)
}

/// The tag by which the messages to a URL group are found.
pub(crate) fn group_tag(group: &str) -> String {
    tag("group", group)
}

/// The tag by which the messages of a schedule are found.
pub(crate) fn schedule_tag(schedule: &str) -> String {
    tag("schedule", schedule)
}

/// The tag by which runs and messages under a flow control key are found.
pub(crate) fn flow_tag(key: &str) -> String {
    tag("flow", key)
}

fn tag(kind: &str, name: &str) -> String {
    format!("{kind}:{name}").chars().take(abide_core::limits::NAME_CHARS).collect()
}

impl Started {
    pub(crate) fn tags(&self) -> Vec<std::sync::Arc<str>> {
        let mut tags: Vec<std::sync::Arc<str>> =
            vec![id_tag(&self.workflow_run_id).into(), url_tag(&self.url).into()];
        tags.extend(self.flow.as_deref().map(|key| flow_tag(key).into()));
        tags.extend(self.labels().take(LABELS).map(|label| label_tag(label).into()));
        tags
    }
}

/// How many labels of a run can be searched for.
const LABELS: usize = abide_core::limits::TAGS - 3;
