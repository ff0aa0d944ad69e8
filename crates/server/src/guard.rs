//! What every request passes before its handler: names of the server and of web pages, the size of the headers, the
//! key and its scope. And what every answer gets: an id, headers that keep browsers careful, a line in the log.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use abide_engine::stored::Scope;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::{App, Shared};
use crate::audit::{self, Auditing};
use crate::links::{self, Link, TOKEN};
use crate::problem::{Code, Problem};
use crate::proxy;
use crate::routes::link_target;
use crate::settings::{host_of, is_loopback_name, without_port};
use crate::strangers::Visitor;
use crate::traces::{self, InTrace, RequestSpan};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The server's time, which is another than the caller's where a test clock stands still.
const TIME: HeaderName = HeaderName::from_static("abide-time");
const REQUEST_ID_CHARS: usize = 64;

/// Who sent the request: whoever connected, or whom a trusted proxy names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The id of the request, as its answer has it.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) HeaderValue);

/// The connection it came on.
#[derive(Clone)]
pub(crate) struct Visiting(pub(crate) Arc<Visitor>);

/// The token of a link was looked at, before anything of the body was read.
#[derive(Clone, Debug)]
pub(crate) struct CheckedLink(pub(crate) Result<Link, Problem>);

/// What a route asks of its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: it says nothing about anybody's runs.
    Open,
    /// Nothing, but who asks is looked at, if they say so.
    Anyone,
    /// A key with one of these scopes.
    Key(&'static [Scope]),
    /// A key with one of these scopes, or the token of a link, which the handler asks for.
    Link(&'static [Scope]),
}

/// Around every request.
pub(crate) async fn around(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let peer = peer(&request);
    let client = proxy::client(&app.settings.trusted_proxies, peer.ip(), request.headers());
    request.extensions_mut().insert(Peer(SocketAddr::new(client, peer.port())));
    let begun = Instant::now();
    let id = request_id(request.headers());
    request.extensions_mut().insert(RequestId(id.clone()));
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let _in_flight = app.traffic.begin();
    let page = request.headers().get(header::ORIGIN).cloned();
    let mut response = match admit(&app, &request) {
        Err(problem) => problem.into_response(),
        Ok(()) if is_preflight(&request) => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(now) = app.engine.now().to_string().parse() {
        headers.insert(TIME, now);
    }
    if let Some(page) = page.filter(|page| is_listed(&app, page)) {
        allow_page(headers, page);
    }
    let status = response.status();
    app.traffic.answered(status, begun.elapsed());
    log(&method, &uri, status, begun, &id);
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// Of one route: who may call it.
pub(crate) async fn admit_caller(
    State((app, access, audited)): State<(Shared, Access, Option<&'static str>)>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(problem) = let_in(&app, access, &mut request).await {
        return problem.into_response();
    }
    let span = trace(&app, &mut request);
    let auditing = audited.and_then(|action| Auditing::begin(action, &request));
    let response = next.run(request).await;
    let note = auditing.and_then(|auditing| auditing.note(&app, &response));
    if let Some(note) = note {
        audit::append(&app, note).await;
    }
    if let Some(span) = span {
        span.end(response.status().as_u16(), app.engine.now());
    }
    response
}

/// Which trace the request is in. With somewhere to send spans, a request that may change something is one of them.
fn trace(app: &App, request: &mut Request) -> Option<RequestSpan> {
    let given = traces::traceparent(request.headers());
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    // Workers ask all the time, and have their own spans.
    let is_worth_it = |path: &String| !request.method().is_safe() && !path.contains("/tasks/");
    let span = match (&app.traces, path.filter(is_worth_it)) {
        (Some(traces), Some(path)) => {
            Some(traces.begin(format!("{} {path}", request.method()), given, app.engine.now()))
        }
        (Some(_) | None, _) => None,
    };
    if let Some(traceparent) = span.as_ref().map(|span| span.context).or(given) {
        request.extensions_mut().insert(InTrace(traceparent));
    }
    span
}

async fn let_in(app: &App, access: Access, request: &mut Request) -> Result<(), Problem> {
    let scopes = match access {
        Access::Open => return Ok(()),
        Access::Anyone => &[],
        Access::Key(scopes) | Access::Link(scopes) => scopes,
    };
    if app.engine.is_paused() && changes_something(request) {
        return Err(abide_engine::Error::Paused.into());
    }
    let address = peer(request).ip();
    // The token of a link is all that counts, wherever the link was opened. Elsewhere a token counts for nothing.
    let by_token = matches!(access, Access::Link(_)) && token(request.uri()).is_some();
    if !by_token {
        check_page(app, request.headers(), &host(request)?)?;
    }
    // A call with a token may carry an Authorization header that is meant for the run.
    let caller = if by_token { None } else { app.caller(request.headers(), address).await? };
    app.callers.take(caller.as_ref(), address)?;
    let link = if by_token { Some(check_link(app, request).await) } else { None };
    if caller.is_some() || link.as_ref().is_some_and(Result::is_ok) {
        is_known_now(request);
    }
    if let Some(link) = link {
        request.extensions_mut().insert(CheckedLink(link));
    }
    match caller {
        Some(caller) => {
            if caller.signed_in {
                check_own_page(request)?;
            }
            if access != Access::Anyone {
                caller.need(scopes)?;
            }
            request.extensions_mut().insert(caller);
        }
        None if by_token || access == Access::Anyone => {}
        None => {
            let detail = match access {
                Access::Link(_) => "this needs the token of its URL, or an API key",
                Access::Open | Access::Anyone | Access::Key(_) => {
                    "this needs an API key: `Authorization: Bearer abk_…` or `x-api-key`"
                }
            };
            return Err(Problem::new(Code::Unauthenticated, detail));
        }
    }
    Ok(())
}

/// Whether a request asks for a change. Signing in and checking a document change nothing.
fn changes_something(request: &Request) -> bool {
    let path = request.uri().path();
    !request.method().is_safe()
        && !path.ends_with("/session")
        && !path.ends_with("/workflow-definitions/check")
}

/// Whether the token was made by this server for what the path names.
async fn check_link(app: &App, request: &mut Request) -> Result<Link, Problem> {
    let token = token(request.uri()).unwrap_or_default();
    let (mut parts, body) = std::mem::take(request).into_parts();
    let params = RawPathParams::from_request_parts(&mut parts, &()).await;
    *request = Request::from_parts(parts, body);
    let params = params.map_err(|rejection| Problem::new(Code::BadRequest, rejection.body_text()))?;
    let named = |wanted: &str| {
        params.iter().find_map(|(name, value)| (name == wanted).then_some(value)).unwrap_or_default()
    };
    app.links.check(&app.engine, link_target(named("id"), named("waitpoint"))?, &token).await
}

/// The caller has shown something that counts: its connection keeps its place.
pub(crate) fn is_known_now(request: &Request) {
    if let Some(Visiting(visitor)) = request.extensions().get() {
        visitor.is_known_now();
    }
}

pub(crate) fn peer(request: &Request) -> SocketAddr {
    let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
    request.extensions().get::<Peer>().map_or(unknown, |Peer(address)| *address)
}

fn token(uri: &Uri) -> Option<String> {
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .find_map(|(name, value)| (name == TOKEN).then(|| value.into_owned()))
}

/// Whether the request may be looked at at all.
fn admit(app: &App, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let limits = &app.settings.limits;
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers.len() > limits.headers || bytes > limits.header_bytes {
        let detail = format!(
            "{} headers of {bytes} bytes are more than {} of {}",
            headers.len(),
            limits.headers,
            limits.header_bytes
        );
        return Err(Problem::new(Code::HeadersTooLarge, detail));
    }
    check_host(app, &host(request)?)
}

/// The one name that the request is for. One with two would be for somebody else in the eyes of a proxy.
fn host(request: &Request) -> Result<String, Problem> {
    let bad = |detail: &str| Problem::new(Code::BadRequest, detail);
    let mut named = request.headers().get_all(header::HOST).iter();
    let (host, another) = (named.next(), named.next());
    if another.is_some() {
        return Err(bad("there is more than one `Host` header"));
    }
    let host =
        host.map(|host| host.to_str().map_err(|_| bad("the `Host` header is not text"))).transpose()?;
    match (request.uri().authority(), host) {
        (Some(authority), Some(host)) if !authority.as_str().eq_ignore_ascii_case(host) => {
            Err(bad("the URL and the `Host` header name different hosts"))
        }
        (Some(authority), _) => Ok(authority.as_str().to_owned()),
        (None, Some(host)) => Ok(host.to_owned()),
        (None, None) => Err(bad("the `Host` header is missing")),
    }
}

/// A page whose name its owner makes point to this machine still sends that name.
fn check_host(app: &App, host: &str) -> Result<(), Problem> {
    let settings = &app.settings;
    let name = without_port(host);
    let known = |known: &str| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host);
    if is_loopback_name(name)
        || settings.public_url.as_deref().and_then(host_of).is_some_and(known)
        || settings.allowed_hosts.iter().any(|allowed| known(allowed))
        || is_own_address(app, name)
    {
        return Ok(());
    }
    let detail = format!("`{name}` is not a name of this server; allow it with `--allow-host {name}`");
    Err(Problem::new(Code::HostRefused, detail))
}

/// An address is not a name that somebody else could make point here, unless no key is needed.
fn is_own_address(app: &App, name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    !app.settings.listen.ip().is_loopback() && address.parse::<std::net::IpAddr>().is_ok()
}

/// A page of another origin must not drive this server through its reader's browser.
fn check_page(app: &App, headers: &HeaderMap, host: &str) -> Result<(), Problem> {
    let refused = |page: &str| {
        let detail = format!("a web page of `{page}` may not use this server; see `--allow-origin`");
        Err(Problem::new(Code::OriginRefused, detail))
    };
    if let Some(origin) = headers.get(header::ORIGIN) {
        let text = origin.to_str().unwrap_or("null");
        let own = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        if own.is_some_and(|own| own.eq_ignore_ascii_case(host)) || is_listed(app, origin) {
            return Ok(());
        }
        return refused(text);
    }
    // Without `Origin`: an image, a frame, a link. Only a link that somebody follows may come from elsewhere.
    let mode = headers.get("sec-fetch-mode").and_then(|mode| mode.to_str().ok());
    if is_from_another_site(headers) && mode != Some("navigate") { refused("another site") } else { Ok(()) }
}

/// A cookie comes along with requests that its owner knows nothing of: it counts only for this server's own pages. Not
/// for those that were allowed to use the API, either: they have keys of their own.
fn check_own_page(request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let own = match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or("null")) {
        Some(origin) => {
            let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            name.is_some_and(|name| host(request).is_ok_and(|host| name.eq_ignore_ascii_case(&host)))
        }
        None if request.method().is_safe() => true,
        None => headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin"),
    };
    if own {
        return Ok(());
    }
    let detail = "a session counts only for pages of this server; elsewhere, give a key";
    Err(Problem::new(Code::OriginRefused, detail))
}

/// As the browser says. Whoever else sends a request says nothing of the kind.
pub(crate) fn is_from_another_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    matches!(site, Some("cross-site" | "same-site"))
}

