//! Runs in every state there is, and how each of them goes on wherever it has been moved to.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::migrate::server::Server;

/// Long enough that it is not over before the server is killed.
const NAP: &str = "5s";

/// What is known of them outside.
pub(crate) struct Lives {
    runs: BTreeMap<&'static str, String>,
    /// The paths of resume links.
    link: String,
    revoked_link: String,
    /// What a worker has in its hands.
    leased: Value,
    second_leased: Value,
    schedule: Value,
    /// Where calls of `http` steps and of webhooks arrive.
    callee: TcpListener,
    /// The calls that are under way when the server is killed.
    _cut: [Call; 2],
    told: TcpListener,
    webhook: String,
    pub(crate) key: String,
    other_key: String,
    event: String,
}

impl Lives {
    pub(crate) fn begin(server: &Server) -> Lives {
        let callee = TcpListener::bind("127.0.0.1:0").unwrap();
        // Nobody answers there yet: calls are taken in, and wait.
        let told = TcpListener::bind("127.0.0.1:0").unwrap();
        let hook = json!({ "url": format!("http://{}/hook", told.local_addr().unwrap()),
            "events": ["workflow.completed"] });
        let webhook = text(&server.post("/webhooks", &hook)["id"]);
        deploy(server, &format!("http://{}/call", callee.local_addr().unwrap()));
        let mut runs = BTreeMap::new();
        for name in ["nap", "dream", "listen", "ask", "review", "call", "closed", "parent", "greet", "fetch"]
        {
            runs.insert(name, start(server, name));
        }
        for name in ["work", "second", "ready", "held", "broken", "stopped", "again"] {
            runs.insert(name, start(server, "work"));
        }
        let in_a_month = Timestamp::now() + SignedDuration::from_hours(30 * 24);
        let written = json!({ "signalType": "doc", "payload": "text" });
        server.post(&format!("/workflow-runs/{}/resume", runs["review"]), &written);
        let later = json!({ "name": "greet", "input": {}, "runAt": in_a_month });
        runs.insert("later", text(&server.post("/workflow-runs", &later)["id"]));
        let keyed = json!({ "name": "dream", "input": {} });
        let first = server.post_under("/workflow-runs", &keyed, Some("order-7"));
        runs.insert("keyed", text(&first["id"]));

        let mut tasks = poll(server, 7);
        let mut take = |name: &str| {
            let run = &runs[name];
            let place = tasks.iter().position(|task| task["runId"] == **run).unwrap();
            tasks.remove(place)
        };
        let (leased, second_leased) = (take("work"), take("second"));
        let held = take("held");
        server.post(&format!("/workflow-runs/{}/pause", runs["held"]), &json!({}));
        report(server, &held, "complete", json!({ "output": 1 }));
        report(server, &take("broken"), "fail", json!({ "message": "no", "retryable": false }));
        server.post(&format!("/workflow-runs/{}/cancel", runs["stopped"]), &json!({}));
        report(server, &take("again"), "fail", json!({ "message": "not yet", "retryAfterMs": 3_600_000 }));
        report(server, &take("ready"), "release", json!({}));
        let child = text(&server.get("/workflow-runs?definition=ask-child")["data"][0]["id"]);
        runs.insert("child", child);

        let links = |run: &str| {
            let url = text(&pending(server, run)["resumeUrl"]);
            url[url.find("/api/").unwrap()..].to_owned()
        };
        let (link, revoked_link) = (links(&runs["call"]), links(&runs["closed"]));
        let closed = text(&pending(server, &runs["closed"])["id"]);
        let (status, _) = server.send("DELETE", &format!("/v1/waitpoints/{closed}/link"), "", "");
        assert!(status < 300);

        let schedule = server.post(
            "/schedules",
            &json!({ "name": "nightly", "definition": "greet", "cron": "0 3 * * *", "timezone": "Europe/Berlin" }),
        );
        let event =
            text(&server.post("/events", &json!({ "eventId": "early", "eventData": { "n": 1 } }))["id"]);
        let key = text(&server.post("/keys", &json!({ "name": "all", "scopes": ["admin"] }))["secret"]);
        let workspace = text(&server.post("/workspaces", &json!({ "name": "other" }))["id"]);
        let there = json!({ "name": "there", "scopes": ["admin"], "workspace": workspace });
        let other_key = text(&server.post("/keys", &there)["secret"]);
        // Both calls are on their way.
        let cut = [accept(&callee), accept(&told)];
        Lives {
            runs,
            _cut: cut,
            link,
            revoked_link,
            leased,
            second_leased,
            schedule,
            callee,
            told,
            webhook,
            key,
            other_key,
            event,
        }
    }

