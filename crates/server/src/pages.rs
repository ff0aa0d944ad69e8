//! Pages for people: plain HTML with its own style, no scripts, nothing from elsewhere.

pub(crate) mod confirm;
pub(crate) mod docs;
mod edit;
pub(crate) mod unbuilt;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;

const STYLE: &str = include_str!("pages/style.css");

/// Nothing is loaded, nothing runs, nobody frames it; forms go to this server only.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

pub(crate) fn html(status: StatusCode, page: impl IntoResponse) -> impl IntoResponse {
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        // The page's URL holds a token: it must not reach others as a referrer.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    ];
    (status, headers, page)
}

/// A whole page around this content, which is HTML already.
fn page(title: &str, class: &str, content: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body class=\"{class}\">\n{content}\n</body>\n</html>\n"
    )
}

/// Text as HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}
