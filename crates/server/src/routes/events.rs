//! Events: sent to everyone who waits for them, or will.

mod starts;

use std::sync::Arc;

use abide_core::command::Event;
use abide_core::definition::document::FanOut;
use abide_core::id::{EventUid, RunId, WaitpointId};
use abide_core::json::Json;
use abide_engine::stored::{Page, Scope, Waiter};
use abide_engine::{EventPage, SendEvent, Sender};
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::starts::EventStartBody;
use super::tasks::Lease;
use super::{PAGE_BYTES, PageQuery, page_size};
use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::idempotency::KEY_CHARS;
use crate::request::{Body, Id, IdempotencyKey, Name, Query, cursor};
use crate::shape::{Answer, List, words};

const READ: Access = Access::Key(&[Scope::Read]);
const EVENTS: &str = "events";
const WAITERS: &str = "waiters";

pub(super) fn routes() -> Group {
    Group::new(
        "events",
        "Events to everyone. An event is stored first, so that a wait that begins later sees it.",
    )
    .add(
        Endpoint::new(Verb::Post, "/events", Access::Key(&[Scope::Run, Scope::Worker]), "Send an event")
            .about(
                "A key that has the scope `worker` and not `run` may send events only in the name of a task that it has: with \
                 its `leaseToken`.",
            )
            .body::<SendEventBody>()
            .idempotent()
            .ok::<EventSentBody>("The waits that took it and the runs that it started, or with `dryRun` would.")
            .codes(&[
                Code::UnknownRun,
                Code::PayloadTooLarge,
                Code::BadLease,
                Code::StaleLease,
                Code::RunEnded,
                Code::WrongStepStatus,
            ]),
        notify,
    )
    .add(starts::endpoint(), starts::list)
    .add(
        Endpoint::new(Verb::Get, "/events", READ, "List events, the one received last first")
            .query::<ListQuery>()
            .ok::<List<EventBody>>("A page.")
            .codes(&[Code::BadCursor]),
        list,
    )
    .add(
        Endpoint::new(
            Verb::Get,
            "/events/{eventId}/waiters",
            READ,
            "List who waits for an event, the oldest first",
        )
        .query::<PageQuery>()
        .ok::<List<WaiterBody>>("A page.")
        .codes(&[Code::BadCursor]),
        waiters,
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "SendEvent")]
struct SendEventBody {
    event_id: Name,
    /// Null if absent.
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    event_data: Value,
    /// Only to this run.
    workflow_run_id: Option<String>,
    /// To everyone who waits, or only to the one who has waited longest.
    #[serde(default)]
    delivery: FanOutBody,
    /// As the header `Idempotency-Key`.
    #[schemars(length(min = 1, max = KEY_CHARS))]
    idempotency_key: Option<String>,
    /// Only say whom it would wake, and what it would start.
    #[serde(default)]
    dry_run: bool,
    /// Of the task whose handler sends it. The event is sent only while the task is leased to it, and stands in the history
    /// of its run; the same request again under its idempotency key is answered later, too.
    lease_token: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum FanOutBody {
    #[default]
    All,
    One,
}

/// Whom an event woke.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EventSent")]
struct EventSentBody {
    /// Null for a dry run.
    #[schemars(with = "Option<String>")]
    id: Option<EventUid>,
    dry_run: bool,
    /// The waits that took it before this answer was given.
    waiters: Vec<WokenBody>,
    /// What it started, by the `startOn` of workflows, before this answer was given; with `dryRun`: what it would start.
    started: Vec<EventStartBody>,
    /// The event is kept: a wait that begins later, and looks back to it, takes it. To send it again would be a second event.
    stored: bool,
    /// For whom: `everyone`, or the run it was sent to. Null: it was not stored.
    kept_for: Option<String>,
    /// The event is stored, and on its way to more waiters, or to more runs that it starts, than one round has room for. That
    /// goes on by itself, after a restart too; there is no need to send it again.
    delivering: bool,
}

/// What a key with the scope `worker` alone is told.
const NEEDS_LEASE: &str = "this needs a key with the scope `run`; with the scope `worker`, send the event in the name of a \
                           task that you have: give its `leaseToken`, without `dryRun`";

/// For whom an event is kept that was sent to nobody in particular.
const EVERYONE: &str = "everyone";

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Woken")]
struct WokenBody {
    #[schemars(with = "String")]
    run_id: RunId,
    #[schemars(with = "String")]
    waitpoint_id: WaitpointId,
}

async fn notify(
    State(app): State<Shared>,
    caller: Caller,
    key: IdempotencyKey,
    Body(body): Body<SendEventBody>,
) -> Result<Answer<EventSentBody>, Problem> {
    let SendEventBody {
        event_id,
        event_data,
        workflow_run_id,
        delivery,
        idempotency_key,
        dry_run,
        lease_token,
    } = body;
    if !caller.may(&[Scope::Run]) && (lease_token.is_none() || dry_run) {
        return Err(Problem::new(Code::Forbidden, NEEDS_LEASE));
    }
    let sender = match lease_token {
        None => None,
        Some(token) => {
            let Lease { run, at, lease_epoch } = app.lease(&caller, &token).await?;
            Some(Sender { run, at, lease_epoch, by: caller.actor.clone() })
        }
    };
    let run = match workflow_run_id {
        None => None,
        Some(text) => {
            let unknown = |detail: String| Problem::new(Code::UnknownRun, detail).at("/workflowRunId");
            let run: RunId = text.parse().map_err(|error| unknown(format!("{error}")))?;
            app.run(&caller, run).await?;
            Some(run)
        }
    };
    let fan_out = match delivery {
        FanOutBody::All => FanOut::All,
        FanOutBody::One => FanOut::One,
    };
    let event = SendEvent::new(event_id).data(event_data).only_to(run).fan_out(fan_out).dry_run(dry_run);
    let event = event.sent_by(sender);
    let event = event.idempotency_key(key.or(idempotency_key)?).traceparent(caller.traceparent);
    if !dry_run {
        app.may_store(caller.workspace).await?;
    }
    let sent = app.engine.workspace(caller.workspace).events().send(event).await?;
    let stored = sent.is_stored();
    let kept_for = stored.then(|| run.map_or_else(|| EVERYONE.to_owned(), |run| run.to_string()));
    let waiters = sent.waiters.into_iter();
    let waiters = waiters.map(|id| WokenBody { run_id: id.run, waitpoint_id: id }).collect();
    let delivering = sent.delivering;
    let started = sent.starts.into_iter().map(EventStartBody::from).collect();
    Ok(Answer::ok(EventSentBody { id: sent.id, dry_run, waiters, started, stored, kept_for, delivering }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListQuery {
    /// Only events of this id.
    event_id: Option<String>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Items at most; 50 if absent.
    #[schemars(range(min = 1, max = super::LARGEST_PAGE))]
    limit: Option<u32>,
}

/// An event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Event")]
struct EventBody {
    #[schemars(with = "String")]
    id: EventUid,
    #[schemars(with = "String")]
    event_id: Arc<str>,
    #[schemars(schema_with = "words::any")]
    event_data: Json,
    received_at: Timestamp,
}

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Answer<List<EventBody>>, Problem> {
    let after = cursor::read::<(Timestamp, EventUid)>(EVENTS, query.cursor.as_deref())?;
    let (limit, event_id) = (page_size(query.limit), query.event_id);
    let page = Page { after, limit };
    let EventPage { events: found, more } =
        app.engine.workspace(caller.workspace).events().list(event_id, page, PAGE_BYTES).await?;
    let last = found.last().filter(|_| more);
    let next_cursor = last.map(|last| cursor::write(EVENTS, &(last.received_at, last.id)));
    let data = found.into_iter().map(|event| {
        let Event { id, event_id, data, received_at, .. } = event;
        EventBody { id, event_id, event_data: data, received_at }
    });
    Ok(Answer::ok(List { data: data.collect(), next_cursor }))
}

/// A wait for an event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Waiter")]
struct WaiterBody {
    #[schemars(with = "String")]
    run_id: RunId,
    #[schemars(with = "String")]
    waitpoint_id: WaitpointId,
    since: Timestamp,
    /// The wait's deadline; null: none.
    resume_at: Option<Timestamp>,
    /// The condition that an event must satisfy.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    matching: Option<String>,
}

async fn waiters(
    State(app): State<Shared>,
    caller: Caller,
    Id(event_id): Id<String>,
    Query(query): Query<PageQuery>,
) -> Result<Answer<List<WaiterBody>>, Problem> {
    let after = cursor::read::<(Timestamp, WaitpointId)>(WAITERS, query.cursor.as_deref())?;
    let limit = page_size(query.limit);
    let found =
        app.engine.workspace(caller.workspace).events().waiters(event_id, Page { after, limit }).await?;
    let last = found.last().filter(|_| found.len() == limit);
    let next_cursor = last.map(|last| cursor::write(WAITERS, &(last.created_at, last.waitpoint)));
    let data = found.into_iter().map(|waiter| {
        let Waiter { waitpoint, workspace: _, created_at, filter, resume_at } = waiter;
        let matching = filter.matching.as_ref().map(|matching| matching.source().to_owned());
        WaiterBody { run_id: waitpoint.run, waitpoint_id: waitpoint, since: created_at, resume_at, matching }
    });
    Ok(Answer::ok(List { data: data.collect(), next_cursor }))
}
