//! A run that is moved to another version is the same run: what has ended stays ended, what waits waits on, and nothing of
//! it begins again.

use std::collections::BTreeMap;
use std::mem::discriminant;

use abide_core::id::StepAddress;
use abide_core::run::{Run, StepState};
use abide_core::status::StepStatus;
use abide_core::waitpoint::Waitpoint;

use super::Watched;
use crate::world::Check;

impl Watched {
    /// Compares the run by the names of its steps, and goes on watching them where they are.
    pub(super) fn moves(&mut self, before: &Run, after: &Run, steps: &[(u16, u16)]) -> Check {
        let broken = |what: String| Err(format!("R13: {} was moved: {what}", before.id));
        if before.status != after.status || before.state != after.state || before.input != after.input {
            return broken(format!("it was {} and is {}, or its data changed", before.status, after.status));
        }
        for (at, state) in before.step_runs().filter(|(_, state)| has_happened(state)) {
            let name = before.step_name(at);
            let there = after.find_step(&name).and_then(|there| Some((there, after.step(there)?)));
            let Some((there, now)) = there else {
                if state.status == StepStatus::Skipped && state.waits.is_empty() {
                    continue;
                }
                return broken(format!("`{name}` is gone"));
            };
            if told(state) != told(now) {
                return broken(format!("`{name}` was {} and is {}", state.status, now.status));
            }
            if discriminant(&before.defined(at).action) != discriminant(&after.defined(there).action) {
                return broken(format!("`{name}` is of another type"));
            }
        }
        let place = |run: &Run, wait: &Waitpoint| wait.at.map(|at| run.step_name(at));
        for (was, is) in before.waitpoints().zip(after.waitpoints()) {
            let kept = Waitpoint { at: was.at, ..is.clone() };
            if kept != *was || place(before, was) != place(after, is) {
                return broken(format!("wait {} is another", was.number));
            }
        }
        if before.waitpoints().len() != after.waitpoints().len() {
            return broken("a wait began or was lost".to_owned());
        }
        self.re_place(&steps.iter().copied().collect());
        Ok(())
    }

    fn re_place(&mut self, steps: &BTreeMap<u16, u16>) {
        let there = |at: StepAddress| Some(StepAddress { step: *steps.get(&at.step)?, ..at });
        for wait in self.waits.values_mut() {
            wait.at = wait.at.and_then(there);
        }
        for (at, _) in self.events_taken.values_mut().flatten() {
            *at = there(*at).unwrap_or(*at);
        }
        fn moved<V>(map: &mut BTreeMap<StepAddress, V>, there: impl Fn(StepAddress) -> Option<StepAddress>) {
            let old = std::mem::take(map);
            map.extend(old.into_iter().filter_map(|(at, value)| Some((there(at)?, value))));
        }
        moved(&mut self.failed_attempts, there);
        moved(&mut self.unfit, there);
        moved(&mut self.recorded, there);
        moved(&mut self.awaited, there);
        moved(&mut self.pinned, there);
        let paid = std::mem::take(&mut self.paid);
        self.paid.extend(paid.into_iter().filter_map(|(at, entry)| Some((there(at)?, entry))));
    }
}

fn has_happened(state: &StepState) -> bool {
    state.status != StepStatus::Pending || !state.waits.is_empty()
}

/// What of a step a move must not change.
fn told(state: &StepState) -> impl PartialEq + '_ {
    let times = (state.started_at, state.ended_at);
    (state.status, state.visit, state.attempt, times, &state.output, &state.error, &state.waits)
}
