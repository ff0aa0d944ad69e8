//! Commands: everything that can be asked of a run, one file each. [`decide`] is the only way in.
//!
//! ```text
//!   (run, command, context) ──▶ decide ──▶ Ok(outcome: records · effects · reply)   the run has been changed
//!                                     └──▶ Err(refusal)                             the run is as it was
//! ```
//!
//! A decision changes the run in place, record by record, through [`apply`](crate::apply); nothing is copied. The
//! caller decides what the outcome asks for [in the round](RoundEffect), commits the records together with whatever
//! rows it keeps, and only then performs [the after-commit actions](AfterCommit). If the commit fails, it drops the
//! run and loads it again.

mod asked_waits;
mod cancel;
mod capacity;
mod child_finished;
mod code_arrived;
mod create_waitpoint;
mod debounce;
mod deliver_event;
mod http_call;
mod lease_lost;
mod move_run;
mod pause;
mod pin;
mod resume_waitpoint;
mod retry;
mod signal;
mod start;
mod steer;
mod task_completed;
mod task_failed;
mod task_heartbeat;
mod task_logged;
mod task_notified;
mod task_paused;
mod task_recorded;
mod task_started;
mod task_suspended;
mod timer_fired;
mod unpause;
mod vote;
mod wait_for;

pub use capacity::Capacity;
pub use child_finished::{ChildFinished, ChildOutcome};
pub use code_arrived::CodeArrived;
pub use create_waitpoint::CreateWaitpoint;
pub use debounce::Debounce;
pub use deliver_event::{DeliverEvent, Event};
pub use lease_lost::{LeaseLoss, LeaseLost};
pub use move_run::Move;
pub use pin::PinTasks;
pub use resume_waitpoint::{ResumeTarget, ResumeWaitpoint, Via};
pub use signal::SendSignal;
pub use start::{NewRun, start, start_with};
pub use steer::{Steer, Steering};
pub use task_completed::TaskCompleted;
pub use task_failed::{Mismatch, TaskFailed};
pub use task_heartbeat::TaskHeartbeat;
pub use task_logged::TaskLogged;
pub use task_notified::TaskNotified;
pub use task_paused::TaskPaused;
pub use task_recorded::TaskRecorded;
pub use task_started::{TaskStarted, check_worker};
pub use task_suspended::{TaskSuspended, WaitSpec};
pub use vote::Vote;
pub use wait_for::{CallLimit, WaitFor};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::effect::{AfterCommit, RoundEffect};
use crate::event_start::EventStart;
use crate::history::Record;
use crate::id::{EventUid, RunId, WaitpointId};
use crate::refusal::Refusal;
use crate::run::{Run, Timer};
use crate::trace::Traceparent;
use crate::turn::Turn;
use crate::waitpoint::Actor;

/// Something asked of a run that exists.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Command {
    /// A worker has taken a task.
    TaskStarted(TaskStarted),
    /// A worker reports the result of a task.
    TaskCompleted(TaskCompleted),
    /// A worker reports that a task has failed.
    TaskFailed(TaskFailed),
    /// A worker pauses its task for a time and gives up its lease.
    TaskPaused(TaskPaused),
    /// A handler waits: it is suspended until its waits end.
    TaskSuspended(TaskSuspended),
    /// Durable calls are recorded for a handler that goes on.
    TaskRecorded(TaskRecorded),
    /// A worker extends its lease, and may record progress.
    TaskHeartbeat(TaskHeartbeat),
    /// A handler has written to the log of its run.
    TaskLogged(TaskLogged),
    /// A handler sends an event, under its lease.
    TaskNotified(TaskNotified),
    /// The lease of a task has ended without a report.
    LeaseLost(LeaseLost),
    /// A worker has come whose code has not been tried on a journal that other code does not fit (R20).
    CodeArrived(CodeArrived),
    /// A handler creates a waitpoint before it waits for it.
    CreateWaitpoint(CreateWaitpoint),
    /// A timer of the run is due.
    TimerFired(Timer),
    /// A signal is sent to the run.
    SendSignal(SendSignal),
    /// An event is offered to one wait of the run.
    DeliverEvent(DeliverEvent),
    /// A call on a resume link resolves a waitpoint.
    ResumeWaitpoint(ResumeWaitpoint),
    /// A person decides an approval.
    Vote(Vote),
    /// A child run has ended, was started, or could not be.
    ChildFinished(ChildFinished),
    /// The limits that a wait for room asks have decided about it.
    Capacity(Capacity),
    /// A start comes to a run that collects those of its key.
    Debounce(Debounce),
    /// An operator reschedules, completes, skips, times out or cancels a wait.
    Steer(Steer),
    /// An operator pins tasks of the run to a build, or lifts their pins.
    PinTasks(PinTasks),
    /// The run goes on with another version of its workflow.
    Move(Move),
    /// An operator pauses the run; it takes effect at the next step boundary.
    Pause,
    /// An operator lifts a pause.
    Unpause,
    /// Somebody cancels the run.
    Cancel {
        /// What whoever cancels gives as a reason; recorded in the history.
        reason: Option<String>,
    },
    /// Somebody retries a FAILED run.
    Retry,
}

