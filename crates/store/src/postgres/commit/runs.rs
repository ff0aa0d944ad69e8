//! The rows of runs and their histories.

use std::collections::{BTreeMap, HashMap};

use abide_core::command::Event;
use abide_core::id::{RunId, WorkspaceId};

use super::events::data;
use super::plan::Plan;
use crate::postgres::column::{self, Id};
use crate::postgres::connection::values;
use crate::{RunWrite, chunk};

impl<'a> Plan<'a> {
    /// Of a run that has moved on or is gone, no row is written.
    pub(super) fn update_runs(&mut self, known: &[&RunWrite<'a>], tails: &HashMap<RunId, u32>) {
        if known.is_empty() {
            return;
        }
        let each = || known.iter().map(|write| write.run);
        self.rows.add(
            "moved",
            "UPDATE runs SET seq = new.seq, written_at = new.written_at, status = new.status,
                 ended_at = new.ended_at, deadline_at = new.deadline_at,
                 sum = (runs.sum * 16777619 + new.tail + 1) % 4294967291
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[], $7::bigint[],
                     $8::bigint[])
                 AS new (id, based_on, seq, written_at, status, ended_at, deadline_at, tail)
             WHERE runs.id = new.id AND runs.seq = new.based_on
             RETURNING runs.id, runs.sum",
            values![
                ids(known),
                known.iter().map(|write| column::count(write.based_on)).collect::<Vec<_>>(),
                each().map(|run| column::count(run.seq)).collect::<Vec<_>>(),
                known.iter().map(|write| written_at(write)).collect::<Vec<_>>(),
                each().map(|run| column::run_status(run.status)).collect::<Vec<_>>(),
                each().map(|run| run.ended_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| run.open_deadline().map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| i64::from(tails[&run.id])).collect::<Vec<_>>(),
            ],
        );
        self.rows.expect("moved", known.len());
    }

    /// Runs that have another version of their workflow. A statement changes a row once, so all of it is changed here.
    pub(super) fn move_runs(&mut self, moved: &[&RunWrite<'a>], tails: &HashMap<RunId, u32>) {
        if moved.is_empty() {
            return;
        }
        let each = || moved.iter().map(|write| write.run);
        self.rows.add(
            "versioned",
            "UPDATE runs SET seq = new.seq, written_at = new.written_at, status = new.status,
                 ended_at = new.ended_at, deadline_at = new.deadline_at, version = new.version,
                 sum = (runs.sum * 16777619 + new.tail + 1) % 4294967291
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[], $7::bigint[],
                     $8::bigint[], $9::text[])
                 AS new (id, based_on, seq, written_at, status, ended_at, deadline_at, tail, version)
             WHERE runs.id = new.id AND runs.seq = new.based_on AND ALL_ROWS_WRITTEN
             RETURNING runs.id, runs.sum",
            values![
                ids(moved),
                moved.iter().map(|write| column::count(write.based_on)).collect::<Vec<_>>(),
                each().map(|run| column::count(run.seq)).collect::<Vec<_>>(),
                moved.iter().map(|write| written_at(write)).collect::<Vec<_>>(),
                each().map(|run| column::run_status(run.status)).collect::<Vec<_>>(),
                each().map(|run| run.ended_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| run.open_deadline().map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| i64::from(tails[&run.id])).collect::<Vec<_>>(),
                each().map(|run| column::name(&run.definition_ref.version)).collect::<Vec<_>>(),
            ],
        );
        self.rows.expect("versioned", moved.len());
    }

