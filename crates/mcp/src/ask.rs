//! What a caller is asked: before a run starts, by the `askFirst` of its workflow, and while it waits for a signal or a
//! decision. An answer ends the wait as it would from anywhere else: what a form says is the payload of the signal.

use std::sync::Arc;

use abide_definition::Schema;
use abide_definition::document::McpAsk;
use abide_definition::expression::Template;
use serde_json::{Map, Value, json};

use crate::Gateway;
use crate::api::{Api, Problem, segment, text};
use crate::catalog::Offered;
use crate::client::Capabilities;
use crate::rpc::Error;

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";
/// Open waits of a run that are looked at.
const WAITS: usize = 100;

/// A question in the protocol's words.
#[derive(Debug)]
pub(crate) struct Question {
    method: &'static str,
    params: Value,
    /// What a form must say.
    schema: Option<Value>,
    /// The form is one that nobody described: one field with any text.
    is_plain: bool,
}

/// What a caller said.
#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    Given(Value),
    /// A person did not want to, or not now: `decline` or `cancel`.
    Declined(String),
}

impl Question {
    pub(crate) fn of(ask: &McpAsk, scope: &Value) -> Question {
        if let Some(sampling) = &ask.sampling {
            return Question {
                method: SAMPLE,
                params: filled(sampling, scope),
                schema: None,
                is_plain: false,
            };
        }
        let Some(message) = &ask.message else {
            return Question { method: ROOTS, params: json!({}), schema: None, is_plain: false };
        };
        let message = filled(&Value::from(message.as_str()), scope);
        let message = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
        let schema = ask.schema.clone().unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
        Question::form(&message, schema)
    }

    fn form(message: &str, schema: Value) -> Question {
        let params = json!({ "message": message, "requestedSchema": schema });
        Question { method: ELICIT, params, schema: Some(schema), is_plain: false }
    }

    /// Where nobody said what may be answered.
    fn plain(message: &str) -> Question {
        let schema = json!({ "type": "object", "properties": { "payload": {
            "type": "string", "title": "Payload", "description": "Text, or JSON",
        } } });
        Question { is_plain: true, ..Question::form(message, schema) }
    }

    fn decision(message: &str) -> Question {
        let schema = json!({
            "type": "object",
            "properties": {
                "decision": { "type": "string", "title": "Decision", "enum": ["approve", "reject"] },
                "comment": { "type": "string", "title": "Comment", "maxLength": 1000 },
            },
            "required": ["decision"],
        });
        Question::form(message, schema)
    }

    pub(crate) fn request(&self) -> Value {
        json!({ "method": self.method, "params": self.params })
    }

    pub(crate) fn may_be_put_to(&self, client: Capabilities) -> bool {
        match self.method {
            ELICIT => client.elicitation,
            SAMPLE => client.sampling,
            _ => client.roots,
        }
    }

    /// The capability that a client needs for it.
    pub(crate) fn needs(&self) -> Value {
        match self.method {
            ELICIT => json!({ "elicitation": {} }),
            SAMPLE => json!({ "sampling": {} }),
            _ => json!({ "roots": {} }),
        }
    }

    pub(crate) fn read(&self, response: &Value) -> Result<Reply, Error> {
        let bad = |what: &str| Error::invalid(format!("this does not answer `{}`: {what}", self.method));
        if !response.is_object() {
            return Err(bad("it is not an object"));
        }
        match self.method {
            ELICIT => self.read_form(response),
            SAMPLE if response.get("content").is_none() => Err(bad("it has no `content`")),
            ROOTS if !response.get("roots").is_some_and(Value::is_array) => Err(bad("it has no `roots`")),
            _ => Ok(Reply::Given(response.clone())),
        }
    }

