//! The rules of the design, each held down by tests that carry its number.

mod board;
mod cancelling;
mod control_data;
mod either_order;
mod fan_out;
mod first_writer;
mod idempotency;
mod law;
mod leases;
mod limits;
mod never_early;
mod never_lost;
mod one_transaction;
mod pausing;
mod reading;
mod refusals;
mod steering;
mod timeouts;
mod versions;
