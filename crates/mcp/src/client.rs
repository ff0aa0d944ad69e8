//! Which version of the protocol a client speaks, and what it can do. Since 2026-07-28 every request says so; before that,
//! `initialize` did once, and what it said is in the id of the session, which is all that there is of one.

use std::sync::Arc;

use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

/// The version without sessions.
pub(crate) const STATELESS: &str = "2026-07-28";
/// Every version that is spoken, the newest first.
pub(crate) const VERSIONS: [&str; 4] = [STATELESS, "2025-11-25", "2025-06-18", "2025-03-26"];
/// What `_meta` says of a request and of a result.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The extension by which a call becomes a task.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";
pub(crate) const SESSION: &str = "mcp-session-id";
const SESSION_PREFIX: &str = "abide-";
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Every request says what the client can do; the server asks by its results.
    Stateless,
    /// `initialize` comes first; the server may ask by requests on a stream.
    Sessions,
}

/// What a client can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) elicitation: bool,
    pub(crate) sampling: bool,
    pub(crate) roots: bool,
    pub(crate) tasks: bool,
}

/// Whom a request is from, as far as the protocol goes.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) era: Era,
    pub(crate) capabilities: Capabilities,
    /// How much a line of a log must matter to be sent; `None`: none is.
    log_level: Option<usize>,
    /// Under which progress is reported, if it is.
    pub(crate) progress_token: Option<Value>,
    /// For checks of what the arguments of a tool say about headers; on other transports there are none.
    pub(crate) headers: Arc<HeaderMap>,
}

impl Capabilities {
    pub(crate) fn of(declared: &Value) -> Capabilities {
        let has = |name: &str| declared.get(name).is_some_and(Value::is_object);
        let tasks = declared.get("extensions").and_then(|extensions| extensions.get(TASKS)).is_some();
        Capabilities {
            elicitation: has("elicitation"),
            sampling: has("sampling"),
            roots: has("roots"),
            tasks,
        }
    }

    /// As the id of a session. Tasks came with the version that has no sessions.
    pub(crate) fn session(self) -> String {
        let letter = |has: bool, letter: &'static str| if has { letter } else { "" };
        let letters = [letter(self.elicitation, "e"), letter(self.sampling, "s"), letter(self.roots, "r")];
        format!("{SESSION_PREFIX}0{}", letters.concat())
    }

    fn of_session(id: &str) -> Capabilities {
        let letters = id.strip_prefix(SESSION_PREFIX).unwrap_or_default();
        let has = |letter: char| letters.contains(letter);
        Capabilities { elicitation: has('e'), sampling: has('s'), roots: has('r'), tasks: false }
    }
}

impl Client {
    pub(crate) fn stateless(headers: Arc<HeaderMap>, meta: &Map<String, Value>) -> Client {
        let declared = meta.get(META_CAPABILITIES).unwrap_or(&Value::Null);
        let level = meta.get(META_LOG_LEVEL).and_then(Value::as_str);
        Client {
            era: Era::Stateless,
            capabilities: Capabilities::of(declared),
            log_level: level.and_then(level_of),
            progress_token: meta.get("progressToken").cloned(),
            headers,
        }
    }

    pub(crate) fn of_session(headers: Arc<HeaderMap>, meta: Option<&Value>) -> Client {
        let session = headers.get(SESSION).and_then(|id| id.to_str().ok()).unwrap_or_default();
        let progress_token = meta.and_then(|meta| meta.get("progressToken")).cloned();
        let capabilities = Capabilities::of_session(session);
        // A level that was set would be one more thing to remember: everything is sent, and the client chooses.
        Client { era: Era::Sessions, capabilities, log_level: Some(0), progress_token, headers }
    }

    /// Whether a line of a log that matters this much is sent.
    pub(crate) fn wants(&self, level: &str) -> bool {
        self.log_level.is_some_and(|least| level_of(level).is_some_and(|level| level >= least))
    }

    pub(crate) fn wants_logs(&self) -> bool {
        self.log_level.is_some()
    }
}

fn level_of(name: &str) -> Option<usize> {
    LEVELS.iter().position(|level| *level == name)
}

/// As logs of runs name how much a line matters, in the protocol's words.
pub(crate) fn protocol_level(level: &str) -> &'static str {
    match level.to_ascii_lowercase().as_str() {
        "trace" | "debug" => "debug",
        "warn" | "warning" => "warning",
        "error" => "error",
        _ => "info",
    }
}

/// A result as a client of this era reads it: since there are several kinds of results, each says which it is.
pub(crate) fn complete(era: Era, mut result: Value) -> Value {
    if era == Era::Stateless
        && let Some(fields) = result.as_object_mut()
    {
        fields.entry("resultType").or_insert(json!("complete"));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_session_says_what_the_client_can_do() {
        let declared = json!({"elicitation": {}, "roots": {"listChanged": true}, "sampling": null});
        let capabilities = Capabilities::of(&declared);
        assert_eq!(capabilities.session(), "abide-0er");
        assert_eq!(Capabilities::of_session("abide-0er"), capabilities);
        assert_eq!(Capabilities::of_session("somebody-else-es"), Capabilities::default());
    }

    #[test]
    fn without_a_level_no_line_of_a_log_is_sent() {
        let client = |meta: Value| Client::stateless(Arc::default(), meta.as_object().unwrap());
        assert!(!client(json!({})).wants("emergency"));
        let client = client(json!({ META_LOG_LEVEL: "warning" }));
        assert!(client.wants("warning") && client.wants("error") && !client.wants("info"));
    }
}
