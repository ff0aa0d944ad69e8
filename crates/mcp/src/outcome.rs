//! What became of a run, as a tool's result says it. A handler that fails has done its work and has an error to tell: a result.
//! A workflow that cannot be carried out has none: that is an error of the protocol.

use serde_json::{Map, Value, json};

use crate::api::{Problem, text};
use crate::rpc::Error;

/// The key of `_meta` under which the run is named.
pub(crate) const RUN_ID: &str = "abide/runId";

/// Failures that the workflow itself is at fault for: they come before any handler, and no argument avoids them.
const AT_FAULT: [&str; 10] = [
    "APPROVAL_CONTENT_MISSING",
    "BAD_EVENT_ID",
    "BAD_TIME",
    "DECISION_TOO_LARGE",
    "EXPRESSION_FAILED",
    "NOT_A_LIST",
    "STATE_TOO_LARGE",
    "TOO_DEEP",
    "TOO_MANY_ITEMS",
    "WAIT_TOO_LONG",
];

pub(crate) fn has_ended(run: &Value) -> bool {
    ["COMPLETED", "FAILED", "CANCELLED"].contains(&text(run, "status"))
}

/// The result of a tool whose run has ended.
pub(crate) fn result(run: &Value) -> Result<Value, Error> {
    let mut result = match text(run, "status") {
        "COMPLETED" => of_output(run.get("output").unwrap_or(&Value::Null)),
        "CANCELLED" => failed("the run was cancelled"),
        _ => {
            let error = &run["error"];
            let (code, message) = (text(error, "code"), text(error, "message"));
            if AT_FAULT.contains(&code) {
                let data = json!({ "code": code, "runId": run["id"], "step": error["step"] });
                return Err(Error::internal(message, data));
            }
            let mut result = failed(message);
            result["structuredContent"] = json!({ "code": code, "message": message, "step": error["step"] });
            result
        }
    };
    result["_meta"][RUN_ID] = run["id"].clone();
    Ok(result)
}

/// A run that goes on while nobody waits for it.
pub(crate) fn goes_on(run: &Value) -> Value {
    let id = text(run, "id");
    let waits = message(run).map(|waits| format!(" {waits}")).unwrap_or_default();
    let told = format!(
        "The run {id} goes on.{waits} Its result is not there yet: `abide_get_run` shows it when it is."
    );
    json!({
        "content": [{ "type": "text", "text": told }],
        "structuredContent": { "runId": id, "status": run["status"], "waitingFor": run["waitingFor"] },
        "_meta": { RUN_ID: id },
    })
}

/// What a run waits for, in sentences.
pub(crate) fn message(run: &Value) -> Option<String> {
    let waits = run.get("waitingFor").and_then(Value::as_array)?;
    let sentences: Vec<&str> = waits.iter().map(|wait| text(wait, "sentence")).collect();
    let told = sentences.join("; ");
    (!told.is_empty()).then_some(told)
}

/// What was sent cannot be worked with: whoever sent it may try again.
pub(crate) fn refused(problem: &Problem) -> Value {
    let mut result = failed(problem.detail());
    result["structuredContent"] = problem.body.clone();
    result
}

pub(crate) fn failed(message: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": message }], "isError": true })
}

/// The output itself, if it is a result in the protocol's words; otherwise the output as text, and as data.
fn of_output(output: &Value) -> Value {
    if let Some(fields) = output.as_object().filter(|fields| fields.get("content").is_some_and(is_content)) {
        let kept = ["content", "structuredContent", "isError", "_meta"];
        let kept = fields.iter().filter(|(name, _)| kept.contains(&name.as_str()));
        return Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>());
    }
    let shown = match output {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            output.to_string()
        }
    };
    let mut result = json!({ "content": [{ "type": "text", "text": shown }] });
    if output.is_object() {
        result["structuredContent"] = output.clone();
    }
    result
}

/// Whether these are blocks as the protocol has them.
fn is_content(content: &Value) -> bool {
    let has = |block: &Value, field: &str| block.get(field).is_some_and(Value::is_string);
    let is_block = |block: &Value| match text(block, "type") {
        "text" => has(block, "text"),
        "image" | "audio" => has(block, "data") && has(block, "mimeType"),
        "resource" => block.get("resource").is_some_and(|resource| has(resource, "uri")),
        "resource_link" => has(block, "uri") && has(block, "name"),
        _ => false,
    };
    content.as_array().is_some_and(|blocks| blocks.iter().all(is_block))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(output: Value) -> Value {
        result(&json!({"id": "run_1", "status": "COMPLETED", "output": output})).unwrap()
    }

    #[test]
    fn an_output_is_text_and_data_or_a_result_as_it_is() {
        assert_eq!(completed(json!("hello"))["content"][0]["text"], "hello");
        let object = completed(json!({"n": 1}));
        assert_eq!(
            (&object["content"][0]["text"], &object["structuredContent"]),
            (&json!("{\"n\":1}"), &json!({"n": 1}))
        );
        let own = json!({"content": [{"type": "image", "data": "", "mimeType": "image/png"}], "other": 1});
        assert_eq!(completed(own)["content"][0]["type"], "image");
        assert_eq!(
            completed(json!({"content": "just a field"}))["structuredContent"]["content"],
            "just a field"
        );
    }

    #[test]
    fn a_handlers_failure_is_a_result_and_a_workflows_is_an_error() {
        let run =
            |code: &str| json!({"id": "run_1", "status": "FAILED", "error": {"code": code, "message": "no"}});
        let told = result(&run("TASK_FAILED")).unwrap();
        assert_eq!(
            (&told["isError"], &told["structuredContent"]["code"]),
            (&json!(true), &json!("TASK_FAILED"))
        );
        let error = result(&run("EXPRESSION_FAILED")).unwrap_err();
        assert_eq!(error.data.unwrap()["code"], "EXPRESSION_FAILED");
    }
}
