//! Schedules: what is started by the clock.

use abide_core::id::{ScheduleId, WorkspaceId};
use abide_core::schedule::Schedule;

use crate::{Error, Page};

/// Finds schedules.
pub trait Schedules: Send {
    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, Error>;

    fn schedule_by_name(&mut self, workspace: WorkspaceId, name: &str) -> Result<Option<Schedule>, Error>;

    /// The schedules of a workspace, by name.
    fn schedules(&mut self, workspace: WorkspaceId, page: &Page<String>) -> Result<Vec<Schedule>, Error>;
}

/// A schedule that was decided on, after all decisions of the batch. Its waits are written with it.
#[derive(Debug)]
pub struct ScheduleWrite<'a> {
    /// The version the first decision was made on; 0 for a new schedule.
    pub based_on: u64,
    pub schedule: &'a Schedule,
    /// Whether the schedule is gone, and its waits with it.
    pub removed: bool,
}
