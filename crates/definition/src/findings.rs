//! What a check has found so far. Bounded, so that a hostile document does not make a report larger than itself.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use super::{Checked, Definition};
use crate::limits;
use crate::problem::{Code, Problem};
use crate::time::Millis;

/// Problems listed for one document; the rest is only mentioned.
pub const PROBLEMS: usize = 1000;
/// The longest text of all problems together: a pointer can be as long as the document's longest key.
const PROBLEM_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Findings {
    /// What is longer is a problem.
    max_wait: Millis,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    bytes: usize,
    full: bool,
}

impl Default for Findings {
    fn default() -> Findings {
        Findings::within(limits::WAIT)
    }
}

impl Findings {
    pub(super) fn within(max_wait: Millis) -> Findings {
        Findings { max_wait, problems: Vec::new(), warnings: Vec::new(), bytes: 0, full: false }
    }

    pub(super) fn max_wait(&self) -> Millis {
        self.max_wait
    }

    /// The problem is made only if it is listed: a nearest name takes time to find.
    pub(super) fn problem(&mut self, make: impl FnOnce() -> Problem) {
        if self.full {
            return;
        }
        if self.problems.len() == PROBLEMS || self.bytes > PROBLEM_BYTES {
            self.full = true;
            let message = "there are more problems than are listed";
            self.problems.push(Problem::new("", Code::LimitExceeded, message));
            return;
        }
        let problem = make();
        self.bytes += problem.pointer.len() + problem.message.len();
        self.problems.push(problem);
    }

    pub(super) fn warning(&mut self, make: impl FnOnce() -> Problem) {
        if self.warnings.len() < PROBLEMS {
            self.warnings.push(make());
        }
    }

    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by(by_place);
        self.problems
    }

    /// The problems and the warnings that were found.
    pub(super) fn into_both(self) -> (Vec<Problem>, Vec<Problem>) {
        (self.problems, self.warnings)
    }

    pub(super) fn are_good(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn are_full(&self) -> bool {
        self.full
    }

    /// Of the problems from `start` on, keeps those of which the same was not said before.
    pub(super) fn forget_repeats(&mut self, start: usize) {
        let later = self.problems.split_off(start);
        let said: HashSet<(String, Code)> =
            self.problems.iter().map(|problem| (problem.pointer.clone(), problem.code)).collect();
        self.problems.extend(
            later.into_iter().filter(|problem| !said.contains(&(problem.pointer.clone(), problem.code))),
        );
    }

    pub(super) fn approve(mut self, definition: Definition) -> Checked {
        self.warnings.sort_by(by_place);
        Checked { definition, warnings: self.warnings }
    }

    pub(super) fn reject(mut self) -> Rejected {
        self.problems.sort_by(by_place);
        self.warnings.sort_by(by_place);
        Rejected { problems: self.problems, warnings: self.warnings }
    }
}

/// From the top of the document to its end: `/steps/9` before `/steps/10`.
fn by_place(a: &Problem, b: &Problem) -> std::cmp::Ordering {
    fn segments(pointer: &str) -> impl Iterator<Item = (usize, &str)> {
        pointer.split('/').map(|segment| (segment.parse().unwrap_or(0), segment))
    }
    segments(&a.pointer).cmp(segments(&b.pointer))
}

/// A piece of the document in a message: in quotes, and cut where it is too long to be read.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN_CHARS: usize = 80;
    match text.char_indices().nth(SHOWN_CHARS) {
        None => format!("`{text}`"),
        Some((end, _)) => format!("`{}…`", &text[..end]),
    }
}

/// A document that is not a definition, with everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

impl Rejected {
    pub(super) fn one(problem: Problem) -> Rejected {
        Rejected { problems: vec![problem], warnings: Vec::new() }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        write!(f, "{count} problem{}", if count == 1 { "" } else { "s" })?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}

impl std::error::Error for Rejected {}
