//! The server's own tools: to see what runs and what waits, and to steer it. They do what the API does, with the caller's own
//! scopes; what changes something is confirmed by a person first, where the client can ask one.

use serde_json::{Value, json};

use crate::api::{segment, text};
use crate::client::Era;
use crate::dispatch::Context;
use crate::outcome;
use crate::rpc::Error;

/// The argument, and the question, by which a change is confirmed.
const CONFIRM: &str = "confirmed";
const ITEMS: u64 = 50;

/// A tool of the server.
struct OwnTool {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    changes: bool,
    /// The arguments of the tool: name, what it is about, whether it must be given, and its schema.
    arguments: &'static [(&'static str, &'static str, bool, Of)],
}

#[derive(Clone, Copy)]
enum Of {
    Text,
    Count,
    Json,
    Word(&'static [&'static str]),
}

const RUN: (&str, &str, bool, Of) = ("runId", "The run: `run_…`", true, Of::Text);
const WAIT: (&str, &str, bool, Of) = ("waitpointId", "The wait: `wp_…`", true, Of::Text);
const LIMIT: (&str, &str, bool, Of) = ("limit", "Items at most, up to 50", false, Of::Count);
const CURSOR: (&str, &str, bool, Of) = ("cursor", "The `nextCursor` of the page before", false, Of::Text);
const KINDS: Of = Of::Word(&[
    "DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "CAPACITY", "CODE",
]);
const STATUSES: Of =
    Of::Word(&["PENDING", "RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]);

const TOOLS: [OwnTool; 7] = [
    OwnTool {
        name: "abide_list_waits",
        title: "What waits",
        about: "Lists the open waits of runs, the next due first: for whom or what each waits, and until when.",
        changes: false,
        arguments: &[
            ("kind", "Only waits of this kind", false, KINDS),
            ("runId", "Only waits of this run", false, Of::Text),
            LIMIT,
            CURSOR,
        ],
    },
    OwnTool {
        name: "abide_list_runs",
        title: "Runs",
        about: "Lists runs of workflows, the newest first.",
        changes: false,
        arguments: &[
            ("definition", "Only runs of this workflow", false, Of::Text),
            ("status", "Only runs of this status", false, STATUSES),
            LIMIT,
            CURSOR,
        ],
    },
    OwnTool {
        name: "abide_get_run",
        title: "A run",
        about: "Shows a run: its status, its output or its error, its steps, and what it waits for.",
        changes: false,
        arguments: &[RUN],
    },
    OwnTool {
        name: "abide_steer_wait",
        title: "Steer a wait",
        about: "Wakes a wait now, as if what it waits for had come; times it out; cancels it; or moves it to another instant.",
        changes: true,
        arguments: &[
            WAIT,
            (
                "action",
                "What to do with it",
                true,
                Of::Word(&["complete", "timeout", "cancel", "reschedule"]),
            ),
            ("resumeAt", "With `reschedule`: the instant, such as 2027-01-31T09:00:00Z", false, Of::Text),
            ("payload", "With `complete`: what came, any JSON", false, Of::Json),
        ],
    },
    OwnTool {
        name: "abide_send_signal",
        title: "Send a signal",
        about: "Sends a signal to a run. If the run does not wait for it yet, it is kept until it does.",
        changes: true,
        arguments: &[
            RUN,
            ("signalType", "The type of the signal", true, Of::Text),
            ("payload", "What the signal says, any JSON", false, Of::Json),
        ],
    },
    OwnTool {
        name: "abide_decide_approval",
        title: "Decide an approval",
        about: "Approves or rejects what a run asks for. It needs a key with the scope `approve`.",
        changes: true,
        arguments: &[
            WAIT,
            ("decision", "The decision", true, Of::Word(&["approve", "reject"])),
            ("comment", "Why", false, Of::Text),
        ],
    },
    OwnTool {
        name: "abide_cancel_run",
        title: "Cancel a run",
        about: "Cancels a run, wherever it is. What waits in it is cancelled, and late results are refused.",
        changes: true,
        arguments: &[RUN, ("reason", "Stands in the history", false, Of::Text)],
    },
];

impl OwnTool {
    fn listed(&self) -> Value {
        let mut properties = json!({});
        for (name, about, _, of) in self.arguments {
            let mut schema = match of {
                Of::Text => json!({ "type": "string" }),
                Of::Count => json!({ "type": "integer", "minimum": 1, "maximum": ITEMS }),
                Of::Json => json!({}),
                Of::Word(words) => json!({ "type": "string", "enum": words }),
            };
            schema["description"] = (*about).into();
            properties[*name] = schema;
        }
        if self.changes {
            let about = "Set it only after the user has agreed to exactly this; a client that can ask is asked instead";
            properties[CONFIRM] = json!({ "type": "boolean", "description": about });
        }
        let required: Vec<&str> =
            self.arguments.iter().filter(|(_, _, needed, _)| *needed).map(|(name, ..)| *name).collect();
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": {
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": !self.changes, "destructiveHint": self.changes, "openWorldHint": false },
        })
    }

    /// What is wrong with the arguments.
    fn misfit(&self, arguments: &Value) -> Option<String> {
        let given = arguments.as_object().into_iter().flatten();
        for (name, value) in given.filter(|(name, _)| !(self.changes && *name == CONFIRM)) {
            let Some((_, _, _, of)) = self.arguments.iter().find(|(known, ..)| known == name) else {
                return Some(format!("`{name}` is not an argument of `{}`", self.name));
            };
            let fits = match of {
                Of::Text => value.is_string(),
                Of::Count => value.as_u64().is_some_and(|count| (1..=ITEMS).contains(&count)),
                Of::Json => true,
                Of::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            };
            if !fits {
                return Some(format!("`{name}` is not as its schema says"));
            }
        }
        let missing =
            self.arguments.iter().find(|(name, _, needed, _)| *needed && arguments.get(name).is_none());
        missing.map(|(name, ..)| format!("`{name}` is missing"))
    }
}

