//! The simulator as a test: seeds that must break no rule, and proof that they get everywhere.
//!
//! The thousand seeds begin at `ABIDE_SIM_FIRST`. The test command sets it to a number that follows from the commit, so
//! that every commit meets worlds that nobody has seen, and the same commit always the same ones.

use abide_sim::{DecisionDefect, Report, simulate, simulate_broken};

/// Seeds per test; the tests run beside each other.
const SEEDS: u64 = 250;
/// The first of the thousand.
const FIRST: &str = "ABIDE_SIM_FIRST";

/// Seeds that once broke a rule, with what was wrong then.
const KEPT: [(u64, &str); 11] = [
    (17807, R5A),
    (26894, R5A),
    (67877, R5A),
    (79808, R5A),
    (81312, R5A),
    (98664, R5A),
    (28421, R5B),
    (1958, DUE),
    (232192, MOVED),
    (622, OVERDUE),
    (2010, OVERDUE),
];
const MOVED: &str =
    "a timer fired before an event was offered to its wait, which somebody had moved meanwhile";
const DUE: &str =
    "an overdue approval that somebody moved, to an instant that was over too, was ended by them";
const OVERDUE: &str =
    "a wait for other code that was moved to an instant that is over was skipped, or ended by another pin";
const R5A: &str = "a signal that came while a wait was overdue was missed when the wait was open again";
const R5B: &str = "an event that came while a wait was overdue was missed when the wait was moved";

#[test]
fn r05_no_seed_that_once_broke_a_rule_breaks_it_again() {
    let broken: Vec<String> = KEPT
        .iter()
        .filter_map(|(seed, was)| Some(format!("{}\nonce: {was}", simulate(*seed).err()?)))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}

fn first() -> u64 {
    match std::env::var(FIRST) {
        Err(_) => 0,
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{FIRST}={text}: {error}")),
    }
}

fn live_through(first: u64) -> Report {
    let mut total = Report::default();
    for seed in first..first + SEEDS {
        match simulate(seed) {
            Ok(report) => total.add(&report),
            Err(violation) => panic!("{violation}"),
        }
    }
    total
}

#[test]
fn no_seed_of_the_first_quarter_breaks_a_rule() {
    live_through(first());
}

#[test]
fn no_seed_of_the_second_quarter_breaks_a_rule() {
    live_through(first() + SEEDS);
}

#[test]
fn no_seed_of_the_third_quarter_breaks_a_rule() {
    live_through(first() + 2 * SEEDS);
}

#[test]
fn no_seed_of_the_last_quarter_breaks_a_rule() {
    live_through(first() + 3 * SEEDS);
}

/// Always the same seeds: what is rare is met by chance, and chance must not decide whether a commit is good.
#[test]
fn every_kind_of_record_and_refusal_is_met() {
    let total = live_through(0);
    let missing: Vec<&str> =
        RECORDS.iter().chain(&REFUSALS).copied().filter(|what| !total.seen.contains_key(*what)).collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
}

/// The rule that a planted defect breaks first.
fn caught(defect: DecisionDefect) -> String {
    let broken = (0..SEEDS).find_map(|seed| simulate_broken(seed, defect).err());
    broken.unwrap_or_else(|| panic!("{defect:?} is not noticed")).rule
}

#[test]
fn one_of_several_waits_that_stays_open_is_caught() {
    let rule = caught(DecisionDefect::OpenLoser);
    assert!(rule.contains("outlives what it belongs to"), "{rule}");
}

#[test]
fn one_winner_too_many_of_several_waits_is_caught() {
    let rule = caught(DecisionDefect::SecondWinner);
    assert!(rule.contains("won by"), "{rule}");
}

#[test]
fn a_loser_of_several_waits_that_is_named_first_is_caught() {
    let rule = caught(DecisionDefect::WrongFirst);
    assert!(rule.contains("names"), "{rule}");
}

#[test]
fn the_same_seed_gives_the_same_hash() {
    let first = simulate(4711).map(|report| report.hash).ok();
    assert!(first.is_some());
    assert_eq!(first, simulate(4711).map(|report| report.hash).ok());
    assert_ne!(first, simulate(4712).map(|report| report.hash).ok());
}

const RECORDS: [&str; 41] = [
    "WORKFLOW_CREATED",
    "WORKFLOW_STARTED",
    "WORKFLOW_PAUSED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_PAUSE_REQUESTED",
    "WORKFLOW_PAUSED_BY_OPERATOR",
    "WORKFLOW_UNPAUSED",
    "WORKFLOW_DEADLINE_PASSED",
    "WORKFLOW_COMPLETED",
    "WORKFLOW_FAILED",
    "WORKFLOW_CANCELLED",
    "WORKFLOW_RETRIED",
    "WORKFLOW_MOVED",
    "STEP_STARTED",
    "STEP_WAITING",
    "STEP_RESUMED",
    "STEP_RETRYING",
    "STEP_HELD_BACK",
    "STEP_COMPLETED",
    "STEP_FAILED",
    "STEP_SKIPPED",
    "STEP_CANCELLED",
    "MAP_STARTED",
    "TASK_STARTED",
    "TASK_PINNED",
    "TASK_UNPINNED",
    "TASK_PAUSED",
    "TASK_REDELIVERED",
    "JOURNAL_RECORDED",
    "CHECKPOINT_SAVED",
    "TASK_LOGGED",
    "EVENT_SENT",
    "WAIT_CREATED",
    "WAIT_RESOLVED",
    "WAIT_RESCHEDULED",
    "SIGNAL_RECEIVED",
    "EVENT_MATCHED",
    "APPROVAL_REQUESTED",
    "APPROVAL_REMINDED",
    "APPROVAL_ESCALATED",
    "APPROVAL_DECIDED",
];

/// Those that chance can bring about; the others are for malformed requests and limits.
const REFUSALS: [&str; 23] = [
    "ALREADY_DECIDED",
    "ALREADY_RESOLVED",
    "CONTENT_CHANGED",
    "EVENT_DOES_NOT_MATCH",
    "JOURNAL_CONFLICT",
    "NOT_AN_APPROVER",
    "NOT_DUE",
    "NO_SUCH_TIMER",
    "PINNED_TO_BUILD",
    "READ_ONLY",
    "RUN_DOES_NOT_FIT",
    "RUN_ENDED",
    "RUN_NOT_FAILED",
    "RUN_NOT_WAITING",
    "SELF_APPROVAL",
    "STALE_LEASE",
    "TASK_ALREADY_TAKEN",
    "UNKNOWN_STEP",
    "WAITPOINT_CANCELLED",
    "WAITPOINT_EXPIRED",
    "WAITPOINT_TIMED_OUT",
    "WRONG_STEP_STATUS",
    "WRONG_WAITPOINT_KIND",
];
