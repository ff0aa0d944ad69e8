//! Which files have changed, told from what they look like from one look to the next. A file counts as changed when it has
//! stopped changing: editors write in parts, or write another file and rename it.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::PathBuf;
use std::time::SystemTime;

/// Looks in which a file has to be missing before it counts as gone: a rename takes a moment.
const GONE_AFTER: u32 = 2;

/// What a file looks like from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    modified: Option<SystemTime>,
    bytes: u64,
    /// Another one under the same name has another.
    file: u64,
}

impl From<&Metadata> for Signature {
    fn from(metadata: &Metadata) -> Signature {
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let file = 0;
        Signature { modified: metadata.modified().ok(), bytes: metadata.len(), file }
    }
}

pub(super) type Seen = BTreeMap<PathBuf, Signature>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A file is new or has changed, and is not being written any more.
    Settled(PathBuf),
    Gone(PathBuf),
}

/// Compares looks.
#[derive(Debug)]
pub(super) struct Watch {
    /// As changes were told, file by file.
    told: Seen,
    last: Seen,
    missing: BTreeMap<PathBuf, u32>,
}

impl Watch {
    /// What is there at the beginning is no change.
    pub(super) fn beginning_with(seen: Seen) -> Watch {
        Watch { told: seen.clone(), last: seen, missing: BTreeMap::new() }
    }

    pub(super) fn look(&mut self, seen: Seen) -> Vec<Change> {
        let mut changes = Vec::new();
        for (path, signature) in &seen {
            let at_rest = self.last.get(path) == Some(signature);
            if at_rest && self.told.get(path) != Some(signature) {
                self.told.insert(path.clone(), signature.clone());
                changes.push(Change::Settled(path.clone()));
            }
        }
        self.missing.retain(|path, _| !seen.contains_key(path));
        for path in self.told.keys().filter(|path| !seen.contains_key(*path)) {
            let looks = self.missing.entry(path.clone()).or_default();
            *looks += 1;
            if *looks >= GONE_AFTER {
                changes.push(Change::Gone(path.clone()));
            }
        }
        for change in &changes {
            if let Change::Gone(path) = change {
                self.told.remove(path);
                self.missing.remove(path);
            }
        }
        self.last = seen;
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(files: &[(&str, u64)]) -> Seen {
        let of = |(path, bytes): &(&str, u64)| {
            (PathBuf::from(path), Signature { modified: None, bytes: *bytes, file: 1 })
        };
        files.iter().map(of).collect()
    }

    fn settled(path: &str) -> Change {
        Change::Settled(path.into())
    }

    #[test]
    fn a_file_that_is_being_written_is_told_once_when_it_is_at_rest() {
        let mut watch = Watch::beginning_with(seen(&[("a", 1)]));
        assert_eq!(watch.look(seen(&[("a", 1)])), []);
        assert_eq!(watch.look(seen(&[("a", 5)])), []);
        assert_eq!(watch.look(seen(&[("a", 9)])), []);
        assert_eq!(watch.look(seen(&[("a", 9)])), [settled("a")]);
        assert_eq!(watch.look(seen(&[("a", 9)])), []);
    }

    #[test]
    fn a_file_that_is_renamed_away_and_back_is_not_gone() {
        let mut watch = Watch::beginning_with(seen(&[("a", 1)]));
        assert_eq!(watch.look(seen(&[])), []);
        assert_eq!(watch.look(seen(&[("a", 2)])), []);
        assert_eq!(watch.look(seen(&[("a", 2)])), [settled("a")]);
    }

    #[test]
    fn a_file_that_stays_away_is_gone_once_and_new_when_it_comes_back() {
        let mut watch = Watch::beginning_with(seen(&[("a", 1)]));
        assert_eq!(watch.look(seen(&[])), []);
        assert_eq!(watch.look(seen(&[])), [Change::Gone("a".into())]);
        assert_eq!(watch.look(seen(&[])), []);
        assert_eq!(watch.look(seen(&[("a", 1)])), []);
        assert_eq!(watch.look(seen(&[("a", 1)])), [settled("a")]);
    }
}
