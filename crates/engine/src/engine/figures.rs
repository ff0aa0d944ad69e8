//! What whoever runs the engine watches and what is not counted as it happens: it is looked up when somebody asks, beside the
//! writer wherever the store knows it.

use abide_core::id::WorkspaceId;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Kind;
use abide_store::tasks::TaskQueue;
use abide_store::{Due, LimitFigures, Read, Workspace};
use jiff::Timestamp;

use super::{Engine, WaitCounts};
use crate::error::Error;
use crate::readers::Pool;
use crate::request::Query;

/// What whoever runs the engine watches. Made by [`Engine::figures`].
#[derive(Clone, Copy, Debug)]
pub struct Figures<'e>(pub(super) &'e Engine);

/// Timers whose instant has passed and that have not fired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overdue {
    /// How many, up to the limit that was given.
    pub count: usize,
    /// The instant of the first.
    pub first: Option<Timestamp>,
}

impl Figures<'_> {
    /// How many tasks are ready and leased, by queue, each counted up to `limit`.
    pub async fn task_queues(self, limit: usize) -> Result<Vec<TaskQueue>, Error> {
        if self.0.is_shared
            && let Some(queues) = self.0.readers.read(None, move |store| store.task_queues(limit)).await?
        {
            return Ok(queues);
        }
        self.0.ask(|answer| Query::TaskQueues { answer }).await
    }

    /// Timers of waits and of whole runs that are overdue, in all workspaces, counted up to `limit`.
    pub async fn overdue(self, limit: usize) -> Result<Overdue, Error> {
        let now = self.0.now();
        let timers = self.0.readers.read(None, move |store| store.timers(None, now, limit)).await?;
        Ok(Overdue { count: timers.len(), first: timers.first().map(|timer| timer.at) })
    }

    /// How many runs there are of each status, by workspace.
    pub async fn runs(self) -> Result<Vec<(WorkspaceId, Vec<(RunStatus, u64)>)>, Error> {
        let count = |store: &mut dyn Read| {
            let workspaces = store.workspaces()?;
            let of = |workspace: Workspace| Ok((workspace.id, store.counts(Some(workspace.id))?));
            workspaces.into_iter().map(of).collect::<Result<_, abide_store::Error>>()
        };
        self.0.readers.read(None, count).await
    }

    /// How many waits of each kind are open, by workspace. A kind is counted up to `limit`, for there may be millions.
    pub async fn open_waits(self, limit: usize) -> Result<Vec<(WorkspaceId, WaitCounts)>, Error> {
        let count = move |store: &mut dyn Read| {
            let mut all = Vec::new();
            for workspace in store.workspaces()? {
                let mut open = |kind| Ok((kind, store.open_waits(workspace.id, kind, Due::Ever, limit)?));
                let counts: Result<WaitCounts, abide_store::Error> =
                    Kind::ALL.into_iter().map(&mut open).collect();
                all.push((workspace.id, counts?));
            }
            Ok(all)
        };
        self.0.readers.read(None, count).await
    }

    /// How many have room and wait under each limit, whatever the key: of those for which most wait, at most `limit`.
    pub async fn limits(self, limit: usize) -> Result<Vec<LimitFigures>, Error> {
        self.0.readers.read(None, move |store| store.limit_figures(limit)).await
    }

    /// The connections that read beside the writer, and how busy they are.
    pub fn pools(self) -> Vec<Pool> {
        self.0.readers.pools()
    }
}
