//! `/mcp` and `abide mcp`, without a client of somebody else: those are in `guests/mcp`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write;
use std::process::{Command, Stdio};

use abide_testkit::http;
use abide_testkit::serve::Process;
use serde_json::{Value, json};

const VERSION: &str = "2026-07-28";
const TASKS: &str = "io.modelcontextprotocol/tasks";

fn started() -> Process {
    let abide = Process::start(env!("CARGO_BIN_EXE_abide"));
    let ask = json!({"message": "Delete {{ input.file }}?",
        "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}});
    let workflow = json!({"name": "delete", "mcp": {"ask": {"agreed": ask}}, "output": "{{ agreed.ok }}",
        "steps": [{"name": "agreed", "type": "external_event", "signalType": "agreed", "saveAs": "agreed"}]});
    assert_eq!(send(&abide, "POST", "/api/v1/workflow-definitions", "", &workflow).0, 201);
    abide
}

fn send(abide: &Process, method: &str, path: &str, headers: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    http::exchange(abide.address().to_string(), method, path, headers, &body)
}

/// A request of a client that knows tasks and can ask a person.
fn message(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {TASKS: {}}},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn headers(method: &str, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("mcp-name: {name}\r\n") };
    format!("accept: application/json\r\nmcp-protocol-version: {VERSION}\r\nmcp-method: {method}\r\n{name}")
}

fn ask(abide: &Process, method: &str, name: &str, params: Value) -> (u16, Value) {
    send(abide, "POST", "/mcp", &headers(method, name), &message(method, params))
}

#[test]
fn a_task_is_found_again_after_a_kill_and_answered_once() {
    let mut abide = started();
    let call = json!({"name": "delete", "arguments": {"file": "a.txt"}});
    let (_, created) = ask(&abide, "tools/call", "delete", call);
    let id = created["result"]["taskId"].as_str().unwrap().to_owned();
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    abide.kill_and_start_again();
    let (_, found) = ask(&abide, "tasks/get", &id, json!({"taskId": id}));
    let asked = found["result"]["inputRequests"].as_object().unwrap();
    let (question, request) = asked.iter().next().unwrap();
    assert_eq!(request["params"]["message"], "Delete a.txt?");
    let answered =
        json!({"taskId": id, "inputResponses": {question: {"action": "accept", "content": {"ok": true}}}});
    let changed = json!({"taskId": id, "inputResponses": {question: {"action": "decline"}}});
    for update in [answered, changed] {
        assert_eq!(ask(&abide, "tasks/update", &id, update).1["result"], json!({"resultType": "complete"}));
    }
    let (_, done) = ask(&abide, "tasks/get", &id, json!({"taskId": id}));
    assert_eq!(done["result"]["status"], "completed", "{done}");
    assert_eq!(done["result"]["result"]["content"][0]["text"], "true");
    let (_, history) = send(&abide, "GET", &format!("/api/v1/workflow-runs/{id}"), "", &Value::Null);
    assert_eq!(history["tags"], json!(["mcp"]));
}

#[test]
fn an_answer_that_does_not_fit_its_form_is_refused_and_the_task_still_asks() {
    let abide = started();
    let call = json!({"name": "delete", "arguments": {"file": "a.txt"}});
    let id = ask(&abide, "tools/call", "delete", call).1["result"]["taskId"].as_str().unwrap().to_owned();
    let (_, found) = ask(&abide, "tasks/get", &id, json!({"taskId": id}));
    let question = found["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let bad =
        json!({"taskId": id, "inputResponses": {question: {"action": "accept", "content": {"ok": "yes"}}}});
    assert_eq!(ask(&abide, "tasks/update", &id, bad).1["error"]["code"], -32602);
    assert_eq!(ask(&abide, "tasks/get", &id, json!({"taskId": id})).1["result"]["status"], "input_required");
}

#[test]
fn what_is_not_a_good_request_is_told_so_and_starts_nothing() {
    let abide = started();
    let call = message("tools/call", json!({"name": "delete", "arguments": {}}));
    let good = headers("tools/call", "delete");
    for (method, path, more, body, status, code) in [
        ("GET", "/mcp", "", Value::Null, 405, Value::Null),
        ("POST", "/mcp", "", json!([]), 400, json!(-32600)),
        ("POST", "/mcp", &*good.replace("delete", "other"), call.clone(), 400, json!(-32020)),
        (
            "POST",
            "/mcp",
            &*format!("{good}origin: http://evil.example\r\n"),
            call.clone(),
            403,
            json!(-32000),
        ),
        ("POST", "/mcp", &*headers("tasks/list", ""), message("tasks/list", json!({})), 404, json!(-32601)),
        (
            "POST",
            "/mcp",
            &*headers("tools/call", "nobody"),
            message("tools/call", json!({"name": "nobody"})),
            200,
            json!(-32602),
        ),
    ] {
        let (told, answer) = send(&abide, method, path, more, &body);
        assert_eq!((told, &answer["error"]["code"]), (status, &code), "{answer}");
    }
    assert_eq!(send(&abide, "GET", "/api/v1/workflow-runs", "", &Value::Null).1["data"], json!([]));
}

#[test]
fn the_same_call_under_the_same_key_is_the_same_run() {
    let abide = started();
    let mut call = message("tools/call", json!({"name": "delete", "arguments": {"file": "a.txt"}}));
    call["params"]["_meta"]["idempotencyKey"] = json!("once");
    let started = || {
        send(&abide, "POST", "/mcp", &headers("tools/call", "delete"), &call).1["result"]["taskId"].clone()
    };
    let first = started();
    assert!(first.is_string());
    assert_eq!(started(), first);
}

#[test]
fn a_refusal_of_the_api_keeps_its_code() {
    let abide = started();
    let steer = json!({"name": "abide_send_signal", "arguments": {"runId": "run_0000000000000000000000", "signalType": "x"},
        "inputResponses": {"confirmed": {"action": "accept", "content": {"confirmed": true}}}});
    let (_, told) = ask(&abide, "tools/call", "abide_send_signal", steer);
    assert_eq!(told["result"]["isError"], true, "{told}");
    assert!(told["result"]["structuredContent"]["code"].is_string(), "{told}");
}

#[test]
fn a_server_that_was_told_not_to_serves_nothing_there() {
    let folder = tempfile::tempdir().unwrap();
    let abide = Process::start_with(env!("CARGO_BIN_EXE_abide"), folder, vec![("ABIDE_MCP", "false".into())]);
    let (status, _) = ask(&abide, "tools/list", "", json!({}));
    assert_eq!(status, 404);
}

#[test]
fn lines_in_are_lines_out_and_the_end_of_the_input_is_the_end() {
    let abide = started();
    let mut relay = Command::new(env!("CARGO_BIN_EXE_abide"))
        .args(["mcp", "--server", &format!("http://{}", abide.address())])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = relay.stdin.take().unwrap();
    writeln!(input, "{}", message("tools/list", json!({}))).unwrap();
    writeln!(input, "this is not JSON").unwrap();
    drop(input);
    let output = relay.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    let listed = lines.iter().find(|line| line["id"] == 1).unwrap();
    assert_eq!(listed["result"]["tools"][0]["name"], "delete", "{listed}");
    assert!(lines.iter().any(|line| line["error"]["code"] == -32700));
}
