//! The fold: what each recorded change does to a run. Used live, by every decision, and when a history is
//! replayed; there is no other way to change a run. It decides nothing: a change says all there is to know.

mod capacity;
mod debounce;
mod moved;
mod step;
mod task;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::definition::Definition;
use crate::history::{Change, Creation, Failure, LogLine, Record};
use crate::json::Json;
use crate::limits;
use crate::run::{Pin, Run, Snapshot};
use crate::shared_map::SharedMap;
use crate::spent::Spent;
use crate::status::{IllegalMove, RunStatus, transition};
use crate::waitpoint::{ApprovalVote, TakenEvent};

/// Why a record cannot follow the run it is applied to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHistory {
    /// The record would make a transition that the tables forbid.
    #[error(transparent)]
    IllegalMove(#[from] IllegalMove),
    /// Records are missing, or one comes twice.
    #[error("record {found} follows record {last}")]
    Gap {
        /// The number of the run's last record.
        last: u64,
        /// The number of the record that was applied.
        found: u64,
    },
    /// The history does not begin with `WORKFLOW_CREATED`, or has it a second time.
    #[error("a history begins with WORKFLOW_CREATED, and has it once")]
    NotCreated,
    /// The record names a step, a waitpoint or a signal that the run does not have; says which kind of thing.
    #[error("the record names {0}, which the run does not have")]
    Unknown(&'static str),
    /// The definition of this version, which the run was moved to, was not handed in.
    #[error("the run was moved to version {0}, which is not at hand")]
    UnknownVersion(Arc<str>),
}

impl Run {
    /// The run that a whole history gives, if it was never moved to another version.
    pub fn replay<'a>(
        definition: Arc<Definition>,
        history: impl IntoIterator<Item = &'a Record>,
    ) -> Result<Run, BadHistory> {
        Run::replay_with(definition, &[], history)
    }

    /// The run that a whole history gives: with the definition that it began with, and those that it was moved to.
    pub fn replay_with<'a>(
        definition: Arc<Definition>,
        moved_to: &[Arc<Definition>],
        history: impl IntoIterator<Item = &'a Record>,
    ) -> Result<Run, BadHistory> {
        let mut history = history.into_iter();
        let mut run = Run::created(definition, history.next().ok_or(BadHistory::NotCreated)?)?;
        history.try_for_each(|record| run.apply_with(moved_to, record))?;
        Ok(run)
    }

    pub(crate) fn created(definition: Arc<Definition>, record: &Record) -> Result<Run, BadHistory> {
        let Change::WorkflowCreated(creation) = &record.change else { return Err(BadHistory::NotCreated) };
        let Creation {
            run_id,
            workspace,
            definition: definition_ref,
            input,
            tags,
            parent,
            scheduled,
            started_on,
            started_by,
        } = creation.as_ref();
        let mut snapshot = Snapshot {
            id: *run_id,
            workspace: *workspace,
            definition_ref: definition_ref.clone(),
            seq: record.seq,
            status: RunStatus::Pending,
            input: input.clone(),
            state: BTreeMap::new(),
            state_bytes: 0,
            log_bytes: 0,
            output: None,
            error: None,
            handled_by: None,
            tags: tags.clone(),
            parent: *parent,
            scheduled: *scheduled,
            started_on: started_on.clone(),
            created_by: record.by.clone(),
            started_by: started_by.as_ref().unwrap_or(&record.by).clone(),
            traceparent: record.traceparent,
            created_at: record.at,
            retried_at: None,
            awaits_since: None,
            past_versions: Vec::new(),
            deliveries_before: 0,
            started_at: None,
            ended_at: None,
            deadline: None,
            deadline_passed: false,
            steps: SharedMap::new(),
            waitpoints: SharedMap::new(),
            open: SharedMap::new(),
            collected: SharedMap::new(),
            listeners: SharedMap::new(),
            mailbox: SharedMap::new(),
            signals_received: 0,
            signals_kept: 0,
            mailbox_bytes: 0,
            taken: SharedMap::new(),
            running: 0,
            waiting: 0,
            settled: 0,
            pausing: false,
            held: BTreeSet::new(),
            rooms: Vec::new(),
            call_rooms: Vec::new(),
            failure: None,
            last_output: None,
            spent: Spent::default(),
            payload_bytes: 0,
            large_bytes: 0,
        };
        snapshot.weigh(&record.change);
        Ok(Run { definition, snapshot })
    }

    /// Applies the next record of the history, which is no move. After an error the run is in no defined state.
    pub fn apply(&mut self, record: &Record) -> Result<(), BadHistory> {
        self.apply_with(&[], record)
    }

    /// Applies the next record of the history; a move finds its definition among those given. After an error the run is in
    /// no defined state.
    pub fn apply_with(&mut self, moved_to: &[Arc<Definition>], record: &Record) -> Result<(), BadHistory> {
        if record.seq != self.seq + 1 {
            return Err(BadHistory::Gap { last: self.seq, found: record.seq });
        }
        self.snapshot.seq = record.seq;
        self.snapshot.weigh(&record.change);
        self.free_rooms(&record.change);
        match &record.change {
            Change::WorkflowCreated(_) => Err(BadHistory::NotCreated),
            Change::WorkflowStarted { deadline } => {
                self.snapshot.started_at = Some(record.at);
                self.gather_inputs();
                self.snapshot.deadline = *deadline;
                self.move_to(RunStatus::Running)
            }
            Change::WorkflowPaused { reason: _, resume_at: _ } => self.move_to(RunStatus::Waiting),
            Change::WorkflowResumed => self.move_to(RunStatus::Running),
            Change::WorkflowPauseRequested => {
                self.snapshot.pausing = true;
                Ok(())
            }
            Change::WorkflowPausedByOperator => self.move_to(RunStatus::Paused),
            Change::WorkflowUnpaused => self.unpaused(),
            Change::WorkflowDeadlinePassed => {
                self.snapshot.deadline_passed = true;
                self.snapshot.failure.get_or_insert_with(run_timed_out);
                Ok(())
            }
            Change::WorkflowCompleted { output } => {
                self.ended(record, RunStatus::Completed, Some(output), None)
            }
            Change::WorkflowFailed { error, handled_by } => {
                self.snapshot.handled_by = *handled_by;
                self.ended(record, RunStatus::Failed, None, Some(error))
            }
            Change::WorkflowCancelled { reason: _, handled_by } => {
                self.snapshot.handled_by = *handled_by;
                self.ended(record, RunStatus::Cancelled, None, None)
            }
            Change::WorkflowRetried { deadline } => {
                self.snapshot.error = None;
                self.snapshot.handled_by = None;
                self.snapshot.failure = None;
                self.snapshot.ended_at = None;
                self.snapshot.retried_at = Some(record.at);
                self.snapshot.deadline = *deadline;
                self.snapshot.deadline_passed = false;
                self.move_to(RunStatus::Running)
            }
            Change::WorkflowMoved { from: _, to, steps, not_taken, awaits_more } => {
                let is_it = |definition: &&Arc<Definition>| {
                    definition.name() == &*to.name && definition.version() == &*to.version
                };
                let unknown = || BadHistory::UnknownVersion(Arc::clone(&to.version));
                let definition = moved_to.iter().find(is_it).cloned().ok_or_else(unknown)?;
                self.moved(record, (to, definition), steps, not_taken, *awaits_more)
            }
            Change::StepStarted { at, request } => self.step_started(record, *at, request.as_ref()),
            Change::StepWaiting { at, opens, awaits, wake } => {
                self.step_waiting(record, *at, opens, awaits, *wake)
            }
            Change::StepResumed { at } => self.step_resumed(record, *at),
            Change::StepRetrying { at, attempt: _, error, opens } => {
                self.step_retrying(record, *at, error, opens)
            }
            Change::StepHeldBack { at } => {
                self.snapshot.held.insert(*at);
                Ok(())
            }
            Change::StepCompleted { at, output, waitpoint, state, not_taken } => {
                self.step_completed(record, *at, output.as_ref(), *waitpoint, state, not_taken)
            }
            Change::StepFailed { at, error, stopped } => self.step_failed(record, *at, error, *stopped),
            Change::StepSkipped { at } => self.step_skipped(record, *at),
            Change::StepCancelled { at } => self.step_cancelled(record, *at),
            Change::MapStarted { at, items } => self.map_started(*at, items),
            Change::TaskStarted { at, lease_epoch: _, worker, build, deadline } => {
                self.task_started(record, *at, (worker, build.as_ref()), *deadline)
            }
            Change::TaskPinned { at, build } => {
                self.task_mut(*at)?.pin = Some(Pin::To(Arc::clone(build)));
                Ok(())
            }
            Change::TaskUnpinned { at } => {
                self.task_mut(*at)?.pin = Some(Pin::Lifted);
                Ok(())
            }
            Change::TaskPaused { at, opens } => self.task_paused(record, *at, opens),
            Change::TaskRedelivered { at, counted } => self.task_redelivered(record, *at, *counted),
            Change::JournalRecorded { at, entries } => self.journal_recorded(record, *at, entries),
            Change::CheckpointSaved { at, checkpoint } => {
                self.task_mut(*at)?.checkpoint = Some(checkpoint.clone());
                Ok(())
            }
            Change::TaskLogged { at: _, lines, full } => {
                let written: usize = lines.iter().map(LogLine::bytes).sum();
                self.snapshot.log_bytes =
                    if *full { limits::LOG_BYTES } else { self.snapshot.log_bytes + written };
                Ok(())
            }
            Change::EventSent { .. } => Ok(()),
            Change::LlmCallCompleted { at: _, call } => {
                self.snapshot.spent.add(call);
                Ok(())
            }
            Change::WaitCreated { opens } => self.wait_created(opens),
            Change::WaitResolved { number, status, payload, signal } => {
                self.wait_resolved(record, *number, *status, payload.as_ref(), *signal)
            }
            Change::WaitRescheduled { number, resume_at } => {
                self.waitpoint_mut(*number)?.resume_at = Some(*resume_at);
                Ok(())
            }
            Change::CapacityTaken { at, rooms, number } => {
                self.capacity_taken(*at, rooms, *number);
                Ok(())
            }
            Change::CapacityQueued { number, line, keeps } => self.capacity_queued(*number, *line, *keeps),
            Change::StartCollected { number, input, resume_at } => {
                self.start_collected(*number, input, *resume_at)
            }
            Change::SignalReceived { id, signal_type, payload } => {
                self.signal_received(record, *id, signal_type, payload)
            }
            Change::EventMatched { number, event, received_at } => {
                self.event_matched(*number, TakenEvent { id: *event, received_at: *received_at })
            }
            Change::ApprovalRequested { number: _ } | Change::ApprovalReminded { number: _ } => Ok(()),
            Change::ApprovalEscalated { number, approvers } => self.approval_escalated(*number, approvers),
            Change::ApprovalDecided { number, decision, edited_content, comment, link } => {
                let vote = ApprovalVote {
                    by: record.by.clone(),
                    decision: *decision,
                    comment: comment.clone(),
                    link: link.clone(),
                };
                self.approval_decided(*number, vote, edited_content.as_ref())
            }
        }
    }

    fn move_to(&mut self, status: RunStatus) -> Result<(), BadHistory> {
        self.snapshot.status = transition(self.status, status)?;
        Ok(())
    }

    fn unpaused(&mut self) -> Result<(), BadHistory> {
        self.snapshot.pausing = false;
        self.snapshot.held.clear();
        if self.status == RunStatus::Paused { self.move_to(RunStatus::Running) } else { Ok(()) }
    }

    fn ended(
        &mut self,
        record: &Record,
        status: RunStatus,
        output: Option<&Json>,
        error: Option<&Failure>,
    ) -> Result<(), BadHistory> {
        self.move_to(status)?;
        self.snapshot.ended_at = Some(record.at);
        self.snapshot.output = output.cloned();
        self.snapshot.error = error.cloned();
        self.snapshot.pausing = false;
        self.snapshot.held.clear();
        Ok(())
    }
}

fn run_timed_out() -> Failure {
    Failure::new("RUN_TIMED_OUT", "the run took longer than its `timeoutMs`")
}
