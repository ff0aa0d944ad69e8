//! The dashboard: a page at `/` and at the paths that it names, and the files that it loads. What it shows, it asks the
//! API for, as anybody would.

use abide_web::{Asset, INDEX, asset};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::app::{App, Shared};
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::Problem;
use crate::routes::book;
use crate::{pages, routes};

/// The first part of the paths that are pages of the dashboard.
const PLACES: [&str; 11] = [
    "waits",
    "runs",
    "approvals",
    "events",
    "definitions",
    "workers",
    "schedules",
    "limits",
    "webhooks",
    "costs",
    "settings",
];

/// Only its own files, nothing from elsewhere, nothing inline; nobody frames it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'self'";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// As it stands in the file; the server's base path takes its place.
const BASE: &str = "<base href=\"/\" />";

pub(super) fn routes() -> Group {
    Group::new("dashboard", "What waits, until when, on a page.").add(
        Endpoint::new(Verb::Get, "/", Access::Open, "The dashboard").at_root().plain(
            StatusCode::OK,
            &["text/html"],
            "A page. If this server was built without it, it says how to get it.",
        ),
        index,
    )
}

async fn index(State(app): State<Shared>) -> Response {
    page(&app)
}

/// Whatever no route is for: a page of the dashboard, one of its files, or nothing.
pub(crate) async fn elsewhere(
    State(app): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let path = uri.path().trim_start_matches('/');
    if method == Method::GET || method == Method::HEAD {
        if let Some(found) = asset(path).filter(|asset| asset.path != INDEX) {
            return Ok(file(found, &headers));
        }
        if let Some(page) = book::page(path) {
            return Ok(page);
        }
        if path.split('/').next().is_some_and(|first| PLACES.contains(&first)) {
            return Ok(page(&app));
        }
    }
    Err(routes::not_found(uri).await)
}

fn page(app: &App) -> Response {
    let Some(index) = asset(INDEX) else {
        return pages::html(StatusCode::OK, pages::unbuilt::render()).into_response();
    };
    let base = format!("<base href=\"{}\" />", pages::escaped(&format!("{}/", app.base_path())));
    let text = String::from_utf8_lossy(index.bytes).replace(BASE, &base);
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    ];
    (headers, text).into_response()
}

fn file(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let small = asset.gzip.filter(|_| accepted.split(',').any(|part| part.trim().starts_with("gzip")));
    let mut response = Body::from(small.unwrap_or(asset.bytes)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type()));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if small.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if asset.is_immutable() {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVER));
    }
    response
}
