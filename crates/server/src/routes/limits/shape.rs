//! A limit as it is shown.

use std::sync::Arc;

use abide_core::capacity::{Limit, LimitSettings, Policy, Setting};
use abide_core::definition::Rate;
use abide_core::id::{LimitId, RunId, WaitpointId};
use abide_core::waitpoint::Actor;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// How many may have room or begin.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitRoom")]
pub(super) struct RoomBody {
    /// How many may have room at the same time; null: any number.
    concurrency: Option<u32>,
    /// How many may begin in the time of `perMs`; null: any number.
    rate: Option<u32>,
    per_ms: Option<u64>,
    /// How many may begin at once after a quiet time.
    burst: Option<u32>,
}

impl RoomBody {
    fn of(concurrency: Option<u32>, rate: Option<Rate>) -> RoomBody {
        RoomBody {
            concurrency,
            rate: rate.map(|rate| rate.count),
            per_ms: rate.map(|rate| rate.per.0),
            burst: rate.map(|rate| rate.burst),
        }
    }
}

impl From<Policy> for RoomBody {
    fn from(policy: Policy) -> RoomBody {
        RoomBody::of(policy.concurrency, policy.rate)
    }
}

/// One key of a limit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitKey")]
pub(super) struct LimitBody {
    #[schemars(with = "String")]
    id: LimitId,
    #[schemars(with = "String")]
    name: Arc<str>,
    /// The workflow whose runs share it; null: all of the workspace that name it.
    #[schemars(with = "Option<String>")]
    workflow: Option<Arc<str>>,
    /// Empty where the limit has no keys.
    #[schemars(with = "String")]
    key: Arc<str>,
    /// How many have room.
    used: u32,
    /// How many wait for it.
    waiting: u64,
    /// Since when the longest waits, of those that come next; null if nobody waits.
    oldest: Option<Timestamp>,
    /// Nobody is let in.
    paused: bool,
    /// What holds: what is set at run time, or else what definitions say.
    room: RoomBody,
    /// What definitions say.
    defined: RoomBody,
    /// When the rate lets the next one begin; null: there is room, or somebody gives it back first.
    next_at: Option<Timestamp>,
}

impl LimitBody {
    pub(super) fn of(limit: &Limit, oldest: Option<Timestamp>, now: Timestamp) -> LimitBody {
        LimitBody {
            id: limit.id,
            name: Arc::clone(&limit.name),
            workflow: limit.workflow.clone(),
            key: Arc::clone(&limit.key),
            used: limit.used,
            waiting: limit.waiting,
            oldest,
            paused: limit.setting.paused,
            room: limit.in_force().into(),
            defined: limit.policy.into(),
            next_at: limit.allowed_from(now),
        }
    }
}

/// A limit: its keys, who has room, who waits, and what is set.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitDetail")]
pub(super) struct LimitDetail {
    pub(super) name: String,
    /// Null: all workflows of the workspace that name it share it.
    pub(super) workflow: Option<String>,
    /// Keys that somebody has room under or waits for, those for which most wait first.
    pub(super) keys: Vec<LimitBody>,
    /// Who has room, the longest first; at most 32 are named.
    pub(super) holders: Vec<HolderBody>,
    /// Who waits, the next one first.
    pub(super) line: Vec<WaiterBody>,
    /// What is set at run time; null: nothing.
    pub(super) settings: Option<SettingsBody>,
}

impl LimitDetail {
    /// A limit of which nothing is left.
    pub(super) fn nothing(name: &str, workflow: Option<&str>) -> LimitDetail {
        LimitDetail {
            name: name.to_owned(),
            workflow: workflow.map(str::to_owned),
            keys: Vec::new(),
            holders: Vec::new(),
            line: Vec::new(),
            settings: None,
        }
    }
}

/// A run, or an attempt of one of its steps, that has room.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitHolder")]
pub(super) struct HolderBody {
    #[schemars(with = "String")]
    pub(super) run_id: RunId,
    /// Null: the run itself.
    pub(super) step_name: Option<String>,
    pub(super) since: Timestamp,
}

/// A wait for room.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitWaiter")]
pub(super) struct WaiterBody {
    /// The place in line, from 1.
    pub(super) place: u64,
    #[schemars(with = "String")]
    pub(super) waitpoint_id: WaitpointId,
    #[schemars(with = "String")]
    pub(super) run_id: RunId,
    /// Null: the run itself.
    pub(super) step_name: Option<String>,
    /// 0 to 9. A level counts as much as a minute of waiting.
    pub(super) priority: u8,
    pub(super) since: Timestamp,
}

/// What is set for a limit at run time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitSettings")]
pub(super) struct SettingsBody {
    /// For all keys.
    all: SettingBody,
    /// For single keys, which stand above those for all.
    keys: Vec<KeySettingBody>,
    #[schemars(with = "String")]
    changed_by: Actor,
    changed_at: Timestamp,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitSetting")]
struct SettingBody {
    /// Nobody is let in.
    paused: bool,
    #[serde(flatten)]
    room: RoomBody,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitKeySetting")]
struct KeySettingBody {
    #[schemars(with = "String")]
    key: Arc<str>,
    #[serde(flatten)]
    setting: SettingBody,
}

impl From<&Setting> for SettingBody {
    fn from(setting: &Setting) -> SettingBody {
        SettingBody { paused: setting.paused, room: RoomBody::of(setting.concurrency, setting.rate) }
    }
}

impl From<&LimitSettings> for SettingsBody {
    fn from(settings: &LimitSettings) -> SettingsBody {
        let key = |(key, setting): (&Arc<str>, &Setting)| KeySettingBody {
            key: Arc::clone(key),
            setting: setting.into(),
        };
        SettingsBody {
            all: (&settings.all).into(),
            keys: settings.keys.iter().map(key).collect(),
            changed_by: settings.by.clone(),
            changed_at: settings.at,
        }
    }
}
