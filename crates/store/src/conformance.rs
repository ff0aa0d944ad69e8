//! What every store must do, as tests that any store runs. A store says how it is made and how it looks after a
//! crash, and gets a test for each case:
//!
//! ```ignore
//! abide_store::conformance!(Files::new());
//! ```
//!
//! The runs in here are real ones, decided by the core; no case makes up a history.

pub(crate) mod admin;
mod backup;
mod chance;
mod code_waits;
mod combinations;
mod commits;
pub(crate) mod costs;
mod definitions;
mod event_starts;
mod events;
mod follow_ups;
mod held;
pub(crate) mod lists;
mod retention;
pub(crate) mod schedules;
mod snapshots;
pub(crate) mod story;
mod timers;
pub(crate) mod webhooks;
mod workspaces;

use std::path::{Path, PathBuf};

use crate::Store;

pub use admin::*;
pub use backup::*;
#[cfg(test)]
pub(crate) use chance::stories_of_chance;
pub use chance::*;
pub use code_waits::*;
#[cfg(test)]
pub(crate) use combinations::each_of;
pub use combinations::*;
pub use commits::*;
pub use costs::*;
pub use definitions::*;
pub use event_starts::*;
pub use events::*;
pub use follow_ups::*;
pub use held::*;
pub use lists::*;
pub use retention::*;
pub use schedules::*;
pub use snapshots::*;
pub use timers::*;
pub use webhooks::*;
pub use workspaces::*;

/// A kind of store under test.
pub trait Subject {
    /// A new store with nothing in it.
    fn fresh(&mut self) -> Box<dyn Store>;

    /// The store as the next process finds it when this one is gone without a word.
    fn after_a_crash(&mut self, store: Box<dyn Store>) -> Box<dyn Store>;

    /// A directory with nothing in it.
    fn directory(&mut self) -> PathBuf;

    /// The store that a backup gives.
    fn open_backup(&mut self, backup: &Path) -> Box<dyn Store>;
}

/// A test for each case; with `working:`, for those about what an engine needs to work with runs.
#[macro_export]
macro_rules! conformance {
    ($subject:expr) => {
        $crate::conformance!(working: $subject);
        $crate::conformance! { $subject;
            a_long_run_is_loaded_from_a_snapshot_and_what_came_after
            whoever_knows_a_run_gets_what_is_new_and_nothing_else
            a_snapshot_is_forgotten_with_its_run
            definitions_are_listed_the_last_one_first_page_by_page
            events_are_listed_the_last_one_first_page_by_page
            costs_are_added_up_by_day_workflow_and_model
            an_event_is_heard_in_its_workspace_only
            a_definition_belongs_to_its_workspace
            a_key_is_found_by_its_hash_and_listed_in_its_workspace
            no_two_keys_share_an_id_or_a_hash
            what_is_noted_is_listed_by_workspace_and_a_chain_that_is_whole
            a_key_is_revoked_once_and_its_last_use_goes_forward
            links_have_a_generation_until_their_run_is_forgotten
            a_backup_holds_what_there_was_and_can_be_worked_with
            a_backup_overwrites_nothing
            old_events_are_found_in_their_order_and_forgotten_by_name
            an_event_sent_to_a_run_says_whether_that_is_open_and_goes_when_it_is_not
            old_keys_are_found_in_their_order_and_forgotten_by_name
            the_key_of_a_run_is_not_forgotten_while_that_is_open
            the_oldest_open_run_and_those_that_ended_are_found
            what_the_runs_of_a_definition_may_wait_for_is_kept_with_it
            only_ended_runs_are_forgotten_and_nothing_of_them_is_left
            a_failed_run_that_was_retried_is_not_forgotten
            descendants_are_counted_until_their_root_is_forgotten
            a_webhook_is_what_was_put_last_and_keeps_its_health
            deliveries_are_written_with_the_commit_they_tell_of
            deliveries_are_listed_newest_first_page_by_page
            what_is_due_comes_in_due_order_and_only_to_its_webhook
            an_attempt_counts_once
            a_disabled_webhook_holds_what_it_was_to_be_told
            what_failed_can_be_replayed_one_or_all
            a_removed_webhook_leaves_nothing
            old_deliveries_are_forgotten_unless_they_are_pending
            the_rows_of_waits_are_made_anew
            what_is_stored_is_known_and_less_when_it_is_forgotten
            what_a_process_was_at_when_it_ended_is_counted
        }
    };
    (working: $subject:expr) => {
        $crate::conformance! { $subject;
            what_was_committed_is_there_after_a_crash
            a_run_is_loaded_as_it_was_decided
            a_batch_is_written_whole_or_not_at_all
            a_decision_on_a_run_that_has_moved_on_is_refused
            an_empty_batch_changes_nothing
            ten_thousand_runs_are_all_found_again
            whatever_happens_the_rows_say_what_the_runs_say
            a_definition_is_found_by_version_or_as_the_newest
            a_version_that_is_there_is_not_written_again
            what_is_remembered_is_found_by_its_key
            a_key_keeps_its_first_answer
            timers_come_in_due_order_page_by_page
            a_timer_is_due_at_its_instant_and_not_a_nanosecond_before
            a_timer_follows_its_wait
            the_deadline_of_a_run_is_a_timer_while_it_is_open
            a_deadline_that_was_noted_is_not_a_timer_any_more
            a_deadline_and_a_wait_of_the_same_instant_are_both_found
            a_waiter_is_there_while_its_wait_is_open
            waiters_are_found_whatever_their_event_is_called
            waiters_come_oldest_first_page_by_page
            a_waiter_has_its_filter
            a_wait_for_other_code_is_found_by_every_build_but_the_one_that_left_it
            a_wait_for_other_code_of_a_pinned_task_is_found_by_no_build
            occurrences_come_in_the_order_they_were_received
            occurrences_of_other_events_and_of_earlier_times_are_left_out
            workflows_are_found_by_the_event_that_starts_them_page_by_page
            the_last_start_on_an_event_that_was_refused_is_kept
            runs_are_listed_newest_first_page_by_page
            runs_are_narrowed_by_each_field
            runs_are_narrowed_by_all_fields_together
            runs_that_wait_are_found_be_they_few_or_many
            a_listed_run_is_up_to_date_while_it_works
            waitpoints_are_listed_in_due_order_and_without_an_instant_last
            waitpoints_are_narrowed_by_each_field
            waitpoints_are_narrowed_by_all_fields_together
            runs_are_counted_by_status
            runs_that_wait_are_found_the_oldest_first
            open_waits_are_counted_by_kind_and_instant_up_to_a_limit
            the_default_workspace_is_there_and_others_are_added
            runs_and_waits_are_listed_in_their_workspace
            timers_are_those_of_all_workspaces
            nothing_is_written_to_a_workspace_that_is_not_there
            a_setting_is_what_was_put_last
            a_setting_is_changed_only_from_what_it_was
            a_schedule_is_found_by_its_id_and_its_name
            the_waits_of_a_schedule_are_timers_and_are_listed
            a_schedule_that_was_decided_on_another_version_is_a_conflict
            a_removed_schedule_leaves_nothing
            what_is_to_be_done_is_there_until_it_is_done
            what_somebody_else_has_done_is_a_conflict
            what_is_held_is_found_listed_and_let_go
            of_a_sound_batch_nobody_is_to_blame
        }
    };
    ($subject:expr; $($case:ident)*) => {$(
        #[test]
        fn $case() {
            $crate::conformance::$case(&mut $subject);
        }
    )*};
}
