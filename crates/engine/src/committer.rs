//! The threads that have the store's writers. They commit rounds while the writer decides the next.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Instant;

use abide_store::{Batch, Culprit, Held, Owner, Store};
use tokio::sync::mpsc::UnboundedSender;

use crate::deploy::{Deploy, Deployed};
use crate::error::Error;
use crate::machine::{Input, RoundBatch, RoundNumber};
use crate::request::Answer;
use crate::watch::Watch;

pub type Write = Box<dyn FnOnce(&mut dyn Store) + Send>;

pub(crate) enum Job {
    Commit(RoundNumber, Arc<RoundBatch>),
    Deploy {
        deploy: Deploy,
        answer: Answer<Deployed>,
    },
    /// Whatever administration wants; it answers for itself.
    Write(Write),
    /// A run or a schedule stands still from here on.
    Hold {
        held: Held,
        answer: Option<Answer<bool>>,
    },
    /// A run or a schedule that stood still goes on.
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

/// Why what there is to do cannot be committed. Others who were first, and runs that are held from here on, are no trouble.
fn trouble(result: &Result<(), Error>, culprits: &[Culprit]) -> Option<String> {
    match result {
        Err(error) if !error.is_conflict() && culprits.is_empty() => Some(error.to_string()),
        Ok(()) | Err(_) => None,
    }
}

/// Works until nobody can ask for anything any more, and closes the store.
pub(crate) fn work(
    mut store: Box<dyn Store>,
    jobs: &Mutex<mpsc::Receiver<Job>>,
    answers: &UnboundedSender<Input>,
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
                Input::Committed { round, result, culprits, took: begun.elapsed() }
            }
            Job::Deploy { deploy, answer } => {
                let (workspace, definition) = (deploy.workspace, Arc::clone(&deploy.definition));
                Input::Deployed { workspace, definition, result: deploy.perform(&mut *store), answer }
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
