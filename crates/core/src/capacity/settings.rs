//! What operators set for limits at run time. It stands above what definitions say until it is removed.
//!
//! The settings of a limit are one aggregate for all of its keys, with a version of its own. Whoever decides on a key says which
//! version that was by, and a commit compares it: what is set holds for everything that is committed after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Policy;
use crate::definition::Rate;
use crate::id::{LimitId, WorkspaceId};
use crate::limits;
use crate::refusal::Refusal;
use crate::waitpoint::Actor;

/// What is set for one key of a limit, or for all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Setting {
    /// How many may have room at the same time; `None`: as the definition says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// How many may begin in a time; `None`: as the definition says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Whether nobody is let in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
}

impl Setting {
    /// Whether nothing is set.
    pub fn is_default(&self) -> bool {
        *self == Setting::default()
    }

    /// How much room there is, with what a definition says.
    pub fn over(&self, policy: Policy) -> Policy {
        Policy { concurrency: self.concurrency.or(policy.concurrency), rate: self.rate.or(policy.rate) }
    }

    /// What holds for a key: its own setting before that for all keys. Who is paused by either is paused.
    fn before(&self, all: &Setting) -> Setting {
        Setting {
            concurrency: self.concurrency.or(all.concurrency),
            rate: self.rate.or(all.rate),
            paused: self.paused || all.paused,
        }
    }
}

/// A change of what is set. What it does not name stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettingChange {
    /// Another concurrency; `Some(None)`: that of the definition.
    pub concurrency: Option<Option<u32>>,
    /// Another rate; `Some(None)`: that of the definition.
    pub rate: Option<Option<Rate>>,
    /// Whether nobody is let in from now on.
    pub paused: Option<bool>,
}

impl SettingChange {
    fn apply(&self, setting: &mut Setting) {
        setting.concurrency = self.concurrency.unwrap_or(setting.concurrency);
        setting.rate = self.rate.unwrap_or(setting.rate);
        setting.paused = self.paused.unwrap_or(setting.paused);
    }
}

/// What is set for a limit and for single keys of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitSettings {
    /// The id, made of the names.
    pub id: LimitId,
    /// The workspace whose runs share the limit.
    pub workspace: WorkspaceId,
    /// The workflow whose runs share it; `None`: all of the workspace that name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Arc<str>>,
    /// The name of the limit.
    pub name: Arc<str>,
    /// The version that a commit compares. It begins at random: settings that are removed and made anew are others.
    pub version: u64,
    /// What is set for all keys.
    #[serde(default, skip_serializing_if = "Setting::is_default")]
    pub all: Setting,
    /// What is set for single keys; at most [`LIMIT_KEYS_SET`](limits::LIMIT_KEYS_SET).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<Arc<str>, Setting>,
    /// Who changed it last.
    pub by: Actor,
    /// The instant of the last change.
    pub at: Timestamp,
}

impl LimitSettings {
    /// Settings of a limit for which nothing is set yet.
    pub fn new(
        workspace: WorkspaceId,
        workflow: Option<Arc<str>>,
        name: Arc<str>,
        version: u64,
        by: Actor,
        at: Timestamp,
    ) -> LimitSettings {
        let id = LimitId::of_settings(workspace, workflow.as_deref(), &name);
        let (all, keys) = (Setting::default(), BTreeMap::new());
        LimitSettings { id, workspace, workflow, name, version, all, keys, by, at }
    }

    /// What holds for a key.
    pub fn of_key(&self, key: &str) -> Setting {
        self.keys.get(key).map_or(self.all, |setting| setting.before(&self.all))
    }

    /// Changes what is set for one key, or for all (`None`).
    pub fn change(
        &mut self,
        key: Option<&Arc<str>>,
        change: &SettingChange,
        by: Actor,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        match key {
            None => change.apply(&mut self.all),
            Some(key) => {
                if !self.keys.contains_key(key) && self.keys.len() >= limits::LIMIT_KEYS_SET {
                    let (limit, actual) = (limits::LIMIT_KEYS_SET as u64, self.keys.len() as u64 + 1);
                    return Err(Refusal::LimitExceeded {
                        what: "the keys of a limit with settings",
                        limit,
                        actual,
                    });
                }
                change.apply(self.keys.entry(Arc::clone(key)).or_default());
                self.keys.retain(|_, setting| !setting.is_default());
            }
        }
        (self.by, self.at) = (by, now);
        Ok(())
    }

    /// Whether nothing is set any more.
    pub fn is_empty(&self) -> bool {
        self.all.is_default() && self.keys.is_empty()
    }
}
