//! Starts that come shortly after each other, as one run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One run for all starts of a key that come shortly after each other: it begins when no more have come for a while.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Debounce {
    /// Starts with the same value of this template over `input` belong together; without it, all of the workflow do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub key: Option<String>,
    /// The run begins when no start has come for so long, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub quiet_ms: Option<u64>,
    /// `quietMs` as a duration, such as `30s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<String>,
    /// The run begins so long after the first start at the latest, in milliseconds; ten times `quiet` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub at_most_ms: Option<u64>,
    /// `atMostMs` as a duration, such as `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<String>,
    /// Whether the run gets the inputs of all starts, as `{"inputs": […]}`. If not, it gets that of the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collect: Option<bool>,
    /// With `collect`: the run begins at once when it has so many inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 10_000))]
    pub size: Option<u32>,
}
