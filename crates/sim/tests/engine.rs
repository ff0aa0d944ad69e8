//! Whole engines under the simulator: seeds that must break no rule, and defects that must be caught.
//!
//! The thousand seeds are the same ones every time, from 0 or from `ABIDE_ENGINE_SEEDS_FIRST`: new ones are met by
//! `abide-sim --engine` and by `scripts/test --long`.

use abide_sim::Report;
use abide_sim::engine::{Defect, Setting, simulate};

/// Seeds per test; the tests run beside each other.
const SEEDS: u64 = 250;
/// The first of the thousand.
const FIRST: &str = "ABIDE_ENGINE_SEEDS_FIRST";
/// Seeds in which a planted defect must show.
const SHOWS_WITHIN: u64 = 60;

fn first() -> u64 {
    match std::env::var(FIRST) {
        Err(_) => 0,
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{FIRST}={text}: {error}")),
    }
}

fn live_through(first: u64, count: u64, nodes: usize) -> Report {
    let mut total = Report::default();
    for seed in first..first + count {
        match simulate(seed, Setting::of(nodes)) {
            Ok(report) => total.add(&report),
            Err(violation) => panic!("{violation}"),
        }
    }
    total
}

#[test]
fn no_seed_of_three_nodes_breaks_a_rule_first_third() {
    live_through(first(), SEEDS, 3);
}

#[test]
fn no_seed_of_three_nodes_breaks_a_rule_second_third() {
    live_through(first() + SEEDS, SEEDS, 3);
}

#[test]
fn no_seed_of_three_nodes_breaks_a_rule_last_third() {
    live_through(first() + 2 * SEEDS, SEEDS, 3);
}

#[test]
fn no_seed_of_one_node_breaks_a_rule() {
    live_through(first() + 3 * SEEDS, SEEDS, 1);
}

/// Seeds that once broke a rule, by the number of nodes, with what was wrong then.
const KEPT: [(usize, u64, &str); 11] = [
    (3, 3, "a node that was stopping went on without end"),
    (3, 16, "a round decided on a run as a round in flight had only looked at it"),
    (3, 34, "a node that had not heard of a lease epoch took its task off the board"),
    (3, 149, "a node went on without end while a follow-up waited for its turn behind a commit"),
    (3, 278, "what a commit of which nobody knew had left for later was taken up by nobody"),
    (1, 6, "an event was stored although who waits for it could not be read"),
    (1, 14, "a parent that could not be read was never told of its child"),
    (1, 10183, "a wait timed out after a restart, before an event on its way was known"),
    (1, 10357, "a task that was to wait for other code stayed taken when that could not be committed"),
    (
        1,
        10643,
        "a follow-up that was found before its commit was heard of was done twice, in vain, without end",
    ),
    (1, 182, "the task of a paused run was on no board after a restart"),
];

#[test]
fn no_seed_that_once_broke_a_rule_breaks_it_again() {
    let broken: Vec<String> = KEPT
        .iter()
        .filter_map(|(nodes, seed, was)| {
            Some(format!("{}\nonce: {was}", simulate(*seed, Setting::of(*nodes)).err()?))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}

#[test]
fn the_same_seed_gives_the_same_hash() {
    for nodes in [1, 3] {
        let hash = |seed| simulate(seed, Setting::of(nodes)).map(|report| report.hash).ok();
        assert!(hash(4711).is_some());
        assert_eq!(hash(4711), hash(4711));
        assert_ne!(hash(4711), hash(4712));
    }
}

#[test]
fn nodes_come_in_each_others_way() {
    let total = live_through(0, 20, 3);
    assert!(total.conflicts > 0 && total.crashes > 0, "{total:?}");
}

/// The rule that a planted defect breaks first.
fn caught(defect: Defect) -> String {
    let setting = Setting { defect: Some(defect), ..Setting::of(3) };
    let broken = (0..SHOWS_WITHIN).find_map(|seed| simulate(seed, setting).err());
    broken.unwrap_or_else(|| panic!("{defect:?} is not noticed in {SHOWS_WITHIN} seeds")).rule
}

#[test]
fn a_lease_that_leaks_when_it_is_lost_is_caught() {
    let rule = caught(Defect::LeakedLease);
    assert!(rule.contains("to be done"), "{rule}");
}

#[test]
fn an_effect_that_leaves_before_its_commit_is_caught() {
    let rule = caught(Defect::EarlyEffects);
    assert!(rule.contains("store"), "{rule}");
}

#[test]
fn a_conflict_that_is_decided_on_stale_state_is_caught() {
    let rule = caught(Defect::StaleAfterConflict);
    assert!(rule.contains("nothing will ever move it"), "{rule}");
}

#[test]
fn a_conflict_that_the_store_does_not_refuse_is_caught() {
    let rule = caught(Defect::AcceptedConflict);
    assert!(rule.contains("R2"), "{rule}");
}

#[test]
fn timers_of_a_dead_node_that_are_forgotten_are_caught() {
    let rule = caught(Defect::ForgottenTimers);
    assert!(rule.contains("R4"), "{rule}");
}

#[test]
fn a_recalled_task_that_stays_on_the_board_is_caught() {
    let rule = caught(Defect::Tombstone);
    assert!(rule.contains("to be done: {}"), "{rule}");
}
