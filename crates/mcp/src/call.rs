//! A call of a workflow: `tools/call`, and the run behind `prompts/get`. The run is started, or found again, and followed until
//! it has ended, until the caller is to be asked, or until it takes too long: then it is a task, or goes on by itself.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use abide_definition::OWN_TOOLS;
use abide_definition::document::{McpKind, McpTask};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::api::{segment, text};
use crate::ask::{self, Ask, Question, Reply};
use crate::catalog::Offered;
use crate::client::{Era, TASKS};
use crate::dispatch::{Context, required};
use crate::follow::{Reporter, ends, is_worth_a_look};
use crate::outcome::{self, RUN_ID, has_ended};
use crate::rpc::Error;
use crate::{headers, own_tools, tasks};

/// A run that is over by then is no task.
const AT_ONCE: Duration = Duration::from_millis(300);
/// How long a caller without tasks waits for a result. Clients give up after a minute.
const PATIENCE: Duration = Duration::from_secs(50);
/// How long a caller has for a question that was put to it on its stream.
const TO_ANSWER: Duration = Duration::from_secs(600);
/// Of a message that came on a standard stream, where there are no headers of arguments.
const STDIO: &str = "abide-transport";
/// What the runs that clients start are found by.
const TAG: &str = "mcp";

pub(crate) async fn call(context: &Context, params: &Value) -> Result<Value, Error> {
    let name = required(params, "name")?;
    if name.starts_with(OWN_TOOLS) {
        return own_tools::call(context, name, params).await;
    }
    let found = context.gateway.catalog.named(&context.api, name, McpKind::Tool).await?;
    let offered = found.ok_or_else(|| Error::invalid(format!("there is no tool `{name}`")))?;
    let call = Call::read(context, offered, params)?;
    if context.client.era == Era::Stateless && !context.client.headers.contains_key(STDIO) {
        headers::check_arguments(&context.client.headers, &call.offered.input_schema, &call.arguments)?;
    }
    match call.turn().await? {
        Turn::Ended(run) => outcome::result(&run),
        Turn::Asks(asks, run) => Ok(input_required(&asks, &run)),
        Turn::AskFirst(questions) => {
            Ok(json!({ "resultType": "input_required", "inputRequests": questions }))
        }
        Turn::Task(run) => Ok(tasks::created(&run)),
        Turn::GoesOn(run) => Ok(outcome::goes_on(&run)),
        Turn::Refused(result) => Ok(result),
    }
}

pub(crate) fn input_required(asks: &[Ask], run: &Value) -> Value {
    let requests: Map<String, Value> =
        asks.iter().map(|ask| (ask.name.clone(), ask.question.request())).collect();
    json!({
        "resultType": "input_required",
        "inputRequests": requests,
        "requestState": RequestState::of(run).to_string(),
        "_meta": { RUN_ID: run["id"] },
    })
}

/// What a client gives back when it comes again: the run, and how far it had come. All of it is looked at again then, with the
/// client's own rights, so it needs no seal.
#[derive(Debug, PartialEq)]
struct RequestState {
    run: String,
    version: u64,
}

impl RequestState {
    fn of(run: &Value) -> RequestState {
        RequestState { run: text(run, "id").to_owned(), version: run["version"].as_u64().unwrap_or_default() }
    }

    fn read(given: &str) -> Option<RequestState> {
        let (run, version) = given.split_once('.')?;
        let is_id = run.starts_with("run_")
            && run.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let version =
            version.parse().ok().filter(|version: &u64| version.to_string() == given[run.len() + 1..])?;
        is_id.then(|| RequestState { run: run.to_owned(), version })
    }
}

/// Whether this is the state of a call, for tests of others.
#[cfg(test)]
pub(crate) fn is_state(given: &str) -> bool {
    RequestState::read(given).is_some()
}

impl std::fmt::Display for RequestState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.run, self.version)
    }
}

/// How far a call came.
pub(crate) enum Turn {
    Ended(Value),
    Asks(Vec<Ask>, Value),
    AskFirst(Map<String, Value>),
    Task(Value),
    GoesOn(Value),
    /// No run was started; the result says why.
    Refused(Value),
}

pub(crate) struct Call<'a> {
    context: &'a Context,
    pub(crate) offered: Arc<Offered>,
    pub(crate) arguments: Value,
    responses: Map<String, Value>,
    /// Whether the call may become a task.
    tasks: bool,
    state: Option<RequestState>,
    key: Option<String>,
}

