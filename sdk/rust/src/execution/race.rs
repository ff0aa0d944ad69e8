//! An `any` in which branches run: who is over first is recorded before the code goes on, and the others are cancelled.
//!
//! A branch is dropped when it loses, in the middle of whatever it does. Where the handler is re-executed, a branch that
//! lost is replayed up to what it had come to, so that its part of the journal is reached, and stands still there.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::{Deserialize, Serialize};

use super::lane::{Lane, give_up};
use super::{Busy, Call, Execution, Held, read};
use crate::asked::digest;
use crate::branch::Part;
use crate::failure::{Result, TaskError};
use crate::wire::{NewJournalEntry, TaskReportHeartbeat};

/// Longer names are cut, and told apart by a hash.
const NAME_CHARS: usize = 100;

/// What the journal holds of an `any`.
#[derive(Debug, Serialize, Deserialize)]
struct Decision {
    index: usize,
    name: String,
    /// How the winner failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<TaskError>,
    /// The durable calls that the losers had come to.
    #[serde(default)]
    reached: Vec<String>,
    /// The waits of the losers that were open.
    #[serde(default)]
    cancelled: Vec<String>,
}

struct Runner<P> {
    name: String,
    lane: Arc<Lane>,
    /// Until it is over.
    part: Option<P>,
}

impl<P: Part> Runner<P> {
    fn new(part: P, lost: Option<Vec<String>>) -> Runner<P> {
        Runner { name: part.name(), lane: Lane::new(lost), part: Some(part) }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<P::Value>> {
        let Some(part) = &mut self.part else { return Poll::Pending };
        let polled = self.lane.within(|| part.poll(cx));
        if polled.is_ready() {
            self.part = None;
        }
        polled
    }

    fn was_cancelled(&self) -> bool {
        let wait = self.part.as_ref().and_then(Part::opened);
        wait.is_some_and(|wait| wait.is_ok_and(|wait| wait.0.was_cancelled()))
    }
}

impl Execution {
    /// Which of the branches is over first, and what it came to.
    pub(crate) async fn race<P: Part>(&self, branches: Vec<P>) -> Result<(usize, String, P::Value)> {
        let name = race_name(branches.iter().map(Part::name));
        let decided = self.recorded(&name).map(|entry| read::<Decision>(&name, entry.result.clone()));
        match decided.transpose()? {
            Some(decision) => self.replay(&name, decision, branches).await,
            None => self.decide(&name, branches).await,
        }
    }

    async fn decide<P: Part>(&self, name: &str, branches: Vec<P>) -> Result<(usize, String, P::Value)> {
        let mut runners: Vec<_> = branches.into_iter().map(|branch| Runner::new(branch, None)).collect();
        // A wait that somebody cancelled has not come: it is the first only if there is nothing else.
        let all_cancelled = runners.iter().all(Runner::was_cancelled);
        let (index, outcome) = std::future::poll_fn(|cx| {
            for (index, runner) in runners.iter_mut().enumerate() {
                if (all_cancelled || !runner.was_cancelled())
                    && let Poll::Ready(outcome) = runner.poll(cx)
                {
                    return Poll::Ready((index, outcome));
                }
            }
            Poll::Pending
        })
        .await;
        self.locked(|state| state.goes_on())?;
        if Lane::is_lost() {
            // Nothing is decided any more, but each branch comes to what it had recorded.
            let replayed = std::future::poll_fn(|cx| {
                for runner in &mut runners {
                    let _ = runner.poll(cx);
                }
                Poll::<()>::Pending
            });
            replayed.await;
        }
        let _busy = Busy::new(self);
        let mut clear = pin!(self.clear(name));
        let cleared = std::future::poll_fn(|cx| {
            let cleared = clear.as_mut().poll(cx);
            if cleared.is_pending() {
                // They may yet come to what the journal holds; what they come to is of no interest.
                for runner in &mut runners {
                    let _ = runner.poll(cx);
                }
            }
            cleared
        });
        cleared.await?;
        self.ask(name, Call::Run)?;
        let winner = runners.swap_remove(index);
        let reached = runners.iter().flat_map(|loser| loser.lane.reached()).collect();
        let cancelled = self.drop_losers(runners);
        // What is recorded is there at the next attempt, too, which would only go beyond.
        let outcome = outcome.map_err(|error| TaskError { retryable: false, ..error });
        let decision = Decision {
            index,
            name: winner.name,
            error: outcome.as_ref().err().cloned(),
            reached,
            cancelled: cancelled.clone(),
        };
        if outcome.is_err() {
            self.note_branch_failure();
        }
        let result = serde_json::to_value(&decision).expect("a decision is JSON");
        let report = self.take_unsaved();
        let mut report = report.unwrap_or_else(|| TaskReportHeartbeat::new(&self.task.lease_token));
        report.entries.get_or_insert_default().push(NewJournalEntry::new(name).result(result));
        report.cancels.get_or_insert_default().extend(cancelled);
        self.record(report).await?;
        outcome.map(|value| (index, decision.name, value))
    }

