//! The committers: threads that each have a writer of the store. They commit rounds while the writer decides the
//! next.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Instant;

use abide_store::{Batch, Culprit, Held, Owner, Store};
use tokio::sync::mpsc::UnboundedSender;

use crate::deploy::{Deploy, Deployed};
use crate::error::Error;
use crate::machine::{Done, RoundBatch, RoundNumber};
use crate::request::Answer;
use crate::watch::Watch;

/// A write of administration to the store. It sends its own answer.
pub type Write = Box<dyn FnOnce(&mut dyn Store) + Send>;

pub(crate) enum Job {
    Commit(RoundNumber, Arc<RoundBatch>),
    Deploy {
        deploy: Deploy,
        answer: Answer<Deployed>,
    },
    /// A write of administration, which sends its own answer.
    Write(Write),
    /// Holds a run or a schedule: nothing is decided about it from here on.
    Hold {
        held: Held,
        answer: Option<Answer<bool>>,
    },
    /// Releases a run or a schedule that was held.
    Unhold {
        owner: Owner,
        answer: Answer<bool>,
    },
}

fn commit(store: &mut dyn Store, batch: &Batch<'_>) -> (Result<(), Error>, Vec<Culprit>) {
    let result = store.commit(batch);
    let culprits = match &result {
        Err(error) if error.is_damage() => store.culprits(batch).unwrap_or_else(|error| {
            tracing::error!(%error, "what of a round is damaged could not be found out");
            Vec::new()
        }),
        Ok(()) | Err(_) => Vec::new(),
    };
    (result.map_err(Error::from), culprits)
}

/// Why rounds cannot be committed at all. A conflict, or a run that is held from here on, is not such a reason.
fn trouble(result: &Result<(), Error>, culprits: &[Culprit]) -> Option<String> {
    match result {
        Err(error) if !error.is_conflict() && culprits.is_empty() => Some(error.to_string()),
        Ok(()) | Err(_) => None,
    }
}

/// Commits until nobody can ask for anything any more, then closes the store.
pub(crate) fn work(
    mut store: Box<dyn Store>,
    jobs: &Mutex<mpsc::Receiver<Job>>,
    answers: &UnboundedSender<Done>,
    watch: &Watch,
) {
    // One of them waits for the next job, the others for their turn to.
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(job) = next() {
        let did = match job {
            Job::Commit(round, decided) => {
                let begun = Instant::now();
                watch.commit_begins();
                let (result, culprits) = commit(&mut *store, &decided.batch());
                watch.commit_ends(trouble(&result, &culprits));
                // The writer takes the runs back when it hears of it.
                drop(decided);
                Done::Committed { round, result, culprits, took: begun.elapsed() }
            }
            Job::Deploy { deploy, answer } => {
                let (workspace, definition) = (deploy.workspace, Arc::clone(&deploy.definition));
                Done::Deployed { workspace, definition, result: deploy.perform(&mut *store), answer }
            }
            Job::Write(write) => {
                write(&mut *store);
                continue;
            }
            Job::Hold { held, answer } => {
                hold(&mut *store, &held, answer);
                continue;
            }
            Job::Unhold { owner, answer } => {
                drop(answer.send(store.release(owner).map_err(Error::from)));
                continue;
            }
        };
        // The writer may have gone.
        let _ = answers.send(did);
    }
}

fn hold(store: &mut dyn Store, held: &Held, answer: Option<Answer<bool>>) {
    let result = store.hold(held).map_err(Error::from);
    match (answer, result) {
        (Some(answer), result) => drop(answer.send(result)),
        (None, Ok(_)) => {}
        (None, Err(error)) => {
            tracing::error!(owner = %held.owner, %error, "that it is held could not be written");
        }
    }
}
