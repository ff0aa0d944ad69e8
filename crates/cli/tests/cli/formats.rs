//! Every format of a store that there ever was is opened, and what is in it goes on.
//!
//! A format is kept under `tests/formats` as its program left it: the store, and what was known of it outside. None is
//! changed later. `scripts/keep-format` keeps the one of this program, which a test asks for.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

mod store;
pub(crate) mod two_versions;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::migrate::server::{Server, run};
use store::Database;

/// What would be removed by its age is kept, for a kept format is as old as it is.
pub(crate) const KEEP: [(&str, &str); 3] =
    [("ABIDE_KEEP_EVENTS", "36500d"), ("ABIDE_KEEP_KEYS", "36500d"), ("ABIDE_ALLOW_ADDRESS", "127.0.0.1")];

#[test]
fn every_format_on_sqlite_is_opened_and_goes_on() {
    every_format_goes_on(Database::Sqlite);
}

#[test]
fn every_format_on_postgresql_is_opened_and_goes_on() {
    every_format_goes_on(Database::Postgres);
}

fn every_format_goes_on(database: Database) {
    let latest = database.latest();
    let kept = kept(database);
    if !kept.contains_key(&latest) {
        assert!(
            std::env::var_os("ABIDE_KEEP_FORMAT").is_some(),
            "format {latest} of {database} is not kept in {}: scripts/keep-format keeps it",
            formats().display()
        );
        keep(database, latest);
    }
    for place in self::kept(database).values() {
        goes_on(database, place);
    }
}

fn formats() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// The formats of a database that are kept, by their numbers.
fn kept(database: Database) -> BTreeMap<u32, PathBuf> {
    let all = fs::read_dir(formats()).unwrap().map(|entry| entry.unwrap().path());
    let number = |place: &PathBuf| {
        let name = place.file_name()?.to_str()?;
        name.strip_prefix(&format!("{database}-"))?.parse().ok()
    };
    all.filter_map(|place| Some((number(&place)?, place))).collect()
}

/// Fills a store, kills its server, and keeps what is there.
fn keep(database: Database, number: u32) {
    let directory = tempfile::tempdir().unwrap();
    let store = database.fresh(directory.path());
    let server = Server::start(&store, directory.path(), &KEEP);
    let known = fill(&server);
    server.kill();
    let place = formats().join(format!("{database}-{number}"));
    fs::create_dir(&place).unwrap();
    database.keep(&store, directory.path(), &place);
    fs::write(place.join("known.json"), format!("{known:#}\n")).unwrap();
}

fn goes_on(database: Database, place: &Path) {
    let directory = tempfile::tempdir().unwrap();
    let store = database.restore(place, directory.path());
    let known: Value = serde_json::from_slice(&fs::read(place.join("known.json")).unwrap()).unwrap();
    let mut server = Server::start_with_clock(
        &store,
        directory.path(),
        &[&KEEP[..], &[("ABIDE_AUTH", "required")]].concat(),
    );
    let strangers = server.send("GET", "/v1/workflow-runs", "", "").0;
    assert_eq!(strangers, 401);
    server.key = Some(text(&known["key"]));
    check(&server, &known);
    // The lease of whoever had a task when the format was kept runs out.
    finish(&server, &known, |server| drop(server.post("/test/clock", &json!({ "advanceMs": 10_000 }))));
    assert!(server.stop().success());
    // All of it can be read, and is what its histories say.
    let doctor = run(directory.path(), &["doctor", "--store", &store]);
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    // Whether pages have checksums is the server's business.
    let mut found: Vec<&str> = said.lines().filter(|line| !line.contains("data_checksums")).collect();
    let summary = found.pop().unwrap_or_default();
    let is_sound = summary.starts_with("Nothing is wrong") || summary.contains("0 held");
    assert!(found.is_empty() && is_sound, "{said}{}", String::from_utf8_lossy(&doctor.stderr));
}

