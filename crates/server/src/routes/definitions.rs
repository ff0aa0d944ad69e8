//! Definitions: posted once, never changed.

use abide_core::definition::{Checked, Definition, Rejected};
use abide_core::id::DefinitionId;
use abide_core::problem::Code as Finding;
use abide_engine::stored::{Page, Scope};
use abide_engine::{Deployed, Developed, Versions};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{check_runs, page_size};
use crate::app::{App, Shared};
use crate::audit::{Noted, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::body::{self, DOCUMENT_BYTES};
use crate::request::{Id, Query, cursor};
use crate::shape::definition::{CheckedBody, DefinitionBody, DeployedBody, SummaryBody};
use crate::shape::{Answer, List, words};

const READ: Access = Access::Key(&[Scope::Read]);
const DEPLOY: Access = Access::Key(&[Scope::Deploy]);
pub(super) const DOCUMENTS: &[&str] = &["application/json", "application/yaml"];
const LIST: &str = "definitions";

pub(super) fn routes() -> Group {
    let path = "/workflow-definitions";
    Group::new("definitions", "Workflows. A version is immutable; a run keeps the one it began with.")
        .add(
            Endpoint::new(Verb::Post, path, DEPLOY, "Store a workflow")
                .about(
                    "The body is the workflow itself, in JSON or YAML; `/workflow-definitions/check` says what is \
                     wrong with one. Posting the very same again changes nothing. On a server that `abide dev` started, \
                     other content under a version that is taken is stored under a version of its own, such as \
                     `1-dev.3f2a9c1e`: the answer says which.",
                )
                .body_like(DOCUMENTS, words::workflow)
                .answer::<DeployedBody>(StatusCode::CREATED, "Stored.")
                .ok::<DeployedBody>("The very same was there already.")
                .codes(&[Code::InvalidDefinition, Code::DefinitionExists]),
            post,
        )
        .add(
            Endpoint::new(Verb::Post, "/workflow-definitions/check", READ, "Check a workflow without storing it")
                .any_body(DOCUMENTS)
                .ok::<CheckedBody>("What was found, good or bad."),
            check,
        )
        .add(check_runs::endpoint(), check_runs::check_runs)
        .add(
            Endpoint::new(Verb::Get, path, READ, "List definitions, the newest first")
                .query::<ListQuery>()
                .ok::<List<SummaryBody>>("A page.")
                .codes(&[Code::BadCursor]),
            list,
        )
        .add(
            Endpoint::new(Verb::Get, "/workflow-definitions/{id}", READ, "Get a definition")
                .about("By its id, or by its name: then its newest version, or the one asked for.")
                .query::<GetQuery>()
                .ok::<DefinitionBody>("The definition.")
                .codes(&[Code::UnknownDefinition]),
            get,
        )
}

async fn post(
    State(app): State<Shared>,
    caller: Caller,
    request: Request,
) -> Result<Noted<Answer<DeployedBody>>, Problem> {
    let checked = read(&app, request).await?.map_err(|rejected| {
        Problem::found(Code::InvalidDefinition, rejected.problems).warnings(rejected.warnings)
    })?;
    let name = checked.definition.name().to_owned();
    let warnings = warnings(&app, &caller, &checked);
    let deployed = deploy(&app, &caller, checked).await?;
    let version = deployed.version;
    for warning in warnings.iter().filter(|warning| deployed.created && warning.code == Finding::LongWait) {
        tracing::warn!(workflow = %name, %version, at = %warning.pointer, "{}", warning.message);
    }
    let status = if deployed.created { StatusCode::CREATED } else { StatusCode::OK };
    let (id, created) = (deployed.id, deployed.created);
    let detail = json!({ "name": name, "version": version, "created": created });
    Ok(noted(detail, Answer(status, DeployedBody { id, name, version, created, warnings })))
}

/// In development, a version that is taken by other content is no reason to refuse: it gets another one.
async fn deploy(app: &App, caller: &Caller, checked: Checked) -> Result<Developed, Problem> {
    let definitions = app.engine.workspace(caller.workspace).definitions();
    if app.settings.development {
        let deployed = definitions.deploy_for_development(checked, Versions::OwnIfFree);
        return Ok(deployed.await?);
    }
    let version = checked.definition.version().to_owned();
    let Deployed { id, created } = definitions.deploy_checked(checked).await?;
    Ok(Developed { id, version, created })
}

async fn check(
    State(app): State<Shared>,
    caller: Caller,
    request: Request,
) -> Result<Answer<CheckedBody>, Problem> {
    Ok(Answer::ok(match read(&app, request).await? {
        Ok(checked) => {
            let warnings = warnings(&app, &caller, &checked);
            CheckedBody { valid: true, problems: Vec::new(), warnings }
        }
        Err(Rejected { problems, warnings }) => CheckedBody { valid: false, problems, warnings },
    }))
}

/// What is doubtful about a document, by itself and on this server.
fn warnings(app: &App, caller: &Caller, checked: &Checked) -> Vec<abide_core::problem::Problem> {
    let here = app.engine.calls().warnings(caller.workspace, &checked.definition);
    checked.warnings.iter().cloned().chain(here).collect()
}

/// The document that was sent. A large one takes a while to check, so that is done beside the others' requests.
pub(super) async fn read(app: &Shared, request: Request) -> Result<Result<Checked, Rejected>, Problem> {
    let bytes = body::read(request.into_body(), DOCUMENT_BYTES, app.settings.limits.body_time).await?;
    let text = String::from_utf8(bytes.into());
    let text = text.map_err(|_| Problem::new(Code::NotJson, "the body is not UTF-8"))?;
    let max_wait = app.engine.max_wait();
    let checked = tokio::task::spawn_blocking(move || Definition::from_text_within(&text, max_wait)).await;
    checked.map_err(|_| Problem::new(Code::Internal, "the document could not be checked"))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// Only versions of this workflow.
    name: Option<String>,
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
    let after = cursor::read::<DefinitionId>(LIST, query.cursor.as_deref())?;
    let limit = page_size(query.limit);
    let definitions = app.engine.workspace(caller.workspace).definitions();
    let found = definitions.list(query.name, Page { after, limit }).await?;
    let last = found.last().filter(|_| found.len() == limit).map(|last| cursor::write(LIST, &last.id));
    Ok(Answer::ok(List { data: found.into_iter().map(SummaryBody::from).collect(), next_cursor: last }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetQuery {
    /// With a name: this version, not the newest.
    version: Option<String>,
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Id(asked): Id<String>,
    Query(query): Query<GetQuery>,
) -> Result<Answer<DefinitionBody>, Problem> {
    let definitions = app.engine.workspace(caller.workspace).definitions();
    let unknown = Problem::new(Code::UnknownDefinition, format!("there is no definition `{asked}`"));
    let found = match asked.parse::<DefinitionId>() {
        Ok(id) => definitions.by_id(id).await?,
        Err(_) => definitions.get(&asked, query.version.as_deref()).await?,
    };
    DefinitionBody::try_from(found.ok_or(unknown)?).map(Answer::ok)
}
