//! Events, and the waits for them that begin at the same time.

use std::collections::BTreeMap;

use abide_core::command::Event;
use abide_core::id::WorkspaceId;

use super::event_waits;
use super::plan::{Part, Plan};
use crate::code::{WAIT_EVENT, WAIT_PENDING};
use crate::postgres::column;
use crate::postgres::connection::{Value, values};
use crate::postgres::event_snapshots::{EventSnapshot, SnapshotLog, TransactionSnapshot, event_key};
use crate::{Batch, Error, RunWrite};

impl<'a> Plan<'a> {
    /// Events of an id exclude each other and all waits for it; waits do not exclude each other.
    pub(super) fn lock(&mut self, events: &Events<'_>) {
        if events.0.is_empty() {
            return;
        }
        let mut locks: BTreeMap<i64, bool> = BTreeMap::new();
        for (&(workspace, event_id), event) in &events.0 {
            *locks.entry(event_key(workspace, event_id)).or_default() |= event.occurs;
        }
        let (keys, alone): (Vec<i64>, Vec<bool>) = locks.into_iter().unzip();
        self.add(
            Part::Locks,
            "SELECT CASE WHEN alone THEN pg_advisory_xact_lock(key) ELSE pg_advisory_xact_lock_shared(key) END
             FROM unnest($1::bigint[], $2::boolean[]) AS locks (key, alone)",
            values![keys, alone],
        );
    }

    pub(super) fn write_events(&mut self, events: &[&'a Event]) {
        if events.is_empty() {
            return;
        }
        let each = || events.iter();
        self.add(
            Part::Events,
            "INSERT INTO events (id, workspace, received_at, stored_in, event_id, data, run)
             SELECT id, workspace, received_at, pg_current_xact_id(), event_id, data, run
             FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::uuid[])
                 AS new (id, workspace, received_at, event_id, data, run)",
            values![
                each().map(|event| column::event(event.id)).collect::<Vec<_>>(),
                each().map(|event| column::workspace(event.workspace)).collect::<Vec<_>>(),
                each().map(|event| column::instant(event.received_at)).collect::<Vec<_>>(),
                each().map(|event| column::name(&event.event_id)).collect::<Vec<_>>(),
                each().map(|event| data(event)).collect::<Vec<_>>(),
                each().map(|event| event.run.map(column::run)).collect::<Vec<_>>(),
            ],
        );
    }

    /// What was committed elsewhere since the batch was decided. It stands at the end, so that what the batch itself
    /// resolves is not found.
    pub(super) fn look_again(&mut self, events: &Events<'_>, snapshots: &SnapshotLog) {
        let own = snapshots.own();
        let occurring = events.looked_at(|event| event.occurs);
        if let Some([places, names, snapshots]) = occurring {
            self.add(
                Part::UnheardWaits,
                format!(
                    "SELECT unheard.run, unheard.workspace, unheard.filter
                 FROM unnest($1::bigint[], $2::text[], $3::text[]) AS event (workspace, event_id, seen)
                     CROSS JOIN LATERAL (SELECT run, waitpoints.workspace, filter FROM waitpoints
                         WHERE waitpoints.workspace = event.workspace AND listens = event.event_id
                           AND status = {WAIT_PENDING} AND kind = {WAIT_EVENT}
                           AND began_in >= pg_snapshot_xmin(event.seen::pg_snapshot)
                           AND NOT pg_visible_in_snapshot(began_in, event.seen::pg_snapshot)
                           AND began_in <> pg_current_xact_id() AND began_in::text <> ALL ($4::text[])
                         OFFSET 0) AS unheard"
                ),
                vec![places, names, snapshots, Box::new(own.clone())],
            );
        }
        let awaited = events.looked_at(|event| event.is_awaited);
        if let Some([places, names, snapshots]) = awaited {
            self.add(
                Part::UnheardEvents,
                "SELECT unheard.* FROM unnest($1::bigint[], $2::text[], $3::text[]) AS event (workspace, event_id, seen)
                     CROSS JOIN LATERAL (SELECT id, events.workspace, events.event_id, received_at, data, run
                         FROM events
                         WHERE events.workspace = event.workspace AND events.event_id = event.event_id
                           AND stored_in >= pg_snapshot_xmin(event.seen::pg_snapshot)
                           AND NOT pg_visible_in_snapshot(stored_in, event.seen::pg_snapshot)
                           AND stored_in <> pg_current_xact_id() AND stored_in::text <> ALL ($4::text[])
                         OFFSET 0) AS unheard",
                vec![places, names, snapshots, Box::new(own)],
            );
        }
    }
}

pub(super) fn data(event: &Event) -> String {
    serde_json::to_string(&event.data).expect("data is JSON")
}

/// The event ids that a batch is about.
pub(super) struct Events<'a>(BTreeMap<(WorkspaceId, &'a str), BatchEvent>);

#[derive(Default)]
struct BatchEvent {
    occurs: bool,
    is_awaited: bool,
    /// What could be seen at the first look at it that the batch may have been decided on.
    seen: Option<TransactionSnapshot>,
}

impl<'a> Events<'a> {
    pub(super) fn of(
        batch: &Batch<'a>,
        runs: &[&RunWrite<'a>],
        snapshots: &SnapshotLog,
    ) -> Result<Events<'a>, Error> {
        let mut events: BTreeMap<(WorkspaceId, &str), BatchEvent> = BTreeMap::new();
        for event in &batch.events {
            events.entry((event.workspace, &event.event_id)).or_default().occurs = true;
        }
        for write in runs {
            for (_, filter) in event_waits(write) {
                events.entry((write.run.workspace, &filter.event_id)).or_default().is_awaited = true;
            }
        }
        for (&(workspace, event_id), event) in &mut events {
            event.seen = match snapshots.first(event_key(workspace, event_id)) {
                Some(EventSnapshot::Valid(snapshot)) => Some(snapshot),
                Some(EventSnapshot::Invalid) => return Err(super::went_away()),
                None => None,
            };
        }
        Ok(Events(events))
    }

    /// Workspaces, names and looks, of those that were looked at; `None` if there are none.
    fn looked_at<'v>(&self, wanted: fn(&BatchEvent) -> bool) -> Option<[Value<'v>; 3]> {
        let (mut places, mut names, mut snapshots) = (Vec::new(), Vec::new(), Vec::new());
        for ((workspace, event_id), event) in &self.0 {
            if let Some(seen) = event.seen.as_ref().filter(|_| wanted(event)) {
                places.push(column::workspace(*workspace));
                names.push(column::name(event_id).into_owned());
                snapshots.push(seen.clone());
            }
        }
        (!places.is_empty()).then(|| [Box::new(places) as Value<'v>, Box::new(names), Box::new(snapshots)])
    }
}
