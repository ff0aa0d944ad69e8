//! Many runs, in all states at once, and everything that is outstanding of them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use abide_core::id::RunId;
use abide_definition::document::Workflow;
use abide_engine::{Engine, StartRun};
use abide_testkit::http::Http;
use serde_json::{Value, json};

/// How many ask at the same time.
const ASKERS: usize = 4;
const ENGINE_ASKERS: usize = 256;
/// Reports, or tasks, in one request.
const AT_ONCE: usize = 500;
const STATES: [&str; 12] = [
    "nap", "dream", "listen", "ask", "call", "ready", "leased", "held", "greet", "broken", "stopped", "later",
];
/// So many events that runs wait for.
const EVENTS: usize = 100;

pub(crate) struct Crowd {
    runs: BTreeMap<&'static str, Vec<String>>,
    /// The paths of resume links.
    links: Vec<String>,
    /// What workers have in their hands.
    leased: Vec<Value>,
}

impl Crowd {
    /// Straight into a file.
    pub(crate) async fn begin(file: &std::path::Path, count: usize) -> Crowd {
        let engine = Engine::open(file).await.unwrap();
        deploy(&engine).await;
        let mut runs: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        let numbers: Vec<usize> = (0..count).collect();
        for numbers in numbers.chunks(ENGINE_ASKERS) {
            let starts = numbers.iter().map(|number| tokio::spawn(start(engine.clone(), *number)));
            let starts: Vec<_> = starts.collect();
            for (number, started) in numbers.iter().zip(starts) {
                let state = STATES[number % STATES.len()];
                runs.entry(state).or_default().push(started.await.unwrap().to_string());
            }
        }
        engine.shut_down().await.unwrap();
        Crowd { runs, links: Vec::new(), leased: Vec::new() }
    }

