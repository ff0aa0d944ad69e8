//! Which waiting runs a new version of a workflow would strand, before it is deployed: each is looked at as a move would
//! look at it, and told by where it waits. A request looks at a bounded number of them, and its cursor goes on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use abide_core::definition::{Definition, Rejected};
use abide_core::id::RunId;
use abide_core::moving::{Misfit, MisfitCode};
use abide_core::problem::Problem as Finding;
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_engine::Error;
use abide_engine::stored::{Page, RunFilter, Scope};
use axum::extract::{Request, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::definitions::{DOCUMENTS, read};
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::guard::Access;
use crate::problem::{Code, FindingBody, Problem};
use crate::request::{Query, cursor};
use crate::shape::Answer;

const LIST: &str = "check-runs";
/// Runs that one request looks at.
const RUNS: u32 = 5_000;
const RUNS_IF_ABSENT: u32 = 1_000;
/// Runs that are read between two looks at the clock.
const AT_ONCE: usize = 100;
/// After so long a request answers with what it has.
const LONGEST: Duration = Duration::from_secs(10);
/// Groups that are told; runs of further ones are counted.
const GROUPS: usize = 200;
/// Run ids that are told of each group.
const EXAMPLES: usize = 5;
/// Those that can be moved, and so might be.
pub(super) const STANDING_STILL: [RunStatus; 3] = [RunStatus::Waiting, RunStatus::Paused, RunStatus::Pending];

pub(super) fn endpoint() -> Endpoint {
    let access = Access::Key(&[Scope::Read]);
    Endpoint::new(Verb::Post, "/workflow-definitions/check-runs", access, "Check a workflow against the runs that wait")
        .about(
            "The body is the new version, in JSON or YAML; nothing is stored. Each run of the workflow that is WAITING, \
             PAUSED or PENDING is looked at as a move to it would, the newest first, and the answer groups them by version, by the steps where \
             they wait and by what does not fit. One answer covers some of them; `nextCursor` goes on.",
        )
        .query::<CheckQuery>()
        .any_body(DOCUMENTS)
        .ok::<CheckedRuns>("What was found, good or bad.")
        .codes(&[Code::BadCursor])
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckQuery {
    /// Only runs of this version.
    from: Option<String>,
    /// The `nextCursor` of the request before.
    cursor: Option<String>,
    /// Runs at most; 1000 if absent.
    #[schemars(range(min = 1, max = RUNS))]
    limit: Option<u32>,
}

/// How the runs that wait would fit a new version.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckedRuns")]
pub(super) struct CheckedRuns {
    /// Whether the document is a workflow; otherwise `problems` says what is wrong, and no run was looked at.
    valid: bool,
    #[schemars(with = "Vec<FindingBody>")]
    problems: Vec<Finding>,
    /// Of the new version.
    name: Option<String>,
    version: Option<String>,
    /// Runs that were looked at.
    looked_at: usize,
    /// Those that could be moved.
    fit: usize,
    /// Those whose past does not fit.
    stranded: usize,
    /// Those that have changed since they were found, or cannot be read.
    unclear: usize,
    /// Runs alike.
    groups: Vec<Group>,
    /// Runs of groups that are not told, because there are too many.
    not_told: usize,
    /// There may be more: give it as `cursor`.
    next_cursor: Option<String>,
}

/// Runs of one version that wait at the same steps, and what keeps them from the new one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckedGroup")]
struct Group {
    version: String,
    /// The steps where they wait; empty: for their start.
    waiting_at: Vec<String>,
    /// How many there are.
    runs: usize,
    fits: bool,
    misfits: Vec<MisfitBody>,
    /// Some of them.
    #[schemars(with = "Vec<String>")]
    examples: Vec<RunId>,
}

/// One reason why a run does not fit another version.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Misfit")]
struct MisfitBody {
    /// Stable; see `docs/reference/definitions.md`.
    #[schemars(with = "String")]
    code: MisfitCode,
    /// The step it is about.
    step: Option<String>,
    reason: String,
}

impl From<Misfit> for MisfitBody {
    fn from(misfit: Misfit) -> MisfitBody {
        let Misfit { code, step, reason } = misfit;
        MisfitBody { code, step, reason }
    }
}

pub(super) async fn check_runs(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<CheckQuery>,
    request: Request,
) -> Result<Answer<CheckedRuns>, Problem> {
    let after = cursor::read::<RunId>(LIST, query.cursor.as_deref())?;
    let limit = usize::try_from(query.limit.unwrap_or(RUNS_IF_ABSENT)).unwrap_or(usize::MAX);
    let definition = match read(&app, request).await? {
        Ok(checked) => Arc::new(checked.definition),
        Err(Rejected { problems, .. }) => {
            return Ok(Answer::ok(Found::default().into_body(None, problems, None)));
        }
    };
    let filter = RunFilter {
        workspace: Some(caller.workspace),
        statuses: STANDING_STILL.to_vec(),
        definition: Some(definition.name().to_owned()),
        version: query.from,
        ..RunFilter::default()
    };
    let (page, own) = (Page { after, limit }, app.engine.workspace(caller.workspace));
    let ids = own.runs().ids(filter, page).await?;
    let begun = Instant::now();
    let mut found = Found::default();
    let mut last = None;
    for few in ids.chunks(AT_ONCE) {
        // One that cannot be read keeps none of the others back.
        let all = own.runs().read(few.to_vec()).await.ok();
        for id in few {
            let alone = match &all {
                Some(_) => None,
                None => own.runs().read(vec![*id]).await.ok(),
            };
            match all.as_ref().or(alone.as_ref()).and_then(|runs| runs.get(id)) {
                Some(run) => found.look_at(&app, run, &definition).await,
                None => found.unclear(),
            }
        }
        last = few.last().copied();
        if begun.elapsed() >= LONGEST {
            break;
        }
    }
    let is_all = ids.len() < limit && last == ids.last().copied();
    let next_cursor = last.filter(|_| !is_all).map(|last| cursor::write(LIST, &last));
    Ok(Answer::ok(found.into_body(Some(&definition), Vec::new(), next_cursor)))
}

/// The version of runs, where they wait, and what does not fit.
type Alike = (String, Vec<String>, Vec<Misfit>);

/// What was found so far.
#[derive(Default)]
struct Found {
    looked_at: usize,
    fit: usize,
    stranded: usize,
    unclear: usize,
    groups: BTreeMap<Alike, (usize, Vec<RunId>)>,
    not_told: usize,
}

impl Found {
    fn unclear(&mut self) {
        self.looked_at += 1;
        self.unclear += 1;
    }

    async fn look_at(&mut self, app: &App, run: &Run, to: &Arc<Definition>) {
        let misfits = match app.engine.workspace(run.workspace).runs().check_move(run, to).await {
            Ok(()) => Vec::new(),
            Err(Error::Refused(Refusal::DoesNotFit(misfits))) => misfits,
            Err(_) => return self.unclear(),
        };
        self.looked_at += 1;
        if misfits.is_empty() {
            self.fit += 1;
        } else {
            self.stranded += 1;
        }
        let key = (run.definition_ref.version.to_string(), waiting_at(run), misfits);
        if self.groups.len() >= GROUPS && !self.groups.contains_key(&key) {
            self.not_told += 1;
            return;
        }
        let (runs, examples) = self.groups.entry(key).or_default();
        *runs += 1;
        if examples.len() < EXAMPLES {
            examples.push(run.id);
        }
    }

    fn into_body(
        self,
        definition: Option<&Definition>,
        problems: Vec<Finding>,
        next_cursor: Option<String>,
    ) -> CheckedRuns {
        let Found { looked_at, fit, stranded, unclear, groups, not_told } = self;
        let groups = groups.into_iter().map(|((version, waiting_at, misfits), (runs, examples))| Group {
            version,
            waiting_at,
            runs,
            fits: misfits.is_empty(),
            misfits: misfits.into_iter().map(MisfitBody::from).collect(),
            examples,
        });
        let mut groups: Vec<Group> = groups.collect();
        // What needs somebody's attention comes first.
        groups.sort_by_key(|group| (group.fits, std::cmp::Reverse(group.runs)));
        CheckedRuns {
            valid: definition.is_some(),
            problems,
            name: definition.map(|it| it.name().to_owned()),
            version: definition.map(|it| it.version().to_owned()),
            looked_at,
            fit,
            stranded,
            unclear,
            groups,
            not_told,
            next_cursor,
        }
    }
}

/// The steps whose waits are open, by name; items of a map are one.
fn waiting_at(run: &Run) -> Vec<String> {
    let places = run.open_waitpoints().filter(|wait| !wait.is_aside()).filter_map(|wait| wait.at);
    let mut names: Vec<String> = places.map(|at| run.definition.step(at.step).name.to_string()).collect();
    names.sort();
    names.dedup();
    names
}
