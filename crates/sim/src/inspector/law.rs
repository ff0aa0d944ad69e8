//! The transition tables once more, as the design has them, so that the core's copy is not checked by itself.

use abide_core::status::{RunStatus, StepStatus};

use crate::world::Check;

const RUN: [(&str, &str); 7] = [
    ("PENDING", "RUNNING CANCELLED"),
    ("RUNNING", "WAITING PAUSED COMPLETED FAILED CANCELLED"),
    ("WAITING", "RUNNING CANCELLED FAILED"),
    ("PAUSED", "RUNNING CANCELLED"),
    ("FAILED", "RUNNING"),
    ("COMPLETED", ""),
    ("CANCELLED", ""),
];

const STEP: [(&str, &str); 7] = [
    ("PENDING", "RUNNING SKIPPED CANCELLED"),
    ("RUNNING", "WAITING COMPLETED FAILED CANCELLED"),
    ("WAITING", "RUNNING COMPLETED FAILED CANCELLED"),
    ("FAILED", "RUNNING"),
    ("COMPLETED", ""),
    ("SKIPPED", ""),
    ("CANCELLED", ""),
];

pub(super) fn run_move(from: RunStatus, to: RunStatus) -> Check {
    check("run", &RUN, &from.to_string(), &to.to_string())
}

pub(super) fn step_move(from: StepStatus, to: StepStatus) -> Check {
    check("step", &STEP, &from.to_string(), &to.to_string())
}

fn check(what: &str, table: &[(&str, &str)], from: &str, to: &str) -> Check {
    let allowed = table.iter().find(|(state, _)| *state == from).map_or("", |(_, next)| next);
    if from == to || allowed.split(' ').any(|state| state == to) {
        Ok(())
    } else {
        Err(format!("R10: a {what} went from {from} to {to}"))
    }
}