impl<'a> Call<'a> {
    pub(crate) fn read(
        context: &'a Context,
        offered: Arc<Offered>,
        params: &Value,
    ) -> Result<Call<'a>, Error> {
        let object = |field: &str| match params.get(field) {
            None => Ok(Map::new()),
            Some(Value::Object(given)) => Ok(given.clone()),
            Some(_) => Err(Error::invalid(format!("`{field}` must be an object"))),
        };
        let arguments = match params.get("arguments") {
            Some(Value::Null) => Map::new(),
            Some(_) | None => object("arguments")?,
        };
        let state = match params.get("requestState") {
            None => None,
            Some(given) => {
                let read = given.as_str().and_then(RequestState::read);
                Some(read.ok_or_else(|| Error::invalid("`requestState` is not one that this server gave"))?)
            }
        };
        let key = params["_meta"].get("idempotencyKey").and_then(Value::as_str).map(str::to_owned);
        let responses = object("inputResponses")?;
        let tasks = context.client.capabilities.tasks && offered.task() != McpTask::Never;
        Ok(Call { context, offered, arguments: arguments.into(), responses, tasks, state, key })
    }

    /// Of what is not a tool.
    pub(crate) fn without_tasks(self) -> Call<'a> {
        Call { tasks: false, ..self }
    }

    pub(crate) async fn turn(mut self) -> Result<Turn, Error> {
        let client = self.context.client.capabilities;
        if self.offered.task() == McpTask::Always && !client.tasks {
            return Err(Error::missing_capability(json!({ "extensions": { TASKS: {} } })));
        }
        if let Some(turn) = self.ask_first()? {
            return Ok(turn);
        }
        let (run, after) = match self.state.take() {
            Some(state) => self.go_on(state).await?,
            None => match self.start().await? {
                Ok(run) => (run, 0),
                Err(refused) => return Ok(Turn::Refused(refused)),
            },
        };
        self.follow(&run, after).await
    }

    /// The fields of the input that the arguments lack are asked for, or taken from what was answered.
    fn ask_first(&mut self) -> Result<Option<Turn>, Error> {
        let scope = json!({ "input": self.arguments });
        let mut questions = Map::new();
        let offered = Arc::clone(&self.offered);
        for (name, ask) in offered.mcp.ask_first.iter().flatten() {
            if self.arguments.get(name).is_some() {
                continue;
            }
            let question = Question::of(ask, &scope);
            let reply = self.responses.get(name).map(|response| question.read(response)).transpose()?;
            match reply {
                Some(Reply::Given(given)) => self.arguments[name] = given,
                Some(Reply::Declined(_)) => {
                    let message =
                        format!("the caller was asked for `{name}` and did not say it; nothing was started");
                    return Ok(Some(Turn::Refused(outcome::failed(&message))));
                }
                None if !question.may_be_put_to(self.context.client.capabilities) => {
                    return Err(Error::missing_capability(question.needs()));
                }
                None => drop(questions.insert(name.clone(), question.request())),
            }
        }
        match (questions.is_empty(), self.context.client.era) {
            (true, _) => Ok(None),
            (false, Era::Stateless) => Ok(Some(Turn::AskFirst(questions))),
            (false, Era::Sessions) => {
                let names: Vec<&String> = questions.keys().collect();
                let message = format!("these arguments are missing: {names:?}; ask for them, and call again");
                Ok(Some(Turn::Refused(outcome::failed(&message))))
            }
        }
    }

    /// Starts the run. What was answered before it could ask is waiting for it when it does.
    async fn start(&self) -> Result<Result<String, Value>, Error> {
        let scope = json!({ "input": self.arguments });
        let mut early = Vec::new();
        for (name, ask) in self.offered.mcp.ask.iter().flatten() {
            if let Some(response) = self.responses.get(name) {
                early.push((name, ask::payload(Question::of(ask, &scope).read(response)?)));
            }
        }
        let start = json!({ "name": self.offered.name, "input": self.arguments, "tags": [TAG] });
        let started = self.context.api.post_once("/workflow-runs", &start, self.key.as_deref()).await;
        let run = match started {
            Ok(started) => text(&started, "id").to_owned(),
            Err(problem) if problem.is_about_what_was_sent() => return Ok(Err(outcome::refused(&problem))),
            Err(problem) => return Err(problem.into()),
        };
        for (name, payload) in early {
            let signal = json!({ "signalType": name, "payload": payload });
            self.context.api.post(&format!("/workflow-runs/{}/resume", segment(&run)), &signal).await?;
        }
        Ok(Ok(run))
    }

    /// Finds the run that was started before, and gives it what was answered.
    async fn go_on(&self, state: RequestState) -> Result<(String, u64), Error> {
        let not_ours = || Error::invalid("`requestState` is not of a call of this tool with these arguments");
        let run = match self.context.api.get(&format!("/workflow-runs/{}", segment(&state.run))).await {
            Err(problem) if problem.is_unknown() => return Err(not_ours()),
            found => found?,
        };
        if text(&run["definition"], "name") != self.offered.name || run["input"] != self.arguments {
            return Err(not_ours());
        }
        let client = self.context.client.capabilities;
        for ask in ask::open(&self.context.api, &run, Some(&self.offered), client).await? {
            if let Some(response) = self.responses.get(&ask.name) {
                ask.give(&self.context.api, response).await?;
            }
        }
        Ok((state.run, run["version"].as_u64().unwrap_or_default()))
    }

    async fn follow(&self, id: &str, after: u64) -> Result<Turn, Error> {
        let may_be_task = self.tasks;
        let mut until = Instant::now() + if may_be_task { AT_ONCE } else { PATIENCE };
        let mut reporter = Reporter::new(self.context, &self.offered);
        let mut records = self.context.api.records(id, after).await?;
        let mut put = HashSet::new();
        // A run that was there before is looked at at once; a new one when its first records have been told.
        let mut look = after > 0 || self.offered.task() == McpTask::Always;
        loop {
            let mut is_late = false;
            while !look {
                let Some(stream) = &mut records else { break };
                match tokio::time::timeout_at(until, stream.next()).await {
                    Ok(Some(record)) => {
                        reporter.tell(&record).await;
                        look = is_worth_a_look(&record);
                    }
                    Ok(None) => {
                        records = None;
                        is_late = true;
                    }
                    Err(_) => {
                        is_late = true;
                        break;
                    }
                }
            }
            look = false;
            let run = self.context.api.get(&format!("/workflow-runs/{}", segment(id))).await?;
            if has_ended(&run) && self.offered.task() != McpTask::Always {
                while let Some(record) = next_if(&mut records, reporter.is_heard(), until).await {
                    reporter.tell(&record).await;
                    if ends(&record) {
                        break;
                    }
                }
                return Ok(Turn::Ended(run));
            }
            let waits = text(&run, "status") == "WAITING";
            if may_be_task && (waits || is_late || self.offered.task() == McpTask::Always) {
                return Ok(Turn::Task(run));
            }
            if waits {
                let client = self.context.client.capabilities;
                let asks = ask::open(&self.context.api, &run, Some(&self.offered), client).await?;
                match self.context.client.era {
                    Era::Stateless if !asks.is_empty() => return Ok(Turn::Asks(asks, run)),
                    Era::Stateless => {}
                    Era::Sessions => {
                        for ask in asks.iter().filter(|ask| put.insert(ask.id.clone())) {
                            let mut request = ask.question.request();
                            request["jsonrpc"] = "2.0".into();
                            request["id"] = ask.id.as_str().into();
                            self.context.outbox.send(request).await;
                            until = Instant::now() + TO_ANSWER;
                        }
                    }
                }
            }
            if is_late || records.is_none() {
                return Ok(Turn::GoesOn(run));
            }
        }
    }
}

/// The next record of those that are there, if somebody wants to hear of it.
async fn next_if(records: &mut Option<crate::api::Records>, is_heard: bool, until: Instant) -> Option<Value> {
    let records = records.as_mut().filter(|_| is_heard)?;
    tokio::time::timeout_at(until, records.next()).await.ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_was_changed_is_none() {
        let state = RequestState { run: "run_01abc".to_owned(), version: 7 };
        let given = state.to_string();
        assert_eq!(RequestState::read(&given), Some(state));
        for changed in [
            format!("{given}-TAMPERED"),
            given.replace('7', "07"),
            "run_01abc".to_owned(),
            given.replace("run", "r/n"),
        ] {
            assert_eq!(RequestState::read(&changed), None, "{changed}");
        }
    }
}
