//! What the server is and has: `server/discover`, and `initialize` before there was that; the list of tools.

use serde_json::{Value, json};

use crate::client::{Era, STATELESS, TASKS, VERSIONS};
use crate::dispatch::Context;
use crate::own_tools;
use crate::rpc::Error;

/// How long a client need not ask again.
const DISCOVERED_MS: u64 = 60_000;
pub(crate) const LISTED_MS: u64 = 1_000;

const INSTRUCTIONS: &str = "Tools are durable workflows of abide: a run survives restarts, and may wait for hours, for days or for \
     a person. A call that takes long becomes a task where the client knows tasks; otherwise its result names the run, and \
     `abide_get_run` says how it goes on. What waits is listed by `abide_list_waits`. Do not call a tool again because it waits: \
     that would start another run.";

fn server_info() -> Value {
    json!({ "name": "abide", "title": "abide", "version": env!("CARGO_PKG_VERSION") })
}

pub(crate) fn discover() -> Value {
    json!({
        "supportedVersions": VERSIONS,
        "capabilities": {
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": false },
            "completions": {},
            "logging": {},
            "extensions": { TASKS: {} },
        },
        "instructions": INSTRUCTIONS,
        "ttlMs": DISCOVERED_MS,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    })
}

/// There is no stream but that of a request, so nothing is told when a list changes.
pub(crate) fn initialize(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let spoken = VERSIONS.iter().filter(|version| **version != STATELESS);
    let version = spoken.clone().find(|version| **version == asked).or(spoken.clone().next());
    json!({
        "protocolVersion": version,
        "capabilities": {
            "tools": {}, "prompts": {}, "resources": {}, "completions": {}, "logging": {},
        },
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

pub(crate) async fn tools(context: &Context) -> Result<Value, Error> {
    let offered = context.gateway.catalog.tools(&context.api).await?;
    let own = own_tools::listed();
    let tools: Vec<Value> = offered.iter().map(|tool| tool.listed()).chain(own).collect();
    Ok(cached(context.client.era, json!({ "tools": tools }), LISTED_MS))
}

/// A result with the time for which it may be kept, where the protocol has that. It is for the caller alone.
pub(crate) fn cached(era: Era, mut result: Value, ms: u64) -> Value {
    if era == Era::Stateless
        && let Some(fields) = result.as_object_mut()
    {
        fields.insert("ttlMs".to_owned(), ms.into());
        fields.insert("cacheScope".to_owned(), "private".into());
    }
    result
}
