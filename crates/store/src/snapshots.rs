//! Snapshots: a long run is loaded from one and the records after it, and not from its beginning.
//!
//! A snapshot follows from the history before it and can be lost without harm: one that is damaged, or that was written by
//! code that might replay a history to another state, is ignored in favour of the whole history.

use abide_core::id::RunId;
use abide_core::run::{Run, Snapshot};

use crate::chunk::{self, short};
use crate::{Error, RunWrite};

/// Records between two snapshots of a run, at least.
const EVERY: u64 = 500;

/// A snapshot is written when there are so many bytes of the last one for each record since. A run whose snapshot grows
/// with its history has them ever less often, so that what is written stays in proportion to what happens.
const BYTES_PER_RECORD: u64 = 256;

/// The snapshot that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastSnapshot {
    pub(crate) seq: u64,
    pub(crate) bytes: u64,
}

/// Whether the age of the last snapshot is to be looked up: now and then, and never for short runs.
pub(crate) fn may_be_due(write: &RunWrite<'_>) -> bool {
    let is_open = !write.run.status.has_ended();
    is_open && write.based_on > 0 && write.based_on / EVERY < write.run.seq / EVERY
}

/// Whether a snapshot is written with the commit that brings a run to this version. Counted from one multiple of
/// [`EVERY`] to the next, for commits pass them by more or fewer records.
pub(crate) fn is_due(version: u64, last: Option<LastSnapshot>) -> bool {
    let since = |last: LastSnapshot| (version / EVERY).saturating_sub(last.seq / EVERY) * EVERY;
    last.is_none_or(|last| since(last) >= EVERY.max(last.bytes / BYTES_PER_RECORD))
}

/// A snapshot as it is stored: its short form and a checksum, like a chunk.
pub(crate) fn encode(run: &Run) -> Vec<u8> {
    let plain = serde_json::to_vec(run.snapshot()).expect("a snapshot is JSON");
    let mut encoded = Vec::with_capacity(plain.len());
    short::shorten(&plain, &mut encoded);
    let checksum = chunk::checksum(run.id, &encoded);
    encoded.extend(checksum);
    encoded
}

/// The snapshot of a run in this version.
pub(crate) fn decode(run: RunId, seq: u64, encoded: &[u8]) -> Result<Snapshot, Error> {
    let damaged = |what: String| Error::Damaged { owner: run, what: format!("its snapshot: {what}") };
    let plain = chunk::expand(run, encoded).map_err(|damage| damaged(damage.to_string()))?;
    let mut deserializer = serde_json::Deserializer::from_slice(&plain);
    deserializer.disable_recursion_limit();
    let snapshot: Snapshot = serde::Deserialize::deserialize(&mut deserializer)
        .and_then(|snapshot| deserializer.end().map(|()| snapshot))
        .map_err(|error| damaged(error.to_string()))?;
    if (snapshot.id, snapshot.seq) != (run, seq) {
        return Err(damaged(format!("it is of {} in version {}", snapshot.id, snapshot.seq)));
    }
    Ok(snapshot)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conformance::stories_of_chance;

    #[test]
    fn a_snapshot_and_the_records_after_it_give_what_the_whole_history_gives() {
        for seed in 0..12 {
            let (mut random, stories) = stories_of_chance(seed);
            for story in stories {
                let (definition, length) = (&story.run.definition, story.history.len());
                for _ in 0..4 {
                    let cut = 1 + random.below(length as u64) as usize;
                    let run = Run::replay(Arc::clone(definition), &story.history[..cut]).unwrap();
                    let snapshot = decode(run.id, run.seq, &encode(&run)).unwrap();
                    assert_eq!(&snapshot, run.snapshot());
                    let mut restored = Run::restore(Arc::clone(definition), snapshot);
                    story.history[cut..].iter().for_each(|record| restored.apply(record).unwrap());
                    assert_eq!(restored.snapshot(), story.run.snapshot(), "cut after {cut} of {length}");
                }
            }
        }
    }

    #[test]
    fn a_snapshot_of_another_run_or_version_or_with_a_flipped_bit_is_refused() {
        let (_, stories) = stories_of_chance(1);
        let run = &stories[0].run;
        let encoded = encode(run);
        assert!(decode(RunId(run.id.0 + 1), run.seq, &encoded).is_err());
        assert!(decode(run.id, run.seq + 1, &encoded).is_err());
        for place in 0..encoded.len() {
            let mut flipped = encoded.clone();
            flipped[place] ^= 4;
            assert!(decode(run.id, run.seq, &flipped).is_err(), "byte {place}");
        }
    }

    /// What snapshots cost a run whose snapshot has so many bytes, and so many more with every record.
    fn bytes_per_record(first_bytes: u64, growth: u64) -> u64 {
        const RECORDS: u64 = 200_000;
        let (mut last, mut written) = (None, 0);
        for version in (EVERY..=RECORDS).step_by(EVERY as usize) {
            if is_due(version, last) {
                let bytes = first_bytes + growth * version;
                written += bytes;
                last = Some(LastSnapshot { seq: version, bytes });
            }
        }
        written / RECORDS
    }

    #[test]
    fn what_snapshots_cost_stays_in_proportion_to_what_happens() {
        assert!(bytes_per_record(1_000, 0) <= 3);
        assert!(bytes_per_record(10_000_000, 0) <= 2 * BYTES_PER_RECORD);
        for growth in [1, 50, 300, 2_000] {
            let cost = bytes_per_record(1_000, growth);
            assert!(cost <= 2 * (BYTES_PER_RECORD + growth), "{growth} more each time: {cost}");
        }
    }

    #[test]
    fn a_run_with_a_small_snapshot_has_one_every_so_many_records() {
        assert!(is_due(500, None));
        let last = Some(LastSnapshot { seq: 500, bytes: 2_000 });
        assert!(!is_due(999, last) && is_due(1_000, last));
        let late = Some(LastSnapshot { seq: 515, bytes: 2_000 });
        assert!(is_due(1_002, late), "each passed its multiple by some records");
    }
}
