//! Rounds in flight: those that are being committed. What is decided meanwhile is decided on top of them, and a round
//! that depends on one of them is committed after it. Rounds that have nothing in common are committed side by side,
//! by as many writers as the store has.

use std::sync::Arc;

use abide_core::id::RunId;

use crate::owed::Owed;
use crate::round::RoundBatch;

/// The number of a round that was handed to the committers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundNumber(u64);

#[derive(Default)]
pub(crate) struct InFlight {
    rounds: Vec<(RoundNumber, Arc<RoundBatch>, Owed)>,
    begun: u64,
    ended: u64,
}

impl InFlight {
    /// How many rounds are no longer in flight.
    pub(crate) fn committed(&self) -> u64 {
        self.ended
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.rounds.len()
    }

    /// How many runs the largest round in flight is about.
    pub(crate) fn largest(&self) -> usize {
        self.rounds.iter().map(|(_, batch, _)| batch.runs()).max().unwrap_or(0)
    }

    pub(crate) fn has_run(&self, run: RunId) -> bool {
        self.rounds.iter().any(|(_, batch, _)| batch.has_run(run))
    }

    /// Whether something about this run is being committed.
    pub(crate) fn changes(&self, run: RunId) -> bool {
        self.rounds.iter().any(|(_, batch, _)| batch.changed(run).is_some())
    }

    /// The round in flight in which something is found. No two of them change the same thing.
    pub(crate) fn find<'f, T>(
        &'f self,
        look: impl Fn(&'f RoundBatch) -> Option<T>,
    ) -> Option<(RoundNumber, T)> {
        self.rounds().find_map(|(number, batch)| Some((number, look(batch)?)))
    }

    pub(crate) fn rounds(&self) -> impl Iterator<Item = (RoundNumber, &RoundBatch)> {
        self.rounds.iter().map(|(number, batch, _)| (*number, &**batch))
    }

    pub(crate) fn begin(&mut self, batch: RoundBatch, pending: Owed) -> (RoundNumber, Arc<RoundBatch>) {
        self.begun += 1;
        let (number, batch) = (RoundNumber(self.begun), Arc::new(batch));
        self.rounds.push((number, Arc::clone(&batch), pending));
        (number, batch)
    }

    pub(crate) fn end(&mut self, number: RoundNumber) -> Option<(Arc<RoundBatch>, Owed)> {
        let place = self.rounds.iter().position(|(round, ..)| *round == number)?;
        let (_, batch, pending) = self.rounds.remove(place);
        self.ended += 1;
        Some((batch, pending))
    }
}