    pub(super) fn insert_runs(&mut self, new: &[&RunWrite<'a>], tails: &HashMap<RunId, u32>) {
        if new.is_empty() {
            return;
        }
        let each = || new.iter().map(|write| write.run);
        let tags = |tags: &_| serde_json::to_string(tags).expect("tags are JSON");
        self.rows.add(
            "started",
            "INSERT INTO runs (id, workspace, seq, created_at, written_at, ended_at, deadline_at, status, definition,
                 version, tags, sum)
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                 $7::bigint[], $8::smallint[], $9::text[], $10::text[], $11::text[], $12::bigint[]) WHERE ALL_ROWS_WRITTEN
             RETURNING 1",
            values![
                ids(new),
                each().map(|run| column::workspace(run.workspace)).collect::<Vec<_>>(),
                each().map(|run| column::count(run.seq)).collect::<Vec<_>>(),
                each().map(|run| column::instant(run.created_at)).collect::<Vec<_>>(),
                new.iter().map(|write| written_at(write)).collect::<Vec<_>>(),
                each().map(|run| run.ended_at.map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| run.open_deadline().map(column::instant)).collect::<Vec<_>>(),
                each().map(|run| column::run_status(run.status)).collect::<Vec<_>>(),
                each().map(|run| column::name(&run.definition_ref.name)).collect::<Vec<_>>(),
                each().map(|run| column::name(&run.definition_ref.version)).collect::<Vec<_>>(),
                each().map(|run| (!run.tags.is_empty()).then(|| tags(&run.tags))).collect::<Vec<_>>(),
                each().map(|run| i64::from(chunk::add_up_tail(0, tails[&run.id]))).collect::<Vec<_>>(),
            ],
        );
        self.rows.expect("started", new.len());
        let tagged = || each().flat_map(|run| run.tags.iter().map(move |tag| (run, tag)));
        if tagged().next().is_none() {
            return;
        }
        self.rows.add(
            "tagged",
            "INSERT INTO run_tags (workspace, run, tag)
             SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[]) WHERE ALL_ROWS_WRITTEN ON CONFLICT DO NOTHING",
            values![
                tagged().map(|(run, _)| column::workspace(run.workspace)).collect::<Vec<_>>(),
                tagged().map(|(run, _)| column::run(run.id)).collect::<Vec<_>>(),
                tagged().map(|(_, tag)| column::name(tag)).collect::<Vec<_>>(),
            ],
        );
    }

    /// Notes what histories and events take.
    pub(super) fn weigh(&mut self, runs: &[&RunWrite<'a>], chunks: &[Vec<u8>], events: &[&'a Event]) {
        let mut bytes: BTreeMap<WorkspaceId, usize> = BTreeMap::new();
        for (write, chunk) in runs.iter().zip(chunks) {
            *bytes.entry(write.run.workspace).or_default() += chunk.len();
        }
        for event in events {
            *bytes.entry(event.workspace).or_default() += data(event).len();
        }
        if bytes.is_empty() {
            return;
        }
        self.rows.add(
            "weighed",
            "INSERT INTO stored_bytes (workspace, bytes)
             SELECT * FROM unnest($1::bigint[], $2::bigint[]) WHERE ALL_ROWS_WRITTEN",
            values![
                bytes.keys().copied().map(column::workspace).collect::<Vec<_>>(),
                bytes.values().copied().map(column::limit).collect::<Vec<_>>(),
            ],
        );
    }

    pub(super) fn append_history(&mut self, runs: &[&RunWrite<'a>], chunks: Vec<Vec<u8>>) {
        if runs.is_empty() {
            return;
        }
        self.rows.add(
            "appended",
            "INSERT INTO history (run, based_on, seq, written_at, chunk)
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[]) WHERE ALL_ROWS_WRITTEN",
            values![
                ids(runs),
                runs.iter().map(|write| column::count(write.based_on)).collect::<Vec<_>>(),
                runs.iter().map(|write| column::count(write.run.seq)).collect::<Vec<_>>(),
                runs.iter().map(|write| written_at(write)).collect::<Vec<_>>(),
                chunks,
            ],
        );
    }
}

/// The instant of the last change.
fn written_at(write: &RunWrite<'_>) -> i64 {
    let last = write.records.last().expect("runs without records are left out");
    debug_assert_eq!(last.seq, write.run.seq, "a run is written after all its records");
    column::instant(last.at)
}

fn ids(runs: &[&RunWrite<'_>]) -> Vec<Id> {
    runs.iter().map(|write| column::run(write.run.id)).collect()
}
