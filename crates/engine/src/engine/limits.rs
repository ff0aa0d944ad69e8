//! The limits of a workspace: who has room, who waits, and what is set at run time.

use abide_core::capacity::{Limit, LimitSettings};
use abide_core::id::LimitId;
use abide_core::waitpoint::Actor;
use abide_store::{Error as StoreError, InLine, LimitPlace, Page, PressurePlace, Read};

use super::WorkspaceHandle;
use crate::error::Error;
use crate::request::Decide;
use crate::round::LimitOrder;

/// How many limits of a workspace may have settings, and are read at once.
const SETTINGS: usize = abide_core::limits::LIMITS_SET;

/// The limits of a workspace. Made by [`WorkspaceHandle::limits`].
#[derive(Clone, Copy, Debug)]
pub struct LimitsHandle<'e>(pub(super) WorkspaceHandle<'e>);

impl LimitsHandle<'_> {
    /// Sets something for a limit, effective from its commit on, on all nodes. Returns all that is set for the limit then.
    pub async fn set(self, order: LimitOrder, by: Actor) -> Result<LimitSettings, Error> {
        let WorkspaceHandle { engine, id: workspace } = self.0;
        let order = Box::new(order);
        let request = |answer| Decide::SetLimit { workspace, order, by, answer };
        engine.ask_in(workspace, request).await.map(|settings| *settings)
    }

    /// The keys of limits that somebody has room under or waits for, by name and key; of one name, or of all.
    pub async fn list(self, name: Option<String>, page: Page<LimitPlace>) -> Result<Vec<Limit>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let read = move |store: &mut dyn Read| {
            let found = store.limits(id, name.as_deref(), &page)?;
            as_set(store, found)
        };
        engine.readers.read(Some(id), read).await
    }

    /// The keys of limits that somebody waits for, those for which most wait first; of one name, or of all.
    pub async fn by_pressure(
        self,
        name: Option<String>,
        page: Page<PressurePlace>,
    ) -> Result<Vec<Limit>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let read = move |store: &mut dyn Read| {
            let found = store.limits_by_pressure(id, name.as_deref(), &page)?;
            as_set(store, found)
        };
        engine.readers.read(Some(id), read).await
    }

    /// One key of a limit of this workspace; `None` if nobody has room under it or waits for it.
    pub async fn get(self, limit: LimitId) -> Result<Option<Limit>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let read = move |store: &mut dyn Read| {
            let found: Vec<Limit> = store.limit(limit)?.into_iter().collect();
            as_set(store, found)
        };
        let found = engine.readers.read(Some(id), read).await?;
        Ok(found.into_iter().find(|limit| limit.workspace == id))
    }

    /// What is set at run time, by name; of one name, or of all.
    pub async fn settings(self, name: Option<String>) -> Result<Vec<LimitSettings>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine
            .readers
            .read(Some(id), move |store| store.all_limit_settings(id, name.as_deref(), SETTINGS))
            .await
    }

    /// The waits that get room next under one key of a limit, in this order, as far as is known now; at most `most`.
    pub async fn next_in_line(self, limit: LimitId, most: usize) -> Result<Vec<InLine>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let read = move |store: &mut dyn Read| match store.limit(limit)? {
            Some(limit) => in_turn(store, &limit, most),
            None => Ok(Vec::new()),
        };
        engine.readers.read(Some(id), read).await
    }

    /// The line of one key of a limit, key by key where they take turns in it, beginning after `after`, at most `most` of it.
    pub async fn line(
        self,
        limit: LimitId,
        after: Option<InLine>,
        most: usize,
    ) -> Result<Vec<InLine>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.readers.read(Some(id), move |store| store.line(limit, after.as_ref(), most)).await
    }
}

/// The waits of a line that come next, in the order in which their groups take turns.
fn in_turn(store: &mut dyn Read, limit: &Limit, most: usize) -> Result<Vec<InLine>, StoreError> {
    let Some(turn) = limit.turn else { return store.line(limit.id, None, most) };
    let mut first = |after: Option<InLine>| -> Result<Option<InLine>, StoreError> {
        Ok(store.line(limit.id, after.as_ref(), 1)?.first().copied())
    };
    let mut line: Vec<InLine> = Vec::new();
    let mut next = first(Some(InLine::after_group(Some(turn).filter(|turn| *turn != LimitId::NO_GROUP))))?;
    let mut has_wrapped = false;
    while line.len() < most {
        match next {
            Some(place) if line.first().is_some_and(|first| has_wrapped && place.group >= first.group) => {
                break;
            }
            Some(place) => {
                line.push(place);
                next = first(Some(InLine::after_group(place.group)))?;
            }
            None if has_wrapped => break,
            None => {
                has_wrapped = true;
                next = first(None)?;
            }
        }
    }
    // The second of each, the third, and so on.
    let mut round = 0..line.len();
    while !round.is_empty() && line.len() < most {
        let end = line.len();
        for index in round {
            let before = line[index];
            let next = first(Some(before))?.filter(|next| next.group == before.group);
            line.extend(next.filter(|_| line.len() < most));
        }
        round = end..line.len();
    }
    Ok(line)
}

/// These limits, with what is set for them.
fn as_set(store: &mut dyn Read, mut limits: Vec<Limit>) -> Result<Vec<Limit>, StoreError> {
    let mut known: std::collections::HashMap<LimitId, Option<LimitSettings>> = Default::default();
    for limit in &mut limits {
        let id = limit.settings_id();
        let settings = match known.entry(id) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(unknown) => unknown.insert(store.limit_settings(id)?),
        };
        limit.obey(settings.as_ref());
    }
    Ok(limits)
}