    /// Drops the branches, and gives the names of the recorded waits that are not waited for any more.
    fn drop_losers<P>(&self, losers: Vec<Runner<P>>) -> Vec<String> {
        let opened = |execution: &Execution| execution.locked(|state| state.opened.clone());
        let before = opened(self);
        give_up(losers);
        let after = opened(self);
        let closed = before.into_iter().filter(|wait| !after.iter().any(|other| Arc::ptr_eq(other, wait)));
        let open = closed.filter(|wait| wait.known.is_some() && !wait.has_ended());
        open.map(|wait| wait.name.clone()).collect()
    }

    /// The winner comes to the same again, out of the journal; the others come to where they were.
    async fn replay<P: Part>(
        &self,
        name: &str,
        decision: Decision,
        branches: Vec<P>,
    ) -> Result<(usize, String, P::Value)> {
        let Decision { index, name: winner, error, reached, cancelled } = decision;
        let lost = |at| (at != index || error.is_some()).then(|| cancelled.clone());
        let runners = branches.into_iter().enumerate();
        let mut runners: Vec<_> = runners.map(|(at, branch)| Runner::new(branch, lost(at))).collect();
        let mut outcome = None;
        {
            let _held = Held::new(self, name);
            let come_to = std::future::poll_fn(|cx| {
                for (at, runner) in runners.iter_mut().enumerate() {
                    if let Poll::Ready(done) = runner.poll(cx)
                        && at == index
                    {
                        outcome = Some(done);
                    }
                }
                let is_over = outcome.is_some() || error.is_some();
                let missing = self.locked(|state| reached.iter().any(|name| state.unasked.contains(name)));
                if is_over && !missing { Poll::Ready(()) } else { Poll::Pending }
            });
            come_to.await;
        }
        self.ask(name, Call::Run)?;
        give_up(runners);
        let outcome = match (error, outcome) {
            (Some(error), _) => Err(error),
            (None, Some(outcome)) => outcome,
            (None, None) => unreachable!("the winner is over"),
        };
        outcome.map(|value| (index, winner, value)).inspect_err(|_| self.note_branch_failure())
    }
}

/// The name under which the winner is recorded.
fn race_name(names: impl Iterator<Item = String>) -> String {
    let name = format!("any:{}", names.collect::<Vec<_>>().join("|"));
    if name.chars().count() <= NAME_CHARS {
        return name;
    }
    let hash = &digest(&name)[..8];
    let beginning: String = name.chars().take(NAME_CHARS - 1 - hash.len()).collect();
    format!("{beginning}~{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_branches_has_a_name_that_the_journal_takes() {
        let name = |names: &[&str]| race_name(names.iter().map(|name| (*name).to_owned()));
        assert_eq!(name(&["fast", "slow"]), "any:fast|slow");
        let long = "x".repeat(150);
        let (one, other) = (name(&[&long, "a"]), name(&[&long, "b"]));
        assert_eq!((one.chars().count(), other.chars().count()), (NAME_CHARS, NAME_CHARS));
        assert_ne!(one, other);
    }
}
