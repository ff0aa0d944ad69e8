//! How the server is, and what it says about itself.

use std::sync::LazyLock;

use abide_engine::stored::Scope;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem, stopping, stuck};
use crate::shape::Answer;
use crate::{metrics, pages};

const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const OPEN_METRICS_TYPE: &str = "application/openmetrics-text";

static OPENAPI: LazyLock<String> = LazyLock::new(|| crate::openapi().to_string());
static DOCS: LazyLock<String> = LazyLock::new(|| pages::docs::render(&super::all()));

pub(super) fn routes() -> Group {
    let get = |path, access, summary| Endpoint::new(Verb::Get, path, access, summary).at_root();
    Group::new("server", "How the server is.")
        .add(get("/health", Access::Open, "Whether the process is there").ok::<HealthBody>("It is."), health)
        .add(
            get("/ready", Access::Open, "Whether requests can be served")
                .about(
                    "Fails while the engine does not get on: one pass of it lasts for 10 s, the last round could not be \
                     committed (a full disk), or what is due cannot be read. Runs that are held keep nobody else back: \
                     they are only counted.",
                )
                .ok::<HealthBody>("They can.")
                .codes(&[Code::Stopping, Code::StoreUnavailable, Code::EngineStuck]),
            ready,
        )
        .add(
            get("/metrics", Access::Key(&[Scope::Read]), "Figures for Prometheus")
                .about("Of the whole server for an admin of the default workspace; else of the runs of one's own.")
                .plain(StatusCode::OK, &["text/plain"], "The text format."),
            figures,
        )
        .add(
            get("/openapi.json", Access::Open, "This API as OpenAPI 3.1").plain(
                StatusCode::OK,
                &["application/json"],
                "The document.",
            ),
            openapi,
        )
        .add(
            get("/docs", Access::Open, "This API for people").plain(
                StatusCode::OK,
                &["text/html"],
                "A page.",
            ),
            docs,
        )
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
struct HealthBody {
    /// `ok`; at `/ready`, `paused` where the server only shows what there is.
    status: &'static str,
    version: &'static str,
    /// At `/ready`: the id of the store, which no other has, not even a copy of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    /// At `/ready`: runs and schedules that are held, of all workspaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<usize>,
}

const WELL: HealthBody =
    HealthBody { status: "ok", version: env!("CARGO_PKG_VERSION"), store: None, held: None };

async fn health() -> Answer<HealthBody> {
    Answer::ok(WELL)
}

/// Asks the writer and a reader: both must answer. First whoever watches the writer, for that may be stuck.
async fn ready(State(app): State<Shared>) -> Result<Answer<HealthBody>, Problem> {
    if *app.stopping.borrow() {
        return Err(stopping());
    }
    if let Some(why) = app.engine.trouble() {
        return Err(stuck(why));
    }
    app.engine.stats().await?;
    app.engine.admin().ping().await?;
    let status = if app.engine.is_paused() { "paused" } else { WELL.status };
    let (store, held) = (Some(app.engine.store_id().to_owned()), Some(app.engine.holds().count()));
    Ok(Answer::ok(HealthBody { status, store, held, ..WELL }))
}

/// As OpenMetrics for those who ask for it, which Prometheus does; older scrapers read the same text as their own.
async fn figures(State(app): State<Shared>, caller: Caller, headers: HeaderMap) -> Result<Response, Problem> {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let is_open = accepted.into_iter().any(|value| value.contains(OPEN_METRICS_TYPE));
    let kind = HeaderValue::from_static(if is_open { OPEN_METRICS } else { METRICS });
    let text = if caller.sees_all() {
        metrics::of_server(metrics::Shown {
            stats: app.engine.stats().await?,
            sample: app.sampler.sample(&app.engine).await?,
            pools: app.engine.figures().pools(),
            is_shared: app.engine.is_shared(),
            held: app.engine.holds().count(),
            traffic: &app.traffic,
            spans: app.traces.as_ref().map(|traces| &*traces.counts),
        })
    } else {
        let workspaces = app.engine.admin().workspaces().await?;
        let own = workspaces.into_iter().find(|workspace| workspace.id == caller.workspace);
        let name = own.map_or_else(|| caller.workspace.to_string(), |workspace| workspace.name);
        let runs = app.engine.workspace(caller.workspace).runs().count_by_status().await?;
        metrics::of_workspace(&name, runs)
    };
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

async fn openapi() -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], OPENAPI.as_str()).into_response()
}

async fn docs() -> Response {
    pages::html(StatusCode::OK, DOCS.as_str()).into_response()
}
