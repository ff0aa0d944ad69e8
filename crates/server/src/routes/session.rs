//! Signing in with a key, for browsers. The session is a cookie that no script can read: a random id, the key and the
//! time until which it counts, sealed under a key that is not in the store. Without a master key that key is this
//! process' own, and a restart ends all sessions. Nothing is stored; who revokes the key ends its sessions.

use std::collections::BTreeSet;

use abide_core::waitpoint::Actor;
use abide_engine::stored::{KeyHash, Scope};
use abide_engine::vault::{self, SESSION, Vault};
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::{App, Shared};
use crate::caller::{Caller, hash};
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::{Access, Peer};
use crate::links;
use crate::problem::{Code, Problem};
use crate::request::Body;
use crate::shape::{Answer, words};

pub(crate) const COOKIE: &str = "abide_session";
/// What is in a cookie: the session's id, the key's hash, the second until which it counts.
const ID_BYTES: usize = 16;
/// Anybody may send one: it holds a key and nothing else.
const SIGN_IN_BYTES: usize = 4 * 1024;
const LASTS: SignedDuration = SignedDuration::from_hours(7 * 24);

pub(super) fn routes() -> Group {
    let at = |verb, summary| Endpoint::new(verb, "/session", Access::Anyone, summary);
    Group::new("session", "Who asks. For browsers, which keep a key in a cookie that no script can read.")
        .add(at(Verb::Get, "Who one is, and what one may do").ok::<SessionBody>("The session."), get)
        .add(
            at(Verb::Post, "Sign in with a key")
                .about("Sets a cookie that counts for a week. Only pages of this server can use it.")
                .body::<SignIn>()
                .ok::<SessionBody>("The session."),
            sign_in,
        )
        .add(at(Verb::Delete, "Sign out").empty(StatusCode::NO_CONTENT, "The cookie is gone."), sign_out)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignIn {
    /// An API key: `abk_…`.
    key: String,
}

/// Who asks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Session")]
struct SessionBody {
    /// Null where a key is needed, and none was given.
    caller: Option<CallerBody>,
    /// By a cookie.
    signed_in: bool,
    /// Without a key nothing is shown.
    keys_needed: bool,
    /// The server was started with `--paused`: it shows what there is and changes nothing.
    paused: bool,
    /// The server was started by `abide dev`: workflows change without a new version, and waits may be skipped.
    development: bool,
    /// Time stands still until `POST /test/clock` moves it.
    test_clock: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Caller")]
struct CallerBody {
    /// What histories say: the key's name.
    #[schemars(with = "String")]
    name: Actor,
    /// The workspace's id.
    workspace: String,
    #[schemars(schema_with = "words::scopes")]
    scopes: BTreeSet<Scope>,
}

fn body(app: &App, caller: Option<Caller>) -> SessionBody {
    SessionBody {
        signed_in: caller.as_ref().is_some_and(|caller| caller.signed_in),
        keys_needed: app.settings.needs_keys(),
        paused: app.engine.is_paused(),
        development: app.settings.development,
        test_clock: app.engine.clock().is_settable(),
        caller: caller.map(|caller| CallerBody {
            name: caller.actor,
            workspace: caller.workspace.to_string(),
            scopes: caller.scopes,
        }),
    }
}

async fn get(State(app): State<Shared>, caller: Option<Extension<Caller>>) -> Answer<SessionBody> {
    Answer::ok(body(&app, caller.map(|Extension(caller)| caller)))
}

async fn sign_in(
    State(app): State<Shared>,
    Extension(Peer(peer)): Extension<Peer>,
    Body(SignIn { key }): Body<SignIn, SIGN_IN_BYTES>,
) -> Result<Response, Problem> {
    let hash = hash(key.trim());
    let caller = app.caller_of(hash, peer.ip()).await?;
    let until = app.engine.now() + LASTS;
    let cookie = app.sessions.seal(&hash, until)?;
    let answer = Answer::ok(body(&app, Some(Caller { signed_in: true, ..caller })));
    Ok(([(header::SET_COOKIE, app.cookie(&cookie, LASTS.as_secs()))], answer).into_response())
}

async fn sign_out(State(app): State<Shared>) -> Response {
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, app.cookie("", 0))]).into_response()
}

impl App {
    fn cookie(&self, value: &str, max_age_s: i64) -> HeaderValue {
        let path = format!("{}/", self.base_path());
        let secure = if self.base_url.starts_with("https://") { "; Secure" } else { "" };
        let text =
            format!("{COOKIE}={value}; Path={path}; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    /// The key that the request's cookie is for. A cookie that does not count is as good as none: it may be of another
    /// server on the same machine.
    pub(crate) fn session(&self, headers: &HeaderMap) -> Option<KeyHash> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let values = cookies.flat_map(|value| value.split(';')).filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == COOKIE).then_some(value)
        });
        for value in values {
            if let Some((hash, until)) = self.sessions.open(value) {
                return (self.engine.now() < until).then_some(hash);
            }
        }
        None
    }
}

/// What sessions are sealed with.
pub(crate) struct Sessions([u8; 32]);

impl Sessions {
    /// Under the master key, so that sessions outlast a restart and count on every node; else under a key of this process.
    pub(crate) fn new(vault: &Vault) -> Result<Sessions, Problem> {
        if let Some(key) = vault.derived(SESSION) {
            return Ok(Sessions(key));
        }
        let mut key = [0; 32];
        links::fill(&mut key)?;
        Ok(Sessions(key))
    }

    fn seal(&self, hash: &KeyHash, until: Timestamp) -> Result<String, Problem> {
        let mut id = [0; ID_BYTES];
        links::fill(&mut id)?;
        let content = [&id[..], hash, &until.as_second().to_be_bytes()].concat();
        let sealed = vault::seal(&self.0, SESSION.as_bytes(), &content);
        let sealed = sealed.map_err(|_| Problem::new(Code::Internal, "the session could not be sealed"))?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    fn open(&self, cookie: &str) -> Option<(KeyHash, Timestamp)> {
        let content = vault::open(&self.0, SESSION.as_bytes(), &URL_SAFE_NO_PAD.decode(cookie).ok()?)?;
        let (_, rest) = content.split_first_chunk::<ID_BYTES>()?;
        let (hash, until) = rest.split_first_chunk::<32>()?;
        let until = i64::from_be_bytes(until.try_into().ok()?);
        Some((*hash, Timestamp::from_second(until).ok()?))
    }
}
