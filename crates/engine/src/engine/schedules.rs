//! The schedules of a workspace: made, changed, listed.

use abide_core::id::ScheduleId;
use abide_core::schedule::Schedule;
use abide_core::waitpoint::Actor;
use abide_store::Page;

use super::WorkspaceHandle;
use crate::error::Error;
use crate::request::Decide;
use crate::schedules::{Ordered, ScheduleOrder};

/// The schedules of a workspace. Made by [`WorkspaceHandle::schedules`].
#[derive(Clone, Copy, Debug)]
pub struct Schedules<'e>(pub(super) WorkspaceHandle<'e>);

impl Schedules<'_> {
    /// Makes a schedule, or changes, pauses, triggers or removes one. Under an idempotency key it is done once.
    pub async fn order(self, order: ScheduleOrder, by: Actor, key: Option<String>) -> Result<Ordered, Error> {
        let WorkspaceHandle { engine, id: workspace } = self.0;
        let order = Box::new(order);
        let request = |answer| Decide::Schedule { workspace, order, by, key, checked: None, answer };
        engine.ask_in(workspace, request).await.map(|ordered| *ordered)
    }

    /// The schedule of this id; `None` if there is none.
    pub async fn get(self, schedule: ScheduleId) -> Result<Option<Schedule>, Error> {
        Ok(self.get_all(vec![schedule]).await?.into_iter().next())
    }

    /// The schedules of these ids, as far as they exist.
    pub async fn get_all(self, schedules: Vec<ScheduleId>) -> Result<Vec<Schedule>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        if schedules.is_empty() {
            return Ok(Vec::new());
        }
        let found = engine.readers.read(Some(id), move |store| {
            let found = schedules.into_iter().filter_map(|schedule| store.schedule(schedule).transpose());
            found.collect::<Result<Vec<_>, _>>()
        });
        Ok(found.await?.into_iter().filter(|schedule| schedule.workspace == id).collect())
    }

    /// The schedule of this name; `None` if there is none.
    pub async fn by_name(self, name: &str) -> Result<Option<Schedule>, Error> {
        let (WorkspaceHandle { engine, id }, name) = (self.0, name.to_owned());
        engine.readers.read(Some(id), move |store| store.schedule_by_name(id, &name)).await
    }

    /// The schedules of the workspace, by name.
    pub async fn list(self, page: Page<String>) -> Result<Vec<Schedule>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.readers.read(Some(id), move |store| store.schedules(id, &page)).await
    }
}
