//! The history of a run: as a list, and as a stream that goes on while the run does.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use abide_core::definition::Definition;
use abide_core::history::{Change, DefinitionRef, KnownWaits};
use abide_core::id::{RunId, WorkspaceId};
use abide_engine::stored::Scope;
use abide_engine::{Follower, Token, TokenFollower};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PAGE_BYTES, page_size};
use crate::app::Shared;
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
/// Records that a stream reads at a time.
const BATCH: usize = 500;
/// Waits that a stream remembers by name; when there are more, it reads those that it needs again.
const KNOWN_WAITS: usize = 10_000;

pub(super) fn routes() -> Group {
    Group::new("history", "What happened to a run: append-only, one record a transition.").add(
        Endpoint::new(Verb::Get, "/workflow-runs/{id}/events", Access::Key(&[Scope::Read]), "Get a run's history")
            .about(
                "With `Accept: text/event-stream` the answer is a stream: what has happened, then what happens, until \
                 the run has ended. While a model answers, its words come as events `token`, without an id: \
                 `{\"stepName\", \"entry\", \"text\"}`. They are not kept; the whole answer is in the journal. `Last-Event-ID` resumes it after that record; a stream that would be empty because \
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
    let begun = match query.cursor.as_deref() {
        Some(cursor) => cursor::read::<Begun>(LIST, Some(cursor))?,
        None => query.after.map(Begun::After),
    };
    if wants_stream(&headers) {
        let resumed = last_event(&headers)?.map(Begun::After);
        return stream(app, caller, run, begun.or(resumed).unwrap_or_default()).await;
    }
    let mut reader = Reader::open(app, caller, run, begun.unwrap_or_default()).await?;
    let size = page_size(query.limit);
    let mut records = reader.next(size + 1).await?;
    let more = records.len() > size || reader.is_behind;
    records.truncate(size);
    let next_cursor = records.last().filter(|_| more).map(|last| {
        let version = reader.version_of(last.seq());
        cursor::write(LIST, &Begun::Of(last.seq(), version))
    });
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

async fn stream(app: Shared, caller: Caller, run: RunId, begun: Begun) -> Result<Response, Problem> {
    // Followed before the first look, so that nothing falls in between.
    let follower = app.engine.run(run).follow();
    let tokens = app.engine.run(run).tokens();
    let mut reader = Reader::open(app, caller, run, begun).await?;
    let records = reader.next(BATCH).await?;
    if records.is_empty() && reader.has_ended {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let live = Live { reader, follower, tokens, ready: records.iter().map(event).collect() };
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

fn token(token: &Token) -> Event {
    Event::default().event("token").data(serde_json::to_string(token).expect("a token is JSON"))
}

/// Where a history is read on.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Begun {
    After(u64),
    /// After a record, and the version of the workflow that the next one is of.
    Of(u64, Arc<str>),
}

impl Default for Begun {
    fn default() -> Begun {
        Begun::After(0)
    }
}

/// Reads on in a history from where it stopped.
struct Reader {
    app: Shared,
    workspace: WorkspaceId,
    run: RunId,
    definition: Arc<Definition>,
    last: u64,
    /// The moves among what was read: the record of each, and the version after it.
    moves: Vec<(u64, Arc<str>)>,
    /// The version of the first record that was read.
    first: Arc<str>,
    /// As of the last record that was read.
    has_ended: bool,
    /// There may be more than was read.
    is_behind: bool,
    /// The waits that were opened in what was read: records name them by number.
    waits: KnownWaits,
}

impl Reader {
    async fn open(app: Shared, caller: Caller, run: RunId, begun: Begun) -> Result<Reader, Problem> {
        let found = app.engine.workspace(caller.workspace).run(run).summary().await?;
        let found = found.ok_or(abide_engine::Error::UnknownRun(run))?;
        let (last, version) = match begun {
            Begun::Of(last, version) => (last, Some(version)),
            Begun::After(last) => (last, version_after(&app, &caller, run, last).await?),
        };
        let version = version.unwrap_or_else(|| Arc::clone(&found.definition.version));
        let of = DefinitionRef { name: Arc::clone(&found.definition.name), version: Arc::clone(&version) };
        let definition = app.engine.workspace(caller.workspace).definitions().of_run(&of).await?.definition;
        Ok(Reader {
            app,
            workspace: caller.workspace,
            run,
            definition,
            last,
            moves: Vec::new(),
            first: version,
            has_ended: found.status.has_ended(),
            is_behind: false,
            waits: KnownWaits::default(),
        })
    }

    /// What comes next, at most so many.
    async fn next(&mut self, limit: usize) -> Result<Vec<RecordBody>, Problem> {
        let (run, last) = (self.run, self.last);
        let of_run = self.app.engine.workspace(self.workspace).run(run);
        let found = of_run.records_after(last, limit, PAGE_BYTES).await?;
        let bytes: usize = found.iter().map(|record| record.change.payload_bytes()).sum();
        self.is_behind = found.len() == limit || bytes >= PAGE_BYTES;
        if let Some(record) = found.last() {
            self.last = record.seq;
            self.has_ended = ends(&record.change);
        }
        if self.waits.len() > KNOWN_WAITS {
            self.waits = KnownWaits::default();
        }
        if self.waits.lacks_some_of(&found) {
            self.read_waits(found.first().map_or(0, |first| first.seq)).await?;
        }
        let mut told = Vec::with_capacity(found.len());
        for record in &found {
            self.waits.read(&record.change);
            told.push(RecordBody::new(run, &self.definition, &self.waits, record));
            if let Change::WorkflowMoved { to, .. } = &record.change {
                self.definition =
                    self.app.engine.workspace(self.workspace).definitions().of_run(to).await?.definition;
                self.moves.push((record.seq, Arc::clone(&to.version)));
            }
        }
        Ok(told)
    }

    /// Reads which waits there were before a record.
    async fn read_waits(&mut self, before: u64) -> Result<(), Problem> {
        self.waits = self.app.engine.workspace(self.workspace).run(self.run).waits_before(before).await?;
        Ok(())
    }

    /// The version that the record after this one is of.
    fn version_of(&self, seq: u64) -> Arc<str> {
        let before = self.moves.iter().rev().find(|(moved, _)| *moved <= seq);
        Arc::clone(before.map_or(&self.first, |(_, version)| version))
    }
}

/// The version that the record after this one is of, where nobody says.
async fn version_after(
    app: &Shared,
    caller: &Caller,
    run: RunId,
    last: u64,
) -> Result<Option<Arc<str>>, Problem> {
    if last == 0 {
        let of_run = app.engine.workspace(caller.workspace).run(run);
        let first =
            of_run.records_after(0, 1, PAGE_BYTES).await?.into_iter().next().map(|record| record.change);
        let Some(Change::WorkflowCreated(creation)) = first else { return Ok(None) };
        return Ok(Some(creation.definition.version));
    }
    // One that cannot be loaded is told as what it is.
    let found = app.run(caller, run).await.ok();
    Ok(found.map(|found| Arc::clone(&found.version_at(last + 1).version)))
}

fn ends(change: &Change) -> bool {
    matches!(
        change,
        Change::WorkflowCompleted { .. } | Change::WorkflowFailed { .. } | Change::WorkflowCancelled { .. }
    )
}

/// A stream under way.
struct Live {
    reader: Reader,
    follower: Follower,
    tokens: TokenFollower,
    ready: VecDeque<Event>,
}

impl Live {
    async fn step(mut self) -> Option<(Result<Event, Infallible>, Live)> {
        while self.ready.is_empty() {
            if !self.reader.is_behind {
                if self.reader.has_ended {
                    return None;
                }
                let app = Shared::clone(&self.reader.app);
                tokio::select! {
                    biased;
                    changed = self.follower.changed() => changed.ok()?,
                    said = self.tokens.next() => return Some((Ok(token(&said)), self)),
                    () = app.stopped() => return None,
                }
            }
            // If it fails, whoever reads it comes back and goes on after the last record that it has.
            let records = self.reader.next(BATCH).await.ok()?;
            self.ready = records.iter().map(event).collect();
        }
        // What a model said comes before the record that holds it.
        if let Some(said) = self.tokens.ready() {
            return Some((Ok(token(&said)), self));
        }
        let event = self.ready.pop_front()?;
        Some((Ok(event), self))
    }
}
