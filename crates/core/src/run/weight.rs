//! How much room a run takes in memory, and how to make it take less.

use crate::history::Change;
use crate::json::Json;
use crate::run::{Journalled, MapState, Run, Snapshot, StepState, TaskState};
use crate::waitpoint::{ListensFor, Waitpoint};

/// The memory that a record takes besides its payloads, in bytes: a map or list entry, a name, some instants.
const RECORD_BYTES: usize = 512;

impl Snapshot {
    pub(crate) fn weigh(&mut self, change: &Change) {
        change.payloads(&mut |payload| {
            self.payload_bytes += payload.bytes();
            if payload.is_large() {
                self.large_bytes += payload.bytes();
            }
        });
    }

    /// The memory that the run takes at most, in bytes, as long as nothing of its [large](Snapshot::large_bytes)
    /// payloads is parsed. Estimated from what was ever put into it.
    pub fn weight(&self) -> usize {
        usize::try_from(self.seq)
            .unwrap_or(usize::MAX)
            .saturating_mul(RECORD_BYTES)
            .saturating_add(self.payload_bytes)
    }

    /// The size of the payloads that are kept as text, in bytes. Parsed they take many times as much.
    pub fn large_bytes(&self) -> usize {
        self.large_bytes
    }
}

impl Run {
    /// Drops the parsed form of large payloads.
    pub fn fold(&mut self) {
        let Snapshot { input, state, output, steps, waitpoints, collected, mailbox, .. } = &mut self.snapshot;
        input.fold();
        state.values_mut().for_each(Json::fold);
        output.iter_mut().for_each(Json::fold);
        steps.for_each_mut(|_, step| step.fold());
        waitpoints.for_each_mut(|_, wait| wait.fold());
        collected.for_each_mut(|_, input| input.fold());
        mailbox.for_each_mut(|_, kept| kept.for_each_mut(|_, signal| signal.payload.fold()));
    }
}

impl StepState {
    fn fold(&mut self) {
        self.output.iter_mut().for_each(Json::fold);
        self.task.iter_mut().for_each(|task| task.fold());
        self.map.iter_mut().for_each(|map| map.fold());
    }
}

impl TaskState {
    fn fold(&mut self) {
        self.request.iter_mut().chain(&mut self.checkpoint).for_each(Json::fold);
        self.journal.for_each_mut(|_, entry| match &mut entry.what {
            Journalled::Result(result) => result.fold(),
            Journalled::Wait(_) => {}
        });
    }
}

impl MapState {
    fn fold(&mut self) {
        self.list.fold();
        self.items.for_each_mut(|_, item| item.fold());
    }
}

impl Waitpoint {
    fn fold(&mut self) {
        self.response_to_send.iter_mut().chain(&mut self.resume_payload).for_each(Json::fold);
        match &mut self.listens_for {
            ListensFor::Event(filter) => filter.bound.values_mut().for_each(Json::fold),
            ListensFor::Approval(request) => request.content.fold(),
            ListensFor::Time
            | ListensFor::Signal { .. }
            | ListensFor::Call { .. }
            | ListensFor::Child { .. }
            | ListensFor::Attempt(_)
            | ListensFor::Code(_)
            | ListensFor::Capacity(_)
            | ListensFor::Starts(_) => {}
        }
    }
}
