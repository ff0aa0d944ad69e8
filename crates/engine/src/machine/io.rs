//! What goes into the [machine](super) and what comes out of it: values only.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use abide_core::definition::Definition;
use abide_core::id::{RunId, WebhookId, WorkspaceId};
use abide_core::task::Task;
use abide_store::{Culprit, Held, Owner};
use jiff::Timestamp;

use crate::checker::{Check, Then};
use crate::committer::Write;
use crate::deploy::{Deploy, Deployed};
use crate::error::Error;
use crate::followers::Changed;
use crate::handler::Handler;
use crate::in_flight::RoundNumber;
use crate::request::{Answer, Request};
use crate::round::RoundBatch;
use crate::tasks::ReadyTask;

/// The time of a step, as the machine is told it. It has no clock of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// By the clock that timers and leases are compared with. It may go back.
    pub wall: Timestamp,
    /// An instant that is not before now by any clock that other nodes of the store go by.
    pub latest: Timestamp,
    /// Since some instant that never changes while the machine lives. It never goes back.
    pub elapsed: Duration,
}

/// Something that happened outside.
pub enum Input {
    /// Somebody asks for something. At most [`Room::requests`](super::Room) in a step.
    Request(Request),
    /// A handler in this process reports. At most [`Room::reports`](super::Room) in a step, and counted as a request, too.
    Report(Request),
    /// The answer to [`Output::Commit`]. Whoever committed has let go of the batch before.
    Committed {
        round: RoundNumber,
        result: Result<(), Error>,
        /// Of a round that cannot be committed because of damage: what of it is damaged.
        culprits: Vec<Culprit>,
        took: Duration,
    },
    /// The answer to [`Output::Deploy`].
    Deployed {
        workspace: WorkspaceId,
        definition: Arc<Definition>,
        result: Result<Deployed, Error>,
        answer: Answer<Deployed>,
    },
    /// The answer to [`Output::Check`].
    Checked { definition: Arc<Definition>, result: Result<(), Error>, then: Then },
}

/// Something to be done outside, in the order of the outputs. Nothing comes out before the commit that it depends on.
pub enum Output {
    /// Commit [the batch](RoundBatch::batch). Answered by [`Input::Committed`], once for each round. As many may be under way
    /// at once as there are committers; those that are have nothing to do with each other.
    Commit { round: RoundNumber, batch: Arc<RoundBatch> },
    /// Store a definition. Answered by [`Input::Deployed`].
    Deploy { deploy: Deploy, answer: Answer<Deployed> },
    /// Write what administration asks for, which answers for itself.
    Write(Write),
    /// Write down that a run or a schedule stands still, and tell whoever asked for it. No answer is expected.
    Hold { held: Held, answer: Option<Answer<bool>> },
    /// Write down that it goes on, and tell whoever asked for it. No answer is expected.
    Unhold { owner: Owner, answer: Answer<bool> },
    /// Check an input where nobody waits for it. Answered by [`Input::Checked`].
    Check(Check),
    /// From here on tasks of this name may be performed by this handler.
    Register { name: Arc<str>, handler: Handler },
    /// Perform a task in this process. What comes of it is an [`Input::Report`] with a command for its run. If none ever
    /// comes, the task stays where it is until the process ends.
    Perform(Box<Perform>),
    /// Stop performing a task, if it is still being performed. No answer is expected.
    Abort(ReadyTask),
    /// A task that was performed stays with whoever was called. It is not aborted any more. No answer is expected.
    Detach(ReadyTask),
    /// There may be something to tell these webhooks.
    Webhooks(BTreeSet<WebhookId>),
    /// Say when the next webhook is to be told something, as soon as none is to be told something now.
    SettleWebhooks(Answer<Option<Timestamp>>),
    /// Tell those who follow it that a run has changed.
    Changed(Changed),
    /// Tell those who follow a run that it has this version, if they do not know.
    Version { run: RunId, version: u64 },
}

/// A task for a handler of this process, or for a call that the engine makes itself.
#[derive(Debug)]
pub struct Perform {
    pub ready: ReadyTask,
    pub workspace: WorkspaceId,
    /// What all calls to models of the run may cost.
    pub run_budget_micros: Option<u64>,
    pub task: Task,
}

/// When the machine is to be called next, if nothing happens before, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// How long from the instant of the question.
    pub after: Duration,
    pub reason: WakeReason,
}

/// Why the machine wants to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// The machine could go on at once.
    Work,
    /// A timer is due, or a lease ends.
    Due,
    /// The store could not be reached, and is tried again.
    Trouble,
    /// What other nodes did is looked for.
    Look,
    /// The wall clock may have jumped.
    Clock,
}
