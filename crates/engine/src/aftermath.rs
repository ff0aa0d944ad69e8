//! What is left to do when a round has been committed, or when it could not be.

use abide_core::command::Reply;
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_store::StoredTimer;
use jiff::Timestamp;

use crate::alarm::Alarm;
use crate::dispatcher::{Dispatcher, ReadyTask};
use crate::error::Error;
use crate::handed::Handed;
use crate::request::{Answer, Leased, Notified};
use crate::schedules::Ordered;

/// An answer that leaves after the commit.
pub(crate) enum Pending {
    Start(Answer<RunId>, Result<RunId, Error>),
    Command(Answer<Reply>, Result<Reply, Error>),
    Commands(Answer<Vec<Result<Reply, Error>>>, Vec<Result<Reply, Error>>),
    Notify(Answer<Notified>, Result<Notified, Error>),
    Schedule(Answer<Box<Ordered>>, Result<Box<Ordered>, Error>),
    Get(Answer<Box<Run>>, Result<Box<Run>, Error>),
    Poll(Answer<Handed>, Handed),
}

#[derive(Default)]
pub(crate) struct Aftermath {
    pending: Vec<Pending>,
    /// Deliveries of which nothing more is to be expected.
    pub(crate) reported: Vec<ReadyTask>,
    /// The instants of timers that had an effect.
    pub(crate) fired: Vec<Timestamp>,
    // What was taken for this round, to be put back if it fails.
    pub(crate) due: Vec<StoredTimer>,
    pub(crate) expired: Vec<ReadyTask>,
    pub(crate) timed: Vec<ReadyTask>,
    pub(crate) own: Vec<ReadyTask>,
    pub(crate) handed_over: Vec<ReadyTask>,
}

impl Aftermath {
    pub(crate) fn answer(&mut self, pending: Pending) {
        self.pending.push(pending);
    }

    pub(crate) fn answers(&self) -> u64 {
        self.pending.len() as u64
    }

    pub(crate) fn answer_all(self) {
        for pending in self.pending {
            match pending {
                Pending::Start(answer, result) => drop(answer.send(result)),
                Pending::Command(answer, result) => drop(answer.send(result)),
                Pending::Commands(answer, results) => drop(answer.send(Ok(results))),
                Pending::Notify(answer, result) => drop(answer.send(result)),
                Pending::Schedule(answer, result) => drop(answer.send(result)),
                Pending::Get(answer, result) => drop(answer.send(result)),
                Pending::Poll(answer, handed) => drop(answer.send(Ok(handed))),
            }
        }
    }

    /// Nothing was done: those who would have heard yes hear why, and what was taken is there again.
    pub(crate) fn put_back(
        self,
        error: &Error,
        alarm: &mut Alarm,
        dispatcher: &mut Dispatcher,
        now: Timestamp,
    ) {
        fn told<T>(result: Result<T, Error>, error: &Error) -> Result<T, Error> {
            result.and_then(|_| Err(error.clone()))
        }
        let Aftermath { pending, reported: _, fired: _, due, expired, timed, own, handed_over } = self;
        alarm.put_back(due);
        dispatcher.put_back(expired, timed, own, now);
        dispatcher.hand_over(handed_over);
        for pending in pending {
            match pending {
                Pending::Start(answer, result) => drop(answer.send(told(result, error))),
                Pending::Command(answer, result) => drop(answer.send(told(result, error))),
                Pending::Commands(answer, results) => {
                    let results = results.into_iter().map(|result| told(result, error));
                    drop(answer.send(Ok(results.collect())));
                }
                Pending::Notify(answer, result) => drop(answer.send(told(result, error))),
                Pending::Schedule(answer, result) => drop(answer.send(told(result, error))),
                Pending::Get(answer, result) => drop(answer.send(told(result, error))),
                Pending::Poll(answer, handed) => {
                    dispatcher.take_back(handed.take().iter().map(Leased::ready).collect());
                    drop(answer.send(Err(error.clone())));
                }
            }
        }
    }
}
