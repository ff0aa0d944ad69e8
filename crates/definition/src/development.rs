//! Versions for development: made of what a workflow holds, so that nobody has to think of a number, and the same content
//! is the same version.

use sha2::{Digest, Sha256};

use super::document::Workflow;
use crate::limits;

/// Digits of the hash that are shown. Two contents that share them are told apart by a number.
const DIGITS: usize = 8;
/// What comes after the version as it is written: `-dev.`, the digits, and `.` with a number.
const ADDED_CHARS: usize = "-dev.".len() + DIGITS + ".9999".len();

impl Workflow {
    /// The version under which this content is stored in development, such as `1-dev.3f2a9c1e`. `again` is 1 for the first
    /// time; after another content was stored it is counted up, since the newest version is the one that was stored last.
    pub fn development_version(&self, again: usize) -> String {
        let written = serde_json::to_vec(self).expect("a workflow is JSON");
        let digest: String = Sha256::digest(&written).iter().map(|byte| format!("{byte:02x}")).collect();
        let own: String = self.version.chars().take(limits::VERSION_CHARS - ADDED_CHARS).collect();
        let version = format!("{own}-dev.{}", &digest[..DIGITS]);
        if again > 1 { format!("{version}.{again}") } else { version }
    }

    /// Whether both say the same, whatever their versions are.
    pub fn holds_the_same_as(&self, other: &Workflow) -> bool {
        let unversioned = |workflow: &Workflow| Workflow { version: String::new(), ..workflow.clone() };
        unversioned(self) == unversioned(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflow(version: &str, step: &str) -> Workflow {
        Workflow::new("orders").version(version).task(step, "h")
    }

    #[test]
    fn the_same_content_has_the_same_development_version_and_another_one_another() {
        let version = workflow("1", "pay").development_version(1);
        assert_eq!(version, workflow("1", "pay").development_version(1));
        assert_ne!(version, workflow("1", "ship").development_version(1));
        assert!(version.starts_with("1-dev.") && version.len() == 14, "{version}");
        assert_eq!(workflow("1", "pay").development_version(2), format!("{version}.2"));
    }

    #[test]
    fn a_development_version_is_never_longer_than_a_version_may_be() {
        let long = workflow(&"v".repeat(limits::VERSION_CHARS), "pay");
        let version = long.development_version(9_999);
        assert_eq!(version.chars().count(), limits::VERSION_CHARS);
        assert!(Workflow { version, ..long }.check().is_ok());
    }

    #[test]
    fn versions_do_not_make_contents_different() {
        assert!(workflow("1", "pay").holds_the_same_as(&workflow("2", "pay")));
        assert!(!workflow("1", "pay").holds_the_same_as(&workflow("1", "ship")));
    }
}