/// Whether somebody here asked for it, where no key says so: not a page of another site that made a browser ask. Browsers
/// that do not say where a request comes from are known by their name, which a page cannot change.
pub(crate) fn is_meant(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match text("sec-fetch-site") {
        Some("same-origin" | "none") => true,
        Some(_) => false,
        None => !text("user-agent").is_some_and(|agent| agent.starts_with("Mozilla/")),
    }
}

fn is_listed(app: &App, origin: &HeaderValue) -> bool {
    let origins = &app.settings.allowed_origins;
    origin.to_str().is_ok_and(|origin| {
        origins.iter().any(|allowed| allowed.trim_end_matches('/').eq_ignore_ascii_case(origin))
    })
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ORIGIN)
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn allow_page(headers: &mut HeaderMap, page: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    let methods = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    let names = "authorization, content-type, idempotency-key, last-event-id, mcp-method, mcp-name, mcp-protocol-version, \
                 mcp-session-id, traceparent, x-api-key, x-request-id";
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(names));
    let shown =
        HeaderValue::from_static("retry-after, x-request-id, location, mcp-session-id, www-authenticate");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown);
}

/// The caller's own id, if it is harmless; else a fresh one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let harmless = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=REQUEST_ID_CHARS).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    };
    headers.get(&REQUEST_ID).filter(harmless).cloned().unwrap_or_else(|| {
        let mut bytes = [0; 8];
        // Without randomness the id is 0, and says so.
        drop(links::fill(&mut bytes));
        let id = format!("req_{:016x}", u64::from_be_bytes(bytes));
        HeaderValue::try_from(id).expect("hexadecimal digits are a header's value")
    })
}

