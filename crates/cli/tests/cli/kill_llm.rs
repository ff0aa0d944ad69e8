//! kill -9 at each point of five rounds of tools: after every record that a run writes, and in the middle of calls. The
//! stand-in's log says what was asked of the provider, the history what was committed.
//!
//! No call whose answer was committed is made again, each is paid once, and the bill is what the log says, but for a
//! call that was under way when the process died: the provider has answered nobody.

#![allow(clippy::unwrap_used, reason = "a process that cannot be driven is a failed test")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use abide_standin::{Logged, Reply, Rule, Script, StandIn, Usage};
use abide_testkit::http::{Answer, Http};
use abide_testkit::serve::Process;
use jiff::Timestamp;
use serde_json::{Value, json};

const ROUNDS: usize = 5;
/// How long something is waited for before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(300);
/// The tool is a handler behind a URL, or a workflow with a polled worker.
const TOOLS: [&str; 2] = ["asking-url", "asking-workflow"];
/// A run of five rounds writes fewer records than this.
const MOST_RECORDS: u64 = 60;

#[test]
fn nothing_that_was_paid_for_is_paid_again_wherever_the_process_is_killed() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let standin = runtime.block_on(StandIn::of(script())).unwrap();
    let provider = format!("p=openai_compatible@{}", standin.url());
    let handler = format!("look=http://{}", serve_tool());
    let settings = [
        ("ABIDE_PROVIDER", provider.as_str()),
        ("ABIDE_MODEL", "m=p/real@1000000:1000000"),
        ("ABIDE_HANDLER_URL", handler.as_str()),
        ("ABIDE_ALLOW_ADDRESS", "127.0.0.1"),
        ("ABIDE_SECRET_SIGNING_KEY", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    ];
    let settings = settings.map(|(name, value)| (name, PathBuf::from(value)));
    let mut process =
        Process::start_with(env!("CARGO_BIN_EXE_abide"), tempfile::tempdir().unwrap(), settings.to_vec());
    let address = process.address();
    deploy(&mut Http::new(address));
    let working = AtomicBool::new(true);
    std::thread::scope(|threads| {
        threads.spawn(|| work(&mut Http::new(address), &working));
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let http = &mut Http::new(address);
            let mut seen = Seen::default();
            for point in 1..MOST_RECORDS {
                if !killed_at(point, &mut process, http, &standin, &mut seen) {
                    break;
                }
            }
            seen
        }));
        working.store(false, Ordering::SeqCst);
        let seen = seen.unwrap();
        println!("{seen:?}");
        assert!(seen.kills >= 20, "a run of five rounds writes many records: {seen:?}");
    });
}

#[derive(Debug, Default)]
struct Seen {
    kills: u32,
    calls: usize,
    /// Calls that were under way when the process died.
    cut: usize,
}

/// Kills the process when the run has written this many records. `false` if it ended before.
fn killed_at(point: u64, process: &mut Process, http: &mut Http, standin: &StandIn, seen: &mut Seen) -> bool {
    let topic = format!("topic-{point}.");
    let name = TOOLS[usize::try_from(point).unwrap() % TOOLS.len()];
    let started =
        until_answered(|| http.post("/workflow-runs", &json!({"name": name, "input": topic}), None));
    let run = started["id"].as_str().unwrap().to_owned();
    let reached = until(|| {
        let history = history(http, &run);
        let ended = history.last().is_some_and(|record| record["type"] == "WORKFLOW_COMPLETED");
        (history.len() as u64 >= point || ended).then_some(!ended)
    });
    let killed_at = Timestamp::now();
    if reached {
        process.kill_and_start_again();
        seen.kills += 1;
    }
    let ended = until(|| {
        let run = http.get(&format!("/workflow-runs/{run}")).ok()?.body;
        (run["status"] != "RUNNING" && run["status"] != "WAITING").then_some(run)
    });
    assert_eq!((&ended["status"], &ended["output"]), (&json!("COMPLETED"), &json!("Done.")), "{ended}");
    let asked: Vec<Logged> = standin.calls().into_iter().filter(|call| is_about(call, &topic)).collect();
    check(&history(http, &run), &asked, killed_at, seen);
    let cost = http.get(&format!("/workflow-runs/{run}/cost")).unwrap().body;
    let bill: u64 = (0..=ROUNDS).map(price).sum();
    assert_eq!(cost["total"]["costMicros"], bill, "{cost}");
    let log: u64 = asked.iter().filter_map(|call| call.usage).map(|usage| usage.input + usage.output).sum();
    let again: u64 = repeated(&asked).into_iter().map(|(turn, times)| price(turn) * (times as u64 - 1)).sum();
    assert_eq!(bill, log - again);
    reached
}

