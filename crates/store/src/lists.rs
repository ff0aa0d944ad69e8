//! Lists: what narrows them, how far they go, and what they show.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_core::history::DefinitionRef;
use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::row::RowReader;
use crate::tasks::TaskQueue;
use crate::{Error, code};

/// What people look for. A page costs what it shows, and not what there is.
pub trait Lists: Send {
    /// A run as lists show it.
    fn run(&mut self, run: RunId) -> Result<Option<RunSummary>, Error>;

    /// Runs, newest first.
    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error>;

    /// The ids of runs, newest first. Nothing of their histories is read.
    fn run_ids(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunId>, Error> {
        Ok(self.runs(filter, page)?.into_iter().map(|run| run.id).collect())
    }

    /// Where a run belongs, as its row says.
    fn workspace_of(&mut self, run: RunId) -> Result<Option<WorkspaceId>, Error> {
        Ok(self.run(run)?.map(|run| run.workspace))
    }

    /// Waitpoints in due order (those without an instant last).
    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error>;

    /// How many runs there are of each status, in a workspace or in all.
    fn counts(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<(RunStatus, u64)>, Error>;

    /// Runs that are WAITING, the oldest first.
    fn oldest_waiting(&mut self, workspace: WorkspaceId, limit: usize) -> Result<Vec<RunId>, Error>;

    /// How many waits of a kind are open and due then. Counts up to `limit`, for there may be millions.
    fn open_waits(
        &mut self,
        workspace: WorkspaceId,
        kind: Kind,
        due: Due,
        limit: usize,
    ) -> Result<usize, Error>;

    /// How many tasks are ready and leased in each queue, of all workspaces, where the store keeps the tasks: those that are
    /// ready are counted up to `limit` for each workflow, those that are leased up to `limit` in all. `None` where the one
    /// writer of a store keeps its tasks itself.
    fn task_queues(&mut self, limit: usize) -> Result<Option<Vec<TaskQueue>>, Error>;

    /// The bytes that the histories and events of a workspace take.
    fn stored_bytes(&mut self, workspace: WorkspaceId) -> Result<u64, Error>;
}

/// A run's id says when it was created, to within this: ids keep their order when the clock is set back.
const ID_BESIDE_CLOCK: SignedDuration = SignedDuration::from_hours(24);

/// A part of a list: what comes after the cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<C> {
    pub after: Option<C>,
    pub limit: usize,
}

/// Which runs to list; an absent field does not narrow it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFilter {
    /// Absent: those of all workspaces, as the engine itself looks for them.
    pub workspace: Option<WorkspaceId>,
    pub statuses: Vec<RunStatus>,
    pub definition: Option<String>,
    pub version: Option<String>,
    pub tag: Option<String>,
    pub created_from: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    /// Runs with an open wait of this kind.
    pub waits_for: Option<Kind>,
    /// Runs with an open wait for this event id or signal type.
    pub listens_for: Option<String>,
}

impl RunFilter {
    /// Every status that can be on the list; a run that has ended waits for nothing.
    pub(crate) fn possible_statuses(&self) -> BTreeSet<RunStatus> {
        let waits = self.waits_for.is_some() || self.listens_for.is_some();
        let mut statuses: BTreeSet<RunStatus> = self.statuses.iter().copied().collect();
        if statuses.is_empty() {
            statuses.extend(RunStatus::ALL);
        }
        statuses.retain(|status| !(waits && status.has_ended()));
        statuses
    }

    /// Between which ids the page lies: from the first one on, and before the second.
    pub(crate) fn possible_ids(&self, page: &Page<RunId>) -> (Option<RunId>, Option<RunId>) {
        let first_of = |instant: Timestamp| {
            let ms = u128::try_from(instant.as_millisecond()).unwrap_or(0);
            RunId(ms << 80)
        };
        let from = self.created_from.and_then(|from| from.checked_sub(ID_BESIDE_CLOCK).ok());
        let before = self.created_before.and_then(|before| before.checked_add(ID_BESIDE_CLOCK).ok());
        (from.map(first_of), before.map(first_of).into_iter().chain(page.after).min())
    }
}

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    pub id: RunId,
    pub workspace: WorkspaceId,
    pub definition: DefinitionRef,
    pub status: RunStatus,
    pub tags: Vec<Arc<str>>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
}

impl RunSummary {
    /// Of `id, workspace, definition, version, status, tags, created_at`, and `written_at` and `seq` of its last change.
    pub(crate) fn read(row: &impl RowReader) -> Result<RunSummary, Error> {
        Ok(RunSummary {
            id: row.run(0)?,
            workspace: row.workspace(1)?,
            definition: DefinitionRef { name: row.name(2)?.into(), version: row.name(3)?.into() },
            status: row.run_status(4)?,
            tags: row.optional_json(5)?.unwrap_or_default(),
            created_at: row.instant(6)?,
            updated_at: row.instant(7)?,
            version: row.number(8)?,
        })
    }
}

/// Which waitpoints to list; an absent field does not narrow it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitpointFilter {
    /// Absent: those of all workspaces, as the engine itself looks for them.
    pub workspace: Option<WorkspaceId>,
    pub run: Option<RunId>,
    pub kind: Option<Kind>,
    pub status: Option<WaitStatus>,
    pub due_before: Option<Timestamp>,
    pub due_after: Option<Timestamp>,
    /// The event id or signal type it listens for.
    pub listens_for: Option<String>,
}

impl WaitpointFilter {
    /// Every kind that can be on the list: signals and events have names to listen for.
    pub(crate) fn possible_kinds(&self) -> Vec<Kind> {
        match (self.kind, &self.listens_for) {
            (Some(kind), _) => vec![kind],
            (None, Some(_)) => vec![Kind::Signal, Kind::Event],
            (None, None) => Kind::ALL.into(),
        }
    }

    pub(crate) fn possible_statuses(&self) -> Vec<WaitStatus> {
        self.status.map_or_else(|| code::WAIT_STATUSES.into(), |status| vec![status])
    }
}

/// A wait as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitpointSummary {
    pub id: WaitpointId,
    pub workspace: WorkspaceId,
    pub kind: Kind,
    pub status: WaitStatus,
    pub created_at: Timestamp,
    pub resume_at: Option<Timestamp>,
    pub listens_for: Option<String>,
}

/// What is read of a wait, by [`WaitpointSummary::read`].
pub(crate) const WAITPOINTS: &str = "run, number, workspace, kind, status, created_at, resume_at, listens";

impl WaitpointSummary {
    pub(crate) fn read(row: &impl RowReader) -> Result<WaitpointSummary, Error> {
        Ok(WaitpointSummary {
            id: row.run(0)?.waitpoint(row.number(1)?),
            workspace: row.workspace(2)?,
            kind: row.kind(3)?,
            status: row.wait_status(4)?,
            created_at: row.instant(5)?,
            resume_at: row.optional_instant(6)?,
            listens_for: row.optional_name(7)?,
        })
    }
}

/// Which open waits to count by their instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// All, also those without an instant.
    Ever,
    /// Before this.
    Before(Timestamp),
    /// From the first, before the second.
    Between(Timestamp, Timestamp),
}