    fn read_form(&self, response: &Value) -> Result<Reply, Error> {
        let content = match text(response, "action") {
            "accept" => response.get("content").cloned().unwrap_or_else(|| json!({})),
            action @ ("decline" | "cancel") => return Ok(Reply::Declined(action.to_owned())),
            _ => return Err(Error::invalid("`action` must be `accept`, `decline` or `cancel`")),
        };
        let schema = self.schema.as_ref().and_then(|schema| Schema::compile(schema).ok());
        if let Some((place, why)) = schema.and_then(|schema| schema.errors(&content).into_iter().next()) {
            return Err(Error::invalid(format!("the answer does not fit its form at `{place}`: {why}")));
        }
        if self.is_plain {
            let given = text(&content, "payload");
            return Ok(Reply::Given(serde_json::from_str(given).unwrap_or_else(|_| Value::from(given))));
        }
        Ok(Reply::Given(content))
    }
}

/// A template over what is known of a run; where something is not known yet, the template as it stands.
fn filled(template: &Value, scope: &Value) -> Value {
    let rendered = Template::parse(template).ok().and_then(|template| template.render(scope).ok());
    rendered.map_or_else(|| template.clone(), |rendered| Value::clone(&rendered))
}

/// The names that a template may use, of a run as the API shows it.
fn scope(run: &Value) -> Value {
    let mut scope = run.get("state").and_then(Value::as_object).cloned().unwrap_or_default();
    let steps = run.get("steps").and_then(Value::as_array).into_iter().flatten();
    let steps: Map<String, Value> =
        steps.map(|step| (text(step, "name").to_owned(), json!({ "output": step.get("output") }))).collect();
    for name in ["input", "state"] {
        scope.insert(name.to_owned(), run.get(name).cloned().unwrap_or_default());
    }
    scope.insert("steps".to_owned(), steps.into());
    scope.insert("run".to_owned(), json!({ "id": run.get("id"), "tags": run.get("tags") }));
    Value::Object(scope)
}

/// A wait of a run that the caller can end.
#[derive(Debug)]
pub(crate) struct Ask {
    /// Of the waitpoint.
    pub(crate) id: String,
    /// The type of the signal, or the step of the approval.
    pub(crate) name: String,
    pub(crate) question: Question,
    /// Of an approval: what stands for the content that is shown.
    digest: Option<String>,
}

impl Ask {
    fn of(waitpoint: &Value, run: &Value, offered: Option<&Offered>) -> Option<Ask> {
        let id = text(waitpoint, "id").to_owned();
        let waits = run.get("waitingFor").and_then(Value::as_array)?;
        let about = waits.iter().find(|wait| text(wait, "waitpointId") == id);
        let sentence = about.map_or("", |wait| text(wait, "sentence"));
        match text(waitpoint, "kind") {
            "SIGNAL" => {
                let name = text(&waitpoint["listensFor"], "signalType").to_owned();
                let asked = offered.and_then(|offered| offered.ask(&name));
                let question =
                    asked.map_or_else(|| Question::plain(sentence), |ask| Question::of(ask, &scope(run)));
                Some(Ask { id, name, question, digest: None })
            }
            // Shown to those who may decide.
            "APPROVAL" if waitpoint.get("resumeUrl").is_some() => {
                let approval = &waitpoint["approval"];
                let prompt = approval.get("prompt").and_then(Value::as_str).unwrap_or(sentence);
                let question = Question::decision(&format!("{prompt}\n\n{}", approval["content"]));
                let digest = text(approval, "contentDigest").to_owned();
                Some(Ask { id, name: text(waitpoint, "stepName").to_owned(), question, digest: Some(digest) })
            }
            _ => None,
        }
    }

    /// Ends the wait with what the caller said. Who comes too late changes nothing, and is not told off for it.
    pub(crate) async fn give(&self, api: &Api, response: &Value) -> Result<(), Error> {
        let reply = self.question.read(response)?;
        let done = match (&self.digest, reply) {
            // Nothing is decided by somebody who does not decide.
            (Some(_), Reply::Declined(_)) => return Ok(()),
            (Some(digest), Reply::Given(decision)) => {
                let mut body = json!({ "decision": text(&decision, "decision"), "contentDigest": digest });
                if let Some(comment) = decision.get("comment") {
                    body["comment"] = comment.clone();
                }
                api.post(&format!("/approval-requests/{}/decide", segment(&self.id)), &body).await
            }
            (None, reply) => {
                let body = json!({ "payload": payload(reply) });
                api.post(&format!("/waitpoints/{}/complete", segment(&self.id)), &body).await
            }
        };
        match done {
            Err(problem) if !problem.is_too_late() => Err(problem.into()),
            Err(_) | Ok(_) => Ok(()),
        }
    }
}

