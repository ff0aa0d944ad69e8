//! Runs: started, listed, shown.

mod batch;
pub(super) mod bulk;

use std::time::Duration;

use abide_core::id::{DefinitionId, RunId};
use abide_core::limits;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Kind;
use abide_engine::stored::{Owner, Page, RunFilter, Scope};
use abide_engine::{StartRun, StartedHow, Workers};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::page_size;
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::idempotency::KEY_CHARS;
use crate::request::{Body, Id, IdempotencyKey, Name, Query, cursor, instant_if_given};
use crate::shape::run::{HeldBody, RunBody, StartedBody, SummaryBody};
use crate::shape::{Answer, List, words};

const READ: Access = Access::Key(&[Scope::Read]);
const RUN: Access = Access::Key(&[Scope::Run]);
const LIST: &str = "runs";
/// The longest that a caller may wait for a result in one request.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(300);

pub(super) fn routes() -> Group {
    let path = "/workflow-runs";
    Group::new("runs", "Runs of workflows.")
        .add(
            Endpoint::new(Verb::Post, path, RUN, "Start a run")
                .about(
                    "When the answer comes, the run is on disk. With `?wait=30s` the answer is the run as it ended, or \
                     `202` with the run as it is then.",
                )
                .query::<StartQuery>()
                .body::<StartBody>()
                .idempotent()
                .answer::<StartedBody>(StatusCode::CREATED, "Started.")
                .ok::<RunBody>("With `wait`: the run, which has ended.")
                .answer::<RunBody>(StatusCode::ACCEPTED, "With `wait`: the run, which goes on.")
                .codes(&[
                    Code::UnknownDefinition,
                    Code::InvalidInput,
                    Code::LimitExceeded,
                    Code::QuotaExceeded,
                    Code::PayloadTooLarge,
                    Code::Malformed,
                ]),
            start,
        )
        .add(batch::endpoint(), batch::start_many)
        .add(
            Endpoint::new(Verb::Get, path, READ, "List runs, the newest first")
                .query::<ListQuery>()
                .ok::<List<SummaryBody>>("A page.")
                .codes(&[Code::BadCursor]),
            list,
        )
        .add(
            Endpoint::new(Verb::Get, "/workflow-runs/{id}", READ, "Get a run")
                .ok::<RunBody>("The run as it is now.")
                .codes(&[Code::UnknownRun]),
            get,
        )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StartQuery {
    /// Wait for the run to end: `30s`, `2m`, at most 5 minutes.
    wait: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "StartRun")]
struct StartBody {
    /// Which version of which workflow; or give `name`.
    definition_id: Option<String>,
    /// The workflow's name; its newest version, unless `version` is given.
    #[schemars(length(min = 1, max = limits::WORKFLOW_NAME_CHARS))]
    name: Option<String>,
    #[schemars(length(min = 1, max = limits::VERSION_CHARS))]
    version: Option<String>,
    /// Null if absent.
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    input: Value,
    /// As the header `Idempotency-Key`.
    #[schemars(length(min = 1, max = KEY_CHARS))]
    idempotency_key: Option<String>,
    /// Begin then, not now. A past instant begins now.
    #[serde(default, deserialize_with = "instant_if_given")]
    run_at: Option<Timestamp>,
    #[serde(default)]
    #[schemars(length(max = limits::TAGS))]
    tags: Vec<Name>,
}

async fn start(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<StartQuery>,
    key: IdempotencyKey,
    Body(body): Body<StartBody>,
) -> Result<Response, Problem> {
    let wait = query.wait.as_deref().map(|text| wait_time("/wait", text)).transpose()?;
    let mut body = body;
    let idempotency_key = key.or(body.idempotency_key.take())?;
    let (start, _) = start_of(&app, &caller, body).await?;
    let start = start.idempotency_key(idempotency_key);
    app.may_start(caller.workspace).await?;
    let start = app.engine.workspace(caller.workspace).start_told(start).await?;
    match wait {
        None => Ok(started(&app, StatusCode::CREATED, start.run, start.how)),
        Some(wait) => {
            let run = start.run;
            let status =
                if app.ends_within(run, wait).await? { StatusCode::OK } else { StatusCode::ACCEPTED };
            let body = app.run_body(&caller, &app.run(&caller, run).await?).await?;
            Ok(Answer(status, body).into_response())
        }
    }
}

/// What a body says about a start, without its idempotency key; and the workflow's name and version.
async fn start_of(
    app: &App,
    caller: &Caller,
    body: StartBody,
) -> Result<(StartRun, (String, Option<String>)), Problem> {
    let StartBody { definition_id, name, version, input, idempotency_key: _, run_at, tags } = body;
    let (workflow, version) = which(app, caller, definition_id, name, version).await?;
    let start = StartRun::new(&workflow).version(version.clone()).input(input).run_at(run_at).tags(tags);
    Ok((start.by(caller.actor.clone()).traceparent(caller.traceparent), (workflow, version)))
}

/// The workflow's name and version.
async fn which(
    app: &App,
    caller: &Caller,
    id: Option<String>,
    name: Option<String>,
    version: Option<String>,
) -> Result<(String, Option<String>), Problem> {
    match (id, name, version) {
        (None, Some(name), version) => Ok((name, version)),
        (Some(id), None, None) => {
            let unknown = Problem::new(Code::UnknownDefinition, format!("there is no definition `{id}`"));
            let Ok(id) = id.parse::<DefinitionId>() else { return Err(unknown.at("/definitionId")) };
            let found =
                app.engine.workspace(caller.workspace).definitions().by_id(id).await?.ok_or(unknown)?;
            Ok((found.name, Some(found.version)))
        }
        (None, None, _) => {
            Err(Problem::malformed("", "either `definitionId` or `name` says which workflow to run"))
        }
        (Some(_), _, _) => Err(Problem::malformed(
            "/definitionId",
            "`definitionId` says it all; leave out `name` and `version`",
        )),
    }
}

