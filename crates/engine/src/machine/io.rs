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
use crate::tasks::TaskKey;

/// The time of a step of the machine, which has no clock of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The wall clock that timers and leases are compared with. It may go back.
    pub wall: Timestamp,
    /// An instant that is not before now by the clock of any node of the store.
    pub latest: Timestamp,
    /// The monotonic time since an instant that never changes while the machine lives.
    pub elapsed: Duration,
}

/// An input: something that is asked of the machine.
pub enum Input {
    /// Somebody asks for something. At most [`Room::requests`](super::Room) in a step.
    Request(Request),
    /// A handler in this process reports. At most [`Room::reports`](super::Room) in a step, and counted as a request, too.
    Report(Request),
}

/// An output was done: what came of it. There is always room for this.
pub enum Done {
    /// The answer to [`Output::Commit`]. Whoever committed has let go of the batch before.
    Committed {
        round: RoundNumber,
        result: Result<(), Error>,
        /// The damaged parts of a round that cannot be committed because of them.
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

/// An output: something to be done outside, in the order of the outputs. Nothing comes out before the commit that it
/// depends on.
pub enum Output {
    /// Commit [the batch](RoundBatch::batch). Answered by [`Done::Committed`], once for each round. As many may be under way
    /// at once as there are committers; those that are have nothing to do with each other.
    Commit { round: RoundNumber, batch: Arc<RoundBatch> },
    /// Store a definition. Answered by [`Done::Deployed`].
    Deploy { deploy: Deploy, answer: Answer<Deployed> },
    /// Write what administration asks for, which answers for itself.
    Write(Write),
    /// Store that a run or a schedule is held, and tell whoever asked for it. No answer is expected.
    Hold { held: Held, answer: Option<Answer<bool>> },
    /// Store that a run or a schedule is released, and tell whoever asked for it. No answer is expected.
    Unhold { owner: Owner, answer: Answer<bool> },
    /// Check an input where nobody waits for it. Answered by [`Done::Checked`].
    Check(Check),
    /// From here on tasks of this name may be performed by this handler.
    Register { name: Arc<str>, handler: Handler },
    /// Perform a task in this process. What comes of it is an [`Input::Report`] with a command for its run. If none ever
    /// comes, the task stays where it is until the process ends.
    Perform(Box<Perform>),
    /// Stop performing a task, if it is still being performed. No answer is expected.
    Abort(TaskKey),
    /// Leave a task that was performed with the receiver that was called. It is not aborted any more. No answer is
    /// expected.
    Detach(TaskKey),
    /// Look for deliveries that are due to these webhooks.
    Webhooks(BTreeSet<WebhookId>),
    /// Say when the next delivery is due, as soon as none is due now.
    SettleWebhooks(Answer<Option<Timestamp>>),
    /// Tell the followers that a run has changed.
    Changed(Changed),
    /// Tell the followers of a run its version, if they do not know it.
    Version { run: RunId, version: u64 },
}

/// A task for a handler of this process, or for a call that the engine makes itself.
#[derive(Debug)]
pub struct Perform {
    pub ready: TaskKey,
    pub workspace: WorkspaceId,
    /// The limit of what all model calls of the run may cost, in millionths; `None`: no limit.
    pub run_budget_micros: Option<u64>,
    pub task: Task,
}

/// When the machine is to be called next, if nothing happens before, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// How long after the instant of the question.
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
