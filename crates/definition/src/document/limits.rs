//! Limits: how many runs of a workflow, or attempts of a step, may be at work at once, and how many may begin in a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OnTimeout;

/// A limit: room for so many at once (`concurrency`), so many in a time (`rate`), or both. Who finds no room waits for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    /// What the limit is called. With `scope: workspace`, all workflows that name it share it.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// Each value of this template has room of its own, such as `{{ input.account }}`; without it, all share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub key: Option<String>,
    /// `workflow` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<LimitScope>,
    /// How many may have room at the same time, for each key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub concurrency: Option<u32>,
    /// How long room is kept; `work` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<Holds>,
    /// What becomes of one that finds no room; `queue` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_full: Option<WhenFull>,
    /// How many may begin in the time of `per`, for each key. They are spaced evenly, but for a `burst`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub rate: Option<u32>,
    /// The time that `rate` is about, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub per_ms: Option<u64>,
    /// `perMs` as a duration, such as `1m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// How many may begin at once after a quiet time; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub burst: Option<u32>,
    /// How long room is waited for at most, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// `timeoutMs` as a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What happens then; `fail` if absent. A whole run can only fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// Who shares a limit of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitScope {
    /// The versions of this workflow.
    #[default]
    Workflow,
    /// All workflows of the workspace that name it.
    Workspace,
}

/// How long room under a limit is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// While there is work: what waits gives its room back, and queues for it again when it goes on.
    #[default]
    Work,
    /// Until the end, however long it waits.
    Run,
}

/// What becomes of a run that finds no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// The run waits for room.
    #[default]
    Queue,
    /// The run is cancelled before it begins.
    Skip,
    /// The run takes the place of the one that has had room longest, which is cancelled.
    Replace,
    /// The run is not started, and whoever asked is told so.
    Refuse,
}
