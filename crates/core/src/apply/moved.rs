//! What a move to another version does: each step run keeps what has happened to it, under its address in the new
//! definition.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::apply::BadHistory;
use crate::definition::{Definition, Order};
use crate::history::{DefinitionRef, Record};
use crate::id::StepAddress;
use crate::run::{PastVersion, Run, StepState};
use crate::status::StepStatus;

impl Run {
    pub(super) fn moved(
        &mut self,
        record: &Record,
        to: (&DefinitionRef, Arc<Definition>),
        steps: &[(u16, u16)],
        not_taken: &[u16],
        awaits_more: bool,
    ) -> Result<(), BadHistory> {
        let (to, definition) = to;
        let places: BTreeMap<u16, u16> = steps.iter().copied().collect();
        let last = definition.steps.len();
        if places.values().chain(not_taken).any(|step| usize::from(*step) >= last) {
            return Err(BadHistory::Unknown("a step of the version it is moved to"));
        }
        let snapshot = &mut self.snapshot;
        let from = std::mem::replace(&mut snapshot.definition_ref, to.clone());
        snapshot.past_versions.push(PastVersion { until: record.seq, definition: from });
        if awaits_more {
            snapshot.awaits_since = Some(record.at);
        }
        self.definition = definition;
        self.re_place(&places)?;
        self.count_anew(not_taken);
        Ok(())
    }

    fn re_place(&mut self, places: &BTreeMap<u16, u16>) -> Result<(), BadHistory> {
        let snapshot = &mut self.snapshot;
        let there = |at: StepAddress| places.get(&at.step).map(|step| StepAddress { step: *step, ..at });
        let mut is_gone = false;
        let mut re_place = |at: &mut StepAddress| match there(*at) {
            Some(there) => *at = there,
            None => is_gone = true,
        };
        snapshot.waitpoints.for_each_mut(|_, wait| wait.at.iter_mut().for_each(&mut re_place));
        snapshot.taken.for_each_mut(|_, takings| {
            takings.iter_mut().for_each(|taking| re_place(&mut taking.at));
            takings.sort_by_key(|taking| taking.at);
        });
        snapshot.rooms.iter_mut().flat_map(|held| &mut held.at).for_each(&mut re_place);
        snapshot.call_rooms.iter_mut().for_each(|held| re_place(&mut held.at));
        if is_gone {
            return Err(BadHistory::Unknown("a step that the version it is moved to does not have"));
        }
        snapshot.last_output = snapshot.last_output.and_then(|step| places.get(&step).copied());
        let steps = std::mem::take(&mut snapshot.steps);
        snapshot.steps = steps
            .iter()
            .filter_map(|(step, state)| Some((*places.get(step)?, state.clone())))
            .map(|(step, state)| {
                (step, StepState { settled_before: 0, taken_before: 0, untaken: false, ..state })
            })
            .collect();
        // What has not begun is held anew, if it is its turn.
        let held = std::mem::take(&mut snapshot.held).into_iter().filter_map(there);
        let held: Vec<StepAddress> = held.filter(|at| self.step_status(*at) != StepStatus::Pending).collect();
        self.snapshot.held = held.into_iter().collect();
        Ok(())
    }

    /// Recounts settled and taken steps by the new definition.
    fn count_anew(&mut self, not_taken: &[u16]) {
        let definition = Arc::clone(&self.definition);
        let snapshot = &mut self.snapshot;
        snapshot.settled = snapshot.steps.values().filter(|state| state.status.is_settled()).count();
        let lease_epochs =
            snapshot.step_runs().filter_map(|(_, state)| Some(state.task.as_ref()?.lease_epoch));
        let last = lease_epochs.max().unwrap_or(0).max(snapshot.deliveries_before);
        // A report for a place of the old version is not one for what is there in the new one.
        snapshot.deliveries_before = last;
        let renew = |state: &mut StepState| state.task.iter_mut().for_each(|task| task.lease_epoch = last);
        snapshot.steps.for_each_mut(|_, state| {
            renew(state);
            state.map.iter_mut().for_each(|map| map.items.for_each_mut(|_, item| renew(item)));
        });
        if definition.order == Order::Sequence {
            return;
        }
        let ended: Vec<(u16, StepStatus)> =
            snapshot.steps.iter().map(|(step, state)| (*step, state.status)).collect();
        for (step, status) in ended.into_iter().filter(|(_, status)| status.is_settled()) {
            for after in &definition.step(step).before {
                let after = snapshot.steps.get_or_default(*after);
                after.settled_before += 1;
                after.taken_before += u16::from(status == StepStatus::Completed);
            }
        }
        for untaken in not_taken {
            snapshot.steps.get_or_default(*untaken).untaken = true;
        }
    }
}
