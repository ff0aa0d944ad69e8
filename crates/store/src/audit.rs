//! The audit log: who did what to the server, append-only. Each entry has the hash of itself and of the one before, so that
//! whoever changes or removes one breaks the chain from there on.

use abide_core::id::WorkspaceId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::row::RowReader;
use crate::{Error, Page, Read};

/// Reads the audit log.
pub trait Audit: Send {
    /// Control actions in a workspace or in all, the last one first. The cursor is a number.
    fn audit(&mut self, workspace: Option<WorkspaceId>, page: &Page<u64>) -> Result<Vec<AuditEntry>, Error>;

    /// The entries of the audit log after `after`, in order, at most `limit`: number, text as it was written, hash.
    fn audit_chain(&mut self, after: u64, limit: usize) -> Result<Vec<(u64, String, AuditHash)>, Error>;
}

/// Writes the audit log.
pub trait WriteAudit: Send {
    /// Appends to the audit log. Entries are never changed or removed.
    fn append_audit(&mut self, note: &AuditNote) -> Result<(), Error>;
}

/// What an entry of the audit log says of itself and of all before it.
pub type AuditHash = [u8; 32];

/// Before the first entry.
const NOTHING: AuditHash = [0; 32];
/// Entries that are read at a time while the chain is followed.
const AT_ONCE: usize = 1_000;

/// A control action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditNote {
    pub at: Timestamp,
    pub workspace: WorkspaceId,
    /// Who did it: a key's name.
    pub by: String,
    /// The key's id; `None` where no key was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Where the request came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What was done: `key.made`.
    pub action: String,
    /// To what: the path of the request.
    pub target: String,
    /// What else is worth knowing: for whom a link was made.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

/// A control action, at its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// From 1 on, without gaps.
    pub number: u64,
    pub note: AuditNote,
    pub hash: AuditHash,
}

impl AuditEntry {
    /// Of `number, note, hash`.
    pub(crate) fn read(row: &impl RowReader) -> Result<AuditEntry, Error> {
        Ok(AuditEntry { number: row.number(0)?, note: row.json(1)?, hash: row.hash(2)? })
    }
}

/// An entry as it is stored.
pub(crate) struct Written {
    pub(crate) number: i64,
    pub(crate) note: String,
    pub(crate) hash: AuditHash,
}

/// The entry that comes after the last one.
pub(crate) fn next(last: Option<(i64, AuditHash)>, note: &AuditNote) -> Written {
    let (number, before) = last.unwrap_or((0, NOTHING));
    let note = serde_json::to_string(note).expect("a note is JSON");
    let number = number + 1;
    Written { number, hash: hash(&before, number, &note), note }
}

fn hash(before: &AuditHash, number: i64, note: &str) -> AuditHash {
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(number.to_be_bytes());
    hash.update(note.as_bytes());
    hash.finalize().into()
}

/// What came of following the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// All of it is whole: how many entries there are, and the hash of the last one, by which a log that was cut off at
    /// its end is told from a whole one.
    Whole { entries: u64, last: AuditHash },
    /// This entry is not what it was, or the one before it is gone.
    Broken { number: u64 },
}

/// Follows the chain from its first entry to its last.
pub fn verify(store: &mut dyn Read) -> Result<Verified, Error> {
    let (mut number, mut before) = (0, NOTHING);
    loop {
        let rows = store.audit_chain(number, AT_ONCE)?;
        let count = rows.len();
        for (found, note, stored) in rows {
            let expected = number + 1;
            let signed = i64::try_from(expected).unwrap_or(i64::MAX);
            if found != expected || hash(&before, signed, &note) != stored {
                return Ok(Verified::Broken { number: expected });
            }
            (number, before) = (expected, stored);
        }
        if count < AT_ONCE {
            return Ok(Verified::Whole { entries: number, last: before });
        }
    }
}