    /// They are all as they were.
    pub(crate) fn check(&self, server: &Server) {
        let expected = [
            ("dream", "WAITING"),
            ("listen", "WAITING"),
            ("ask", "WAITING"),
            ("review", "WAITING"),
            ("call", "WAITING"),
            ("closed", "WAITING"),
            ("parent", "WAITING"),
            ("child", "WAITING"),
            ("keyed", "WAITING"),
            ("again", "WAITING"),
            ("later", "PENDING"),
            ("greet", "COMPLETED"),
            ("work", "RUNNING"),
            ("second", "RUNNING"),
            ("ready", "RUNNING"),
            ("held", "PAUSED"),
            ("broken", "FAILED"),
            ("stopped", "CANCELLED"),
        ];
        for (name, status) in expected {
            assert_eq!(server.status(&self.runs[name]), status, "{name}");
        }
        let schedule = server.get(&format!("/schedules/{}", text(&self.schedule["id"])));
        assert_eq!(schedule["nextAt"], self.schedule["nextAt"]);
        assert_eq!(schedule["name"], "nightly");
        assert_eq!(server.get("/events")["data"][0]["id"], self.event);
        assert_eq!(server.get("/keys")["data"].as_array().unwrap().len(), 1);
        let keyed = json!({ "name": "dream", "input": {} });
        let again = server.post_under("/workflow-runs", &keyed, Some("order-7"));
        assert_eq!(again["id"], *self.runs["keyed"], "the key has its answer");
    }

    /// Only keys of this store open it, and only what is theirs.
    pub(crate) fn check_keys(&self, server: &mut Server) {
        server.key = None;
        assert_eq!(server.send("GET", "/v1/workflow-runs", "", "").0, 401);
        server.key = Some(self.other_key.clone());
        let path = format!("/v1/workflow-runs/{}", self.runs["dream"]);
        assert_eq!(server.send("GET", &path, "", "").0, 404, "it is in another workspace");
        server.key = Some(self.key.clone());
        assert_eq!(server.send("GET", &path, "", "").0, 200);
    }