fn log(method: &Method, uri: &Uri, status: StatusCode, begun: Instant, id: &HeaderValue) {
    let id = id.to_str().unwrap_or_default();
    // A number in JSON, too, where one of 128 bits would be text.
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = status.as_u16();
    if status >= 500 {
        tracing::warn!(%method, url = without_token(uri), status, took_ms, request = id, "request");
    } else {
        tracing::debug!(%method, url = without_token(uri), status, took_ms, request = id, "request");
    }
}

/// A URL as it may stand in a log.
fn without_token(uri: &Uri) -> String {
    let path = uri.path();
    let Some(query) = uri.query() else { return path.to_owned() };
    let pairs = query.split('&').map(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        let decoded = form_urlencoded::parse(name.as_bytes()).next().map(|(name, _)| name);
        if decoded.is_some_and(|name| name == TOKEN) { "token=***" } else { pair }
    });
    format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logged_url_holds_no_token() {
        for (uri, logged) in [
            ("/v1/x?token=abc&a=1", "/v1/x?token=***&a=1"),
            ("/v1/x?a=1&t%6Fken=abc", "/v1/x?a=1&token=***"),
            ("/v1/x", "/v1/x"),
        ] {
            assert_eq!(without_token(&uri.parse().unwrap()), logged);
        }
    }

    #[test]
    fn a_callers_request_id_is_kept_only_if_it_is_harmless() {
        let with = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(id.as_bytes()).unwrap());
            request_id(&headers).to_str().unwrap().to_owned()
        };
        assert_eq!(with("abc-1"), "abc-1");
        assert!(with("abc 1").starts_with("req_"));
        assert!(with(&"a".repeat(65)).starts_with("req_"));
    }
}
