//! Commands: everything that can be asked of a run, one file each. [`decide`] is the only door.
//!
//! ```text
//!   (run, command, context) ──▶ decide ──▶ Ok(outcome: records · effects · reply)   the run has been changed
//!                                     └──▶ Err(refusal)                             the run is as it was
//! ```
//!
//! A decision changes the run in place, record by record, through [`apply`](crate::apply); nothing is copied.
//! The caller decides what the outcome asks for [in the round](RoundEffect), commits the records together with whatever
//! rows it keeps, and lets out [what leaves after the commit](AfterCommit) only then. If the commit fails, it drops the
//! run and loads it again.

mod cancel;
mod child_finished;
mod code_arrived;
mod create_waitpoint;
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
mod task_paused;
mod task_started;
mod task_suspended;
mod timer_fired;
mod unpause;
mod vote;

pub use child_finished::{ChildFinished, ChildOutcome};
pub use code_arrived::CodeArrived;
pub use create_waitpoint::CreateWaitpoint;
pub use deliver_event::{DeliverEvent, Event};
pub use lease_lost::{LeaseLoss, LeaseLost};
pub use move_run::Move;
pub use pin::PinTasks;
pub use resume_waitpoint::{ResumeTarget, ResumeWaitpoint, Via};
pub use signal::SendSignal;
pub use start::{NewRun, start};
pub use steer::{Steer, Steering};
pub use task_completed::TaskCompleted;
pub use task_failed::{Mismatch, TaskFailed};
pub use task_heartbeat::TaskHeartbeat;
pub use task_logged::TaskLogged;
pub use task_paused::TaskPaused;
pub use task_started::TaskStarted;
pub use task_suspended::{TaskSuspended, WaitFor, WaitSpec};
pub use vote::Vote;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::effect::{AfterCommit, RoundEffect};
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
    TaskStarted(TaskStarted),
    TaskCompleted(TaskCompleted),
    TaskFailed(TaskFailed),
    TaskPaused(TaskPaused),
    TaskSuspended(TaskSuspended),
    TaskHeartbeat(TaskHeartbeat),
    TaskLogged(TaskLogged),
    LeaseLost(LeaseLost),
    CodeArrived(CodeArrived),
    CreateWaitpoint(CreateWaitpoint),
    TimerFired(Timer),
    SendSignal(SendSignal),
    DeliverEvent(DeliverEvent),
    ResumeWaitpoint(ResumeWaitpoint),
    Vote(Vote),
    ChildFinished(ChildFinished),
    Steer(Steer),
    PinTasks(PinTasks),
    Move(Move),
    Pause,
    Unpause,
    Cancel { reason: Option<String> },
    Retry,
}

/// What enters a decision from the world: the clock, randomness, and who asks.
#[derive(Clone, Debug)]
pub struct Context {
    pub now: Timestamp,
    /// Fresh for every decision; what the decision draws is derived from it.
    pub random: u64,
    pub by: Actor,
    pub traceparent: Option<Traceparent>,
    /// What the operator has bounded.
    pub bounds: Bounds,
}

/// What a decision came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// To be appended to the run's history. Empty when the command changed nothing.
    pub records: Vec<Record>,
    /// To be decided in the same round, or stored in its commit.
    pub in_round: Vec<RoundEffect>,
    /// To leave when the commit is durable.
    pub after_commit: Vec<AfterCommit>,
    pub reply: Reply,
}

/// The answer to a command that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reply {
    Done,
    Started(RunId),
    /// What was asked for already is so.
    Unchanged,
    /// A signal was kept, or taken by this wait at once.
    Signalled {
        taken_by: Option<WaitpointId>,
    },
    Waitpoint(WaitpointId),
    /// The very same call has ended this wait before; nothing was done.
    Repeated(WaitpointId),
    /// The time the worker's attempt has left ends here.
    Leased {
        deadline: Option<Timestamp>,
    },
    /// An event was stored, and these waits took it.
    EventSent {
        event: EventUid,
        waiters: Vec<WaitpointId>,
    },
    /// How many approvals there are, of how many needed.
    Voted {
        approvals: u32,
        quorum: u32,
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
        Command::TaskHeartbeat(command) => command.decide(&mut turn),
        Command::TaskLogged(command) => command.decide(&mut turn),
        Command::LeaseLost(command) => command.decide(&mut turn),
        Command::CodeArrived(command) => command.decide(&mut turn),
        Command::CreateWaitpoint(command) => command.decide(&mut turn),
        Command::TimerFired(timer) => timer_fired::decide(&mut turn, timer),
        Command::SendSignal(command) => command.decide(&mut turn),
        Command::DeliverEvent(command) => command.decide(&mut turn),
        Command::ResumeWaitpoint(command) => command.decide(&mut turn),
        Command::Vote(command) => command.decide(&mut turn),
        Command::ChildFinished(command) => command.decide(&mut turn),
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
