//! What events start, by the `startOn` of workflows.

use std::sync::Arc;

use abide_core::event_start::{EventStart, EventStartOutcome, RefusedStart};
use abide_core::id::{EventUid, RunId};
use abide_engine::StartedOnEvent;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::READ;
use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::problem::{Code, Problem};
use crate::request::{Query, cursor};
use crate::routes::{LARGEST_PAGE, page_size};
use crate::shape::{Answer, List};

const STARTS: &str = "event-starts";

pub(super) fn endpoint() -> Endpoint {
    Endpoint::new(Verb::Get, "/events/starts", READ, "List which workflows events start")
        .about("By the `startOn` of their newest versions, in the order of the event ids.")
        .query::<StartsQuery>()
        .ok::<List<StartedOnEventBody>>("A page.")
        .codes(&[Code::BadCursor])
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StartsQuery {
    /// Only what events of this id start.
    event_id: Option<String>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Items at most, about; 50 if absent.
    #[schemars(range(min = 1, max = LARGEST_PAGE))]
    limit: Option<u32>,
}

/// What an event started, was to start, or would start.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EventStart")]
pub(super) struct EventStartBody {
    /// The workflow's name.
    #[schemars(with = "String")]
    workflow: Arc<str>,
    #[schemars(with = "String")]
    version: Arc<str>,
    outcome: EventStartOutcomeBody,
    /// The run, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    run_id: Option<RunId>,
    /// Why there is no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<StartProblem>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EventStartOutcome")]
enum EventStartOutcomeBody {
    /// The run is new.
    Started,
    /// The start was added to a run that collects those of its key.
    Collected,
    /// An event with the same idempotency key started the run before.
    Repeated,
    /// There is no run; `problem` says why.
    Refused,
    /// A dry run: there would be a new run.
    WouldStart,
}

/// Why an event started no run.
#[derive(Debug, Serialize, JsonSchema)]
struct StartProblem {
    /// Stable; what a program may rely on.
    #[schemars(with = "String")]
    code: Arc<str>,
    detail: String,
}

impl From<EventStart> for EventStartBody {
    fn from(start: EventStart) -> EventStartBody {
        let EventStart { workflow, version, outcome } = start;
        let (outcome, run_id, problem) = match outcome {
            EventStartOutcome::Started(run) => (EventStartOutcomeBody::Started, Some(run), None),
            EventStartOutcome::Collected(run) => (EventStartOutcomeBody::Collected, Some(run), None),
            EventStartOutcome::Repeated(run) => (EventStartOutcomeBody::Repeated, Some(run), None),
            EventStartOutcome::Refused { code, message } => {
                (EventStartOutcomeBody::Refused, None, Some(StartProblem { code, detail: message }))
            }
            EventStartOutcome::WouldStart => (EventStartOutcomeBody::WouldStart, None, None),
        };
        EventStartBody { workflow, version, outcome, run_id, problem }
    }
}

/// A workflow that an event starts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StartedOnEvent")]
pub(super) struct StartedOnEventBody {
    event_id: String,
    /// The workflow's name.
    workflow: String,
    /// The newest version of the workflow.
    version: String,
    /// The condition that an event must satisfy.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    matching: Option<String>,
    /// The last start that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_refused: Option<RefusedStartBody>,
}

/// A start on an event that was refused.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RefusedStart")]
struct RefusedStartBody {
    #[schemars(with = "String")]
    event: EventUid,
    at: Timestamp,
    #[schemars(with = "String")]
    code: Arc<str>,
    detail: String,
}

impl From<RefusedStart> for RefusedStartBody {
    fn from(refused: RefusedStart) -> RefusedStartBody {
        let RefusedStart { event, at, code, message } = refused;
        RefusedStartBody { event, at, code, detail: message }
    }
}

pub(super) async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<StartsQuery>,
) -> Result<Answer<List<StartedOnEventBody>>, Problem> {
    let after = cursor::read::<(String, String)>(STARTS, query.cursor.as_deref())?;
    let events = app.engine.workspace(caller.workspace).events();
    let (found, next) = events.starts(query.event_id, after, page_size(query.limit)).await?;
    let data = found.into_iter().map(|start| {
        let StartedOnEvent { event_id, workflow, version, matching, refused } = start;
        let last_refused = refused.map(RefusedStartBody::from);
        StartedOnEventBody { event_id, workflow, version, matching, last_refused }
    });
    let next_cursor = next.map(|next| cursor::write(STARTS, &next));
    Ok(Answer::ok(List { data: data.collect(), next_cursor }))
}
