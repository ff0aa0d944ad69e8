//! A history, or the part of one after a version that is known, put together of its chunks and compared with what the
//! row of its run says.

use abide_core::history::{Change, Record};
use abide_core::id::RunId;

use super::{add_up, decode};
use crate::{Error, StoredRun};

/// The records of a run after a version, as far as they were read.
pub(crate) struct History {
    run: RunId,
    after: u64,
    records: Vec<Record>,
    /// The sum over all chunks so far; `None` where it is not known from the version on that the records begin after.
    sum: Option<u32>,
}

/// What a run's row says of its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowVersion {
    pub(crate) seq: u64,
    /// `None`: nobody has added it up.
    pub(crate) sum: Option<u32>,
}

impl History {
    /// A whole history.
    pub(crate) fn new(run: RunId) -> History {
        History::after(run, 0, Some(0))
    }

    /// The part of a history after this version. With the sum up to there, the sum of the whole is compared, too.
    pub(crate) fn after(run: RunId, after: u64, sum: Option<u32>) -> History {
        History { run, after, records: Vec::new(), sum }
    }

    /// The next chunk, with the number of its last record.
    pub(crate) fn push(&mut self, seq: u64, chunk: &[u8]) -> Result<(), Error> {
        decode(self.run, self.after, chunk, &mut self.records)
            .map_err(|damage| self.damaged(&damage.to_string()))?;
        if self.last() != seq {
            return Err(self.damaged("a chunk has more or fewer records than it should"));
        }
        self.sum = self.sum.map(|sum| add_up(sum, chunk));
        Ok(())
    }

    /// The whole history; `None` if there was neither a chunk nor a row.
    pub(crate) fn finish(self, told: Option<RowVersion>) -> Result<Option<StoredRun>, Error> {
        let Some(first) = self.records.first() else {
            return match told {
                None => Ok(None),
                Some(RowVersion { seq, .. }) => {
                    Err(self.damaged(&format!("its row says version {seq}, and it has no history")))
                }
            };
        };
        self.compare(told.ok_or_else(|| self.damaged("it has a history and no row"))?)?;
        let Change::WorkflowCreated(creation) = &first.change else {
            return Err(self.damaged("its history does not begin with its creation"));
        };
        let (workspace, definition) = (creation.workspace, creation.definition.clone());
        Ok(Some(StoredRun { workspace, definition, history: self.records }))
    }

    /// The records after the version that this part begins with.
    pub(crate) fn finish_part(self, told: RowVersion) -> Result<Vec<Record>, Error> {
        self.compare(told)?;
        Ok(self.records)
    }

    fn last(&self) -> u64 {
        self.records.last().map_or(self.after, |record| record.seq)
    }

    fn compare(&self, told: RowVersion) -> Result<(), Error> {
        let (seq, last) = (told.seq, self.last());
        if seq != last {
            return Err(self.damaged(&format!("its row says version {seq}, and its history ends at {last}")));
        }
        match (told.sum, self.sum) {
            (Some(told), Some(found)) if told != found => {
                Err(self.damaged("its row says another sum than its history comes to"))
            }
            (Some(_) | None, Some(_) | None) => Ok(()),
        }
    }

    fn damaged(&self, what: &str) -> Error {
        Error::Damaged { owner: self.run, what: what.to_owned() }
    }
}