    /// What is handed out by a server: links and leases.
    pub(crate) fn hand_out(&mut self, address: SocketAddr) {
        let mut http = Http::new(address);
        let mut cursor = String::new();
        loop {
            let page =
                http.get(&format!("/waitpoints?status=PENDING&kind=WEBHOOK&limit=500{cursor}")).unwrap().body;
            let urls =
                page["data"].as_array().unwrap().iter().map(|wait| wait["resumeUrl"].as_str().unwrap());
            self.links.extend(urls.map(|url| url[url.find("/workflow-runs").unwrap()..].to_owned()));
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        while self.leased.len() < self.runs["leased"].len() {
            self.leased.extend(poll(&mut http, "leased"));
        }
        for task in take_all(&mut http, "held") {
            let run = task["runId"].as_str().unwrap();
            http.post(&format!("/workflow-runs/{run}/pause"), &json!({}), None).unwrap();
            report(&mut http, &[task], "complete");
        }
        let broken = take_all(&mut http, "broken");
        broken.chunks(AT_ONCE).for_each(|tasks| report(&mut http, tasks, "fail"));
        each(address, &self.runs["stopped"], |http, run| {
            http.post(&format!("/workflow-runs/{run}/cancel"), &json!({}), None).unwrap().status
        });
        assert_eq!(self.links.len(), self.runs["call"].len());
    }

    /// How many runs there are of each status.
    pub(crate) fn expected(&self, states: &[&str]) -> usize {
        states.iter().map(|state| self.runs[state].len()).sum()
    }

    pub(crate) fn go_on(&self, address: SocketAddr) {
        let mut http = Http::new(address);
        // What workers had: each report is accepted.
        self.leased.chunks(AT_ONCE).for_each(|tasks| report(&mut http, tasks, "complete"));
        // What was ready.
        let mut done = 0;
        while done < self.runs["ready"].len() {
            let tasks = poll(&mut http, "ready");
            report(&mut http, &tasks, "complete");
            done += tasks.len();
        }
        for event in 0..EVENTS {
            let sent = json!({ "eventId": format!("paid-{event}"), "eventData": {} });
            assert!(http.post("/events", &sent, None).unwrap().status < 300);
        }
        each(address, &self.runs["ask"], |http, run| {
            let signal = json!({ "signalType": "answer", "payload": {} });
            http.post(&format!("/workflow-runs/{run}/resume"), &signal, None).unwrap().status
        });
        each(address, &self.links, |http, link| http.post(link, &json!({ "n": 1 }), None).unwrap().status);
        // The server has closed the other one meanwhile.
        let mut http = Http::new(address);
        let over = ["leased", "ready", "listen", "ask", "call", "nap", "greet"];
        let (is, due) = (|http: &mut Http| count_of(http, "COMPLETED"), self.expected(&over));
        let begun = std::time::Instant::now();
        while is(&mut http) < due {
            assert!(begun.elapsed().as_secs() < 300, "{} of {due}", is(&mut http));
        }
        assert_eq!(is(&mut http), due);
        assert_eq!(count_of(&mut http, "WAITING"), self.expected(&["dream"]));
        assert_eq!(count_of(&mut http, "PENDING"), self.expected(&["later"]));
        assert_eq!(count_of(&mut http, "RUNNING"), 0);
        assert_eq!(count_of(&mut http, "PAUSED"), self.expected(&["held"]));
        assert_eq!(count_of(&mut http, "FAILED"), self.expected(&["broken"]));
        assert_eq!(count_of(&mut http, "CANCELLED"), self.expected(&["stopped"]));
    }
}

async fn deploy(engine: &Engine) {
    let task = |name: &str| json!([{ "type": "task", "name": "do", "handler": name, "retry": { "maxAttempts": 1 } }]);
    let definitions = [
        ("nap", json!([{ "type": "sleep", "name": "rest", "duration": "1s" }])),
        ("dream", json!([{ "type": "sleep", "name": "rest", "duration": "300d" }])),
        ("listen", json!([{ "type": "wait_for_event", "name": "hear", "eventId": "{{ input.event }}" }])),
        ("ask", json!([{ "type": "external_event", "name": "hear", "signalType": "answer" }])),
        ("call", json!([{ "type": "webhook", "name": "sign", "timeout": "30d" }])),
        ("ready", task("ready")),
        ("leased", task("leased")),
        (
            "held",
            json!([{ "type": "task", "name": "do", "handler": "held" }, { "type": "respond", "name": "say" }]),
        ),
        ("greet", json!([{ "type": "respond", "name": "say", "body": "hello" }])),
        ("broken", task("broken")),
        ("stopped", json!([{ "type": "sleep", "name": "rest", "duration": "300d" }])),
        ("later", json!([{ "type": "respond", "name": "say", "body": "hello" }])),
    ];
    for (name, steps) in definitions {
        let document = json!({ "name": name, "version": "1", "steps": steps });
        engine.deploy(serde_json::from_value::<Workflow>(document).unwrap()).await.unwrap();
    }
}

async fn start(engine: Engine, number: usize) -> RunId {
    let state = STATES[number % STATES.len()];
    let run_at = (state == "later").then(|| jiff::Timestamp::now() + jiff::SignedDuration::from_hours(240));
    let input = json!({ "event": format!("paid-{}", number % EVENTS), "text": "x".repeat(200) });
    let new = StartRun::new(state.to_owned())
        .input(input)
        .run_at(run_at)
        .tags(vec![state.to_owned()])
        .idempotency_key(format!("run-{number}"));
    engine.default_workspace().start(new).await.unwrap()
}

/// Several ask for each, and are answered well.
fn each(address: SocketAddr, what: &[String], ask: impl Fn(&mut Http, &str) -> u16 + Sync) {
    let part = what.len().div_ceil(ASKERS).max(1);
    std::thread::scope(|threads| {
        for part in what.chunks(part) {
            let ask = &ask;
            threads.spawn(move || {
                let mut http = Http::new(address);
                for one in part {
                    let status = ask(&mut http, one);
                    assert!(status < 300, "{one}: {status}");
                }
            });
        }
    });
}

fn poll(http: &mut Http, handler: &str) -> Vec<Value> {
    // Long enough for the whole move, so that nobody takes them away before it.
    let poll = json!({ "handlers": [handler], "workerId": "w", "maxTasks": 100, "waitMs": 100, "leaseMs": 3_600_000 });
    http.post("/tasks/poll", &poll, None).unwrap().body["tasks"].as_array().unwrap().clone()
}

fn take_all(http: &mut Http, handler: &str) -> Vec<Value> {
    let mut tasks = Vec::new();
    loop {
        match poll(http, handler) {
            more if more.is_empty() => return tasks,
            more => tasks.extend(more),
        }
    }
}

fn report(http: &mut Http, tasks: &[Value], what: &str) {
    let report = |task: &Value| match what {
        "fail" => {
            json!({ "type": what, "leaseToken": task["leaseToken"], "message": "no", "retryable": false })
        }
        _ => json!({ "type": what, "leaseToken": task["leaseToken"], "output": 1 }),
    };
    let reports: Vec<Value> = tasks.iter().map(report).collect();
    if reports.is_empty() {
        return;
    }
    let answer = http.post("/tasks/report", &json!({ "reports": reports }), None).unwrap();
    let refused = |one: &&Value| one["ok"] != true;
    let answers = answer.body["results"].as_array().unwrap_or_else(|| panic!("{}", answer.body));
    assert_eq!(answers.len(), tasks.len());
    assert_eq!(answers.iter().find(refused), None, "every report is accepted");
}

fn count_of(http: &mut Http, status: &str) -> usize {
    let overview = http.get("/overview").unwrap().body;
    let counts = overview["runs"].as_array().unwrap();
    let of_status = counts.iter().find(|count| count["status"] == status).unwrap();
    usize::try_from(of_status["count"].as_u64().unwrap()).unwrap()
}
