//! What operators set for limits, in a round: it is committed like every other decision, and the keys of the limit do by it.
//! What is set holds from its commit on, because a commit about a key compares the version that it was decided by.

use std::collections::HashMap;
use std::sync::Arc;

use abide_core::capacity::{LimitSettings, SettingChange};
use abide_core::follow_up::FollowUp;
use abide_core::id::{LimitId, WorkspaceId};
use abide_core::limits;
use abide_core::refusal::Refusal;
use abide_core::waitpoint::Actor;
use abide_store::{LimitPlace, Page, Read, SettingsWrite};

use super::{Decider, Taken};
use crate::error::Error;

/// The keys of a limit are looked at in pages of this size.
const PAGE: usize = 64;
/// How many settings are kept in memory. When there are more, all are forgotten.
const KEPT: usize = 10_000;

/// A request to set something for a limit.
#[derive(Clone, Debug)]
pub struct LimitOrder {
    /// The workflow of the limit; `None`: a limit that all of the workspace share that name it.
    pub workflow: Option<Arc<str>>,
    /// The name of the limit.
    pub name: Arc<str>,
    /// The only key that is meant; `None`: all of them.
    pub key: Option<Arc<str>>,
    /// What is set.
    pub change: SettingChange,
}

/// What is set for a limit, as it was looked at in a round.
pub(crate) struct SettingsDelta {
    settings: LimitSettings,
    /// The version that the change is based on; 0: nothing was set.
    based_on: u64,
}

impl SettingsDelta {
    /// What is set after the round; `None`: nothing.
    fn settings(&self) -> Option<&LimitSettings> {
        Some(&self.settings).filter(|settings| !settings.is_empty())
    }

    /// The write that the round makes of it; `None` if it was set and taken back in one round.
    pub(crate) fn write(&self) -> Option<SettingsWrite<'_>> {
        let SettingsDelta { settings, based_on } = self;
        let removed = settings.is_empty();
        (!(removed && *based_on == 0)).then_some(SettingsWrite { based_on: *based_on, settings, removed })
    }
}

/// What is set for limits, as far as it was looked up. Where others set limits too it may be old: then a commit says so.
#[derive(Default)]
pub(crate) struct KnownSettings(HashMap<LimitId, Option<LimitSettings>>);

impl KnownSettings {
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    fn get(&mut self, store: &mut dyn Read, id: LimitId) -> Result<Option<&LimitSettings>, Error> {
        if self.0.len() >= KEPT {
            self.0.clear();
        }
        let known = match self.0.entry(id) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(unknown) => unknown.insert(store.limit_settings(id)?),
        };
        Ok(known.as_ref())
    }
}

impl Decider<'_> {
    /// What is set for a limit, as it is in this round.
    pub(super) fn settings_of(&mut self, id: LimitId) -> Result<Option<LimitSettings>, Error> {
        if let Some(delta) = self.batch.limit_settings.get(&id) {
            return Ok(delta.settings().cloned());
        }
        if let Some((round, before)) = self.in_flight.find(|before| before.limit_settings.get(&id)) {
            self.batch.depend_on(round);
            return Ok(before.settings().cloned());
        }
        Ok(self.memory.settings.get(self.store, id)?.cloned())
    }

    /// Sets something for a limit. Keys that are idle do by it when somebody asks, and all others soon.
    pub(crate) fn set_limit(
        &mut self,
        workspace: WorkspaceId,
        order: &LimitOrder,
        by: Actor,
    ) -> Result<LimitSettings, Error> {
        let LimitOrder { workflow, name, key, change } = order;
        let id = LimitId::of_settings(workspace, workflow.as_deref(), name);
        let now = self.now;
        let (mut settings, based_on) = match self.settings_of(id)? {
            Some(settings) => (settings.clone(), settings.version),
            None => {
                self.check_settings(workspace)?;
                let version = (self.random.draw() >> 2) | 1;
                let (workflow, name) = (workflow.clone(), Arc::clone(name));
                (LimitSettings::new(workspace, workflow, name, version, by.clone(), now), 0)
            }
        };
        settings.change(key.as_ref(), change, by, now)?;
        settings.version += 1;
        let based_on = self.batch.limit_settings.get(&id).map_or(based_on, |delta| delta.based_on);
        self.batch.limit_settings.insert(id, SettingsDelta { settings: settings.clone(), based_on });
        self.obey_again(&settings);
        let what = FollowUp::ApplySettings {
            settings: id,
            workflow: workflow.clone(),
            name: Arc::clone(name),
            key: key.clone(),
            after: None,
        };
        // Rounds in flight may have made keys that the store does not show yet.
        self.leave(workspace, what);
        self.follow_up();
        Ok(settings)
    }

    fn check_settings(&mut self, workspace: WorkspaceId) -> Result<(), Error> {
        let known = self.store.all_limit_settings(workspace, None, limits::LIMITS_SET)?.len();
        if known >= limits::LIMITS_SET {
            let (limit, actual) = (limits::LIMITS_SET as u64, known as u64 + 1);
            return Err(Refusal::LimitExceeded { what: "the limits with settings", limit, actual }.into());
        }
        Ok(())
    }

    /// Has some keys of a limit do as it is set.
    pub(super) fn apply_settings(
        &mut self,
        stored: &abide_store::StoredFollowUp,
        (workflow, name): (Option<&Arc<str>>, &Arc<str>),
        key: Option<&Arc<str>>,
        after: Option<&(Arc<str>, LimitId)>,
    ) -> Result<Taken, Error> {
        let workspace = stored.workspace;
        if let Some(key) = key {
            self.apply_to(LimitId::of(workspace, workflow.map(|workflow| &**workflow), name, key))?;
            return Ok(Taken::Done);
        }
        let after =
            after.map(|(key, id)| LimitPlace { name: name.to_string(), key: key.to_string(), id: *id });
        let page = self.store.limits(workspace, Some(name), &Page { after, limit: PAGE })?;
        for limit in page.iter().filter(|limit| limit.workflow.as_ref() == workflow) {
            self.apply_to(limit.id)?;
        }
        let Some(last) = page.last().filter(|_| page.len() == PAGE) else { return Ok(Taken::Done) };
        let rest = FollowUp::ApplySettings {
            settings: LimitId::of_settings(workspace, workflow.map(|workflow| &**workflow), name),
            workflow: workflow.cloned(),
            name: Arc::clone(name),
            key: None,
            after: Some((Arc::clone(&last.key), last.id)),
        };
        Ok(self.go_on_later(stored, rest))
    }
}
