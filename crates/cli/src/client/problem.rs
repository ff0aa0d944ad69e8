//! The server's no, for people: what it said, and what would help.

use std::fmt::Write;

use abide_sdk::wire::{Finding, Problem};

/// What the server said, everything that was wrong, what was decided already, and what to do about it.
pub(crate) fn explained(problem: &Problem) -> String {
    let mut said = format!("{} [{}]", problem.detail, problem.code);
    if problem.problems.len() > 1 {
        said.extend(problem.problems.iter().map(|finding| format!("\n  {}", found(finding))));
    }
    let outcome = &problem.outcome;
    if let (Some(status), Some(by)) = (outcome["status"].as_str(), outcome["resolvedBy"].as_str()) {
        let at = outcome["resolvedAt"].as_str().unwrap_or_default();
        let _ = write!(said, "\n{status} by {by} at {at}");
        if !outcome["payload"].is_null() {
            let _ = write!(said, ": {}", outcome["payload"]);
        }
    }
    said.push_str(match problem.code.as_str() {
        "UNAUTHENTICATED" => "\nGive a key with --key or ABIDE_API_KEY; `abide keys make` makes one.",
        "UNKNOWN_DEFINITION" => {
            "\n`abide deploy FILE` stores a workflow; the page of the server lists those that are stored."
        }
        _ => "",
    });
    said
}

fn found(finding: &Finding) -> String {
    let mut said = format!("{}: {} [{}]", finding.pointer, finding.message, finding.code);
    if let Some(expected) = &finding.expected {
        let _ = write!(said, "; expected {expected}");
    }
    if let Some(nearest) = &finding.nearest {
        let _ = write!(said, "; did you mean `{nearest}`?");
    }
    said
}
