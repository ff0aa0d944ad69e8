//! Limits and their lines: what is kept, and what a commit compares.

use abide_core::capacity::{Limit, LimitSettings};
use abide_core::id::{LimitId, WorkspaceId};
use abide_store::roles::Limits;
use abide_store::{
    Batch, Error, InLine, LIMIT_TIMER, LimitFigures, LimitPlace, LimitWrite, Page, PressurePlace,
    SettingsWrite, StoredTimer,
};

use super::super::defect::Defect;
use super::{SimStore, State};

impl Limits for SimStore {
    fn limit(&mut self, id: LimitId) -> Result<Option<Limit>, Error> {
        Ok(self.read()?.limits.get(&id).cloned())
    }

    fn limits(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<LimitPlace>,
    ) -> Result<Vec<Limit>, Error> {
        let state = self.read()?;
        let mut found: Vec<Limit> = state
            .limits
            .values()
            .filter(|limit| limit.workspace == workspace && name.is_none_or(|name| *limit.name == *name))
            .cloned()
            .collect();
        let place = |limit: &Limit| {
            let LimitPlace { name, key, id } = LimitPlace::of(limit);
            (name, key, id)
        };
        found.sort_by_key(place);
        let after = page.after.as_ref().map(|after| (after.name.clone(), after.key.clone(), after.id));
        found.retain(|limit| after.as_ref().is_none_or(|after| place(limit) > *after));
        found.truncate(page.limit);
        Ok(found)
    }

    fn limits_by_pressure(
        &mut self,
        _: WorkspaceId,
        _: Option<&str>,
        _: &Page<PressurePlace>,
    ) -> Result<Vec<Limit>, Error> {
        super::not_simulated::not_simulated()
    }

    fn limit_figures(&mut self, _: usize) -> Result<Vec<LimitFigures>, Error> {
        super::not_simulated::not_simulated()
    }

    fn limit_settings(&mut self, id: LimitId) -> Result<Option<LimitSettings>, Error> {
        Ok(self.read()?.limit_settings.get(&id).cloned())
    }

    fn all_limit_settings(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        limit: usize,
    ) -> Result<Vec<LimitSettings>, Error> {
        let state = self.read()?;
        let found = state
            .limit_settings
            .values()
            .filter(|set| set.workspace == workspace && name.is_none_or(|name| *set.name == *name));
        Ok(found.take(limit).cloned().collect())
    }

    fn line(&mut self, id: LimitId, after: Option<&InLine>, limit: usize) -> Result<Vec<InLine>, Error> {
        let state = self.read()?;
        let waits = state.runs.values().flat_map(|row| {
            let open = row.run.open_waitpoints();
            open.filter_map(move |wait| {
                let request = wait.listens_for.capacity()?;
                let awaited = request.awaited().filter(|ask| ask.limit == id);
                let group = request.group_in(usize::from(request.line));
                let waitpoint = row.run.waitpoint_id(wait.number);
                let place = |_| InLine { group, rank: request.rank, waitpoint };
                awaited.map(place)
            })
        });
        let mut line: Vec<InLine> = waits.filter(|place| after.is_none_or(|after| place > after)).collect();
        line.sort_unstable();
        if state.defect == Some(Defect::SkippedHead) && line.len() > 1 {
            line.remove(0);
        }
        if state.defect == Some(Defect::EmptyLine) {
            line.clear();
        }
        line.truncate(limit);
        Ok(line)
    }
}

impl State {
    pub(super) fn check_settings(&self, write: &SettingsWrite<'_>) -> Result<(), Error> {
        let version = self.limit_settings.get(&write.settings.id).map_or(0, |stored| stored.version);
        if version == write.based_on { Ok(()) } else { Err(Error::Conflict(write.settings.id.owner().id())) }
    }

    pub(super) fn write_settings(&mut self, write: &SettingsWrite<'_>) {
        if write.removed {
            self.limit_settings.remove(&write.settings.id);
        } else {
            self.limit_settings.insert(write.settings.id, write.settings.clone());
        }
    }

    pub(super) fn check_limit(&self, write: &LimitWrite<'_>, batch: &Batch<'_>) -> Result<(), Error> {
        let version = self.limits.get(&write.limit.id).map_or(0, |stored| stored.version);
        let settings = write.limit.settings_id();
        let with_it = batch.limit_settings.iter().find(|set| set.settings.id == settings);
        let set_by = match with_it {
            Some(set) => {
                if set.removed {
                    0
                } else {
                    set.settings.version
                }
            }
            None => self.limit_settings.get(&settings).map_or(0, |stored| stored.version),
        };
        let is_as_set = set_by == write.limit.set_by || self.defect == Some(Defect::StaleSettings);
        if !is_as_set {
            return Err(Error::Conflict(write.limit.id.owner().id()));
        }
        if version == write.based_on || self.defect == Some(Defect::AcceptedLimitConflict) {
            Ok(())
        } else {
            Err(Error::Conflict(write.limit.id.owner().id()))
        }
    }

    pub(super) fn write_limit(&mut self, write: &LimitWrite<'_>) {
        let id = write.limit.id;
        let timer = |limit: &Limit| {
            let run = id.owner().id();
            limit.due_at.map(|at| StoredTimer { at, run, timer: LIMIT_TIMER })
        };
        if let Some(was) = self.limits.get(&id).and_then(timer) {
            self.timers.remove(&was);
        }
        if write.removed {
            self.limits.remove(&id);
        } else {
            let was = self.limits.get(&id).map_or(0, |was| was.used);
            let mut limit = write.limit.clone();
            if self.defect == Some(Defect::LeakedRoom) {
                limit.used = limit.used.max(was);
            }
            if self.defect == Some(Defect::ForgottenRate) {
                limit.arrival = None;
            }
            if self.defect == Some(Defect::ForgottenTurn) {
                limit.turn = limit.turn.map(|_| LimitId::NO_GROUP);
            }
            self.timers.extend(timer(&limit));
            self.limits.insert(id, limit);
        }
    }
}
