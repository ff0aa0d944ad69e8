//! The same command to every run that a filter finds, with a dry run that only counts.

use std::sync::Arc;

use abide_core::command::{Command, PinTasks};
use abide_core::definition::Definition;
use abide_core::id::RunId;
use abide_core::limits;
use abide_core::run::Pin;
use abide_engine::stored::{Page, Scope};
use axum::extract::State;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::FilterBody;
use crate::app::{App, Shared};
use crate::audit::{Noted, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem, ProblemBody};
use crate::request::{Body, Name, cursor};
use crate::routes::bulk::{REACHED, Tally, reached};
use crate::routes::check_runs::STANDING_STILL;
use crate::shape::Answer;

/// Runs that one request moves; the rest with its cursor.
const MOVED_RUNS: usize = 1_000;
const LIST: &str = "bulk";

pub(in crate::routes) fn endpoint() -> Endpoint {
    Endpoint::new(
        Verb::Post,
        "/workflow-runs/bulk",
        Access::Key(&[Scope::Run]),
        "Command many runs by a filter",
    )
    .about(
        "With `dryRun` nothing is changed, and the answer says how many runs the filter finds. `move` takes them over to \
         `version` of the workflow `filter.definition`, those that stand still unless `filter.status` says otherwise; with \
         `dryRun` the answer also says which of them fit. It reaches 1000 at a time.",
    )
    .body::<BulkBody>()
    .ok::<BulkDone>("What became of them.")
    .codes(&[Code::BadCursor, Code::UnknownDefinition])
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BulkCommand")]
pub(in crate::routes) struct BulkBody {
    action: Action,
    /// An empty filter finds every run.
    filter: FilterBody,
    /// Only count.
    #[serde(default)]
    dry_run: bool,
    /// With `cancel`: stands in the histories.
    #[schemars(length(max = limits::DESCRIPTION_CHARS))]
    reason: Option<String>,
    /// With `pin`: the build whose workers are given their tasks.
    build: Option<Name>,
    /// With `pin` and `unpin`: only tasks of this handler; all if absent.
    handler: Option<Name>,
    /// With `move`: the version that the runs go on with.
    #[schemars(length(min = 1, max = limits::VERSION_CHARS))]
    version: Option<String>,
    /// Runs at most; 10000 if absent.
    #[schemars(range(min = 1, max = REACHED))]
    limit: Option<u32>,
    /// The `nextCursor` of the request before.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum Action {
    Cancel,
    Pause,
    Unpause,
    Retry,
    Pin,
    Unpin,
    Move,
}

/// What became of many runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BulkDone")]
pub(in crate::routes) struct BulkDone {
    dry_run: bool,
    /// Runs that the filter found.
    matched: usize,
    /// Runs that did as they were told, or would be moved.
    done: usize,
    /// Runs that could not.
    refused: usize,
    /// The first of those that could not, and why.
    refusals: Vec<Refused>,
    /// There may be more: give it as `cursor`.
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RefusedRun")]
struct Refused {
    #[schemars(with = "String")]
    run_id: RunId,
    problem: ProblemBody,
}

pub(in crate::routes) async fn bulk(
    State(app): State<Shared>,
    caller: Caller,
    Body(body): Body<BulkBody>,
) -> Result<Noted<Answer<BulkDone>>, Problem> {
    let BulkBody { action, mut filter, dry_run, reason, build, handler, version, limit, cursor } = body;
    let command = action.command(reason, build, handler)?;
    let to = target(&app, &caller, action, &mut filter, version.as_deref()).await?;
    let most = reached(limit);
    let most = if to.is_some() { most.min(MOVED_RUNS) } else { most };
    let page = Page { after: cursor::read::<RunId>(LIST, cursor.as_deref())?, limit: most };
    let runs = app.engine.workspace(caller.workspace).runs().ids(filter.of(&caller)?, page).await?;
    let next_cursor = runs.last().filter(|_| runs.len() == most).map(|last| cursor::write(LIST, last));
    let matched = runs.len();
    // Whether a run would fit is the one thing that a dry run asks of it.
    let asked = if dry_run && to.is_none() { &[] } else { &*runs };
    let ask = |some| ask(&app, &caller, some, command.as_ref(), to.as_ref(), dry_run);
    let Tally { done, refused, refusals } = Tally::of(asked, ask).await?;
    let detail = json!({
        "action": action, "matched": matched, "done": done, "refused": refused, "dryRun": dry_run,
        "version": version,
    });
    let refusals = refusals.into_iter().map(|(run_id, problem)| Refused { run_id, problem }).collect();
    Ok(noted(detail, Answer::ok(BulkDone { dry_run, matched, done, refused, refusals, next_cursor })))
}

/// Commands or moves these runs, or says whether they would be moved.
async fn ask(
    app: &App,
    caller: &Caller,
    runs: Vec<RunId>,
    command: Option<&Command>,
    to: Option<&Arc<Definition>>,
    dry_run: bool,
) -> Result<Vec<Result<(), Problem>>, Problem> {
    match (command, to) {
        (Some(command), _) => {
            let commands = runs.iter().map(|run| app.command(caller, *run, command.clone(), None));
            Ok(join_all(commands).await.into_iter().map(|result| result.map(drop)).collect())
        }
        (None, Some(to)) if dry_run => would_move(app, caller, &runs, to).await,
        (None, Some(to)) => {
            let moves = runs.iter().map(|run| app.move_run(caller, *run, to));
            Ok(join_all(moves).await.into_iter().map(|result| result.map(drop)).collect())
        }
        (None, None) => Ok(Vec::new()),
    }
}

/// The version that the runs are moved to, if that is what is asked for.
async fn target(
    app: &App,
    caller: &Caller,
    action: Action,
    filter: &mut FilterBody,
    version: Option<&str>,
) -> Result<Option<Arc<Definition>>, Problem> {
    let name = filter.definition.clone();
    match (action, name, version) {
        (Action::Move, Some(name), Some(version)) => {
            if filter.status.is_empty() {
                filter.status = STANDING_STILL.to_vec();
            }
            app.version(caller, &name, version).await.map(Some)
        }
        (Action::Move, None, _) => Err(Problem::malformed(
            "/filter/definition",
            "/filter/definition: `move` needs the workflow's name",
        )),
        (Action::Move, Some(_), None) => {
            Err(Problem::malformed("/version", "/version: `move` needs the version to go on with"))
        }
        (
            Action::Cancel | Action::Pause | Action::Unpause | Action::Retry | Action::Pin | Action::Unpin,
            _,
            Some(_),
        ) => Err(Problem::malformed("/version", "/version: only with `move`")),
        (
            Action::Cancel | Action::Pause | Action::Unpause | Action::Retry | Action::Pin | Action::Unpin,
            _,
            None,
        ) => Ok(None),
    }
}

/// What a move of these runs would come to, as they were committed last.
async fn would_move(
    app: &App,
    caller: &Caller,
    runs: &[RunId],
    to: &Arc<Definition>,
) -> Result<Vec<Result<(), Problem>>, Problem> {
    let found = app.engine.workspace(caller.workspace).runs().read(runs.to_vec()).await?;
    let mut results = Vec::with_capacity(runs.len());
    for id in runs {
        results.push(match found.get(id) {
            Some(run) => app.check_move(run, to).await,
            None => Err(abide_engine::Error::UnknownRun(*id).into()),
        });
    }
    Ok(results)
}

impl Action {
    /// Nothing, where it takes more than a command.
    fn command(
        self,
        reason: Option<String>,
        build: Option<Name>,
        handler: Option<Name>,
    ) -> Result<Option<Command>, Problem> {
        let pins = matches!(self, Action::Pin | Action::Unpin);
        let stray = |pointer: &'static str| {
            Err(Problem::malformed(pointer, format!("{pointer}: not with this action")))
        };
        if build.is_some() && !matches!(self, Action::Pin) {
            return stray("/build");
        }
        if handler.is_some() && !pins {
            return stray("/handler");
        }
        let handler = handler.map(Into::into);
        Ok(Some(match self {
            Action::Cancel => Command::Cancel { reason },
            Action::Pause => Command::Pause,
            Action::Unpause => Command::Unpause,
            Action::Retry => Command::Retry,
            Action::Pin => {
                let needed =
                    || Problem::malformed("/build", "/build: `pin` needs the build that the tasks are for");
                let pin = Pin::To(build.ok_or_else(needed)?.into());
                Command::PinTasks(PinTasks { handler, pin })
            }
            Action::Unpin => Command::PinTasks(PinTasks { handler, pin: Pin::Lifted }),
            Action::Move => return Ok(None),
        }))
    }
}