    /// What was under way is done.
    pub(crate) fn go_on(&self, server: &Server) {
        let run = |name: &str| self.runs[name].as_str();
        // The call that was cut is made again.
        answer(accept(&self.callee), "\"fetched\"");
        server.wait_for_status(run("fetch"), "COMPLETED");
        // The timer.
        server.wait_for_status(run("nap"), "COMPLETED");
        // The lease that is in a worker's hands.
        report(server, &self.leased, "complete", json!({ "output": "done" }));
        let more = poll(server, 1);
        assert_eq!(more.len(), 1);
        let (status, _) = complete(server, &self.leased);
        assert_eq!(status, 409, "a task is reported once");
        // What is ready, and the next step of the one above, in some order.
        let mut ready: Vec<String> = more.iter().map(|task| text(&task["runId"])).collect();
        more.iter().for_each(|task| drop(report(server, task, "complete", json!({ "output": 2 }))));
        while server.status(run("ready")) != "COMPLETED" || server.status(run("work")) != "COMPLETED" {
            for task in poll(server, 10) {
                ready.push(text(&task["runId"]));
                report(server, &task, "complete", json!({ "output": 2 }));
            }
        }
        assert!(ready.contains(&run("ready").to_owned()) && !ready.contains(&run("second").to_owned()));
        // Links.
        assert_eq!(server.send("POST", &self.revoked_link, "", "{}").0, 410, "it was revoked");
        let (status, body) = server.send("POST", &self.link, "", r#"{"signed": true}"#);
        assert!(status < 300, "{status} {body}");
        server.wait_for_status(run("call"), "COMPLETED");
        assert_eq!(server.send("POST", &self.link, "", "{}").0, 409);
        // An event, a decision, a pause that ends, a retry of what failed.
        let woken = server.post("/events", &json!({ "eventId": "paid", "eventData": { "order": 7 } }));
        assert_eq!(woken["waiters"][0]["runId"], run("listen"));
        let review = text(&pending(server, run("review"))["id"]);
        server.post(&format!("/approval-requests/{review}/decide"), &json!({ "decision": "approve" }));
        server.post(&format!("/workflow-runs/{}/unpause", run("held")), &json!({}));
        server.post(&format!("/workflow-runs/{}/retry", run("broken")), &json!({}));
        let again = text(&pending(server, run("again"))["id"]);
        server.post(&format!("/waitpoints/{again}/complete"), &json!({}));
        let over = ["listen", "review", "held", "broken", "again"];
        while over.iter().any(|name| server.status(run(name)) != "COMPLETED") {
            for task in poll(server, 10) {
                report(server, &task, "complete", json!({ "output": 3 }));
            }
        }
        self.check_told(server);
    }

    /// And the rest, at the third place.
    pub(crate) fn end(&self, server: &Server) {
        let run = |name: &str| self.runs[name].as_str();
        report(server, &self.second_leased, "complete", json!({ "output": "late, and in time" }));
        for name in ["ask", "child"] {
            let signal = json!({ "signalType": "answer", "payload": { "n": 1 } });
            server.post(&format!("/workflow-runs/{}/resume", run(name)), &signal);
        }
        for name in ["dream", "keyed"] {
            let wait = text(&pending(server, run(name))["id"]);
            server.post(&format!("/waitpoints/{wait}/complete"), &json!({}));
        }
        server.post(&format!("/schedules/{}/trigger", text(&self.schedule["id"])), &json!({}));
        server.post(&format!("/workflow-runs/{}/cancel", run("later")), &json!({}));
        for task in poll(server, 1) {
            report(server, &task, "complete", json!({ "output": 4 }));
        }
        for name in ["ask", "child", "parent", "dream", "keyed", "second"] {
            server.wait_for_status(run(name), "COMPLETED");
        }
    }

    /// What was to be told and could not be is told now.
    fn check_told(&self, server: &Server) {
        let mut told: Vec<String> = Vec::new();
        while !told.contains(&self.runs["greet"]) {
            let call = accept(&self.told);
            told.push(text(&call.body["data"]["runId"]));
            answer(call, "");
        }
        let path = format!("/webhooks/{}/deliveries", self.webhook);
        server.wait_for("the delivery", |server| {
            let deliveries = server.get(&path);
            let of_greet = deliveries["data"].as_array().unwrap().iter();
            of_greet.filter(|one| one["runId"] == *self.runs["greet"]).all(|one| one["status"] == "DELIVERED")
        });
    }
}

fn deploy(server: &Server, callee: &str) {
    let definitions = [
        ("nap", json!([{ "type": "sleep", "name": "rest", "duration": NAP }])),
        ("dream", json!([{ "type": "sleep", "name": "rest", "duration": "300d" }])),
        (
            "listen",
            json!([{ "type": "wait_for_event", "name": "hear", "eventId": "paid", "match": "event.order == 7" }]),
        ),
        ("ask", json!([{ "type": "external_event", "name": "hear", "signalType": "answer" }])),
        (
            "review",
            json!([
                { "type": "external_event", "name": "write", "signalType": "doc", "saveAs": "doc" },
                { "type": "approval", "name": "decide", "contentKey": "doc" },
            ]),
        ),
        ("call", json!([{ "type": "webhook", "name": "sign", "timeout": "30d" }])),
        ("closed", json!([{ "type": "webhook", "name": "sign", "timeout": "30d" }])),
        ("ask-child", json!([{ "type": "external_event", "name": "hear", "signalType": "answer" }])),
        ("parent", json!([{ "type": "workflow", "name": "child", "definition": "ask-child", "input": {} }])),
        ("greet", json!([{ "type": "respond", "name": "say", "body": "hello" }])),
        ("fetch", json!([{ "type": "http", "name": "get", "url": callee }])),
        (
            "work",
            json!([
                { "type": "task", "name": "first", "handler": "work" },
                { "type": "task", "name": "second", "handler": "work" },
            ]),
        ),
    ];
    for (name, steps) in definitions {
        server.post("/workflow-definitions", &json!({ "name": name, "version": "1", "steps": steps }));
    }
}

fn start(server: &Server, name: &str) -> String {
    text(&server.post("/workflow-runs", &json!({ "name": name, "input": {}, "tags": [name] }))["id"])
}

fn pending(server: &Server, run: &str) -> Value {
    server.get(&format!("/waitpoints?status=PENDING&runId={run}"))["data"][0].clone()
}

fn poll(server: &Server, count: usize) -> Vec<Value> {
    let poll = json!({ "handlers": ["work"], "workerId": "worker-1", "maxTasks": count, "waitMs": 1_000 });
    server.post("/tasks/poll", &poll)["tasks"].as_array().unwrap().clone()
}

fn report(server: &Server, task: &Value, what: &str, mut body: Value) -> Value {
    body["leaseToken"] = task["leaseToken"].clone();
    server.post(&format!("/tasks/{}/{what}", text(&task["id"])), &body)
}

fn complete(server: &Server, task: &Value) -> (u16, Value) {
    let body = json!({ "leaseToken": task["leaseToken"], "output": 1 });
    server.send("POST", &format!("/v1/tasks/{}/complete", text(&task["id"])), "", &body.to_string())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// What came, and the connection that waits for an answer.
struct Call {
    body: Value,
    stream: TcpStream,
}

fn accept(listener: &TcpListener) -> Call {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let said = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = said.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return Call { body: serde_json::from_str(body).unwrap_or_default(), stream };
            }
        }
        let count = stream.read(&mut buffer).unwrap();
        // One that the server before gave up when it was killed.
        if count == 0 {
            return accept(listener);
        }
        read.extend_from_slice(&buffer[..count]);
    }
}

fn answer(mut call: Call, body: &str) {
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    // One that was killed does not hear it.
    drop(call.stream.write_all(answer.as_bytes()));
}