pub(crate) fn listed() -> impl Iterator<Item = Value> {
    TOOLS.iter().map(OwnTool::listed)
}

pub(crate) async fn call(context: &Context, name: &str, params: &Value) -> Result<Value, Error> {
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| Error::invalid(format!("there is no tool `{name}`")))?;
    let none = json!({});
    let arguments = params.get("arguments").filter(|given| given.is_object()).unwrap_or(&none);
    if let Some(misfit) = tool.misfit(arguments) {
        return Ok(outcome::failed(&misfit));
    }
    if tool.changes
        && let Some(unconfirmed) = unconfirmed(context, tool, arguments, params)?
    {
        return Ok(unconfirmed);
    }
    match perform(context, name, arguments).await {
        Ok(done) => Ok(json!({
            "content": [{ "type": "text", "text": done.to_string() }],
            "structuredContent": done,
        })),
        Err(problem) if [401, 429, 503].contains(&problem.status.as_u16()) => Err(problem.into()),
        Err(problem) => Ok(outcome::refused(&problem)),
    }
}

/// The answer to a call that nobody has agreed to yet: the question, or that it has to be put.
fn unconfirmed(
    context: &Context,
    tool: &OwnTool,
    arguments: &Value,
    params: &Value,
) -> Result<Option<Value>, Error> {
    let asks = context.client.era == Era::Stateless && context.client.capabilities.elicitation;
    if !asks {
        if arguments.get(CONFIRM) == Some(&Value::Bool(true)) {
            return Ok(None);
        }
        let told = format!(
            "ask the user whether to do this; if so, call `{}` again with `{CONFIRM}: true`",
            tool.name
        );
        return Ok(Some(outcome::failed(&told)));
    }
    let response = params.get("inputResponses").and_then(|responses| responses.get(CONFIRM));
    match response.map(|response| (text(response, "action"), &response["content"][CONFIRM])) {
        Some(("accept", Value::Bool(true))) => return Ok(None),
        Some(("accept" | "decline" | "cancel", _)) => {
            return Ok(Some(outcome::failed("the user did not agree; nothing was changed")));
        }
        Some(_) => return Err(Error::invalid(format!("the answer to `{CONFIRM}` is not one"))),
        None => {}
    }
    let message = format!("{}? {arguments}", tool.title);
    let schema = json!({
        "type": "object",
        "properties": { CONFIRM: { "type": "boolean", "title": "Do it", "default": false } },
        "required": [CONFIRM],
    });
    Ok(Some(json!({
        "resultType": "input_required",
        "inputRequests": { CONFIRM: {
            "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema },
        } },
    })))
}

