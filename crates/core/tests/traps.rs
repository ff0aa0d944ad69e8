//! How others broke, one test for each: what went wrong elsewhere does not go wrong here. The test's name is the story.

#[path = "scenario/scenario.rs"]
mod scenario;

#[path = "traps/links_and_approvals.rs"]
mod links_and_approvals;
#[path = "traps/running.rs"]
mod running;
#[path = "traps/signals_and_events.rs"]
mod signals_and_events;
#[path = "traps/time.rs"]
mod time;
