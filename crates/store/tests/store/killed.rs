//! A process that is killed has lost nothing that it was told is written, and has written no half of anything.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use abide_core::command::{Event, Reply};
use abide_core::id::{EventUid, WorkspaceId};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::json::Json;
use abide_store::roles::*;
use abide_store::sqlite::Sqlite;
use abide_store::{Batch, Store};
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

const FILE: &str = "ABIDE_STORE_TEST_FILE";
const IN_A_BATCH: u64 = 20;
/// Acknowledgements after which the process is killed, each in another moment of its work.
const LIVES: [usize; 6] = [1, 2, 3, 50, 7, 120];

/// Not a test of its own: what the process does until it is killed.
#[test]
fn victim() {
    let Ok(path) = std::env::var(FILE) else { return };
    let mut store = Sqlite::open(path).unwrap();
    let first =
        store.events_since(WorkspaceId::DEFAULT, "beat", Timestamp::MIN, None, usize::MAX).unwrap().len()
            as u64
            / IN_A_BATCH;
    for batch in first.. {
        let events: Vec<Event> = (0..IN_A_BATCH).map(|index| beat(batch, index)).collect();
        let idempotency = IdempotencyRecord {
            key: batch.to_string(),
            digest: batch,
            reply: Reply::Done,
            run: None,
            at: Timestamp::UNIX_EPOCH,
        };
        let write =
            Batch { events: events.iter().collect(), idempotency: vec![&idempotency], ..Batch::default() };
        store.commit(&write).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "acknowledged {batch}").unwrap();
        out.flush().unwrap();
    }
}

fn beat(batch: u64, index: u64) -> Event {
    let number = batch * IN_A_BATCH + index;
    Event {
        id: EventUid(number.into()),
        workspace: WorkspaceId::DEFAULT,
        event_id: "beat".into(),
        data: Json::new(json!({ "batch": batch, "filler": "x".repeat(200) })),
        received_at: Timestamp::from_nanosecond(number.into()).expect("an instant"),
        run: None,
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_no_batch_is_torn() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("killed.db");
    let mut acknowledged = 0;
    for life in LIVES {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::victim", "--nocapture"])
            .env(FILE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let heard = lines.map(Result::unwrap).filter_map(|line| {
            let (_, batch) = line.split_once("acknowledged ")?;
            batch.parse::<u64>().ok()
        });
        acknowledged = heard.take(life).last().unwrap();
        victim.kill().unwrap();
        victim.wait().unwrap();

        let mut store = Sqlite::open(&path).unwrap();
        let mut batches: BTreeMap<u64, u64> = BTreeMap::new();
        for event in
            store.events_since(WorkspaceId::DEFAULT, "beat", Timestamp::MIN, None, usize::MAX).unwrap()
        {
            *batches.entry(event.data["batch"].as_u64().unwrap()).or_default() += 1;
        }
        assert!(batches.keys().copied().eq(0..batches.len() as u64), "batches without a gap");
        assert!(batches.values().all(|beats| *beats == IN_A_BATCH), "whole batches");
        assert!(batches.len() as u64 > acknowledged, "all that was acknowledged");
        for batch in batches.keys() {
            assert!(store.idempotency_record(&batch.to_string()).unwrap().is_some());
        }
    }
    assert!(acknowledged > 100);
}