/// Runs in as many states as there are, and what else a store holds. Nothing in it depends on how old it is when it is
/// opened, but that the nap is over.
pub(crate) fn fill(server: &Server) -> Value {
    for (name, steps) in workflows() {
        server.post("/workflow-definitions", &json!({ "name": name, "version": "1", "steps": steps }));
    }
    let mut runs = BTreeMap::new();
    for name in [
        "nap", "dream", "listen", "ask", "early", "review", "call", "closed", "parent", "map", "greet",
        "code",
    ] {
        runs.insert(name, start(server, name));
    }
    for name in ["leased", "ready", "held", "broken", "stopped"] {
        runs.insert(name, start(server, "work"));
    }
    let written = json!({ "signalType": "doc", "payload": "text" });
    server.post(&format!("/workflow-runs/{}/resume", runs["review"]), &written);
    server.post(
        &format!("/workflow-runs/{}/resume", runs["early"]),
        &json!({ "signalType": "second", "payload": 2 }),
    );
    let keyed = server.post_under("/workflow-runs", &json!({ "name": "ask", "input": {} }), Some("order-7"));
    runs.insert("keyed", text(&keyed["id"]));
    let child = server.get("/workflow-runs?definition=child")["data"][0]["id"].clone();
    runs.insert("child", text(&child));

    let mut tasks: BTreeMap<String, Value> =
        take(server, "work", 5).into_iter().map(|task| (text(&task["runId"]), task)).collect();
    let mut of = |name: &str| tasks.remove(&runs[name]).unwrap();
    let leased = of("leased");
    server.post(&format!("/workflow-runs/{}/pause", runs["held"]), &json!({}));
    report(server, &of("held"), "complete", json!({ "output": 1 }));
    report(server, &of("broken"), "fail", json!({ "message": "no", "retryable": false }));
    report(server, &of("ready"), "release", json!({}));
    server.post(&format!("/workflow-runs/{}/cancel", runs["stopped"]), &json!({ "reason": "enough" }));
    // Durable code that has called once and waits.
    let code = take(server, "code", 1).remove(0);
    let entries = json!([{ "name": "charge", "result": { "receipt": 7 } }]);
    let waits = json!([{ "type": "signal", "name": "go", "signalType": "go" }]);
    report(server, &code, "suspend", json!({ "entries": entries, "waits": waits }));

    let link = |run: &str| {
        let url = text(&pending(server, run)["resumeUrl"]);
        url[url.find("/api/").unwrap()..].to_owned()
    };
    let (resume, revoked) = (link(&runs["call"]), link(&runs["closed"]));
    let closed = text(&pending(server, &runs["closed"])["id"]);
    assert!(server.send("DELETE", &format!("/v1/waitpoints/{closed}/link"), "", "").0 < 300);

    let schedule = server.post(
        "/schedules",
        &json!({ "name": "nightly", "definition": "greet", "cron": "0 3 * * *", "timezone": "Europe/Berlin" }),
    );
    server.post(&format!("/schedules/{}/pause", text(&schedule["id"])), &json!({}));
    let event = server.post("/events", &json!({ "eventId": "shipped", "eventData": { "parcel": 1 } }));
    let hook = json!({ "url": "http://127.0.0.1:9/hook", "events": ["workflow.failed"] });
    let webhook = server.post("/webhooks", &hook);
    let key = server.post("/keys", &json!({ "name": "all", "scopes": ["admin"] }));
    let workspace = server.post("/workspaces", &json!({ "name": "other" }));
    let there = json!({ "name": "there", "scopes": ["admin"], "workspace": workspace["id"] });
    let other_key = server.post("/keys", &there);
    json!({
        "runs": runs, "leased": leased, "resume": resume, "revoked": revoked, "schedule": schedule["id"],
        "event": event["id"], "webhook": webhook["id"], "key": key["secret"], "otherKey": other_key["secret"],
    })
}

/// They are all as they were.
pub(crate) fn check(server: &Server, known: &Value) {
    let run = |name: &str| text(&known["runs"][name]);
    for name in
        ["listen", "ask", "early", "review", "call", "closed", "parent", "child", "map", "code", "keyed"]
    {
        assert_eq!(server.status(&run(name)), "WAITING", "{name}");
    }
    for (name, status) in [
        ("greet", "COMPLETED"),
        ("leased", "RUNNING"),
        ("ready", "RUNNING"),
        ("held", "PAUSED"),
        ("broken", "FAILED"),
        ("stopped", "CANCELLED"),
    ] {
        assert_eq!(server.status(&run(name)), status, "{name}");
    }
    let again = server.post_under("/workflow-runs", &json!({ "name": "ask", "input": {} }), Some("order-7"));
    assert_eq!(again["id"], known["runs"]["keyed"], "the key has its answer");
    assert_eq!(server.get(&format!("/schedules/{}", text(&known["schedule"])))["name"], "nightly");
    assert_eq!(server.get(&format!("/webhooks/{}", text(&known["webhook"])))["id"], known["webhook"]);
    let events = server.get("/events")["data"].clone();
    assert!(events.as_array().unwrap().iter().any(|event| event["id"] == known["event"]), "{events}");
    for name in known["runs"].as_object().unwrap().keys() {
        let records = server.get(&format!("/workflow-runs/{}/events", run(name)))["data"].clone();
        assert!(records.as_array().unwrap().len() > 1, "{name}");
    }
}

