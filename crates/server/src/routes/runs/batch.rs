//! Many runs started with one request. Each start has its own answer: a run, or why there is none.

use std::collections::HashMap;

use abide_core::id::RunId;
use abide_engine::stored::Scope;
use abide_engine::{StartRun, StartedHow};
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{StartBody, start_of};
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem, ProblemBody};
use crate::request::body::REPORTS_BYTES;
use crate::request::{Body, IdempotencyKey, idempotency, schema};
use crate::shape::Answer;

/// Runs that one request starts.
const STARTS: u32 = 5_000;

pub(in crate::routes) fn endpoint() -> Endpoint {
    Endpoint::new(Verb::Post, "/workflow-runs/batch", Access::Key(&[Scope::Run]), "Start many runs")
        .about(
            "Up to 5000 starts of together 8 MiB. Each is as in *Start a run* and has its own answer, in the same order: one \
             that is refused hinders no other. When the answer comes, the runs are on disk; hundreds are committed \
             together. With the header `Idempotency-Key`, a start without a key of its own has the key `{header}/{index}`, \
             so that the same request again starts nothing twice.",
        )
        .body::<BatchBody>()
        .idempotent()
        .ok::<BatchDone>("An answer for each.")
        .codes(&[Code::QuotaExceeded, Code::PayloadTooLarge, Code::Malformed])
}

/// The body, as it is documented.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StartRuns")]
struct BatchBody {
    #[schemars(length(min = 1, max = STARTS))]
    #[allow(
        dead_code,
        reason = "each start is read by itself, so that one that is malformed hinders no other"
    )]
    runs: Vec<StartBody>,
}

/// The body, as it is read: whether each start is well-formed is told in its own answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::routes) struct Starts {
    #[schemars(length(min = 1, max = STARTS))]
    runs: Vec<Value>,
}

/// What became of many starts.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StartedRuns")]
pub(in crate::routes) struct BatchDone {
    /// How many runs were started.
    created: usize,
    /// How many runs were cancelled at once, because there was no room under a limit whose `whenFull` is `skip`.
    skipped: usize,
    /// How many starts were added to runs that collect those of their key, by the `debounce` of the workflow.
    collected: usize,
    /// How many starts were carried out before, under the same idempotency key.
    repeated: usize,
    /// How many starts were refused.
    refused: usize,
    /// In the order of the starts.
    results: Vec<StartDone>,
}

/// What became of one of many starts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StartResult")]
struct StartDone {
    /// The place of the start in the request, from 0.
    index: usize,
    outcome: StartOutcome,
    /// The run, unless the start was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    id: Option<RunId>,
    /// Where the run can be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Why the start was refused. Its places are in the start, not in the whole request.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemBody>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StartOutcome")]
enum StartOutcome {
    /// The run is new.
    Created,
    /// The run is new and was cancelled at once: there was no room under a limit whose `whenFull` is `skip`.
    Skipped,
    /// The start was added to a run that collects those of its key.
    Collected,
    /// The same start was carried out before, under the same idempotency key.
    Repeated,
    /// There is no run; `problem` says why.
    Refused,
}

impl From<StartedHow> for StartOutcome {
    fn from(how: StartedHow) -> StartOutcome {
        match how {
            StartedHow::Created => StartOutcome::Created,
            StartedHow::Skipped => StartOutcome::Skipped,
            StartedHow::Collected => StartOutcome::Collected,
            StartedHow::Repeated { .. } => StartOutcome::Repeated,
        }
    }
}

impl BatchDone {
    fn add(&mut self, app: &App, result: Result<(RunId, StartOutcome), Problem>) {
        let index = self.results.len();
        let done = match result {
            Ok((run, outcome)) => {
                let url = app.path_to(&format!("/workflow-runs/{run}"));
                StartDone { index, outcome, id: Some(run), url: Some(url), problem: None }
            }
            Err(problem) => {
                let (outcome, problem) = (StartOutcome::Refused, Some(problem.into_body()));
                StartDone { index, outcome, id: None, url: None, problem }
            }
        };
        match done.outcome {
            StartOutcome::Created => self.created += 1,
            StartOutcome::Skipped => self.skipped += 1,
            StartOutcome::Collected => self.collected += 1,
            StartOutcome::Repeated => self.repeated += 1,
            StartOutcome::Refused => self.refused += 1,
        }
        self.results.push(done);
    }
}

pub(in crate::routes) async fn start_many(
    State(app): State<Shared>,
    caller: Caller,
    key: IdempotencyKey,
    Body(body): Body<Starts, REPORTS_BYTES>,
) -> Result<Answer<BatchDone>, Problem> {
    app.may_store(caller.workspace).await?;
    let key = key.only();
    let mut known = HashMap::new();
    let mut starts = Vec::with_capacity(body.runs.len());
    let mut asked: Vec<Result<(), Problem>> = Vec::with_capacity(body.runs.len());
    for (index, start) in body.runs.into_iter().enumerate() {
        let mut start = match schema::fit::<StartBody>(start) {
            Ok(start) => start,
            Err(problem) => {
                asked.push(Err(problem));
                continue;
            }
        };
        let own = start.idempotency_key.take();
        let checked = own.as_deref().map_or(Ok(()), idempotency::check);
        let start = match checked.and_then(|()| app.may_start_now(caller.workspace)) {
            Ok(()) => app.known_start(&caller, start, &mut known).await,
            Err(problem) => Err(problem),
        };
        let key = own.or_else(|| key.as_ref().map(|key| format!("{key}/{index}")));
        asked.push(start.map(|start| starts.push(start.idempotency_key(key))));
    }
    let started = app.engine.workspace(caller.workspace).start_many(starts).await;
    let mut started = started.into_iter();
    let mut done = BatchDone::default();
    for asked in asked {
        let started = asked.map(|()| started.next().expect("there is an answer to each start"));
        done.add(&app, started.and_then(|started| Ok(started.map(|it| (it.run, it.how.into()))?)));
    }
    Ok(Answer(StatusCode::OK, done))
}

/// Names and versions of definitions by their id, so that each is looked up once.
type Known = HashMap<String, (String, Option<String>)>;

impl App {
    async fn known_start(
        &self,
        caller: &Caller,
        mut start: StartBody,
        known: &mut Known,
    ) -> Result<StartRun, Problem> {
        let id = start.definition_id.clone().filter(|_| start.name.is_none() && start.version.is_none());
        if let Some((name, version)) = id.as_ref().and_then(|id| known.get(id)) {
            (start.definition_id, start.name, start.version) = (None, Some(name.clone()), version.clone());
        }
        let (start, workflow) = start_of(self, caller, start).await?;
        known.extend(id.map(|id| (id, workflow)));
        Ok(start)
    }
}
