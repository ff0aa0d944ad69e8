//! The rules of the design, each held down by tests that carry its number.

#[path = "scenario/scenario.rs"]
mod scenario;

#[path = "rules/board.rs"]
mod board;
#[path = "rules/cancelling.rs"]
mod cancelling;
#[path = "rules/control_data.rs"]
mod control_data;
#[path = "rules/doors.rs"]
mod doors;
#[path = "rules/either_order.rs"]
mod either_order;
#[path = "rules/fan_out.rs"]
mod fan_out;
#[path = "rules/first_writer.rs"]
mod first_writer;
#[path = "rules/law.rs"]
mod law;
#[path = "rules/leases.rs"]
mod leases;
#[path = "rules/limits.rs"]
mod limits;
#[path = "rules/never_early.rs"]
mod never_early;
#[path = "rules/never_lost.rs"]
mod never_lost;
#[path = "rules/one_transaction.rs"]
mod one_transaction;
#[path = "rules/pausing.rs"]
mod pausing;
#[path = "rules/reading.rs"]
mod reading;
#[path = "rules/refusals.rs"]
mod refusals;
#[path = "rules/steering.rs"]
mod steering;
#[path = "rules/timeouts.rs"]
mod timeouts;
#[path = "rules/versions.rs"]
mod versions;
