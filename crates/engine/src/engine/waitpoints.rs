//! The waitpoints of a workspace: listed, counted, and the validity of their links.

use std::collections::HashMap;

use abide_core::id::WaitpointId;
use abide_core::waitpoint::Kind;
use abide_store::{Due, Page, WaitpointFilter, WaitpointSummary};
use jiff::Timestamp;

use super::WorkspaceHandle;
use crate::error::Error;
use crate::webhooks::{LinkGeneration, revoke_links_of};

/// The waitpoints of a workspace. Made by [`WorkspaceHandle::waitpoints`].
#[derive(Clone, Copy, Debug)]
pub struct Waitpoints<'e>(pub(super) WorkspaceHandle<'e>);

/// How many waits of each kind are open, each counted up to a limit.
pub type WaitCounts = Vec<(Kind, usize)>;

impl Waitpoints<'_> {
    /// The waitpoints that a filter finds, the next due first; those without an instant last.
    pub async fn list(
        self,
        filter: WaitpointFilter,
        page: Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let filter = WaitpointFilter { workspace: Some(id), ..filter };
        engine.readers.read(Some(id), move |store| store.waitpoints(&filter, &page)).await
    }

    /// How many waits of each kind are open, once for each of these spans of time. Each is counted up to `limit`, for
    /// there may be millions.
    pub async fn count_open(self, due: Vec<Due>, limit: usize) -> Result<Vec<WaitCounts>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let count = move |store: &mut dyn abide_store::Read| {
            let mut all = Vec::with_capacity(due.len());
            for due in due {
                let count = |kind| Ok((kind, store.open_waits(id, kind, due, limit)?));
                all.push(
                    Kind::ALL.into_iter().map(count).collect::<Result<WaitCounts, abide_store::Error>>()?,
                );
            }
            Ok(all)
        };
        engine.readers.read(Some(id), count).await
    }

    /// The generation in which links to these waitpoints are valid.
    pub async fn link_generations(
        self,
        waitpoints: Vec<WaitpointId>,
    ) -> Result<HashMap<WaitpointId, LinkGeneration>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let read = engine.readers.look_up(move |store| {
            let of = |waitpoint| Ok((waitpoint, LinkGeneration::read(store, id, waitpoint)?));
            waitpoints.into_iter().map(of).collect::<Result<_, _>>()
        });
        read.await
    }

    /// Revokes all links to a waitpoint that were made before.
    pub async fn revoke_links(self, waitpoint: WaitpointId) -> Result<(), Error> {
        self.0.engine.write(move |store| store.bump_link_generation(waitpoint).map(drop)).await
    }

    /// Revokes all links to the waitpoints of this workspace that were made before.
    pub async fn revoke_all_links(self) -> Result<(), Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.write(move |store| revoke_links_of(store, id)).await
    }
}