/// Everything comes to its end, while time passes.
pub(crate) fn finish(server: &Server, known: &Value, pass_time: impl Fn(&Server)) {
    let run = |name: &str| text(&known["runs"][name]);
    server.wait_for("the nap", |server| {
        pass_time(server);
        server.status(&run("nap")) == "COMPLETED"
    });
    assert_eq!(server.send("POST", &text(&known["revoked"]), "", "{}").0, 410, "it was revoked");
    let (status, body) = server.send("POST", &text(&known["resume"]), "", r#"{"signed": true}"#);
    assert!(status < 300, "{status} {body}");
    server.post("/events", &json!({ "eventId": "paid", "eventData": { "order": 7 } }));
    for item in 0..3 {
        server.post("/events", &json!({ "eventId": format!("item-{item}"), "eventData": {} }));
    }
    for (name, signal) in
        [("ask", "answer"), ("keyed", "answer"), ("child", "answer"), ("early", "first"), ("code", "go")]
    {
        server.post(
            &format!("/workflow-runs/{}/resume", run(name)),
            &json!({ "signalType": signal, "payload": 1 }),
        );
    }
    let review = text(&pending(server, &run("review"))["id"]);
    server.post(&format!("/approval-requests/{review}/decide"), &json!({ "decision": "approve" }));
    for name in ["closed", "dream"] {
        // In a year it is over by itself.
        if let Some(wait) = pending(server, &run(name))["id"].as_str() {
            server.post(&format!("/waitpoints/{wait}/complete"), &json!({}));
        }
    }
    server.post(&format!("/workflow-runs/{}/unpause", run("held")), &json!({}));
    server.post(&format!("/workflow-runs/{}/retry", run("broken")), &json!({}));
    server.post(&format!("/schedules/{}/trigger", text(&known["schedule"])), &json!({}));
    let over: Vec<String> = known["runs"]
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| *name != "stopped")
        .map(|name| run(name))
        .collect();
    server.wait_for("the work", |server| {
        pass_time(server);
        for task in poll(server, "work", 10) {
            report(server, &task, "complete", json!({ "output": 2 }));
        }
        for task in poll(server, "code", 1) {
            assert_eq!(task["journal"][0]["result"], json!({ "receipt": 7 }), "{task}");
            report(server, &task, "complete", json!({ "output": 3 }));
        }
        over.iter().all(|run| server.status(run) == "COMPLETED")
    });
    let (status, _) = complete(server, &known["leased"]);
    assert_eq!(status, 409, "somebody else did it");
    let early = server.get(&format!("/workflow-runs/{}", run("early")));
    assert_eq!(early["state"], json!({ "first": 1, "second": 2 }), "the signal of before was kept: {early}");
}

fn workflows() -> Vec<(&'static str, Value)> {
    let signal =
        |name: &str| json!({ "type": "external_event", "name": name, "signalType": name, "saveAs": name });
    let task = |name: &str, handler: &str| json!({ "type": "task", "name": name, "handler": handler });
    vec![
        ("nap", json!([{ "type": "sleep", "name": "rest", "duration": "10s" }])),
        ("dream", json!([{ "type": "sleep", "name": "rest", "duration": "365d" }])),
        (
            "listen",
            json!([{ "type": "wait_for_event", "name": "hear", "eventId": "paid", "match": "event.order == 7" }]),
        ),
        ("ask", json!([signal("answer")])),
        ("early", json!([signal("first"), signal("second")])),
        (
            "review",
            json!([signal("doc"), { "type": "approval", "name": "decide", "contentKey": "doc", "prompt": "Is it good?" }]),
        ),
        ("call", json!([{ "type": "webhook", "name": "sign" }])),
        ("closed", json!([{ "type": "webhook", "name": "sign" }])),
        ("child", json!([signal("answer")])),
        ("parent", json!([{ "type": "workflow", "name": "child", "definition": "child", "input": {} }])),
        (
            "map",
            json!([{ "type": "map", "name": "all", "items": "{{ input.all }}",
                "step": { "type": "wait_for_event", "eventId": "item-{{ item }}" } }]),
        ),
        ("greet", json!([{ "type": "respond", "name": "say", "body": "hello" }])),
        ("code", json!([task("do", "code")])),
        ("work", json!([task("first", "work"), task("second", "work")])),
    ]
}

fn start(server: &Server, name: &str) -> String {
    text(
        &server.post(
            "/workflow-runs",
            &json!({ "name": name, "input": { "n": 0.1, "all": [0, 1, 2] }, "tags": [name] }),
        )["id"],
    )
}

fn pending(server: &Server, run: &str) -> Value {
    server.get(&format!("/waitpoints?status=PENDING&runId={run}"))["data"][0].clone()
}

fn poll(server: &Server, handler: &str, count: usize) -> Vec<Value> {
    let poll = json!({ "handlers": [handler], "workerId": "worker-1", "maxTasks": count, "waitMs": 100 });
    server.post("/tasks/poll", &poll)["tasks"].as_array().unwrap().clone()
}

/// So many tasks, which are there or are about to be.
fn take(server: &Server, handler: &str, count: usize) -> Vec<Value> {
    let mut tasks = Vec::new();
    server.wait_for("tasks", |server| {
        tasks.extend(poll(server, handler, count - tasks.len()));
        tasks.len() == count
    });
    tasks
}

fn report(server: &Server, task: &Value, what: &str, mut body: Value) {
    body["leaseToken"] = task["leaseToken"].clone();
    server.post(&format!("/tasks/{}/{what}", text(&task["id"])), &body);
}

pub(crate) fn complete(server: &Server, task: &Value) -> (u16, Value) {
    let body = json!({ "leaseToken": task["leaseToken"], "output": 1 });
    server.send("POST", &format!("/v1/tasks/{}/complete", text(&task["id"])), "", &body.to_string())
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