/// What a run is given of a reply.
pub(crate) fn payload(reply: Reply) -> Value {
    match reply {
        Reply::Given(given) => given,
        Reply::Declined(action) => json!({ "action": action }),
    }
}

/// The open waits of a run that a client of these capabilities can be asked about.
pub(crate) async fn open(
    api: &Api,
    run: &Value,
    offered: Option<&Offered>,
    client: Capabilities,
) -> Result<Vec<Ask>, Problem> {
    let waits = run.get("waitingFor").and_then(Value::as_array).into_iter().flatten();
    if !waits.into_iter().any(|wait| ["SIGNAL", "APPROVAL"].contains(&text(wait, "kind"))) {
        return Ok(Vec::new());
    }
    let path = format!("/waitpoints?runId={}&status=PENDING&limit={WAITS}", segment(text(run, "id")));
    let listed = api.get(&path).await?;
    let waitpoints = listed["data"].as_array().into_iter().flatten();
    let mut asks: Vec<Ask> = waitpoints.filter_map(|waitpoint| Ask::of(waitpoint, run, offered)).collect();
    asks.retain(|ask| ask.question.may_be_put_to(client));
    asks.sort_by(|one, other| one.id.cmp(&other.id));
    for index in 1..asks.len() {
        if asks[..index].iter().any(|before| before.name == asks[index].name) {
            asks[index].name = asks[index].id.clone();
        }
    }
    Ok(asks)
}

/// Takes the answer to a request that went out on a stream. Its id is that of the waitpoint, so any node can take it.
pub(crate) async fn answered(
    gateway: &Arc<Gateway>,
    api: &Api,
    id: &Value,
    result: Option<Value>,
) -> Result<(), Error> {
    let (Some(id), Some(result)) = (id.as_str().filter(|id| id.starts_with("wp_")), result) else {
        return Ok(());
    };
    let waitpoint = match api.get(&format!("/waitpoints/{}", segment(id))).await {
        Err(problem) if problem.is_unknown() => return Ok(()),
        found => found?,
    };
    if text(&waitpoint, "status") != "PENDING" {
        return Ok(());
    }
    let run = api.get(&format!("/workflow-runs/{}", segment(text(&waitpoint, "runId")))).await?;
    let offered = gateway.catalog.get(api, text(&run["definition"], "id")).await?;
    match Ask::of(&waitpoint, &run, offered.as_deref()) {
        Some(ask) => ask.give(api, &result).await,
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Question {
        let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
        let ask = McpAsk {
            message: Some("Delete {{ input.file }}?".to_owned()),
            schema: Some(schema),
            ..McpAsk::default()
        };
        Question::of(&ask, &json!({"input": {"file": "a.txt"}}))
    }

    #[test]
    fn a_message_is_filled_in_from_the_run() {
        assert_eq!(form().request()["params"]["message"], "Delete a.txt?");
    }

    #[test]
    fn what_a_form_says_must_fit_it() {
        let read = |response: Value| form().read(&response);
        let accepted = read(json!({"action": "accept", "content": {"ok": true}})).unwrap();
        assert_eq!(accepted, Reply::Given(json!({"ok": true})));
        assert_eq!(read(json!({"action": "decline"})).unwrap(), Reply::Declined("decline".to_owned()));
        for bad in [json!(12345), json!({}), json!({"action": "accept", "content": {"ok": "yes"}})] {
            assert!(read(bad).is_err());
        }
    }

    #[test]
    fn a_form_that_nobody_described_takes_text_or_json() {
        let read = |payload: &str| {
            Question::plain("?").read(&json!({"action": "accept", "content": {"payload": payload}})).unwrap()
        };
        assert_eq!(read("{\"a\": 1}"), Reply::Given(json!({"a": 1})));
        assert_eq!(read("hello there"), Reply::Given(json!("hello there")));
    }
}
