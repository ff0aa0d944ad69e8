//! The resources of the HTTP API: a method for every operation.

mod admin;
mod approvals;
mod definitions;
mod events;
mod limits;
mod runs;
mod schedules;
mod tasks;
mod test_clock;
mod triggers;
mod waitpoints;
mod webhooks;

pub use admin::{Admin, CostQuery};
pub use approvals::Approvals;
pub use definitions::Definitions;
pub use events::Events;
pub use limits::Limits;
pub use runs::Runs;
pub(crate) use runs::has_ended;
pub use schedules::Schedules;
pub use tasks::Tasks;
pub use test_clock::TestClock;
pub use triggers::Triggers;
pub use waitpoints::Waitpoints;
pub use webhooks::Webhooks;
