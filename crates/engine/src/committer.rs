//! The threads that have the store's writers. They commit rounds while the writer decides the next.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use abide_core::definition::Definition;
use abide_core::id::WorkspaceId;
use abide_store::Store;
use tokio::sync::mpsc::UnboundedSender;

use crate::checker::Then;
use crate::deploy::{Deploy, Deployed};
use crate::error::Error;
use crate::in_flight::RoundNumber;
use crate::request::Answer;
use crate::round::Decided;

pub(crate) type Write = Box<dyn FnOnce(&mut dyn Store) + Send>;

pub(crate) enum Job {
    Commit(RoundNumber, Arc<Decided>),
    Deploy {
        deploy: Deploy,
        answer: Answer<Deployed>,
    },
    /// Whatever administration wants; it answers for itself.
    Write(Write),
}

pub(crate) enum Done {
    Committed {
        round: RoundNumber,
        result: Result<(), Error>,
        took: Duration,
    },
    Deployed {
        workspace: WorkspaceId,
        definition: Arc<Definition>,
        result: Result<Deployed, Error>,
        answer: Answer<Deployed>,
    },
    /// An input was checked against a schema.
    Checked {
        definition: Arc<Definition>,
        result: Result<(), Error>,
        then: Then,
    },
}

/// Works until nobody can ask for anything any more, and closes the store.
pub(crate) fn work(
    mut store: Box<dyn Store>,
    jobs: &Mutex<mpsc::Receiver<Job>>,
    done: &UnboundedSender<Done>,
) {
    // One of them waits for the next job, the others for their turn to.
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(job) = next() {
        let did = match job {
            Job::Commit(round, decided) => {
                let begun = Instant::now();
                let result = store.commit(&decided.batch()).map_err(Error::from);
                // The writer takes the runs back when it hears of it.
                drop(decided);
                Done::Committed { round, result, took: begun.elapsed() }
            }
            Job::Deploy { deploy, answer } => {
                let (workspace, definition) = (deploy.workspace, Arc::clone(&deploy.definition));
                Done::Deployed { workspace, definition, result: deploy.perform(&mut *store), answer }
            }
            Job::Write(write) => {
                write(&mut *store);
                continue;
            }
        };
        // The writer may have gone.
        let _ = done.send(did);
    }
}
