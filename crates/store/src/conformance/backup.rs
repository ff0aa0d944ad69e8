//! Backups: the copy is all there was, and nothing that was there before is lost for it.

use std::fs;

use abide_core::command::Reply;
use abide_core::id::WorkspaceId;
use abide_core::idempotency::IdempotencyRecord;
use jiff::Timestamp;
use serde_json::json;

use super::Subject;
use super::lists::{Crowd, listed, listed_waits};
use super::timers;
use crate::{
    Batch, Error, Page, Read, RunFilter, RunSummary, StoredTimer, WaitpointFilter, WaitpointSummary,
};

/// What can be read, in pages.
type All = (Vec<RunSummary>, Vec<WaitpointSummary>, Vec<StoredTimer>);

fn all(store: &mut dyn Read) -> All {
    let runs = listed(store, &RunFilter::default(), 7);
    (runs, listed_waits(store, &WaitpointFilter::default(), 7), timers::all(store, Timestamp::MAX))
}

pub fn a_backup_holds_what_there_was_and_can_be_worked_with(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    let directory = subject.directory();
    let path = directory.join("copy");
    crowd.save(&mut *store);
    let at = crowd.world.now;
    let event = crowd.world.event("shipped", json!({ "n": 1 }));
    let idempotency =
        IdempotencyRecord { key: "key".to_owned(), digest: 1, reply: Reply::Done, run: None, at };
    let definition = crowd.world.definition("a", "1", "{}");
    let batch = Batch {
        events: vec![&event],
        idempotency: vec![&idempotency],
        definitions: vec![definition],
        ..Batch::default()
    };
    store.commit(&batch).expect("the batch is written");
    store.add_workspace("other", at).expect("added");
    store.put_setting("secret", b"value").expect("put");
    let before = all(&mut *store);

    store.reader().expect("a reader").backup(&path).expect("the backup is written");
    assert_eq!(fs::read_dir(&directory).expect("readable").count(), 1, "nothing is left beside it");
    let mut later = crowd.world.start(&super::story::nap(), json!({ "sleep": "1h" }));
    later.save(&mut *store);

    let mut copy = subject.open_backup(&path);
    assert_eq!(all(&mut *copy), before);
    for story in &crowd.stories {
        story.check(&mut *copy);
    }
    assert_eq!(copy.load(later.id()).expect("readable"), None);
    assert_eq!(copy.workspaces().expect("readable"), store.workspaces().expect("readable"));
    assert_eq!(copy.setting("secret").expect("readable").as_deref(), Some(&b"value"[..]));
    assert_eq!(copy.idempotency_record("key").expect("readable"), Some(idempotency));
    assert_eq!(
        copy.definition_by_id(definition.id).expect("readable").map(|found| found.name).as_deref(),
        Some("a")
    );
    let page = Page { after: None, limit: 10 };
    assert_eq!(copy.events(WorkspaceId::DEFAULT, None, &page).expect("readable"), [event]);
    later.committed = 0;
    later.save(&mut *copy);
    later.check(&mut *copy);
}

pub fn a_backup_overwrites_nothing(subject: &mut dyn Subject) {
    let mut store = subject.fresh();
    let directory = subject.directory();
    let taken = directory.join("taken");
    fs::write(&taken, "a letter").expect("written");
    let nowhere = directory.join("no/such/directory/copy");
    for path in [&taken, &directory, &nowhere] {
        let refused = store.backup(path);
        assert!(matches!(refused, Err(Error::BackupFailed { .. })), "{refused:?}");
    }
    assert_eq!(fs::read(&taken).expect("readable"), b"a letter");
}
