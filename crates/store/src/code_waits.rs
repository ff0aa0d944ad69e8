//! Tasks that wait for other code, and how a worker of another build finds them: by the handler, and by the build that
//! did not fit last. Those that the worker's own build left are never looked at, however many they are.

use std::sync::Arc;

use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::waitpoint::CodeMismatch;

use crate::Error;
use crate::row::RowReader;

/// Finds waits for other code.
pub trait CodeWaits: Send {
    /// Open waits for other code of a handler than this build has, in no particular order, beginning after `after`, at most
    /// `limit`. Some of them may have tried this build before.
    fn code_waits(
        &mut self,
        workspace: WorkspaceId,
        handler: &str,
        build: &str,
        after: Option<&CodeWait>,
        limit: usize,
    ) -> Result<Vec<CodeWait>, Error>;
}

/// A task that waits for other code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeWait {
    pub waitpoint: WaitpointId,
    /// The builds that do not fit, the last one last.
    pub builds: Vec<Arc<str>>,
    /// What it is found by.
    pub(crate) listens: String,
}

impl CodeWait {
    /// The wait with this id, for other code than this.
    pub fn new(waitpoint: WaitpointId, mismatch: &CodeMismatch) -> CodeWait {
        CodeWait { waitpoint, builds: mismatch.builds.clone(), listens: listens(mismatch) }
    }

    /// Of `run, number, listens, filter`.
    pub(crate) fn read(row: &impl RowReader) -> Result<CodeWait, Error> {
        let waitpoint = row.run(0)?.waitpoint(row.number(1)?);
        Ok(CodeWait { waitpoint, listens: row.name(2)?, builds: row.json(3)? })
    }
}

/// Waits between two places, without them.
pub(crate) struct CodeRange {
    pub(crate) after: (String, WaitpointId),
    pub(crate) before: String,
}

/// What a wait for other code is found by.
pub(crate) fn listens(mismatch: &CodeMismatch) -> String {
    let place = place(&mismatch.handler, mismatch.builds.last().map_or("", |build| build));
    // No worker may come for one that is pinned: it is outside of all that is looked at.
    if mismatch.pinned_to.is_some() { format!("{PINNED}{place}") } else { place }
}

/// No handler's name begins so.
const PINNED: &str = "\u{1}";

fn place(handler: &str, build: &str) -> String {
    format!("{handler}\u{1}={build}")
}

/// Where the waits are that other builds of a handler left, after the one that was found last.
pub(crate) fn ranges(handler: &str, build: &str, after: Option<&CodeWait>) -> Vec<CodeRange> {
    let last = WaitpointId { run: RunId(u128::MAX), number: u32::MAX };
    let own = place(handler, build);
    let ranges = [(format!("{handler}\u{1}"), own.clone()), (own, format!("{handler}\u{2}"))];
    let ranges = ranges.into_iter().map(|(after, before)| CodeRange { after: (after, last), before });
    let Some(after) = after else { return ranges.collect() };
    let place = (after.listens.clone(), after.waitpoint);
    let left = ranges.filter(|range| range.before > place.0);
    left.map(|range| CodeRange { after: range.after.max(place.clone()), ..range }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(listens: &str, number: u32) -> CodeWait {
        CodeWait { waitpoint: RunId(7).waitpoint(number), builds: Vec::new(), listens: listens.to_owned() }
    }

    #[test]
    fn the_waits_of_its_own_build_are_between_the_two_ranges() {
        let [before, after] = &ranges("h", "b", None)[..] else { panic!() };
        for (build, is_in) in
            [("", (true, false)), ("a", (true, false)), ("b", (false, false)), ("c", (false, true))]
        {
            let place = (place("h", build), RunId(1).waitpoint(1));
            let within = |range: &CodeRange| place > range.after && place.0 < range.before;
            assert_eq!((within(before), within(after)), is_in, "{build}");
        }
        let other = (place("hh", "a"), RunId(1).waitpoint(1));
        assert!([before, after].iter().all(|range| other <= range.after || other.0 >= range.before));
    }

    #[test]
    fn what_was_found_is_not_looked_at_again() {
        assert_eq!(ranges("h", "b", Some(&found("h\u{1}=a", 3))).len(), 2);
        let [rest] = &ranges("h", "b", Some(&found("h\u{1}=c", 3)))[..] else { panic!() };
        assert_eq!(rest.after, ("h\u{1}=c".to_owned(), RunId(7).waitpoint(3)));
    }
}
