//! What a run comes to, and what it says on the way.

use abide_core::history::Failure;
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use tokio::sync::oneshot;

use crate::error::Error;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// COMPLETED, FAILED or CANCELLED.
    pub status: RunStatus,
    /// What a run that completed came to.
    pub output: Option<Json>,
    /// Why a run failed.
    pub error: Option<Failure>,
}

impl Ended {
    pub(crate) fn of(run: &Run) -> Option<Ended> {
        let ended = Ended { status: run.status, output: run.output.clone(), error: run.error.clone() };
        run.status.has_ended().then_some(ended)
    }
}

/// What a run says to somebody who listens.
#[derive(Clone, Debug, PartialEq)]
pub enum RunReply {
    /// A `respond` step, or the reply of a webhook step.
    Response(Json),
    /// The run ended without a reply.
    Ended(Ended),
}

/// Hears what a run says next.
#[derive(Debug)]
pub struct Listener(oneshot::Receiver<RunReply>);

impl Listener {
    pub(crate) fn new(heard: oneshot::Receiver<RunReply>) -> Listener {
        Listener(heard)
    }

    /// Waits for what the run says.
    pub async fn reply(self) -> Result<RunReply, Error> {
        self.0.await.map_err(|_| Error::Stopped)
    }
}