fn check(history: &[Value], asked: &[Logged], killed_at: Timestamp, seen: &mut Seen) {
    let mut paid: HashMap<String, Timestamp> = HashMap::new();
    for record in history.iter().filter(|record| record["type"] == "LLM_CALL_COMPLETED") {
        let entry = record["call"]["entry"].as_str().unwrap().to_owned();
        let before = paid.insert(entry, record["time"].as_str().unwrap().parse().unwrap());
        assert_eq!(before, None, "paid twice: {record}");
    }
    assert_eq!(paid.len(), ROUNDS + 1);
    seen.calls += asked.len();
    for (turn, times) in repeated(asked) {
        seen.cut += times - 1;
        assert!(times == 2, "one kill repeats one call: turn {turn}, {times} times");
        let committed = paid[&format!("call {}", turn + 1)];
        assert!(committed >= killed_at, "turn {turn} was committed at {committed}, and asked again");
    }
    let tools = history.iter().filter(|record| record["type"] == "STEP_WAITING");
    assert_eq!(tools.count(), ROUNDS, "each tool was waited for once");
}

/// Turns that were asked more than once.
fn repeated(asked: &[Logged]) -> HashMap<usize, usize> {
    let mut times: HashMap<usize, usize> = HashMap::new();
    for call in asked {
        let said = call.request["messages"].as_array().unwrap();
        let turn = said.iter().filter(|message| message["role"] == "assistant").count();
        *times.entry(turn).or_default() += 1;
    }
    assert_eq!(times.len(), ROUNDS + 1);
    times.retain(|_, times| *times > 1);
    times
}

fn is_about(call: &Logged, topic: &str) -> bool {
    call.request["messages"][0]["content"] == topic
}

fn usage(turn: usize) -> Usage {
    Usage { input: 100 + turn as u64, cached_input: 0, output: 10 }
}

fn price(turn: usize) -> u64 {
    usage(turn).input + usage(turn).output
}

fn script() -> Script {
    let rule = |turn: usize, reply: Reply| {
        // Long enough to be killed in.
        let reply = Reply { usage: Some(usage(turn)), delay_ms: Some(5), ..reply };
        Rule { turn: Some(turn), reply, ..Rule::default() }
    };
    let rounds = (0..ROUNDS).map(|turn| rule(turn, Reply::tool("look", json!({"n": turn}))));
    Script { key: None, rules: rounds.chain([rule(ROUNDS, Reply::text("Done."))]).collect() }
}

fn deploy(http: &mut Http) {
    let ask = |tool: Value| {
        let messages = json!([{"role": "user", "content": "{{ input }}"}]);
        json!({"name": "ask", "type": "llm", "model": "m", "tools": [tool], "messages": messages})
    };
    let work = json!({"name": "look", "type": "task", "handler": "polled", "heartbeatMs": 500});
    for (name, step) in [
        ("look-up", work),
        (TOOLS[0], ask(json!({"name": "look"}))),
        (TOOLS[1], ask(json!({"name": "look", "workflow": "look-up"}))),
    ] {
        let document = json!({"name": name, "steps": [step]});
        let deployed = until_answered(|| http.post("/workflow-definitions", &document, None));
        assert_eq!(deployed["warnings"], json!([]), "{deployed}");
    }
}

/// Answers every task that is posted, one call a connection.
fn serve_tool() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = given.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            // Who posts it may be killed in the middle of it.
            if reader.read_exact(&mut body).is_ok() {
                let task: Value = serde_json::from_slice(&body).unwrap();
                let body = json!({"output": {"found": task["input"]["n"]}}).to_string();
                let head =
                    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                drop(stream.write_all(format!("{head}{body}").as_bytes()));
            }
        }
    });
    address
}

fn history(http: &mut Http, run: &str) -> Vec<Value> {
    let answer = until_answered(|| http.get(&format!("/workflow-runs/{run}/events?limit=500")));
    answer["data"].as_array().unwrap().clone()
}

/// Does the work of the tool that is a workflow.
fn work(http: &mut Http, working: &AtomicBool) {
    let poll =
        json!({"handlers": ["polled"], "maxTasks": 4, "waitMs": 200, "workerId": "w", "leaseMs": 1_000});
    while working.load(Ordering::SeqCst) {
        let Ok(answer) = http.post("/tasks/poll", &poll, None) else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        for task in answer.body["tasks"].as_array().into_iter().flatten() {
            let report = json!({"leaseToken": task["leaseToken"], "output": {"found": task["input"]["n"]}});
            let path = format!("/tasks/{}/complete", task["id"].as_str().unwrap());
            // Refused when the answer to the first report was lost.
            until_answered(|| http.post(&path, &report, None));
        }
    }
}

fn until_answered(mut ask: impl FnMut() -> std::io::Result<Answer>) -> Value {
    let answer = until(|| ask().ok());
    // Conflict: the answer to the same report was lost.
    assert!(matches!(answer.status, 200..300 | 409), "{answer:?}");
    answer.body
}

fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}
