//! The book of `docs/`, which is in the binary. Its links are relative, so it does not ask for the server's base path.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};

use crate::pages;

/// The first part of its paths.
const PLACE: &str = "book";

/// Only its own files, nothing from elsewhere, nothing inline; nobody frames it, and it sends no forms.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// The list of pages for programs, which is looked for at the root.
const LIST: &str = "llms.txt";

/// What is at this path of the server, if that is in the book.
pub(super) fn page(path: &str) -> Option<Response> {
    if path == LIST {
        return file(LIST);
    }
    let path = match path.strip_prefix(PLACE)? {
        "" => return Some(Redirect::permanent("book/").into_response()),
        "/" => abide_web::INDEX,
        rest => rest.strip_prefix('/')?,
    };
    if abide_web::book(abide_web::INDEX).is_none() {
        return Some(pages::html(StatusCode::OK, pages::unbuilt::book()).into_response());
    }
    file(path)
}

fn file(path: &str) -> Option<Response> {
    let file = abide_web::book(path)?;
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(file.content_type())),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    ];
    Some((headers, file.bytes).into_response())
}
