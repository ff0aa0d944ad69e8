//! The audit log: whoever changes it is found out.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use abide_core::id::WorkspaceId;
use abide_store::AuditNote;
use abide_store::audit::{Verified, verify};
use abide_store::roles::*;
use abide_store::sqlite::{Reader, Sqlite};
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

fn after(tampering: &str) -> Verified {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abide.db");
    let mut store = Sqlite::open(&path).unwrap();
    for number in 1..=5 {
        let note = AuditNote {
            at: Timestamp::UNIX_EPOCH,
            workspace: WorkspaceId::DEFAULT,
            by: "ann".to_owned(),
            key: None,
            address: None,
            request_id: None,
            action: "link.made".to_owned(),
            target: format!("/waitpoints/wp_{number}/link"),
            detail: json!({ "recipient": "bob" }),
        };
        store.append_audit(&note).unwrap();
    }
    drop(store);
    // Whoever tampers with care leaves pages whose checksums are right.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let file = Connection::open_with_flags_and_vfs(&path, flags, "cksmvfs").unwrap();
    file.execute_batch(tampering).unwrap();
    drop(file);
    verify(&mut Reader::open(&path).unwrap()).unwrap()
}

#[test]
fn an_entry_that_was_changed_or_removed_is_found() {
    assert!(matches!(after(""), Verified::Whole { entries: 5, .. }));
    for (tampering, number) in [
        ("UPDATE audit SET note = replace(note, 'bob', 'eve') WHERE number = 3", 3),
        ("UPDATE audit SET hash = zeroblob(32) WHERE number = 1", 1),
        ("DELETE FROM audit WHERE number = 2", 2),
        ("UPDATE audit SET number = 9 WHERE number = 5", 5),
        ("DELETE FROM audit WHERE number = 1; UPDATE audit SET number = number - 1", 1),
    ] {
        assert_eq!(after(tampering), Verified::Broken { number }, "{tampering}");
    }
}

#[test]
fn a_log_that_was_cut_off_has_another_end() {
    let (Verified::Whole { last: whole, .. }, Verified::Whole { entries: 4, last: cut }) =
        (after(""), after("DELETE FROM audit WHERE number = 5"))
    else {
        panic!("what is left is whole")
    };
    assert_ne!(whole, cut);
}
