//! What workflows offer themselves to clients. A definition never changes, so it is read once; which is the newest of its name
//! is asked for each time.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use abide_definition::document::{Mcp, McpAsk, McpKind, McpTask};
use serde_json::{Value, json};

use crate::api::{Api, Problem, segment, text};

/// Definitions that are looked through for a list, the newest first.
const LOOKED_THROUGH: usize = 5_000;
const PAGE: usize = 500;
/// Definitions that are remembered.
const REMEMBERED: usize = 10_000;

/// A workflow that says how clients see it.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) name: String,
    description: Option<String>,
    /// Of the arguments.
    pub(crate) input_schema: Value,
    pub(crate) mcp: Mcp,
    /// The names of its steps.
    pub(crate) steps: Vec<String>,
}

impl Offered {
    fn of(definition: &Value) -> Option<Offered> {
        let document = definition.get("document")?;
        let mcp: Mcp = serde_json::from_value(document.get("mcp")?.clone()).ok()?;
        let steps = document.get("steps").and_then(Value::as_array).into_iter().flatten();
        Some(Offered {
            name: text(document, "name").to_owned(),
            description: document.get("description").and_then(Value::as_str).map(str::to_owned),
            input_schema: document.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object" })),
            mcp,
            steps: steps.map(|step| text(step, "name").to_owned()).collect(),
        })
    }

    pub(crate) fn kind(&self) -> McpKind {
        self.mcp.kind.unwrap_or(McpKind::Tool)
    }

    pub(crate) fn task(&self) -> McpTask {
        self.mcp.task.unwrap_or(McpTask::WhenLong)
    }

    /// What a caller is asked when the run waits for a signal of this type.
    pub(crate) fn ask(&self, signal_type: &str) -> Option<&McpAsk> {
        self.mcp.ask.as_ref()?.get(signal_type)
    }

    /// As a tool in a list.
    pub(crate) fn listed(&self) -> Value {
        let Mcp { title, read_only, destructive, idempotent, open_world, .. } = &self.mcp;
        let hints = [
            ("readOnlyHint", read_only),
            ("destructiveHint", destructive),
            ("idempotentHint", idempotent),
            ("openWorldHint", open_world),
        ];
        let hints =
            hints.into_iter().filter_map(|(name, hint)| Some((name.to_owned(), Value::from((*hint)?))));
        let mut listed = json!({
            "name": self.name,
            "description": self.description(),
            "inputSchema": self.input_schema,
            "annotations": Value::Object(hints.collect()),
        });
        if let Some(title) = title {
            listed["title"] = title.as_str().into();
        }
        listed
    }

    /// As a prompt in a list.
    pub(crate) fn listed_as_prompt(&self) -> Value {
        let required = self.input_schema.get("required").and_then(Value::as_array);
        let fields = self.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let arguments: Vec<Value> = fields
            .map(|(name, field)| {
                let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
                json!({ "name": name, "description": text(field, "description"), "required": is_required })
            })
            .collect();
        let mut listed =
            json!({ "name": self.name, "description": self.description(), "arguments": arguments });
        if let Some(title) = &self.mcp.title {
            listed["title"] = title.as_str().into();
        }
        listed
    }

    fn description(&self) -> String {
        self.description.clone().unwrap_or_else(|| format!("Runs the workflow `{}`.", self.name))
    }
}

/// Definitions that were read, by their ids; `None` for those that are not offered.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    read: Mutex<HashMap<String, Option<Arc<Offered>>>>,
}

impl Catalog {
    pub(crate) async fn tools(&self, api: &Api) -> Result<Vec<Arc<Offered>>, Problem> {
        self.newest(api, McpKind::Tool).await
    }

    pub(crate) async fn prompts(&self, api: &Api) -> Result<Vec<Arc<Offered>>, Problem> {
        self.newest(api, McpKind::Prompt).await
    }

    /// The newest version of this name, if it is offered as this.
    pub(crate) async fn named(
        &self,
        api: &Api,
        name: &str,
        kind: McpKind,
    ) -> Result<Option<Arc<Offered>>, Problem> {
        if name.is_empty() {
            return Ok(None);
        }
        let path = format!("/workflow-definitions?name={}&limit=1", segment(name));
        let listed = api.get(&path).await?;
        let Some(newest) = listed["data"].get(0) else { return Ok(None) };
        let found = self.get(api, text(newest, "id")).await?;
        Ok(found.filter(|offered| offered.kind() == kind))
    }

    /// A definition by its id, if it is offered.
    pub(crate) async fn get(&self, api: &Api, id: &str) -> Result<Option<Arc<Offered>>, Problem> {
        if let Some(known) = self.read().get(id) {
            return Ok(known.clone());
        }
        let definition = api.get(&format!("/workflow-definitions/{}", segment(id))).await?;
        let offered = Offered::of(&definition).map(Arc::new);
        let mut read = self.read();
        if read.len() >= REMEMBERED {
            read.clear();
        }
        read.insert(id.to_owned(), offered.clone());
        Ok(offered)
    }

    fn read(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<Arc<Offered>>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn newest(&self, api: &Api, kind: McpKind) -> Result<Vec<Arc<Offered>>, Problem> {
        let mut found = Vec::new();
        let mut names = HashSet::new();
        let mut cursor = String::new();
        for _ in 0..LOOKED_THROUGH.div_ceil(PAGE) {
            let page = api.get(&format!("/workflow-definitions?limit={PAGE}{cursor}")).await?;
            for listed in page["data"].as_array().into_iter().flatten() {
                if names.insert(text(listed, "name").to_owned()) {
                    found.extend(self.get(api, text(listed, "id")).await?);
                }
            }
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={}", segment(next)),
                None => break,
            }
        }
        found.retain(|offered| offered.kind() == kind);
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }
}
