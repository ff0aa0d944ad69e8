//! What happens to waitpoints and the mailbox.

use std::sync::Arc;

use crate::apply::BadHistory;
use crate::history::Record;
use crate::id::StepAddress;
use crate::json::Json;
use crate::run::{Journalled, Run, Signal, Taking};
use crate::status::{StepStatus, WaitStatus, transition};
use crate::waitpoint::{ApprovalVote, Kind, ListensFor, TakenEvent, Waitpoint};

impl Run {
    pub(super) fn waitpoint_mut(&mut self, number: u32) -> Result<&mut Waitpoint, BadHistory> {
        self.snapshot.waitpoints.get_mut(&number).ok_or(BadHistory::Unknown("a waitpoint"))
    }

    pub(super) fn wait_created(&mut self, opens: &Waitpoint) -> Result<(), BadHistory> {
        self.begin_collecting(opens);
        self.open_wait(opens)
    }

    pub(super) fn open_wait(&mut self, waitpoint: &Waitpoint) -> Result<(), BadHistory> {
        if usize::try_from(waitpoint.number) != Ok(self.waitpoints.len() + 1) {
            return Err(BadHistory::Unknown("a waitpoint out of order"));
        }
        self.snapshot.waitpoints.insert(waitpoint.number, waitpoint.clone());
        self.snapshot.open.insert(waitpoint.number, ());
        if let ListensFor::Signal { signal_type } = &waitpoint.listens_for {
            let listeners = self.snapshot.listeners.get_or_default(Arc::clone(signal_type));
            listeners.insert(waitpoint.number, ());
        }
        if let Some(at) = waitpoint.at {
            let step = self.step_mut(at)?;
            step.waits.insert(Arc::clone(&waitpoint.name), waitpoint.number);
            let Some(task) = &mut step.task else { return Ok(()) };
            if let Some(mismatch) = waitpoint.code_mismatch() {
                task.unfit = Some(Box::new(mismatch.clone()));
            }
            if !waitpoint.is_beside_the_journal() {
                task.record(&waitpoint.name, Journalled::Wait(waitpoint.number), waitpoint.created_at);
                // Neither a back-off nor a wait for room is progress: a call that always fails would be made for ever.
                if !matches!(waitpoint.kind, Kind::Retry | Kind::Capacity) {
                    self.renew_attempts(at)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the step run waits for its back-off to end.
    pub fn is_backing_off(&self, at: StepAddress) -> bool {
        let awaiting = self.step(at).and_then(|step| step.awaiting.as_ref());
        let number = awaiting.and_then(|awaiting| awaiting.waits.first().copied());
        number.and_then(|number| self.waitpoint(number)).is_some_and(Waitpoint::is_back_off)
    }

    pub(super) fn wait_resolved(
        &mut self,
        record: &Record,
        number: u32,
        status: WaitStatus,
        payload: Option<&Json>,
        signal: Option<u64>,
    ) -> Result<(), BadHistory> {
        let payload = match signal {
            Some(id) => Some(self.take_signal(number, id)?),
            None => payload.cloned(),
        };
        self.close(number)?;
        let waitpoint = self.waitpoint_mut(number)?;
        waitpoint.status = transition(waitpoint.status, status)?;
        waitpoint.resume_payload = payload;
        waitpoint.resolved_by = Some(record.by.clone());
        waitpoint.resolved_at = Some(record.at);
        let Some(at) = waitpoint.at else { return Ok(()) };
        let cancelled = (status == WaitStatus::Cancelled).then(|| waitpoint.clone());
        // A worker says which build it has; an operator lets any try again.
        let any_code = waitpoint.kind == Kind::Code && waitpoint.resume_payload.is_none();
        let step = self.step_mut(at)?;
        if let Some(task) = step.task.as_mut().filter(|_| any_code) {
            task.unfit = None;
        }
        if let Some(cancelled) = cancelled.filter(|_| step.status == StepStatus::Failed) {
            step.cut_off(&cancelled);
        }
        if let Some(awaiting) = &mut step.awaiting
            && awaiting.waits.binary_search(&number).is_ok()
        {
            awaiting.pending -= 1;
        }
        Ok(())
    }

    fn close(&mut self, number: u32) -> Result<(), BadHistory> {
        let waitpoint = self.waitpoint(number).ok_or(BadHistory::Unknown("a waitpoint"))?;
        if let ListensFor::Signal { signal_type } = &waitpoint.listens_for {
            let signal_type = Arc::clone(signal_type);
            if let Some(listeners) = self.snapshot.listeners.get_mut(&signal_type) {
                listeners.remove(&number);
                if listeners.is_empty() {
                    self.snapshot.listeners.remove(&signal_type);
                }
            }
        }
        self.snapshot.open.remove(&number);
        Ok(())
    }

    fn take_signal(&mut self, number: u32, id: u64) -> Result<Json, BadHistory> {
        let unknown = BadHistory::Unknown("a signal");
        let waitpoint = self.waitpoint(number).ok_or(BadHistory::Unknown("a waitpoint"))?;
        let ListensFor::Signal { signal_type } = &waitpoint.listens_for else { return Err(unknown) };
        let signal_type = Arc::clone(signal_type);
        let kept = self.snapshot.mailbox.get_mut(&signal_type).ok_or_else(|| unknown.clone())?;
        let signal = kept.pop_first().filter(|(first, _)| *first == id).ok_or(unknown)?.1;
        if kept.is_empty() {
            self.snapshot.mailbox.remove(&signal_type);
        }
        self.snapshot.signals_kept -= 1;
        self.snapshot.mailbox_bytes -= signal.payload.bytes();
        Ok(signal.payload)
    }

    pub(super) fn signal_received(
        &mut self,
        record: &Record,
        id: u64,
        signal_type: &Arc<str>,
        payload: &Json,
    ) -> Result<(), BadHistory> {
        let signal = Signal {
            id,
            signal_type: Arc::clone(signal_type),
            payload: payload.clone(),
            received_at: record.at,
            by: record.by.clone(),
        };
        self.snapshot.mailbox.get_or_default(Arc::clone(signal_type)).insert(id, signal);
        self.snapshot.signals_received = id;
        self.snapshot.signals_kept += 1;
        self.snapshot.mailbox_bytes += payload.bytes();
        Ok(())
    }

    pub(super) fn event_matched(&mut self, number: u32, event: TakenEvent) -> Result<(), BadHistory> {
        let waits = u32::try_from(self.waitpoints.len()).unwrap_or(u32::MAX);
        let waitpoint = self.waitpoint_mut(number)?;
        waitpoint.event = Some(event);
        // What stands beside the whole run takes nothing from its steps.
        let Some(at) = waitpoint.at else { return Ok(()) };
        let takings = self.snapshot.taken.get_or_default(event.id);
        // The first wait of a place to take it is the one that those after it are compared with.
        if let Err(index) = takings.binary_search_by_key(&at, |taking| taking.at) {
            takings.insert(index, Taking { at, waits });
        }
        Ok(())
    }

    pub(super) fn approval_escalated(
        &mut self,
        number: u32,
        approvers: &[Arc<str>],
    ) -> Result<(), BadHistory> {
        let waitpoint = self.waitpoint_mut(number)?;
        let ListensFor::Approval(request) = &mut waitpoint.listens_for else {
            return Err(BadHistory::Unknown("an approval"));
        };
        for approver in approvers {
            if !request.approvers.contains(approver) {
                request.approvers.push(Arc::clone(approver));
            }
        }
        Ok(())
    }

    pub(super) fn approval_decided(
        &mut self,
        number: u32,
        vote: ApprovalVote,
        edited_content: Option<&Json>,
    ) -> Result<(), BadHistory> {
        let waitpoint = self.waitpoint_mut(number)?;
        let ListensFor::Approval(request) = &mut waitpoint.listens_for else {
            return Err(BadHistory::Unknown("an approval"));
        };
        if let Some(content) = edited_content {
            // What was decided about other content does not count for this.
            request.content = content.clone();
            request.decisions.clear();
        }
        request.decisions.push(vote);
        Ok(())
    }
}
