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

/// Worlds whose workflows have limits.
fn limited(nodes: usize) -> Setting {
    Setting { limits: true, ..Setting::of(nodes) }
}

#[test]
fn no_seed_of_three_nodes_with_limits_breaks_a_rule() {
    for seed in first()..first() + SEEDS {
        if let Err(violation) = simulate(seed, limited(3)) {
            panic!("{violation}");
        }
    }
}

#[test]
fn no_seed_of_one_node_with_limits_breaks_a_rule() {
    for seed in first()..first() + SEEDS {
        if let Err(violation) = simulate(seed, limited(1)) {
            panic!("{violation}");
        }
    }
}

/// Worlds in which all workflows share a limit beside one by key, and durable calls have limits.
fn crowded(nodes: usize) -> Setting {
    Setting { crowded: true, ..limited(nodes) }
}

#[test]
fn no_seed_of_three_crowded_nodes_breaks_a_rule() {
    for seed in first()..first() + SEEDS {
        if let Err(violation) = simulate(seed, crowded(3)) {
            panic!("{violation}");
        }
    }
}

#[test]
fn no_seed_of_one_crowded_node_breaks_a_rule() {
    for seed in first()..first() + SEEDS {
        if let Err(violation) = simulate(seed, crowded(1)) {
            panic!("{violation}");
        }
    }
}

/// Seeds of worlds with debounced starts; in these much happens.
const DEBOUNCED_SEEDS: u64 = 80;

/// Worlds with workflows whose starts are debounced.
fn debounced(nodes: usize) -> Setting {
    Setting { debounce: true, ..Setting::of(nodes) }
}

#[test]
fn no_seed_of_three_nodes_with_debounced_starts_breaks_a_rule() {
    for seed in first()..first() + DEBOUNCED_SEEDS {
        if let Err(violation) = simulate(seed, debounced(3)) {
            panic!("{violation}");
        }
    }
}

#[test]
fn no_seed_of_one_node_with_debounced_starts_breaks_a_rule() {
    for seed in first()..first() + DEBOUNCED_SEEDS {
        if let Err(violation) = simulate(seed, debounced(1)) {
            panic!("{violation}");
        }
    }
}

/// The rule about debounced starts that a planted defect breaks first.
fn caught_with_debounce(defect: Defect) -> String {
    let setting = Setting { defect: Some(defect), ..debounced(3) };
    let broken = (0..4 * SHOWS_WITHIN).find_map(|seed| simulate(seed, setting).err());
    broken.unwrap_or_else(|| panic!("{defect:?} is not noticed")).rule
}

#[test]
fn two_nodes_that_each_open_a_run_for_one_key_are_caught() {
    let rule = caught_with_debounce(Defect::AcceptedLimitConflict);
    assert!(rule.contains("one key") || rule.contains("R22"), "{rule}");
}

#[test]
fn a_start_that_is_collected_twice_is_caught() {
    let rule = caught_with_debounce(Defect::ForgottenKeys);
    assert!(rule.contains("twice") || rule.contains("the key"), "{rule}");
}

/// Seeds that once broke a rule, by the number of nodes, with what was wrong then.
const KEPT: [(usize, u64, &str); 17] = [
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
    (1, 156, "a timer fired before an event on its way, because the run could not be read just then"),
    (1, 430, "a notify step whose run could not be read was never done"),
    (1, 793, "a worker that recorded nothing new was told that something was done"),
    (3, 3034647, "an event was refused by a run that another node had moved on since, and lost"),
    (3, 3051743, "the end of a child was refused by a parent that another node had moved on since, and lost"),
    (3, 3063598, "an event was refused by a run that another node had moved on since, and lost"),
];

/// Seeds of worlds with limits that once broke a rule, by the number of nodes, with what was wrong then.
const KEPT_WITH_LIMITS: [(usize, u64, &str); 8] = [
    (1, 64, "nobody got room behind one that could not have it"),
    (1, 153, "a rate forgot what was used, because the clock went back"),
    (3, 184, "a paused run failed at the deadline of its wait for room"),
    (3, 571, "one whose time was over was taken for one that was passed over"),
    (3, 702, "room was not given back under a limit that another node had made anew"),
    (1, 959, "two settings in one commit were taken for one"),
    (3, 1389, "somebody was let in before one who came first"),
    (3, 20155, "room under a key that two nodes made at the same time stayed taken"),
];

#[test]
fn no_seed_with_limits_that_once_broke_a_rule_breaks_it_again() {
    for (nodes, seed, was) in KEPT_WITH_LIMITS {
        if let Err(violation) = simulate(seed, limited(nodes)) {
            panic!("{was}\n{violation}");
        }
    }
}

/// Seeds of crowded worlds that once broke a rule, by the number of nodes, with what was wrong then.
const KEPT_CROWDED: [(usize, u64, &str); 3] = [
    (1, 103, "a durable call that lost a race before it had asked for room took it and kept it"),
    (1, 2270, "a wait that had its turn, went to another line and came back was taken for one that had none"),
    (3, 30, "a durable call that lost a race before it had asked for room took it and kept it"),
];

#[test]
fn no_crowded_seed_that_once_broke_a_rule_breaks_it_again() {
    for (nodes, seed, was) in KEPT_CROWDED {
        if let Err(violation) = simulate(seed, crowded(nodes)) {
            panic!("{was}\n{violation}");
        }
    }
}

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

/// The rule about limits that a planted defect breaks first.
fn caught_with_limits(defect: Defect, nodes: usize) -> String {
    let setting = Setting { defect: Some(defect), ..limited(nodes) };
    let broken = (0..4 * SHOWS_WITHIN).find_map(|seed| simulate(seed, setting).err());
    broken.unwrap_or_else(|| panic!("{defect:?} is not noticed")).rule
}

#[test]
fn r22_room_that_two_nodes_give_is_caught() {
    let rule = caught_with_limits(Defect::AcceptedLimitConflict, 3);
    assert!(rule.contains("R22"), "{rule}");
}

#[test]
fn r22_room_that_leaks_is_caught() {
    let rule = caught_with_limits(Defect::LeakedRoom, 1);
    assert!(rule.contains("R22"), "{rule}");
}

#[test]
fn r22_a_rate_that_forgets_is_caught() {
    let rule = caught_with_limits(Defect::ForgottenRate, 1);
    assert!(rule.contains("`paced`"), "{rule}");
}

#[test]
fn r23_a_line_whose_first_is_passed_over_is_caught() {
    let rule = caught_with_limits(Defect::SkippedHead, 1);
    assert!(rule.contains("R23"), "{rule}");
}

#[test]
fn r23_a_key_that_has_its_turn_again_and_again_is_caught() {
    let setting = Setting { defect: Some(Defect::ForgottenTurn), ..crowded(1) };
    let broken = (0..4 * SHOWS_WITHIN).find_map(|seed| simulate(seed, setting).err());
    let rule = broken.expect("it is noticed").rule;
    assert!(rule.contains("whose key had its turn"), "{rule}");
}

#[test]
fn r22_what_is_set_for_a_limit_and_not_heeded_is_caught() {
    let rule = caught_with_limits(Defect::StaleSettings, 3);
    assert!(rule.contains("R22"), "{rule}");
}

#[test]
fn r23_room_that_is_given_to_nobody_is_caught() {
    let rule = caught_with_limits(Defect::EmptyLine, 1);
    assert!(rule.contains("has room, and nobody gets it"), "{rule}");
}
