//! How a run ends, and what it replies on the way.

use abide_core::history::Failure;
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use tokio::sync::oneshot;

use crate::error::Error;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The final status: COMPLETED, FAILED or CANCELLED.
    pub status: RunStatus,
    /// The output of a COMPLETED run.
    pub output: Option<Json>,
    /// Why a FAILED run failed.
    pub error: Option<Failure>,
}

impl Ended {
    pub(crate) fn of(run: &Run) -> Option<Ended> {
        let ended = Ended { status: run.status, output: run.output.clone(), error: run.error.clone() };
        run.status.has_ended().then_some(ended)
    }
}

/// The reply of a run to a caller that listens.
#[derive(Clone, Debug, PartialEq)]
pub enum RunReply {
    /// The reply of a `respond` step or of a webhook step: `{status, headers, body}`.
    Response(Json),
    /// The run ended without a reply.
    Ended(Ended),
}

/// Receives the next reply of a run.
#[derive(Debug)]
pub struct Listener(oneshot::Receiver<RunReply>);

impl Listener {
    pub(crate) fn new(heard: oneshot::Receiver<RunReply>) -> Listener {
        Listener(heard)
    }

    /// Waits for the run's reply, or its end.
    pub async fn reply(self) -> Result<RunReply, Error> {
        self.0.await.map_err(|_| Error::Stopped)
    }
}
