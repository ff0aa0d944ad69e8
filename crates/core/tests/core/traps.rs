//! How others broke, one test for each: what went wrong elsewhere does not go wrong here. The test's name is the story.

mod links_and_approvals;
mod running;
mod signals_and_events;
mod time;