/// A run that is on disk.
pub(super) fn started(app: &App, status: StatusCode, id: RunId, how: StartedHow) -> Response {
    let (collected, skipped) = (how.is_collected(), how == StartedHow::Skipped);
    let url = app.path_to(&format!("/workflow-runs/{id}"));
    let location = HeaderValue::try_from(&url).expect("an id is a header's value");
    ([(header::LOCATION, location)], Answer(status, StartedBody { id, url, collected, skipped }))
        .into_response()
}

/// A time to wait, as `30s`.
pub(super) fn wait_time(pointer: &'static str, text: &str) -> Result<Duration, Problem> {
    let bad =
        |why: String| Problem::malformed(pointer, format!("{pointer}: {why}; it would look like `30s`"));
    let Millis(ms) = Millis::parse(text).map_err(|error| bad(error.to_string()))?;
    let wait = Duration::from_millis(ms);
    if wait > LONGEST_WAIT {
        return Err(bad(format!("at most {} s can be waited", LONGEST_WAIT.as_secs())));
    }
    Ok(wait)
}

impl App {
    /// Whether the run has ended when the time is over.
    async fn ends_within(&self, run: RunId, wait: Duration) -> Result<bool, Problem> {
        tokio::select! {
            ended = self.engine.run(run).wait() => ended.map(|_| true).map_err(Problem::from),
            () = tokio::time::sleep(wait) => Ok(false),
            () = self.stopped() => Ok(false),
        }
    }

    pub(super) async fn run_body(&self, caller: &Caller, run: &Run) -> Result<RunBody, Problem> {
        let known = self.engine.workspace(caller.workspace).definitions().of_run(&run.definition_ref).await?;
        // Whoever looks at a run that stands still learns why; of the others nobody needs to be asked.
        let is_to_be_done = run.unclaimed_tasks().next().is_some();
        let workers = if is_to_be_done { self.engine.workers().await? } else { Workers::default() };
        let mut body = RunBody::new(run, Some(known.id), &workers);
        body.held = self.engine.holds().get(Owner::Run(run.id)).map(HeldBody::from);
        Ok(body)
    }
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
) -> Result<Answer<RunBody>, Problem> {
    let run = app.run(&caller, run).await?;
    app.run_body(&caller, &run).await.map(Answer::ok)
}

/// What narrows a list of runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "RunFilter")]
pub(super) struct FilterBody {
    #[schemars(schema_with = "words::run_statuses")]
    pub(super) status: Vec<RunStatus>,
    /// The workflow's name.
    pub(super) definition: Option<String>,
    pub(super) version: Option<String>,
    pub(super) tag: Option<String>,
    /// At or after this instant.
    pub(super) created_from: Option<Timestamp>,
    /// Before this instant.
    pub(super) created_before: Option<Timestamp>,
    /// Runs with an open wait of this kind.
    #[schemars(schema_with = "words::kind")]
    pub(super) waits_for: Option<Kind>,
    /// Runs with an open wait for this event id.
    pub(super) event_id: Option<String>,
    /// Runs with an open wait for this signal type.
    pub(super) signal_type: Option<String>,
}

impl FilterBody {
    pub(super) fn of(self, caller: &Caller) -> Result<RunFilter, Problem> {
        let (waits_for, listens_for) = listens_for(self.waits_for, self.event_id, self.signal_type)?;
        Ok(RunFilter {
            workspace: Some(caller.workspace),
            statuses: self.status,
            definition: self.definition,
            version: self.version,
            tag: self.tag,
            created_from: self.created_from,
            created_before: self.created_before,
            waits_for,
            listens_for,
        })
    }
}

/// An event id or a signal type says the kind, too.
pub(super) fn listens_for(
    kind: Option<Kind>,
    event_id: Option<String>,
    signal_type: Option<String>,
) -> Result<(Option<Kind>, Option<String>), Problem> {
    let both =
        |pointer: &'static str, what: &str| Err(Problem::malformed(pointer, format!("{pointer}: {what}")));
    match (kind, event_id, signal_type) {
        (kind, None, None) => Ok((kind, None)),
        (None | Some(Kind::Event), Some(event), None) => Ok((Some(Kind::Event), Some(event))),
        (None | Some(Kind::Signal), None, Some(signal)) => Ok((Some(Kind::Signal), Some(signal))),
        (_, Some(_), Some(_)) => both("/signalType", "a wait is for an event or for a signal, not for both"),
        (Some(_), Some(_), None) => both("/eventId", "only waits of kind EVENT have one"),
        (Some(_), None, Some(_)) => both("/signalType", "only waits of kind SIGNAL have one"),
    }
}

/// Which runs to list, and how far. A name that is not known is refused by the schema of the query.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ListQuery {
    #[serde(flatten)]
    filter: FilterBody,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Items at most; 50 if absent.
    #[schemars(range(min = 1, max = super::LARGEST_PAGE))]
    limit: Option<u32>,
}

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Answer<List<SummaryBody>>, Problem> {
    let ListQuery { filter, cursor, limit } = query;
    let filter = filter.of(&caller)?;
    let page = Page { after: cursor::read::<RunId>(LIST, cursor.as_deref())?, limit: page_size(limit) };
    let size = page.limit;
    let found = app.engine.workspace(caller.workspace).runs().list(filter, page).await?;
    let next_cursor = found.last().filter(|_| found.len() == size).map(|last| cursor::write(LIST, &last.id));
    Ok(Answer::ok(List { data: found.into_iter().map(SummaryBody::from).collect(), next_cursor }))
}
