//! The same thing asked of everything that a filter finds: some at a time, counting who did it and listing who could not.

use std::future::Future;

use crate::problem::{Problem, ProblemBody};

/// What one request reaches at most; the rest with its cursor.
pub(super) const REACHED: u32 = 10_000;
/// How many are asked at the same time: as many as a round takes well.
const AT_ONCE: usize = 256;
/// Refusals that are listed; the rest is only counted.
const LISTED: usize = 100;

/// What asking many came to.
#[derive(Debug)]
pub(super) struct Tally<T> {
    pub(super) done: usize,
    pub(super) refused: usize,
    /// The first of those that could not, and why.
    pub(super) refusals: Vec<(T, ProblemBody)>,
}

impl<T> Default for Tally<T> {
    fn default() -> Tally<T> {
        Tally { done: 0, refused: 0, refusals: Vec::new() }
    }
}

impl<T: Clone> Tally<T> {
    /// Asks all of them. `ask` answers for each of those it is given, in their order.
    pub(super) async fn of<A>(all: &[T], mut ask: impl FnMut(Vec<T>) -> A) -> Result<Tally<T>, Problem>
    where
        A: Future<Output = Result<Vec<Result<(), Problem>>, Problem>>,
    {
        let mut tally = Tally::default();
        for some in all.chunks(AT_ONCE) {
            for (one, result) in some.iter().zip(ask(some.to_vec()).await?) {
                tally.count(one, result);
            }
        }
        Ok(tally)
    }

    fn count(&mut self, one: &T, result: Result<(), Problem>) {
        match result {
            Ok(()) => self.done += 1,
            Err(problem) => {
                self.refused += 1;
                if self.refusals.len() < LISTED {
                    self.refusals.push((one.clone(), problem.into_body()));
                }
            }
        }
    }
}

/// How many a request reaches that says how many it wants.
pub(super) fn reached(limit: Option<u32>) -> usize {
    usize::try_from(limit.unwrap_or(REACHED)).unwrap_or(usize::MAX)
}
