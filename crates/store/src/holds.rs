//! What nothing is decided about until somebody lets it go: runs and schedules that are damaged, that took the process down
//! with them, or that somebody wants to stand still.

use abide_core::id::WorkspaceId;
use jiff::Timestamp;

use crate::cluster::NodeId;
use crate::row::RowReader;
use crate::{Error, Page};

pub use abide_core::id::Owner;

/// Finds what is held.
pub trait Holds: Send {
    /// Whether a run or a schedule is held, and why.
    fn held(&mut self, owner: Owner) -> Result<Option<Held>, Error>;

    /// All that is held, in the order of ids, beginning after one.
    fn all_held(&mut self, page: &Page<Owner>) -> Result<Vec<Held>, Error>;
}

/// Holds and releases, and notes what is suspected of taking the process down.
pub trait WriteHolds: Send {
    /// Nothing is decided about it until it is let go. The first reason stands. Says whether it was not held before.
    fn hold(&mut self, held: &Held) -> Result<bool, Error>;

    /// Says whether it was held.
    fn release(&mut self, owner: Owner) -> Result<bool, Error>;

    /// Notes what takes long to decide, so that whoever comes after this process knows what it was at; `None`: it is done.
    /// Of several processes, each has its own note.
    fn note_suspect(&mut self, node: Option<NodeId>, owner: Option<Owner>) -> Result<(), Error>;

    /// What was noted by processes that are gone (all but those that are alive), each counted as one more death in its
    /// middle. What was noted before stays, until it is forgiven.
    fn take_suspects(&mut self, alive: &[NodeId]) -> Result<Vec<Suspect>, Error>;

    /// Forgets how often processes died while they decided about this run or schedule.
    fn forgive(&mut self, owner: Owner) -> Result<(), Error>;
}

/// That it is held, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub owner: Owner,
    /// Where it belongs, if that could be read.
    pub workspace: Option<WorkspaceId>,
    pub at: Timestamp,
    /// The engine, or who asked for it.
    pub by: String,
    pub reason: String,
}

/// What is read of a hold, by [`Held::read`].
pub(crate) const HELD: &str = "SELECT id, workspace, held_at, held_by, reason FROM held";

impl Held {
    pub(crate) fn read(row: &impl RowReader) -> Result<Held, Error> {
        Ok(Held {
            owner: Owner::of(row.run(0)?),
            workspace: row.optional_number(1)?.map(WorkspaceId),
            at: row.instant(2)?,
            by: row.name(3)?,
            reason: row.name(4)?,
        })
    }
}

/// What was decided when a process ended, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub owner: Owner,
    pub deaths: u32,
}

impl Suspect {
    /// Of `id, deaths`.
    pub(crate) fn read(row: &impl RowReader) -> Result<Suspect, Error> {
        Ok(Suspect { owner: Owner::of(row.run(0)?), deaths: row.number(1)? })
    }
}

/// Of a batch that cannot be committed: what of it cannot, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    pub owner: Owner,
    pub why: String,
}
