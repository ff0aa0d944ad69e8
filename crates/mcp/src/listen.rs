//! `subscriptions/listen`: a stream of what changes. Runs are followed by their histories; which workflows there are is asked
//! for now and then, since deploying is rare.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use abide_definition::document::McpKind;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream, SelectAll};
use serde_json::{Value, json};

use crate::api::{Records, text};
use crate::client::META_SUBSCRIPTION;
use crate::dispatch::Context;
use crate::follow::is_worth_a_look;
use crate::resources::{self, Named};
use crate::rpc::{self, Error};
use crate::tasks;

/// The time between two looks at which workflows there are.
const LOOKS: Duration = Duration::from_millis(500);
/// Runs that one stream follows.
const FOLLOWED: usize = 32;
/// Definitions that are new since the last look.
const NEW: usize = 50;

pub(crate) async fn listen(context: &Context, params: &Value) -> Result<Value, Error> {
    let Some(Value::Object(wanted)) = params.get("notifications") else {
        return Err(Error::malformed("`notifications` must say what to listen for"));
    };
    let texts = |field: &str| -> Vec<String> {
        let given = wanted.get(field).and_then(Value::as_array).into_iter().flatten();
        given.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let says = |field: &str| wanted.get(field) == Some(&Value::Bool(true));
    if wanted.contains_key("taskIds") {
        tasks::need_extension(context)?;
    }
    let (ids, uris) = (texts("taskIds"), texts("resourceSubscriptions"));
    if ids.len() + uris.len() > FOLLOWED {
        return Err(Error::malformed(format!("one stream follows at most {FOLLOWED} runs (FOLLOWED)")));
    }
    let room = Arc::clone(&context.gateway.listeners).try_acquire_owned();
    let _room = room.map_err(|_| Error::busy("too many streams are open; poll, or try again"))?;
    let mut listening = Listening {
        context,
        tools: says("toolsListChanged"),
        prompts: says("promptsListChanged"),
        newest: newest(context).await?,
        followed: SelectAll::new(),
        told: HashMap::new(),
    };
    let mut agreed = json!({});
    for (field, list) in [("toolsListChanged", listening.tools), ("promptsListChanged", listening.prompts)] {
        if list {
            agreed[field] = true.into();
        }
    }
    let ids = listening.follow_tasks(ids).await?;
    let uris = listening.follow_resources(uris).await;
    for (field, agreed_to) in [("taskIds", ids), ("resourceSubscriptions", uris)] {
        if wanted.contains_key(field) {
            agreed[field] = agreed_to.into();
        }
    }
    tell(context, "notifications/subscriptions/acknowledged", json!({ "notifications": agreed })).await;
    listening.go_on().await?;
    Ok(json!({ "_meta": { META_SUBSCRIPTION: context.id } }))
}

/// Who a record is of interest to.
#[derive(Clone)]
enum Follows {
    Task(String),
    Resource(String),
}

struct Listening<'a> {
    context: &'a Context,
    tools: bool,
    prompts: bool,
    /// The newest definition that was seen.
    newest: Option<String>,
    followed: SelectAll<BoxStream<'static, (Follows, Value)>>,
    /// What was told last of each task.
    told: HashMap<String, Value>,
}

impl Listening<'_> {
    /// Those that there are.
    async fn follow_tasks(&mut self, ids: Vec<String>) -> Result<Vec<String>, Error> {
        let mut agreed = Vec::new();
        for id in ids {
            let Ok((run, asks)) = tasks::find(self.context, &id).await else { continue };
            self.told.insert(id.clone(), tasks::detailed(&run, &asks));
            let records = self.context.api.records(&id, run["version"].as_u64().unwrap_or_default()).await?;
            if let Some(records) = records {
                self.followed.push(followed(Follows::Task(id.clone()), records));
            }
            agreed.push(id);
        }
        Ok(agreed)
    }

    /// Those that can change: a run, and its history.
    async fn follow_resources(&mut self, uris: Vec<String>) -> Vec<String> {
        let mut agreed = Vec::new();
        for uri in uris {
            let Some(Named::Run(run) | Named::History(run)) = resources::named(&uri) else { continue };
            let Ok((found, _)) = tasks::find(self.context, run).await else { continue };
            let after = found["version"].as_u64().unwrap_or_default();
            if let Ok(Some(records)) = self.context.api.records(run, after).await {
                self.followed.push(followed(Follows::Resource(uri.clone()), records));
            }
            agreed.push(uri);
        }
        agreed
    }

    async fn go_on(&mut self) -> Result<(), Error> {
        let mut looks = tokio::time::interval(LOOKS);
        loop {
            tokio::select! {
                Some((who, record)) = self.followed.next(), if !self.followed.is_empty() => match who {
                    Follows::Task(id) if is_worth_a_look(&record) || text(&record, "type").starts_with("STEP_") => {
                        self.tell_of_task(&id).await?;
                    }
                    Follows::Task(_) => {}
                    Follows::Resource(uri) => {
                        tell(self.context, "notifications/resources/updated", json!({ "uri": uri })).await;
                    }
                },
                _ = looks.tick() => {
                    // A server that stops says so here, and waits for those who listen.
                    if self.context.api.text("/ready").await.is_none() {
                        return Ok(());
                    }
                    self.look_for_workflows().await?;
                }
            }
        }
    }

    async fn tell_of_task(&mut self, id: &str) -> Result<(), Error> {
        let (run, asks) = tasks::find(self.context, id).await?;
        let task = tasks::detailed(&run, &asks);
        if self.told.get(id) != Some(&task) {
            self.told.insert(id.to_owned(), task.clone());
            tell(self.context, "notifications/tasks", task).await;
        }
        Ok(())
    }

    async fn look_for_workflows(&mut self) -> Result<(), Error> {
        if !self.tools && !self.prompts {
            return Ok(());
        }
        let page = self.context.api.get(&format!("/workflow-definitions?limit={NEW}")).await?;
        let ids: Vec<String> = page["data"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|listed| text(listed, "id").to_owned())
            .take_while(|id| Some(id) != self.newest.as_ref())
            .collect();
        let Some(newest) = ids.first().cloned() else { return Ok(()) };
        self.newest = Some(newest);
        let (mut tools, mut prompts) = (false, false);
        for id in &ids {
            match self.context.gateway.catalog.get(&self.context.api, id).await?.map(|offered| offered.kind())
            {
                Some(McpKind::Tool) => tools = true,
                Some(McpKind::Prompt) => prompts = true,
                None => {}
            }
        }
        if tools && self.tools {
            tell(self.context, "notifications/tools/list_changed", json!({})).await;
        }
        if prompts && self.prompts {
            tell(self.context, "notifications/prompts/list_changed", json!({})).await;
        }
        Ok(())
    }
}

async fn tell(context: &Context, method: &str, mut params: Value) {
    params["_meta"] = json!({ META_SUBSCRIPTION: context.id });
    context.outbox.send(rpc::notification(method, params)).await;
}

fn followed(who: Follows, records: Records) -> BoxStream<'static, (Follows, Value)> {
    stream::unfold((who, records), async |(who, mut records)| {
        let record = records.next().await?;
        Some(((who.clone(), record), (who, records)))
    })
    .boxed()
}

async fn newest(context: &Context) -> Result<Option<String>, Error> {
    let page = context.api.get("/workflow-definitions?limit=1").await?;
    Ok(page["data"].get(0).map(|listed| text(listed, "id").to_owned()))
}
