//! The journals of tasks that are under way: what a worker would be given if their waits ended now. New code is tried on them
//! before it is deployed.

use abide_core::definition::{Action, Definition, Executor, Step};
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_engine::stored::{Page, RunFilter, RunSummary, Scope};
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Query, cursor};
use crate::routes::{PAGE_BYTES, SLICE};
use crate::shape::task::TaskJournalBody;
use crate::shape::{Answer, List};

const LIST: &str = "task-journals";
/// Runs that one request looks at, whether they have such a task or not.
const RUNS: usize = 200;

pub(super) fn endpoint() -> Endpoint {
    Endpoint::new(Verb::Get, "/tasks/journals", Access::Key(&[Scope::Read]), "List the journals of tasks under way")
        .about(
            "Of open runs: tasks of handlers that wait, are ready, or are at a worker. Each with what `POST /tasks/poll` would \
             give for it if its wait ended now. Runs come newest first; a page may be empty and have a `nextCursor`.",
        )
        .query::<JournalsQuery>()
        .ok::<List<TaskJournalBody>>("A page.")
        .codes(&[Code::BadCursor])
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct JournalsQuery {
    /// Only tasks of this handler.
    handler: Option<String>,
    /// Only runs of the workflow of this name.
    workflow: Option<String>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
}

pub(super) async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(JournalsQuery { handler, workflow, cursor }): Query<JournalsQuery>,
) -> Result<Answer<List<TaskJournalBody>>, Problem> {
    let filter = RunFilter {
        workspace: Some(caller.workspace),
        statuses: vec![RunStatus::Running, RunStatus::Waiting, RunStatus::Paused],
        definition: workflow,
        ..RunFilter::default()
    };
    let page = Page { after: cursor::read::<RunId>(LIST, cursor.as_deref())?, limit: RUNS };
    let found = app.engine.workspace(caller.workspace).runs().list(filter, page).await?;
    let (mut data, mut seen, mut bytes) = (Vec::new(), 0, 0);
    for slice in found.chunks(SLICE) {
        let wanted = app.with_handler(&caller, slice, handler.as_deref()).await?;
        let runs = app.engine.workspace(caller.workspace).runs().read(wanted.clone()).await?;
        for run in wanted.iter().filter_map(|id| runs.get(id)) {
            bytes += journals_of(run, handler.as_deref(), &mut data);
        }
        seen += slice.len();
        if bytes >= PAGE_BYTES {
            break;
        }
    }
    let is_all = seen == found.len() && found.len() < RUNS;
    let last = found[..seen].last().filter(|_| !is_all);
    let next_cursor = last.map(|last| cursor::write(LIST, &last.id));
    Ok(Answer::ok(List { data, next_cursor }))
}

/// Adds the journals of a run, and says about what they take.
fn journals_of(run: &Run, handler: Option<&str>, journals: &mut Vec<TaskJournalBody>) -> usize {
    let mut bytes = 0;
    for (at, _) in run.step_runs() {
        let work = run.defined(at).action.work();
        if work.is_none_or(|work| handler.is_some_and(|handler| *work.handler != *handler)) {
            continue;
        }
        // What cannot be rendered fails its step before any code has it.
        if let Some(Ok(task)) = run.task_under_way(at) {
            bytes += task.bytes();
            journals.push(TaskJournalBody::new(run, task));
        }
    }
    bytes
}

impl App {
    /// Those of these runs that may have a task of a handler. The others are not read.
    async fn with_handler(
        &self,
        caller: &Caller,
        runs: &[RunSummary],
        handler: Option<&str>,
    ) -> Result<Vec<RunId>, Problem> {
        let mut wanted = Vec::with_capacity(runs.len());
        for run in runs {
            let known = self.engine.workspace(caller.workspace).definitions().of_run(&run.definition).await?;
            if has_task(&known.definition, handler) {
                wanted.push(run.id);
            }
        }
        Ok(wanted)
    }
}

fn has_task(definition: &Definition, handler: Option<&str>) -> bool {
    let is_meant = |step: &Step| {
        let inner = if let Action::Map(map) = &step.action { &map.step.action } else { &step.action };
        inner.work().is_some_and(|work| {
            work.executor == Executor::Handler && handler.is_none_or(|handler| *work.handler == *handler)
        })
    };
    definition.steps.iter().any(is_meant)
}
