//! A workflow that events start, and the rules of that: an event starts one run for each `startOn` that it matches and each
//! key, whatever was killed; none is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::id::{EventUid, RunId};
use serde_json::json;

use super::store::State;
use crate::world::Check;

pub(super) const WORKFLOW: &str = "on-event";
/// Each of these events starts a run.
const EACH: &str = "e1";
/// Of these events those of one kind start a run for each `n`.
const KEYED: &str = "e2";

pub(super) fn workflow() -> Arc<Definition> {
    let document = json!({
        "name": WORKFLOW,
        "startOn": [
            { "eventId": EACH },
            {
                "eventId": KEYED, "match": "event.kind == \"this\"", "input": { "n": "{{ event.n }}" },
                "idempotencyKey": "n-{{ event.n }}",
            },
            { "eventId": EACH, "match": "event.kind == \"other\"", "input": { "n": "{{ event.missing }}" } },
        ],
        "steps": [{ "name": "nap", "type": "wait", "duration": "10m" }],
    });
    let checked = Definition::from_value(document).expect("the workflow is sound");
    Arc::new(checked.definition)
}

/// Looks at all events and all runs, when the world has come to rest.
pub(super) fn check(state: &State, acknowledged: &BTreeSet<EventUid>) -> Check {
    let mut started: BTreeMap<EventUid, Vec<RunId>> = BTreeMap::new();
    let mut by_key: BTreeMap<String, RunId> = BTreeMap::new();
    for row in state.runs.values() {
        let Some(on) = &row.run.started_on else { continue };
        started.entry(on.event).or_default().push(row.run.id);
        if *on.event_id == *KEYED
            && let Some(other) = by_key.insert(row.run.input["n"].to_string(), row.run.id)
        {
            return Err(format!("{other} and {} were started under one key", row.run.id));
        }
    }
    for event in state.events.iter().map(|row| &row.event) {
        let runs = started.remove(&event.id).unwrap_or_default();
        let most = usize::from([EACH, KEYED].contains(&&*event.event_id) && event.run.is_none());
        if runs.len() > most {
            return Err(format!("{} of {} started {runs:?}", event.id, event.event_id));
        }
        let is_wanted = event.data["kind"] == "this" && *event.event_id == *KEYED;
        if !acknowledged.contains(&event.id) {
            continue;
        }
        if *event.event_id == *EACH && runs.is_empty() {
            return Err(format!("{} of {EACH} was acknowledged, and has started nothing", event.id));
        }
        if is_wanted && !by_key.contains_key(&event.data["n"].to_string()) {
            return Err(format!("{} of {KEYED} was acknowledged, and its key has no run", event.id));
        }
    }
    match started.into_iter().next() {
        Some((event, runs)) => Err(format!("{runs:?} were started on {event}, which is not there")),
        None => Ok(()),
    }
}