/// What enters a decision from outside: the clock, randomness, and who asks.
#[derive(Clone, Debug)]
pub struct Context {
    /// The wall clock: every timer and deadline is compared with it.
    pub now: Timestamp,
    /// The seed of the decision, fresh for each: all randomness of the decision is derived from it.
    pub random: u64,
    /// Who asks, as authenticated; recorded with every change.
    pub by: Actor,
    /// The W3C trace context of the request; recorded, and never decided by.
    pub traceparent: Option<Traceparent>,
    /// The bounds that the operator has set.
    pub bounds: Bounds,
}

/// What a decision came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The records to append to the run's history. Empty when the command changed nothing.
    pub records: Vec<Record>,
    /// The effects to decide in the same round, or to store in its commit.
    pub in_round: Vec<RoundEffect>,
    /// The effects to perform when the commit is durable.
    pub after_commit: Vec<AfterCommit>,
    /// The answer to whoever asked.
    pub reply: Reply,
}

/// The answer to a command that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reply {
    /// The command was carried out, and there is nothing more to say.
    Done,
    /// The run was created under this id.
    Started(RunId),
    /// The start was added to this run, which collects those of its key.
    Collected(RunId),
    /// The run already was as it was asked to be; nothing was recorded.
    Unchanged,
    /// A signal was received.
    Signalled {
        /// The wait that took the signal at once; `None` if the mailbox keeps it.
        taken_by: Option<WaitpointId>,
    },
    /// The command created or resolved this waitpoint, or a task now waits on it.
    Waitpoint(WaitpointId),
    /// The very same call has ended this wait before; nothing was recorded.
    Repeated(WaitpointId),
    /// The worker has the task.
    Leased {
        /// When the time of the worker's attempt ends; `None`: the task has no timeout.
        deadline: Option<Timestamp>,
    },
    /// An event was stored and offered to those who wait for it.
    EventSent {
        /// The event's own number, `evt_…`.
        event: EventUid,
        /// The waits that took the event.
        waiters: Vec<WaitpointId>,
        /// What the event started, or was to start.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        starts: Vec<EventStart>,
    },
    /// A vote on an approval was counted.
    Voted {
        /// The approvals so far, this vote included.
        approvals: u32,
        /// The approvals that are needed.
        quorum: u32,
        /// Whether the vote decided the approval.
        resolved: bool,
    },
}

/// Decides what a command does to a run, and does it.
///
/// On `Err` the run is unchanged, except after [`Refusal::Illegal`], a defect of ours, when it must be dropped.
pub fn decide(run: &mut Run, command: Command, context: &Context) -> Result<Outcome, Refusal> {
    let mut turn = Turn::new(run, context);
    let reply = match command {
        Command::TaskStarted(command) => command.decide(&mut turn),
        Command::TaskCompleted(command) => command.decide(&mut turn),
        Command::TaskFailed(command) => command.decide(&mut turn),
        Command::TaskPaused(command) => command.decide(&mut turn),
        Command::TaskSuspended(command) => command.decide(&mut turn),
        Command::TaskRecorded(command) => command.decide(&mut turn),
        Command::TaskHeartbeat(command) => command.decide(&mut turn),
        Command::TaskLogged(command) => command.decide(&mut turn),
        Command::TaskNotified(command) => command.decide(&mut turn),
        Command::LeaseLost(command) => command.decide(&mut turn),
        Command::CodeArrived(command) => command.decide(&mut turn),
        Command::CreateWaitpoint(command) => command.decide(&mut turn),
        Command::TimerFired(timer) => timer_fired::decide(&mut turn, timer),
        Command::SendSignal(command) => command.decide(&mut turn),
        Command::DeliverEvent(command) => command.decide(&mut turn),
        Command::ResumeWaitpoint(command) => command.decide(&mut turn),
        Command::Vote(command) => command.decide(&mut turn),
        Command::ChildFinished(command) => command.decide(&mut turn),
        Command::Capacity(command) => command.decide(&mut turn),
        Command::Debounce(command) => command.decide(&mut turn),
        Command::Steer(command) => command.decide(&mut turn),
        Command::PinTasks(command) => command.decide(&mut turn),
        Command::Move(command) => command.decide(&mut turn),
        Command::Pause => pause::decide(&mut turn),
        Command::Unpause => unpause::decide(&mut turn),
        Command::Cancel { reason } => cancel::decide(&mut turn, reason),
        Command::Retry => retry::decide(&mut turn),
    }?;
    turn.finish(reply)
}
