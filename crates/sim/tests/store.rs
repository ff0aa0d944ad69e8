//! The simulated store does what every store does, as far as engines ask it.

use std::path::{Path, PathBuf};

use abide_sim::engine::store::{Kind, SimStore};
use abide_store::Store;
use abide_store::conformance::Subject;

struct Simulated;

impl Subject for Simulated {
    fn fresh(&mut self) -> Box<dyn Store> {
        Box::new(SimStore::new(Kind::Cluster))
    }

    /// It lives as long as its world.
    fn after_a_crash(&mut self, store: Box<dyn Store>) -> Box<dyn Store> {
        store
    }

    fn directory(&mut self) -> PathBuf {
        unreachable!("the simulated store has no files")
    }

    fn open_backup(&mut self, _: &Path) -> Box<dyn Store> {
        unreachable!("the simulated store has no backups")
    }
}

abide_store::conformance! { Simulated;
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
