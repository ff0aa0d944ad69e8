//! The history of a run: as a list, and as a stream that goes on while the run does.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use abide_core::definition::Definition;
use abide_core::history::Change;
use abide_core::id::RunId;
use abide_engine::Follower;
use abide_store::{Scope, StoredRun};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use schemars::JsonSchema;
use serde::Deserialize;

use super::page_size;
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Id, Query, cursor};
use crate::shape::record::RecordBody;
use crate::shape::{Answer, List};

const LIST: &str = "history";
/// A stream that has nothing to say says so this often, so that nobody in between thinks it dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const STREAM: &str = "text/event-stream";

pub(super) fn routes() -> Group {
    Group::new("history", "What happened to a run: append-only, one record a transition.").add(
        Endpoint::new(Verb::Get, "/workflow-runs/{id}/events", Access::Key(&[Scope::Read]), "Get a run's history")
            .about(
                "With `Accept: text/event-stream` the answer is a stream: what has happened, then what happens, until \
                 the run has ended. `Last-Event-ID` resumes it after that record; a stream that would be empty because \
                 the run has ended is answered with 204, so that an EventSource stops asking.",
            )
            .query::<HistoryQuery>()
            .ok::<List<RecordBody>>("A page, or a stream.")
            .empty(StatusCode::NO_CONTENT, "A stream was asked for, and nothing more will come.")
            .codes(&[Code::UnknownRun, Code::BadCursor]),
        history,
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HistoryQuery {
    /// Only records after this one, by its `seq`.
    after: Option<u64>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Items at most; 50 if absent.
    #[schemars(range(min = 1, max = super::LARGEST_PAGE))]
    limit: Option<u32>,
}

async fn history(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
    Query(query): Query<HistoryQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = match query.cursor.as_deref() {
        Some(cursor) => cursor::read::<u64>(LIST, Some(cursor))?,
        None => query.after,
    };
    if wants_stream(&headers) {
        return stream(app, caller, run, after.or(last_event(&headers)?).unwrap_or(0)).await;
    }
    let follower = None;
    let mut reader = Reader { app, caller, run, definition: None, last: after.unwrap_or(0), follower };
    let (mut records, _) = reader.next().await?;
    let size = page_size(query.limit);
    let more = records.len() > size;
    records.truncate(size);
    let next_cursor = records.last().filter(|_| more).map(|last| cursor::write(LIST, &last.seq()));
    Ok(Answer::ok(List { data: records, next_cursor }).into_response())
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|part| part.trim().starts_with(STREAM))
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    let bad = || Problem::malformed("/Last-Event-ID", "`Last-Event-ID` is not the number of a record");
    number.map(Some).ok_or_else(bad)
}

async fn stream(app: Shared, caller: Caller, run: RunId, last: u64) -> Result<Response, Problem> {
    // Followed before the first look, so that nothing falls in between.
    let follower = Some(app.engine.follow(run));
    let mut reader = Reader { app, caller, run, definition: None, last, follower };
    let (records, has_ended) = reader.next().await?;
    if records.is_empty() && has_ended {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let live = Live { reader, ready: records.iter().map(event).collect(), has_ended };
    let events = stream::unfold(live, Live::step);
    Ok(sse(events))
}

fn sse(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

fn event(record: &RecordBody) -> Event {
    let data = serde_json::to_string(record).expect("a record is JSON");
    Event::default().id(record.seq().to_string()).event(record.type_name()).data(data)
}

/// Reads on in a history from where it stopped.
struct Reader {
    app: Shared,
    caller: Caller,
    run: RunId,
    definition: Option<Arc<Definition>>,
    last: u64,
    follower: Option<Follower>,
}

impl Reader {
    /// What has been added, and whether the run has ended.
    async fn next(&mut self) -> Result<(Vec<RecordBody>, bool), Problem> {
        let stored = self.app.stored_run(&self.caller, self.run).await?;
        let definition = match &self.definition {
            Some(definition) => Arc::clone(definition),
            None => self.app.definition(self.caller.workspace, &stored.definition).await?.definition,
        };
        let new = stored.history.iter().filter(|record| record.seq > self.last);
        let records: Vec<_> = new.map(|record| RecordBody::new(self.run, &definition, record)).collect();
        self.last = records.last().map_or(self.last, RecordBody::seq);
        self.definition = Some(definition);
        Ok((records, has_ended(&stored)))
    }
}

fn has_ended(stored: &StoredRun) -> bool {
    stored.history.last().is_some_and(|record| {
        matches!(
            record.change,
            Change::WorkflowCompleted { .. }
                | Change::WorkflowFailed { .. }
                | Change::WorkflowCancelled { .. }
        )
    })
}

/// A stream under way.
struct Live {
    reader: Reader,
    ready: VecDeque<Event>,
    has_ended: bool,
}

impl Live {
    async fn step(mut self) -> Option<(Result<Event, Infallible>, Live)> {
        while self.ready.is_empty() {
            if self.has_ended {
                return None;
            }
            let follower = self.reader.follower.as_mut()?;
            let app = Shared::clone(&self.reader.app);
            tokio::select! {
                changed = follower.changed() => changed.ok()?,
                () = app.stopped() => return None,
            }
            // Whoever reads it comes back and goes on after the last record that it has.
            let (records, has_ended) = self.reader.next().await.ok()?;
            self.ready = records.iter().map(event).collect();
            self.has_ended = has_ended;
        }
        let event = self.ready.pop_front()?;
        Some((Ok(event), self))
    }
}

impl App {
    async fn stored_run(&self, caller: &Caller, run: RunId) -> Result<StoredRun, Problem> {
        let stored = self.engine.read(move |store| store.load(run)).await?;
        let own = stored.filter(|stored| stored.workspace == caller.workspace);
        own.ok_or_else(|| abide_engine::Error::UnknownRun(run).into())
    }
}
