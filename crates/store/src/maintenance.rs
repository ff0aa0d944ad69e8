//! Keeping a store whole: looking at every page, copying it, and mending what follows from histories.

use std::path::Path;

use abide_core::id::WorkspaceId;
use abide_core::waitpoint::Waitpoint;

use crate::{Error, Owner};

/// Looks at all there is.
pub trait Maintenance: Send {
    /// Reads every page there is, where a store can, and says what is wrong with those that are damaged.
    fn check_pages(&mut self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    /// Writes a copy of all there is, as of one instant between two commits, to a file that does not exist yet.
    /// Others read and write meanwhile. When it returns `Ok`, the copy is synced to disk.
    fn backup(&mut self, to: &Path) -> Result<(), Error>;
}

/// Mends what follows from other rows.
pub trait WriteMaintenance: Send {
    /// Makes the rows of all waits of a run or a schedule anew, as its history has them.
    fn rewrite_waits(
        &mut self,
        owner: Owner,
        workspace: WorkspaceId,
        waits: &[&Waitpoint],
    ) -> Result<(), Error>;

    /// Adds up what is noted in parts, so that it stays quick to read.
    fn fold(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