async fn perform(context: &Context, name: &str, arguments: &Value) -> Result<Value, crate::api::Problem> {
    let api = &context.api;
    let id = |field: &str| segment(text(arguments, field));
    match name {
        "abide_list_waits" => api.get(&listing("/waitpoints?status=PENDING", arguments)).await,
        "abide_list_runs" => api.get(&listing("/workflow-runs?", arguments)).await,
        "abide_get_run" => api.get(&format!("/workflow-runs/{}", id("runId"))).await,
        "abide_send_signal" => {
            let body = json!({
                "signalType": arguments["signalType"],
                "payload": arguments.get("payload").unwrap_or(&Value::Null),
            });
            api.post(&format!("/workflow-runs/{}/resume", id("runId")), &body).await
        }
        "abide_decide_approval" => {
            let mut body = json!({ "decision": arguments["decision"] });
            if let Some(comment) = arguments.get("comment") {
                body["comment"] = comment.clone();
            }
            api.post(&format!("/approval-requests/{}/decide", id("waitpointId")), &body).await
        }
        "abide_cancel_run" => {
            let body =
                arguments.get("reason").map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
            api.post(&format!("/workflow-runs/{}/cancel", id("runId")), &body).await
        }
        _ => {
            let path = format!("/waitpoints/{}", id("waitpointId"));
            match text(arguments, "action") {
                "reschedule" => api.patch(&path, &json!({ "resumeAt": arguments.get("resumeAt") })).await,
                "complete" => {
                    let body = arguments
                        .get("payload")
                        .map_or_else(|| json!({}), |payload| json!({ "payload": payload }));
                    api.post(&format!("{path}/complete"), &body).await
                }
                action => api.post(&format!("{path}/{action}"), &json!({})).await,
            }
        }
    }
}

/// The path of a list, with what narrows it.
fn listing(path: &str, arguments: &Value) -> String {
    let given = arguments.as_object().into_iter().flatten();
    let query = given.map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("&{name}={}", segment(&value))
    });
    let limit = if arguments.get("limit").is_none() { format!("&limit={ITEMS}") } else { String::new() };
    let query: String = query.chain([limit]).collect();
    format!("{path}{query}").replacen("?&", "?", 1)
}

#[cfg(test)]
mod tests {
    use abide_definition::{OWN_TOOLS, Schema};

    use super::*;

    #[test]
    fn every_tool_has_a_name_of_its_own_and_a_schema_that_is_one() {
        for tool in listed() {
            assert!(text(&tool, "name").starts_with(OWN_TOOLS));
            assert!(Schema::compile(&tool["inputSchema"]).is_ok());
        }
    }

    #[test]
    fn arguments_are_checked_as_the_schema_says() {
        let tool = TOOLS.iter().find(|tool| tool.name == "abide_steer_wait").unwrap();
        assert_eq!(tool.misfit(&json!({"waitpointId": "wp_1", "action": "cancel", "confirmed": true})), None);
        for bad in [
            json!({"waitpointId": "wp_1"}),
            json!({"waitpointId": 1, "action": "cancel"}),
            json!({"waitpointId": "wp_1", "action": "destroy"}),
            json!({"waitpointId": "wp_1", "action": "cancel", "x": 1}),
        ] {
            assert!(tool.misfit(&bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_list_is_narrowed_by_what_is_given() {
        assert_eq!(
            listing("/workflow-runs?", &json!({"status": "FAILED"})),
            "/workflow-runs?status=FAILED&limit=50"
        );
        assert_eq!(
            listing("/waitpoints?status=PENDING", &json!({"limit": 5})),
            "/waitpoints?status=PENDING&limit=5"
        );
    }
}
